// Contacts that are followed: how far they are from those that are looked for, and what is saved.

#include "dynamics/followed_contacts.h"

#include "dynamics/contacts.h"
#include "support/check.h"
#include "world/world.h"

// An ellipsoid above a floor.
static tpWorld* makeWorld(void) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&worldDef);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_fixedBody;
    tpBodyId floor = tpCreateBody(world, &def, NULL);
    tpCreatePlane(world, floor, &shapeDef, &(tpPlane){ .normal = { 0.0, 0.0, 1.0 } }, NULL);
    def.kind = tp_dynamicBody;
    def.position = tpMakeVec3(0.3, 0.1, 0.2);
    def.rotation = tpQuatFromAxisAngle(tpNormalize(tpMakeVec3(1.0, 2.0, 0.5)), 0.7);
    tpBodyId egg = tpCreateBody(world, &def, NULL);
    tpGeometry shape;
    const tpEllipsoid ellipsoid = { .radii = { 0.1, 0.15, 0.12 } };
    assert_int_equal(tpMakeEllipsoid(&ellipsoid, tpIdentityPose(), &shape, NULL), tp_success);
    tpCreateShape(world, egg, &shapeDef, &shape, NULL);
    return world;
}

static void move(tpSystem* system, double way) {
    tpPose* pose = &system->poses.data[1];
    pose->position = tpMulAdd(pose->position, way, tpMakeVec3(0.5, -0.2, -0.8));
    pose->rotation = tpNormalizeQuat(
        tpMulQQ(tpQuatFromAxisAngle(tpMakeVec3(0.6, 0.0, 0.8), 3.0 * way), pose->rotation));
}

// Gaps are wrong by second order in the way, and the way is no less than that of any point.
static void gapsAreFollowed(void** state) {
    (void)state;
    double last = 0.0;
    for (int k = 0; k < 4; ++k) {
        double way = 1e-2 * pow(0.1, k);
        tpWorld* world = makeWorld();
        tpSystem* system = &world->system;
        const double margins[2] = { 0.0, 0.2 };
        tpContact* contacts;
        int count;
        assert_int_equal(
            tpSystem_FindContacts(system, system->poses.data, margins, &contacts, &count),
            tp_success);
        assert_true(count >= 1);
        tpFollowedContacts followed, looked;
        assert_true(
            tpFollowedContacts_Begin(&followed, system, contacts, count, system->poses.data));
        assert_true(tpFollowedContacts_Begin(&looked, system, contacts, count, system->poses.data));
        CHECK_NEAR(tpFollowedContacts_Way(&followed, system, 0), 0.0, 1e-15);
        move(system, way);
        assert_true(tpFollowedContacts_Renew(&looked, system, margins));
        double largest = 0.0;
        for (int i = 0; i < count; ++i) {
            assert_true(looked.isFound[i]);
            tpContact one = tpFollowedContacts_Get(&followed, system, i);
            tpContact other = tpFollowedContacts_Get(&looked, system, i);
            largest = fmax(largest, fabs(one.gap - other.gap));
            double gone = tpDistanceBetween(one.pointA, contacts[i].pointA) +
                          tpDistanceBetween(one.pointB, contacts[i].pointB);
            CHECK_BELOW(gone, tpFollowedContacts_Way(&followed, system, i));
            CHECK_BELOW(fabs(other.gap - contacts[i].gap), 5.0 * way);
            assert_true(fabs(other.gap - contacts[i].gap) > 0.1 * way);
        }
        CHECK_BELOW(largest, way * way + 1e-15);
        assert_true(k == 0 || k == 3 || (largest < 0.02 * last && largest > 0.005 * last));
        CHECK_NEAR(tpFollowedContacts_Way(&looked, system, 0), 0.0, 1e-15);
        last = largest;
        tpDestroyWorld(world);
    }
}

// What is no longer there is not found.
static void contactsAreLost(void** state) {
    (void)state;
    tpWorld* world = makeWorld();
    tpSystem* system = &world->system;
    const double margins[2] = { 0.0, 0.1 };
    tpContact* contacts;
    int count;
    assert_int_equal(tpSystem_FindContacts(system, system->poses.data, margins, &contacts, &count),
                     tp_success);
    tpFollowedContacts followed;
    assert_true(tpFollowedContacts_Begin(&followed, system, contacts, count, system->poses.data));
    assert_true(followed.isFound[0]);
    system->poses.data[1].position.z += 1.0;
    assert_true(tpFollowedContacts_Renew(&followed, system, margins));
    for (int i = 0; i < count; ++i) {
        assert_false(followed.isFound[i]);
    }
    tpDestroyWorld(world);
}

// Two boxes on a joint turn over a floor, near it and not on it: corrections of the drift that only
// the joint needs do not ask for contacts.
static void whatIsClearIsNotLookedFor(void** state) {
    (void)state;
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_benderSchmitt;
    worldDef.gravity = tpMakeVec3(0.0, 0.0, 0.0);
    tpWorld* world = tpCreateWorld(&worldDef);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_fixedBody;
    tpBodyId floor = tpCreateBody(world, &def, NULL);
    tpCreatePlane(world, floor, &shapeDef, &(tpPlane){ .normal = { 0.0, 0.0, 1.0 } }, NULL);
    def.kind = tp_dynamicBody;
    tpBodyId boxes[2];
    for (int i = 0; i < 2; ++i) {
        def.position = tpMakeVec3(0.5 * i, 0.0, 0.15);
        def.velocity = tpMakeVec3(3.0, 0.0, 0.0);
        def.angularVelocity = tpMakeVec3(0.0, 0.0, 5.0 - 9.0 * i);
        boxes[i] = tpCreateBody(world, &def, NULL);
        tpCreateBox(world, boxes[i], &shapeDef, &(tpBox){ .size = { 0.2, 0.3, 0.25 } }, NULL);
    }
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_ballJoint;
    joint.bodyA = boxes[0];
    joint.bodyB = boxes[1];
    joint.anchorA = joint.anchorB = tpMakeVec3(0.25, 0.0, 0.15);
    tpCreateJoint(world, &joint, NULL);
    int queries = 0, parts = 0, solves = 0, touched = 0;
    for (int k = 0; k < 20; ++k) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
        queries += report.contactQueryCount;
        parts += report.substepCount;
        solves += report.solveCount;
        touched += report.contactCount;
    }
    print_message("%d queries, %d parts, %d solves\n", queries, parts, solves);
    assert_int_equal(touched, 0);
    assert_true(10 * queries < solves);
    // Far from the floor a part is as long as nothing is near: there were 896.
    assert_true(parts < 200);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gapsAreFollowed),
        cmocka_unit_test(contactsAreLost),
        cmocka_unit_test(whatIsClearIsNotLookedFor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
