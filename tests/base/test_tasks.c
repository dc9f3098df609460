// Loops shared by threads: every chunk once, the same sums on any number of threads.

#include "base/tasks.h"

#include <stdatomic.h>
#include <time.h>

#include "support/check.h"
#include "support/failing_allocator.h"

enum { chunkCount = 100, itemCount = 12345 };

typedef struct Job {
    atomic_int runs[chunkCount];
    double sums[chunkCount];
    atomic_int badWorkers;
    int workerCount;
} Job;

static void sumChunk(void* context, int chunk, int worker) {
    Job* job = context;
    atomic_fetch_add(&job->runs[chunk], 1);
    if (worker < 0 || worker >= job->workerCount) {
        atomic_fetch_add(&job->badWorkers, 1);
    }
    tpRange range = tpChunkRange(itemCount, chunk, chunkCount);
    double sum = 0.0;
    for (int i = range.begin; i < range.end; ++i) {
        sum += 1.0 / (1.0 + i);
    }
    job->sums[chunk] = sum;
}

static double runJob(tpTasks* tasks) {
    Job job = { .workerCount = tpTasks_GetWorkerCount(tasks) };
    tpTasks_Run(tasks, sumChunk, &job, chunkCount);
    double sum = 0.0;
    for (int i = 0; i < chunkCount; ++i) {
        assert_int_equal(job.runs[i], 1);
        sum += job.sums[i];
    }
    assert_int_equal(job.badWorkers, 0);
    return sum;
}

static void everyChunkRunsOnce(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    double expected = runJob(NULL);
    for (int threads = 1; threads <= 8; ++threads) {
        tpTasks* tasks;
        assert_int_equal(tpCreateTasks(&allocator, threads, &tasks), tp_success);
        assert_int_equal(tpTasks_GetWorkerCount(tasks), threads);
        for (int loop = 0; loop < 200; ++loop) {
            assert_true(runJob(tasks) == expected); // to the last bit
        }
        tpDestroyTasks(tasks);
    }
}

// Loops of different sizes follow each other, some after a pause in which threads fall asleep:
// workers that had no part in one come back for the next.
static void workersComeAndGo(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpTasks* tasks;
    assert_int_equal(tpCreateTasks(&allocator, 6, &tasks), tp_success);
    double expected = runJob(NULL);
    for (int loop = 0; loop < 300; ++loop) {
        tpTasks_Limit(tasks, 1 + loop % 6);
        assert_true(tpTasks_GetActiveCount(tasks) <= 1 + loop % 6);
        assert_true(runJob(tasks) == expected);
        if (loop % 50 == 0) {
            nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL);
        }
    }
    tpDestroyTasks(tasks);
}

static void rangesCoverEverything(void** state) {
    (void)state;
    for (int count = 0; count < 50; ++count) {
        int next = 0;
        for (int chunk = 0; chunk < 7; ++chunk) {
            tpRange range = tpChunkRange(count, chunk, 7);
            assert_int_equal(range.begin, next);
            assert_true(range.end >= range.begin && range.end - range.begin <= count / 7 + 1);
            next = range.end;
        }
        assert_int_equal(next, count);
    }
    tpRange last = tpChunkRange(2000000000, 63, 64);
    assert_int_equal(last.end, 2000000000);
}

static void nothingLeaks(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    tpTasks* tasks;
    assert_int_equal(tpCreateTasks(&allocator, 0, &tasks), tp_badInput);
    heap.failAt = 1;
    assert_int_equal(tpCreateTasks(&allocator, 2, &tasks), tp_outOfMemory);
    heap.failAt = 0;
    assert_int_equal(tpCreateTasks(&allocator, 3, &tasks), tp_success);
    tpDestroyTasks(tasks);
    tpDestroyTasks(NULL);
    assert_int_equal(heap.outstanding, 0);
    assert_int_equal(heap.bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everyChunkRunsOnce),
        cmocka_unit_test(workersComeAndGo),
        cmocka_unit_test(rangesCoverEverything),
        cmocka_unit_test(nothingLeaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
