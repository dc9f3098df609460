// The work of what users apply to bodies, by how far bodies have moved.

#ifndef TIPPE_SRC_DYNAMICS_FORCE_WORK_H
#define TIPPE_SRC_DYNAMICS_FORCE_WORK_H

#include "dynamics/system.h"

// The ways of all bodies in a step: poses and velocities at its start, and the mean velocities that
// lead to its end.
typedef struct tpWays {
    const tpPose* starts;
    const tpVelocity *velocities, *means;
    double kick; // s: of the forces, so much acted before the way and the rest after it
} tpWays;

// Work of all forces and loads over [time, time + h], J. A force that keeps its direction does
// force times the way of its point, whatever happens on the way; one that turns with the body, and
// torques, are taken half way. A force that acts in a part of the step only does its impulse times
// the mean velocity before and after it.
double tpSystem_ForceWork(const tpSystem* system, const tpWays* ways, double time, double h);

#endif
