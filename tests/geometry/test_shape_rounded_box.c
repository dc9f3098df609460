// Rounded boxes: closed forms against the integral geometry of convex bodies, and limits.
//
// For a convex core and a ball of radius r Steiner's formula gives the volume of their sum,
// V + A r + M r^2 + 4/3 pi r^3 with M = pi times the sum of the edge lengths for a box. Second
// moments are checked against the sum over thin shells and against the box and the ball as limits.

#include "geometry/shape.h"
#include "sample_shapes.h"

static tpGeometry make(tpVec3 size, double radius) {
    tpGeometry g;
    assert_int_equal(tpMakeRoundedBox(&(tpRoundedBox){ size, radius }, tpIdentityPose(), &g, NULL),
                     tp_success);
    return g;
}

static tpMassProperties massOf(const tpGeometry* g) {
    tpMassProperties mass;
    assert_int_equal(tpGeometry_Mass(g, 1.0, &mass, NULL), tp_success);
    return mass;
}

static void volumeFollowsSteiner(void** state) {
    (void)state;
    const double pi = 3.14159265358979323846;
    tpRandom random = { 3 };
    for (int i = 0; i < 100; ++i) {
        tpVec3 core = randomVec3(&random, 0.1, 2.0);
        double r = randomBetween(&random, 0.01, 0.5);
        tpGeometry g = make(tpAdd(core, tpMakeVec3(2.0 * r, 2.0 * r, 2.0 * r)), r);
        double area = 2.0 * (core.x * core.y + core.y * core.z + core.z * core.x);
        double edges = core.x + core.y + core.z;
        double volume =
            core.x * core.y * core.z + area * r + pi * edges * r * r + 4.0 / 3.0 * pi * r * r * r;
        CHECK_NEAR(massOf(&g).mass / volume, 1.0, 1e-14);
    }
}

// A tiny radius gives the box; a radius of nearly half a cube's edge gives the ball.
static void limitsAreBoxAndBall(void** state) {
    (void)state;
    tpVec3 size = { 0.7, 1.1, 0.4 };
    tpGeometry thin = make(size, 1e-9), box;
    assert_int_equal(tpMakeBox(&(tpBox){ size }, tpIdentityPose(), &box, NULL), tp_success);
    tpMassProperties a = massOf(&thin), b = massOf(&box);
    CHECK_NEAR(a.mass / b.mass, 1.0, 1e-15);
    CHECK_BELOW(matrixDistance(a.inertia, b.inertia), 1e-15);
    tpGeometry round = make(tpMakeVec3(2.0, 2.0, 2.0), 1.0 - 1e-9), ball;
    assert_int_equal(tpMakeSphere(&(tpSphere){ 1.0 }, tpIdentityPose(), &ball, NULL), tp_success);
    a = massOf(&round);
    b = massOf(&ball);
    CHECK_NEAR(a.mass / b.mass, 1.0, 1e-8);
    CHECK_BELOW(matrixDistance(a.inertia, b.inertia), 1e-8);
}

// The nearest point: on the surface, along the normal, and as near as any other point.
static void nearestPointsAreNearest(void** state) {
    (void)state;
    tpRandom random = { 5 };
    for (int i = 0; i < 300; ++i) {
        tpVec3 size = randomVec3(&random, 0.5, 2.0);
        double least = fmin(size.x, fmin(size.y, size.z));
        tpGeometry g = make(size, randomBetween(&random, 0.05, 0.45) * least);
        tpVec3 p = randomVec3(&random, -1.5, 1.5);
        tpSurfacePoint nearest;
        tpClassOf(&g)->nearest(&g, p, &nearest);
        int k;
        CHECK_NEAR(tpSurfaceMaximum(&g, nearest.point, &k), 0.0, 1e-14);
        CHECK_VEC3(tpMulAdd(nearest.point, nearest.distance, nearest.normal), p, 1e-14);
        assert_int_equal(nearest.distance > 0.0, tpSurfaceMaximum(&g, p, &k) > 0.0);
        for (int n = 0; n < 50; ++n) {
            tpVec3 other = tpGeometry_Support(&g, randomUnit(&random));
            assert_true(tpDistanceBetween(p, other) >= fabs(nearest.distance) - 1e-14);
        }
    }
}

// The facet is the flat part of the surface: as large as the core's face, as high as the body.
static void facesAreFlat(void** state) {
    (void)state;
    tpGeometry g = make(tpMakeVec3(1.0, 0.8, 0.6), 0.1);
    tpFacet facet;
    assert_true(tpFindFacet(&g, tpIdentityPose(), tpMakeVec3(0.0, 0.0, 1.0), &facet));
    assert_int_equal(facet.count, 4);
    CHECK_NEAR(facet.cosine, 1.0, 0.0);
    for (int i = 0; i < 4; ++i) {
        CHECK_VEC3(tpAbsVec3(facet.corners[i]), tpMakeVec3(0.4, 0.3, 0.3), 1e-15);
    }
}

static void badNumbersAreRefused(void** state) {
    (void)state;
    tpGeometry g;
    tpError error;
    tpRoundedBox boxes[] = { { { 1.0, 1.0, 1.0 }, 0.0 }, { { 1.0, 1.0, 1.0 }, -0.1 },
                             { { 1.0, 1.0, 1.0 }, 0.5 }, { { 1.0, 0.2, 1.0 }, 0.3 },
                             { { 1.0, 0.0, 1.0 }, 0.1 }, { { 1.0, 1.0, NAN }, 0.1 },
                             { { 1.0, 1.0, 1.0 }, NAN } };
    for (size_t i = 0; i < sizeof boxes / sizeof boxes[0]; ++i) {
        assert_int_equal(tpMakeRoundedBox(&boxes[i], tpIdentityPose(), &g, &error), tp_badInput);
    }
    tpMakeRoundedBox(&boxes[3], tpIdentityPose(), &g, &error);
    assert_string_equal(error.message,
                        "radius must be less than half the smallest edge length, 0.1, not 0.3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumeFollowsSteiner),    cmocka_unit_test(limitsAreBoxAndBall),
        cmocka_unit_test(nearestPointsAreNearest), cmocka_unit_test(facesAreFlat),
        cmocka_unit_test(badNumbersAreRefused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
