// Balls in fat boxes, which most of their neighbours across edges and corners of a heap overlap.

#ifndef TIPPE_SRC_COLLISION_FAT_BALLS_H
#define TIPPE_SRC_COLLISION_FAT_BALLS_H

#include "geometry/shape.h"

// How far apart the middles of two intervals stay that are as long as `reach` together.
static inline double tpMiddlesApart(double lowA, double highA, double lowB, double highB,
                                    double reach) {
    double a = lowA - highB, b = lowB - highA, gap = (a > b ? a : b) + reach;
    return gap > 0.0 ? gap : 0.0;
}

// Whether two balls, whose radii add up to `reach`, cannot touch while they stay in these boxes:
// their centres stay in boxes that are smaller by the radii. If that is so, balls that are larger
// by margins cannot touch either: with g the gaps of the centres' boxes along the axes, margins add
// m to the reach and to each g, and |g + m| >= |g| + m.
static inline bool tpFatBallsApart(const tpBounds* a, const tpBounds* b, double reach) {
    double x = tpMiddlesApart(a->lower.x, a->upper.x, b->lower.x, b->upper.x, reach);
    double y = tpMiddlesApart(a->lower.y, a->upper.y, b->lower.y, b->upper.y, reach);
    double z = tpMiddlesApart(a->lower.z, a->upper.z, b->lower.z, b->upper.z, reach);
    // A little more for the rounding of radii and boxes.
    return x * x + y * y + z * z > reach * reach * (1.0 + 1e-5);
}

#endif
