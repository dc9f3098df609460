// The nearest points of a cylinder and another shape from the features of the last answer.

#ifndef TIPPE_SRC_COLLISION_ROUND_FEATURES_H
#define TIPPE_SRC_COLLISION_ROUND_FEATURES_H

#include "collision/contact.h"

// Closed forms for the features that the last answer's normal points to (or the line of centres, if
// there is none): a flat part of one shape below the other shape's lowest point, two sides that
// cross, or corners and edges beside a cylinder. False if they do not prove
// themselves: then nothing is said. `cache` holds a tpSmoothCache, which is brought up to date.
bool tpClosestByFeatures(const tpPair* pair, tpPairCache* cache, tpClosest* out);

#endif
