// Scenes whose results are known: double pendulum, heavy top, and Painleve's rod.

#include "papers/paper_world.h"

// Reference values of the tip at 1 s and 2 s, by integration of the equations of motion in two
// angles.
static const tpVec3 tipAt1 = { -1.6621151, -1.0414666, 0.0 };
static const tpVec3 tipAt2 = { 0.3135248, -1.9147466, 0.0 };

static void swing(double h, double errors[2]) {
    tpWorld* world = makePaperWorld("double_pendulum");
    tpBodyId lower = tpWorld_FindBody(world, "lower");
    int perSecond = (int)(1.0 / h + 0.5);
    for (int second = 0; second < 2; ++second) {
        for (int k = 0; k < perSecond; ++k) {
            tpStepReport report = tpWorld_Step(world, h);
            assert_int_equal(report.failureCount, 0);
            CHECK_BELOW(report.jointDrift, 1e-8);
        }
        tpVec3 tip = tpTransformPoint(tpBody_GetPose(world, lower), tpMakeVec3(0.5, 0.0, 0.0));
        errors[second] = tpDistanceBetween(tip, second == 0 ? tipAt1 : tipAt2);
    }
    tpDestroyWorld(world);
}

static void doublePendulumIsOfSecondOrder(void** state) {
    (void)state;
    double coarse[2], fine[2];
    swing(1e-3, coarse);
    swing(5e-4, fine);
    for (int k = 0; k < 2; ++k) {
        double order = log2(coarse[k] / fine[k]);
        print_message("tip at %d s: off by %.3e m, with half the step %.3e m, order %.3f\n", k + 1,
                      coarse[k], fine[k], order);
        CHECK_BELOW(coarse[k], 1e-3);
        CHECK_NEAR(order, 2.0, 0.2);
    }
}

// Steady precession: I1 cos(t) W^2 - I3 w3 W + m g l = 0, slow root 2.789422 rad/s.
static void heavyTopPrecesses(void** state) {
    (void)state;
    tpWorld* world = makePaperWorld("heavy_top");
    tpBodyId top = tpWorld_FindBody(world, "top");
    double angle = 0.0, height = tpBody_GetPosition(world, top).z, nod = 0.0;
    tpVec3 before = tpBody_GetPosition(world, top);
    for (int k = 0; k < 2000; ++k) {
        assert_int_equal(tpWorld_Step(world, 1e-3).failureCount, 0);
        tpVec3 now = tpBody_GetPosition(world, top);
        angle += atan2(before.x * now.y - before.y * now.x, before.x * now.x + before.y * now.y);
        nod = fmax(nod, fabs(now.z - height));
        before = now;
    }
    double rate = angle / 2.0;
    print_message("precession %.7f rad/s, height within %.2e m\n", rate, nod);
    CHECK_NEAR(rate, 2.789422, 1e-3 * 2.789422);
    CHECK_BELOW(nod, 1e-3 * height);
    tpDestroyWorld(world);
}

// The impulse without collision, by Routh's method: sticking at once.
static void painleveRodStopsAtOnce(void** state) {
    (void)state;
    const double steps[] = { 1e-3, 1e-4, 1e-5 };
    double errors[3];
    for (int i = 0; i < 3; ++i) {
        tpWorld* world = makePaperWorld("painleve_rod");
        tpStepReport report = tpWorld_Step(world, steps[i]);
        assert_int_equal(report.failureCount, 0);
        int count;
        const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
        tpVec3 sum = tpZeroVec3();
        for (int k = 0; k < count; ++k) {
            // On the rod, whichever of the two it is.
            double sign = tpBody_GetKind(world, contacts[k].bodyA) == tp_dynamicBody ? 1.0 : -1.0;
            sum = tpMulAdd(sum, sign * contacts[k].normalImpulse, contacts[k].normal);
            sum = tpMulAdd(sum, sign, contacts[k].frictionImpulse);
        }
        errors[i] = tpDistanceBetween(sum, tpMakeVec3(0.457295, 0.335410, 0.0));
        print_message("h = %g: impulse (%.6f, %.6f), off by %.2e\n", steps[i], sum.x, sum.y,
                      errors[i]);
        tpDestroyWorld(world);
    }
    CHECK_BELOW(errors[1], errors[0] / 8.0);
    CHECK_BELOW(errors[2], errors[1] / 8.0);
    CHECK_BELOW(errors[2], 1e-4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doublePendulumIsOfSecondOrder),
        cmocka_unit_test(heavyTopPrecesses),
        cmocka_unit_test(painleveRodStopsAtOnce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
