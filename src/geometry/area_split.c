// The surface area heuristic in bins.

#include "geometry/area_split.h"

#include "geometry/shape.h"

enum { binCount = 8 };

// So few items are cut in the middle of their centres: two of three cuts of a tree are of these,
// and what the heuristic gains there is less than what it costs.
enum { fewItems = 4 };

typedef struct Bin {
    tpBounds bounds;
    int32_t count;
} Bin;

// Along which axis items are binned, and how.
typedef struct Binning {
    tpItemBounds bounds;
    int axis;
    double lower, scale; // of twice the centres
} Binning;

static double partOf(tpVec3 v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static tpBounds emptyBounds(void) {
    return (tpBounds){ { HUGE_VAL, HUGE_VAL, HUGE_VAL }, { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL } };
}

static inline const tpBounds* boundsOf(const tpItemBounds* bounds, int32_t item) {
    return (const tpBounds*)(const void*)((const char*)bounds->first +
                                          (size_t)item * bounds->stride);
}

static inline int binOf(const Binning* b, int32_t item) {
    const tpBounds* box = boundsOf(&b->bounds, item);
    double middle = partOf(box->lower, b->axis) + partOf(box->upper, b->axis);
    int bin = (int)(b->scale * (middle - b->lower));
    return bin < 0 ? 0 : bin >= binCount ? binCount - 1 : bin;
}

// The axis of the largest spread of centres. False if they coincide.
static bool chooseAxis(const int32_t* items, int32_t count, Binning* b) {
    tpBounds centers = emptyBounds();
    for (int32_t i = 0; i < count; ++i) {
        const tpBounds* box = boundsOf(&b->bounds, items[i]);
        tpVec3 middle = tpAdd(box->lower, box->upper);
        centers.lower = tpMinVec3(centers.lower, middle);
        centers.upper = tpMaxVec3(centers.upper, middle);
    }
    tpVec3 extent = tpSub(centers.upper, centers.lower);
    b->axis = extent.x >= extent.y && extent.x >= extent.z ? 0 : extent.y >= extent.z ? 1 : 2;
    b->lower = partOf(centers.lower, b->axis);
    b->scale = binCount / partOf(extent, b->axis);
    return isfinite(b->scale);
}

// The number of bins that go to the first part: the cheapest cut; 0 if all are in one bin.
static int bestCut(const Bin bins[binCount]) {
    double rest[binCount];
    tpBounds sweep = emptyBounds();
    int32_t count = 0;
    for (int i = binCount - 1; i > 0; --i) {
        sweep = tpUniteBounds(sweep, bins[i].bounds);
        count += bins[i].count;
        rest[i] = count > 0 ? count * tpHalfArea(&sweep) : HUGE_VAL;
    }
    int best = 0;
    double least = HUGE_VAL;
    sweep = emptyBounds();
    count = 0;
    for (int i = 1; i < binCount; ++i) {
        sweep = tpUniteBounds(sweep, bins[i - 1].bounds);
        count += bins[i - 1].count;
        double cost = count > 0 ? count * tpHalfArea(&sweep) + rest[i] : HUGE_VAL;
        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    return best;
}

// The number of bins whose items go to the first part.
static int cutByArea(const int32_t* items, int32_t count, const Binning* binning) {
    Bin bins[binCount];
    for (int i = 0; i < binCount; ++i) {
        bins[i] = (Bin){ emptyBounds(), 0 };
    }
    for (int32_t i = 0; i < count; ++i) {
        Bin* bin = &bins[binOf(binning, items[i])];
        bin->bounds = tpUniteBounds(bin->bounds, *boundsOf(&binning->bounds, items[i]));
        ++bin->count;
    }
    return bestCut(bins);
}

int32_t tpSplitByArea(int32_t* items, int32_t count, tpItemBounds bounds) {
    Binning binning = { .bounds = bounds };
    if (count <= 2 || !chooseAxis(items, count, &binning)) {
        return count / 2;
    }
    int cut = count <= fewItems ? binCount / 2 : cutByArea(items, count, &binning);
    int32_t left = 0, right = count;
    while (left < right) {
        int32_t item = items[left];
        if (binOf(&binning, item) < cut) {
            ++left;
        } else {
            items[left] = items[--right];
            items[right] = item;
        }
    }
    return left > 0 && left < count ? left : count / 2;
}
