// Threads that share a loop.
//
// A pool is made once for a world and sleeps between loops. A loop is a number of chunks; every
// chunk is run exactly once, by whichever thread comes first. The chunks must not depend on each
// other, and what they compute must not depend on which worker runs them or how many there are:
// then results are the same on any number of threads. One loop runs at a time; chunks start no
// loops.

#ifndef TIPPE_SRC_BASE_TASKS_H
#define TIPPE_SRC_BASE_TASKS_H

#include "tippe/base.h"

typedef struct tpTasks tpTasks;

// One chunk of a loop. `worker` is below tpTasks_GetWorkerCount, for scratch memory of its own.
typedef void (*tpTaskFunction)(void* context, int chunk, int worker);

// A pool with threadCount workers, the calling thread being one of them. tp_badInput for a count
// below 1; tp_unsupported if the system gives no more threads.
tpResult tpCreateTasks(const tpAllocator* allocator, int threadCount, tpTasks** out);
void tpDestroyTasks(tpTasks* tasks);

// 1 for NULL, which stands for the calling thread alone.
int tpTasks_GetWorkerCount(const tpTasks* tasks);

// How many of them take part in a loop: no more than there are processors, nor than the limit, if
// one has been set. More threads than the work is worth cost more than they do.
int tpTasks_GetActiveCount(const tpTasks* tasks);
void tpTasks_Limit(tpTasks* tasks, int most);

// Runs chunks 0 to chunkCount - 1 and returns when all are done.
void tpTasks_Run(tpTasks* tasks, tpTaskFunction function, void* context, int chunkCount);

// Processors that this process may run on.
int tpProcessorCount(void);

// Tells the processor that this thread looks at the same place again and again.
static inline void tpPauseProcessor(void) {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_ia32_pause();
#endif
}

// The half-open range of chunk `chunk` when `count` things are cut into `chunkCount` nearly equal
// parts.
typedef struct tpRange {
    int begin, end;
} tpRange;
static inline tpRange tpChunkRange(int count, int chunk, int chunkCount) {
    tpRange range;
    range.begin = (int)((int64_t)count * chunk / chunkCount);
    range.end = (int)((int64_t)count * (chunk + 1) / chunkCount);
    return range;
}

// Chunks of a fixed size, the last one shorter: their number, and the range of one.
static inline int tpChunksOf(int count, int size) {
    return (count + size - 1) / size;
}

static inline tpRange tpChunkAt(int count, int size, int chunk) {
    int end = (chunk + 1) * size;
    return (tpRange){ chunk * size, end < count ? end : count };
}

#endif
