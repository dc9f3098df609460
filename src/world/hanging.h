// What hangs on a joint: coordinates are set by moving it as one.

#ifndef TIPPE_SRC_WORLD_HANGING_H
#define TIPPE_SRC_WORLD_HANGING_H

#include "world/world.h"

// Sets a coordinate, keeping the others and the speeds of all joints. tp_unsupported if the
// joint closes a loop or its type leaves nothing to set.
tpResult tpWorld_SetCoordinateValue(tpWorld* world, tpJoint* joint, int coordinate, double value,
                                    tpError* error);
tpResult tpWorld_SetCoordinateSpeed(tpWorld* world, tpJoint* joint, int coordinate, double speed,
                                    tpError* error);

// Whether these two would succeed, but for lack of memory.
tpResult tpWorld_CheckCoordinateValue(tpWorld* world, const tpJoint* joint, double value,
                                      tpError* error);
tpResult tpWorld_CheckCoordinateSpeed(tpWorld* world, const tpJoint* joint, tpError* error);

#endif
