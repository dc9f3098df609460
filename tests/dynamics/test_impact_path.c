// Impacts against a second way that shares nothing with the first: polar coordinates of slip, the
// matrix as it comes, an embedded Runge-Kutta pair with small steps in long double, stops and
// events by halving steps, and ways out of rest by scanning all directions.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "tippe/impact.h"

typedef long double real;

// angle, log of slip, normal impulse, friction x and y, normal work
enum { partCount = 6 };

typedef struct Path {
    real k[3][3];
    real u[3];
    real mu;
    real y[partCount];
} Path;

static real normalVelocity(const Path* path, const real* y) {
    return path->u[2] + path->k[2][2] * y[2] + path->k[2][0] * y[3] + path->k[2][1] * y[4];
}

static void rates(const Path* path, real angle, real* growth, real* turn) {
    real c = cosl(angle), s = sinl(angle);
    real x = path->k[0][2] - path->mu * (path->k[0][0] * c + path->k[0][1] * s);
    real y = path->k[1][2] - path->mu * (path->k[1][0] * c + path->k[1][1] * s);
    *growth = x * c + y * s;
    *turn = y * c - x * s;
}

static void derivative(const Path* path, const real* y, real* d) {
    real growth, turn, s = expl(y[1]);
    rates(path, y[0], &growth, &turn);
    d[0] = turn;
    d[1] = growth;
    d[2] = s;
    d[3] = -path->mu * cosl(y[0]) * s;
    d[4] = -path->mu * sinl(y[0]) * s;
    d[5] = normalVelocity(path, y) * s;
}

// One step of the pair of Dormand and Prince; the distance of its two results, impulses by a
// typical one.
static real stepOnce(const Path* path, const real* y, real h, real* out) {
    static const real a[7][6] = {
        { 0 },
        { 1.0L / 5 },
        { 3.0L / 40, 9.0L / 40 },
        { 44.0L / 45, -56.0L / 15, 32.0L / 9 },
        { 19372.0L / 6561, -25360.0L / 2187, 64448.0L / 6561, -212.0L / 729 },
        { 9017.0L / 3168, -355.0L / 33, 46732.0L / 5247, 49.0L / 176, -5103.0L / 18656 },
        { 35.0L / 384, 0, 500.0L / 1113, 125.0L / 192, -2187.0L / 6784, 11.0L / 84 }
    };
    static const real e[7] = { 71.0L / 57600,      0,           -71.0L / 16695, 71.0L / 1920,
                               -17253.0L / 339200, 22.0L / 525, -1.0L / 40 };
    real k[7][partCount], stage[partCount];
    for (int i = 0; i < 7; ++i) {
        for (int j = 0; j < partCount; ++j) {
            stage[j] = y[j];
            for (int m = 0; m < i; ++m) {
                stage[j] += h * a[i][m] * k[m][j];
            }
        }
        derivative(path, stage, k[i]);
    }
    memcpy(out, stage, sizeof(stage));
    real error = 0, impulse = -path->u[2] / path->k[2][2];
    for (int j = 0; j < 5; ++j) {
        real sum = 0;
        for (int i = 0; i < 7; ++i) {
            sum += h * e[i] * k[i][j];
        }
        error = fmaxl(error, fabsl(j < 2 ? sum : sum / impulse));
    }
    return error;
}

typedef struct Goal {
    int part; // 2: impulse, 5: work, -1: normal velocity
    real value;
} Goal;

static real lack(const Path* path, const real* y, Goal goal) {
    return (goal.part < 0 ? normalVelocity(path, y) : y[goal.part]) - goal.value;
}

// Slides until the goal (true) or until slip stops (false).
static bool slide(Path* path, Goal goal, real smallest) {
    real h = 1e-3L;
    for (int i = 0; i < 200000; ++i) {
        real next[partCount];
        real error = stepOnce(path, path->y, h, next);
        if (error > 1e-16L) {
            h *= 0.5L;
            continue;
        }
        if (lack(path, next, goal) >= 0) {
            real low = 0, high = h;
            for (int j = 0; j < 80; ++j) {
                real middle = 0.5L * (low + high);
                stepOnce(path, path->y, middle, next);
                if (lack(path, next, goal) >= 0) {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            stepOnce(path, path->y, high, path->y);
            return true;
        }
        memcpy(path->y, next, sizeof(next));
        if (expl(next[1]) < smallest) {
            return false;
        }
        if (error < 1e-18L) {
            h *= 1.5L;
        }
    }
    fail_msg("the second way did not end");
    return false;
}

// Goes on with constant friction for each unit of impulse until the goal.
static void goStraight(Path* path, real qx, real qy, Goal goal) {
    real rate = path->k[2][2] + path->k[2][0] * qx + path->k[2][1] * qy;
    real uz = normalVelocity(path, path->y), length;
    if (goal.part < 0) {
        length = -uz / rate;
    } else if (goal.part == 2) {
        length = goal.value - path->y[2];
    } else {
        real missing = goal.value - path->y[5];
        length = (sqrtl(uz * uz + 2 * rate * missing) - uz) / rate;
    }
    path->y[2] += length;
    path->y[3] += qx * length;
    path->y[4] += qy * length;
    path->y[5] += length * (uz + 0.5L * rate * length);
}

// Friction for each unit of impulse from rest. Exactly one direction may lead out of it.
static void fromRest(const Path* path, real* qx, real* qy) {
    real a = path->k[0][0], b = path->k[0][1], d = path->k[1][1];
    real x = path->k[0][2], y = path->k[1][2], det = a * d - b * b;
    *qx = -(d * x - b * y) / det;
    *qy = -(a * y - b * x) / det;
    if (*qx * *qx + *qy * *qy <= path->mu * path->mu) {
        return;
    }
    int found = 0;
    const int scans = 20000;
    for (int i = 0; i < scans; ++i) {
        real pi = 3.14159265358979323846264L;
        real low = 2 * pi * i / scans, high = 2 * pi * (i + 1) / scans;
        real growth, turnLow, turnHigh, turn;
        rates(path, low, &growth, &turnLow);
        rates(path, high, &growth, &turnHigh);
        if (growth <= 0 || (turnLow > 0) == (turnHigh > 0)) {
            continue;
        }
        for (int j = 0; j < 80; ++j) {
            real middle = 0.5L * (low + high);
            rates(path, middle, &growth, &turn);
            if ((turn > 0) == (turnLow > 0)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        found += 1;
        *qx = -path->mu * cosl(low);
        *qy = -path->mu * sinl(low);
    }
    assert_int_equal(found, 1);
}

static tpVec3 secondWay(const tpImpact* impact, double* compressionImpulse) {
    tpMat33 m = impact->collisionMatrix;
    Path path = {
        .k = { { m.cx.x, m.cy.x, m.cz.x }, { m.cx.y, m.cy.y, m.cz.y }, { m.cx.z, m.cy.z, m.cz.z } },
        .u = { impact->velocity.x, impact->velocity.y, impact->velocity.z },
        .mu = impact->friction
    };
    real s = hypotl(path.u[0], path.u[1]);
    real smallest = 1e-17L * tpLength(impact->velocity);
    bool isSliding = s > smallest;
    path.y[0] = atan2l(path.u[1], path.u[0]);
    path.y[1] = isSliding ? logl(s) : 0;
    real qx = 0, qy = 0, e = impact->restitution;
    if (!isSliding) {
        fromRest(&path, &qx, &qy);
    }
    Goal goal = { -1, 0 };
    for (int phase = 0; phase < 2; ++phase) {
        if (isSliding && !slide(&path, goal, smallest)) {
            isSliding = false;
            fromRest(&path, &qx, &qy);
        }
        if (!isSliding) {
            goStraight(&path, qx, qy, goal);
        }
        if (phase == 0) {
            *compressionImpulse = (double)path.y[2];
            goal = impact->law == tp_poissonRestitution ? (Goal){ 2, (1 + e) * path.y[2] }
                                                        : (Goal){ 5, (1 - e * e) * path.y[5] };
        }
    }
    return tpMakeVec3((double)path.y[3], (double)path.y[4], (double)path.y[2]);
}

// A collision matrix of two random bodies, with eigenvalues within some hundreds of each other.
static tpImpact randomImpact(tpRandom* random) {
    tpImpactBody bodies[2] = { { 0 } };
    int count = randomBetween(random, 0.0, 1.0) < 0.5 ? 1 : 2;
    for (int i = 0; i < count; ++i) {
        double mass = exp(randomBetween(random, -1.0, 1.0));
        tpVec3 half = randomVec3(random, 0.1, 1.0);
        double x = half.x * half.x, y = half.y * half.y, z = half.z * half.z;
        tpMat33 inverse = tpDiagonal(
            tpMakeVec3(3.0 / (mass * (y + z)), 3.0 / (mass * (x + z)), 3.0 / (mass * (x + y))));
        tpMat33 turn = tpMatFromQuat(randomRotation(random));
        bodies[i].inverseMass = 1.0 / mass;
        bodies[i].inverseInertia = tpMulMM(turn, tpMulMM(inverse, tpTranspose(turn)));
        bodies[i].arm = tpMulMV(turn, tpMulParts(half, randomVec3(random, -1.0, 1.0)));
        bodies[i].velocity = randomVec3(random, -1.0, 1.0);
        bodies[i].angularVelocity = randomVec3(random, -1.0, 1.0);
    }
    tpImpact impact = tpMakeImpact(&bodies[0], &bodies[1], tpMakeVec3(0.0, 0.0, 1.0));
    impact.velocity.z = -fabs(impact.velocity.z);
    impact.friction = exp(randomBetween(random, -3.0, 1.0));
    impact.restitution = randomBetween(random, 0.0, 1.0);
    impact.law =
        randomBetween(random, 0.0, 1.0) < 0.5 ? tp_poissonRestitution : tp_strongeRestitution;
    return impact;
}

static void test_random_impacts(void** state) {
    (void)state;
    tpRandom random = { 11 };
    int stuck = 0, slippedOff = 0;
    for (int i = 0; i < 160; ++i) {
        tpImpact impact = randomImpact(&random);
        if (i % 4 == 0) { // slow slip on a smooth surface, for ways out
            impact.velocity.x *= 0.05;
            impact.velocity.y *= 0.05;
            impact.friction *= 0.25;
        }
        if (i % 16 == 0) {
            impact.velocity.x = impact.velocity.y = 0.0;
        }
        tpImpactResult result;
        assert_int_equal(tpImpact_Resolve(&impact, &result), tp_success);
        double compression;
        tpVec3 expected = secondWay(&impact, &compression);
        double scale = tpLength(expected);
        CHECK_VEC3(result.impulse, expected, 1e-12 * scale);
        CHECK_NEAR(result.compressionImpulse, compression, 1e-12 * scale);
        stuck += result.phases[result.phaseCount - 1].mode == tp_impactSticks;
        slippedOff += result.phases[result.phaseCount - 1].mode == tp_impactSlipsOff;
    }
    // The draw must hold every kind, or it tests less than it says.
    assert_true(stuck > 20);
    assert_true(slippedOff > 5);
}

// How many steps of a series impacts take on average: more are waste, and fewer come of an estimate
// that does not see how fast a series grows.
static void test_steps(void** state) {
    (void)state;
    tpRandom random = { 12 };
    double steps = 0.0, phases = 0.0;
    for (int i = 0; i < 4000; ++i) {
        tpImpact impact = randomImpact(&random);
        tpImpactResult result;
        assert_int_equal(tpImpact_Resolve(&impact, &result), tp_success);
        steps += result.stepCount / 4000.0;
        phases += result.phaseCount / 4000.0;
    }
    print_message("%.4f steps, %.4f phases\n", steps, phases);
    CHECK_NEAR(steps, 4.1035, 0.02);
    CHECK_NEAR(phases, 2.2065, 0.002);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_impacts),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
