// Contact points of convex polyhedra.

#ifndef TIPPE_SRC_COLLISION_HULL_MANIFOLD_H
#define TIPPE_SRC_COLLISION_HULL_MANIFOLD_H

#include "collision/contact.h"
#include "collision/difference.h"
#include "geometry/hull.h"

// Appends the contacts of two hulls with gap <= margin. Poses are those of the hulls. Returns their
// distance, or, beyond the margin, a bound below it. `over` is what is known beside the contacts;
// it may be NULL, here and below. If it is not, the pair looks ahead: beside edges that meet it
// gets the contacts over a face that the next step may make.
double tpCollideHulls(const tpHull* a, tpPose poseA, const tpHull* b, tpPose poseB, double margin,
                      tpPairCache* cache, tpContactList* out, tpOverFace* over);

// The same of two hulls whose separation is known, and no more than the margin.
void tpCollideSeparated(const tpDifference* d, const tpSeparation* separation, tpPose poseA,
                        tpPose poseB, double margin, tpContactList* out, tpOverFace* over);

// Contacts over one face of `reference`, whatever the nearest features are. `nearest` is the vertex
// of the incident body whose facing polygon is meant; -1 for the lowest. `side` is 1 where the
// reference is body B (contacts point along its normal), -1 if it is body A.
void tpCollideOverFace(const tpHull* reference, tpPose referencePose, int32_t face,
                       const tpHull* incident, tpPose incidentPose, int32_t nearest, int side,
                       double margin, tpContactList* out, tpOverFace* over);

// Appends the contacts of a hull (body A) with the half space normal . x <= offset (body B).
void tpCollideHullPlane(const tpHull* a, tpPose poseA, tpVec3 normal, double offset, double margin,
                        tpPairCache* cache, tpContactList* out, tpOverFace* over);

#endif
