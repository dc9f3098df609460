// The spring and damper of one contact point in one step.

#include "ball_cases.h"
#include "dynamics/contact_spring.h"

static const double stiffness = 2e3, damping = 7.0, h = 0.01;

static tpPointSpring springAt(double gap, double d, double response) {
    tpContactLaw law = { .stiffness = stiffness, .damping = d };
    return tpMakePointSpring(&law, gap, h, response);
}

// Whether the point enters, stays or leaves: the whole impulse does the work that the energy takes.
static void impulsesDoTheWorkOfTheEnergy(void** state) {
    (void)state;
    const double gaps[] = { 0.004, 0.001, 0.0, -0.001, -0.004 };
    for (int i = 0; i < 5; ++i) {
        tpPointSpring spring = springAt(gaps[i], 0.0, 0.5);
        for (double u = -1.0; u <= 1.0; u += 0.125) {
            double gained = tpPointSpring_Energy(stiffness, gaps[i] + h * u) -
                            tpPointSpring_Energy(stiffness, gaps[i]);
            assert_float_equal(-tpPointSpring_WholeImpulse(&spring, u) * u, gained, 1e-15);
            double slope, first = tpPointSpring_FirstImpulse(&spring, u, &slope);
            assert_float_equal(2.0 * first, tpPointSpring_WholeImpulse(&spring, u), 1e-15);
        }
    }
}

// It falls with u and is convex, and its slope is that of differences.
static void impulsesFallAndAreConvex(void** state) {
    (void)state;
    const double gaps[] = { 0.003, 0.0, -0.002 }, step = 1e-3;
    for (int i = 0; i < 3; ++i) {
        tpPointSpring spring = springAt(gaps[i], damping, 100.0);
        assert_true(spring.share > 0.8); // a damper that stops the point within the step
        for (double u = -1.0003; u <= 1.0; u += 0.01) {
            double slope, unused;
            double low = tpPointSpring_FirstImpulse(&spring, u - step, &unused);
            double high = tpPointSpring_FirstImpulse(&spring, u + step, &unused);
            double middle = tpPointSpring_FirstImpulse(&spring, u, &slope);
            assert_true(low >= middle && middle >= high && middle >= 0.0 && slope <= 0.0);
            assert_true(low + high >= 2.0 * middle - 1e-15);
        }
    }
}

// Away from the kinks: where the point meets the surface at the end, and where it begins to push.
static void slopesAreThoseOfDifferences(void** state) {
    (void)state;
    const double gaps[] = { 0.003, 0.0005, -0.0005, -0.002 }, step = 1e-6;
    for (int i = 0; i < 4; ++i) {
        for (int isDamped = 0; isDamped < 2; ++isDamped) {
            tpPointSpring spring = springAt(gaps[i], isDamped ? damping : 0.0, 0.5);
            for (double u = -1.00037; u <= 1.0; u += 0.01) {
                double slope, unused, end = gaps[i] + h * u;
                double low = tpPointSpring_FirstImpulse(&spring, u - step, &unused);
                double high = tpPointSpring_FirstImpulse(&spring, u + step, &unused);
                tpPointSpring_FirstImpulse(&spring, u, &slope);
                if (fabs(end) > 2.0 * h * step && (low > 0.0) == (high > 0.0)) {
                    CHECK_NEAR(slope, (high - low) / (2.0 * step), 1e-6);
                }
            }
        }
    }
}

static void aPointAloneSettles(void** state) {
    (void)state;
    const double gaps[] = { 0.003, 0.0, -0.002 };
    for (int i = 0; i < 3; ++i) {
        tpPointSpring spring = springAt(gaps[i], damping, 0.5);
        for (double free = -2.0; free <= 2.0; free += 0.25) {
            double slope, u = tpPointSpring_Settle(&spring, 0.5, free);
            double impulse = tpPointSpring_FirstImpulse(&spring, u, &slope);
            assert_float_equal(u, free + 0.5 * impulse, 1e-12);
        }
    }
}

// Implicit Euler's spring and damper: the row's impulse at a velocity u is that of the depth at the
// end, and none while the point would just meet the surface.
static void implicitRowsPushAtTheEnd(void** state) {
    (void)state;
    const double gaps[] = { 0.003, 0.0, -0.002 };
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    addBall(world, tpZeroVec3(), tpZeroVec3());
    addFloor(world);
    tpContact contact = makeContact(system, 0, 1);
    tpRows rows = makeRows(system, &contact, 1, 0.5);
    tpContactLaw law = { .stiffness = stiffness, .damping = damping };
    for (int i = 0; i < 3; ++i) {
        tpPointSpring_WriteImplicit(&law, gaps[i], h, &rows, 0);
        for (double u = -1.0; u <= 1.0; u += 0.25) {
            // u + bias + compliance r = 0
            double r = -(u + rows.bias[0]) / rows.compliance[0];
            double opens = gaps[i] > 0.0 ? gaps[i] / h : 0.0;
            double depth = fmax(0.0, -gaps[i]) - h * (u + opens);
            CHECK_NEAR(r, h * (stiffness * depth - damping * (u + opens)), 1e-12);
            // What the row has without spring and bias is the velocity that it was made of.
            rows.impulse[0] = r;
            rows.velocity[0] = u + rows.bias[0] + rows.compliance[0] * r;
            CHECK_NEAR(tpRows_BareVelocity(&rows, 0), u, 1e-12);
        }
    }
    tpDestroyWorld(world);
}

// The row that stands for the law at some velocity has its value and its slope there.
static void rowsAreTangents(void** state) {
    (void)state;
    const double gaps[] = { -3e-3, -1e-4 }, velocities[] = { -0.5, -0.02, 0.002 };
    for (int i = 0; i < 2; ++i) {
        tpPointSpring spring = springAt(gaps[i], damping, 0.5);
        for (int k = 0; k < 3; ++k) {
            double u = velocities[k], slope, compliance, bias;
            double impulse = tpPointSpring_FirstImpulse(&spring, u, &slope);
            assert_true(impulse > 0.0 && slope < 0.0);
            tpRows rows = { .compliance = &compliance, .bias = &bias };
            tpPointSpring_Linearise(&spring, u, &rows, 0);
            // u + bias + compliance r = 0
            assert_float_equal(-(u + bias) / compliance, impulse, 1e-12);
            assert_float_equal(-1.0 / compliance, slope, 1e-12);
        }
    }
}

// In another unit of mass the rows are the same but for it, also where the law is flat.
static void rowsHaveAnyUnit(void** state) {
    (void)state;
    const double gaps[] = { 0.003, 0.0, -1e-4, -0.002 };
    for (int i = 0; i < 8; ++i) {
        tpContactLaw law = { .stiffness = stiffness, .damping = i % 2 == 0 ? 0.0 : damping };
        tpPointSpring spring = tpMakePointSpring(&law, gaps[i / 2], h, 0.5);
        for (double at = -1.0; at <= 1.0; at += 0.0625) {
            double compliance[2], bias[2];
            tpRows rows = { .compliance = compliance, .bias = bias };
            tpPointSpring_Linearise(&spring, at, &rows, 0);
            assert_true(compliance[0] > 0.0 && isfinite(compliance[0]));
            for (int k = -40; k <= 40; k += 20) {
                tpPointSpring other = spring;
                other.stiffness = ldexp(spring.stiffness, k);
                other.damping = ldexp(spring.damping, k);
                tpPointSpring_Linearise(&other, at, &rows, 1);
                CHECK_NEAR(ldexp(compliance[1], k), compliance[0], 1e-12 * compliance[0]);
                CHECK_NEAR(bias[1], bias[0], 1e-12 * (1.0 + fabs(bias[0])));
            }
        }
    }
}

// Tangents lie below a convex law, also that where it begins to push.
static void tangentsLieBelow(void** state) {
    (void)state;
    const double gaps[] = { 0.003, 0.0, -1e-4, -0.002 };
    for (int i = 0; i < 4; ++i) {
        tpPointSpring spring = springAt(gaps[i], damping, 0.5);
        for (double at = -1.0; at <= 1.0; at += 0.05) {
            double compliance, bias, unused;
            tpRows rows = { .compliance = &compliance, .bias = &bias };
            tpPointSpring_Linearise(&spring, at, &rows, 0);
            assert_true(compliance > 0.0);
            double touch = INFINITY;
            for (double u = -1.0; u <= 1.0; u += 0.0025) {
                double law = tpPointSpring_FirstImpulse(&spring, u, &unused);
                double above = law + (u + bias) / compliance;
                assert_true(above >= -1e-6);
                touch = fmin(touch, above);
            }
            assert_true(touch <= 2e-4); // it touches the law somewhere
        }
    }
}

// The velocity from which on the point does not push, by halving.
static double openingOf(const tpPointSpring* spring) {
    double low = -2.0, high = 1e4, unused;
    assert_true(tpPointSpring_FirstImpulse(spring, low, &unused) > 0.0);
    assert_true(tpPointSpring_FirstImpulse(spring, high, &unused) == 0.0);
    for (int k = 0; k < 80; ++k) {
        double middle = 0.5 * (low + high);
        if (tpPointSpring_FirstImpulse(spring, middle, &unused) > 0.0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

// Beyond the opening the row is that of the opening itself, whether the point leaves there or still
// is pressed in, with a weak damper or a strong one.
static void openRowsBeginAtTheOpening(void** state) {
    (void)state;
    const double gaps[] = { 0.004, 0.0005, -1e-5, -5e-4, -0.002, -0.006 };
    const double dampers[] = { 0.0, 0.3, 7.0, 90.0 };
    const double responses[] = { 0.02, 0.5, 4.0 };
    for (int n = 0; n < 6 * 4 * 3; ++n) {
        tpPointSpring spring = springAt(gaps[n % 6], dampers[n / 6 % 4], responses[n / 24]);
        if (spring.gap < 0.0 && spring.damping == 0.0) {
            continue; // a spring alone pushes however fast the point leaves
        }
        double opening = openingOf(&spring), compliance, bias;
        tpRows rows = { .compliance = &compliance, .bias = &bias };
        for (double beyond = 1e-6; beyond < 3.0; beyond *= 10.0) {
            tpPointSpring_Linearise(&spring, opening + beyond, &rows, 0);
            CHECK_NEAR(-bias, opening, 1e-10 * (1.0 + fabs(opening)));
        }
    }
}

// The residual under rigid contact is the larger of what was found before and what there is now.
static void theWorstResidualIsKept(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpMakeVec3(0.0, 0.0, -3.0));
    tpContact contact = makeContact(system, ball, addFloor(world));
    tpRows rows = makeRows(system, &contact, 1, 0.5);
    tpContactLaw law = makeLaw(0.5);
    law.stiffness = stiffness;
    tpSolverMemory* memory = tpCreateSolverMemory(&system->allocator);
    double gap = 0.0, found = 0.0, kept = 1e3;
    assert_true(tpRows_JudgeRigid(&rows, &law, &gap, h, &system->arena, memory, &found));
    assert_true(tpRows_JudgeRigid(&rows, &law, &gap, h, &system->arena, memory, &kept));
    assert_true(found > 0.1 && kept == 1e3); // no impulse at all stops the ball
    tpDestroySolverMemory(memory);
    tpDestroyWorld(world);
}

// Under rigid contact a ball may close its gap within the step, and one that overlaps need not be
// pushed out; the bias of its spring is no part of that.
static void rigidContactKnowsGaps(void** state) {
    (void)state;
    const struct {
        double speed, gap;
        bool isRight; // without any impulse
    } cases[] = { { -3.0, 3.1 * h, true },   { -3.0, 2.9 * h, false }, { 0.1, -0.5 * h, true },
                  { -0.1, -0.5 * h, false }, { 0.1, 0.0, true },       { -0.1, 0.0, false } };
    for (int n = 0; n < 12; ++n) {
        int i = n / 2;
        tpWorld* world = makeEmptyWorld();
        tpSystem* system = &world->system;
        tpVec3 velocity = { 0.0, 0.0, cases[i].speed };
        int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), velocity);
        tpContact contact = makeContact(system, ball, addFloor(world));
        tpRows rows = makeRows(system, &contact, 1, 0.5);
        tpContactLaw law = makeLaw(0.5);
        law.stiffness = stiffness;
        double bias = n % 2 == 0 ? 0.0 : -7.0;
        rows.bias[0] += bias;
        rows.q[0] += bias;
        tpSolverMemory* memory = tpCreateSolverMemory(&system->allocator);
        double gap = cases[i].gap, found = 0.0;
        assert_true(tpRows_JudgeRigid(&rows, &law, &gap, h, &system->arena, memory, &found));
        assert_true(cases[i].isRight ? found < 1e-12 : found > 1e-3);
        tpDestroySolverMemory(memory);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impulsesDoTheWorkOfTheEnergy),
        cmocka_unit_test(impulsesFallAndAreConvex),
        cmocka_unit_test(slopesAreThoseOfDifferences),
        cmocka_unit_test(tangentsLieBelow),
        cmocka_unit_test(theWorstResidualIsKept),
        cmocka_unit_test(rigidContactKnowsGaps),
        cmocka_unit_test(aPointAloneSettles),
        cmocka_unit_test(rowsAreTangents),
        cmocka_unit_test(rowsHaveAnyUnit),
        cmocka_unit_test(implicitRowsPushAtTheEnd),
        cmocka_unit_test(openRowsBeginAtTheOpening),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
