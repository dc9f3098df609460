// The collider follows shapes, joints and excluded pairs one by one.

#include "ball_cases.h"
#include "dynamics/collider_shapes.h"
#include "dynamics/contacts.h"

static int countContacts(tpWorld* world) {
    tpSystem* system = &world->system;
    double* margins = TP_SCRATCH_ZEROED(&system->arena, double, system->bodyCount);
    tpContact* contacts;
    int count;
    tpSystem_ForgetFound(system);
    assert_int_equal(tpSystem_FindContacts(system, system->poses.data, margins, &contacts, &count),
                     tp_success);
    tpArena_Reset(&system->arena);
    return count;
}

static tpBodyId addSphere(tpWorld* world, double x) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position.x = x;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    tpCreateSphere(world, body, &shape, &(tpSphere){ .radius = 0.5 }, NULL);
    return body;
}

// Overlapping balls in a row: as many contacts as there are neighbours.
static void testFollow(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    tpBodyId balls[4];
    for (int i = 0; i < 3; ++i) {
        balls[i] = addSphere(world, 0.9 * i);
    }
    assert_null(system->collider);
    assert_int_equal(countContacts(world), 2);
    const tpCollider* made = system->collider;
    assert_non_null(made);
    balls[3] = addSphere(world, 0.9 * 3);
    assert_int_equal(countContacts(world), 3);
    assert_true(tpSystem_Exclude(system, 0, 1));
    assert_int_equal(countContacts(world), 2);
    tpSystem_Include(system, 0, 1);
    assert_int_equal(countContacts(world), 3);
    tpDestroyBody(world, balls[1]);
    assert_int_equal(countContacts(world), 1);
    // A joint between the last two: they touch no more, until it goes.
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_fixedJoint;
    joint.bodyA = balls[2];
    joint.bodyB = balls[3];
    tpJointId id = tpCreateJoint(world, &joint, NULL);
    assert_int_equal(countContacts(world), 0);
    tpDestroyJoint(world, id);
    assert_int_equal(countContacts(world), 1);
    // All of it by the same collider.
    assert_ptr_equal(system->collider, made);
    tpSystem_DropCollider(system);
    assert_null(system->collider);
    assert_int_equal(tpSystem_NeedCollider(system), tp_success);
    assert_int_equal(countContacts(world), 1);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testFollow) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
