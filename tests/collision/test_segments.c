// Nearest points of segments: against ends and common perpendiculars, in general position, nearly
// parallel and parallel, of all lengths down to points, near the origin and far from it.

#include "collision/segments.h"

#include "random_hulls.h"

static double toSegment(tpVec3 point, tpVec3 p, tpVec3 u) {
    double uu = tpLengthSquared(u);
    double s = uu > 0.0 ? fmin(fmax(tpDot(tpSub(point, p), u) / uu, 0.0), 1.0) : 0.0;
    return tpDistanceBetween(point, tpMulAdd(p, s, u));
}

// Ends of one and the other, and the common perpendicular if its feet are within both.
static double leastDistance(tpVec3 p, tpVec3 u, tpVec3 q, tpVec3 v) {
    double least = fmin(fmin(toSegment(p, q, v), toSegment(tpAdd(p, u), q, v)),
                        fmin(toSegment(q, p, u), toSegment(tpAdd(q, v), p, u)));
    tpVec3 n = tpCross(u, v), between = tpSub(q, p);
    double square = tpLengthSquared(n);
    double s = tpDot(tpCross(between, v), n), t = tpDot(tpCross(between, u), n);
    bool isInside = s > 0.0 && s < square && t > 0.0 && t < square;
    return isInside ? fmin(least, fabs(tpDot(between, n)) / sqrt(square)) : least;
}

// Of random length, also none; or nearly along another one.
static tpVec3 randomWay(tpRandom* random, tpVec3 other) {
    static const double aside[] = { 0.0, 1e-12, 1e-8, 1e-5, 1e-3 };
    uint64_t kind = randomBits(random) % 12;
    double length = pow(10.0, randomBetween(random, -2.0, 1.0));
    if (kind < 5) {
        tpVec3 along = tpScale(randomBetween(random, -1.0, 1.0), other);
        return tpMulAdd(along, aside[kind] * tpLength(other), randomDirection(random));
    }
    return kind == 5 ? tpZeroVec3() : tpScale(length, randomDirection(random));
}

static void nearestPointsAreTheNearest(void** state) {
    (void)state;
    tpRandom random = { 61 };
    for (int n = 0; n < 40000; ++n) {
        double unit = n % 3 == 0 ? 1.0 : n % 3 == 1 ? 0x1p20 : 0x1p-20;
        tpVec3 place = tpScale(n % 2 == 0 ? 0.0 : 20.0, randomDirection(&random));
        tpVec3 p = tpAdd(place, randomVec3(&random, -1.0, 1.0));
        tpVec3 q = tpAdd(place, randomVec3(&random, -1.0, 1.0));
        tpVec3 u = randomWay(&random, tpMakeVec3(0.3, -0.2, 0.5)), v = randomWay(&random, u);
        p = tpScale(unit, p);
        q = tpScale(unit, q);
        u = tpScale(unit, u);
        v = tpScale(unit, v);
        tpClosest found;
        tpClosestSegments(p, u, q, v, &found);
        double least = leastDistance(p, u, q, v), size = tpLength(u) + tpLength(v) + unit;
        CHECK_NEAR(found.distance, least, 1e-13 * size);
        CHECK_BELOW(toSegment(found.pointA, p, u), 1e-14 * (size + 20.0 * unit));
        CHECK_BELOW(toSegment(found.pointB, q, v), 1e-14 * (size + 20.0 * unit));
        CHECK_NEAR(tpLength(found.normal), 1.0, 1e-14);
        if (least > 1e-6 * size) {
            tpVec3 between = tpSub(found.pointA, found.pointB);
            CHECK_VEC3(between, tpScale(found.distance, found.normal),
                       1e-13 * (size + 20.0 * unit));
        }
    }
}

// Segments that meet in a point of both: the normal is across all that has a direction, also if
// they lie in one line or are points.
static void normalsOfMeetingOnesAreAcross(void** state) {
    (void)state;
    tpRandom random = { 62 };
    static const double lengths[] = { 1.0, 0.0, 1e-3, 1e3, 1e-6, 1e6 };
    const tpVec3 axes[3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
    for (int n = 0; n < 6 * 6 * 4 * 40; ++n) {
        double a = lengths[n % 6], b = lengths[n / 6 % 6];
        int kind = n / 36 % 4; // across each other, in one line, along axes, or both of these
        tpVec3 u = tpScale(a, kind < 2 ? randomDirection(&random) : axes[randomBits(&random) % 3]);
        tpVec3 v = tpScale(b, kind < 2 ? randomDirection(&random) : axes[randomBits(&random) % 3]);
        if (kind % 2 == 1) {
            v = a > 0.0 ? tpScale(b / a, u) : v;
        }
        double s = randomBetween(&random, 0.0, 1.0), t = randomBetween(&random, 0.0, 1.0);
        tpVec3 p = tpScale(-s, u), q = tpScale(-t, v); // they meet at the origin
        tpClosest found;
        tpClosestSegments(p, u, q, v, &found);
        CHECK_NEAR(found.distance, 0.0, 1e-14 * (a + b));
        CHECK_NEAR(tpLength(found.normal), 1.0, 1e-14);
        if (found.distance <= 1e-15 * (a + b)) {
            CHECK_NEAR(tpDot(found.normal, u), 0.0, 1e-9 * a);
            CHECK_NEAR(tpDot(found.normal, v), 0.0, 1e-9 * b);
        }
    }
}

// Far less apart than they are long is not yet meeting: the normal is that of the gap.
static void smallGapsHaveTheirNormal(void** state) {
    (void)state;
    for (int k = 0; k < 4; ++k) {
        double gap = pow(10.0, -10.0 - k);
        tpVec3 lower = tpMakeVec3(-0.3, 0.0, 0.0), upper = tpMakeVec3(0.0, -0.4, gap);
        tpClosest found;
        tpClosestSegments(upper, tpMakeVec3(0.0, 1.0, 0.0), lower, tpMakeVec3(-1.0, 0.0, 0.0),
                          &found);
        CHECK_NEAR(found.distance, hypot(0.3, gap), 1e-15);
        tpClosestSegments(upper, tpMakeVec3(0.0, 1.0, 0.0), lower, tpMakeVec3(1.0, 0.0, 0.0),
                          &found);
        CHECK_NEAR(found.distance, gap, 1e-3 * gap);
        CHECK_NEAR(found.normal.z, 1.0, 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(nearestPointsAreTheNearest),
                                        cmocka_unit_test(normalsOfMeetingOnesAreAcross),
                                        cmocka_unit_test(smallGapsHaveTheirNormal) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
