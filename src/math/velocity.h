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

// A force along a direction that acts at the end of an arm.
static inline tpWrench tpMakeWrench(tpVec3 direction, tpVec3 arm) {
    return (tpWrench){ direction, tpCross(arm, direction) };
}

static inline tpWrench tpNegativeWrench(tpWrench wrench) {
    return (tpWrench){ tpNeg(wrench.linear), tpNeg(wrench.angular) };
}

// Adds a part of a wrench to a sum.
static inline void tpWrench_Add(tpWrench* sum, double part, const tpWrench* wrench) {
    sum->linear = tpMulAdd(sum->linear, part, wrench->linear);
    sum->angular = tpMulAdd(sum->angular, part, wrench->angular);
}

// Both parts as six numbers.
static inline void tpWriteSix(double* six, tpVec3 linear, tpVec3 angular) {
    six[0] = linear.x;
    six[1] = linear.y;
    six[2] = linear.z;
    six[3] = angular.x;
    six[4] = angular.y;
    six[5] = angular.z;
}

// What it does per second on a body that moves so.
static inline double tpWrench_Power(const tpWrench* wrench, const tpVelocity* velocity) {
    return tpDot(wrench->linear, velocity->linear) + tpDot(wrench->angular, velocity->angular);
}

#endif
