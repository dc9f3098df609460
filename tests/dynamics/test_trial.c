// Try, undo, keep what it cost.

#include <string.h>

#include "dynamics/trial.h"
#include "support/check.h"
#include "world/world.h"

static void testUndo(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpSystem* system = &world->system;
    tpBodyDef body = tpDefaultBodyDef();
    body.velocity = tpMakeVec3(1.0, 2.0, 3.0);
    tpJointDef joint = tpDefaultJointDef();
    joint.bodyA = tpCreateBody(world, &body, NULL);
    body.position.x = 1.0;
    joint.bodyB = tpCreateBody(world, &body, NULL);
    joint.type = tp_revoluteJoint;
    tpCreateJoint(world, &joint, NULL);
    tpContactHistory history = { .h = 0.0 };
    tpContactMemory known = { .torsion = 7.0 };
    assert_true(TP_PUSH(&system->allocator, history.list, known));

    tpStepReport report = { .solveCount = 3, .residual = 1e-9 };
    tpStepReport before = report;
    uint64_t hash = tpWorld_HashState(world);
    tpContactInfo listed[3] = { { .gap = 1.0 } };
    tpTally tally = { listed, 1 };
    tpTrial trial;
    assert_true(tpTrial_Begin(&trial, system, &history, &report));
    tpTrial_KeepTally(&trial, &tally);
    for (int k = 0; k < 2; ++k) {
        system->poses.data[0].position.x = 5.0;
        system->velocities.data[1].angular.z = 6.0;
        tpJoint* changed = &system->joints.data[0];
        changed->coordinates[0].displacement = 1.0;
        changed->coordinates[0].rotorSpeed[0] = 3.0;
        changed->force.y = 2.0;
        history.list.count = 0;
        tally = (tpTally){ listed + 1, 2 };
        report.solveCount += 4;
        report.residual = 1.0;
        tpArena_Get(&system->arena, 1000);
        tpTrial_Undo(&trial);
        assert_true(hash == tpWorld_HashState(world));
        assert_true(changed->coordinates[0].displacement == 0.0);
        assert_true(changed->coordinates[0].rotorSpeed[0] == 0.0 && changed->force.y == 0.0);
        assert_int_equal(history.list.count, 1);
        assert_true(history.list.data[0].torsion == 7.0);
        assert_true(tally.list == listed && tally.count == 1);
        assert_int_equal(report.solveCount, 3 + 4 * (k + 1));
        assert_true(report.residual == before.residual);
    }
    TP_FREE_ARRAY(&system->allocator, history.list);
    tpDestroyWorld(world);
}

// Scratch memory of a try is given to the next one, unless it is kept.
static void testScratch(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpSystem* system = &world->system;
    tpStepReport report = { 0 };
    tpTrial trial;
    assert_true(tpTrial_Begin(&trial, system, NULL, &report));
    char* first = tpArena_Get(&system->arena, 100);
    tpTrial_Undo(&trial);
    char* second = tpArena_Get(&system->arena, 100);
    assert_ptr_equal(first, second);
    tpTrial_KeepScratch(&trial);
    char* third = tpArena_Get(&system->arena, 100);
    tpTrial_Undo(&trial);
    assert_ptr_equal(tpArena_Get(&system->arena, 100), third);
    assert_ptr_not_equal(third, second);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testUndo), cmocka_unit_test(testScratch) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
