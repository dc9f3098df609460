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
        assert_true(tpPackStore_Deal(&soft->store));
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
        assert_true(tpPackStore_Deal(&soft->store) && tpPackStore_Deal(&copy));
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

// A run has as many packs as its longest manifold has points, side by side in one piece; packs that
// are given back serve others.
static void packsAreShared(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    static const int32_t blocks[4] = { 0, 0, 0, -1 };
    tpPackStore store;
    tpCreatePackStore(&store, &allocator);
    assert_true(tpPackStore_Start(&store, blocks, 4, 1));
    int lane;
    // Manifolds of the same bodies have a colour and a run each.
    int32_t large = tpPackStore_Add(&store, 0, 1, 60, false);
    int32_t small = tpPackStore_Add(&store, 0, 1, 3, false);
    int32_t next = tpPackStore_Add(&store, 0, 1, 2, false);
    assert_int_equal(store.packCount, 65);
    assert_int_equal(store.pieces.count, 2);
    assert_int_equal(tpPackStore_Find(&store, small, &lane)->first, 60);
    // One pack is left of the first piece, which is not enough for two.
    assert_int_equal(tpPackStore_Find(&store, next, &lane)->first, 64);
    tpPackStore_Remove(&store, large);
    int32_t again = tpPackStore_Add(&store, 0, 1, 5, false);
    assert_int_equal(tpPackStore_Find(&store, again, &lane)->first, 0);
    // What lies in the second piece moves to the first, with its numbers.
    tpSoftRun* run = tpPackStore_Find(&store, next, &lane);
    run->packs[1].load[lane] = 7.0;
    run->points[lane] = 2;
    tpSoftRun_Summarise(run);
    tpPackStore_Tidy(&store);
    run = tpPackStore_Find(&store, next, &lane);
    assert_int_equal(run->first, 1);
    assert_true(run->packs[1].load[lane] == 7.0);
    assert_int_equal(store.pieces.count, 2);
    tpDestroyPackStore(&store);
}

// Packs here and there that are free together are enough: those between them move aside, with all
// that they have, before another piece is asked for.
static void gapsAreClosed(void** state) {
    (void)state;
    enum { runs = 16, points = 4 };
    tpAllocator allocator = tpDefaultAllocator();
    static const int32_t blocks[3] = { 0, 0, -1 };
    tpPackStore store;
    tpCreatePackStore(&store, &allocator);
    assert_true(tpPackStore_AllowTorsion(&store) && tpPackStore_Start(&store, blocks, 3, 1));
    int32_t slots[runs];
    int lane;
    for (int i = 0; i < runs; ++i) {
        slots[i] = tpPackStore_Add(&store, 0, 1, points, false);
        const tpSoftRun* run = tpPackStore_Find(&store, slots[i], &lane);
        for (int k = 0; k < points; ++k) {
            run->packs[k].load[lane] = 10.0 * i + k;
            run->torsions[k].total[lane] = -10.0 * i - k;
        }
    }
    assert_int_equal(store.pieces.count, 1);
    for (int i = 0; i < runs; i += 3) {
        tpPackStore_Remove(&store, slots[i]);
    }
    // Six stretches of four are free: a run of 20 and one of 4 fit, one of 1 does not.
    int32_t large = tpPackStore_Add(&store, 0, 1, 20, false);
    int32_t small = tpPackStore_Add(&store, 0, 1, 4, false);
    assert_int_equal(store.pieces.count, 1);
    assert_int_equal(store.packCount, 64);
    assert_int_equal(tpPackStore_Find(&store, large, &lane)->first, 40);
    assert_int_equal(tpPackStore_Find(&store, small, &lane)->first, 60);
    uint64_t seen = 0;
    for (int i = 0; i < runs; ++i) {
        const tpSoftRun* run = tpPackStore_Find(&store, slots[i], &lane);
        for (int k = 0; i % 3 != 0 && k < points; ++k) {
            assert_true(run->packs[k].load[lane] == 10.0 * i + k);
            assert_true(run->torsions[k].total[lane] == -10.0 * i - k);
            seen |= UINT64_C(1) << (run->first + k);
        }
    }
    assert_true(seen == (UINT64_C(1) << 40) - 1);
    assert_true(tpPackStore_Add(&store, 0, 1, 1, false) >= 0);
    assert_int_equal(store.pieces.count, 2);
    tpDestroyPackStore(&store);
}

// More points take packs behind those of the run, or others if these are taken; what is there
// stays.
static void roomGrows(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    static const int32_t blocks[5] = { 0, 0, 0, 0, -1 };
    tpPackStore store;
    tpCreatePackStore(&store, &allocator);
    assert_true(tpPackStore_Start(&store, blocks, 5, 1));
    int lane;
    int32_t slot = tpPackStore_Add(&store, 0, 1, 2, false);
    tpSoftRun* run = tpPackStore_Find(&store, slot, &lane);
    run->packs[1].load[lane] = 3.0;
    assert_true(tpPackStore_NeedRoom(&store, run, 4));
    assert_int_equal(run->first, 0);
    assert_int_equal(run->packs[3].isPoint[lane], -1);
    int32_t other = tpPackStore_Add(&store, 0, 2, 1, false);
    assert_int_equal(tpPackStore_Find(&store, other, &lane)->first, 4);
    run = tpPackStore_Find(&store, slot, &lane);
    assert_true(tpPackStore_NeedRoom(&store, run, 8));
    assert_int_equal(run->first, 5);
    assert_int_equal(run->room, 8);
    assert_true(run->packs[1].load[lane] == 3.0);
    assert_int_equal(store.packCount, 9);
    // A manifold of other bodies shares the run, and so its packs.
    int32_t third = tpPackStore_Add(&store, 2, 3, 6, false);
    assert_ptr_equal(tpPackStore_Find(&store, third, &lane), run);
    tpDestroyPackStore(&store);
}

static int countPacks(const tpPackStore* store) {
    int count = 0;
    for (int r = 0; r < store->runs.count; ++r) {
        count += store->runs.data[r].packs != NULL ? store->runs.data[r].count : 0;
    }
    return count;
}

// Dealt anew, manifolds of one colour need the fewest packs: the longest share a run, the next
// longest another. Each keeps its slot, its colour and all that it carries.
static void dealingSavesPacks(void** state) {
    (void)state;
    enum { pairs = 20 };
    tpAllocator allocator = tpDefaultAllocator();
    int32_t blocks[2 * pairs + 1], slots[pairs];
    for (int i = 0; i <= 2 * pairs; ++i) {
        blocks[i] = i < 2 * pairs ? 0 : -1;
    }
    tpPackStore store;
    tpCreatePackStore(&store, &allocator);
    assert_true(tpPackStore_Start(&store, blocks, 2 * pairs + 1, 1));
    for (int i = 0; i < pairs; ++i) {
        int points = 1 + 7 * i % 4, lane;
        slots[i] = tpPackStore_Add(&store, 2 * i, 2 * i + 1, points, false);
        tpSoftRun* run = tpPackStore_Find(&store, slots[i], &lane);
        run->points[lane] = (uint8_t)points;
        run->size[lane] = (float)i;
        run->elastic = (uint8_t)(run->elastic | (i % 2 == 0 ? 1u << lane : 0));
        for (int k = 0; k < points; ++k) {
            run->packs[k].isPoint[lane] = 1;
            run->packs[k].feature[lane] = (uint64_t)(100 * i + k);
            // In the first run, which is flat, the first point stands for all of its manifold.
            run->packs[k].normal[2][lane] = (float)(i >= tp_packWidth || k == 0 ? i : 0);
        }
        tpSoftRun_SetUneven(run, lane, i >= tp_packWidth && i % 3 == 0);
        tpSoftRun_Summarise(run);
    }
    assert_int_equal(countPacks(&store), 12);
    // Five each of 4, 3, 2 and 1 points: 4 + 3 + 1 packs.
    assert_true(tpPackStore_Deal(&store));
    tpPackStore_Tidy(&store);
    assert_int_equal(countPacks(&store), 8);
    assert_int_equal(store.packCount, 8);
    checkStore(&store);
    checkOrder(&store);
    for (int i = 0; i < pairs; ++i) {
        int points = 1 + 7 * i % 4, lane;
        const tpSoftRun* run = tpPackStore_Find(&store, slots[i], &lane);
        assert_int_equal(run->slots[lane], slots[i]);
        assert_int_equal(run->bodyA[lane], 2 * i);
        assert_int_equal(run->points[lane], points);
        assert_true(run->size[lane] == (float)i);
        assert_int_equal(run->elastic >> lane & 1, i % 2 == 0);
        assert_int_equal(run->uneven >> lane & 1, i >= tp_packWidth && i % 3 == 0);
        for (int k = 0; k < points; ++k) {
            assert_int_equal(run->packs[k].feature[lane], 100 * i + k);
            assert_true(run->packs[run->isFlat ? 0 : k].normal[2][lane] == (float)i);
        }
        for (int k = points; k < run->room; ++k) {
            assert_int_equal(run->packs[k].isPoint[lane], -1);
        }
    }
    tpDestroyPackStore(&store);
}

// A store that begins anew has the memory of the one before, a run at a time.
static void piecesAreHandedOver(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    static const int32_t blocks[3] = { 0, 0, -1 };
    tpPackStore old, new;
    tpCreatePackStore(&old, &allocator);
    tpCreatePackStore(&new, &allocator);
    assert_true(tpPackStore_Start(&old, blocks, 3, 1) && tpPackStore_Start(&new, blocks, 3, 1));
    int32_t slots[2] = { tpPackStore_Add(&old, 0, 1, 20, false),
                         tpPackStore_Add(&old, 0, 1, 20, false) };
    tpPackStore_TakePieces(&new, &old);
    assert_int_equal(new.packCount, 40);
    for (int k = 0; k < 2; ++k) {
        int lane;
        const tpSoftRun* run = tpPackStore_Find(&old, slots[k], &lane);
        assert_true(tpPackStore_Add(&new, 0, 1, 20, false) == k);
        tpPackStore_FreePacks(&new, run->first, run->room);
    }
    assert_int_equal(new.packCount, 40);
    assert_int_equal(new.pieces.count, 1);
    assert_int_equal(old.pieces.count, 0);
    tpDestroyPackStore(&old);
    tpDestroyPackStore(&new);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanesAreUsedAgain),  cmocka_unit_test(tidyingFillsLanes),
        cmocka_unit_test(restoredStoresGoOn), cmocka_unit_test(packsAreShared),
        cmocka_unit_test(gapsAreClosed),      cmocka_unit_test(roomGrows),
        cmocka_unit_test(dealingSavesPacks),  cmocka_unit_test(piecesAreHandedOver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
