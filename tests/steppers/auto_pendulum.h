// A pendulum from the horizontal, carried by `auto`, and where it is.

#ifndef TIPPE_TESTS_STEPPERS_AUTO_PENDULUM_H
#define TIPPE_TESTS_STEPPERS_AUTO_PENDULUM_H

#include "support/check.h"
#include "tippe/joints.h"
#include "tippe/world.h"

static inline tpWorld* makePendulum(const char* accuracy, double damping, tpBodyId* bob) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_auto;
    tpWorld* world = tpCreateWorld(&def);
    tpError error;
    assert_int_equal(tpWorld_SetOption(world, "accuracy", accuracy, &error), tp_success);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.position = tpMakeVec3(1.0, 0.0, 0.0);
    bodyDef.hasMass = true;
    bodyDef.mass.mass = 2.0;
    bodyDef.mass.inertia = tpDiagonal(tpMakeVec3(0.02, 0.02, 0.02));
    *bob = tpCreateBody(world, &bodyDef, NULL);
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_revoluteJoint;
    joint.bodyB = *bob;
    joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
    joint.coordinate.damping = damping;
    assert_true(tpCreateJoint(world, &joint, NULL).slot != 0);
    return world;
}

typedef struct PendulumState {
    double angle, speed;
} PendulumState;

// By small steps of Runge and Kutta's method of fourth order.
static inline PendulumState pendulumFrom(PendulumState now, double time) {
    const double pull = 2.0 * 9.81 / (2.0 + 0.02); // m g l / (m l^2 + I)
    int count = (int)ceil(time / 2e-4);
    double h = time / count;
    for (int i = 0; i < count; ++i) {
        double k[4], l[4];
        for (int s = 0; s < 4; ++s) {
            double part = s == 0 ? 0.0 : s == 3 ? h : 0.5 * h;
            k[s] = now.speed + part * (s > 0 ? l[s - 1] : 0.0);
            l[s] = pull * cos(now.angle + part * (s > 0 ? k[s - 1] : 0.0));
        }
        now.angle += h / 6.0 * (k[0] + 2.0 * k[1] + 2.0 * k[2] + k[3]);
        now.speed += h / 6.0 * (l[0] + 2.0 * l[1] + 2.0 * l[2] + l[3]);
    }
    return now;
}

static inline PendulumState pendulumState(double time) {
    return pendulumFrom((PendulumState){ 0.0, 0.0 }, time);
}

// How far the bob and its velocity are from a state, m and m/s.
static inline double pendulumMiss(const tpWorld* world, tpBodyId bob, PendulumState right) {
    double c = cos(right.angle), s = sin(right.angle);
    return tpDistanceBetween(tpBody_GetPosition(world, bob), tpMakeVec3(c, 0.0, -s));
}

static inline double pendulumSpeedMiss(const tpWorld* world, tpBodyId bob, PendulumState right) {
    double c = cos(right.angle), s = sin(right.angle);
    tpVec3 velocity = tpMakeVec3(-s * right.speed, 0.0, -c * right.speed);
    return tpDistanceBetween(tpBody_GetVelocity(world, bob), velocity);
}

#endif
