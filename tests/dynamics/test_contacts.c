// Contacts are asked for once per pose: what a second question gives, and what makes the collider
// work again.

#include <string.h>

#include "dynamics/contacts.h"
#include "support/check.h"
#include "world/world.h"

enum { ballCount = 6 };

// Balls of radius .1 in a row above a floor, with gaps that grow from 0 to 5 cm.
static tpWorld* makeWorld(tpStepperId stepper) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = stepper;
    tpWorld* world = tpCreateWorld(&worldDef);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_fixedBody;
    tpBodyId floor = tpCreateBody(world, &def, NULL);
    tpCreatePlane(world, floor, &shapeDef, &(tpPlane){ .normal = { 0.0, 0.0, 1.0 } }, NULL);
    def.kind = tp_dynamicBody;
    for (int i = 0; i < ballCount; ++i) {
        def.position = tpMakeVec3(i, 0.0, 0.1 + 0.01 * i);
        tpBodyId ball = tpCreateBody(world, &def, NULL);
        tpCreateSphere(world, ball, &shapeDef, &(tpSphere){ .radius = 0.1 }, NULL);
    }
    return world;
}

// How many contacts there are within a margin of the balls, and how often the collider had to be
// asked.
static int countWithin(tpSystem* system, double margin, int* queries) {
    double margins[ballCount + 1] = { 0.0 };
    for (int i = 1; i <= ballCount; ++i) {
        margins[i] = margin;
    }
    tpContact* contacts;
    int count, before = system->contactQueryCount;
    assert_int_equal(tpSystem_FindContacts(system, system->poses.data, margins, &contacts, &count),
                     tp_success);
    for (int i = 0; i < count; ++i) {
        CHECK_NEAR(contacts[i].gap, 0.01 * i, 1e-15);
        assert_int_equal(contacts[i].bodyB + contacts[i].bodyA, i + 1);
    }
    *queries = system->contactQueryCount - before;
    return count;
}

static void testOncePerPose(void** state) {
    (void)state;
    tpWorld* world = makeWorld(tp_anitescu);
    tpSystem* system = &world->system;
    int queries;
    assert_int_equal(countWithin(system, 0.025, &queries), 3);
    assert_int_equal(queries, 1);
    assert_int_equal(countWithin(system, 0.025, &queries), 3);
    assert_int_equal(queries, 0);
    // Nearer, and a little farther: the answer is there.
    assert_int_equal(countWithin(system, 0.015, &queries), 2);
    assert_int_equal(queries, 0);
    assert_int_equal(countWithin(system, 0.0305, &queries), 4);
    assert_int_equal(queries, 0);
    // Much farther, and after a body has moved, it is not.
    assert_int_equal(countWithin(system, 0.055, &queries), 6);
    assert_int_equal(queries, 1);
    system->poses.data[ballCount].position.x += 1e-9;
    assert_int_equal(countWithin(system, 0.055, &queries), 6);
    assert_int_equal(queries, 1);
    // A shape that has gone is no longer found.
    tpDestroyBody(world, tpWorld_GetBody(world, ballCount));
    assert_int_equal(countWithin(system, 0.055, &queries), 5);
    assert_int_equal(queries, 1);
    tpDestroyWorld(world);
}

// Balls that lie still ask for contacts at most once per step.
static void testRest(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_anitescu, tp_benderSchmitt, tp_chakrabortyTrinkle };
    for (int s = 0; s < 3; ++s) {
        tpWorld* world = makeWorld(steppers[s]);
        int queries = 0;
        for (int k = 0; k < 200; ++k) {
            int count = tpWorld_Step(world, 1.0 / 60.0).contactQueryCount;
            queries += k >= 100 ? count : 0;
        }
        assert_in_range(queries, 0, 100);
        tpDestroyWorld(world);
    }
}

// A snapshot knows what was found: the run goes on bit for bit, with the same questions.
static void testSnapshot(void** state) {
    (void)state;
    tpWorld* world = makeWorld(tp_anitescu);
    for (int k = 0; k < 8; ++k) {
        tpWorld_Step(world, 1.0 / 60.0);
    }
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    tpStepReport first = tpWorld_Step(world, 1.0 / 60.0);
    uint64_t hash = tpWorld_HashState(world);
    assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
    tpStepReport second = tpWorld_Step(world, 1.0 / 60.0);
    assert_true(hash == tpWorld_HashState(world));
    assert_memory_equal(&first, &second, sizeof(first));
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(world);
}

// How far ahead of a body contacts are looked for: its way at the larger of two velocities, with
// what turning adds at its reach, twice the way of a fall from rest at its own share of gravity,
// and a millionth of its size. Fixed bodies look nowhere.
static void testMargins(void** state) {
    (void)state;
    tpWorld* world = makeWorld(tp_anitescu);
    tpSystem* system = &world->system;
    const double h = 0.02, g = 9.80665, reach = system->bodies.data[1].reach;
    assert_true(reach >= 0.1);
    system->gravity = tpMakeVec3(0.0, 0.0, -g);
    tpVelocity still = { .linear = { 0.0, 0.0, 0.0 } };
    tpVelocity slow = { .linear = { 0.3, 0.0, 0.4 }, .angular = { 0.0, 0.0, 2.0 } };
    tpVelocity fast = { .linear = { 0.0, -3.0, 0.0 }, .angular = { 0.0, 4.0, 0.0 } };
    static const double scales[] = { 1.0, 0.25, 3.0, -2.0, 0.0 };
    for (int i = 0; i < (int)(sizeof(scales) / sizeof(scales[0])); ++i) {
        system->bodies.data[1].gravityScale = scales[i];
        double rest = 2.0 * h * h * fabs(scales[i]) * g + 1e-6 * reach;
        CHECK_NEAR(tpSystem_Margin(system, 1, &still, NULL, h), rest, 1e-15);
        CHECK_NEAR(tpSystem_Margin(system, 1, &slow, NULL, h), rest + (0.5 + 2.0 * reach) * h,
                   1e-15);
        CHECK_NEAR(tpSystem_Margin(system, 1, &slow, &fast, h), rest + (3.0 + 4.0 * reach) * h,
                   1e-15);
        CHECK_NEAR(tpSystem_Margin(system, 1, &fast, &slow, h), rest + (3.0 + 4.0 * reach) * h,
                   1e-15);
    }
    assert_true(tpSystem_Margin(system, 0, &fast, &fast, h) == 0.0);
    tpDestroyWorld(world);
}

// No point of a ball is faster than its largest speed, which is that of a corner of its box at
// most; a body without shapes has the speed at its radius of gyration.
static void testLargestSpeed(void** state) {
    (void)state;
    tpWorld* world = makeWorld(tp_anitescu);
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(0.0, 0.0, 9.0);
    def.hasMass = true;
    def.mass = (tpMassProperties){ 2.0, tpZeroVec3(), tpDiagonal(tpMakeVec3(0.3, 0.4, 0.5)) };
    assert_true(tpBody_IsValid(world, tpCreateBody(world, &def, NULL)));
    const tpSystem* system = &world->system;
    const tpVelocity velocity = { .linear = { 0.0, 3.0, 0.0 }, .angular = { 0.0, 0.0, 40.0 } };
    double largest = tpVelocity_LargestSpeed(system, 1, &velocity);
    assert_true(largest >= 3.0 + 40.0 * 0.1 && largest < 3.0 + 40.0 * 0.1 * 1.74);
    CHECK_NEAR(tpVelocity_LargestSpeed(system, 1 + ballCount, &velocity), 3.0 + 40.0 * 0.5, 1e-12);
    tpDestroyWorld(world);
}

// Lookups by cursor in sorted lists, beside scans of the whole list.
static void testLookups(void** state) {
    (void)state;
    enum { most = 40 };
    tpRandom random = { 67 };
    for (int trial = 0; trial < 500; ++trial) {
        tpContactMemory memories[most];
        tpContact list[most];
        int count = 0;
        for (int key = 0; key < most; ++key) { // two shapes each, features of 0 to 4, in order
            if (randomBits(&random) % 2 == 0) {
                tpContact contact = { .shapeA = key / 20,
                                      .shapeB = 2 + key / 5 % 4,
                                      .feature = (uint64_t)(key % 5) };
                contact.pointA = randomVec3(&random, -1.0, 1.0);
                list[count] = contact;
                memories[count++] =
                    (tpContactMemory){ .key = tpContact_Key(&contact), .point = contact.pointA };
            }
        }
        tpContactHistory history = { .list = { memories, count, most } };
        int cursors[3] = { 0, 0, 0 };
        for (int key = 0; key < most; ++key) {
            tpContact asked = { .shapeA = key / 20,
                                .shapeB = 2 + key / 5 % 4,
                                .feature = (uint64_t)(key % 5) };
            asked.pointA = randomVec3(&random, -1.0, 1.0);
            int same = -1, near = -1;
            double least = INFINITY;
            for (int i = 0; i < count; ++i) {
                bool isPair = list[i].shapeA == asked.shapeA && list[i].shapeB == asked.shapeB;
                same = isPair && list[i].feature == asked.feature ? i : same;
                double distance = tpDistanceBetween(memories[i].point, asked.pointA);
                near = isPair && distance < least ? i : near;
                least = isPair ? fmin(least, distance) : least;
            }
            near = same >= 0 ? same : near;
            const tpContact* found =
                tpContacts_FindSame(tpContact_Key(&asked), list, count, &cursors[0]);
            assert_true(found == (same >= 0 ? &list[same] : NULL));
            const tpContactMemory* memory = tpContactHistory_Find(&history, &asked, &cursors[1]);
            assert_true(memory == (same >= 0 ? &memories[same] : NULL));
            memory = tpContactHistory_FindNear(&history, &asked, &cursors[2]);
            assert_true(memory == (near >= 0 ? &memories[near] : NULL));
        }
    }
    // The order: first shape, second shape, feature.
    const tpContactKey keys[4] = { { 0, 5, 9 }, { 1, 2, 9 }, { 1, 3, 4 }, { 1, 3, 5 } };
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            assert_int_equal(tpContactKey_Compare(keys[i], keys[j]), (i > j) - (i < j));
        }
    }
}

// Contacts of a file name what there is, or are refused.
static void testAreIn(void** state) {
    (void)state;
    tpSystem system;
    memset(&system, 0, sizeof(system));
    system.bodyCount = 3;
    system.shapes.count = 5;
    const int values[] = { -1, 0, 2, 3, 4, 5 };
    for (int field = 0; field < 4; ++field) {
        for (int i = 0; i < 6; ++i) {
            tpContact contacts[2] = { { 0 }, { 0 } };
            int32_t* fields[4] = { &contacts[1].bodyA, &contacts[1].bodyB, &contacts[1].shapeA,
                                   &contacts[1].shapeB };
            *fields[field] = values[i];
            bool isIn = values[i] >= 0 && values[i] < (field < 2 ? 3 : 5);
            assert_int_equal(tpContacts_AreIn(&system, contacts, 2), isIn);
            assert_true(tpContacts_AreIn(&system, contacts, 1));
        }
    }
}

// In a planar world contacts lie in the plane of the body that moves. Each pair has those apart
// that are apart there; the ones above each other are one. A normal that leaves the plane is none.
static void testFlatten(void** state) {
    (void)state;
    enum { placeCount = 4, most = 4 * placeCount };
    tpWorld* world = makeWorld(tp_anitescu);
    tpSystem* system = &world->system;
    tpRandom random = { 61 };
    for (int n = 0; n < 400; ++n) {
        double far = pow(10.0, randomBetween(&random, -1.0, 4.0));
        tpContact contacts[most], places[placeCount];
        int count = 0, shape = n % 3;
        for (int i = 0; i < placeCount; ++i) {
            tpVec3 at = randomVec3(&random, -far, far), normal = randomVec3(&random, -1.0, 1.0);
            normal.z = 0.0;
            bool isFirst = randomBits(&random) % 2 == 0; // which of the two bodies moves
            places[i] = (tpContact){ .bodyA = isFirst ? 1 + i : 0,
                                     .bodyB = isFirst ? 0 : 1 + i,
                                     .shapeA = shape,
                                     .shapeB = shape + 1 + i / 2, // two places of a pair
                                     .normal = tpNormalize(normal),
                                     .pointA = at,
                                     .pointB = at };
            for (int k = 0; k < 1 + (n + i) % 3; ++k) {
                tpContact* contact = &contacts[count++];
                *contact = places[i];
                contact->pointA.z = contact->pointB.z = randomBetween(&random, -1.0, 1.0);
                contact->pointA.x += randomBetween(&random, -3e-10, 3e-10) * fabs(at.x);
                contact->pointA.y += randomBetween(&random, -3e-10, 3e-10) * fabs(at.y);
                contact->normal.z = randomBetween(&random, -1.0, 1.0); // 45 degrees at most
                contact->normal = tpNormalize(contact->normal);
            }
            if (randomBits(&random) % 3 == 0) {
                contacts[count] = places[i];
                contacts[count++].normal = tpNormalize(tpMakeVec3(0.3, 0.3, 1.0));
            }
        }
        assert_int_equal(tpContacts_Flatten(system, system->poses.data, contacts, count),
                         placeCount);
        for (int i = 0; i < placeCount; ++i) {
            double plane = system->poses.data[places[i].bodyA + places[i].bodyB].position.z;
            assert_int_equal(contacts[i].bodyA, places[i].bodyA);
            assert_int_equal(contacts[i].shapeB, places[i].shapeB);
            assert_true(contacts[i].normal.z == 0.0);
            CHECK_NEAR(tpDistanceBetween(contacts[i].normal, places[i].normal), 0.0, 1e-15);
            CHECK_NEAR(contacts[i].pointA.x, places[i].pointA.x, 1e-9 * far);
            CHECK_NEAR(contacts[i].pointB.y, places[i].pointB.y, 1e-9 * far);
            assert_true(contacts[i].pointA.z == plane && contacts[i].pointB.z == plane);
        }
    }
    tpDestroyWorld(world);
}

// A few pairs asked for by themselves have the contacts that they have among all.
static void testFewPairs(void** state) {
    (void)state;
    tpWorld* world = makeWorld(tp_anitescu);
    tpSystem* system = &world->system;
    double margins[ballCount + 1];
    for (int i = 0; i <= ballCount; ++i) {
        margins[i] = 0.015;
    }
    tpContact *all, *few;
    int count, fewCount, pairCount;
    assert_int_equal(tpSystem_FindContacts(system, system->poses.data, margins, &all, &count),
                     tp_success);
    assert_int_equal(count, 4);
    const tpShapePair* found = tpCollider_GetPairs(system->collider, &pairCount);
    assert_in_range(pairCount, 4, ballCount);
    for (int first = 0; first < pairCount; ++first) {
        for (int end = first; end <= pairCount; ++end) {
            assert_int_equal(tpSystem_FindContactsOf(system, found + first, end - first,
                                                     system->poses.data, margins, &few, &fewCount),
                             tp_success);
            int expected = 0;
            for (int i = 0; i < count; ++i) {
                for (int k = first; k < end; ++k) {
                    if (all[i].shapeA == found[k].shapeA && all[i].shapeB == found[k].shapeB) {
                        assert_true(expected < fewCount);
                        assert_true(few[expected].shapeA == all[i].shapeA);
                        CHECK_NEAR(few[expected].gap, all[i].gap, 1e-15);
                        CHECK_NEAR(tpDistanceBetween(few[expected].pointA, all[i].pointA), 0.0,
                                   1e-15);
                        expected += 1;
                    }
                }
            }
            assert_int_equal(fewCount, expected);
        }
    }
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testOncePerPose),  cmocka_unit_test(testRest),
        cmocka_unit_test(testSnapshot),     cmocka_unit_test(testMargins),
        cmocka_unit_test(testLargestSpeed), cmocka_unit_test(testLookups),
        cmocka_unit_test(testAreIn),        cmocka_unit_test(testFlatten),
        cmocka_unit_test(testFewPairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
