// The filter of the user's: pairs that it refuses do not touch, with every stepper, and the order
// of contacts does not depend on threads.

#include <string.h>

#include "support/check.h"
#include "tippe/sensors.h"

typedef struct Refusal {
    void* a;
    void* b; // user data of two shapes that must not touch
} Refusal;

static bool refuse(const tpWorld* world, tpShapeId a, tpShapeId b, void* context) {
    const Refusal* refusal = context;
    assert_true(a.slot < b.slot);
    void *first = tpShape_GetUserData(world, a), *second = tpShape_GetUserData(world, b);
    return !((first == refusal->a && second == refusal->b) ||
             (first == refusal->b && second == refusal->a));
}

static int marks[3]; // of floor, one ball, and the other

static tpWorld* createWorld(tpStepperId stepper, int threadCount, tpBodyId balls[2]) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.threadCount = threadCount;
    tpWorld* world = tpCreateWorld(&def);
    tpBodyDef body = tpDefaultBodyDef();
    body.kind = tp_fixedBody;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.userData = &marks[0];
    tpCreatePlane(world, tpCreateBody(world, &body, NULL), &shape,
                  &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
    body.kind = tp_dynamicBody;
    for (int i = 0; i < 2; ++i) {
        body.position = tpMakeVec3(0.5 * i, 0.0, 0.1);
        balls[i] = tpCreateBody(world, &body, NULL);
        shape.userData = &marks[1 + i];
        tpCreateSphere(world, balls[i], &shape, &(tpSphere){ 0.1 }, NULL);
    }
    return world;
}

static const tpStepperId steppers[] = { tp_stewartTrinkle,     tp_anitescu,
                                        tp_mirtichCanny,       tp_benderSchmitt,
                                        tp_chakrabortyTrinkle, tp_penalty,
                                        tp_smallSteps,         tp_auto };
enum { stepperCount = sizeof(steppers) / sizeof(steppers[0]) };

static void refusedPairsDoNotTouch(void** state) {
    (void)state;
    for (int s = 0; s < stepperCount; ++s) {
        tpBodyId balls[2];
        tpWorld* world = createWorld(steppers[s], 1, balls);
        Refusal refusal = { &marks[0], &marks[2] };
        tpWorld_SetShapeFilter(world, refuse, &refusal);
        for (int i = 0; i < 20; ++i) {
            tpWorld_Step(world, 0.005);
        }
        // One rests, the other falls through the floor.
        CHECK_NEAR(tpBody_GetPosition(world, balls[0]).z, 0.1, 1e-3);
        CHECK_NEAR(tpBody_GetPosition(world, balls[1]).z, 0.1 - 0.5 * 9.81 * 0.01, 3e-3);
        tpDestroyWorld(world);
    }
}

static void answersChangeWhenInstalledAgain(void** state) {
    (void)state;
    for (int s = 0; s < stepperCount; ++s) {
        tpBodyId balls[2];
        tpWorld* world = createWorld(steppers[s], 1, balls);
        for (int i = 0; i < 10; ++i) {
            tpWorld_Step(world, 0.005);
        }
        CHECK_NEAR(tpBody_GetPosition(world, balls[1]).z, 0.1, 1e-3);
        Refusal refusal = { &marks[2], &marks[0] };
        tpWorld_SetShapeFilter(world, refuse, &refusal);
        for (int i = 0; i < 10; ++i) {
            tpWorld_Step(world, 0.005);
        }
        CHECK_BELOW(tpBody_GetPosition(world, balls[1]).z, 0.0915);
        // Out of the floor, and it holds again.
        tpBody_SetPose(world, balls[1], tpMakePose(tpMakeVec3(0.5, 0.0, 0.1), tpIdentityQuat()));
        tpBody_SetVelocity(world, balls[1], tpZeroVec3(), tpZeroVec3());
        tpWorld_SetShapeFilter(world, NULL, NULL);
        for (int i = 0; i < 10; ++i) {
            tpWorld_Step(world, 0.005);
        }
        CHECK_NEAR(tpBody_GetPosition(world, balls[0]).z, 0.1, 1e-3);
        CHECK_NEAR(tpBody_GetPosition(world, balls[1]).z, 0.1, 1e-3);
        tpDestroyWorld(world);
    }
}

static void threadsChangeNothing(void** state) {
    (void)state;
    const tpStepperId some[] = { tp_anitescu, tp_smallSteps };
    for (int s = 0; s < 2; ++s) {
        tpBodyId balls[2];
        tpWorld* worlds[2] = { createWorld(some[s], 1, balls), createWorld(some[s], 3, balls) };
        Refusal refusal = { &marks[0], &marks[1] };
        for (int k = 0; k < 2; ++k) {
            tpWorld_SetShapeFilter(worlds[k], refuse, &refusal);
        }
        for (int i = 0; i < 10; ++i) {
            int counts[2], events[2];
            const tpContactInfo* contacts[2];
            for (int k = 0; k < 2; ++k) {
                tpWorld_Step(worlds[k], 0.005);
                contacts[k] = tpWorld_GetContacts(worlds[k], &counts[k]);
                tpWorld_GetEvents(worlds[k], &events[k]);
            }
            assert_int_equal(counts[0], counts[1]);
            assert_int_equal(events[0], events[1]);
            for (int c = 0; c < counts[0]; ++c) {
                assert_int_equal(contacts[0][c].shapeA.slot, contacts[1][c].shapeA.slot);
                assert_int_equal(contacts[0][c].shapeB.slot, contacts[1][c].shapeB.slot);
            }
        }
        assert_true(tpWorld_HashState(worlds[0]) == tpWorld_HashState(worlds[1]));
        tpDestroyWorld(worlds[0]);
        tpDestroyWorld(worlds[1]);
    }
}

static void filtersAreNoGroups(void** state) {
    (void)state;
    // Groups and masks changed on the way count at once, too.
    for (int s = 0; s < stepperCount; ++s) {
        tpBodyId balls[2];
        tpWorld* world = createWorld(steppers[s], 1, balls);
        for (int i = 0; i < 5; ++i) {
            tpWorld_Step(world, 0.005);
        }
        tpShape_SetFilter(world, tpBody_GetShape(world, balls[1], 0), 0, 0);
        for (int i = 0; i < 10; ++i) {
            tpWorld_Step(world, 0.005);
        }
        CHECK_BELOW(tpBody_GetPosition(world, balls[1]).z, 0.0915);
        CHECK_NEAR(tpBody_GetPosition(world, balls[0]).z, 0.1, 1e-3);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusedPairsDoNotTouch),
        cmocka_unit_test(answersChangeWhenInstalledAgain),
        cmocka_unit_test(threadsChangeNothing),
        cmocka_unit_test(filtersAreNoGroups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
