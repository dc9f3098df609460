// The pool: workers wait for a loop with a new number, take chunks until none is left, and say that
// they are through. The calling thread takes chunks too, and waits in the end for those who came:
// who is not there when the last chunk has been taken stays outside, so that a loop never waits for
// a thread to wake up. Loops follow each other closely, so that workers and caller look out for a
// moment before they go to sleep: waking costs more than many loops. Workers that have no part in a
// loop sleep on. Each thread wakes two others, so that all are awake after a few wakings in a row.
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
    atomic_bool isAsleep; // or about to be
    pthread_mutex_t mutex;
    pthread_cond_t wake;
} Worker;

// Nobody takes a mutex but to go to sleep, or to wake somebody who has. The number of a loop is
// published last: whoever has seen it sees all of the loop. Who sleeps has said so before the last
// look, and who wakes looks for sleepers after the change: one of the two sees the other.
struct tpTasks {
    tpAllocator allocator;
    int workerCount, startedCount;          // the caller included; threads that run
    int most;                               // workers that take part in a loop
    _Alignas(64) atomic_uint_fast64_t loop; // number of the current loop, and how many workers may
                                            // take part in it
    atomic_bool quit;
    tpTaskFunction function;
    void* context;
    // Number of the loop that may be entered, whether it is closed, and how many are inside beside
    // the caller.
    _Alignas(64) atomic_uint_fast64_t gate;
    Worker workers[]; // workerCount
};

enum { countBits = 10 };
_Static_assert(workerLimit < 1 << countBits, "a loop's number has room for a count");

static const uint64_t countMask = (1u << countBits) - 1, closedBit = 1u << countBits;

static int partakers(uint64_t loop) {
    return (int)(loop & countMask);
}

static uint64_t openGate(uint64_t loop) {
    return loop >> countBits << (countBits + 1);
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

// Waking ------------------------------------------------------------------------------------------

static void wakeUp(Worker* worker) {
    if (atomic_load(&worker->isAsleep)) {
        pthread_mutex_lock(&worker->mutex);
        pthread_cond_signal(&worker->wake);
        pthread_mutex_unlock(&worker->mutex);
    }
}

// The two that this worker wakes if they have a part in the loop.
static void wakeNext(tpTasks* tasks, int worker, int count) {
    for (int i = 2 * worker + 1; i <= 2 * worker + 2 && i < count; ++i) {
        wakeUp(&tasks->workers[i]);
    }
}

static bool isFor(const Worker* worker, uint64_t loop, uint64_t seen) {
    return loop != seen && worker->index < partakers(loop);
}

// The number of the next loop after `seen` that the worker has a part in; the same one if all is
// over.
static uint64_t waitForLoop(Worker* worker, uint64_t seen) {
    tpTasks* tasks = worker->tasks;
    for (int turn = 0; turn < lookTurns + offerTurns; ++turn) {
        uint64_t loop = atomic_load(&tasks->loop);
        if (isFor(worker, loop, seen)) {
            return loop;
        }
        if (turn < lookTurns) {
            tpPauseProcessor();
        } else {
            sched_yield();
        }
    }
    uint64_t loop;
    pthread_mutex_lock(&worker->mutex);
    atomic_store(&worker->isAsleep, true);
    while (!isFor(worker, loop = atomic_load(&tasks->loop), seen) && !atomic_load(&tasks->quit)) {
        pthread_cond_wait(&worker->wake, &worker->mutex);
    }
    atomic_store(&worker->isAsleep, false);
    pthread_mutex_unlock(&worker->mutex);
    return isFor(worker, loop, seen) ? loop : seen;
}

// Loops -------------------------------------------------------------------------------------------

static bool enter(tpTasks* tasks, uint64_t loop) {
    uint64_t gate = atomic_load(&tasks->gate);
    do {
        if ((gate & ~countMask) != openGate(loop)) {
            return false; // closed, or of another loop
        }
    } while (!atomic_compare_exchange_weak(&tasks->gate, &gate, gate + 1));
    return true;
}

static void leave(tpTasks* tasks) {
    uint64_t before = atomic_fetch_sub(&tasks->gate, 1);
    if ((before & closedBit) != 0 && (before & countMask) == 1) {
        wakeUp(&tasks->workers[0]);
    }
}

static void* work(void* argument) {
    Worker* worker = argument;
    tpTasks* tasks = worker->tasks;
    uint64_t seen = 0;
    for (;;) {
        uint64_t loop = waitForLoop(worker, seen);
        if (loop == seen) {
            return NULL;
        }
        seen = loop;
        wakeNext(tasks, worker->index, partakers(loop));
        if (enter(tasks, loop)) {
            takeChunks(tasks, worker->index, partakers(loop));
            leave(tasks);
        }
    }
}

// The caller: lets nobody in any more, and waits for those who are.
static void finishLoop(tpTasks* tasks) {
    Worker* caller = &tasks->workers[0];
    atomic_fetch_or(&tasks->gate, closedBit);
    for (int turn = 0; turn < lookTurns + offerTurns; ++turn) {
        if ((atomic_load(&tasks->gate) & countMask) == 0) {
            return;
        }
        if (turn < lookTurns) {
            tpPauseProcessor();
        } else {
            sched_yield();
        }
    }
    pthread_mutex_lock(&caller->mutex);
    atomic_store(&caller->isAsleep, true);
    while ((atomic_load(&tasks->gate) & countMask) != 0) {
        pthread_cond_wait(&caller->wake, &caller->mutex);
    }
    atomic_store(&caller->isAsleep, false);
    pthread_mutex_unlock(&caller->mutex);
}

// The pool ----------------------------------------------------------------------------------------

static bool openWorker(tpTasks* tasks, int index) {
    Worker* worker = &tasks->workers[index];
    atomic_init(&worker->next, 0);
    atomic_init(&worker->isAsleep, false);
    worker->tasks = tasks;
    worker->index = index;
    if (pthread_mutex_init(&worker->mutex, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&worker->wake, NULL) != 0) {
        pthread_mutex_destroy(&worker->mutex);
        return false;
    }
    return true;
}

static void closeWorkers(tpTasks* tasks, int count) {
    for (int i = 0; i < count; ++i) {
        pthread_cond_destroy(&tasks->workers[i].wake);
        pthread_mutex_destroy(&tasks->workers[i].mutex);
    }
    tpAllocator allocator = tasks->allocator;
    tpRelease(&allocator, tasks, sizeOf(tasks->workerCount));
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
    atomic_init(&tasks->loop, 0);
    atomic_init(&tasks->gate, closedBit);
    atomic_init(&tasks->quit, false);
    for (int i = 0; i < workerCount; ++i) {
        if (!openWorker(tasks, i)) {
            closeWorkers(tasks, i);
            return tp_unsupported;
        }
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
    atomic_store(&tasks->quit, true);
    for (int i = 1; i <= tasks->startedCount; ++i) {
        wakeUp(&tasks->workers[i]);
    }
    for (int i = 1; i <= tasks->startedCount; ++i) {
        pthread_join(tasks->workers[i].thread, NULL);
    }
    closeWorkers(tasks, tasks->workerCount);
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
    uint64_t number = (atomic_load(&tasks->loop) >> countBits) + 1;
    uint64_t loop = number << countBits | (unsigned)count;
    atomic_store(&tasks->gate, openGate(loop));
    atomic_store(&tasks->loop, loop);
    wakeNext(tasks, 0, count);
    takeChunks(tasks, 0, count);
    finishLoop(tasks);
}
