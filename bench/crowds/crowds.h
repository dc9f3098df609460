// What the files of bench_crowds share: bodies for scenes.

#ifndef TIPPE_BENCH_CROWDS_H
#define TIPPE_BENCH_CROWDS_H

#include "tippe/world.h"

// In 0 to 1; the same on every machine.
double chance(void);

// A unit quaternion; scenes depend on the order of these draws.
tpQuat anyTurn(void);

tpShapeDef denseShape(void);
tpBodyId addFixed(tpWorld* world);
void addPlane(tpWorld* world, tpBodyId body, tpVec3 normal, double offset);

// A stone: a hull of so many points on a sphere, at most 64.
void addStone(tpWorld* world, tpBodyId body, int points);

// Hills of triangles, two per square metre; walls and a floor close the surface below.
void addHills(tpWorld* world, int side);

// The i-th of many bodies above a pit or a landscape.
tpBodyId dropBody(tpWorld* world, int i, int side);

// Crowds of five shapes (mixed_scenes.c): capsules, cylinders, boxes, balls and hulls of 12 points.
void makeTumbler(tpWorld* world, int count);
void makeMixedHills(tpWorld* world, int count);
void makeStairs(tpWorld* world, int count);

#endif
