// Pairs gathered and sorted by several threads are those that one thread gives.

#include "collision/pair_gather.h"

#include <string.h>

#include "support/check.h"

enum { thingCount = 30000, shapeCount = 7000 };

// Each thing has none to three pairs; the first things have more, so that lists turn out too short.
static void findSome(const void* context, int begin, int end, tpPairSink* sink) {
    (void)context;
    for (int i = begin; i < end; ++i) {
        tpRandom random = { (uint64_t)i };
        int count = (int)(randomBits(&random) % (i < 2000 ? 9 : 4));
        for (int k = 0; k < count; ++k) {
            int32_t a = (int32_t)(randomBits(&random) % shapeCount);
            int32_t b = (int32_t)(randomBits(&random) % shapeCount);
            tpPairSink_Add(sink, a, b);
        }
    }
}

static void gather(tpTasks* tasks, int expected, tpPairArray* out) {
    tpAllocator allocator = tpDefaultAllocator();
    tpPairGather gather = { .allocator = allocator };
    tpPairArray scratch = { 0 };
    assert_true(
        tpPairGather_Run(&gather, findSome, NULL, thingCount, expected, tasks, &allocator, out));
    assert_true(tpSortPairs(&allocator, out, shapeCount, &scratch, tasks));
    TP_FREE_ARRAY(&allocator, scratch);
    tpDestroyPairGather(&gather);
}

static void threadsGatherTheSame(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpTasks* tasks;
    assert_int_equal(tpCreateTasks(&allocator, 4, &tasks), tp_success);
    tpPairArray one = { 0 }, four = { 0 }, short4 = { 0 };
    gather(NULL, 0, &one);
    gather(tasks, 3 * thingCount, &four);
    gather(tasks, thingCount, &short4);
    assert_true(one.count > 40000);
    for (int i = 1; i < one.count; ++i) {
        assert_false(tpShapePair_IsBefore(one.data[i], one.data[i - 1]));
    }
    assert_int_equal(four.count, one.count);
    assert_int_equal(short4.count, one.count);
    assert_memory_equal(four.data, one.data, sizeof(tpShapePair) * (size_t)one.count);
    assert_memory_equal(short4.data, one.data, sizeof(tpShapePair) * (size_t)one.count);
    TP_FREE_ARRAY(&allocator, one);
    TP_FREE_ARRAY(&allocator, four);
    TP_FREE_ARRAY(&allocator, short4);
    tpDestroyTasks(tasks);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(threadsGatherTheSame) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
