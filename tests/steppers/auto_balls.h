// Balls for tests of the groups of `auto` and of what carries them.

#ifndef TIPPE_TESTS_STEPPERS_AUTO_BALLS_H
#define TIPPE_TESTS_STEPPERS_AUTO_BALLS_H

#include "support/floor.h"
#include "world/world.h"

// A world with a floor, in which a step has measured the scales.
static inline tpWorld* makeFloorWorld(double h) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_auto;
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, 0.3, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpWorld_Step(world, h);
    return world;
}

// Returns the place of the body in the system.
static inline int addBall(tpWorld* world, tpVec3 place, tpVec3 velocity) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.velocity = velocity;
    int body = world->system.bodyCount;
    tpBodyId id = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpSphere sphere = { 0.1 };
    tpCreateSphere(world, id, &shape, &sphere, NULL);
    return body;
}

#endif
