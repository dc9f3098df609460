// A motion to go back to: poses, velocities and what joints carry from step to step.

#ifndef TIPPE_SRC_DYNAMICS_KEPT_MOTION_H
#define TIPPE_SRC_DYNAMICS_KEPT_MOTION_H

#include "dynamics/system.h"

typedef struct tpKeptMotion {
    tpPose* poses;
    tpVelocity* velocities;
    double *reactions, *motion; // of joints, see joint_state.h
    double contactEnergy;       // of springs in contacts
} tpKeptMotion;

// Copies the motion of the system into its arena. False if memory ran out.
bool tpKeptMotion_Take(tpKeptMotion* kept, tpSystem* system);

// Puts it back. The system has the bodies and joints that it had when the motion was taken.
void tpKeptMotion_PutBack(const tpKeptMotion* kept, tpSystem* system);

#endif
