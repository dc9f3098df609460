// Light sweeps: the same bits at any width, the certificate of the sweeps in double precision.

#include "heap.h"
#include "light_rounds.h"
#include "sweeps/light_kernels.h"

// A heap of contacts without torsion that all take part, at velocities of its own, with the speeds
// of its packs known.
static Heap* makeLightHeapOf(uint64_t seed, bool hasLocks) {
    Heap* heap = makeHeapOf(seed, false, hasLocks);
    memset(&heap->velocities[0], 0, sizeof(tpVelocity));
    for (int i = 0; i < heap->count; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(&heap->sweeper, i, &lane);
        pack->bias[0][lane] = i % 11 == 0 ? TP_SWEEP_OPEN : 0.05 * (i % 3);
        pack->muStatic[lane] = pack->muDynamic[lane];
    }
    tpSweeper_FindSpeeds(&heap->sweeper);
    return heap;
}

static Heap* makeLightHeap(uint64_t seed) {
    return makeLightHeapOf(seed, false);
}

static void takeFriction(Heap* heap) {
    for (int p = 0; p < heap->sweeper.packCount; ++p) {
        memset(heap->sweeper.packs[p].muStatic, 0, sizeof(heap->sweeper.packs[p].muStatic));
        memset(heap->sweeper.packs[p].muDynamic, 0, sizeof(heap->sweeper.packs[p].muDynamic));
    }
}

// Everything that a width has kernels for. Returns the measure of a step.
static double useKernels(tpLightSweeper* light, tpArena* arena) {
    float* last = TP_SCRATCH_ZEROED(arena, float, light->impulseCount);
    tpLight_Load(light);
    for (int sweep = 0; sweep < 12; ++sweep) {
        tpLight_Sweep(light);
    }
    double size =
        light->kernels->measure(light->weight, light->impulses, light->loaded, light->impulseCount);
    light->kernels->advance(light->impulses, last, 0.375f, light->impulseCount);
    tpLight_Refresh(light);
    return size;
}

static void compareWidths(Heap* heap, const tpLightKernels* wide) {
    tpLightSweeper lights[2];
    double sizes[2];
    for (int k = 0; k < 2; ++k) {
        assert_true(tpLight_Choose(&lights[k], &heap->sweeper, INFINITY, 0.9, &heap->arena));
        lights[k].kernels = k == 0 ? &tp_plainLightKernels : wide;
        sizes[k] = useKernels(&lights[k], &heap->arena);
    }
    size_t bytes = sizeof(float) * (size_t)lights[0].impulseCount;
    assert_memory_equal(lights[0].impulses, lights[1].impulses, bytes);
    assert_memory_equal(lights[0].changes, lights[1].changes, sizeof(float) * 8 * bodies);
    assert_true(sizes[0] > 0.0 && sizes[0] == sizes[1]);
}

static void widthsGiveTheSameBits(void** state) {
    (void)state;
    for (int width = 4; width <= 8; width *= 2) {
        const tpLightKernels* wide = tpGetLightKernels(width);
        if (wide == NULL) {
            print_message("this machine or build has no light sweeps of that width\n");
            continue;
        }
        for (uint64_t seed = 1; seed <= 6; ++seed) {
            Heap* heap = makeLightHeapOf(seed, seed > 4);
            compareWidths(heap, wide);
            takeFriction(heap);
            compareWidths(heap, wide);
            destroyHeap(heap);
        }
    }
}

// Changes of velocity are those of double precision, where centres have locked axes too.
static void locksHold(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        Heap* heap = makeLightHeapOf(5, true);
        if (k == 1) {
            takeFriction(heap);
        }
        tpLightSweeper light;
        tpVelocity start[bodies];
        memcpy(start, heap->velocities, sizeof(start));
        assert_true(tpLight_Choose(&light, &heap->sweeper, INFINITY, 0.9, &heap->arena));
        tpLight_Load(&light);
        for (int sweep = 0; sweep < 12; ++sweep) {
            tpLight_Sweep(&light);
        }
        for (int pass = 0; pass < 2; ++pass) {
            tpLight_Store(&light);
            memcpy(heap->velocities, start, sizeof(start));
            tpSweeper_WarmStart(&heap->sweeper);
            double changed = 0.0;
            for (int i = 0; i < bodies; ++i) {
                const float* change = light.changes + 8 * i;
                tpVec3 all = tpSub(heap->velocities[i].linear, start[i].linear);
                CHECK_VEC3(tpMakeVec3(change[0], change[1], change[2]), all,
                           1e-4 * (1.0 + tpLength(all)));
                changed += tpLength(all);
            }
            assert_true(changed > 1.0);
            tpLight_Refresh(&light);
        }
        destroyHeap(heap);
    }
}

// Where nothing rubs, sweeps over normal impulses alone are those over all three rows.
static void normalsAloneAreSweptAlike(void** state) {
    (void)state;
    Heap* heap = makeLightHeap(3);
    takeFriction(heap);
    tpLightSweeper lights[2];
    for (int k = 0; k < 2; ++k) {
        // A contact that cannot be reached rubs in the second: all of them have three rows then.
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(&heap->sweeper, 1, &lane);
        pack->muDynamic[lane] = 0.5 * k;
        pack->bias[0][lane] = 1e6;
        assert_true(tpLight_Choose(&lights[k], &heap->sweeper, INFINITY, 0.9, &heap->arena));
        tpLight_Load(&lights[k]);
        for (int sweep = 0; sweep < 12; ++sweep) {
            tpLight_Sweep(&lights[k]);
        }
    }
    assert_int_equal(lights[0].rowCount, 1);
    assert_int_equal(lights[1].rowCount, 3);
    double carried = 0.0;
    for (int p = 0; p < lights[0].packCount; ++p) {
        for (int lane = 0; lane < tp_lightWidth; ++lane) {
            float alone = lights[0].impulses[p * tp_lightWidth + lane];
            CHECK_NEAR(alone, lights[1].impulses[3 * p * tp_lightWidth + lane],
                       1e-4 * (1.0 + fabs((double)alone)));
            carried += alone;
        }
    }
    assert_true(carried > 1.0);
    destroyHeap(heap);
}

// No two pairs of a run share a body that moves, and every contact that matters has one place.
static void runsShareNoBody(void** state) {
    (void)state;
    Heap* heap = makeLightHeap(11);
    tpLightSweeper light;
    assert_true(tpLight_Choose(&light, &heap->sweeper, INFINITY, 1.0, &heap->arena));
    int open = 0, seen = 0;
    for (int i = 0; i < heap->count; ++i) {
        open += i % 11 == 0;
        assert_true(light.isChosen[i] == (i % 11 != 0));
    }
    for (int r = 0; r < light.runCount; ++r) {
        const tpLightRun* run = &light.runs[r];
        bool isUsed[bodies + 1] = { false };
        for (int lane = 0; lane < tp_lightWidth; ++lane) {
            const int both[2] = { run->bodyA[lane], run->bodyB[lane] };
            for (int k = 0; k < 2; ++k) {
                bool moves = both[k] != 0 && both[k] != bodies;
                assert_false(moves && isUsed[both[k]]);
                isUsed[both[k]] = true;
            }
            for (int p = run->first; p < run->first + run->count; ++p) {
                int contact = light.contacts[p * tp_lightWidth + lane];
                if (contact >= 0) {
                    assert_int_equal(heap->contacts[contact].bodyA, both[0]);
                    assert_int_equal(heap->contacts[contact].bodyB, both[1]);
                    ++seen;
                }
            }
        }
    }
    assert_int_equal(seen, heap->count - open);
    assert_int_equal(light.chosenCount, seen);
    destroyHeap(heap);
}

// Pairs with more than sixteen points are not in order by them: packs were fewer than places, and
// coins that lie on each other wrote beyond their memory.
static void pairsMayHaveManyPoints(void** state) {
    (void)state;
    Heap* heap = makeLightHeap(5);
    tpRandom random = { 3 };
    heap->count = 0;
    addManifold(heap, &random, 2, 3, 17, false);
    addManifold(heap, &random, 4, 5, 40, false);
    prepare(heap);
    tpSweeper_FindSpeeds(&heap->sweeper);
    tpLightSweeper light;
    assert_true(tpLight_Choose(&light, &heap->sweeper, INFINITY, 1.0, &heap->arena));
    assert_int_equal(light.chosenCount, 57);
    assert_int_equal(light.packCount, 40);
    assert_int_equal(light.impulseCount, light.rowCount * tp_lightWidth * light.packCount);
    destroyHeap(heap);
}

// Of a heap only contacts that matter are swept, and the certificate is that of all of them.
static void heapMeetsItsCertificate(void** state) {
    (void)state;
    Heap* heap = makeLightHeap(5);
    tpVelocity* start = TP_SCRATCH(&heap->arena, tpVelocity, bodies);
    memcpy(start, heap->velocities, sizeof(tpVelocity) * bodies);
    double size = tpSweeper_FreeSpeed(&heap->sweeper);
    int sweeps = lightSweepsTo(&heap->sweeper, start, &heap->arena, 0.05, true, 1e-3 * size);
    print_message("%d light sweeps for a residual of 1e-3\n", sweeps);
    assert_true(sweeps < 4000);
    tpLightSweeper light;
    assert_true(tpLight_Choose(&light, &heap->sweeper, 0.05, 0.9, &heap->arena));
    assert_true(light.chosenCount < heap->count * 3 / 4);
    destroyHeap(heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widthsGiveTheSameBits),     cmocka_unit_test(locksHold),
        cmocka_unit_test(normalsAloneAreSweptAlike), cmocka_unit_test(runsShareNoBody),
        cmocka_unit_test(pairsMayHaveManyPoints),    cmocka_unit_test(heapMeetsItsCertificate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
