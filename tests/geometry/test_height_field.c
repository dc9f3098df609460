// Height fields: neighbours, queries and rays against plain scans; solid below.

#include "geometry/height_field.h"

#include <string.h>

#include "geometry/shape.h"
#include "sample_shapes.h"

enum { columns = 9, rows = 7 };

static tpGeometry makeField(tpRandom* random, double roughness) {
    tpAllocator allocator = tpDefaultAllocator();
    double heights[rows * columns];
    for (int i = 0; i < rows * columns; ++i) {
        heights[i] = roughness * randomBetween(random, -1.0, 1.0);
    }
    tpGeometry field;
    assert_int_equal(tpMakeHeightField(&allocator, columns, rows, 0.5, 0.25, heights,
                                       tpIdentityPose(), &field, NULL),
                     tp_success);
    return field;
}

// Neighbours share the edge's two vertices and name each other.
static void neighborsAgree(void** state) {
    (void)state;
    tpRandom random = { 51 };
    tpGeometry field = makeField(&random, 0.3);
    int count = tpTriangleCount(&field), borders = 0;
    assert_int_equal(count, 2 * (columns - 1) * (rows - 1));
    for (int i = 0; i < count; ++i) {
        tpTriangle t = tpGetTriangle(&field, i);
        assert_true(t.normal.z > 0.0);
        for (int k = 0; k < 3; ++k) {
            if (t.neighbors[k] < 0) {
                ++borders;
                continue;
            }
            tpTriangle n = tpGetTriangle(&field, t.neighbors[k]);
            bool matched = false;
            for (int m = 0; m < 3; ++m) {
                if (n.neighbors[m] == i) {
                    matched = true;
                    assert_int_equal(n.vertices[m], t.vertices[(k + 1) % 3]);
                    assert_int_equal(n.vertices[(m + 1) % 3], t.vertices[k]);
                    assert_int_equal(n.edges[m], t.edges[k]);
                    // Convex: the neighbour's third corner is below this triangle's plane.
                    double rise = tpDot(t.normal, tpSub(n.corners[(m + 2) % 3], t.corners[0]));
                    assert_int_equal(t.edges[k], rise < 0.0 ? tp_convexEdge : tp_concaveEdge);
                }
            }
            assert_true(matched);
        }
    }
    assert_int_equal(borders, 2 * (columns - 1) + 2 * (rows - 1));
    tpReleaseGeometry(&field);
    tpGeometry level = makeField(&random, 0.0);
    for (int i = 0; i < count; ++i) {
        tpTriangle t = tpGetTriangle(&level, i);
        for (int k = 0; k < 3; ++k) {
            assert_int_equal(t.edges[k], t.neighbors[k] < 0 ? tp_convexEdge : tp_flatEdge);
        }
    }
    tpReleaseGeometry(&level);
}

static void queriesAgreeWithScan(void** state) {
    (void)state;
    tpRandom random = { 52 };
    tpGeometry field = makeField(&random, 0.3);
    int count = tpTriangleCount(&field);
    for (int trial = 0; trial < 500; ++trial) {
        tpVec3 c = randomVec3(&random, -2.5, 2.5), h = tpScale(0.4, randomSizes(&random));
        if (trial % 5 == 0) { // on grid lines
            c = tpMakeVec3(0.5 * randomBelow(&random, 5), 0.25 * randomBelow(&random, 4), 0.0);
            h = tpMakeVec3(0.5, 0.25, 0.1);
        }
        tpBounds box = { tpSub(c, h), tpAdd(c, h) };
        bool found[2 * (columns - 1) * (rows - 1)] = { false };
        tpTriangleQuery query = tpQueryTriangles(&field, box);
        for (int32_t t = tpNextTriangle(&query); t >= 0; t = tpNextTriangle(&query)) {
            assert_false(found[t]);
            found[t] = true;
        }
        for (int i = 0; i < count; ++i) {
            tpTriangle t = tpGetTriangle(&field, i);
            tpBounds own = { tpMinVec3(t.corners[0], tpMinVec3(t.corners[1], t.corners[2])),
                             tpMaxVec3(t.corners[0], tpMaxVec3(t.corners[1], t.corners[2])) };
            own.lower.z = -HUGE_VAL; // the column of solid below
            if (tpBoundsOverlap(&own, &box)) {
                assert_true(found[i]);
            }
            // Rounding of the grid may add cells that are a hair away, never more.
            own.lower = tpSub(own.lower, tpMakeVec3(1e-12, 1e-12, 0.0));
            own.upper = tpAdd(own.upper, tpMakeVec3(1e-12, 1e-12, 0.0));
            if (!tpBoundsOverlap(&own, &box)) {
                assert_false(found[i]);
            }
        }
    }
    tpReleaseGeometry(&field);
}

static void raysAgreeWithScan(void** state) {
    (void)state;
    tpRandom random = { 53 };
    tpGeometry field = makeField(&random, 0.3);
    int count = tpTriangleCount(&field), struck = 0, sides = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        tpVec3 target = tpMulParts(randomVec3(&random, -1.0, 1.0), tpMakeVec3(2.2, 0.9, 0.3));
        tpVec3 origin = tpAdd(target, randomVec3(&random, -3.0, 3.0));
        origin.z = randomBetween(&random, 0.5, 3.0);
        tpVec3 direction = tpSub(target, origin);
        if (trial % 4 == 0) { // along a grid line, or straight down
            origin.x = target.x = 0.5 * (randomBelow(&random, 9) - 4);
            direction =
                tpMakeVec3(0.0, trial % 8 == 0 ? 0.0 : target.y - origin.y, target.z - origin.z);
        }
        double nearest = HUGE_VAL, t;
        for (int i = 0; i < count; ++i) {
            tpTriangle triangle = tpGetTriangle(&field, i);
            if (tpCastRayAtTriangle(triangle.corners, origin, direction, 5.0, &t)) {
                nearest = fmin(nearest, t);
            }
        }
        tpRayHit hit;
        bool found = tpGeometry_CastRay(&field, tpIdentityPose(), origin, direction, 5.0, &hit);
        assert_true(found || nearest == HUGE_VAL);
        assert_true(!found || nearest < HUGE_VAL || hit.triangle < 0);
        if (found && hit.triangle >= 0) {
            ++struck;
            CHECK_NEAR(hit.t, nearest, 1e-12);
            assert_true(hit.normal.z > 0.0);
        } else if (found) { // through a side, before it would have met a triangle from below
            ++sides;
            assert_true(hit.normal.z == 0.0 && hit.t < nearest);
            assert_true(
                tpHeightField_IsBelow(field.heightField, tpMulAdd(hit.point, 1e-9, direction)));
        }
    }
    assert_true(struck > 500 && sides > 50);
    tpReleaseGeometry(&field);
}

static void solidReachesDown(void** state) {
    (void)state;
    tpRandom random = { 54 };
    tpGeometry field = makeField(&random, 0.1);
    tpBounds bounds = tpGeometry_Bounds(&field, tpIdentityPose());
    assert_true(isinf(bounds.lower.z) && bounds.lower.z < 0.0);
    CHECK_NEAR(bounds.upper.x, 2.0, 1e-15);
    CHECK_BELOW(bounds.upper.z, 0.1);
    tpRayHit hit;
    assert_true(tpGeometry_CastRay(&field, tpIdentityPose(), tpMakeVec3(0.1, 0.2, -50.0),
                                   tpMakeVec3(0.0, 0.0, 1.0), 1.0, &hit));
    assert_true(hit.startsInside);
    // Turned upside down the solid is above.
    tpPose turned = tpMakePose(
        tpZeroVec3(), tpQuatFromAxisAngle(tpMakeVec3(1.0, 0.0, 0.0), 3.14159265358979323846));
    bounds = tpGeometry_Bounds(&field, turned);
    assert_true(isinf(bounds.upper.z) && isfinite(bounds.lower.z) && isfinite(bounds.upper.x));
    tpReleaseGeometry(&field);
}

static void badFieldsAreRefused(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry field;
    tpError error;
    double heights[4] = { 0.0, 0.0, 0.0, NAN };
    tpPose at = tpIdentityPose();
    assert_int_equal(tpMakeHeightField(&allocator, 1, 2, 1.0, 1.0, heights, at, &field, &error),
                     tp_badInput);
    assert_non_null(strstr(error.message, "at least 2 columns"));
    assert_int_equal(tpMakeHeightField(&allocator, 2, 2, 0.0, 1.0, heights, at, &field, &error),
                     tp_badInput);
    assert_non_null(strstr(error.message, "spacing"));
    assert_int_equal(tpMakeHeightField(&allocator, 2, 2, 1.0, 1.0, heights, at, &field, &error),
                     tp_badInput);
    assert_non_null(strstr(error.message, "column 1, row 1"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighborsAgree),      cmocka_unit_test(queriesAgreeWithScan),
        cmocka_unit_test(raysAgreeWithScan),   cmocka_unit_test(solidReachesDown),
        cmocka_unit_test(badFieldsAreRefused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
