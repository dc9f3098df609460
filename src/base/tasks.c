// The pool: workers wait for a loop with a new number, take chunks until none is left, and say that
// they are through. The calling thread takes chunks too, and waits for the others in the end. Loops
// follow each other closely, so that both look out for a moment before they go to sleep: waking
// costs more than many loops.
//
// A worker begins with a share of neighbouring chunks, the same in every loop of so many chunks,
// and then helps with those of others. So what one loop has left in a processor's own caches is
// found there by the next, and threads rarely write to neighbouring places.

#ifdef __linux__
#define _GNU_SOURCE // sched_getaffinity
#endif

#include "base/tasks.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#ifndef _WIN32
#include <unistd.h>
#endif

#include "base/memory.h"

enum { workerLimit = 256 };

// Looks at what is waited for before going to sleep: some tens of microseconds at first, then for a
// tenth of a millisecond with the processor offered to others. A processor that has gone to sleep
// takes longer than that to be awake and at full speed again.
enum { lookTurns = 1500, offerTurns = 300 };

// Begins on a cache line of its own, for the sake of `next`.
typedef struct Worker {
    _Alignas(64) atomic_int next; // chunk of its share; several threads take them
    int end;                      // of its share
    tpTasks* tasks;
    pthread_t thread; // of all but the first, which is the caller
    int index;
} Worker;

// Nobody takes the mutex but to go to sleep, or to wake somebody who has. The number of a loop is
// published last: whoever has seen it sees all of the loop. Who sleeps has said so before the last
// look, and who wakes looks for sleepers after the change: one of the two sees the other.
struct tpTasks {
    tpAllocator allocator;
    int workerCount, startedCount; // the caller included; threads that run
    int most;                      // workers that take part in a loop
    pthread_mutex_t mutex;
    pthread_cond_t begin, end;
    _Alignas(64) atomic_uint_fast64_t loop; // number of the current loop, and how many workers take
                                            // part in it
    atomic_int sleeperCount;                // workers that sleep, or are about to
    atomic_bool quit, isCallerAsleep;
    tpTaskFunction function;
    void* context;
    _Alignas(64) atomic_int busyCount; // workers that have not finished the loop
    Worker workers[];                  // workerCount
};

enum { countBits = 10 };
_Static_assert(workerLimit < 1 << countBits, "a loop's number has room for a count");

static int partakers(uint64_t loop) {
    return (int)(loop & ((1u << countBits) - 1));
}

int tpProcessorCount(void) {
    long count = workerLimit; // if nobody knows
#ifdef _SC_NPROCESSORS_ONLN
    count = sysconf(_SC_NPROCESSORS_ONLN);
#endif
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        count = CPU_COUNT(&set);
    }
#endif
    return count > 1 ? (int)count : 1;
}

static size_t sizeOf(int workerCount) {
    return sizeof(tpTasks) + (size_t)workerCount * sizeof(Worker);
}

static void takeChunks(tpTasks* tasks, int worker, int count) {
    for (int k = 0; k < count; ++k) {
        Worker* owner = &tasks->workers[(worker + k) % count];
        for (;;) {
            int chunk = atomic_fetch_add_explicit(&owner->next, 1, memory_order_relaxed);
            if (chunk >= owner->end) {
                break;
            }
            tasks->function(tasks->context, chunk, worker);
        }
    }
}

static void lookForLoop(tpTasks* tasks, uint64_t seen) {
    for (int turn = 0; turn < lookTurns && atomic_load(&tasks->loop) == seen; ++turn) {
        tpPauseProcessor();
    }
    for (int turn = 0; turn < offerTurns && atomic_load(&tasks->loop) == seen; ++turn) {
        sched_yield();
    }
}

static void lookForEnd(tpTasks* tasks) {
    for (int turn = 0; turn < lookTurns && atomic_load(&tasks->busyCount) > 0; ++turn) {
        tpPauseProcessor();
    }
    for (int turn = 0; turn < offerTurns && atomic_load(&tasks->busyCount) > 0; ++turn) {
        sched_yield();
    }
}

// The number of the next loop after `seen`; the same one if all is over.
static uint64_t waitForLoop(tpTasks* tasks, uint64_t seen) {
    lookForLoop(tasks, seen);
    uint64_t loop = atomic_load(&tasks->loop);
    if (loop != seen) {
        return loop;
    }
    pthread_mutex_lock(&tasks->mutex);
    atomic_fetch_add(&tasks->sleeperCount, 1);
    while ((loop = atomic_load(&tasks->loop)) == seen && !atomic_load(&tasks->quit)) {
        pthread_cond_wait(&tasks->begin, &tasks->mutex);
    }
    atomic_fetch_sub(&tasks->sleeperCount, 1);
    pthread_mutex_unlock(&tasks->mutex);
    return loop;
}

static void* work(void* argument) {
    Worker* worker = argument;
    tpTasks* tasks = worker->tasks;
    uint64_t seen = 0;
    for (;;) {
        uint64_t loop = waitForLoop(tasks, seen);
        if (loop == seen) {
            return NULL;
        }
        seen = loop;
        if (worker->index >= partakers(loop)) {
            continue;
        }
        takeChunks(tasks, worker->index, partakers(loop));
        if (atomic_fetch_sub(&tasks->busyCount, 1) == 1 && atomic_load(&tasks->isCallerAsleep)) {
            pthread_mutex_lock(&tasks->mutex);
            pthread_cond_signal(&tasks->end);
            pthread_mutex_unlock(&tasks->mutex);
        }
    }
}

tpResult tpCreateTasks(const tpAllocator* allocator, int threadCount, tpTasks** out) {
    *out = NULL;
    if (threadCount < 1) {
        return tp_badInput;
    }
    int workerCount = threadCount < workerLimit ? threadCount : workerLimit;
    tpTasks* tasks = tpAllocateZeroed(allocator, sizeOf(workerCount));
    if (tasks == NULL) {
        return tp_outOfMemory;
    }
    tasks->allocator = *allocator;
    tasks->workerCount = workerCount;
    tasks->most = tpProcessorCount();
    atomic_init(&tasks->busyCount, 0);
    atomic_init(&tasks->loop, 0);
    atomic_init(&tasks->sleeperCount, 0);
    atomic_init(&tasks->quit, false);
    atomic_init(&tasks->isCallerAsleep, false);
    if (pthread_mutex_init(&tasks->mutex, NULL) != 0 ||
        pthread_cond_init(&tasks->begin, NULL) != 0 || pthread_cond_init(&tasks->end, NULL) != 0) {
        tpRelease(allocator, tasks, sizeOf(workerCount));
        return tp_unsupported;
    }
    for (int i = 0; i < workerCount; ++i) {
        atomic_init(&tasks->workers[i].next, 0);
        tasks->workers[i].tasks = tasks;
        tasks->workers[i].index = i;
    }
    for (int i = 1; i < workerCount; ++i) {
        Worker* worker = &tasks->workers[i];
        if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
            tpDestroyTasks(tasks);
            return tp_unsupported;
        }
        ++tasks->startedCount;
    }
    *out = tasks;
    return tp_success;
}

void tpDestroyTasks(tpTasks* tasks) {
    if (tasks == NULL) {
        return;
    }
    pthread_mutex_lock(&tasks->mutex);
    atomic_store(&tasks->quit, true);
    pthread_cond_broadcast(&tasks->begin);
    pthread_mutex_unlock(&tasks->mutex);
    for (int i = 1; i <= tasks->startedCount; ++i) {
        pthread_join(tasks->workers[i].thread, NULL);
    }
    pthread_cond_destroy(&tasks->begin);
    pthread_cond_destroy(&tasks->end);
    pthread_mutex_destroy(&tasks->mutex);
    tpAllocator allocator = tasks->allocator;
    tpRelease(&allocator, tasks, sizeOf(tasks->workerCount));
}

int tpTasks_GetWorkerCount(const tpTasks* tasks) {
    return tasks != NULL ? tasks->workerCount : 1;
}

int tpTasks_GetActiveCount(const tpTasks* tasks) {
    int count = tpTasks_GetWorkerCount(tasks);
    return tasks != NULL && tasks->most < count ? tasks->most : count;
}

void tpTasks_Limit(tpTasks* tasks, int most) {
    if (tasks != NULL) {
        int processors = tpProcessorCount();
        most = most < processors ? most : processors;
        tasks->most = most > 1 ? most : 1;
    }
}

static void wakeSleepers(tpTasks* tasks) {
    if (atomic_load(&tasks->sleeperCount) > 0) {
        pthread_mutex_lock(&tasks->mutex);
        pthread_cond_broadcast(&tasks->begin);
        pthread_mutex_unlock(&tasks->mutex);
    }
}

void tpTasks_Run(tpTasks* tasks, tpTaskFunction function, void* context, int chunkCount) {
    int count = tpTasks_GetActiveCount(tasks);
    count = count < chunkCount ? count : chunkCount;
    // Waking threads for a single chunk costs more than it saves.
    if (count < 2) {
        for (int i = 0; i < chunkCount; ++i) {
            function(context, i, 0);
        }
        return;
    }
    tasks->function = function;
    tasks->context = context;
    for (int i = 0; i < count; ++i) {
        tpRange share = tpChunkRange(chunkCount, i, count);
        atomic_store_explicit(&tasks->workers[i].next, share.begin, memory_order_relaxed);
        tasks->workers[i].end = share.end;
    }
    atomic_store(&tasks->busyCount, count - 1);
    uint64_t number = (atomic_load(&tasks->loop) >> countBits) + 1;
    atomic_store(&tasks->loop, number << countBits | (unsigned)count);
    wakeSleepers(tasks);
    takeChunks(tasks, 0, count);
    lookForEnd(tasks);
    if (atomic_load(&tasks->busyCount) == 0) {
        return;
    }
    pthread_mutex_lock(&tasks->mutex);
    atomic_store(&tasks->isCallerAsleep, true);
    while (atomic_load(&tasks->busyCount) > 0) {
        pthread_cond_wait(&tasks->end, &tasks->mutex);
    }
    atomic_store(&tasks->isCallerAsleep, false);
    pthread_mutex_unlock(&tasks->mutex);
}
