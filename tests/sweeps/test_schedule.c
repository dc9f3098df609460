// Threads that wait for their neighbours only: whatever their number, every block sees its work in
// the same order.

#include "soft_heap.h"
#include "sweeps/schedule.h"

// What has been done to each block: order matters.
typedef struct Record {
    const tpSchedule* schedule;
    uint64_t blocks[heapBlocks];
    int pieces[heapBlocks];
    int phases;
} Record;

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t x = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

static void visit(void* context, int block) {
    Record* record = context;
    record->blocks[block] = mix(record->blocks[block], 1);
    record->pieces[block] += 1;
}

static void sweepGroup(void* context, int group, bool isBackward) {
    Record* record = context;
    const tpPackGroup* g = &record->schedule->store->groups.data[group];
    uint64_t mark = (uint64_t)(2 * group + (isBackward ? 1 : 0) + 5);
    // What one block has seen reaches the other.
    uint64_t both = mix(record->blocks[g->blockA], record->blocks[g->blockB]);
    record->blocks[g->blockA] = mix(both, mark);
    record->blocks[g->blockB] = mix(both, mark + 1);
    record->pieces[g->blockA] += 1;
    record->pieces[g->blockB] += g->blockA != g->blockB ? 1 : 0;
}

static void goThrough(void* context, const tpCrew* crew, int number) {
    Record* record = context;
    tpCrewMember member = tpSchedule_Join(record->schedule, number, tpCrew_Size(crew));
    for (int k = 0; k < record->phases; ++k) {
        tpCrewMember_VisitBlocks(&member, visit, record);
        tpCrewMember_Sweep(&member, sweepGroup, record, k % 2 == 1);
        tpCrewMember_Sweep(&member, sweepGroup, record, k % 3 == 1);
    }
}

static void threadsKeepTheOrder(void** state) {
    (void)state;
    Heap* heap = makeHeap(4, false);
    SoftHeap* soft = makeSoftHeap(heap, 4);
    Record first;
    for (int threads = 1; threads <= 4; ++threads) {
        tpTasks* tasks = NULL;
        assert_int_equal(tpCreateTasks(&heap->allocator, threads, &tasks), tp_success);
        for (int round = 0; round < 20; ++round) {
            tpArenaMark mark = tpArena_Mark(&heap->arena);
            tpSchedule schedule;
            assert_true(tpSchedule_Create(&schedule, &soft->store, &heap->arena));
            assert_true(schedule.borderCount > 0);
            Record record = { .schedule = &schedule, .phases = 50 };
            tpCrew_Run(tasks, heapBlocks, goThrough, &record);
            if (threads == 1 && round == 0) {
                first = record;
            }
            assert_memory_equal(record.blocks, first.blocks, sizeof(first.blocks));
            assert_memory_equal(record.pieces, first.pieces, sizeof(first.pieces));
            tpArena_Release(&heap->arena, mark);
        }
        tpDestroyTasks(tasks);
    }
    destroySoftHeap(soft);
    destroyHeap(heap);
}

// Each block belongs to one member.
static void sharesCoverAllBlocks(void** state) {
    (void)state;
    Heap* heap = makeHeap(4, false);
    SoftHeap* soft = makeSoftHeap(heap, 4);
    tpSchedule schedule;
    assert_true(tpSchedule_Create(&schedule, &soft->store, &heap->arena));
    for (int members = 1; members <= 7; ++members) {
        int next = 0;
        for (int m = 0; m < members; ++m) {
            tpCrewMember member = tpSchedule_Join(&schedule, m, members);
            assert_true(member.blocks.begin >= member.blocks.end || member.blocks.begin == next);
            next = member.blocks.end > next ? member.blocks.end : next;
        }
        assert_int_equal(next, heapBlocks);
    }
    destroySoftHeap(soft);
    destroyHeap(heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threadsKeepTheOrder),
        cmocka_unit_test(sharesCoverAllBlocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
