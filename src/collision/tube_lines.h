// Where the sides of two capsules or cylinders may meet next.

#ifndef TIPPE_SRC_COLLISION_TUBE_LINES_H
#define TIPPE_SRC_COLLISION_TUBE_LINES_H

#include "collision/contact.h"

// Whether a shape is a tube: a capsule or a cylinder.
bool tpIsTube(const tpGeometry* geometry);

// Adds contacts at both ends of what the sides of two tubes share, as far as they are within the
// margin, given the nearest points of the pair. Says beyond which distance there is nothing else,
// if that is known. False if they share nothing.
bool tpJoinTubes(const tpPair* pair, const tpClosest* closest, tpContactList* out);

#endif
