// Contact points of convex shapes from their facets, outlines and lines.

#ifndef TIPPE_SRC_COLLISION_PATCH_MANIFOLD_H
#define TIPPE_SRC_COLLISION_PATCH_MANIFOLD_H

#include "collision/contact.h"

// Appends the contacts of two convex shapes whose signed distance and normal are known and within the
// margin. At least one contact is appended.
void tpCollidePatches(const tpPair* pair, const tpClosest* closest, tpContactList* out);

#endif
