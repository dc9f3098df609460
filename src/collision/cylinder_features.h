// The nearest points of a cylinder and a convex polyhedron, from feature to feature.

#ifndef TIPPE_SRC_COLLISION_CYLINDER_FEATURES_H
#define TIPPE_SRC_COLLISION_CYLINDER_FEATURES_H

#include "geometry/hull.h"
#include "tippe/collision.h"

// A cylinder in the frame of the polyhedron.
typedef struct tpCylinderPlace {
    tpVec3 center, axis; // unit
    double half, radius; // half its length
} tpCylinderPlace;

// The signed distance where a corner or an edge of the polyhedron (a segment or a triangle is one)
// is nearest to the cylinder. `towards` is about the direction from it to the cylinder, unit: in an
// overlap the way out is within `sameCosine` of it. `start` is a corner to look from. `out` is in
// the frame of the polyhedron, with the cylinder as A. False if the nearest features are others, or
// do not prove themselves: then nothing is said.
bool tpNearestToCylinder(const tpHull* hull, const tpCylinderPlace* cylinder, tpVec3 towards,
                         double sameCosine, int32_t start, tpClosest* out);

#endif
