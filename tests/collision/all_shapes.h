// One shape of every type, in any unit of length.

#ifndef TIPPE_TESTS_COLLISION_ALL_SHAPES_H
#define TIPPE_TESTS_COLLISION_ALL_SHAPES_H

#include "math/elementary.h"
#include "random_hulls.h"
#include "tippe/geometry.h"

enum { shapeCount = 14, heightFieldKind = 10, planeKind = 11 };

static inline void makeAllShapes(double unit, tpGeometry shapes[shapeCount]) {
    tpAllocator allocator = tpDefaultAllocator();
    tpPose id = tpIdentityPose();
    tpVec3 z = { 0.0, 0.0, 1.0 };
    double polygon[5][2] = { { 0.5 * unit, 0.0 },
                             { 0.2 * unit, 0.5 * unit },
                             { -0.4 * unit, 0.3 * unit },
                             { -0.4 * unit, -0.3 * unit },
                             { 0.2 * unit, -0.5 * unit } };
    tpRandom random = { 4 };
    tpGeometry mirrored;
    tpResult r = tpMakeSphere(&(tpSphere){ 0.5 * unit }, id, &shapes[0], NULL);
    r |= tpMakeBox(&(tpBox){ { unit, 0.7 * unit, 0.5 * unit } }, id, &shapes[1], NULL);
    r |= tpMakeCapsule(&(tpCapsule){ 0.3 * unit, 0.8 * unit, z }, id, &shapes[2], NULL);
    r |= tpMakeCylinder(&(tpCylinder){ 0.4 * unit, 0.9 * unit, z }, id, &shapes[3], NULL);
    r |= tpMakeCone(&(tpCone){ 0.5 * unit, 0.9 * unit, z }, id, &shapes[4], NULL);
    r |= tpMakePrism(&allocator, (const double(*)[2])polygon, 5, 0.6 * unit, id, &shapes[5], NULL);
    r |= tpMakeEllipsoid(&(tpEllipsoid){ { 0.5 * unit, 0.4 * unit, 0.7 * unit } }, id, &shapes[6],
                         NULL);
    r |= tpMakeSuperellipsoid(
        &(tpSuperellipsoid){ { 0.5 * unit, 0.4 * unit, 0.6 * unit }, { 0.6, 0.8 } }, id, &shapes[7],
        NULL);
    assert_true(makeRandomHull(&random, roundHull, 24, 0.6 * unit, &shapes[8], &mirrored));
    tpReleaseGeometry(&mirrored);
    // A tetrahedron as a mesh.
    double c = 0.6 * unit;
    tpVec3 corners[4] = { { c, c, c }, { c, -c, -c }, { -c, c, -c }, { -c, -c, c } };
    int32_t triangles[4][3] = { { 0, 1, 2 }, { 0, 3, 1 }, { 0, 2, 3 }, { 1, 3, 2 } };
    r |=
        tpMakeMesh(&allocator, corners, 4, (const int32_t(*)[3])triangles, 4, id, &shapes[9], NULL);
    double heights[81];
    for (int i = 0; i < 81; ++i) {
        heights[i] = unit * (0.05 * tpSin(1.3 * i) - 0.1);
    }
    r |= tpMakeHeightField(&allocator, 9, 9, 0.5 * unit, 0.5 * unit, heights, id,
                           &shapes[heightFieldKind], NULL);
    r |= tpMakePlane(&(tpPlane){ { 0.1, 0.2, 1.0 }, 0.1 * unit }, id, &shapes[planeKind], NULL);
    tpGeometry parts[2];
    tpPose shifted = id;
    shifted.position.x = 0.3 * unit;
    tpMakeBox(&(tpBox){ { unit, unit, unit } }, id, &parts[0], NULL);
    tpMakeSphere(&(tpSphere){ 0.6 * unit }, shifted, &parts[1], NULL);
    r |= tpMakeIntersection(&allocator, parts, 2, id, &shapes[12], NULL);
    r |= tpMakeRoundedBox(&(tpRoundedBox){ { 0.9 * unit, 0.6 * unit, 0.7 * unit }, 0.15 * unit },
                          id, &shapes[13], NULL);
    assert_int_equal(r, tp_success);
}

static inline void releaseAllShapes(tpGeometry shapes[shapeCount]) {
    for (int i = 0; i < shapeCount; ++i) {
        tpReleaseGeometry(&shapes[i]);
    }
}

// A turn by quarters about axes of the body, as it rests on something, about the vertical, and a
// tilt.
static inline tpQuat restingRotation(tpRandom* random) {
    tpQuat q = tpIdentityQuat();
    for (int k = 0; k < 3; ++k) {
        tpVec3 axis = { k == 0, k == 1, k == 2 };
        double quarters = floor(randomBetween(random, 0.0, 4.0));
        q = tpMulQQ(q, tpQuatFromAxisAngle(axis, 1.5707963267948966 * quarters));
    }
    static const double tilts[5] = { 0.0, 1e-9, 1e-6, 1e-3, 0.05 };
    double tilt = tilts[randomBits(random) % 5];
    tpQuat yaw = tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), randomBetween(random, 0.0, 6.28));
    return tpMulQQ(tpQuatFromAxisAngle(randomDirection(random), tilt), tpMulQQ(yaw, q));
}

#endif
