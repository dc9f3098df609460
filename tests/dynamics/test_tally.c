// Contacts as users see them, made from the collider's and back, and lists of them merged in their
// order.

#include "dynamics/tally.h"
#include "support/check.h"

static tpContact makeContact(int shapeA, int shapeB, uint64_t feature) {
    tpContact contact = { .bodyA = 3, .bodyB = 5, .shapeA = shapeA, .shapeB = shapeB };
    contact.feature = feature;
    contact.normal = tpMakeVec3(0.0, 0.0, 1.0);
    contact.pointA = tpMakeVec3(1.0, 2.0, 3.5);
    contact.pointB = tpMakeVec3(1.0, 2.0, 3.0);
    contact.gap = 0.5;
    return contact;
}

static void testThereAndBack(void** state) {
    (void)state;
    tpContact contact = makeContact(1, 7, 42);
    tpContactInfo info = tpContactInfo_Make(&contact);
    assert_int_equal(info.bodyA.slot, 4);
    CHECK_VEC3(info.point, tpMakeVec3(1.0, 2.0, 3.25), 0.0);
    tpContact back = tpContactInfo_Contact(&info);
    assert_int_equal(tpContact_CompareKeys(&contact, &back), 0);
    assert_true(back.bodyA == 3 && back.bodyB == 5 && back.gap == 0.5);
    assert_int_equal(tpContactInfo_BodyB(&info), 5);
}

static void testImpulsesAndStates(void** state) {
    (void)state;
    tpContact contact = makeContact(1, 7, 42);
    tpContactInfo info = tpContactInfo_Make(&contact);
    assert_int_equal(tpContactInfo_StateOf(&info, 1.0), tp_separated);
    tpContactInfo_AddImpulse(&info, tpMakeVec3(0.25, -0.5, 2.0));
    assert_true(info.normalImpulse == 2.0);
    CHECK_VEC3(info.frictionImpulse, tpMakeVec3(0.25, -0.5, 0.0), 0.0);
    assert_int_equal(tpContactInfo_StateOf(&info, 1.0), tp_sticking);
    info.slidingSpeed = 1e-3;
    assert_int_equal(tpContactInfo_StateOf(&info, 1.0), tp_sliding);
    tpContactInfo twice = info;
    tpContactInfo_AddImpulses(&twice, &info);
    assert_true(twice.normalImpulse == 4.0 && twice.frictionImpulse.y == -1.0);
}

// The normal of a contact that rolls turns in a step: impulses add as vectors.
static void testTurnedNormals(void** state) {
    (void)state;
    tpContact contact = makeContact(1, 7, 42);
    tpContactInfo before = tpContactInfo_Make(&contact);
    contact.normal = tpMakeVec3(0.6, 0.0, 0.8);
    tpContactInfo after = tpContactInfo_Make(&contact);
    tpContactInfo_AddImpulse(&before, tpMakeVec3(0.5, 1.0, 2.0));
    tpContactInfo_AddImpulse(&after, tpMakeVec3(-0.25, 0.5, 3.0));
    tpContactInfo_AddImpulses(&after, &before);
    tpVec3 whole = tpMulAdd(after.frictionImpulse, after.normalImpulse, after.normal);
    CHECK_VEC3(whole, tpMakeVec3(0.25, 1.5, 5.0), 1e-15);
    CHECK_NEAR(tpDot(after.frictionImpulse, after.normal), 0.0, 1e-15);
}

// Two sorted lists become one; what is in both adds up and keeps the place of the later one.
static void testMerge(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    const tpContact first[] = { makeContact(0, 1, 0), makeContact(0, 2, 9), makeContact(4, 5, 1) };
    const tpContact second[] = { makeContact(0, 2, 8), makeContact(0, 2, 9) };
    tpContactInfo a[3], b[2];
    for (int i = 0; i < 3; ++i) {
        a[i] = tpContactInfo_Make(&first[i]);
        a[i].normalImpulse = 1.0;
    }
    for (int i = 0; i < 2; ++i) {
        b[i] = tpContactInfo_Make(&second[i]);
        b[i].normalImpulse = 10.0;
        b[i].gap = 0.125;
    }
    tpTally tally = { NULL, 0 };
    assert_true(tpTally_Merge(&tally, a, 3, &arena));
    assert_true(tpTally_Merge(&tally, b, 2, &arena));
    assert_int_equal(tally.count, 4);
    const double impulses[] = { 1.0, 10.0, 11.0, 1.0 };
    for (int i = 0; i < 4; ++i) {
        assert_true(tally.list[i].normalImpulse == impulses[i]);
        assert_true(i == 0 || tpContactInfo_Compare(&tally.list[i - 1], &tally.list[i]) < 0);
    }
    assert_true(tally.list[2].gap == 0.125);
    int cursor = 0;
    assert_null(
        tpTally_Find(&tally, &(tpContact){ .shapeA = 0, .shapeB = 1, .feature = 5 }, &cursor));
    assert_ptr_equal(tpTally_Find(&tally, &first[1], &cursor), &tally.list[2]);
    assert_ptr_equal(tpTally_Find(&tally, &first[2], &cursor), &tally.list[3]);
    tpArena_Destroy(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testThereAndBack),
        cmocka_unit_test(testImpulsesAndStates),
        cmocka_unit_test(testTurnedNormals),
        cmocka_unit_test(testMerge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
