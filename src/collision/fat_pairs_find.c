// Which pairs of fat boxes there are: those of boxes that have moved are looked up, and the list
// before is brought up to date with them.

#include "collision/box_rows.h"
#include "collision/fat_balls.h"
#include "collision/fat_pairs_parts.h"

// Longer lists of pairs are merged by threads.
enum { pairsPerChunk = 4096 };

// Pairs per shape that the first search expects: a little more than spheres have that lie close
// together.
enum { firstPairs = 16 };

// Looking up --------------------------------------------------------------------------------------

typedef struct FatSearch {
    const tpFatPairs* fat;
    const tpProxies* proxies;
    const tpBoxRows* rows;
} FatSearch;

static bool areBallsApart(const FatSearch* search, int32_t a, int32_t b, const tpBounds* fatA,
                          const tpBounds* fatB) {
    const tpProxies* p = search->proxies;
    return tpProxies_IsBall(p, a) && tpProxies_IsBall(p, b) &&
           tpFatBallsApart(fatA, fatB, (double)p->radii[a] + p->radii[b]);
}

// Adds a pair of overlapping fat boxes.
static void add(const FatSearch* search, int32_t a, int32_t b, tpPairSink* sink) {
    const tpFatPairs* fat = search->fat;
    if (fat->proxies.data[a].kind < tp_movableProxy &&
        fat->proxies.data[b].kind < tp_movableProxy) {
        return;
    }
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    if (!fat->filters || search->proxies->mayPair(search->proxies->context, low, high)) {
        tpPairSink_Add(sink, low, high);
    }
}

// If both have moved, the one with the lower number reports.
static void offer(const FatSearch* search, int32_t a, int32_t b, tpPairSink* sink) {
    if (a != b && (!search->fat->hasMoved.data[b] || a < b)) {
        add(search, a, b, sink);
    }
}

// Boxes in the tree that a box of the tree overlaps.
static void findInTree(const FatSearch* search, int32_t a, tpPairSink* sink) {
    const tpFatPairs* fat = search->fat;
    const tpFatProxy* proxy = &fat->proxies.data[a];
    tpTreeWalk walk = tpBoundsTree_Walk(&fat->tree);
    for (int32_t b; (b = tpTreeWalk_Next(&walk, &proxy->fat)) >= 0;) {
        if (!areBallsApart(search, a, b, &proxy->fat, tpTreeWalk_Bounds(&walk))) {
            offer(search, a, b, sink);
        }
    }
}

// Pairs of the moved shapes; if rows find those of shapes with an end, the other ones.
static void findMoved(const void* context, int begin, int end, tpPairSink* sink) {
    const FatSearch* search = context;
    const tpFatPairs* fat = search->fat;
    for (int i = begin; i < end && !tpPairSink_IsOver(sink); ++i) {
        int32_t a = fat->moved.data[i];
        const tpFatProxy* proxy = &fat->proxies.data[a];
        for (int32_t b = 0; proxy->isUnbounded && b < search->proxies->count; ++b) {
            const tpFatProxy* other = &fat->proxies.data[b];
            if (other->kind != tp_noProxy && tpBoundsOverlap(&proxy->fat, &other->fat)) {
                offer(search, a, b, sink);
            }
        }
        if (proxy->isUnbounded) {
            continue;
        }
        if (search->rows == NULL) {
            findInTree(search, a, sink);
        }
        for (int k = 0; k < fat->unbounded.count; ++k) {
            int32_t b = fat->unbounded.data[k];
            if (tpBoundsOverlap(&proxy->fat, &fat->proxies.data[b].fat)) {
                offer(search, a, b, sink);
            }
        }
    }
}

// Rows --------------------------------------------------------------------------------------------

typedef struct RowFind {
    const FatSearch* search;
    tpPairSink sink; // on the thread's own stack
} RowFind;

static bool visitPair(void* context, const tpRowBox* a, const tpRowBox* b) {
    RowFind* find = context;
    const tpFatPairs* fat = find->search->fat;
    if (!fat->hasMoved.data[a->number] && !fat->hasMoved.data[b->number]) {
        return true;
    }
    const tpBounds* fatA = &fat->proxies.data[a->number].fat;
    const tpBounds* fatB = &fat->proxies.data[b->number].fat;
    if (tpBoundsOverlap(fatA, fatB) &&
        !areBallsApart(find->search, a->number, b->number, fatA, fatB)) {
        add(find->search, a->number, b->number, &find->sink);
    }
    return !tpPairSink_IsOver(&find->sink);
}

static void findInRows(const void* context, int begin, int end, tpPairSink* sink) {
    RowFind find = { context, *sink };
    tpBoxRows_Visit(find.search->rows, begin, end, visitPair, &find);
    *sink = find.sink;
}

// Sorts all boxes with an end into rows. Leaves `search->rows` NULL if that cannot be done.
static bool sortRows(FatSearch* search, tpBoxRows* rows, tpTasks* tasks, tpArena* arena) {
    const tpFatPairs* fat = search->fat;
    int32_t* numbers = TP_SCRATCH(arena, int32_t, fat->proxies.count);
    int count = 0;
    if (numbers == NULL) {
        return false;
    }
    for (int32_t i = 0; i < fat->proxies.count; ++i) {
        if (fat->proxies.data[i].leaf >= 0) {
            numbers[count++] = i;
        }
    }
    tpRowInput input = {
        { &fat->proxies.data[0].fat, sizeof(tpFatProxy) }, search->proxies->radii, numbers, count
    };
    search->rows = tpBoxRows_Sort(rows, &input, tasks, arena) ? rows : NULL;
    return !arena->failed;
}

// Lists -------------------------------------------------------------------------------------------

// The list before and what was found, a part for each chunk, become the new list.
typedef struct Renewal {
    tpFatPairs* fat;
    tpPairArray old, found; // sorted, scratch
    int32_t* origins;
    int parts;
    int places[tp_pairChunkCount + 1]; // in the new list, of each part
} Renewal;

// Parts of the old list and of the pairs found that have the same keys.
typedef struct Part {
    int old, oldEnd, found, foundEnd;
} Part;

// The longer list is cut into equal parts.
static Part partAt(const Renewal* renewal, int chunk) {
    const tpPairArray *old = &renewal->old, *found = &renewal->found;
    bool isOldCut = old->count >= found->count;
    const tpPairArray *cut = isOldCut ? old : found, *other = isOldCut ? found : old;
    tpRange range = tpChunkRange(cut->count, chunk, renewal->parts);
    int begin = chunk == 0 ? 0 : tpPairs_Find(other, cut->data[range.begin]);
    int end =
        chunk == renewal->parts - 1 ? other->count : tpPairs_Find(other, cut->data[range.end]);
    return isOldCut ? (Part){ range.begin, range.end, begin, end }
                    : (Part){ begin, end, range.begin, range.end };
}

static bool stays(const tpFatPairs* fat, tpShapePair pair) {
    return !fat->hasMoved.data[pair.shapeA] && !fat->hasMoved.data[pair.shapeB];
}

static void countPart(void* context, int chunk, int worker) {
    (void)worker;
    Renewal* renewal = context;
    Part part = partAt(renewal, chunk);
    int count = part.foundEnd - part.found;
    for (int i = part.old; i < part.oldEnd; ++i) {
        count += stays(renewal->fat, renewal->old.data[i]) ? 1 : 0;
    }
    renewal->places[chunk + 1] = count;
}

// A pair that was found may be an old one, whose shapes have moved and still meet.
static void mergePart(void* context, int chunk, int worker) {
    (void)worker;
    const Renewal* renewal = context;
    tpFatPairs* fat = renewal->fat;
    const tpShapePair *old = renewal->old.data, *found = renewal->found.data;
    Part part = partAt(renewal, chunk);
    int out = renewal->places[chunk], i = part.old;
    for (int j = part.found; j <= part.foundEnd; ++j) {
        while (i < part.oldEnd && (j == part.foundEnd || tpShapePair_IsBefore(old[i], found[j]))) {
            if (stays(fat, old[i])) {
                fat->pairs.data[out] = old[i];
                renewal->origins[out++] = i;
            }
            ++i;
        }
        if (j < part.foundEnd) {
            bool isOld = i < part.oldEnd && !tpShapePair_IsBefore(found[j], old[i]);
            fat->pairs.data[out] = found[j];
            renewal->origins[out++] = isOld ? i++ : -1;
        }
    }
}

// Both lists are sorted.
static bool mergePairs(Renewal* renewal, tpTasks* tasks, tpArena* arena) {
    tpFatPairs* fat = renewal->fat;
    bool isLong = renewal->old.count + renewal->found.count > pairsPerChunk;
    renewal->parts = isLong ? tp_pairChunkCount : 1;
    tpTasks_Run(isLong ? tasks : NULL, countPart, renewal, renewal->parts);
    for (int c = 0; c < renewal->parts; ++c) {
        renewal->places[c + 1] += renewal->places[c];
    }
    int count = renewal->places[renewal->parts];
    fat->pairs.count = 0;
    fat->origins = renewal->origins = TP_SCRATCH(arena, int32_t, count);
    if (arena->failed || !TP_RENEW(&fat->allocator, fat->pairs, count)) {
        return false;
    }
    tpTasks_Run(isLong ? tasks : NULL, mergePart, renewal, renewal->parts);
    fat->pairs.count = count;
    return true;
}

// Pairs of the moved shapes, sorted. The list of all pairs, which has been put aside, lends its
// memory.
static bool findPairs(Renewal* renewal, const tpProxies* proxies, tpTasks* tasks, tpArena* arena) {
    tpFatPairs* fat = renewal->fat;
    tpAllocator scratch = tpArena_AsAllocator(arena);
    FatSearch search = { fat, proxies, NULL };
    tpBoxRows rows;
    // A shape has half of its pairs with those of higher numbers; if few have moved, it may have
    // all.
    int old = renewal->old.count;
    int perShape = old > 0 ? 2 * old / fat->proxies.count + 1 : firstPairs;
    tpPairGather gather = { .allocator = scratch, .limit = tpPairLimit(fat->proxies.count) };
    tpArenaMark mark = tpArena_Mark(arena);
    fat->pairs.count = 0;
    if (fat->usesRows && !sortRows(&search, &rows, tasks, arena)) {
        return false;
    }
    if (fat->usesRows && search.rows == NULL) {
        tpFatPairs_RenewTree(fat, tasks);
    }
    if (!tpPairGather_Run(&gather, findMoved, &search, fat->moved.count,
                          perShape * fat->moved.count, tasks, &fat->allocator, &fat->pairs) ||
        (search.rows != NULL &&
         !tpPairGather_Run(&gather, findInRows, &search, rows.count, perShape * rows.count, tasks,
                           &fat->allocator, &fat->pairs))) {
        fat->isOver = gather.isOver;
        return false;
    }
    // Lists of chunks are done with: what they took serves as scratch of the sort.
    tpArena_Release(arena, mark);
    if (!TP_RENEW(&scratch, renewal->found, fat->pairs.count) ||
        !tpSortPairs(&scratch, &fat->pairs, fat->proxies.count, &renewal->found, tasks)) {
        return false;
    }
    tpPairs_Copy(&fat->pairs, &renewal->found, tasks);
    fat->foundCount = renewal->found.count;
    return true;
}

bool tpFatPairs_Renew(tpFatPairs* fat, const tpProxies* proxies, tpTasks* tasks, tpArena* arena) {
    tpAllocator scratch = tpArena_AsAllocator(arena);
    Renewal renewal = { .fat = fat };
    if (!TP_RENEW(&scratch, renewal.old, fat->pairs.count)) {
        return false;
    }
    tpPairs_Copy(&fat->pairs, &renewal.old, tasks);
    return findPairs(&renewal, proxies, tasks, arena) && mergePairs(&renewal, tasks, arena);
}
