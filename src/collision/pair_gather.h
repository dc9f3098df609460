// Pairs gathered by several threads, and sorted lists of pairs.
//
// Each chunk of a loop writes to a list of its own; lists that turn out too short are made longer
// by the calling thread, and their chunks are run again. So threads never allocate, and the result
// does not depend on them.

#ifndef TIPPE_SRC_COLLISION_PAIR_GATHER_H
#define TIPPE_SRC_COLLISION_PAIR_GATHER_H

#include "base/memory.h"
#include "base/tasks.h"
#include "collision/broad_phase.h"

enum { tp_pairChunkCount = 32 };

// More pairs than this are not gathered: all of so many shapes could meet all, since they move by
// many times their size. To list them, let alone to look at them, would take without end.
static inline int tpPairLimit(int shapes) {
    enum { always = 2000000, perShape = 64 };
    return shapes < (INT32_MAX - always) / perShape ? always + perShape * shapes : INT32_MAX;
}

// The list of one chunk: counts what finds no room.
typedef struct tpPairSink {
    tpShapePair* data;
    int count, capacity;
    int limit; // finders end once there are more
} tpPairSink;

static inline bool tpPairSink_IsOver(const tpPairSink* sink) {
    return sink->count > sink->limit;
}

static inline void tpPairSink_Add(tpPairSink* sink, int32_t a, int32_t b) {
    if (sink->count < sink->capacity) {
        sink->data[sink->count].shapeA = a < b ? a : b;
        sink->data[sink->count].shapeB = a < b ? b : a;
    }
    ++sink->count;
}

typedef struct tpPairGather {
    tpPairSink sinks[tp_pairChunkCount];
    tpAllocator allocator; // of the lists of chunks
    int limit;             // tpPairLimit; 0: pairs of a list that is one already
    bool isOver;           // the last run has found more
} tpPairGather;

// Finds the pairs of the things numbered begin to end - 1.
typedef void (*tpPairFinder)(const void* context, int begin, int end, tpPairSink* sink);

void tpDestroyPairGather(tpPairGather* gather);

// Runs `finder` over `count` things and appends what it finds to `out`, unsorted, whose memory
// comes from `allocator`. About `expected` pairs are found, if that is known, else 0. False if
// memory ran out or if there are more than the limit.
bool tpPairGather_Run(tpPairGather* gather, tpPairFinder finder, const void* context, int count,
                      int expected, tpTasks* tasks, const tpAllocator* allocator, tpPairArray* out);

// Copies a list into an array that has room, by threads if it is long.
void tpPairs_Copy(const tpPairArray* from, tpPairArray* to, tpTasks* tasks);

// Shapes without end against all others: a finder over all proxies, whose context this is.
typedef struct tpUnboundedSearch {
    const tpProxies* proxies;
    const int32_t* unbounded; // ascending
    int unboundedCount;
} tpUnboundedSearch;
void tpFindUnbounded(const void* context, int begin, int end, tpPairSink* sink);

// Sorts by (shapeA, shapeB); all numbers are below `shapeCount`. `scratch` gets room for as many.
// False if memory ran out.
bool tpSortPairs(const tpAllocator* allocator, tpPairArray* pairs, int shapeCount,
                 tpPairArray* scratch, tpTasks* tasks);

// By shapeA, then by shapeB.
static inline bool tpShapePair_IsBefore(tpShapePair p, tpShapePair q) {
    return p.shapeA < q.shapeA || (p.shapeA == q.shapeA && p.shapeB < q.shapeB);
}

// The first of sorted pairs that does not come before another.
int tpPairs_Find(const tpPairArray* pairs, tpShapePair pair);

#endif
