// Where to cut a set of boxes in two, by the surface area heuristic in bins [Wald07].
//
// The cost of a cut is the surface of each part's box times the number of boxes in it: what a query
// that meets the box may have to look at. Cuts are tried between bins along the axis in which the
// centres of the boxes spread most.

#ifndef TIPPE_SRC_GEOMETRY_AREA_SPLIT_H
#define TIPPE_SRC_GEOMETRY_AREA_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "tippe/math.h"

// Half the surface of a box.
static inline double tpHalfArea(const tpBounds* b) {
    tpVec3 d = tpSub(b->upper, b->lower);
    return d.x * d.y + d.y * d.z + d.z * d.x;
}

// The boxes of numbered items: that of item i lies i * stride bytes after the first.
typedef struct tpItemBounds {
    const tpBounds* first;
    size_t stride;
} tpItemBounds;

// Orders `items` in two parts and returns the size of the first, from 1 to count - 1. Boxes whose
// centres coincide are cut in halves.
int32_t tpSplitByArea(int32_t* items, int32_t count, tpItemBounds bounds);

#endif
