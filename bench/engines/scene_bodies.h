// A scene as all engines can read it: bodies that are one sphere or one box each.
//
// Our own reader makes a world of the file, and the world is asked for shapes, masses and places:
// every engine starts from the same numbers. Poses are those of the bodies' frames, which here are
// the centres of mass and the shapes' own frames too.

#ifndef TIPPE_BENCH_ENGINES_SCENE_BODIES_H
#define TIPPE_BENCH_ENGINES_SCENE_BODIES_H

#include "tippe/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct BenchBody {
    bool isFixed;
    tpShapeType type; // tp_sphereShape or tp_boxShape
    tpVec3 size;      // full edges of a box; radius in x for a sphere
    tpPose pose;
    double mass;
    tpVec3 inertia; // about the axes of the body's frame
} BenchBody;

typedef struct BenchScene {
    tpScene* scene;
    tpWorld* world;
    BenchBody* bodies;
    int bodyCount;
    double friction, restitution; // the same for all pairs
    double step;
    tpVec3 gravity;
} BenchScene;

// Reads a scene, for a world with a stepper (NULL: the scene's) and threads. Ends the program with
// a message where that cannot be done.
BenchScene openBenchScene(const char* path, const char* stepper, int threadCount);
void closeBenchScene(BenchScene* scene);

// What a run leaves behind: OUT.times with wall and CPU seconds of every step, OUT.poses with the
// poses of all bodies (x y z qw qx qy qz) every so many steps, both as doubles.
typedef struct RunJournal RunJournal;

RunJournal* openRunJournal(const char* out, int bodyCount, int every);
void runJournal_StartStep(RunJournal* journal);
void runJournal_EndStep(RunJournal* journal);
// Asked after each step: whether poses are wanted, and if so one after the other.
bool runJournal_WantsPoses(const RunJournal* journal);
void runJournal_AddPose(RunJournal* journal, tpPose pose);
// Prints one line of JSON with the engine's name and what is known of the run; `more` is further
// members, each with a comma before it, or "".
void closeRunJournal(RunJournal* journal, const char* engine, double contactsMean,
                     const char* more);

#ifdef __cplusplus
}
#endif

#endif
