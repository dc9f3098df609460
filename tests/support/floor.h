// What most worlds of tests begin with: a material, the first that a world gets, and a floor of it.

#ifndef TIPPE_TESTS_SUPPORT_FLOOR_H
#define TIPPE_TESTS_SUPPORT_FLOOR_H

#include "support/check.h"
#include "tippe/world.h"

static inline void addMaterial(tpWorld* world, double mu, double restitution) {
    tpMaterialDef def = tpDefaultMaterialDef();
    def.friction.staticCoefficient = def.friction.dynamicCoefficient = mu;
    def.restitution = restitution;
    assert_int_equal(tpCreateMaterial(world, &def, NULL), 1);
}

// Solid below the plane through the origin.
static inline void addFloor(tpWorld* world, tpVec3 normal) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_fixedBody;
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpPlane plane = { normal, 0.0 };
    tpCreatePlane(world, tpCreateBody(world, &def, NULL), &shapeDef, &plane, NULL);
}

// A world with gravity and a level floor.
static inline tpWorld* worldWithFloor(tpStepperId stepper, double mu, double restitution) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    assert_non_null(world);
    addMaterial(world, mu, restitution);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    return world;
}

static inline tpBodyId addSolidBox(tpWorld* world, const tpBodyDef* def, tpVec3 size,
                                   double density) {
    tpBodyId body = tpCreateBody(world, def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.density = density;
    tpCreateBox(world, body, &shape, &(tpBox){ .size = size }, NULL);
    return body;
}

#endif
