// Impacts with elliptic friction and friction against spin: against the plain impact where they
// must agree, closed forms, an independent integration of the two bodies, and what always holds.

#include <math.h>

#include "dynamics/wide_impact.h"
#include "support/check.h"

static tpImpactBody randomBody(tpRandom* random) {
    tpImpactBody body = { .inverseMass = 1.0 / randomBetween(random, 0.5, 2.0) };
    tpMat33 axes = tpMatFromQuat(randomRotation(random));
    tpMat33 moments = tpDiagonal(randomVec3(random, 20.0, 60.0));
    body.inverseInertia = tpMulMM(axes, tpMulMM(moments, tpTranspose(axes)));
    body.arm = randomVec3(random, -0.2, 0.2);
    body.velocity = randomVec3(random, -1.0, 1.0);
    body.angularVelocity = randomVec3(random, -5.0, 5.0);
    return body;
}

static tpContactLaw makeLaw(double mu, double along, double across, double arm, tpVec3 normal) {
    tpContactLaw law = { .mu = mu, .ellipse = { along, across }, .arm = arm };
    tpMakeTangents(normal, &law.tangents[0], &law.tangents[1]);
    return law;
}

typedef struct Case {
    tpImpactBody bodies[2];
    tpVec3 normal;
    double e;
} Case;

// Bodies that approach at a contact.
static Case randomCase(tpRandom* random) {
    for (;;) {
        Case made = { .e = randomBetween(random, 0.0, 1.0) };
        made.bodies[0] = randomBody(random);
        made.bodies[1] = randomBody(random);
        made.normal = tpNormalize(randomVec3(random, -1.0, 1.0));
        tpImpact plain = tpMakeImpact(&made.bodies[0], &made.bodies[1], made.normal);
        if (tpDot(plain.velocity, made.normal) < -0.1) {
            return made;
        }
    }
}

static tpWideImpactResult resolve(const Case* given, const tpContactLaw* law, tpRestitution kind,
                                  tpWideImpact* impact) {
    *impact = tpMakeWideImpact(&given->bodies[0], &given->bodies[1], given->normal, law);
    impact->restitution = given->e;
    impact->law = kind;
    tpWideImpactResult result;
    assert_int_equal(tpWideImpact_Resolve(impact, &result), tp_success);
    return result;
}

// With a circle and no arm it is the plain impact; with an ellipse it is that of scaled tangents.
static void agreesWithThePlainImpact(void** state) {
    (void)state;
    tpRandom random = { 3 };
    double worst = 0.0;
    for (int k = 0; k < 2000; ++k) {
        Case given = randomCase(&random);
        double mu = randomBetween(&random, 0.05, 1.5);
        double along = k % 2 == 0 ? 1.0 : randomBetween(&random, 0.2, 2.0);
        double across = k % 2 == 0 ? 1.0 : randomBetween(&random, 0.2, 2.0);
        tpContactLaw law = makeLaw(mu, along, across, 0.0, given.normal);
        tpImpact plain = tpMakeImpact(&given.bodies[0], &given.bodies[1], given.normal);
        tpVec3 t = law.tangents[0], o = law.tangents[1], n = given.normal;
        // S = n n' + e_t t t' + e_o o o', symmetric.
        tpMat33 frame = tpMakeMat33(t, o, n);
        tpMat33 scale =
            tpMulMM(frame, tpMulMM(tpDiagonal(tpMakeVec3(along, across, 1.0)), tpTranspose(frame)));
        plain.collisionMatrix = tpMulMM(scale, tpMulMM(plain.collisionMatrix, scale));
        plain.velocity = tpMulMV(scale, plain.velocity);
        plain.friction = mu;
        plain.restitution = given.e;
        plain.law = k % 4 < 2 ? tp_poissonRestitution : tp_strongeRestitution;
        tpImpactResult expected;
        assert_int_equal(tpImpact_Resolve(&plain, &expected), tp_success);
        tpWideImpact impact;
        tpWideImpactResult result = resolve(&given, &law, plain.law, &impact);
        tpVec3 force = tpWideImpact_Force(&impact, result.impulse);
        tpVec3 impulse = tpMulMV(scale, expected.impulse);
        double size = tpLength(impulse);
        worst = fmax(worst, tpLength(tpSub(force, impulse)) / size);
        CHECK_VEC3(force, impulse, 1e-9 * size);
        CHECK_NEAR(result.energyLost, expected.energyLost, 1e-9);
        CHECK_NEAR(tpWideImpact_Torsion(&impact, result.impulse), 0.0, 0.0);
    }
    print_message("wide and plain impacts agree to %.1e\n", worst);
}

// A ball that falls straight and spins loses mu arm (1 + e) m v / I of its spin, or all of it.
static void ballLosesSpin(void** state) {
    (void)state;
    const double m = 0.4, radius = 0.1, moment = 0.4 * m * radius * radius, v = 2.0, e = 0.5;
    for (double spin = -200.0; spin <= 200.0; spin += 10.0) {
        Case given = { .normal = { 0.0, 0.0, 1.0 }, .e = e };
        double inverse = 1.0 / moment;
        given.bodies[0] =
            (tpImpactBody){ .inverseMass = 1.0 / m,
                            .inverseInertia = tpDiagonal(tpMakeVec3(inverse, inverse, inverse)),
                            .arm = { 0.0, 0.0, -radius },
                            .velocity = { 0.0, 0.0, -v },
                            .angularVelocity = { 0.0, 0.0, spin } };
        const double mu = 0.3, arm = 0.01;
        tpContactLaw law = makeLaw(mu, 1.0, 1.0, arm, given.normal);
        tpWideImpact impact;
        tpWideImpactResult result = resolve(&given, &law, tp_poissonRestitution, &impact);
        double passed = (1.0 + e) * m * v;
        double torsion = fmin(mu * arm * passed, moment * fabs(spin));
        CHECK_NEAR(result.impulse[0], passed, 1e-13);
        CHECK_NEAR(tpWideImpact_Torsion(&impact, result.impulse), spin > 0 ? -torsion : torsion,
                   1e-13);
    }
}

// The two bodies themselves, by Runge and Kutta's method of fourth order in the normal impulse: the
// friction is that point of its ellipsoid which opposes the velocities most.
typedef struct Motion {
    tpVec3 v[2], w[2];
} Motion;

static Motion slope(const Case* given, const tpContactLaw* law, const Motion* at, double* normal) {
    const tpImpactBody* b = given->bodies;
    tpVec3 u = tpSub(tpAdd(at->v[0], tpCross(at->w[0], b[0].arm)),
                     tpAdd(at->v[1], tpCross(at->w[1], b[1].arm)));
    double spin = tpDot(tpSub(at->w[0], at->w[1]), given->normal);
    double x = law->ellipse[0] * tpDot(u, law->tangents[0]);
    double y = law->ellipse[1] * tpDot(u, law->tangents[1]), z = law->arm * spin;
    double s = sqrt(x * x + y * y + z * z);
    tpVec3 force = given->normal;
    force = tpMulAdd(force, -law->mu * law->ellipse[0] * x / s, law->tangents[0]);
    force = tpMulAdd(force, -law->mu * law->ellipse[1] * y / s, law->tangents[1]);
    tpVec3 couple = tpScale(-law->mu * law->arm * z / s, given->normal);
    Motion rate;
    for (int i = 0; i < 2; ++i) {
        double sign = i == 0 ? 1.0 : -1.0;
        rate.v[i] = tpScale(sign * b[i].inverseMass, force);
        tpVec3 moment = tpScale(sign, tpAdd(tpCross(b[i].arm, force), couple));
        rate.w[i] = tpMulMV(b[i].inverseInertia, moment);
    }
    *normal = tpDot(u, given->normal);
    return rate;
}

static Motion along(const Motion* at, double h, const Motion* rate) {
    Motion next;
    for (int i = 0; i < 2; ++i) {
        next.v[i] = tpMulAdd(at->v[i], h, rate->v[i]);
        next.w[i] = tpMulAdd(at->w[i], h, rate->w[i]);
    }
    return next;
}

static void integrate(const Case* given, const tpContactLaw* law, double passed, int steps,
                      Motion* at) {
    double h = passed / steps, u;
    for (int k = 0; k < steps; ++k) {
        Motion a = slope(given, law, at, &u), m = along(at, 0.5 * h, &a);
        Motion b = slope(given, law, &m, &u);
        m = along(at, 0.5 * h, &b);
        Motion c = slope(given, law, &m, &u);
        m = along(at, h, &c);
        Motion d = slope(given, law, &m, &u);
        *at = along(at, h / 6.0, &a);
        *at = along(at, h / 3.0, &b);
        *at = along(at, h / 3.0, &c);
        *at = along(at, h / 6.0, &d);
    }
}

// Slip that does not stop: both bodies after the impact are those of the integration.
static void agreesWithAnIntegration(void** state) {
    (void)state;
    tpRandom random = { 11 };
    int compared = 0;
    for (int k = 0; k < 400; ++k) {
        Case given = randomCase(&random);
        tpContactLaw law = makeLaw(
            randomBetween(&random, 0.05, 0.5), randomBetween(&random, 0.3, 1.5),
            randomBetween(&random, 0.3, 1.5), randomBetween(&random, 0.01, 0.2), given.normal);
        tpWideImpact impact;
        tpWideImpactResult result = resolve(&given, &law, tp_poissonRestitution, &impact);
        double change[TP_WIDE], slip = 0.0;
        tpWideImpact_Change(&impact, result.impulse, change);
        for (int i = 1; i < TP_WIDE; ++i) {
            slip = fmax(slip, fabs(impact.velocity[i] + change[i]));
        }
        double friction =
            sqrt(result.impulse[1] * result.impulse[1] + result.impulse[2] * result.impulse[2] +
                 result.impulse[3] * result.impulse[3]);
        // Straight or stuck on the way: the integration cannot follow.
        if (slip < 0.05 || friction < 0.8 * law.mu * result.impulse[0]) {
            continue;
        }
        Motion end = { { given.bodies[0].velocity, given.bodies[1].velocity },
                       { given.bodies[0].angularVelocity, given.bodies[1].angularVelocity } };
        double u;
        integrate(&given, &law, result.compressionImpulse, 2000, &end);
        slope(&given, &law, &end, &u);
        CHECK_NEAR(u, 0.0, 1e-7);
        integrate(&given, &law, given.e * result.compressionImpulse, 2000, &end);
        tpVec3 force = tpWideImpact_Force(&impact, result.impulse);
        tpVec3 couple = tpScale(tpWideImpact_Torsion(&impact, result.impulse), given.normal);
        for (int i = 0; i < 2; ++i) {
            double sign = i == 0 ? 1.0 : -1.0;
            tpImpactBody body = given.bodies[i];
            tpImpactBody_Apply(&body, tpScale(sign, force));
            body.angularVelocity =
                tpAdd(body.angularVelocity, tpMulMV(body.inverseInertia, tpScale(sign, couple)));
            CHECK_VEC3(body.velocity, end.v[i], 1e-7);
            CHECK_VEC3(body.angularVelocity, end.w[i], 1e-6);
        }
        compared += 1;
    }
    print_message("%d wide impacts follow the integration of their bodies\n", compared);
    assert_true(compared > 100);
}

// Slip that is at rest when the bodies meet stays there if friction can hold it, and otherwise
// leaves along one straight line: friction at its limit, against the slip that comes of it. Either
// way the whole impact is straight, and each of its figures is known.
static void leavesRest(void** state) {
    (void)state;
    tpRandom random = { 37 };
    int stuck = 0, count = 2000;
    for (int k = 0; k < count; ++k) {
        tpWideImpact impact = { .velocity = { -randomBetween(&random, 0.5, 2.0) },
                                .scales = { 1.0, 1.0, 1.0, 1.0 },
                                .friction = randomBetween(&random, 0.02, 1.0),
                                .restitution = randomBetween(&random, 0.0, 1.0),
                                .law = tp_poissonRestitution };
        double root[TP_WIDE][TP_WIDE];
        for (int i = 0; i < TP_WIDE; ++i) {
            for (int j = 0; j < TP_WIDE; ++j) {
                root[i][j] = randomBetween(&random, -0.5, 0.5) + (i == j ? 1.0 : 0.0);
            }
        }
        for (int i = 0; i < TP_WIDE; ++i) {
            for (int j = 0; j < TP_WIDE; ++j) {
                for (int n = 0; n < TP_WIDE; ++n) {
                    impact.response[i][j] += root[i][n] * root[j][n];
                }
            }
        }
        tpWideImpactResult result;
        assert_int_equal(tpWideImpact_Resolve(&impact, &result), tp_success);
        double change[TP_WIDE], limit = impact.friction * result.impulse[0];
        tpWideImpact_Change(&impact, result.impulse, change);
        double friction =
            sqrt(result.impulse[1] * result.impulse[1] + result.impulse[2] * result.impulse[2] +
                 result.impulse[3] * result.impulse[3]);
        double slip = sqrt(change[1] * change[1] + change[2] * change[2] + change[3] * change[3]);
        CHECK_BELOW(friction, limit * (1.0 + 1e-9));
        if (friction < limit * (1.0 - 1e-9)) {
            stuck += 1;
            CHECK_NEAR(slip, 0.0, 1e-12);
        }
        for (int i = 1; i < TP_WIDE; ++i) { // against the slip
            CHECK_NEAR(result.impulse[i] * slip, -friction * change[i], 1e-9);
        }
        double e = impact.restitution, first = result.compressionImpulse / result.impulse[0];
        CHECK_NEAR(first * (1.0 + e), 1.0, 1e-12);
        CHECK_NEAR(impact.velocity[0] + change[0], -e * impact.velocity[0], 1e-12);
        double back[TP_WIDE];
        tpWideImpact_ImpulseFor(&impact, change, back);
        for (int i = 0; i < TP_WIDE; ++i) {
            CHECK_NEAR(back[i], result.impulse[i], 1e-9);
        }
    }
    assert_in_range(stuck, count / 10, 9 * count / 10);
}

// Whatever the impact: it ends with bodies that part, friction within its limit, no energy won.
static void neverWinsEnergy(void** state) {
    (void)state;
    tpRandom random = { 7 };
    int steps = 0;
    for (int k = 0; k < 5000; ++k) {
        Case given = randomCase(&random);
        tpContactLaw law = makeLaw(
            randomBetween(&random, 0.0, 3.0), randomBetween(&random, 0.1, 3.0),
            randomBetween(&random, 0.1, 3.0), randomBetween(&random, 0.0, 0.5), given.normal);
        tpWideImpact impact;
        tpWideImpactResult result = resolve(&given, &law, tp_strongeRestitution, &impact);
        double change[TP_WIDE], friction = 0.0;
        tpWideImpact_Change(&impact, result.impulse, change);
        for (int i = 1; i < TP_WIDE; ++i) {
            friction += result.impulse[i] * result.impulse[i];
        }
        assert_true(sqrt(friction) <= law.mu * result.impulse[0] * (1.0 + 1e-9) + 1e-12);
        assert_true(impact.velocity[0] + change[0] >= -1e-9);
        assert_true(result.energyLost >= -1e-9);
        steps += result.stepCount;
    }
    print_message("%.3f steps per impact\n", steps / 5000.0);
    // More are waste; fewer come of an estimate that does not see how fast a series grows.
    CHECK_NEAR(steps / 5000.0, 30.62, 0.15);
    Case apart = randomCase(&random);
    apart.normal = tpNeg(apart.normal);
    tpContactLaw law = makeLaw(0.5, 1.0, 2.0, 0.1, apart.normal);
    assert_true(tpContactLaw_IsWide(&law));
    tpWideImpact impact;
    CHECK_NEAR(resolve(&apart, &law, tp_poissonRestitution, &impact).impulse[0], 0.0, 0.0);
    impact.velocity[0] = NAN;
    tpWideImpactResult result;
    assert_int_equal(tpWideImpact_Resolve(&impact, &result), tp_notSolved);
}

// An impact needs more than the plain one if there is friction at all, and it has an arm or an
// ellipse that is no circle.
static void knowsWhoIsWide(void** state) {
    (void)state;
    for (int k = 0; k < 16; ++k) {
        bool isRough = k % 2 == 1, hasArm = k / 2 % 2 == 1, isLong = k / 4 % 2 == 1;
        bool isBroad = k / 8 == 1;
        tpContactLaw law = { .mu = isRough ? 0.3 : 0.0, .arm = hasArm ? 0.01 : 0.0 };
        law.ellipse[0] = isLong ? 0.5 : 1.0;
        law.ellipse[1] = isBroad ? 2.0 : 1.0;
        assert_true(tpContactLaw_IsWide(&law) == (isRough && (hasArm || isLong || isBroad)));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agreesWithThePlainImpact),
        cmocka_unit_test(ballLosesSpin),
        cmocka_unit_test(knowsWhoIsWide),
        cmocka_unit_test(agreesWithAnIntegration),
        cmocka_unit_test(leavesRest),
        cmocka_unit_test(neverWinsEnergy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
