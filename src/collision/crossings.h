// Which shapes would pass through each other in a step, and when they meet.
//
// Contacts found at the start or the end of a step see a thin shape from the wrong side if the
// bodies move by more than their thickness. The question here follows the whole way by conservative
// advancement (tpTimeOfImpact): no motion is too fast and no shape too thin.

#ifndef TIPPE_SRC_COLLISION_CROSSINGS_H
#define TIPPE_SRC_COLLISION_CROSSINGS_H

#include "collision/collider.h"

typedef struct tpCrossing {
    int32_t shapeA, shapeB;
    double time;  // s from the start: the shapes are apart until then, and nearly touch
    double pause; // s: in this time they move against each other by about half their thickness
} tpCrossing;

// The first crossing of bodies that move by `paths` (one per body) for `duration` seconds: two
// shapes that meet, and would then move into each other by more than the sum of their inner radii.
// Asks the pairs of the last tpCollider_FindPairs, whose margins must hold the motion. False if
// there is none.
bool tpCollider_FindCrossing(const tpCollider* collider, const tpBodyPath* paths, double duration,
                             tpCrossing* out);

// The same for one pair of shapes, whose bodies move by these paths.
bool tpCollider_PairCrosses(const tpCollider* collider, tpShapePair pair, const tpBodyPath* pathA,
                            const tpBodyPath* pathB, double duration, tpCrossing* out);

// How far the shapes of a pair may move into each other and still be seen from the side on which
// they met, m.
double tpCollider_CrossingDepth(const tpCollider* collider, tpShapePair pair);

// The same for contacts that are known, along their normals: what touches holds, while another
// corner of the same body comes down.
bool tpCollider_FindPassing(const tpCollider* collider, const tpContact* contacts, int count,
                            const tpBodyPath* paths, double duration, tpCrossing* out);

#endif
