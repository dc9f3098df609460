// The pool: workers wait for a loop with a new number, take chunks until none is left, and say that
// they are through. The calling thread takes chunks too, and waits for the others in the end. Loops
// follow each other closely, so that both look out for a moment before they go to sleep: waking costs
// more than many loops.
//
// A worker begins with a share of neighbouring chunks, the same in every loop of so many chunks, and
// then helps with those of others. So what one loop has left in a processor's own caches is found
// there by the next, and threads rarely write to neighbouring places.

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

// Looks at what is waited for before going to sleep: some ten microseconds at first, then for a tenth
// of a millisecond with the processor offered to others. A processor that has gone to sleep takes
// longer than that to be awake and at full speed again.
enum { lookTurns = 10000, offerTurns = 300 };

// Begins on a cache line of its own, for the sake of `next`.
typedef struct Worker {
    _Alignas(64) atomic_int next; // chunk of its share; several threads take them
    int end;                      // of its share
    tpTasks* tasks;
    pthread_t thread; // of all but the first, which is the caller
    int index;
} Worker;

struct tpTasks {
    tpAllocator allocator;
    int workerCount, startedCount; // the caller included; threads that run
    pthread_mutex_t mutex;         // guards what follows, except what is atomic
    pthread_cond_t begin, end;
    atomic_uint_fast64_t loop; // number of the current loop; changed under the mutex
    bool quit;
    tpTaskFunction function;
    void* context;
    atomic_int busyCount; // workers that have not finished the loop
    Worker workers[];     // workerCount
};

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

static void takeChunks(tpTasks* tasks, int worker) {
    for (int k = 0; k < tasks->workerCount; ++k) {
        Worker* owner = &tasks->workers[(worker + k) % tasks->workerCount];
        for (;;) {
            int chunk = atomic_fetch_add_explicit(&owner->next, 1, memory_order_relaxed);
            if (chunk >= owner->end) {
                break;
            }
            tasks->function(tasks->context, chunk, worker);
        }
    }
}

// Waits for a while for a loop other than `seen`.
static void lookForLoop(tpTasks* tasks, uint64_t seen) {
    for (int turn = 0; turn < lookTurns && atomic_load(&tasks->loop) == seen; ++turn) {
    }
    for (int turn = 0; turn < offerTurns && atomic_load(&tasks->loop) == seen; ++turn) {
        sched_yield();
    }
}

// Waits for a while for the others to finish.
static void lookForEnd(tpTasks* tasks) {
    for (int turn = 0; turn < lookTurns && atomic_load(&tasks->busyCount) > 0; ++turn) {
    }
    for (int turn = 0; turn < offerTurns && atomic_load(&tasks->busyCount) > 0; ++turn) {
        sched_yield();
    }
}

static void* work(void* argument) {
    Worker* worker = argument;
    tpTasks* tasks = worker->tasks;
    uint64_t seen = 0;
    for (;;) {
        lookForLoop(tasks, seen);
        pthread_mutex_lock(&tasks->mutex);
        while (atomic_load(&tasks->loop) == seen && !tasks->quit) {
            pthread_cond_wait(&tasks->begin, &tasks->mutex);
        }
        if (tasks->quit) {
            break;
        }
        seen = atomic_load(&tasks->loop);
        pthread_mutex_unlock(&tasks->mutex);
        takeChunks(tasks, worker->index);
        if (atomic_fetch_sub(&tasks->busyCount, 1) == 1) {
            pthread_mutex_lock(&tasks->mutex);
            pthread_cond_signal(&tasks->end);
            pthread_mutex_unlock(&tasks->mutex);
        }
    }
    pthread_mutex_unlock(&tasks->mutex);
    return NULL;
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
    atomic_init(&tasks->busyCount, 0);
    atomic_init(&tasks->loop, 0);
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
    tasks->quit = true;
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

void tpTasks_Run(tpTasks* tasks, tpTaskFunction function, void* context, int chunkCount) {
    // Waking threads for a single chunk costs more than it saves.
    if (tasks == NULL || tasks->workerCount == 1 || chunkCount < 2) {
        for (int i = 0; i < chunkCount; ++i) {
            function(context, i, 0);
        }
        return;
    }
    pthread_mutex_lock(&tasks->mutex);
    tasks->function = function;
    tasks->context = context;
    for (int i = 0; i < tasks->workerCount; ++i) {
        tpRange share = tpChunkRange(chunkCount, i, tasks->workerCount);
        atomic_store_explicit(&tasks->workers[i].next, share.begin, memory_order_relaxed);
        tasks->workers[i].end = share.end;
    }
    atomic_store(&tasks->busyCount, tasks->workerCount - 1);
    atomic_fetch_add(&tasks->loop, 1);
    pthread_cond_broadcast(&tasks->begin);
    pthread_mutex_unlock(&tasks->mutex);
    takeChunks(tasks, 0);
    lookForEnd(tasks);
    pthread_mutex_lock(&tasks->mutex);
    while (atomic_load(&tasks->busyCount) > 0) {
        pthread_cond_wait(&tasks->end, &tasks->mutex);
    }
    pthread_mutex_unlock(&tasks->mutex);
}
