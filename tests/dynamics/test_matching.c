// Contacts found again in another list.

#include "dynamics/matching.h"

#include <string.h>

#include "support/check.h"

static tpContact contactAt(int a, int b, uint64_t feature, double x, double y) {
    tpContact contact;
    memset(&contact, 0, sizeof(contact));
    contact.shapeA = a;
    contact.shapeB = b;
    contact.feature = feature;
    contact.pointA = contact.pointB = tpMakeVec3(x, y, 0.0);
    return contact;
}

static void contactsAreFoundAgain(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    // Pair (1, 2): one keeps its name, two change it; pair (1, 3) is gone, (2, 3) is new.
    const tpContact old[] = { contactAt(1, 2, 10, 0.0, 0.0), contactAt(1, 2, 20, 1.0, 0.0),
                              contactAt(1, 2, 30, 0.0, 1.0), contactAt(1, 3, 10, 5.0, 5.0) };
    const tpContact new[] = { contactAt(1, 2, 10, 0.0, 0.0), contactAt(1, 2, 21, 0.01, 1.0),
                              contactAt(1, 2, 22, 1.0, 0.01), contactAt(1, 2, 40, 0.5, 0.5),
                              contactAt(2, 3, 10, 0.0, 0.0) };
    const int* match = tpMatchContacts(old, 4, new, 5, &arena);
    assert_non_null(match);
    const int wanted[] = { 0, 2, 1, -1, -1 };
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(match[i], wanted[i]);
    }
    // Two new ones near an old one: the first has it, and the other has none.
    const tpContact split[] = { contactAt(1, 2, 10, 0.0, 0.0), contactAt(1, 2, 50, 1.0, 0.01),
                                contactAt(1, 2, 60, 1.01, 0.0) };
    match = tpMatchContacts(old, 2, split, 3, &arena);
    assert_true(match[0] == 0 && match[1] == 1 && match[2] == -1);
    // A contact of the next pair, where one of this pair was: not the same.
    const tpContact before[] = { contactAt(1, 2, 10, 0.0, 0.0), contactAt(1, 2, 20, 1.0, 0.0) };
    const tpContact after[] = { contactAt(1, 2, 10, 0.0, 0.0), contactAt(1, 2, 15, 9.0, 9.0),
                                contactAt(2, 3, 5, 1.0, 0.0) };
    match = tpMatchContacts(before, 2, after, 3, &arena);
    assert_true(match[0] == 0 && match[1] == -1 && match[2] == -1);
    // The last place is the list's own: nothing is written behind it.
    tpMatching matching;
    assert_true(tpMatching_Create(&matching, before, 2, after, 3, &arena));
    for (int i = 0; i < 3; ++i) {
        matching.match[i] = -5;
    }
    matching.newCount = 2;
    tpMatching_Run(&matching, (tpRange){ 0, 2 });
    assert_true(matching.match[0] == 0 && matching.match[1] == -1 && matching.match[2] == -5);
    tpArena_Destroy(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contactsAreFoundAgain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
