// The sweep's layout and its wide twins: colours that share nothing, and the same bits at any
// width.

#include "heap.h"

// Every contact has a place of its own, and no two manifolds of a colour share a moving body.
static void coloursShareNoBody(void** state) {
    (void)state;
    Heap* heap = makeHeap(11, true);
    const tpSweeper* sweeper = &heap->sweeper;
    int seen = 0;
    for (int c = 0; c < sweeper->colourCount; ++c) {
        int owner[bodies];
        memset(owner, -1, sizeof(owner));
        for (int r = sweeper->colours[c]; r < sweeper->colours[c + 1]; ++r) {
            for (int p = 0; p < sweeper->runs[r].count; ++p) {
                const tpContactPack* pack = &sweeper->packs[sweeper->runs[r].first + p];
                for (int lane = 0; lane < tp_packWidth; ++lane) {
                    int contact = pack->contact[lane];
                    if (contact < 0) {
                        continue;
                    }
                    ++seen;
                    int id = r * tp_packWidth + lane;
                    int both[2] = { heap->contacts[contact].bodyA, heap->contacts[contact].bodyB };
                    assert_int_equal(pack->bodyA[lane], both[0]);
                    assert_int_equal(pack->bodyB[lane], both[1]);
                    for (int k = 0; k < 2; ++k) {
                        bool isFree = both[k] == 0 || owner[both[k]] < 0 || owner[both[k]] == id;
                        assert_true(isFree);
                        owner[both[k]] = id;
                    }
                }
            }
        }
    }
    assert_int_equal(seen, heap->count);
    // Body 1 has more neighbours than there are colours in a mask.
    assert_true(sweeper->colourCount > 64);
    destroyHeap(heap);
}

// Starts, sweeps and speeds: everything that has a wide twin.
static void sweepWith(Heap* heap, const tpSweepKernels* wide, int sweeps, double* changes) {
    tpSweeper* sweeper = &heap->sweeper;
    sweeper->wide = wide;
    for (int i = 0; i < heap->count; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(sweeper, i, &lane);
        pack->impulse[0][lane] = 0.01 * (i % 5);
        pack->impulse[1][lane] = 0.001 * (i % 3);
        pack->bias[0][lane] = i % 11 == 0 ? TP_SWEEP_OPEN : 0.05 * (i % 4 - 2);
        pack->low[lane] = i % 13 == 0 ? -0.02 : 0.0;
    }
    tpSweeper_WarmStart(sweeper);
    for (int k = 0; k < sweeps; ++k) {
        changes[k] = tpSweeper_Sweep(sweeper);
    }
    for (int r = 0; r < sweeper->runCount; ++r) {
        const tpPackRun* run = &sweeper->runs[r];
        if (sweeper->packs[run->first].torsion >= 0 || sweeper->packs[run->first].hasLocks) {
            continue;
        }
        wide->respondRun(sweeper, run);
        wide->speedRun(sweeper, run);
    }
}

static void assertSameBits(const Heap* plain, const Heap* other) {
    for (int i = 0; i < bodies; ++i) {
        const tpVelocity *v = &plain->velocities[i], *w = &other->velocities[i];
        assert_memory_equal(&v->linear, &w->linear, sizeof(tpVec3));
        assert_memory_equal(&v->angular, &w->angular, sizeof(tpVec3));
    }
    for (int i = 0; i < plain->count; ++i) {
        int lane;
        const tpContactPack* p = tpSweeper_PackOf(&plain->sweeper, i, &lane);
        const tpContactPack* q = tpSweeper_PackOf(&other->sweeper, i, &lane);
        for (int k = 0; k < 3; ++k) {
            assert_memory_equal(&p->impulse[k][lane], &q->impulse[k][lane], sizeof(double));
            assert_memory_equal(&p->speed[k][lane], &q->speed[k][lane], sizeof(double));
            assert_memory_equal(&p->stick[k][lane], &q->stick[k][lane], sizeof(double));
        }
        for (int k = 0; k < 6; ++k) {
            assert_memory_equal(&p->response[k][lane], &q->response[k][lane], sizeof(double));
        }
    }
}

static void widthsGiveTheSameBits(void** state) {
    (void)state;
    enum { sweeps = 12 };
    for (int width = 4; width <= 8; width *= 2) {
        const tpSweepKernels* wide = tpGetSweepKernels(width);
        if (wide == NULL) {
            print_message("this machine or build does not sweep %d contacts at once\n", width);
            continue;
        }
        for (uint64_t seed = 1; seed <= 9; ++seed) {
            Heap* plain = makeHeapOf(seed, seed % 2 == 0, seed > 6);
            Heap* other = makeHeapOf(seed, seed % 2 == 0, seed > 6);
            double plainChanges[sweeps], changes[sweeps];
            sweepWith(plain, &tp_plainSweepKernels, sweeps, plainChanges);
            sweepWith(other, wide, sweeps, changes);
            assert_memory_equal(plainChanges, changes, sizeof(changes));
            assertSameBits(plain, other);
            destroyHeap(plain);
            destroyHeap(other);
        }
    }
}

// The sweeps lead to the contact law, whatever the colours do to their order.
static void sweepsConverge(void** state) {
    (void)state;
    // At rest the ground holds everything; as large as friction may be, it has one coefficient.
    Heap* heap = makeHeap(5, false);
    memset(&heap->velocities[0], 0, sizeof(tpVelocity));
    for (int i = 0; i < heap->count; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(&heap->sweeper, i, &lane);
        pack->muStatic[lane] = pack->muDynamic[lane];
    }
    double free = tpSweeper_FreeSpeed(&heap->sweeper);
    for (int k = 0; k < 3000; ++k) {
        tpSweeper_Sweep(&heap->sweeper);
    }
    CHECK_BELOW(tpSweeper_Judge(&heap->sweeper).velocity, 1e-3 * free);
    destroyHeap(heap);
}

// What a contact says of its response is what a unit impulse changes, and nothing moves along
// locked axes, which sweeps lead to the contact law as any other.
static void locksHold(void** state) {
    (void)state;
    Heap* heap = makeHeapOf(5, false, true);
    tpSweeper* sweeper = &heap->sweeper;
    memset(&heap->velocities[0], 0, sizeof(tpVelocity));
    for (int i = 0; i < heap->count; ++i) {
        static const int diagonal[3][3] = { { 0, 1, 2 }, { 1, 3, 4 }, { 2, 4, 5 } };
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(sweeper, i, &lane);
        pack->muStatic[lane] = pack->muDynamic[lane];
        for (int k = 0; k < 3; ++k) {
            double before[4], after[4], unit[4] = { k == 0, k == 1, k == 2, 0.0 };
            const int both[2] = { pack->bodyA[lane], pack->bodyB[lane] };
            tpVelocity kept[2] = { heap->velocities[both[0]], heap->velocities[both[1]] };
            tpSweeper_ContactVelocity(sweeper, i, before);
            tpSweeper_Push(sweeper, pack, lane, unit);
            tpSweeper_ContactVelocity(sweeper, i, after);
            heap->velocities[both[0]] = kept[0];
            heap->velocities[both[1]] = kept[1];
            for (int j = 0; j < 3; ++j) {
                CHECK_NEAR(after[j] - before[j], pack->response[diagonal[k][j]][lane], 1e-12);
            }
        }
    }
    double free = tpSweeper_FreeSpeed(sweeper);
    for (int k = 0; k < 3000; ++k) {
        tpSweeper_Sweep(sweeper);
    }
    CHECK_BELOW(tpSweeper_Judge(sweeper).velocity, 1e-3 * free);
    for (int i = 0; i < bodies; ++i) {
        tpVec3 v = heap->velocities[i].linear, moved = tpSweeper_Free(sweeper, i, v);
        assert_true(v.x == moved.x && v.y == moved.y && v.z == moved.z);
    }
    destroyHeap(heap);
}

// A smooth contact that opens carries nothing, as its law says.
static void smoothContactsMayOpen(void** state) {
    (void)state;
    Heap* heap = makeHeap(7, false);
    memset(&heap->velocities[0], 0, sizeof(tpVelocity));
    for (int i = 0; i < heap->count; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(&heap->sweeper, i, &lane);
        pack->muStatic[lane] = pack->muDynamic[lane] = 0.0;
    }
    double free = tpSweeper_FreeSpeed(&heap->sweeper);
    for (int k = 0; k < 3000; ++k) {
        tpSweeper_Sweep(&heap->sweeper);
    }
    int openCount = 0;
    for (int i = 0; i < heap->count; ++i) {
        int lane;
        const tpContactPack* pack = tpSweeper_PackOf(&heap->sweeper, i, &lane);
        openCount += pack->impulse[0][lane] == 0.0 ? 1 : 0;
    }
    assert_true(openCount > 0);
    CHECK_BELOW(tpSweeper_Judge(&heap->sweeper).velocity, 1e-3 * free);
    destroyHeap(heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coloursShareNoBody),    cmocka_unit_test(widthsGiveTheSameBits),
        cmocka_unit_test(sweepsConverge),        cmocka_unit_test(locksHold),
        cmocka_unit_test(smoothContactsMayOpen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
