// The scenes of the board as peers read them, and the table they write: the columns of tippe run
// --csv.

#ifndef TIPPE_BENCH_BOARD_SCENE_H
#define TIPPE_BENCH_BOARD_SCENE_H

#include <stdio.h>

#include "tippe/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct BoardScene {
    tpScene* scene;
    tpWorld* world; // for masses, poses and materials
    double step, friction, restitution, torsionalArm;
    int64_t stepCount;
    FILE* table;
} BoardScene;

// What an engine is asked for, body by body: position and velocity of the centre of mass,
// orientation of the body's frame, angular velocity in world axes.
typedef struct BoardState {
    tpVec3 position;
    tpQuat rotation;
    tpVec3 velocity, spin;
} BoardState;

// Arguments: program SCENE STEP TABLE. Ends the program with a message where something is wrong.
BoardScene openBoardScene(int argumentCount, char** arguments);
void closeBoardScene(BoardScene* scene);

// Ends the program: the engine has no such thing.
void boardCannot(const char* what);

void startRow(BoardScene* scene, int64_t step);
void addState(BoardScene* scene, BoardState state);
void endRow(BoardScene* scene);

#ifdef __cplusplus
}
#endif

#endif
