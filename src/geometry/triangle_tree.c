// The tree of boxes over triangles, built once from the top by the surface area heuristic.

#include "geometry/area_split.h"
#include "geometry/mesh.h"
#include "geometry/shape.h"

enum { leafSize = 4, depthLimit = 48 };

typedef struct TriangleBuilder {
    const tpBounds* bounds;
    tpTreeNode* nodes;
    int32_t* order;
    int32_t nodeCount;
} TriangleBuilder;

// Orders a range in two parts and returns the size of the first.
static int32_t splitRange(TriangleBuilder* b, int32_t first, int32_t count, int depth) {
    tpItemBounds bounds = { b->bounds, sizeof(tpBounds) };
    return depth > depthLimit ? count / 2 : tpSplitByArea(b->order + first, count, bounds);
}

static void buildNode(TriangleBuilder* b, int32_t first, int32_t count, int depth) {
    int32_t index = b->nodeCount++;
    tpBounds box = b->bounds[b->order[first]];
    for (int32_t i = first + 1; i < first + count; ++i) {
        box = tpUniteBounds(box, b->bounds[b->order[i]]);
    }
    b->nodes[index].bounds = box;
    b->nodes[index].first = first;
    b->nodes[index].count = count <= leafSize ? count : 0;
    if (count > leafSize) {
        int32_t left = splitRange(b, first, count, depth);
        buildNode(b, first, left, depth + 1);
        buildNode(b, first + left, count - left, depth + 1);
    }
    b->nodes[index].skip = b->nodeCount;
}

void tpBuildTriangleTree(const tpBounds* bounds, int32_t count, tpTreeNode* nodes, int32_t* order,
                         int32_t* nodeCount) {
    TriangleBuilder builder = { bounds, nodes, order, 0 };
    for (int32_t i = 0; i < count; ++i) {
        order[i] = i;
    }
    buildNode(&builder, 0, count, 0);
    *nodeCount = builder.nodeCount;
}
