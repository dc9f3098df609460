// Forces for one step, kept as sums: at any orientation their wrench is that of the forces.

#include "dynamics/loads.h"
#include "support/check.h"

static void testWrench(void** state) {
    (void)state;
    tpRandom random = { 7 };
    for (int round = 0; round < 50; ++round) {
        tpQuat start = tpQuatExp(randomVec3(&random, -2.0, 2.0)),
               now = tpQuatExp(randomVec3(&random, -2.0, 2.0));
        tpLoad load = { 0 };
        tpVec3 force = tpZeroVec3(), torque = tpZeroVec3();
        for (int i = 0; i < 4; ++i) {
            tpVec3 f = randomVec3(&random, -10.0, 10.0), arm = randomVec3(&random, -1.0, 1.0);
            tpFrame frame = i % 2 == 0 ? tp_worldFrame : tp_bodyFrame;
            tpLoad_AddForce(&load, frame, start, f, arm);
            // The point is fixed in the body; a force in body axes turns with it.
            tpVec3 point =
                frame == tp_bodyFrame ? tpRotate(now, arm) : tpRotate(now, tpUnrotate(start, arm));
            tpVec3 push = frame == tp_bodyFrame ? tpRotate(now, f) : f;
            force = tpAdd(force, push);
            torque = tpAdd(torque, tpCross(point, push));
            tpVec3 twist = randomVec3(&random, -3.0, 3.0);
            tpLoad_AddTorque(&load, frame, twist);
            torque = tpAdd(torque, frame == tp_bodyFrame ? tpRotate(now, twist) : twist);
        }
        assert_true(load.isUsed);
        tpWrench wrench = tpLoad_Wrench(&load, now);
        CHECK_VEC3(wrench.linear, force, 1e-13);
        CHECK_VEC3(wrench.angular, torque, 1e-12);
        assert_true(tpLength(wrench.linear) <= tpLoad_LargestForce(&load) * (1.0 + 1e-12));
        assert_true(tpLength(wrench.angular) <= tpLoad_LargestTorque(&load) * (1.0 + 1e-12));
    }
}

// The bounds are no larger than the sum over all forces, of any size: sqrt 2 times arm and force.
static void testBounds(void** state) {
    (void)state;
    tpRandom random = { 8 };
    for (int round = 0; round < 200; ++round) {
        double size = pow(10.0, randomBetween(&random, -6.0, 6.0));
        tpQuat rotation = tpQuatExp(randomVec3(&random, -2.0, 2.0));
        tpLoad load = { 0 };
        double forces = 0.0, torques = 0.0;
        for (int i = 0; i < 1 + round % 5; ++i) {
            tpVec3 f = tpScale(size, randomVec3(&random, -1.0, 1.0));
            tpVec3 arm = randomVec3(&random, -1.0, 1.0);
            tpVec3 twist = tpScale(round % 2 == 0 ? 0.1 : 0.0, f);
            tpFrame frame = randomBits(&random) % 2 == 0 ? tp_worldFrame : tp_bodyFrame;
            tpLoad_AddForce(&load, frame, rotation, f, arm);
            tpLoad_AddTorque(&load, frame, twist);
            forces += tpLength(f);
            torques += sqrt(2.0) * tpLength(arm) * tpLength(f) + tpLength(twist);
        }
        double force = tpLoad_LargestForce(&load), torque = tpLoad_LargestTorque(&load);
        assert_true(force <= forces * (1.0 + 1e-12));
        assert_true(torque <= torques * (1.0 + 1e-12));
        for (int k = 0; k < 20; ++k) {
            tpWrench wrench = tpLoad_Wrench(&load, randomRotation(&random));
            assert_true(tpLength(wrench.linear) <= force * (1.0 + 1e-12));
            assert_true(tpLength(wrench.angular) <= torque * (1.0 + 1e-12));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testWrench),
                                        cmocka_unit_test(testBounds) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
