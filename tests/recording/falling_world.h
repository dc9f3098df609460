// A small world to record: bodies that fly, one that is carried, one that stands.

#ifndef TIPPE_TESTS_RECORDING_FALLING_WORLD_H
#define TIPPE_TESTS_RECORDING_FALLING_WORLD_H

#include "support/check.h"
#include "tippe/recording.h"

static const double fallingStep = 1.0 / 128.0;

static inline tpBodyId addBody(tpWorld* world, const char* name, tpBodyKind kind, double height) {
    tpBodyDef def = tpDefaultBodyDef();
    def.name = name;
    def.kind = kind;
    def.position = tpMakeVec3(0.25, 0.0, height);
    def.velocity = tpMakeVec3(0.5, 0.125, 0.0);
    def.angularVelocity = tpMakeVec3(0.1, 3.0, 0.2);
    def.hasMass = true;
    def.mass.mass = 2.0;
    def.mass.center = tpMakeVec3(0.0, 0.0, 0.125); // so that frame and centre of mass differ
    def.mass.inertia = tpDiagonal(tpMakeVec3(0.2, 0.3, 0.4));
    tpError error = { .result = tp_success };
    tpBodyId body = tpCreateBody(world, &def, &error);
    if (error.result != tp_success) {
        fail_msg("%s", error.message);
    }
    return body;
}

// table (fixed), top, body2 (no name), turntable (kinematic).
static inline tpWorld* makeFallingWorld(void) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_freeFlight;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    assert_non_null(world);
    addBody(world, "table", tp_fixedBody, 0.0);
    addBody(world, "top", tp_dynamicBody, 2.0);
    addBody(world, NULL, tp_dynamicBody, 3.0);
    addBody(world, "turntable", tp_kinematicBody, 1.0);
    return world;
}

#endif
