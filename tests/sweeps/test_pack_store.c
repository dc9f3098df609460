// Manifolds in lanes: colours share no body, lanes are used again, and a restored store goes on the
// same way.

#include "soft_heap.h"

// Every manifold has a place of its own with its bodies; no two of a colour of a group share a body
// that moves, and no group has bodies of other blocks than its own.
static void checkStore(const tpPackStore* store) {
    int seen = 0;
    for (int r = 0; r < store->runs.count; ++r) {
        const tpSoftRun* run = &store->runs.data[r];
        for (int lane = 0; run->packs != NULL && lane < tp_packWidth; ++lane) {
            bool isUsed = (run->used >> lane & 1) != 0;
            assert_true(isUsed == (run->slots[lane] >= 0));
            if (!isUsed) {
                assert_int_equal(run->bodyA[lane], store->nobody);
                continue;
            }
            ++seen;
            assert_int_equal(store->places.data[run->slots[lane]], r * tp_packWidth + lane);
            const tpPackGroup* group = &store->groups.data[run->group];
            const int32_t both[2] = { run->bodyA[lane], run->bodyB[lane] };
            for (int k = 0; k < 2; ++k) {
                int32_t block = store->blocks.data[both[k]];
                assert_true(block < 0 || block == group->blockA || block == group->blockB);
                for (int other = 0; block >= 0 && other < store->runs.count; ++other) {
                    const tpSoftRun* q = &store->runs.data[other];
                    if (q->packs == NULL || q->group != run->group || q->colour != run->colour ||
                        run->colour == tp_maskColours) {
                        continue;
                    }
                    for (int l = 0; l < tp_packWidth; ++l) {
                        bool isOther = (q->used >> l & 1) != 0 && (other != r || l != lane);
                        assert_false(isOther && (q->bodyA[l] == both[k] || q->bodyB[l] == both[k]));
                    }
                }
            }
        }
    }
    assert_int_equal(seen, store->slotCount);
}

static void checkOrder(tpPackStore* store) {
    assert_true(tpPackStore_Order(store));
    int seen = 0;
    for (int g = 0; g < store->groups.count; ++g) {
        for (int i = store->groupFirsts.data[g]; i < store->groupFirsts.data[g + 1]; ++i) {
            const tpSoftRun* run = &store->runs.data[store->order.data[i]];
            assert_int_equal(run->group, g);
            assert_true(run->used != 0);
            bool isFirst = i == store->groupFirsts.data[g];
            assert_true(isFirst ||
                        store->runs.data[store->order.data[i - 1]].colour <= run->colour);
            ++seen;
        }
    }
    assert_int_equal(seen, store->order.count);
}

// One random change.
static void change(tpPackStore* store, tpRandom* random, int32_t* slots, int* count) {
    if (*count > 0 && randomBits(random) % 2 == 0) {
        int k = (int)(randomBits(random) % (unsigned)*count);
        tpPackStore_Remove(store, slots[k]);
        slots[k] = slots[--*count];
        return;
    }
    int a = 1 + (int)(randomBits(random) % (bodies - 1));
    int b = (int)(randomBits(random) % bodies);
    b = b == a ? 0 : b;
    int points = 1 + (int)(randomBits(random) % 8);
    slots[*count] = tpPackStore_Add(store, a, b, points, points == 1);
    assert_true(slots[*count] >= 0);
    *count += 1;
}

static void lanesAreUsedAgain(void** state) {
    (void)state;
    Heap* heap = makeHeap(7, false);
    SoftHeap* soft = makeSoftHeap(heap, 7);
    static int32_t slots[2 * mostContacts];
    int count = soft->slotCount;
    memcpy(slots, soft->slots, sizeof(int32_t) * (size_t)count);
    checkStore(&soft->store);
    checkOrder(&soft->store);
    tpRandom random = { 23 };
    int before = soft->store.runs.count;
    for (int round = 0; round < 10; ++round) {
        for (int k = 0; k < 300; ++k) {
            change(&soft->store, &random, slots, &count);
        }
        tpPackStore_Tidy(&soft->store);
        checkStore(&soft->store);
        checkOrder(&soft->store);
    }
    // What has come and gone has not made it grow without end.
    assert_true(soft->store.runs.count < before + 600);
    destroySoftHeap(soft);
    destroyHeap(heap);
}

// Tidying moves manifolds with all that they carry, and fills lanes.
static void tidyingFillsLanes(void** state) {
    (void)state;
    Heap* heap = makeHeap(9, false);
    SoftHeap* soft = makeSoftHeap(heap, 9);
    for (int m = 0; m < soft->slotCount; ++m) {
        if (m % 4 != 0) {
            tpPackStore_Remove(&soft->store, soft->slots[m]);
        }
    }
    checkOrder(&soft->store);
    int before = soft->store.order.count;
    for (int k = 0; k < 100; ++k) {
        tpPackStore_Tidy(&soft->store);
    }
    checkStore(&soft->store);
    checkOrder(&soft->store);
    print_message("%d runs before tidying, %d after\n", before, soft->store.order.count);
    assert_true(2 * soft->store.order.count < before);
    for (int m = 0; m < soft->slotCount; m += 4) {
        int lane;
        const tpSoftRun* run = tpPackStore_Find(&soft->store, soft->slots[m], &lane);
        assert_int_equal(run->points[lane], soft->counts[m]);
        for (int k = 0; k < soft->counts[m]; ++k) {
            int i = soft->firsts[m] + k;
            assert_int_equal(run->packs[k].feature[lane], i);
            assert_true(run->packs[k].impulse[0][lane] == 0.01 * (i % 5));
            assert_true(run->packs[k].armB[1][lane] == (float)heap->contacts[i].armB.y);
        }
    }
    destroySoftHeap(soft);
    destroyHeap(heap);
}

static void restoredStoresGoOn(void** state) {
    (void)state;
    Heap* heap = makeHeap(8, false);
    SoftHeap* soft = makeSoftHeap(heap, 8);
    static int32_t slots[2 * mostContacts], others[2 * mostContacts];
    int count = soft->slotCount;
    memcpy(slots, soft->slots, sizeof(int32_t) * (size_t)count);
    tpRandom random = { 31 };
    for (int k = 0; k < 500; ++k) {
        change(&soft->store, &random, slots, &count);
    }
    tpPackStore_Tidy(&soft->store);
    size_t size = tpPackStore_SavedSize(&soft->store);
    void* saved[2] = { tpAllocate(&heap->allocator, size), tpAllocate(&heap->allocator, size) };
    tpPackStore_Save(&soft->store, saved[0]);
    tpPackStore copy;
    tpCreatePackStore(&copy, &heap->allocator);
    tpSavedReader reader = { saved[0], size, false };
    assert_true(tpPackStore_Load(&copy, &reader));
    assert_int_equal(tpPackStore_SavedSize(&copy), size);
    tpPackStore_Save(&copy, saved[1]);
    assert_memory_equal(saved[0], saved[1], size);
    tpRelease(&heap->allocator, saved[0], size);
    tpRelease(&heap->allocator, saved[1], size);
    memcpy(others, slots, sizeof(slots));
    int otherCount = count;
    tpRandom same = random;
    for (int k = 0; k < 500; ++k) {
        change(&soft->store, &random, slots, &count);
        change(&copy, &same, others, &otherCount);
        tpPackStore_Tidy(&soft->store);
        tpPackStore_Tidy(&copy);
    }
    assert_int_equal(count, otherCount);
    for (int k = 0; k < count; ++k) {
        assert_int_equal(slots[k], others[k]);
        assert_int_equal(soft->store.places.data[slots[k]], copy.places.data[slots[k]]);
    }
    checkStore(&copy);
    tpDestroyPackStore(&copy);
    destroySoftHeap(soft);
    destroyHeap(heap);
}

// Packs of a large run that has gone serve several small ones, which take no more than they need.
static void packsAreShared(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    static const int32_t blocks[4] = { 0, 0, 0, -1 };
    tpPackStore store;
    tpCreatePackStore(&store, &allocator);
    assert_true(tpPackStore_Start(&store, blocks, 4, 1));
    int32_t slot = tpPackStore_Add(&store, 0, 1, 16, false);
    int lane;
    const tpSoftRun* run = tpPackStore_Find(&store, slot, &lane);
    tpPackStore_Remove(&store, slot);
    tpPackStore_Tidy(&store);
    assert_int_equal(store.packCount, 16);
    // Three manifolds of the same bodies have a colour and a run each.
    int firsts[3];
    for (int k = 0; k < 3; ++k) {
        slot = tpPackStore_Add(&store, 0, 1, 3 + 2 * k, false);
        run = tpPackStore_Find(&store, slot, &lane);
        assert_int_equal(run->capacity, 4 + 2 * k);
        firsts[k] = run->first;
    }
    assert_int_equal(store.packCount, 24);
    assert_true(firsts[0] == 0 && firsts[1] == 4 && firsts[2] == 16);
    // Two packs are left of the second one's, four behind them.
    for (int k = 0; k < 2; ++k) {
        slot = tpPackStore_Add(&store, 0, 1, 4 - 2 * k, false);
        firsts[k] = tpPackStore_Find(&store, slot, &lane)->first;
    }
    assert_true(firsts[0] == 12 && firsts[1] == 10);
    assert_int_equal(store.packCount, 24);
    checkStore(&store);
    tpDestroyPackStore(&store);
}

// A manifold keeps its lane while its points fit and are not far fewer than the run is for; a new
// one takes an empty lane of a run that is a little too large before it begins another.
static void lanesSuitSeveralCounts(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    static const int32_t blocks[9] = { 0, 0, 0, 0, 0, 0, 0, 0, -1 };
    tpPackStore store;
    tpCreatePackStore(&store, &allocator);
    assert_true(tpPackStore_Start(&store, blocks, 9, 1));
    int lane;
    int32_t slot = tpPackStore_Add(&store, 0, 1, 7, false), large = slot;
    const tpSoftRun* run = tpPackStore_Find(&store, slot, &lane);
    assert_int_equal(run->capacity, 8);
    assert_true(tpSoftRun_Suits(run, 8, false) && tpSoftRun_Suits(run, 3, false));
    assert_false(tpSoftRun_Suits(run, 2, false) || tpSoftRun_Suits(run, 9, false));
    assert_false(tpSoftRun_Suits(run, 8, true));
    // Other bodies: too few points for that run, then enough, then enough in a smaller one.
    slot = tpPackStore_Add(&store, 2, 3, 2, false);
    assert_int_equal(tpPackStore_Find(&store, slot, &lane)->capacity, 2);
    slot = tpPackStore_Add(&store, 4, 5, 3, false);
    assert_ptr_equal(tpPackStore_Find(&store, slot, &lane), tpPackStore_Find(&store, large, &lane));
    slot = tpPackStore_Add(&store, 6, 7, 1, false);
    assert_int_equal(tpPackStore_Find(&store, slot, &lane)->capacity, 2);
    assert_int_equal(store.runs.count, 2);
    checkStore(&store);
    tpDestroyPackStore(&store);
}

// A manifold that moves has its colour and slot free at once, but what its old lane holds stays,
// and nobody gets that lane, until it is vacated.
static void lanesAreLeft(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    static const int32_t blocks[4] = { 0, 0, 0, -1 };
    tpPackStore store;
    tpCreatePackStore(&store, &allocator);
    assert_true(tpPackStore_Start(&store, blocks, 4, 1));
    int lane;
    int32_t slot = tpPackStore_Add(&store, 0, 1, 4, false);
    tpSoftRun* run = tpPackStore_Find(&store, slot, &lane);
    int colour = run->colour;
    run->packs[0].load[lane] = 3.0;
    int32_t left = tpPackStore_Leave(&store, slot);
    assert_int_equal(store.slotCount, 0);
    // The same bodies again: the same slot and colour, another lane.
    assert_int_equal(tpPackStore_Add(&store, 0, 1, 4, false), slot);
    run = tpPackStore_Find(&store, slot, &lane);
    assert_int_equal(run->colour, colour);
    assert_int_not_equal(store.places.data[slot], left);
    run = &store.runs.data[left / tp_packWidth];
    assert_true(run->packs[0].load[left % tp_packWidth] == 3.0);
    assert_int_equal(run->bodyA[left % tp_packWidth], 0);
    tpSoftRun_ClearLane(run, left % tp_packWidth);
    tpPackStore_Vacate(&store, left);
    assert_true(run->packs[0].load[left % tp_packWidth] == 0.0);
    assert_int_equal(run->bodyA[left % tp_packWidth], store.nobody);
    checkStore(&store);
    tpDestroyPackStore(&store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanesAreLeft),      cmocka_unit_test(lanesAreUsedAgain),
        cmocka_unit_test(tidyingFillsLanes), cmocka_unit_test(restoredStoresGoOn),
        cmocka_unit_test(packsAreShared),    cmocka_unit_test(lanesSuitSeveralCounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
