// The lower end of a convex polyhedron: which of its vertices lie below a plane.

#ifndef TIPPE_SRC_COLLISION_HULL_FLOOD_H
#define TIPPE_SRC_COLLISION_HULL_FLOOD_H

#include "geometry/hull.h"

enum { tp_maxFlood = 256 };

// Vertices of the hull within `highest` along the normal (its frame), starting from the lowest:
// those below a plane hang together by edges. At most tp_maxFlood. `next` is the height of the
// lowest vertex above it. Returns their number.
int tpHull_Flood(const tpHull* hull, tpVec3 normal, int32_t lowest, double highest,
                 int32_t* vertices, double* next);

#endif
