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
    TP_FREE_ARRAY(&gather->allocator, gather->sorted);
}

typedef struct Loop {
    tpPairGather* gather;
    tpPairFinder finder;
    const void* context;
    int count;
    tpPairArray* out;
    int places[tp_pairChunkCount]; // in `out`, of what each chunk found
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
    Loop loop = { gather, finder, context, count, out, { 0 } };
    tpTasks_Run(count > fewThings ? tasks : NULL, runChunk, &loop, tp_pairChunkCount);
    int total = out->count;
    for (int i = 0; i < tp_pairChunkCount; ++i) {
        const tpPairSink* sink = &gather->sinks[i];
        if (sink->count > sink->capacity && !runAgain(&loop, i)) {
            return false;
        }
        loop.places[i] = total;
        total += sink->count;
    }
    if (!TP_RESERVE(&gather->allocator, *out, total)) {
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

typedef struct Merge {
    const tpPairArray *a, *b;
    int partCount; // of a
    tpShapePair* out;
} Merge;

// A part of the first list with that part of the second which comes before its end.
static void mergeChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Merge* merge = context;
    const tpShapePair *a = merge->a->data, *b = merge->b->data;
    tpRange part = tpChunkRange(merge->a->count, chunk, merge->partCount);
    int i = part.begin, iEnd = part.end;
    int j = chunk == 0 ? 0 : tpPairs_Find(merge->b, a[i]);
    int jEnd = chunk == merge->partCount - 1 ? merge->b->count : tpPairs_Find(merge->b, a[iEnd]);
    tpShapePair* out = merge->out + i + j;
    while (i < iEnd && j < jEnd) {
        *out++ = tpShapePair_IsBefore(b[j], a[i]) ? b[j++] : a[i++];
    }
    while (i < iEnd) {
        *out++ = a[i++];
    }
    while (j < jEnd) {
        *out++ = b[j++];
    }
}

bool tpMergePairs(const tpAllocator* allocator, const tpPairArray* a, const tpPairArray* b,
                  tpTasks* tasks, tpPairArray* out) {
    int total = a->count + b->count;
    if (!TP_RESERVE(allocator, *out, total)) {
        return false;
    }
    // The longer list is cut into parts.
    bool swap = a->count < b->count;
    Merge merge = { swap ? b : a, swap ? a : b, total > fewPairs ? tp_pairChunkCount : 1,
                    out->data };
    if (total > 0) {
        tpTasks_Run(tasks, mergeChunk, &merge, merge.partCount);
    }
    out->count = total;
    return true;
}
