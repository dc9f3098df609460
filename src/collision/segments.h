// Points and segments: the cores of spheres and capsules.

#ifndef TIPPE_SRC_COLLISION_SEGMENTS_H
#define TIPPE_SRC_COLLISION_SEGMENTS_H

#include "tippe/collision.h"

// Nearest points of the segments p + s u and q + t v. If they meet, the normal is across both.
void tpClosestSegments(tpVec3 p, tpVec3 u, tpVec3 q, tpVec3 v, tpClosest* out);

// Parameters s, t in [0, 1] of the nearest points of the segments p + s u and q + t v.
void tpNearestOnSegments(tpVec3 p, tpVec3 u, tpVec3 q, tpVec3 v, double* s, double* t);

#endif
