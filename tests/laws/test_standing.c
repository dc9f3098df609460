// Robots that stand on their feet, h = 1/200 s: dry friction of joints and many corners of a sole
// share the load in more ways than one, and each step has to be solved all the same.

#include <string.h>

#include "papers/paper_world.h"

// Steps of the scene from its start: each of them is certified and is not ended by its work budget.
// At the end nothing moves and the feet carry the weight.
static void standsStill(const char* scene, int steps) {
    char path[64];
    snprintf(path, sizeof(path), "../tests/laws/%s", scene);
    tpWorld* world = makePaperWorld(path);
    double h = 1.0 / 200.0;
    for (int k = 0; k < steps; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_true(report.fallback == NULL || strcmp(report.fallback, "end of work") != 0);
        assert_int_equal(report.failureCount, 0);
        assert_int_equal(report.violations, 0);
    }
    double mass = 0.0, fastest = 0.0, load = 0.0;
    int count;
    for (int i = 0; i < tpWorld_GetBodyCount(world); ++i) {
        tpBodyId body = tpWorld_GetBody(world, i);
        if (tpBody_GetKind(world, body) == tp_dynamicBody) {
            mass += tpBody_GetMass(world, body).mass;
            fastest = fmax(fastest, tpLength(tpBody_GetVelocity(world, body)));
        }
    }
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    for (int i = 0; i < count; ++i) {
        load += contacts[i].normalImpulse;
    }
    CHECK_BELOW(fastest, 1e-9);
    CHECK_NEAR(load / h / (mass * 9.81), 1.0, 1e-9);
    tpDestroyWorld(world);
}

static void dryJointsAndManyCorners(void** state) {
    (void)state;
    standsStill("dry_biped", 60);
}

// Light gears on dry joints: q of them and of their far limits is a thousand rad/s and more, and
// relative to it a solve on the way, which rounds of the drift are content with, looked as exact as
// the last one has to be. Bodies at rest moved by 8e-9 m per step, with velocities of 1e-14 m/s at
// the ends of steps.
static void lightGearsDoNotCreep(void** state) {
    (void)state;
    tpWorld* world = makePaperWorld("../tests/laws/geared_quadruped");
    double farthest = 0.0;
    for (int k = 0; k < 200; ++k) {
        int count = tpWorld_GetBodyCount(world);
        tpVec3 before[64];
        assert_true(count <= 64);
        for (int i = 0; i < count; ++i) {
            before[i] = tpBody_GetPosition(world, tpWorld_GetBody(world, i));
        }
        tpWorld_Step(world, 1.0 / 200.0);
        for (int i = 0; k >= 160 && i < count; ++i) {
            tpVec3 after = tpBody_GetPosition(world, tpWorld_GetBody(world, i));
            farthest = fmax(farthest, tpDistanceBetween(before[i], after));
        }
    }
    CHECK_BELOW(farthest, 1e-10);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(dryJointsAndManyCorners),
                                        cmocka_unit_test(lightGearsDoNotCreep) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
