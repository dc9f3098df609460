// Questions to the narrow phase, a chunk at a time.

#ifndef TIPPE_SRC_STEPPERS_SMALL_STEPS_NARROW_H
#define TIPPE_SRC_STEPPERS_SMALL_STEPS_NARROW_H

#include "steppers/small_steps/step.h"

// The narrow phase looks so much farther than it has to, of the smaller body's size: what it finds
// serves for as much motion. Of boxes it is known how far off the corners beyond that are; with .05
// the funnel of cubes takes 4 percent more time.
static const double tp_farther = 0.02;

// The size of the smaller body that moves, m; 0: none does.
static inline double tpPairSize(const tpSystem* system, const tpShape* shapeA,
                                const tpShape* shapeB) {
    bool movesA = tpSystem_IsDynamic(system, shapeA->body);
    bool movesB = tpSystem_IsDynamic(system, shapeB->body);
    double a = movesA ? system->bodies.data[shapeA->body].reach : INFINITY;
    double b = movesB ? system->bodies.data[shapeB->body].reach : INFINITY;
    double size = a < b ? a : b;
    return size < INFINITY ? size : 0.0;
}

// A pair that is asked for its manifold, and the answer.
typedef struct tpAnswer {
    int32_t pair;       // its place in the list of pairs, or -1
    int32_t slot;       // -1: it has no manifold yet
    tpShapePair shapes; // the system's
    tpPairCache* cache; // NULL: the pair function has none
    int first, count;   // points, in the chunk's memory
    double slack;       // what is not among them is at least so far away, m
    tpVec3 along;       // without points: the slack is measured along it; 0: it is a distance
    tpOverFace over;    // of two boxes: what is known of the face
    bool areBalls;      // spheres about their bodies' centres
    bool isWritten;     // into its lane
    bool isPlaced;      // it has been given a lane, into which it is not yet written
} tpAnswer;

// A chunk of them.
typedef struct tpAnswers {
    tpAnswer* list;
    int count;
    tpContactPoint* points;
    int pointCount, pointRoom; // if there are more than there is room for, the chunk is asked again
    tpDeparted departed;
    int departedRoom;
    int listed;         // contacts that a list for users has more than before
    double penetration; // deepest, m
} tpAnswers;

// Finds the manifolds of all pairs of a chunk where the bodies are now.
void tpAskNarrowPhase(const tpSmallStep* step, tpAnswers* answers);

#endif
