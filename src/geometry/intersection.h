// The intersection of convex shapes.
//
// If all parts are half spaces, boxes, prisms and hulls, the intersection is a polyhedron, cut
// out once and kept in `hull`. Otherwise it is a list of parts, whose inequalities all hold inside;
// its mass is integrated when it is asked for, which takes some tenths of a second (seconds for
// superellipsoids).

#ifndef TIPPE_SRC_GEOMETRY_INTERSECTION_H
#define TIPPE_SRC_GEOMETRY_INTERSECTION_H

#include <stdatomic.h>

#include "geometry/hull.h"

struct tpIntersection {
    int partCount;
    tpGeometry* parts; // each with its pose in the frame of the intersection
    tpHull* hull;      // NULL if a part is round
    tpVec3 interior;   // a point inside
    tpBounds bounds;   // tight, in the frame of the intersection
    atomic_int references;
    tpAllocator allocator;
    size_t byteCount;
};

tpIntersection* tpRetainIntersection(tpIntersection* intersection);
void tpReleaseIntersection(tpIntersection* intersection);

#endif
