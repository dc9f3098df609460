// Contact points of convex shapes from their facets, outlines and lines.

#ifndef TIPPE_SRC_COLLISION_PATCH_MANIFOLD_H
#define TIPPE_SRC_COLLISION_PATCH_MANIFOLD_H

#include "collision/contact.h"
#include "geometry/patches.h"

// Appends the contacts of two convex shapes whose signed distance and normal are known and within
// the margin. At least one contact is appended.
void tpCollidePatches(const tpPair* pair, const tpClosest* closest, tpContactList* out);

// Whether contacts, whose least gap is given, have missed the nearest points of two shapes, the
// smaller of which has that inner radius; and a contact at these.
bool tpIsNearestMissed(const tpClosest* closest, double least, double smaller);
void tpAddNearest(const tpClosest* closest, tpContactList* out);

// Appends the contacts of an outline over a facet, measured along the facet's normal: the outline
// is of body A, the facet of body B, or the other way round. Returns the least gap of what the
// margin has left out, INFINITY if that is nothing.
double tpLayOutline(const tpFacet* facet, const tpOutline* outline, bool outlineIsA, double margin,
                    tpContactList* out);

#endif
