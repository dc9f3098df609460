// One impact with friction: an independent table, closed forms and what must hold for every impact.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/impact_table.h"
#include "tippe/impact.h"

static void test_table(void** state) {
    (void)state;
    tpImpactRow rows[64];
    int count = readImpactTable(TIPPE_SOURCE_DIR "/tests/data/collisions.csv", rows, 64);
    assert_int_equal(count, 32);
    for (int i = 0; i < count; ++i) {
        const tpImpactRow* row = &rows[i];
        tpImpactResult result;
        assert_int_equal(tpImpact_Resolve(&row->impact, &result), tp_success);
        double scale = tpLength(row->impulse);
        CHECK_VEC3(result.impulse, row->impulse, 1e-12 * scale);
        CHECK_NEAR(result.compressionImpulse, row->compressionImpulse, 1e-12 * scale);
        CHECK_VEC3(result.velocity, row->velocityAfter, 1e-12 * tpLength(row->impact.velocity));
        CHECK_NEAR(result.energyLost, row->energyLost, 1e-12 * row->energyBefore);
        char phases[128];
        writePhases(&result, phases, sizeof(phases));
        assert_string_equal(phases, row->phases);
    }
}

static void test_reversal_of_table(void** state) {
    (void)state;
    tpImpactRow rows[64];
    int count = readImpactTable(TIPPE_SOURCE_DIR "/tests/data/collisions.csv", rows, 64);
    for (int i = 0; i < count; ++i) {
        tpImpactResult result;
        bool isReversed = tpImpact_Reverse(&rows[i].impact, &result);
        assert_int_equal(isReversed, rows[i].isReversalInCone);
        if (isReversed) {
            double whole = tpDot(result.impulse, rows[i].impact.normal);
            CHECK_NEAR(result.compressionImpulse, 0.5 * whole, 1e-14 * whole);
            CHECK_VEC3(result.impulse, rows[i].reversal, 1e-11 * tpLength(rows[i].reversal));
            CHECK_VEC3(result.velocity, tpNeg(rows[i].impact.velocity), 1e-11);
            CHECK_NEAR(result.energyLost, 0.0, 1e-11 * rows[i].energyBefore);
        }
    }
}

// A sphere on a fixed plane keeps its direction of slip: with tangential compliance 7/2 of the
// normal one, slip stops where 7/2 mu (1 + e) of the speed of approach has passed.
static void test_sphere(void** state) {
    (void)state;
    const double m = 0.3, radius = 0.2, e = 0.6;
    tpImpactBody plane = { 0 };
    tpImpactBody ball = { .inverseMass = 1.0 / m,
                          .arm = { 0.0, 0.0, -radius },
                          .velocity = { 1.2, -0.5, -2.0 } };
    double inverse = 1.0 / (0.4 * m * radius * radius);
    ball.inverseInertia = tpDiagonal(tpMakeVec3(inverse, inverse, inverse));
    tpImpact impact = tpMakeImpact(&ball, &plane, tpMakeVec3(0.0, 0.0, 1.0));
    impact.restitution = e;
    double speed = hypot(1.2, 0.5), pz = (1.0 + e) * m * 2.0;
    double stopping = speed * m / 3.5 / pz; // the least coefficient that stops slip
    for (int i = 0; i < 20; ++i) {
        impact.friction = 0.1 * i * stopping;
        double pt = fmin(impact.friction, stopping) * pz;
        tpImpactResult result;
        for (int law = tp_poissonRestitution; law <= tp_strongeRestitution; ++law) {
            impact.law = (tpRestitution)law;
            assert_int_equal(tpImpact_Resolve(&impact, &result), tp_success);
            assert_int_equal(result.stepCount, 0);
            CHECK_VEC3(result.impulse, tpMakeVec3(-pt * 1.2 / speed, pt * 0.5 / speed, pz),
                       1e-14 * pz);
            CHECK_NEAR(result.compressionImpulse, 2.0 * m, 1e-14);
        }
    }
}

// A rod in the plane, by Routh's diagram: the path is a chain of straight lines.
typedef struct Rod {
    double kxx, kxz, kzz, ux, uz, mu, e;
} Rod;

static void routh(const Rod* rod, double* px, double* pz, double* compression) {
    double sign = rod->ux > 0.0 ? 1.0 : -1.0;
    double slide = rod->kxz - sign * rod->mu * rod->kxx; // ux' while sliding
    double q = -sign * rod->mu, stop = INFINITY;
    if (sign * slide < 0.0) {
        stop = -rod->ux / slide;
    }
    // From rest it sticks, or is driven off by the coupling.
    double rest = -rod->kxz / rod->kxx;
    double after = fabs(rest) <= rod->mu ? rest : copysign(rod->mu, rest);
    double before = rod->kzz + rod->kxz * q, behind = rod->kzz + rod->kxz * after;
    double uzStop = rod->uz + before * stop;
    double pmc = uzStop < 0.0 ? stop - uzStop / behind : -rod->uz / before;
    double total = (1.0 + rod->e) * pmc;
    *pz = total;
    *px = total <= stop ? q * total : q * stop + after * (total - stop);
    *compression = pmc;
}

static void test_planar(void** state) {
    (void)state;
    tpRandom random = { 3 };
    for (int i = 0; i < 20000; ++i) {
        double angle = randomBetween(&random, 0.05, 1.5), half = randomBetween(&random, 0.1, 2.0);
        double x = half * cos(angle), z = half * sin(angle), inertia = half * half / 3.0;
        Rod rod = { 1.0 + z * z / inertia,
                    -x * z / inertia,
                    1.0 + x * x / inertia,
                    randomBetween(&random, -1.0, 1.0),
                    randomBetween(&random, -1.0, -0.01),
                    randomBetween(&random, 0.01, 2.5),
                    randomBetween(&random, 0.0, 1.0) };
        tpImpact impact = tpDefaultImpact();
        impact.collisionMatrix =
            tpMakeMat33(tpMakeVec3(rod.kxx, 0.0, rod.kxz), tpMakeVec3(0.0, 1.0, 0.0),
                        tpMakeVec3(rod.kxz, 0.0, rod.kzz));
        impact.velocity = tpMakeVec3(rod.ux, 0.0, rod.uz);
        impact.friction = rod.mu;
        impact.restitution = rod.e;
        double px, pz, compression;
        routh(&rod, &px, &pz, &compression);
        tpImpactResult result;
        assert_int_equal(tpImpact_Resolve(&impact, &result), tp_success);
        CHECK_VEC3(result.impulse, tpMakeVec3(px, 0.0, pz), 1e-12 * pz);
        CHECK_NEAR(result.compressionImpulse, compression, 1e-12 * pz);
    }
}

static tpImpact randomImpact(tpRandom* random, double spread) {
    tpMat33 matrix =
        tpScaleM(pow(10.0, -spread * randomBetween(random, 0.0, 1.0)), tpIdentityMat33());
    for (int i = 0; i < 4; ++i) {
        tpVec3 v = randomVec3(random, -1.0, 1.0);
        double weight = pow(10.0, randomBetween(random, -spread, spread));
        matrix = tpAddMM(matrix, tpScaleM(weight, tpOuter(v, v)));
    }
    tpImpact impact = tpDefaultImpact();
    impact.collisionMatrix = matrix;
    impact.velocity = randomVec3(random, -1.0, 1.0);
    impact.normal = tpNormalize(randomVec3(random, -1.0, 1.0));
    impact.friction = pow(10.0, randomBetween(random, -1.5, 0.5));
    impact.restitution = randomBetween(random, 0.0, 1.0);
    impact.law = (tpRestitution)(randomBits(random) % 2);
    return impact;
}

// What holds for every impact: no energy gained, the cone, no approach left, the law of
// restitution.
static void checkLaws(const tpImpact* impact, const tpImpactResult* result, double tolerance) {
    // Phases follow each other, and the last ends with the whole impulse.
    double normal = tpDot(result->impulse, impact->normal), passed = 0.0;
    for (int i = 0; i < result->phaseCount; ++i) {
        assert_true(result->phases[i].normalImpulse >= passed - tolerance);
        passed = result->phases[i].normalImpulse;
    }
    if (result->phaseCount > 0 && result->phaseCount < TP_IMPACT_PHASES) {
        CHECK_NEAR(passed, normal, tolerance * (1.0 + fabs(normal)));
    }
    double before = tpDot(impact->velocity, impact->normal);
    if (before >= 0.0) {
        CHECK_NEAR(tpLength(result->impulse), 0.0, 0.0);
        return;
    }
    double pn = tpDot(result->impulse, impact->normal);
    double pt = tpLength(tpMulAdd(result->impulse, -pn, impact->normal));
    double energy = fabs(tpDot(result->impulse, impact->velocity));
    assert_true(pn > 0.0);
    assert_true(pt <= impact->friction * pn * (1.0 + tolerance));
    assert_true(result->energyLost >= -tolerance * energy);
    assert_true(tpDot(result->velocity, impact->normal) >= -tolerance * tpLength(impact->velocity));
    if (impact->law == tp_poissonRestitution) {
        CHECK_NEAR(pn, (1.0 + impact->restitution) * result->compressionImpulse, tolerance * pn);
    }
}

static void test_laws(void** state) {
    (void)state;
    tpRandom random = { 5 };
    for (int i = 0; i < 40000; ++i) {
        double spread = 0.5 * (i % 4);
        tpImpact impact = randomImpact(&random, spread);
        tpImpactResult result;
        assert_int_equal(tpImpact_Resolve(&impact, &result), tp_success);
        checkLaws(&impact, &result, 1e-11);
    }
}

// The same impact seen in other axes, in a mirror, and in other units is the same impact, and takes
// as many steps.
static void test_invariance(void** state) {
    (void)state;
    tpRandom random = { 7 };
    for (int i = 0; i < 5000; ++i) {
        tpImpact impact = randomImpact(&random, 0.7), turned = impact;
        tpMat33 turn = tpMatFromQuat(randomRotation(&random));
        turn = i % 2 == 0 ? turn : tpMulMM(turn, tpDiagonal(tpMakeVec3(1.0, -1.0, 1.0)));
        turned.collisionMatrix =
            tpScaleM(4e9, tpMulMM(turn, tpMulMM(impact.collisionMatrix, tpTranspose(turn))));
        turned.velocity = tpScale(3e-5, tpMulMV(turn, impact.velocity));
        turned.normal = tpMulMV(turn, impact.normal);
        tpImpactResult one, other;
        assert_int_equal(tpImpact_Resolve(&impact, &one), tp_success);
        assert_int_equal(tpImpact_Resolve(&turned, &other), tp_success);
        tpVec3 expected = tpScale(3e-5 / 4e9, tpMulMV(turn, one.impulse));
        CHECK_VEC3(other.impulse, expected, 1e-11 * tpLength(expected));
        assert_int_equal(one.phaseCount, other.phaseCount);
        assert_int_equal(one.stepCount, other.stepCount);
    }
}

// Nearly no slip ends where none does: the limit from rest is continuous.
static void test_start_from_rest(void** state) {
    (void)state;
    tpRandom random = { 13 };
    for (int i = 0; i < 2000; ++i) {
        tpImpact impact = randomImpact(&random, 0.5);
        impact.velocity = tpScale(-1.0, impact.normal);
        tpImpactResult rest, slow;
        assert_int_equal(tpImpact_Resolve(&impact, &rest), tp_success);
        impact.velocity = tpMulAdd(impact.velocity, 1e-9, randomVec3(&random, -1.0, 1.0));
        assert_int_equal(tpImpact_Resolve(&impact, &slow), tp_success);
        CHECK_VEC3(slow.impulse, rest.impulse, 1e-6 * tpLength(rest.impulse));
    }
}

static void test_two_bodies(void** state) {
    (void)state;
    tpImpactRow rows[64];
    int count = readImpactTable(TIPPE_SOURCE_DIR "/tests/data/collisions.csv", rows, 64);
    for (int i = 0; i < count; ++i) {
        tpImpactBody first = rows[i].bodies[0], second = rows[i].bodies[1];
        tpImpactResult result;
        assert_int_equal(tpImpact_Resolve(&rows[i].impact, &result), tp_success);
        tpImpactBody_Apply(&first, result.impulse);
        tpImpactBody_Apply(&second, tpNeg(result.impulse));
        tpImpact after = tpMakeImpact(&first, &second, tpMakeVec3(0.0, 0.0, 1.0));
        CHECK_VEC3(after.velocity, result.velocity, 1e-13);
    }
}

// Numbers of every size end, without a number that is not finite.
static void test_extremes(void** state) {
    (void)state;
    tpRandom random = { 17 };
    int solved = 0;
    for (int i = 0; i < 40000; ++i) {
        tpImpact impact = randomImpact(&random, 1.0);
        int matrixPower = (int)(randomBits(&random) % 600) - 300;
        int velocityPower = (int)(randomBits(&random) % 600) - 300;
        double matrixScale = pow(10.0, matrixPower), velocityScale = pow(10.0, velocityPower);
        if (i % 3 == 0) {
            impact = randomImpact(&random, 12.0);
        }
        impact.collisionMatrix = tpScaleM(matrixScale, impact.collisionMatrix);
        impact.velocity = tpScale(velocityScale, impact.velocity);
        impact.friction = pow(10.0, randomBetween(&random, -308.0, 308.0));
        tpImpactResult result;
        tpResult end = tpImpact_Resolve(&impact, &result);
        solved += end == tp_success;
        assert_true(tpIsFiniteVec3(result.impulse) && tpIsFiniteVec3(result.velocity));
        assert_true(isfinite(result.energyLost) && isfinite(result.compressionImpulse));
    }
    assert_true(solved > 10000);
}

static void test_bad_input(void** state) {
    (void)state;
    tpImpact good = tpDefaultImpact();
    good.collisionMatrix = tpIdentityMat33();
    good.velocity = tpMakeVec3(1.0, 0.0, -1.0);
    good.friction = 0.5;
    tpImpactResult result;
    assert_int_equal(tpImpact_Resolve(&good, &result), tp_success);
    tpImpact bad[8];
    for (int i = 0; i < 8; ++i) {
        bad[i] = good;
    }
    bad[0].friction = -0.1;
    bad[1].friction = NAN;
    bad[2].restitution = -1.0;
    bad[3].velocity.y = INFINITY;
    bad[4].normal = tpMakeVec3(0.0, 0.0, 2.0);
    bad[5].collisionMatrix = tpZeroMat33();
    bad[6].collisionMatrix = tpDiagonal(tpMakeVec3(1.0, -1.0, 1.0));
    bad[7].collisionMatrix.cx.z = bad[7].collisionMatrix.cz.x = 2.0;
    for (int i = 0; i < 8; ++i) {
        assert_int_equal(tpImpact_Resolve(&bad[i], &result), tp_badInput);
        CHECK_NEAR(tpLength(result.impulse), 0.0, 0.0);
        assert_false(tpImpact_Reverse(&bad[i], &result));
    }
}

// A flap on a hinge, struck in the plane of the hinge, cannot move sideways at all: the impact is
// that of its moment, whatever the friction. Struck below that plane it is held by friction, and
// no impulse within the cone turns it round.
static void test_flap(void** state) {
    (void)state;
    const double moment = 0.4, speed = 3.0, e = 0.25;
    tpImpactBody plane = { 0 };
    for (int k = 0; k < 80; ++k) {
        double length = 0.3 + 0.1 * (k / 8);
        double below = k % 2 == 0 ? 0.0 : 0.1, friction = k / 2 % 2 == 0 ? 0.0 : 0.7;
        tpImpactBody flap = { .inverseInertia = tpDiagonal(tpMakeVec3(1.0 / moment, 0.0, 0.0)),
                              .arm = { 0.0, length, -below },
                              .angularVelocity = { -speed / length, 0.0, 0.0 } };
        tpImpact impact = tpMakeImpact(&flap, &plane, tpMakeVec3(0.0, 0.0, 1.0));
        impact.restitution = e;
        impact.friction = friction;
        impact.law = (tpRestitution)(k / 4 % 2);
        tpImpactResult result;
        if (below > 0.0 && friction > 0.0) {
            assert_int_not_equal(tpImpact_Resolve(&impact, &result), tp_success);
            continue;
        }
        assert_int_equal(tpImpact_Resolve(&impact, &result), tp_success);
        double impulse = (1.0 + e) * speed * moment / (length * length);
        CHECK_VEC3(result.impulse, tpMakeVec3(0.0, 0.0, impulse), 1e-13);
        CHECK_NEAR(result.velocity.z, e * speed, 1e-14);
        CHECK_NEAR(result.energyLost,
                   0.5 * moment * speed * speed / (length * length) * (1.0 - e * e), 1e-13);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),      cmocka_unit_test(test_reversal_of_table),
        cmocka_unit_test(test_sphere),     cmocka_unit_test(test_flap),
        cmocka_unit_test(test_planar),     cmocka_unit_test(test_laws),
        cmocka_unit_test(test_invariance), cmocka_unit_test(test_start_from_rest),
        cmocka_unit_test(test_two_bodies), cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
