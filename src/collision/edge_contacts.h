// Contacts of two convex polyhedra that meet edge on edge, or a corner on an edge.
//
// If two parallel edges meet, a whole arc of directions parts the bodies, and their overlap, or
// the direction between them if they are apart, says little: it is all rounding. Its ends are the
// normals of faces, and a stack of cards that took one of those would slide along that face. The
// contact takes the middle of the arc. Farther from the edge than a small radius the usual normals
// take over, continuously, as if the edges were round to this radius.

#ifndef TIPPE_SRC_COLLISION_EDGE_CONTACTS_H
#define TIPPE_SRC_COLLISION_EDGE_CONTACTS_H

#include "collision/contact.h"
#include "collision/difference.h"

// Radius to which the edges of two bodies with these inner radii are taken as round.
double tpEdgeRounding(double innerRadiusA, double innerRadiusB);

// Corners farther from an edge than this many roundings are never asked about.
enum { tp_edgeReach = 10 };

// Appends the contacts if the bodies meet in this way; false (and nothing appended) if not.
// `normal` (from B to A, frame of A) is the direction of the signed distance, `nearest` a corner
// near there.
bool tpCollideEdges(const tpDifference* d, tpPose poseA, tpVec3 normal, double distance,
                    tpCorner nearest, double margin, tpContactList* out);

#endif
