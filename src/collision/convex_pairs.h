// Pair functions of convex shapes.

#ifndef TIPPE_SRC_COLLISION_CONVEX_PAIRS_H
#define TIPPE_SRC_COLLISION_CONVEX_PAIRS_H

#include "collision/contact.h"

// Both have cores, one of them with faces: spheres, capsules, boxes, prisms, hulls, polyhedral
// intersections.
extern const tpPairClass tp_corePair;

// Two boxes.
extern const tpPairClass tp_boxPair;

// Two spheres; a sphere and a box.
extern const tpPairClass tp_spherePair;
extern const tpPairClass tp_sphereBoxPair;

// Two capsules; a sphere and a capsule.
extern const tpPairClass tp_segmentPair;

// The signed distance of two shapes with cores; of spheres and capsules alone.
tpResult tpClosestCores(const tpPair* pair, tpPairCache* cache, tpClosest* out);
tpResult tpClosestOfSegments(const tpPair* pair, tpPairCache* cache, tpClosest* out);

// Any two convex shapes, at least one of them round in a way that has no core.
extern const tpPairClass tp_smoothPair;

// A convex shape and a plane.
extern const tpPairClass tp_planePair;

#endif
