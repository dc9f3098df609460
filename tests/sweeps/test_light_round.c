// Light sweeps over contacts of spheres: the same answers as over any contacts, the same bits at
// any width.

#include "heap.h"
#include "sweeps/light_kernels.h"

// One contact per pair, between spheres of different sizes and masses and one body that does not
// move.
static void addRoundContact(Heap* heap, tpRandom* random, int a, int b) {
    tpSweepContact* contact = &heap->contacts[heap->count];
    addManifold(heap, random, a, b, 1, false);
    contact->armA = tpScale(-0.1 - 0.001 * a, contact->normal);
    contact->armB = tpScale(0.1 + 0.001 * b, contact->normal);
    contact->muDynamic = 0.1 + 0.01 * (a % 50);
    contact->muStatic = contact->muDynamic + (a % 2 == 0 ? 0.2 : 0.0);
    contact->tangents[1] = tpCross(contact->normal, contact->tangents[0]);
}

// What is wrong with one of its contacts or bodies.
typedef enum Flaw { noFlaw, armBeside, longBody, twoPoints, ellipse } Flaw;

static Heap* makeRoundHeap(uint64_t seed, Flaw flaw) {
    tpAllocator allocator = tpDefaultAllocator();
    Heap* heap = tpAllocateZeroed(&allocator, sizeof(Heap));
    heap->allocator = allocator;
    tpArena_Create(&heap->arena, &heap->allocator);
    tpRandom random = { seed };
    heap->velocities = TP_SCRATCH_ZEROED(&heap->arena, tpVelocity, bodies);
    assert_true(
        tpSweeper_Create(&heap->sweeper, &heap->arena, bodies, mostContacts, tpFriction_SolveOne));
    fillBodies(heap, &random);
    memset(&heap->velocities[0], 0, sizeof(tpVelocity));
    for (int i = 1; i < bodies; ++i) {
        double* inertia = heap->sweeper.bodies[i].inverseInertia;
        inertia[1] = inertia[2] = inertia[0];
        inertia[3] = inertia[4] = inertia[5] = 0.0;
        addRoundContact(heap, &random, 0, i);
        for (int k = 1; k < 4 && i + k * k < bodies; ++k) {
            addRoundContact(heap, &random, i, i + k * k);
        }
    }
    tpSweepContact* odd = &heap->contacts[heap->count / 2];
    if (flaw == armBeside) {
        odd->armA = tpMulAdd(odd->armA, 1e-3, odd->tangents[0]);
    } else if (flaw == longBody) {
        heap->sweeper.bodies[bodies / 2].inverseInertia[2] *= 1.01;
    } else if (flaw == twoPoints) {
        addRoundContact(heap, &random, bodies - 2, bodies - 1);
        addRoundContact(heap, &random, bodies - 2, bodies - 1);
    } else if (flaw == ellipse) {
        odd->tangents[1] = tpScale(0.5, odd->tangents[1]);
    }
    prepare(heap);
    for (int i = 0; i < heap->count; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(&heap->sweeper, i, &lane);
        pack->bias[0][lane] = 0.05 * (i % 3);
    }
    tpSweeper_FindSpeeds(&heap->sweeper);
    return heap;
}

static void sweepSome(tpLightSweeper* light) {
    tpLight_Load(light);
    for (int sweep = 0; sweep < 12; ++sweep) {
        tpLight_Sweep(light);
    }
}

static void compare(const float* a, const float* b, int count, double tolerance) {
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        CHECK_NEAR(a[i], b[i], tolerance * (1.0 + fabs((double)b[i])));
        sum += fabs((double)a[i]);
    }
    assert_true(sum > 1.0);
}

static void roundContactsAreSweptAsOthers(void** state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        Heap* heap = makeRoundHeap(seed, noFlaw);
        tpLightSweeper lights[2];
        for (int k = 0; k < 2; ++k) {
            assert_true(tpLight_Choose(&lights[k], &heap->sweeper, INFINITY, 0.9, &heap->arena));
            assert_non_null(lights[k].rounds);
            lights[k].rounds = k == 0 ? lights[k].rounds : NULL;
            sweepSome(&lights[k]);
        }
        compare(lights[0].impulses, lights[1].impulses, lights[0].impulseCount, 1e-4);
        compare(lights[0].changes, lights[1].changes, lights[0].changeCount, 1e-4);
        // Velocities made anew are those of the impulses.
        for (int k = 0; k < 2; ++k) {
            tpLight_Refresh(&lights[k]);
        }
        compare(lights[0].changes, lights[1].changes, lights[0].changeCount, 1e-4);
        destroyHeap(heap);
    }
}

static void widthsGiveTheSameBits(void** state) {
    (void)state;
    for (int width = 4; width <= 8; width *= 2) {
        const tpLightKernels* wide = tpGetLightKernels(width);
        if (wide == NULL) {
            print_message("this machine or build has no light sweeps of that width\n");
            continue;
        }
        Heap* heap = makeRoundHeap(7, noFlaw);
        tpLightSweeper lights[2];
        for (int k = 0; k < 2; ++k) {
            assert_true(tpLight_Choose(&lights[k], &heap->sweeper, INFINITY, 0.9, &heap->arena));
            lights[k].kernels = k == 0 ? &tp_plainLightKernels : wide;
            sweepSome(&lights[k]);
        }
        for (int k = 0; k < 2; ++k) {
            assert_memory_equal(lights[0].impulses, lights[1].impulses,
                                sizeof(float) * (size_t)lights[0].impulseCount);
            assert_memory_equal(lights[0].changes, lights[1].changes, sizeof(float) * 8 * bodies);
            tpLight_Refresh(&lights[0]);
            tpLight_Refresh(&lights[1]);
        }
        destroyHeap(heap);
    }
}

// One contact that is not round, or one pair with two, makes all of them ordinary ones.
static void otherContactsAreNotTakenForRound(void** state) {
    (void)state;
    for (int flaw = noFlaw; flaw <= ellipse; ++flaw) {
        Heap* heap = makeRoundHeap(3, (Flaw)flaw);
        tpLightSweeper light;
        assert_true(tpLight_Choose(&light, &heap->sweeper, INFINITY, 0.9, &heap->arena));
        assert_true((light.rounds != NULL) == (flaw == noFlaw));
        destroyHeap(heap);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roundContactsAreSweptAsOthers),
        cmocka_unit_test(widthsGiveTheSameBits),
        cmocka_unit_test(otherContactsAreNotTakenForRound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
