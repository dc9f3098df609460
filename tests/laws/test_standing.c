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

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(dryJointsAndManyCorners) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
