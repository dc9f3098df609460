// Whether arrays can be written to a world: the same questions that the writing functions ask
// before they change anything.

#ifndef TIPPE_SRC_WORLD_STATE_CHECKS_H
#define TIPPE_SRC_WORLD_STATE_CHECKS_H

#include "tippe/state.h"

tpResult tpWorld_CheckState(const tpWorld* world, const tpStateArrays* arrays, tpError* error);

// Not const: it takes scratch memory of the world.
tpResult tpWorld_CheckCoordinates(tpWorld* world, const double* values, const double* speeds,
                                  tpError* error);
tpResult tpWorld_CheckTargets(const tpWorld* world, const double* targets, const double* speeds,
                              tpError* error);
tpResult tpWorld_CheckEfforts(const tpWorld* world, const double* efforts, tpError* error);

#endif
