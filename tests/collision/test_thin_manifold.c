// Four points that stand for all of a flat manifold.

#include "collision/thin_manifold.h"

#include <math.h>
#include <string.h>

#include "support/check.h"

static tpContactPoint pointAt(double x, double y, double gap, uint64_t feature) {
    tpContactPoint point = { { x, y, gap }, { x, y, 0.0 }, { 0.0, 0.0, 1.0 }, gap, feature };
    return point;
}

static double areaOf(const tpContactPoint* p, int count) {
    double most = 0.0;
    for (int a = 0; a < count; ++a) {
        for (int b = 0; b < count; ++b) {
            for (int c = 0; c < count; ++c) {
                tpVec3 n =
                    tpCross(tpSub(p[b].pointB, p[a].pointB), tpSub(p[c].pointB, p[a].pointB));
                most = fmax(most, 0.5 * fabs(n.z));
            }
        }
    }
    return most;
}

// Regular polygons of 8, 12, ... 32 corners become squares; features stay in their order.
static void polygonsBecomeSquares(void** state) {
    (void)state;
    for (int quarter = 2; quarter <= 8; ++quarter) {
        tpContactPoint points[32];
        for (int k = 0; k < 4 * quarter; ++k) {
            double angle = k * 1.5707963267948966 / quarter;
            points[k] = pointAt(cos(angle), sin(angle), 0.0, (uint64_t)k);
        }
        int count = tpThinManifold(points, 4 * quarter);
        assert_int_equal(count, 4);
        for (int k = 1; k < 4; ++k) {
            assert_int_equal(points[k].feature - points[k - 1].feature, quarter);
        }
        CHECK_NEAR(areaOf(points, 4), 1.0, 1e-12);
        assert_int_equal(tpThinManifold(points, 4), 4);
    }
}

// Points that touch are kept before those that do not, whatever they span.
static void nearPointsStay(void** state) {
    (void)state;
    tpContactPoint points[6];
    for (int k = 0; k < 6; ++k) {
        double angle = k * 1.0471975511965976;
        points[k] = pointAt(cos(angle), sin(angle), k == 2 || k == 3 ? 0.0 : 0.1, (uint64_t)k);
    }
    assert_int_equal(tpThinManifold(points, 6), 4);
    bool has[6] = { false };
    for (int k = 0; k < 4; ++k) {
        has[points[k].feature] = true;
    }
    assert_true(has[2] && has[3]);
}

// A point in the middle that is deeper than all others stays, whatever its place in the list; three
// points of the rim stay with it.
static void theDeepestStays(void** state) {
    (void)state;
    for (int deepest = 0; deepest < 7; ++deepest) {
        tpContactPoint points[7];
        for (int k = 0; k < 7; ++k) {
            double angle = k * 0.8975979010256552;
            points[k] = k == deepest ? pointAt(0.0, 0.0, -0.2, (uint64_t)k)
                                     : pointAt(cos(angle), sin(angle), 0.0, (uint64_t)k);
        }
        assert_int_equal(tpThinManifold(points, 7), 4);
        bool isThere = false;
        for (int k = 0; k < 4; ++k) {
            isThere = isThere || points[k].feature == (uint64_t)deepest;
        }
        assert_true(isThere);
        assert_true(areaOf(points, 4) > 0.5);
    }
}

// Random polygons: what is left spans nearly as much.
static void littleAreaIsLost(void** state) {
    (void)state;
    tpRandom random = { 19 };
    double worst = 1.0;
    for (int round = 0; round < 500; ++round) {
        tpContactPoint all[12], points[12];
        int count = 5 + (int)(randomBits(&random) % 8);
        for (int k = 0; k < count; ++k) {
            double angle = 6.283185307179586 * (k + randomBetween(&random, 0.0, 0.9)) / count;
            all[k] = pointAt(2.0 * cos(angle), sin(angle), 1e-4 * randomBetween(&random, 0.0, 1.0),
                             (uint64_t)k);
        }
        memcpy(points, all, sizeof(all));
        int left = tpThinManifold(points, count);
        assert_true(left <= 4 && left >= 3);
        worst = fmin(worst, areaOf(points, left) / areaOf(all, count));
    }
    print_message("the largest triangle keeps at least %.2f of its area\n", worst);
    assert_true(worst > 0.6);
}

static double lowestOf(const tpContactPoint* points, int count, double x, double y) {
    double least = INFINITY;
    for (int k = 0; k < count; ++k) {
        least = fmin(least, points[k].gap - x * points[k].pointB.x - y * points[k].pointB.y);
    }
    return least;
}

// The corners of a foot that is nearly a ball: the lowest one stays, and if the foot tilts a
// little, what is left is nearly as low as all corners are. A corner that is the lowest one at a
// tilt t_i is higher than the lowest one at t by at most |t - t_i| times their distance: here the
// way of the lowest place, and 6 mm between 40 corners.
static void roundFeetKeepTheirLowestCorners(void** state) {
    (void)state;
    enum { most = 300 };
    const double radius = 0.03, tilt = TP_RIM_TILT;
    tpRandom random = { 23 };
    tpContactPoint all[most], points[most];
    for (int round = 0; round < 50; ++round) {
        int count = 40 + (int)(randomBits(&random) % (most - 40));
        for (int k = 0; k < count; ++k) {
            double away = 0.02 * sqrt(randomBetween(&random, 0.0, 1.0));
            double angle = randomBetween(&random, 0.0, 6.283185307179586);
            double gap = radius - sqrt(radius * radius - away * away);
            all[k] = pointAt(away * cos(angle), away * sin(angle), gap, (uint64_t)k);
        }
        memcpy(points, all, sizeof(all));
        int left = tpThinManifold(points, count);
        assert_true(left >= 1 && left <= 5);
        CHECK_NEAR(lowestOf(points, left, 0.0, 0.0), lowestOf(all, count, 0.0, 0.0), 0.0);
        for (int k = 0; k < 100; ++k) {
            double x = randomBetween(&random, -tilt, tilt), y = randomBetween(&random, -tilt, tilt);
            double missed = lowestOf(points, left, x, y) - lowestOf(all, count, x, y);
            assert_true(missed < tilt * (tilt * radius + 0.006));
        }
    }
}

// A flat sole whose four corners are rounded, with 32 points each: one of each corner stays.
static void flatSolesKeepTheirCorners(void** state) {
    (void)state;
    enum { corners = 4, each = 32 };
    for (int turn = 0; turn < 7; ++turn) {
        tpContactPoint points[corners * each];
        for (int k = 0; k < corners * each; ++k) {
            int corner = k / each;
            double angle = 1.5707963267948966 * (corner + (k % each + 0.5) / each);
            double x = (corner == 0 || corner == 3 ? 0.09 : -0.09) + 0.01 * cos(angle);
            double y = (corner < 2 ? 0.04 : -0.04) + 0.01 * sin(angle);
            double c = cos(0.2 * turn), s = sin(0.2 * turn);
            points[k] = pointAt(c * x - s * y, s * x + c * y, 0.0, (uint64_t)k);
        }
        int left = tpThinManifold(points, corners * each);
        assert_true(left <= 5);
        bool has[corners] = { false };
        for (int k = 0; k < left; ++k) {
            has[points[k].feature / each] = true;
        }
        assert_true(has[0] && has[1] && has[2] && has[3]);
    }
}

static void nearestComeFirst(void** state) {
    (void)state;
    tpContactPoint points[5] = { pointAt(0, 0, 0.3, 0), pointAt(1, 0, -0.1, 1),
                                 pointAt(0, 1, 0.3, 2), pointAt(1, 1, 0.0, 3),
                                 pointAt(2, 1, -0.1, 4) };
    tpSortByGap(points, 5);
    const uint64_t wanted[5] = { 1, 4, 3, 0, 2 };
    for (int k = 0; k < 5; ++k) {
        assert_int_equal(points[k].feature, wanted[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polygonsBecomeSquares),
        cmocka_unit_test(nearPointsStay),
        cmocka_unit_test(theDeepestStays),
        cmocka_unit_test(littleAreaIsLost),
        cmocka_unit_test(roundFeetKeepTheirLowestCorners),
        cmocka_unit_test(flatSolesKeepTheirCorners),
        cmocka_unit_test(nearestComeFirst),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
