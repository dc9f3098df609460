// The tree of boxes over triangles, built once from the top by the surface area heuristic in bins
// [Wald07].

#include "geometry/mesh.h"
#include "geometry/shape.h"

enum { leafSize = 4, binCount = 12, depthLimit = 48 };

typedef struct Builder {
    const tpBounds* bounds;
    tpTreeNode* nodes;
    int32_t* order;
    int32_t nodeCount;
} Builder;

static double partOf(tpVec3 v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

// Twice the centre of a triangle's box along an axis.
static double middleOf(const Builder* b, int32_t triangle, int axis) {
    return partOf(b->bounds[triangle].lower, axis) + partOf(b->bounds[triangle].upper, axis);
}

static double halfArea(const tpBounds* b) {
    tpVec3 d = tpSub(b->upper, b->lower);
    return d.x * d.y + d.y * d.z + d.z * d.x;
}

static tpBounds emptyBounds(void) {
    return (tpBounds){ tpMakeVec3(HUGE_VAL, HUGE_VAL, HUGE_VAL),
                       tpMakeVec3(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL) };
}

typedef struct Bin {
    tpBounds bounds;
    int32_t count;
} Bin;

static int binOf(double middle, double lower, double width) {
    int bin = (int)(binCount * ((middle - lower) / width));
    return bin < 0 ? 0 : bin >= binCount ? binCount - 1 : bin;
}

// The cheapest plane between bins: triangles in bins before the result go left. 0 where none is
// cheaper than a median split.
static int bestSplit(const Bin bins[binCount]) {
    double rightArea[binCount];
    int32_t rightCount[binCount];
    tpBounds sweep = emptyBounds();
    int32_t count = 0;
    for (int i = binCount - 1; i > 0; --i) {
        sweep = tpUniteBounds(sweep, bins[i].bounds);
        count += bins[i].count;
        rightArea[i] = count > 0 ? halfArea(&sweep) : 0.0;
        rightCount[i] = count;
    }
    int best = 0;
    double least = HUGE_VAL;
    sweep = emptyBounds();
    count = 0;
    for (int i = 1; i < binCount; ++i) {
        sweep = tpUniteBounds(sweep, bins[i - 1].bounds);
        count += bins[i - 1].count;
        if (count == 0 || rightCount[i] == 0) {
            continue;
        }
        double cost = halfArea(&sweep) * count + rightArea[i] * rightCount[i];
        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    return best;
}

// Orders a range in two halves and returns where the second begins.
static int32_t splitRange(Builder* b, int32_t first, int32_t count, int depth) {
    tpVec3 lower = tpMakeVec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), upper = tpNeg(lower);
    for (int32_t i = first; i < first + count; ++i) {
        tpBounds box = b->bounds[b->order[i]];
        tpVec3 middle = tpAdd(box.lower, box.upper);
        lower = tpMinVec3(lower, middle);
        upper = tpMaxVec3(upper, middle);
    }
    tpVec3 extent = tpSub(upper, lower);
    int axis = extent.x >= extent.y && extent.x >= extent.z ? 0 : extent.y >= extent.z ? 1 : 2;
    double low = partOf(lower, axis), width = partOf(extent, axis);
    if (!(width > 0.0) || depth > depthLimit) {
        return first + count / 2;
    }
    Bin bins[binCount];
    for (int i = 0; i < binCount; ++i) {
        bins[i] = (Bin){ emptyBounds(), 0 };
    }
    for (int32_t i = first; i < first + count; ++i) {
        Bin* bin = &bins[binOf(middleOf(b, b->order[i], axis), low, width)];
        bin->bounds = tpUniteBounds(bin->bounds, b->bounds[b->order[i]]);
        ++bin->count;
    }
    int split = bestSplit(bins);
    int32_t left = first, right = first + count;
    while (left < right) {
        int32_t triangle = b->order[left];
        if (binOf(middleOf(b, triangle, axis), low, width) < split) {
            ++left;
        } else {
            b->order[left] = b->order[--right];
            b->order[right] = triangle;
        }
    }
    return left > first && left < first + count ? left : first + count / 2;
}

static void buildNode(Builder* b, int32_t first, int32_t count, int depth) {
    int32_t index = b->nodeCount++;
    tpBounds box = emptyBounds();
    for (int32_t i = first; i < first + count; ++i) {
        box = tpUniteBounds(box, b->bounds[b->order[i]]);
    }
    b->nodes[index].bounds = box;
    b->nodes[index].first = first;
    b->nodes[index].count = count <= leafSize ? count : 0;
    if (count > leafSize) {
        int32_t middle = splitRange(b, first, count, depth);
        buildNode(b, first, middle - first, depth + 1);
        buildNode(b, middle, first + count - middle, depth + 1);
    }
    b->nodes[index].skip = b->nodeCount;
}

void tpBuildTriangleTree(const tpBounds* bounds, int32_t count, tpTreeNode* nodes, int32_t* order,
                         int32_t* nodeCount) {
    Builder builder = { bounds, nodes, order, 0 };
    for (int32_t i = 0; i < count; ++i) {
        order[i] = i;
    }
    buildNode(&builder, 0, count, 0);
    *nodeCount = builder.nodeCount;
}
