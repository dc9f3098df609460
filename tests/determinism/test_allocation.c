// Once warm, a step asks for no memory: a pile of boxes at rest, with every stepper that knows
// contacts. What crowds hold is bounded per body.

#include "support/check.h"
#include "support/failing_allocator.h"
#include "tippe/world.h"

#include <string.h>

static tpWorld* makePile(const tpAllocator* allocator, tpStepperId stepper) {
    tpWorldDef def = tpDefaultWorldDef();
    def.allocator = *allocator;
    def.stepper = stepper;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = 0.5;
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = tpCreateMaterial(world, &material, NULL);
    tpBodyDef floorDef = tpDefaultBodyDef();
    floorDef.kind = tp_fixedBody;
    tpCreatePlane(world, tpCreateBody(world, &floorDef, NULL), &shapeDef,
                  &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
    for (int row = 0; row < 4; ++row) {
        for (int i = 0; i < 4 - row; ++i) {
            tpBodyDef bodyDef = tpDefaultBodyDef();
            bodyDef.position = tpMakeVec3(1.1 * (i - 0.5 * (3 - row)), 0.0, 0.5 + row);
            tpCreateBox(world, tpCreateBody(world, &bodyDef, NULL), &shapeDef,
                        &(tpBox){ { 1.0, 1.0, 1.0 } }, NULL);
        }
    }
    return world;
}

static void warmStepsAllocateNothing(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu };
    for (size_t s = 0; s < sizeof(steppers) / sizeof(steppers[0]); ++s) {
        tpFailingAllocator heap = { 0 };
        tpAllocator allocator = tpMakeFailingAllocator(&heap);
        tpWorld* world = makePile(&allocator, steppers[s]);
        // Until faces have met by as many features as they ever do.
        for (int k = 0; k < 180; ++k) {
            tpWorld_Step(world, 1.0 / 60.0);
        }
        heap.requests = 0;
        for (int k = 0; k < 240; ++k) {
            tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
            assert_true(report.contactCount > 0);
        }
        printf("%s: %lld requests in 240 steps\n", tpStepperName(steppers[s]),
               (long long)heap.requests);
        assert_int_equal(heap.requests, 0);
        tpDestroyWorld(world);
        assert_int_equal(heap.outstanding, 0);
    }
}

// Spheres close together that fall onto a floor: what a world holds after a step, per sphere. Not
// all of it is ever touched: scratch has half as much again as was needed, arrays double. It was
// 4,850 bytes when lists of pairs had memory of their own.
static void crowdsTakeLittleMemory(void** state) {
    (void)state;
    enum { side = 16, count = side * side * side };
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    tpWorldDef def = tpDefaultWorldDef();
    def.allocator = allocator;
    def.stepper = tp_smallSteps;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    tpBodyDef bodyDef = tpDefaultBodyDef();
    for (int i = 0; i < count; ++i) {
        bodyDef.position = tpMakeVec3(1.02 * (i % side), 1.02 * (i / side % side),
                                      0.51 + 1.02 * (i / (side * side)));
        tpCreateSphere(world, tpCreateBody(world, &bodyDef, NULL), &shapeDef, &(tpSphere){ 0.5 },
                       NULL);
    }
    bodyDef.kind = tp_fixedBody;
    tpCreatePlane(world, tpCreateBody(world, &bodyDef, NULL), &shapeDef,
                  &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
    long long most = 0;
    for (int k = 0; k < 16; ++k) {
        tpWorld_Step(world, 1.0 / 120.0);
        most = heap.bytes > most ? heap.bytes : most;
    }
    print_message("%lld bytes per sphere\n", most / count);
    assert_true(most < 4300LL * count);
    tpDestroyWorld(world);
    assert_int_equal(heap.outstanding, 0);
}

// What a run tells: its reports, its state at the end, and whether memory ran out on the way.
typedef struct Told {
    tpStepReport reports[2];
    uint64_t hash;
    bool isOut;
} Told;

static Told stepPile(tpFailingAllocator* heap, tpStepperId stepper, long long failAt) {
    Told told = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(heap);
    heap->failAt = 0;
    tpWorld* world = makePile(&allocator, stepper);
    heap->requests = 0;
    heap->failAt = failAt;
    for (int k = 0; k < 2; ++k) {
        told.reports[k] = tpWorld_Step(world, 1.0 / 60.0);
        for (int i = 0; i < told.reports[k].noteCount; ++i) {
            told.isOut = told.isOut || strcmp(told.reports[k].notes[i], "out of memory") == 0;
        }
    }
    heap->failAt = 0;
    told.hash = tpWorld_HashState(world);
    long long requests = heap->requests;
    tpDestroyWorld(world);
    assert_int_equal(heap->outstanding, 0);
    heap->requests = requests;
    return told;
}

// Memory that runs out is told, or was not needed: then states and certificates are as without.
static void failedMemoryIsTold(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_stewartTrinkle,     tp_anitescu,
                                            tp_benderSchmitt,      tp_mirtichCanny,
                                            tp_chakrabortyTrinkle, tp_penalty,
                                            tp_smallSteps };
    for (size_t s = 0; s < sizeof(steppers) / sizeof(steppers[0]); ++s) {
        tpFailingAllocator heap = { 0 };
        Told whole = stepPile(&heap, steppers[s], 0);
        long long requests = heap.requests;
        int told = 0;
        assert_false(whole.isOut);
        for (long long n = 1; n <= requests; ++n) {
            Told one = stepPile(&heap, steppers[s], n);
            told += one.isOut;
            for (int k = 0; k < 2 && !one.isOut; ++k) {
                const tpStepReport *a = &one.reports[k], *b = &whole.reports[k];
                assert_true(a->residual == b->residual && a->kineticAfter == b->kineticAfter);
                assert_true(a->converged == b->converged && a->failureCount == b->failureCount);
                assert_int_equal(a->contactCount, b->contactCount);
            }
            assert_true(one.isOut || one.hash == whole.hash);
        }
        print_message("%s: %d of %lld told\n", tpStepperName(steppers[s]), told, requests);
        assert_true(told > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(warmStepsAllocateNothing),
                                        cmocka_unit_test(crowdsTakeLittleMemory),
                                        cmocka_unit_test(failedMemoryIsTold) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
