// Which carrier a group gets from step to step, states to go back to, and their snapshots.

#include "steppers/auto/carriers.h"

#include <stdlib.h>

#include "auto_balls.h"

static const double h = 0.01;

// Two balls on the floor far from each other, and one in the air: three groups.
static tpWorld* makeThree(tpGroups* groups) {
    tpWorld* world = makeFloorWorld(h);
    addBall(world, tpMakeVec3(0.0, 0.0, 0.1), tpZeroVec3());
    addBall(world, tpMakeVec3(5.0, 0.0, 0.1), tpZeroVec3());
    addBall(world, tpMakeVec3(0.0, 0.0, 9.0), tpZeroVec3());
    assert_true(tpGroups_Find(groups, &world->system, h, false));
    assert_int_equal(groups->count, 3);
    assert_int_equal(groups->flying, 2);
    return world;
}

// Groups keep their carriers; a ball that lands gets another one than that of those that fly.
static void groupsKeepCarriers(void** state) {
    (void)state;
    tpGroups groups;
    tpWorld* world = makeThree(&groups);
    tpSystem* system = &world->system;
    tpCarriers carriers;
    memset(&carriers, 0, sizeof(carriers));
    assert_true(tpCarriers_Follow(&carriers, system));
    assert_int_equal(carriers.bodies.count, system->bodyCount);
    assert_int_equal(carriers.bodies.data[1].carrier, -1);
    tpCarriers_Begin(&carriers);
    tpCarrier* first = tpCarriers_For(&carriers, system, &groups, 0);
    tpCarrier* second = tpCarriers_For(&carriers, system, &groups, 1);
    tpCarrier* flying = tpCarriers_For(&carriers, system, &groups, 2);
    assert_true(first != second && second != flying && first != flying);
    assert_int_equal(first->method, tp_standardMethod);
    assert_int_equal(flying->method, tp_flyingMethod);
    assert_true(first->isFresh && second->isFresh && !flying->isFresh);
    assert_true(tpCarrier_Change(second, system, tp_pileMethod));
    second->pace.step = 0.005;
    second->isFresh = false;

    // The next step, asked in another order.
    tpCarriers_Begin(&carriers);
    assert_ptr_equal(tpCarriers_For(&carriers, system, &groups, 1), second);
    assert_ptr_equal(tpCarriers_For(&carriers, system, &groups, 0), first);
    assert_int_equal(second->method, tp_pileMethod);
    CHECK_NEAR(second->pace.step, 0.005, 0.0);

    // The flying ball lands: it is a group of its own with a carrier that starts afresh.
    system->poses.data[3].position = tpMakeVec3(-5.0, 0.0, 0.1);
    assert_true(tpGroups_Find(&groups, system, h, false));
    assert_int_equal(groups.flying, -1);
    tpCarriers_Begin(&carriers);
    tpCarriers_For(&carriers, system, &groups, 0);
    tpCarriers_For(&carriers, system, &groups, 1);
    tpCarrier* landed = tpCarriers_For(&carriers, system, &groups, groups.ofBody[3]);
    assert_true(landed != first && landed != second);
    assert_int_equal(landed->method, tp_standardMethod);
    assert_true(landed->isFresh);
    tpCarriers_Destroy(&carriers, system);
    tpDestroyWorld(world);
}

// A group that comes apart: the part that is asked second starts with the method and the pace of
// the carrier that both had, unchecked.
static void partsStartAlike(void** state) {
    (void)state;
    tpGroups groups;
    tpWorld* world = makeThree(&groups);
    tpSystem* system = &world->system;
    tpCarriers carriers;
    memset(&carriers, 0, sizeof(carriers));
    assert_true(tpCarriers_Follow(&carriers, system));
    tpGroups one;
    assert_true(tpGroups_Find(&one, system, h, true));
    tpCarriers_Begin(&carriers);
    tpCarrier* both = tpCarriers_For(&carriers, system, &one, one.ofBody[1]);
    assert_true(tpCarrier_Change(both, system, tp_pileMethod));
    both->pace = (tpPace){ .step = 0.002, .checkedError = 0.5, .trust = 7, .knowsPushing = true };
    tpCarriers_Begin(&carriers);
    assert_ptr_equal(tpCarriers_For(&carriers, system, &groups, 0), both);
    tpCarrier* part = tpCarriers_For(&carriers, system, &groups, 1);
    assert_true(part != both);
    assert_int_equal(part->method, tp_pileMethod);
    CHECK_NEAR(part->pace.step, 0.002, 0.0);
    assert_int_equal(part->pace.trust, 0);
    assert_true(isinf(part->pace.checkedError));
    assert_false(part->pace.knowsPushing);
    tpCarriers_Destroy(&carriers, system);
    tpDestroyWorld(world);
}

// What is saved comes back; bytes that were cut short are refused.
static void snapshots(void** state) {
    (void)state;
    tpGroups groups;
    tpWorld* world = makeThree(&groups);
    tpSystem* system = &world->system;
    tpCarriers carriers, copy;
    memset(&carriers, 0, sizeof(carriers));
    memset(&copy, 0, sizeof(copy));
    assert_true(tpCarriers_Follow(&carriers, system));
    tpCarriers_Begin(&carriers);
    tpCarrier* first = tpCarriers_For(&carriers, system, &groups, 0);
    assert_true(tpCarrier_Change(first, system, tp_pileMethod));
    first->pace.step = 0.004;
    first->spent = 3.0;
    carriers.bodies.data[1].positionError = 1e-5;
    size_t size = tpCarriers_SavedSize(&carriers);
    unsigned char* saved = malloc(size);
    tpCarriers_Save(&carriers, saved);
    tpSavedReader reader = { .place = saved, .left = size };
    assert_true(tpCarriers_Restore(&copy, system, &reader));
    int place = carriers.bodies.data[1].carrier;
    assert_int_equal(copy.bodies.count, carriers.bodies.count);
    assert_int_equal(copy.bodies.data[1].carrier, place);
    CHECK_NEAR(copy.bodies.data[1].positionError, 1e-5, 0.0);
    assert_int_equal(copy.list[place].method, tp_pileMethod);
    CHECK_NEAR(copy.list[place].pace.step, 0.004, 0.0);
    CHECK_NEAR(copy.list[place].spent, 3.0, 0.0);
    tpSavedReader shorter = { .place = saved, .left = size / 2 };
    assert_false(tpCarriers_Restore(&copy, system, &shorter));
    free(saved);
    tpCarriers_Destroy(&copy, system);
    tpCarriers_Destroy(&carriers, system);
    tpDestroyWorld(world);
}

// A kept state puts motion back, and with a method what the method keeps.
static void keptStates(void** state) {
    (void)state;
    tpGroups groups;
    tpWorld* world = makeThree(&groups);
    tpSystem* system = &world->system;
    const tpStepper* stepper = tpMethod_Stepper(tp_standardMethod);
    void* memory = NULL;
    assert_true(stepper->create(system, &memory));
    tpKept kept, motion;
    assert_true(tpKept_Take(&kept, system, stepper, memory));
    assert_int_equal(kept.savedSize, stepper->savedSize(memory));
    assert_true(tpKept_Take(&motion, system, NULL, NULL));
    assert_null(motion.saved);
    tpPose before = system->poses.data[1];
    system->poses.data[1].position.x = 77.0;
    system->velocities.data[1].linear.z = 3.0;
    assert_true(tpKept_PutBack(&kept, system, stepper, memory));
    CHECK_VEC3(system->poses.data[1].position, before.position, 0.0);
    CHECK_VEC3(system->velocities.data[1].linear, tpZeroVec3(), 0.0);
    system->poses.data[2].position.y = -3.0;
    assert_true(tpKept_PutBack(&motion, system, NULL, NULL));
    CHECK_NEAR(system->poses.data[2].position.y, 0.0, 0.0);
    stepper->destroy(system, memory);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groupsKeepCarriers),
        cmocka_unit_test(partsStartAlike),
        cmocka_unit_test(snapshots),
        cmocka_unit_test(keptStates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
