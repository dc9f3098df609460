// Distances of points, segments and triangles, the cores of round shapes and of meshes, in every
// position: apart, touching, crossing, parallel, in one plane, of no length.
//
// Corners are points of a coarse grid, so that most pairs are special, to rounding. Each answer
// proves itself: every point of A is at least `distance` beyond every point of B along the normal
// (a loop over the vertices), the two points belong to the cores, and they are `distance` apart. No
// other pair can be nearer. If the cores meet, no axis that could part them is better than the
// normal found.

#include "collision/difference.h"
#include "collision/segments.h"
#include "geometry/small_hull.h"
#include "support/check.h"

typedef struct Core {
    tpSmallHull small;
    tpPose pose;
    tpVec3 corners[3]; // in the world
    int count;
} Core;

// Corners are points of the grid at the pose given; the core has a pose of its own.
static void makeCore(Core* core, tpRandom* random, int count, tpPose grid) {
    tpPose pose = { randomVec3(random, -1.0, 1.0), randomRotation(random) };
    tpVec3 own[3], normal;
    do {
        for (int i = 0; i < count; ++i) {
            double x = (double)(randomBits(random) % 4), y = (double)(randomBits(random) % 4);
            tpVec3 place = tpMakeVec3(x, y, (double)(randomBits(random) % 2));
            core->corners[i] = tpTransformPoint(grid, place);
            own[i] = tpUntransformPoint(pose, core->corners[i]);
        }
        normal = count == 3 ? tpCross(tpSub(own[1], own[0]), tpSub(own[2], own[0])) : tpZeroVec3();
    } while (count == 3 && tpLengthSquared(normal) < 1e-9); // meshes have no triangle of no area
    if (count == 1) {
        tpFillPoint(&core->small, own[0]);
    } else if (count == 2) {
        tpFillSegment(&core->small, own[0], own[1]);
    } else {
        tpFillTriangle(&core->small, own, tpNormalize(normal));
    }
    core->pose = pose;
    core->count = count;
}

static tpVec3 edgeOf(const Core* core, int k) {
    return core->count < 2 ? tpZeroVec3()
                           : tpSub(core->corners[(k + 1) % core->count], core->corners[k]);
}

static double fromSegment(tpVec3 x, tpVec3 p, tpVec3 q) {
    tpVec3 u = tpSub(q, p);
    double uu = tpLengthSquared(u), s = uu > 0.0 ? tpDot(tpSub(x, p), u) / uu : 0.0;
    return tpDistanceBetween(x, tpMulAdd(p, fmin(fmax(s, 0.0), 1.0), u));
}

// How far a point is from a core.
static double fromCore(const Core* core, tpVec3 x) {
    if (core->count == 1) {
        return tpDistanceBetween(x, core->corners[0]);
    }
    double least = INFINITY;
    tpVec3 n =
        core->count == 3 ? tpNormalize(tpCross(edgeOf(core, 0), edgeOf(core, 1))) : tpZeroVec3();
    bool isAbove = core->count == 3;
    for (int k = 0; k < core->count; ++k) {
        least = fmin(least, fromSegment(x, core->corners[k], core->corners[(k + 1) % core->count]));
        isAbove = isAbove && tpDot(tpCross(n, edgeOf(core, k)), tpSub(x, core->corners[k])) >= 0.0;
    }
    return isAbove ? fmin(least, fabs(tpDot(n, tpSub(x, core->corners[0])))) : least;
}

// By how much A is beyond B along a unit vector: no distance is less.
static double beyond(const Core* a, const Core* b, tpVec3 n) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < a->count; ++i) {
        low = fmin(low, tpDot(n, a->corners[i]));
    }
    for (int i = 0; i < b->count; ++i) {
        high = fmax(high, tpDot(n, b->corners[i]));
    }
    return low - high;
}

static double bestAxis(const Core* a, const Core* b) {
    double best = -INFINITY;
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            tpVec3 u = i < 3 ? edgeOf(a, i % a->count) : tpCross(edgeOf(a, 0), edgeOf(a, 1));
            tpVec3 v = j < 3 ? edgeOf(b, j % b->count) : tpCross(edgeOf(b, 0), edgeOf(b, 1));
            const tpVec3 axes[3] = { tpCross(u, v), i == 3 ? u : tpZeroVec3(),
                                     j == 3 ? v : tpZeroVec3() };
            for (int k = 0; k < 3; ++k) {
                if (tpLength(axes[k]) > 1e-9) {
                    tpVec3 n = tpNormalize(axes[k]);
                    best = fmax(best, fmax(beyond(a, b, n), beyond(a, b, tpNeg(n))));
                }
            }
        }
    }
    return best;
}

static void check(const Core* a, const Core* b, const tpClosest* found) {
    const double rounding = 1e-13;
    CHECK_NEAR(tpLength(found->normal), 1.0, rounding);
    CHECK_NEAR(beyond(a, b, found->normal), found->distance, rounding);
    CHECK_BELOW(bestAxis(a, b), found->distance + rounding);
    CHECK_VEC3(tpSub(found->pointA, found->pointB), tpScale(found->distance, found->normal),
               rounding);
    CHECK_BELOW(fromCore(a, found->pointA), rounding);
    CHECK_BELOW(fromCore(b, found->pointB), rounding);
}

// A core of one or two vertices as a segment.
static void placeSegment(const Core* core, tpVec3* from, tpVec3* along) {
    const tpVec3* vertices = core->small.hull.vertices;
    tpVec3 to = vertices[core->small.hull.vertexCount - 1];
    *from = tpTransformPoint(core->pose, vertices[0]);
    *along = tpRotate(core->pose.rotation, tpSub(to, vertices[0]));
}

static void testSegments(void** state) {
    (void)state;
    tpRandom random = { 17 };
    int meeting = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        Core a, b;
        tpPose grid = { randomVec3(&random, -1.0, 1.0), randomRotation(&random) };
        makeCore(&a, &random, 1 + trial % 2, grid);
        makeCore(&b, &random, 1 + trial / 2 % 2, grid);
        tpClosest found;
        tpVec3 p, u, q, v;
        placeSegment(&a, &p, &u);
        placeSegment(&b, &q, &v);
        tpClosestSegments(p, u, q, v, &found);
        check(&a, &b, &found);
        assert_true(found.distance >= 0.0);
        meeting += found.distance < 1e-13;
    }
    assert_in_range(meeting, 1000, 19000);
}

static void testTriangles(void** state) {
    (void)state;
    tpRandom random = { 19 };
    int meeting = 0, deep = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        Core a, b;
        tpPose grid = { randomVec3(&random, -1.0, 1.0), randomRotation(&random) };
        makeCore(&a, &random, 3, grid);
        makeCore(&b, &random, 1 + trial % 3, grid);
        tpDifference d = tpMakeDifference(&a.small.hull, a.pose, &b.small.hull, b.pose);
        tpPairCache cache = { 0 };
        for (int again = 0; again < 2; ++again) {
            tpSeparation s = tpSeparatePolyhedra(&d, INFINITY, &cache);
            tpClosest found = { s.distance, tpTransformPoint(a.pose, s.pointA),
                                tpTransformPoint(a.pose, s.pointB),
                                tpRotate(a.pose.rotation, s.normal) };
            check(&a, &b, &found);
            meeting += fabs(found.distance) < 1e-13;
            deep += found.distance < -1e-3;
            // A search that may stop beyond half the distance ends with a bound, proven as well.
            if (found.distance > 1e-3) {
                tpSeparation far = tpSeparatePolyhedra(&d, 0.5 * s.distance, &cache);
                assert_true(far.isExact);
                assert_true(far.distance <= s.distance + 1e-12);
                assert_true(far.distance > 0.5 * s.distance);
            }
        }
    }
    assert_in_range(meeting, 1000, 39000);
    assert_in_range(deep, 1000, 39000);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testSegments),
                                        cmocka_unit_test(testTriangles) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
