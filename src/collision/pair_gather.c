// Pairs from several threads, and sorting them by counting digits: linear, stable, and the same
// every time.

#include "collision/pair_gather.h"

#include <string.h>

void tpDestroyPairGather(tpPairGather* gather) {
    for (int i = 0; i < tp_pairChunkCount; ++i) {
        tpPairSink* sink = &gather->sinks[i];
        tpRelease(&gather->allocator, sink->data, (size_t)sink->capacity * sizeof(tpShapePair));
        *sink = (tpPairSink){ 0 };
    }
    TP_FREE_ARRAY(&gather->allocator, gather->sorted);
}

typedef struct Loop {
    tpPairGather* gather;
    tpPairFinder finder;
    const void* context;
    int count;
} Loop;

static void runChunk(void* context, int chunk, int worker) {
    (void)worker;
    Loop* loop = context;
    tpRange range = tpChunkRange(loop->count, chunk, tp_pairChunkCount);
    tpPairSink* sink = &loop->gather->sinks[chunk];
    sink->count = 0;
    loop->finder(loop->context, range.begin, range.end, sink);
}

// Gives a chunk the room it turned out to need, and some more, and runs it again.
static bool runAgain(Loop* loop, int chunk) {
    tpPairSink* sink = &loop->gather->sinks[chunk];
    int wanted = sink->count + sink->count / 2;
    if (!tpArray_Reserve(&loop->gather->allocator, (void**)&sink->data, &sink->capacity, wanted,
                         sizeof(tpShapePair))) {
        return false;
    }
    runChunk(loop, chunk, 0);
    return true;
}

bool tpPairGather_Run(tpPairGather* gather, tpPairFinder finder, const void* context, int count,
                      tpTasks* tasks, tpPairArray* out) {
    Loop loop = { gather, finder, context, count };
    tpTasks_Run(tasks, runChunk, &loop, tp_pairChunkCount);
    int total = out->count;
    for (int i = 0; i < tp_pairChunkCount; ++i) {
        const tpPairSink* sink = &gather->sinks[i];
        if (sink->count > sink->capacity && !runAgain(&loop, i)) {
            return false;
        }
        total += sink->count;
    }
    if (!TP_RESERVE(&gather->allocator, *out, total)) {
        return false;
    }
    for (int i = 0; i < tp_pairChunkCount; ++i) {
        const tpPairSink* sink = &gather->sinks[i];
        if (sink->count > 0) {
            memcpy(out->data + out->count, sink->data, (size_t)sink->count * sizeof(tpShapePair));
            out->count += sink->count;
        }
    }
    return true;
}

void tpFindUnbounded(const void* context, int begin, int end, tpPairSink* sink) {
    const tpUnboundedSearch* search = context;
    for (int i = begin; i < end; ++i) {
        for (int k = 0; k < search->unboundedCount; ++k) {
            int32_t u = search->unbounded[k];
            // Of two without end, the lower number reports.
            bool mine = i != u && (u < i || tpProxies_IsBounded(search->proxies, i));
            if (mine && tpProxies_ArePair(search->proxies, u, i)) {
                tpPairSink_Add(sink, u, i);
            }
        }
    }
}

// Sorting -------------------------------------------------------------------------------------

enum { digitBits = 11, digitCount = 1 << digitBits, insertionLimit = 48 };

static bool isBefore(tpShapePair p, tpShapePair q) {
    return p.shapeA < q.shapeA || (p.shapeA == q.shapeA && p.shapeB < q.shapeB);
}

static void sortFew(tpShapePair* pairs, int count) {
    for (int i = 1; i < count; ++i) {
        tpShapePair pair = pairs[i];
        int j = i;
        for (; j > 0 && isBefore(pair, pairs[j - 1]); --j) {
            pairs[j] = pairs[j - 1];
        }
        pairs[j] = pair;
    }
}

static int digitOf(tpShapePair pair, bool second, int shift) {
    return ((second ? pair.shapeB : pair.shapeA) >> shift) & (digitCount - 1);
}

// One stable pass of a radix sort, by one digit of one number.
static void passDigit(const tpShapePair* from, tpShapePair* to, int count, bool second, int shift) {
    int starts[digitCount] = { 0 };
    for (int i = 0; i < count; ++i) {
        ++starts[digitOf(from[i], second, shift)];
    }
    int sum = 0;
    for (int d = 0; d < digitCount; ++d) {
        int size = starts[d];
        starts[d] = sum;
        sum += size;
    }
    for (int i = 0; i < count; ++i) {
        to[starts[digitOf(from[i], second, shift)]++] = from[i];
    }
}

bool tpPairGather_Sort(tpPairGather* gather, tpPairArray* pairs, int shapeCount) {
    if (pairs->count <= insertionLimit) {
        sortFew(pairs->data, pairs->count);
        return true;
    }
    if (!TP_RESERVE(&gather->allocator, gather->sorted, pairs->count)) {
        return false;
    }
    tpShapePair *from = pairs->data, *to = gather->sorted.data;
    for (int second = 1; second >= 0; --second) {
        for (int shift = 0; shift < 31 && (shapeCount - 1) >> shift > 0; shift += digitBits) {
            passDigit(from, to, pairs->count, second == 1, shift);
            tpShapePair* swap = from;
            from = to;
            to = swap;
        }
    }
    // As many passes for one number as for the other: the result is back where it started.
    TP_ASSERT(from == pairs->data);
    return true;
}

bool tpMergePairs(const tpAllocator* allocator, const tpPairArray* a, const tpPairArray* b,
                  tpPairArray* out) {
    if (!TP_RESERVE(allocator, *out, a->count + b->count)) {
        return false;
    }
    int i = 0, j = 0, n = 0;
    while (i < a->count && j < b->count) {
        out->data[n++] = isBefore(b->data[j], a->data[i]) ? b->data[j++] : a->data[i++];
    }
    while (i < a->count) {
        out->data[n++] = a->data[i++];
    }
    while (j < b->count) {
        out->data[n++] = b->data[j++];
    }
    out->count = n;
    return true;
}
