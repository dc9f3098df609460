// Threads that wait for their neighbours only, and teams that meet after each colour: whatever
// their number, every body sees its work in the same order.

#include <pthread.h>

#include "soft_heap.h"
#include "sweeps/schedule.h"

enum { mostMembers = 16 };

// What has been done to each body: order matters.
typedef struct Record {
    const tpSchedule* schedule;
    uint64_t marks[bodies + 1];
    int visits[heapBlocks], meetings;
} Record;

typedef struct Member {
    Record* record;
    int number;
    pthread_t thread;
} Member;

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t x = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

static void visit(void* context, int block) {
    Record* record = context;
    record->visits[block] += 1;
    for (int i = 0; i < bodies; ++i) {
        if (blockOfBody(i) == block) {
            record->marks[i] = mix(record->marks[i], 1);
        }
    }
}

// What one body has seen reaches the other.
static void sweepRun(void* context, tpSoftRun* run, bool isBackward) {
    Record* record = context;
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        if ((run->used >> lane & 1) == 0) {
            continue;
        }
        int a = run->bodyA[lane], b = run->bodyB[lane];
        uint64_t mark = (uint64_t)(2 * run->slots[lane] + (isBackward ? 1 : 0) + 5);
        uint64_t both = mix(blockOfBody(a) >= 0 ? record->marks[a] : 2,
                            blockOfBody(b) >= 0 ? record->marks[b] : 3);
        if (blockOfBody(a) >= 0) {
            record->marks[a] = mix(both, mark);
        }
        if (blockOfBody(b) >= 0) {
            record->marks[b] = mix(both, mark + 1);
        }
    }
}

// Nobody is at work on any block meanwhile.
static void meet(void* context) {
    Record* record = context;
    record->meetings += 1;
    for (int i = 0; i < bodies; ++i) {
        record->marks[i] = mix(record->marks[i], (uint64_t)record->meetings);
    }
}

enum { rounds = 6, perRound = 4 };

static void* goThrough(void* context) {
    const Member* self = context;
    tpPhase phases[rounds * perRound];
    for (int k = 0; k < rounds; ++k) {
        tpPhase* round = &phases[perRound * k];
        round[0] = (tpPhase){ .kind = tp_visitPhase, .visit = visit };
        round[1] = (tpPhase){ .kind = tp_sweepPhase, .sweep = sweepRun, .isBackward = k % 2 == 1 };
        round[2] = (tpPhase){ .kind = tp_meetPhase, .meet = meet };
        round[3] = (tpPhase){ .kind = tp_sweepPhase, .sweep = sweepRun, .isBackward = k % 3 == 1 };
    }
    tpSchedule_Work(self->record->schedule, self->number, phases, rounds * perRound, self->record);
    return NULL;
}

static void runMembers(Record* record) {
    Member members[mostMembers];
    int count = record->schedule->memberCount;
    for (int m = 0; m < count; ++m) {
        members[m] = (Member){ .record = record, .number = m };
        assert_int_equal(pthread_create(&members[m].thread, NULL, goThrough, &members[m]), 0);
    }
    for (int m = 0; m < count; ++m) {
        assert_int_equal(pthread_join(members[m].thread, NULL), 0);
    }
}

static void threadsKeepTheOrder(void** state) {
    (void)state;
    static const int threadCounts[] = { 1, 2, 3, 4, 5, 9 };
    Heap* heap = makeHeap(4, false);
    SoftHeap* soft = makeSoftHeap(heap, 4);
    Record first;
    for (int t = 0; t < 6; ++t) {
        for (int round = 0; round < 4; ++round) {
            tpArenaMark mark = tpArena_Mark(&heap->arena);
            tpSchedule schedule;
            assert_true(tpSchedule_Create(&schedule, &soft->store, threadCounts[t], &heap->arena));
            assert_true(schedule.borderCount > 0);
            Record record = { .schedule = &schedule };
            runMembers(&record);
            assert_int_equal(record.meetings, rounds);
            if (t == 0 && round == 0) {
                first = record;
            }
            assert_memory_equal(record.marks, first.marks, sizeof(first.marks));
            assert_memory_equal(record.visits, first.visits, sizeof(first.visits));
            tpArena_Release(&heap->arena, mark);
        }
    }
    destroySoftHeap(soft);
    destroyHeap(heap);
}

// Each block belongs to one member, or to a team that has no other.
static void sharesCoverAllBlocks(void** state) {
    (void)state;
    Heap* heap = makeHeap(4, false);
    SoftHeap* soft = makeSoftHeap(heap, 4);
    int most = 0;
    for (int threads = 1; threads <= mostMembers; ++threads) {
        tpSchedule schedule;
        assert_true(tpSchedule_Create(&schedule, &soft->store, threads, &heap->arena));
        assert_true(schedule.memberCount <= threads);
        assert_true(threads > heapBlocks || schedule.memberCount == threads);
        int next = 0, rank = 0;
        for (int m = 0; m < schedule.memberCount; ++m) {
            tpCrewMember member = tpSchedule_Join(&schedule, m);
            assert_int_equal(member.rank, rank);
            rank = rank + 1 < member.teamSize ? rank + 1 : 0;
            if (member.rank == 0) {
                assert_true(member.blocks.begin >= member.blocks.end ||
                            member.blocks.begin == next);
            } else {
                assert_int_equal(member.blocks.begin, next - 1);
                assert_int_equal(member.blocks.end, next);
            }
            next = member.blocks.end > next ? member.blocks.end : next;
        }
        assert_int_equal(next, heapBlocks);
        assert_int_equal(rank, 0);
        most = schedule.memberCount > most ? schedule.memberCount : most;
    }
    assert_true(most > heapBlocks + 1); // teams there are
    destroySoftHeap(soft);
    destroyHeap(heap);
}

// Stretches of a group follow each other to its end; a shared one has runs of one colour only.
static void stretchesCoverAllRuns(void** state) {
    (void)state;
    Heap* heap = makeHeap(4, false);
    SoftHeap* soft = makeSoftHeap(heap, 4);
    const tpPackStore* store = &soft->store;
    tpSchedule schedule;
    assert_true(tpSchedule_Create(&schedule, store, mostMembers, &heap->arena));
    int sharedCount = 0;
    for (int g = 0; g < store->groups.count; ++g) {
        int place = store->groupFirsts.data[g];
        for (int s = schedule.firstStretches[g]; s < schedule.firstStretches[g + 1]; ++s) {
            int colour = store->runs.data[store->order.data[place]].colour;
            assert_true(schedule.stretches[s].end > place);
            sharedCount += schedule.stretches[s].isShared ? 1 : 0;
            for (; place < schedule.stretches[s].end; ++place) {
                int own = store->runs.data[store->order.data[place]].colour;
                assert_true(!schedule.stretches[s].isShared ||
                            (own == colour && own < tp_maskColours));
            }
        }
        assert_int_equal(place, store->groupFirsts.data[g + 1]);
    }
    assert_true(sharedCount > 0);
    destroySoftHeap(soft);
    destroyHeap(heap);
}

static bool isFirst(const tpBorder* border) {
    return border->rankA == 0 && border->rankB == 0;
}

static bool touch(const tpBorder* a, const tpBorder* b) {
    return a->blockA == b->blockA || a->blockA == b->blockB || a->blockB == b->blockA ||
           a->blockB == b->blockB;
}

// Blocks that all touch each other, 0-1, 2-3 and 4-5 by few manifolds: in the order of their
// numbers these three would be first.
static void fillBorders(tpPackStore* store) {
    enum { blockCount = 6, inBlock = 160, bodyCount = blockCount * inBlock + 1 };
    int32_t blocks[bodyCount];
    for (int i = 0; i < bodyCount; ++i) {
        blocks[i] = i < bodyCount - 1 ? i / inBlock : -1;
    }
    assert_true(tpPackStore_Start(store, blocks, bodyCount, blockCount));
    for (int a = 0; a < blockCount; ++a) {
        for (int b = a + 1; b < blockCount; ++b) {
            int manifolds = a % 2 == 0 && b == a + 1 ? 8 : inBlock;
            for (int i = 0; i < manifolds; ++i) {
                int32_t slot = tpPackStore_Add(store, a * inBlock + i, b * inBlock + i, 1, false);
                int lane;
                tpSoftRun* run = tpPackStore_Find(store, slot, &lane);
                run->points[lane] = 1;
                tpSoftRun_Summarise(run);
            }
        }
    }
    assert_true(tpPackStore_Order(store));
}

// A border that is not the first of both its blocks waits for one of these that is about as heavy,
// to a factor of two, or heavier.
static void heavyBordersComeFirst(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpPackStore store;
    tpArena arena;
    tpCreatePackStore(&store, &allocator);
    fillBorders(&store);
    tpArena_Create(&arena, &allocator);
    tpSchedule schedule;
    assert_true(tpSchedule_Create(&schedule, &store, 2, &arena));
    assert_int_equal(schedule.borderCount, 15);
    int waiting = 0;
    for (int k = 0; k < schedule.borderCount; ++k) {
        const tpBorder* border = &schedule.borders[k];
        int heaviest = 0;
        for (int i = 0; !isFirst(border) && i < schedule.borderCount; ++i) {
            const tpBorder* other = &schedule.borders[i];
            int weight = schedule.groupWeights[other->group];
            heaviest =
                isFirst(other) && touch(border, other) && weight > heaviest ? weight : heaviest;
        }
        assert_true(isFirst(border) || 2 * (heaviest + 1) > schedule.groupWeights[border->group]);
        waiting += isFirst(border) ? 0 : 1;
    }
    assert_true(waiting > 0);
    tpArena_Destroy(&arena);
    tpDestroyPackStore(&store);
}

enum { apartBlocks = 3, apartVisits = 4 };

typedef struct VisitList {
    int count, blocks[apartBlocks * apartVisits];
} VisitList;

static void noteVisit(void* context, int block) {
    VisitList* list = context;
    list->blocks[list->count++] = block;
}

// One thread takes a block that touches no other through all phases before it goes to the next one.
static void blocksApartGoThroughAtOnce(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    const int32_t blocks[] = { 0, 0, 1, 1, 2, 2, -1 };
    tpPackStore store;
    tpArena arena;
    tpCreatePackStore(&store, &allocator);
    assert_true(tpPackStore_Start(&store, blocks, 7, apartBlocks));
    assert_true(tpPackStore_Order(&store));
    tpArena_Create(&arena, &allocator);
    tpSchedule schedule;
    assert_true(tpSchedule_Create(&schedule, &store, 1, &arena));
    tpPhase phases[apartVisits];
    for (int k = 0; k < apartVisits; ++k) {
        phases[k] = (tpPhase){ .kind = tp_visitPhase, .visit = noteVisit };
    }
    VisitList list = { 0 };
    tpSchedule_Work(&schedule, 0, phases, apartVisits, &list);
    assert_int_equal(list.count, apartBlocks * apartVisits);
    for (int i = 0; i < list.count; ++i) {
        assert_int_equal(list.blocks[i], i / apartVisits);
    }
    tpArena_Destroy(&arena);
    tpDestroyPackStore(&store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threadsKeepTheOrder),        cmocka_unit_test(sharesCoverAllBlocks),
        cmocka_unit_test(stretchesCoverAllRuns),      cmocka_unit_test(heavyBordersComeFirst),
        cmocka_unit_test(blocksApartGoThroughAtOnce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
