// Crowds of five shapes: in a box that turns, on hills of triangles, and down a flight of steps.

#include "crowds.h"

#include <math.h>

static const tpQuat upright = { 1.0, 0.0, 0.0, 0.0 };

// Capsules, cylinders, boxes, balls and hulls of 12 points, in turn.
static void addMixed(tpWorld* world, tpBodyId body, int i) {
    tpShapeDef shape = denseShape();
    tpCapsule capsule = { 0.3, 0.8, { 0.0, 0.0, 1.0 } };
    tpCylinder cylinder = { 0.4, 0.9, { 0.0, 0.0, 1.0 } };
    tpBox box = { { 0.9, 0.8, 0.7 } };
    tpSphere ball = { 0.45 };
    switch (i % 5) {
    case 0:
        tpCreateCapsule(world, body, &shape, &capsule, NULL);
        break;
    case 1:
        tpCreateCylinder(world, body, &shape, &cylinder, NULL);
        break;
    case 2:
        tpCreateBox(world, body, &shape, &box, NULL);
        break;
    case 3:
        tpCreateSphere(world, body, &shape, &ball, NULL);
        break;
    default:
        addStone(world, body, 12);
    }
}

static void addBoxAt(tpWorld* world, tpBodyId body, tpVec3 place, tpVec3 size) {
    tpShapeDef shape = denseShape();
    tpGeometry geometry;
    if (tpMakeBox(&(tpBox){ size }, (tpPose){ place, upright }, &geometry, NULL) == tp_success) {
        tpCreateShape(world, body, &shape, &geometry, NULL);
        tpReleaseGeometry(&geometry);
    }
}

// A cube with room for twice as many bodies turns about a level axis, once in 12 s.
void makeTumbler(tpWorld* world, int count) {
    int side = (int)ceil(cbrt(count));
    double length = 1.4 * side, wall = 0.5 * length + 0.5;
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_kinematicBody;
    def.angularVelocity = (tpVec3){ 0.0, 0.5, 0.0 };
    tpBodyId drum = tpCreateBody(world, &def, NULL);
    for (int k = -1; k <= 1; k += 2) {
        addBoxAt(world, drum, (tpVec3){ k * wall, 0.0, 0.0 },
                 (tpVec3){ 1.0, length + 2.0, length + 2.0 });
        addBoxAt(world, drum, (tpVec3){ 0.0, k * wall, 0.0 }, (tpVec3){ length, 1.0, length });
        addBoxAt(world, drum, (tpVec3){ 0.0, 0.0, k * wall },
                 (tpVec3){ length, length + 2.0, 1.0 });
    }
    for (int i = 0; i < count; ++i) {
        tpBodyDef body = tpDefaultBodyDef();
        body.position = (tpVec3){ 1.4 * (i % side - 0.5 * (side - 1)),
                                  1.4 * (i / side % side - 0.5 * (side - 1)),
                                  1.4 * (i / (side * side) - 0.5 * (side - 1)) };
        body.rotation = anyTurn();
        addMixed(world, tpCreateBody(world, &body, NULL), i);
    }
}

// One layer of bodies on hills.
void makeMixedHills(tpWorld* world, int count) {
    int side = (int)ceil(sqrt(count));
    addHills(world, 2 * side + 4);
    for (int i = 0; i < count; ++i) {
        addMixed(world, dropBody(world, i, side), i);
    }
}

// Thirty steps between two walls, with a floor below; bodies are poured over the upper half.
void makeStairs(tpWorld* world, int count) {
    enum { steps = 30, across = 8 };
    double tread = 1.0, rise = 0.5, width = 1.5 * across, length = steps * tread;
    tpBodyId stairs = addFixed(world);
    addPlane(world, stairs, (tpVec3){ 0.0, 0.0, 1.0 }, 0.0);
    for (int k = 0; k < steps; ++k) {
        double top = rise * (steps - k);
        addBoxAt(world, stairs, (tpVec3){ tread * (k + 0.5), 0.0, 0.5 * top },
                 (tpVec3){ tread, width, top });
    }
    for (int k = -1; k <= 1; k += 2) {
        addBoxAt(world, stairs, (tpVec3){ length, k * (0.5 * width + 0.5), length },
                 (tpVec3){ 3.0 * length, 1.0, 2.0 * length });
    }
    for (int i = 0; i < count; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        int row = i / across % (steps / 2), layer = i / (across * (steps / 2));
        double x = 1.5 * row + 0.75 - 0.25 * steps;
        def.position = (tpVec3){ x, 1.5 * (i % across - 0.5 * (across - 1)),
                                 rise * (steps - fmax(0.0, x)) + 1.5 + 1.5 * layer };
        def.velocity = (tpVec3){ 2.0, 0.0, 0.0 };
        def.rotation = anyTurn();
        addMixed(world, tpCreateBody(world, &def, NULL), i);
    }
}
