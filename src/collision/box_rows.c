#include "collision/box_rows.h"

#include <float.h>
#include <math.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "geometry/shape.h"

// Threads share boxes in chunks, always the same ones.
enum { mostChunks = 32, boxesPerChunk = 1024 };

// If the longest box is not much longer than the mean, all share a level, whose cells are as long
// as that one. If not, the middle level has cells a little longer than the mean; those of each
// level are twice as long as those of the one below.
enum { middleLevel = 8, topLevel = tp_rowLevels - 1 };
static const double evenPart = 1.6, cellPerMean = 1.2;

// A cell is longer than its longest box by this part, for the rounding of what is compared.
static const double cellSpare = 1e-4;

// Cells along y and z, and parts of one along x: more than that share the last.
enum { cellBits = 18, partsPerCell = 8, partBits = cellBits + 3, levelBits = 5 };
_Static_assert(levelBits + 2 * cellBits + partBits <= 63, "a key fits into a word");

// Boxes farther apart than this overflow.
static const double mostSpread = 1e30;

// Rounding of a place, of the spread of all boxes.
static const double rounding = 1e-7;

enum { digitBits = 11, digitCount = 1 << digitBits };

typedef struct RowItem {
    uint64_t key;
    int32_t place; // in the caller's list
} RowItem;

// What a chunk of boxes has seen.
typedef struct RowExtent {
    tpBounds all;
    tpVec3 sides, longest; // sums of the sides, the longest ones
} RowExtent;

typedef struct RowSorter {
    tpBoxRows* rows;
    tpRowInput input;
    int count, chunkCount;
    tpVec3 origin;
    double grow;                      // rounding of places, m
    double sizes[tp_rowLevels][3];    // of the largest boxes of a level, m
    uint32_t used[mostChunks];        // levels, a bit each
    int32_t mostCells[mostChunks][3]; // the last cell of a chunk along each axis
    RowExtent extents[mostChunks];
    RowItem *from, *to;            // of a pass
    int shift;                     // the digit of a pass
    int32_t (*places)[digitCount]; // of each chunk and digit: items, then a place
    tpRowBox* boxes;
    uint64_t* keys;
} RowSorter;

static const tpBounds* boundsOf(const RowSorter* sorter, int i) {
    const char* first = (const char*)sorter->input.bounds.first;
    size_t number = (size_t)sorter->input.numbers[i];
    return (const tpBounds*)(first + sorter->input.bounds.stride * number);
}

static tpRange chunkOf(const RowSorter* sorter, int chunk) {
    return tpChunkRange(sorter->count, chunk, sorter->chunkCount);
}

// Levels ------------------------------------------------------------------------------------------

// By comparisons: fmax is a call.
static tpVec3 longerOf(tpVec3 a, tpVec3 b) {
    return tpMakeVec3(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}

static void measureChunk(void* context, int chunk, int worker) {
    (void)worker;
    RowSorter* sorter = context;
    tpRange range = chunkOf(sorter, chunk);
    RowExtent extent = { *boundsOf(sorter, range.begin), tpZeroVec3(), tpZeroVec3() };
    for (int i = range.begin; i < range.end; ++i) {
        const tpBounds* b = boundsOf(sorter, i);
        tpVec3 sides = tpSub(b->upper, b->lower);
        extent.all = tpUniteBounds(extent.all, *b);
        extent.sides = tpAdd(extent.sides, sides);
        extent.longest = longerOf(extent.longest, sides);
    }
    sorter->extents[chunk] = extent;
}

// The length of a cell for boxes of a length.
static double cellFor(const RowSorter* sorter, double size) {
    return (1.0 + 2.0 * cellSpare) * (size + 4.0 * sorter->grow);
}

// Chooses the cells of levels. False if the boxes spread too far.
static bool chooseLevels(RowSorter* sorter) {
    RowExtent all = sorter->extents[0];
    for (int c = 1; c < sorter->chunkCount; ++c) {
        const RowExtent* extent = &sorter->extents[c];
        all.all = tpUniteBounds(all.all, extent->all);
        all.sides = tpAdd(all.sides, extent->sides);
        all.longest = longerOf(all.longest, extent->longest);
    }
    double spread = tpMaxPart(tpSub(all.all.upper, all.all.lower));
    if (!(spread < mostSpread)) {
        return false;
    }
    sorter->origin = all.all.lower;
    sorter->grow = rounding * spread;
    // Boxes without extent have cells all the same.
    double least = fmax(1e-6 * spread, DBL_MIN / DBL_EPSILON);
    const double sums[3] = { all.sides.x, all.sides.y, all.sides.z };
    const double longest[3] = { all.longest.x, all.longest.y, all.longest.z };
    bool isEven = true;
    for (int k = 0; k < 3; ++k) {
        isEven = isEven && longest[k] <= fmax(evenPart * sums[k] / sorter->count, least);
    }
    double middle[3];
    int up = 0;
    for (int k = 0; k < 3; ++k) {
        double size = isEven ? longest[k] : cellPerMean * sums[k] / sorter->count;
        middle[k] = cellFor(sorter, fmax(size, least));
        while (ldexp(middle[k], up) < cellFor(sorter, longest[k])) {
            ++up;
        }
    }
    int shift = up > topLevel - middleLevel ? up - (topLevel - middleLevel) : 0;
    for (int l = 0; l < tp_rowLevels; ++l) {
        for (int k = 0; k < 3; ++k) {
            double cell = ldexp(middle[k], l - middleLevel + shift);
            sorter->sizes[l][k] = cell / (1.0 + cellSpare) - 4.0 * sorter->grow;
            sorter->rows->perCell[l][k] = (k == 0 ? partsPerCell : 1) / cell;
        }
    }
    return true;
}

// The finest level that a box fits into.
static int levelOf(const RowSorter* sorter, const tpBounds* b) {
    const double(*sizes)[3] = sorter->sizes;
    tpVec3 sides = tpSub(b->upper, b->lower);
    int level = middleLevel;
    while (level < tp_rowLevels - 1 &&
           (sides.x > sizes[level][0] || sides.y > sizes[level][1] || sides.z > sizes[level][2])) {
        ++level;
    }
    while (level > 0 && sides.x <= sizes[level - 1][0] && sides.y <= sizes[level - 1][1] &&
           sides.z <= sizes[level - 1][2]) {
        --level;
    }
    return level;
}

// Keys --------------------------------------------------------------------------------------------

// A box as it is here: its corners a little farther out, so that gaps are never larger than in
// truth.
static tpRowBox rowBoxOf(const RowSorter* sorter, int i) {
    const tpBounds* b = boundsOf(sorter, i);
    double grow = sorter->grow;
    tpVec3 o = sorter->origin;
    return (tpRowBox){ { (float)(b->lower.x - o.x - grow), (float)(b->lower.y - o.y - grow),
                         (float)(b->lower.z - o.z - grow) },
                       sorter->input.numbers[i],
                       { (float)(b->upper.x - o.x + grow), (float)(b->upper.y - o.y + grow),
                         (float)(b->upper.z - o.z + grow) },
                       0.0f };
}

// The cell of a place along an axis: it never goes down as the place goes up.
static int32_t cellAt(const tpBoxRows* rows, int level, int axis, double place) {
    double cell = place * rows->perCell[level][axis], most = rows->most[axis];
    return (int32_t)(cell < 0.0 ? 0.0 : cell > most ? most : cell);
}

static uint64_t keyOf(const tpBoxRows* rows, int level, int32_t z, int32_t y, int32_t x) {
    return (uint64_t)level << rows->levelShift | (uint64_t)z << rows->shifts[2] |
           (uint64_t)y << rows->shifts[1] | (uint64_t)x << rows->shifts[0];
}

// Which levels there are, and how many cells.
static void lookChunk(void* context, int chunk, int worker) {
    (void)worker;
    RowSorter* sorter = context;
    tpRange range = chunkOf(sorter, chunk);
    uint32_t used = 0;
    int32_t most[3] = { 0, 0, 0 };
    for (int i = range.begin; i < range.end; ++i) {
        tpRowBox box = rowBoxOf(sorter, i);
        int level = levelOf(sorter, boundsOf(sorter, i));
        used |= UINT32_C(1) << level;
        for (int k = 0; k < 3; ++k) {
            int32_t cell = cellAt(sorter->rows, level, k, box.lower[k]);
            most[k] = cell > most[k] ? cell : most[k];
        }
        sorter->from[i].key = (uint64_t)level;
    }
    sorter->used[chunk] = used;
    memcpy(sorter->mostCells[chunk], most, sizeof(most));
}

static void keyChunk(void* context, int chunk, int worker) {
    (void)worker;
    RowSorter* sorter = context;
    const tpBoxRows* rows = sorter->rows;
    tpRange range = chunkOf(sorter, chunk);
    for (int i = range.begin; i < range.end; ++i) {
        tpRowBox box = rowBoxOf(sorter, i);
        int level = (int)sorter->from[i].key;
        sorter->from[i] = (RowItem){ keyOf(rows, level, cellAt(rows, level, 2, box.lower[2]),
                                           cellAt(rows, level, 1, box.lower[1]),
                                           cellAt(rows, level, 0, box.lower[0])),
                                     i };
    }
}

static int bitsFor(int32_t most) {
    int bits = 0;
    while (most >> bits > 0) {
        ++bits;
    }
    return bits;
}

// Keys of all boxes, as short as they can be. Returns their bits.
static int makeKeys(RowSorter* sorter, tpTasks* tasks) {
    tpBoxRows* rows = sorter->rows;
    rows->most[0] = (1 << partBits) - 1;
    rows->most[1] = rows->most[2] = (1 << cellBits) - 1;
    tpTasks_Run(tasks, lookChunk, sorter, sorter->chunkCount);
    uint32_t used = 0;
    int32_t most[3] = { 0, 0, 0 };
    for (int c = 0; c < sorter->chunkCount; ++c) {
        used |= sorter->used[c];
        for (int k = 0; k < 3; ++k) {
            most[k] = sorter->mostCells[c][k] > most[k] ? sorter->mostCells[c][k] : most[k];
        }
    }
    rows->usedLevels = used;
    memcpy(rows->most, most, sizeof(most));
    rows->shifts[0] = 0;
    rows->shifts[1] = bitsFor(most[0]);
    rows->shifts[2] = rows->shifts[1] + bitsFor(most[1]);
    rows->levelShift = rows->shifts[2] + bitsFor(most[2]);
    tpTasks_Run(tasks, keyChunk, sorter, sorter->chunkCount);
    return rows->levelShift + (used > 1 ? levelBits : 0);
}

// Sorting -----------------------------------------------------------------------------------------

static int digitOf(const RowSorter* sorter, uint64_t key) {
    return (int)(key >> sorter->shift & (digitCount - 1));
}

static void countChunk(void* context, int chunk, int worker) {
    (void)worker;
    const RowSorter* sorter = context;
    tpRange range = chunkOf(sorter, chunk);
    int32_t* places = sorter->places[chunk];
    memset(places, 0, sizeof(*sorter->places));
    for (int i = range.begin; i < range.end; ++i) {
        ++places[digitOf(sorter, sorter->from[i].key)];
    }
}

static void moveChunk(void* context, int chunk, int worker) {
    (void)worker;
    const RowSorter* sorter = context;
    tpRange range = chunkOf(sorter, chunk);
    int32_t* places = sorter->places[chunk];
    for (int i = range.begin; i < range.end; ++i) {
        sorter->to[places[digitOf(sorter, sorter->from[i].key)]++] = sorter->from[i];
    }
}

// One stable pass of a radix sort.
static void passDigit(RowSorter* sorter, tpTasks* tasks) {
    tpTasks_Run(tasks, countChunk, sorter, sorter->chunkCount);
    int32_t sum = 0;
    for (int d = 0; d < digitCount; ++d) {
        for (int c = 0; c < sorter->chunkCount; ++c) {
            int32_t size = sorter->places[c][d];
            sorter->places[c][d] = sum;
            sum += size;
        }
    }
    tpTasks_Run(tasks, moveChunk, sorter, sorter->chunkCount);
    RowItem* swap = sorter->from;
    sorter->from = sorter->to;
    sorter->to = swap;
}

// Boxes and keys in their order.
static void placeChunk(void* context, int chunk, int worker) {
    (void)worker;
    const RowSorter* sorter = context;
    tpRange range = chunkOf(sorter, chunk);
    for (int i = range.begin; i < range.end; ++i) {
        tpRowBox* box = &sorter->boxes[i];
        *box = rowBoxOf(sorter, sorter->from[i].place);
        box->radius = sorter->input.radii != NULL ? sorter->input.radii[box->number] : 0.0f;
        sorter->keys[i] = sorter->from[i].key;
    }
}

bool tpBoxRows_Sort(tpBoxRows* rows, const tpRowInput* input, tpTasks* tasks, tpArena* arena) {
    memset(rows, 0, sizeof(*rows));
    int count = input->count, chunks = tpChunksOf(count, boxesPerChunk);
    chunks = chunks < mostChunks ? chunks : mostChunks;
    tpRowBox* boxes = TP_SCRATCH(arena, tpRowBox, count);
    uint64_t* keys = TP_SCRATCH(arena, uint64_t, (size_t)count + 1);
    tpArenaMark mark = tpArena_Mark(arena);
    RowSorter* sorter = TP_SCRATCH(arena, RowSorter, 1);
    RowItem* from = TP_SCRATCH(arena, RowItem, count);
    RowItem* to = TP_SCRATCH(arena, RowItem, count);
    int32_t(*places)[digitCount] = tpArena_Get(arena, sizeof(*places) * (size_t)chunks);
    if (arena->failed) {
        return false;
    }
    *sorter = (RowSorter){ .rows = rows,
                           .input = *input,
                           .count = count,
                           .chunkCount = chunks,
                           .from = from,
                           .to = to,
                           .places = places,
                           .boxes = boxes,
                           .keys = keys };
    rows->boxes = boxes;
    rows->keys = keys;
    rows->count = count;
    keys[count] = UINT64_MAX;
    tpTasks_Run(tasks, measureChunk, sorter, chunks);
    if (count > 0 && !chooseLevels(sorter)) {
        return false;
    }
    int bits = makeKeys(sorter, tasks);
    for (; sorter->shift < bits; sorter->shift += digitBits) {
        passDigit(sorter, tasks);
    }
    tpTasks_Run(tasks, placeChunk, sorter, chunks);
    tpArena_Release(arena, mark);
    return true;
}

// Pairs -------------------------------------------------------------------------------------------

// Places in the list, one for each row around that of a box: they go up with the boxes, so that a
// row's stretch is found by going on from the last one's.
enum { cursorsAlong = 3, cursorCount = 2 * cursorsAlong };

typedef struct RowSearch {
    const tpBoxRows* rows;
    tpRowVisitor visit;
    void* context;
    int cursors[cursorCount];
    bool isEnded; // the visitor wants no more
} RowSearch;

// The first place whose key is not below one.
static int placeOf(const tpBoxRows* rows, uint64_t key) {
    int low = 0, high = rows->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (rows->keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Balls are told apart as in fat_balls.h, but for the rounding.
static const float ballSlack = 1.0001f;

#ifdef __SSE2__
// Corners of a box without what stands beside them: its bits may be those of a tiny number, with
// which arithmetic is slow.
static __m128 cornerOf(const float* corner) {
    const __m128 mask = _mm_castsi128_ps(_mm_set_epi32(0, -1, -1, -1));
    return _mm_and_ps(_mm_load_ps(corner), mask);
}

// Whether two boxes overlap, and are not those of balls that cannot touch in them.
static bool meets(const tpRowBox* a, const tpRowBox* b) {
    __m128 below = _mm_sub_ps(cornerOf(a->lower), cornerOf(b->upper));
    __m128 above = _mm_sub_ps(cornerOf(b->lower), cornerOf(a->upper));
    __m128 gaps = _mm_max_ps(below, above);
    if (_mm_movemask_ps(_mm_cmpgt_ps(gaps, _mm_setzero_ps())) != 0) {
        return false;
    }
    if (!(a->radius > 0.0f && b->radius > 0.0f)) {
        return true;
    }
    float reach = a->radius + b->radius;
    __m128 ways = _mm_add_ps(gaps, _mm_set_ps(0.0f, reach, reach, reach));
    ways = _mm_max_ps(ways, _mm_setzero_ps());
    __m128 squares = _mm_mul_ps(ways, ways);
    squares = _mm_add_ps(squares, _mm_movehl_ps(squares, squares));
    squares = _mm_add_ss(squares, _mm_shuffle_ps(squares, squares, 1));
    return !(_mm_cvtss_f32(squares) > ballSlack * (reach * reach));
}
#else
static bool meets(const tpRowBox* a, const tpRowBox* b) {
    float reach = a->radius + b->radius, square = 0.0f;
    for (int k = 0; k < 3; ++k) {
        float below = a->lower[k] - b->upper[k], above = b->lower[k] - a->upper[k];
        float gap = below > above ? below : above, way = gap + reach;
        if (gap > 0.0f) {
            return false;
        }
        square += way > 0.0f ? way * way : 0.0f;
    }
    return !(a->radius > 0.0f && b->radius > 0.0f && square > ballSlack * (reach * reach));
}
#endif

// Boxes from a place on whose keys are not above the last.
static void lookAlong(RowSearch* search, const tpRowBox* box, int place, uint64_t last) {
    const tpBoxRows* rows = search->rows;
    for (int j = place; rows->keys[j] <= last && !search->isEnded; ++j) {
        if (meets(box, &rows->boxes[j])) {
            search->isEnded = !search->visit(search->context, box, &rows->boxes[j]);
        }
    }
}

// The number of `bits` above a place of a key.
static int32_t partOf(uint64_t key, int shift, int end) {
    return (int32_t)(key >> shift & ((UINT64_C(1) << (end - shift)) - 1));
}

static int32_t before(int32_t cell, int32_t count) {
    return cell > count ? cell - count : 0;
}

// Later boxes of the same level.
static void lookBeside(RowSearch* search, int i, int level) {
    const tpBoxRows* rows = search->rows;
    const tpRowBox* box = &rows->boxes[i];
    uint64_t key = rows->keys[i];
    int32_t ownX = partOf(key, rows->shifts[0], rows->shifts[1]);
    int32_t ownY = partOf(key, rows->shifts[1], rows->shifts[2]);
    int32_t ownZ = partOf(key, rows->shifts[2], rows->levelShift);
    int32_t endX = cellAt(rows, level, 0, box->upper[0]);
    int32_t endY = cellAt(rows, level, 1, box->upper[1]);
    int32_t endZ = cellAt(rows, level, 2, box->upper[2]);
    int32_t firstX = before(ownX, partsPerCell), firstY = before(ownY, 1);
    lookAlong(search, box, i + 1, key + (uint64_t)(endX - ownX));
    for (int32_t z = ownZ; z <= endZ; ++z) {
        for (int32_t y = z == ownZ ? ownY + 1 : firstY; y <= endY; ++y) {
            uint64_t first = keyOf(rows, level, z, y, firstX);
            int* cursor = &search->cursors[(z - ownZ) * cursorsAlong + y - ownY + 1];
            *cursor = *cursor < 0 ? placeOf(rows, first) : *cursor;
            while (rows->keys[*cursor] < first) {
                ++*cursor;
            }
            lookAlong(search, box, *cursor, first + (uint64_t)(endX - firstX));
        }
    }
}

// Boxes of a coarser level.
static void lookAbove(RowSearch* search, const tpRowBox* box, int level) {
    const tpBoxRows* rows = search->rows;
    int32_t firsts[3], ends[3];
    for (int k = 0; k < 3; ++k) {
        firsts[k] = before(cellAt(rows, level, k, box->lower[k]), k == 0 ? partsPerCell : 1);
        ends[k] = cellAt(rows, level, k, box->upper[k]);
    }
    for (int32_t z = firsts[2]; z <= ends[2]; ++z) {
        for (int32_t y = firsts[1]; y <= ends[1]; ++y) {
            uint64_t first = keyOf(rows, level, z, y, firsts[0]);
            lookAlong(search, box, placeOf(rows, first), first + (uint64_t)(ends[0] - firsts[0]));
        }
    }
}

void tpBoxRows_Visit(const tpBoxRows* rows, int begin, int end, tpRowVisitor visit, void* context) {
    RowSearch search = { .rows = rows, .visit = visit, .context = context };
    for (int k = 0; k < cursorCount; ++k) {
        search.cursors[k] = -1;
    }
    for (int i = begin; i < end && !search.isEnded; ++i) {
        int level = (int)(rows->keys[i] >> rows->levelShift);
        lookBeside(&search, i, level);
        for (int above = level + 1; rows->usedLevels >> above > 0; ++above) {
            if ((rows->usedLevels >> above & 1) != 0) {
                lookAbove(&search, &rows->boxes[i], above);
            }
        }
    }
}
