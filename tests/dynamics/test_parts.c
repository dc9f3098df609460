// Parts of a step together: reactions are means over the whole step, impulses of contacts add up.

#include "dynamics/parts.h"
#include "support/check.h"
#include "world/world.h"

static void testSums(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpSystem* system = &world->system;
    tpBodyDef body = tpDefaultBodyDef();
    body.hasMass = true;
    body.mass.mass = 1.0;
    body.mass.inertia = tpDiagonal(tpMakeVec3(1.0, 1.0, 1.0));
    tpJointDef joint = tpDefaultJointDef();
    joint.bodyB = tpCreateBody(world, &body, NULL);
    joint.type = tp_revoluteJoint;
    tpCreateJoint(world, &joint, NULL);
    tpJoint* held = &system->joints.data[0];

    tpParts parts;
    assert_true(tpParts_Begin(&parts, system, 2.0));
    assert_true(TP_RESERVE(&system->allocator, system->contacts, 1));
    system->contacts.count = 1;
    system->contacts.data[0] = (tpContactInfo){ .normalImpulse = 3.0 };
    held->force.x = 4.0;
    held->coordinates[0].effort = 8.0;
    assert_true(tpParts_Add(&parts, 0.5, NULL));
    system->contacts.data[0] = (tpContactInfo){ .normalImpulse = 5.0 };
    held->force.x = 8.0;
    held->coordinates[0].effort = 16.0;
    assert_true(tpParts_Add(&parts, 1.5, NULL));
    assert_true(held->force.x == 7.0 && held->coordinates[0].effort == 14.0);
    assert_int_equal(parts.tally.count, 1);
    assert_true(parts.tally.list[0].normalImpulse == 8.0);
    system->contacts.count = 0;
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testSums) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
