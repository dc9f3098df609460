// A few points of a flat manifold that stand for all.

#ifndef TIPPE_SRC_COLLISION_THIN_MANIFOLD_H
#define TIPPE_SRC_COLLISION_THIN_MANIFOLD_H

#include "tippe/collision.h"

enum { tp_thinPoints = 4 };

// How far a hull with many corners may tilt until others of them may be the lowest, rad.
#define TP_RIM_TILT 0.01

// Of points that share their normal, keeps four: those that are as near as the nearest to a
// hundredth of the extent come first, and among them those that span the largest area. The order of
// the points stays. Of more than 32 points, corners of a hull that is nearly round, up to five
// stay: the nearest, and those that are the nearest if the hull tilts by TP_RIM_TILT. Returns how
// many are left.
int tpThinManifold(tpContactPoint* points, int count);

// The points in the order of their gaps, the nearest first; equal ones stay in their order.
void tpSortByGap(tpContactPoint* points, int count);

#endif
