// How much farther off than its nearest features the other features of a shape are.

#ifndef TIPPE_SRC_COLLISION_NEXT_FEATURES_H
#define TIPPE_SRC_COLLISION_NEXT_FEATURES_H

#include "collision/contact.h"

// Two convex shapes have met in one contact, along its normal: says how far apart all that has no
// contact is at least along it. Says nothing if that is not known.
void tpPair_SayNext(const tpPair* pair, const tpClosest* closest);

// A ball over a face, which is B's or A's, `room` from its border: the plane turns with the face,
// and nothing but the ball's lowest point comes near it.
void tpPair_SayBallOverFace(const tpPair* pair, bool isB, double room);

#endif
