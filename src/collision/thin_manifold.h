// A few points of a flat manifold that stand for all.

#ifndef TIPPE_SRC_COLLISION_THIN_MANIFOLD_H
#define TIPPE_SRC_COLLISION_THIN_MANIFOLD_H

#include "tippe/collision.h"

enum { tp_thinPoints = 4 };

// Of points that share their normal, keeps four: those that are as near as the nearest to a
// hundredth of the extent come first, and among them those that span the largest area. The order of
// the points stays. Returns how many are left.
int tpThinManifold(tpContactPoint* points, int count);

// The points in the order of their gaps, the nearest first; equal ones stay in their order.
void tpSortByGap(tpContactPoint* points, int count);

#endif
