// Pairs from several threads, and sorting them by counting digits: linear, stable, and the same
// every time.

#include "collision/pair_gather.h"

#include <string.h>

// Fewer things to look at, or pairs to copy, than this are not worth waking threads for.
enum { fewThings = 512, fewPairs = 4096 };

void tpDestroyPairGather(tpPairGather* gather) {
    for (int i = 0; i < tp_pairChunkCount; ++i) {
        tpPairSink* sink = &gather->sinks[i];
        tpRelease(&gather->allocator, sink->data, (size_t)sink->capacity * sizeof(tpShapePair));
        *sink = (tpPairSink){ 0 };
    }
}

typedef struct Loop {
    tpPairGather* gather;
    tpPairFinder finder;
    const void* context;
    int count;
    tpPairArray* out;
    int places[tp_pairChunkCount]; // in `out`, of what each chunk found
    bool isShort[tp_pairChunkCount];
} Loop;

static void runChunk(void* context, int chunk, int worker) {
    (void)worker;
    Loop* loop = context;
    tpRange range = tpChunkRange(loop->count, chunk, tp_pairChunkCount);
    // Counted on the thread's own stack: lists of several threads lie on one cache line.
    tpPairSink sink = loop->gather->sinks[chunk];
    sink.count = 0;
    loop->finder(loop->context, range.begin, range.end, &sink);
    loop->gather->sinks[chunk].count = sink.count;
}

static void copyChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Loop* loop = context;
    const tpPairSink* sink = &loop->gather->sinks[chunk];
    if (sink->count > 0) {
        memcpy(loop->out->data + loop->places[chunk], sink->data,
               (size_t)sink->count * sizeof(tpShapePair));
    }
}

static bool growSink(tpPairGather* gather, int chunk, int wanted) {
    tpPairSink* sink = &gather->sinks[chunk];
    return tpArray_Renew(&gather->allocator, (void**)&sink->data, &sink->capacity, wanted,
                         sizeof(tpShapePair));
}

static void repeatChunk(void* context, int chunk, int worker) {
    Loop* loop = context;
    if (loop->isShort[chunk]) {
        runChunk(loop, chunk, worker);
    }
}

// Gives chunks the room they turned out to need, and runs them again.
static bool repeatShort(Loop* loop, tpTasks* tasks) {
    bool isAny = false;
    for (int i = 0; i < tp_pairChunkCount; ++i) {
        const tpPairSink* sink = &loop->gather->sinks[i];
        loop->isShort[i] = sink->count > sink->capacity;
        isAny = isAny || loop->isShort[i];
        if (loop->isShort[i] && !growSink(loop->gather, i, sink->count + sink->count / 2)) {
            return false;
        }
    }
    if (isAny) {
        tpTasks_Run(tasks, repeatChunk, loop, tp_pairChunkCount);
    }
    return true;
}

bool tpPairGather_Run(tpPairGather* gather, tpPairFinder finder, const void* context, int count,
                      int expected, tpTasks* tasks, tpPairArray* out) {
    Loop loop = { gather, finder, context, count, out, { 0 }, { false } };
    for (int i = 0; i < tp_pairChunkCount; ++i) {
        bool isNew = gather->sinks[i].capacity == 0;
        if (isNew && !growSink(gather, i, expected / tp_pairChunkCount)) {
            return false;
        }
    }
    tpTasks* helpers = count > fewThings ? tasks : NULL;
    tpTasks_Run(helpers, runChunk, &loop, tp_pairChunkCount);
    if (!repeatShort(&loop, helpers)) {
        return false;
    }
    int total = out->count;
    for (int i = 0; i < tp_pairChunkCount; ++i) {
        loop.places[i] = total;
        total += gather->sinks[i].count;
    }
    if (!(out->count > 0 ? TP_RESERVE(&gather->allocator, *out, total)
                         : TP_RENEW(&gather->allocator, *out, total))) {
        return false;
    }
    tpTasks_Run(total > fewPairs ? tasks : NULL, copyChunk, &loop, tp_pairChunkCount);
    out->count = total;
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

static void sortFew(tpShapePair* pairs, int count) {
    for (int i = 1; i < count; ++i) {
        tpShapePair pair = pairs[i];
        int j = i;
        for (; j > 0 && tpShapePair_IsBefore(pair, pairs[j - 1]); --j) {
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

bool tpSortPairs(const tpAllocator* allocator, tpPairArray* pairs, int shapeCount,
                 tpPairArray* scratch) {
    if (pairs->count <= insertionLimit) {
        sortFew(pairs->data, pairs->count);
        return true;
    }
    scratch->count = 0;
    if (!TP_RENEW(allocator, *scratch, pairs->count)) {
        return false;
    }
    tpShapePair *from = pairs->data, *to = scratch->data;
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

// Sorted lists ------------------------------------------------------------------------------------

int tpPairs_Find(const tpPairArray* pairs, tpShapePair pair) {
    int low = 0, high = pairs->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (tpShapePair_IsBefore(pairs->data[middle], pair)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
