// Two parts of a scene that take a step one after the other, each with the other out of the system
// (dynamics/body_islands.h).

#ifndef TIPPE_SRC_STEPPERS_SCENE_PARTS_H
#define TIPPE_SRC_STEPPERS_SCENE_PARTS_H

#include "dynamics/system.h"

// Extends what is marked to whole islands: what joints, couplings and contacts within margins of
// the given poses hold together. False if memory ran out.
bool tpSystem_MarkIslands(tpSystem* system, const tpPose* poses, const double* margins,
                          bool* isMarked);

// Where the bodies and joints of both parts end, in the arena.
typedef struct tpEnds {
    tpPose* poses;
    tpVelocity* velocities;
    double *motion, *now; // of joints
} tpEnds;

// False if memory ran out.
bool tpEnds_Begin(tpEnds* ends, tpSystem* system);

// Keeps where the bodies that are in the system have come to. Bodies that do not move by impulses
// are those of the last part.
void tpEnds_Keep(tpEnds* ends, const tpSystem* system, const bool* isOut);

// Puts all bodies where their parts have ended.
void tpEnds_Write(const tpEnds* ends, tpSystem* system);

#endif
