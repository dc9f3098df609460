// Velocities and forces of rigid bodies: a linear and an angular part.

#ifndef TIPPE_SRC_MATH_VELOCITY_H
#define TIPPE_SRC_MATH_VELOCITY_H

#include "tippe/math.h"

// Velocity of the centre of mass and angular velocity in world axes. Padded to a cache line.
typedef struct tpVelocity {
    tpVec3 linear;
    double padding0;
    tpVec3 angular;
    double padding1;
} tpVelocity;

_Static_assert(sizeof(tpVelocity) == 64, "one cache line per body");

// A force and a torque about the centre of mass, or an impulse of both.
typedef struct tpWrench {
    tpVec3 linear, angular;
} tpWrench;

#endif
