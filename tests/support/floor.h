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

#endif
