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
    tpArena_Destroy(&arena);
}

enum { mostContacts = 40 };

// A sorted list of pairs with some contacts each, at places of a coarse grid, where ties are many.
static int randomList(tpRandom* random, tpContact* list) {
    int count = 0;
    for (int pair = 0; pair < 9 && count + 4 <= mostContacts; ++pair) {
        uint64_t feature = 0;
        for (int k = (int)(randomBits(random) % 5); k > 0; --k) {
            feature += randomBits(random) % 3; // the same one now and then
            list[count++] =
                contactAt(pair / 3, pair % 3, feature, 0x1p-7 * (double)(randomBits(random) % 6),
                          0x1p-7 * (double)(randomBits(random) % 6));
        }
    }
    return count;
}

static bool isSamePair(const tpContact* a, const tpContact* b) {
    return a->shapeA == b->shapeA && a->shapeB == b->shapeB;
}

// How far apart the old contacts of a pair lie, from the first one.
static double extentOf(const tpContact* old, int oldCount, const tpContact* contact) {
    double extent = 0.0;
    int first = -1;
    for (int o = 0; o < oldCount; ++o) {
        if (isSamePair(&old[o], contact)) {
            first = first < 0 ? o : first;
            extent = fmax(extent, tpDistanceBetween(old[o].pointA, old[first].pointA));
        }
    }
    return extent;
}

// Every new contact in its turn, all old ones looked at: those of the same name first, then the
// nearest that is left, the last of those that are as near, within a quarter of the extent.
static void matchPlainly(const tpContact* old, int oldCount, const tpContact* new, int newCount,
                         int* match) {
    bool isTaken[mostContacts] = { false };
    for (int n = 0; n < newCount; ++n) {
        match[n] = -1;
        for (int o = 0; o < oldCount && match[n] < 0; ++o) {
            // Of two old ones with one name the first is known by it, of two new ones too.
            bool isFirst =
                o == 0 || !isSamePair(&old[o - 1], &old[o]) || old[o - 1].feature != old[o].feature;
            bool isNamed = isSamePair(&old[o], &new[n]) && old[o].feature == new[n].feature;
            match[n] = isNamed && isFirst && !isTaken[o] ? o : -1;
        }
        if (match[n] >= 0) {
            isTaken[match[n]] = true;
        }
    }
    for (int n = 0; n < newCount; ++n) {
        double nearest = 0.25 * extentOf(old, oldCount, &new[n]) + 1e-12;
        bool isNamed = match[n] >= 0;
        for (int o = 0; o < oldCount && !isNamed; ++o) {
            double distance = tpDistanceBetween(old[o].pointA, new[n].pointA);
            if (isSamePair(&old[o], &new[n]) && !isTaken[o] && distance <= nearest) {
                nearest = distance;
                match[n] = o;
            }
        }
        if (match[n] >= 0) {
            isTaken[match[n]] = true;
        }
    }
}

// Contacts that rest keep names and number; some lists are the old one with a few changes.
static int changedList(tpRandom* random, const tpContact* old, int oldCount, tpContact* list) {
    int count = 0;
    for (int o = 0; o < oldCount; ++o) {
        uint64_t chance = randomBits(random) % 12;
        bool isLast = o + 1 == oldCount || !isSamePair(&old[o], &old[o + 1]) ||
                      old[o].feature != old[o + 1].feature;
        if (chance != 0) {
            list[count] = old[o];
            list[count].pointA.x += chance == 1 ? 0x1p-8 : 0.0;
            list[count++].feature += chance == 2 && isLast;
        }
    }
    return count;
}

// Each contact has the partner that looking at all of them gives.
static void matchesAreThoseOfASearch(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    tpRandom random = { 5 };
    int matched = 0, lost = 0;
    for (int try = 0; try < 3000; ++try) {
        tpContact old[mostContacts], new[mostContacts];
        int wanted[mostContacts], oldCount = randomList(&random, old);
        int newCount =
            try % 2 == 0 ? randomList(&random, new) : changedList(&random, old, oldCount, new);
        tpArena_Reset(&arena);
        matchPlainly(old, oldCount, new, newCount, wanted);
        const int* match = tpMatchContacts(old, oldCount, new, newCount, &arena);
        for (int n = 0; n < newCount; ++n) {
            assert_int_equal(match[n], wanted[n]);
            matched += wanted[n] >= 0;
            lost += wanted[n] < 0;
        }
    }
    assert_true(matched > 10000 && lost > 5000);
    tpArena_Destroy(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contactsAreFoundAgain),
        cmocka_unit_test(matchesAreThoseOfASearch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
