// Pairs from several threads, and sorting them by counting digits: linear, stable, and the same
// every time.

#include "collision/pair_gather.h"

#include <string.h>

// Fewer things to look at, or pairs to copy, than this are not worth waking threads for; more pairs
// than the last are sorted by several.
enum { fewThings = 128, fewPairs = 4096, manyPairs = 16384 };

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
    int chunkCount; // one if there are few things: nobody shares them
    tpPairArray* out;
    int places[tp_pairChunkCount]; // in `out`, of what each chunk found
    bool isShort[tp_pairChunkCount];
} Loop;

static void runChunk(void* context, int chunk, int worker) {
    (void)worker;
    Loop* loop = context;
    tpRange range = tpChunkRange(loop->count, chunk, loop->chunkCount);
    // Counted on the thread's own stack: lists of several threads lie on one cache line.
    tpPairSink sink = loop->gather->sinks[chunk];
    sink.count = 0;
    sink.limit = loop->gather->limit > 0 ? loop->gather->limit : INT32_MAX;
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
    for (int i = 0; i < loop->chunkCount; ++i) {
        const tpPairSink* sink = &loop->gather->sinks[i];
        loop->isShort[i] = sink->count > sink->capacity;
        isAny = isAny || loop->isShort[i];
        if (loop->isShort[i] && !growSink(loop->gather, i, sink->count + sink->count / 2)) {
            return false;
        }
    }
    if (isAny) {
        tpTasks_Run(tasks, repeatChunk, loop, loop->chunkCount);
    }
    return true;
}

// Whether there are more pairs than are gathered.
static bool isOver(const Loop* loop) {
    int64_t total = loop->out->count;
    for (int i = 0; i < loop->chunkCount; ++i) {
        total += loop->gather->sinks[i].count;
    }
    return total > (loop->gather->limit > 0 ? loop->gather->limit : INT32_MAX);
}

bool tpPairGather_Run(tpPairGather* gather, tpPairFinder finder, const void* context, int count,
                      int expected, tpTasks* tasks, const tpAllocator* allocator,
                      tpPairArray* out) {
    Loop loop = { .gather = gather,
                  .finder = finder,
                  .context = context,
                  .count = count,
                  .chunkCount = count > fewThings ? tp_pairChunkCount : 1,
                  .out = out };
    for (int i = 0; i < loop.chunkCount; ++i) {
        bool isNew = gather->sinks[i].capacity == 0;
        if (isNew && !growSink(gather, i, expected / loop.chunkCount)) {
            return false;
        }
    }
    tpTasks* helpers = count > fewThings ? tasks : NULL;
    tpTasks_Run(helpers, runChunk, &loop, loop.chunkCount);
    gather->isOver = isOver(&loop);
    if (gather->isOver || !repeatShort(&loop, helpers)) {
        return false;
    }
    int total = out->count;
    for (int i = 0; i < loop.chunkCount; ++i) {
        loop.places[i] = total;
        total += gather->sinks[i].count;
    }
    if (!(out->count > 0 ? TP_RESERVE(allocator, *out, total) : TP_RENEW(allocator, *out, total))) {
        return false;
    }
    tpTasks_Run(total > fewPairs ? tasks : NULL, copyChunk, &loop, loop.chunkCount);
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

// `scratch` has room for as many.
static void sortMany(tpShapePair* pairs, int count, int shapeCount, tpShapePair* scratch) {
    if (count <= insertionLimit) {
        sortFew(pairs, count);
        return;
    }
    tpShapePair *from = pairs, *to = scratch;
    for (int second = 1; second >= 0; --second) {
        for (int shift = 0; shift < 31 && (shapeCount - 1) >> shift > 0; shift += digitBits) {
            passDigit(from, to, count, second == 1, shift);
            tpShapePair* swap = from;
            from = to;
            to = swap;
        }
    }
    // As many passes for one number as for the other: the result is back where it started.
    TP_ASSERT(from == pairs);
}

// Pairs that threads sort together: first into buckets by their lower number, then each bucket.
typedef struct Buckets {
    tpShapePair *pairs, *scratch;
    int count, shapeCount;
    int places[tp_pairChunkCount][tp_pairChunkCount]; // of each chunk and bucket: pairs, then a
                                                      // place
    int ends[tp_pairChunkCount];                      // of buckets
} Buckets;

static int bucketOf(const Buckets* buckets, tpShapePair pair) {
    return (int)((int64_t)pair.shapeA * tp_pairChunkCount / buckets->shapeCount);
}

static void countBuckets(void* context, int chunk, int worker) {
    (void)worker;
    Buckets* buckets = context;
    tpRange range = tpChunkRange(buckets->count, chunk, tp_pairChunkCount);
    int counts[tp_pairChunkCount] = { 0 };
    for (int i = range.begin; i < range.end; ++i) {
        ++counts[bucketOf(buckets, buckets->pairs[i])];
    }
    memcpy(buckets->places[chunk], counts, sizeof(counts));
}

static void fillBuckets(void* context, int chunk, int worker) {
    (void)worker;
    const Buckets* buckets = context;
    tpRange range = tpChunkRange(buckets->count, chunk, tp_pairChunkCount);
    int places[tp_pairChunkCount];
    memcpy(places, buckets->places[chunk], sizeof(places));
    for (int i = range.begin; i < range.end; ++i) {
        buckets->scratch[places[bucketOf(buckets, buckets->pairs[i])]++] = buckets->pairs[i];
    }
}

static void sortBucket(void* context, int bucket, int worker) {
    (void)worker;
    const Buckets* buckets = context;
    int begin = bucket > 0 ? buckets->ends[bucket - 1] : 0, count = buckets->ends[bucket] - begin;
    sortMany(buckets->scratch + begin, count, buckets->shapeCount, buckets->pairs + begin);
    memcpy(buckets->pairs + begin, buckets->scratch + begin, sizeof(tpShapePair) * (size_t)count);
}

static void sortTogether(Buckets* buckets, tpTasks* tasks) {
    tpTasks_Run(tasks, countBuckets, buckets, tp_pairChunkCount);
    int sum = 0;
    for (int b = 0; b < tp_pairChunkCount; ++b) {
        for (int c = 0; c < tp_pairChunkCount; ++c) {
            int count = buckets->places[c][b];
            buckets->places[c][b] = sum;
            sum += count;
        }
        buckets->ends[b] = sum;
    }
    tpTasks_Run(tasks, fillBuckets, buckets, tp_pairChunkCount);
    tpTasks_Run(tasks, sortBucket, buckets, tp_pairChunkCount);
}

bool tpSortPairs(const tpAllocator* allocator, tpPairArray* pairs, int shapeCount,
                 tpPairArray* scratch, tpTasks* tasks) {
    scratch->count = 0;
    if (pairs->count > insertionLimit && !TP_RENEW(allocator, *scratch, pairs->count)) {
        return false;
    }
    if (pairs->count > manyPairs && tpTasks_GetActiveCount(tasks) > 1) {
        Buckets buckets = { .pairs = pairs->data,
                            .scratch = scratch->data,
                            .count = pairs->count,
                            .shapeCount = shapeCount };
        sortTogether(&buckets, tasks);
    } else {
        sortMany(pairs->data, pairs->count, shapeCount, scratch->data);
    }
    return true;
}

// Lists -------------------------------------------------------------------------------------------

typedef struct Copy {
    const tpPairArray* from;
    tpPairArray* to;
} Copy;

static void copyPart(void* context, int chunk, int worker) {
    (void)worker;
    const Copy* copy = context;
    tpRange range = tpChunkRange(copy->from->count, chunk, tp_pairChunkCount);
    if (range.end > range.begin) {
        memcpy(copy->to->data + range.begin, copy->from->data + range.begin,
               (size_t)(range.end - range.begin) * sizeof(tpShapePair));
    }
}

void tpPairs_Copy(const tpPairArray* from, tpPairArray* to, tpTasks* tasks) {
    Copy copy = { from, to };
    tpTasks_Run(from->count > manyPairs ? tasks : NULL, copyPart, &copy, tp_pairChunkCount);
    to->count = from->count;
}

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
