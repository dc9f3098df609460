// Pair functions of triangle meshes and height fields.

#ifndef TIPPE_SRC_COLLISION_MESH_PAIRS_H
#define TIPPE_SRC_COLLISION_MESH_PAIRS_H

#include "collision/contact.h"

// A convex shape and a mesh or height field.
extern const tpPairClass tp_meshPair;

// Two meshes, or a mesh and a height field.
extern const tpPairClass tp_trianglesPair;

// A mesh and a plane.
extern const tpPairClass tp_meshPlanePair;

// The hull of a mesh as a shape; false if the shape is no convex mesh.
bool tpHullOfMesh(const tpGeometry* geometry, tpGeometry* out);

// Whether the convex shape A lies inside the hull of the mesh B. It may stick out by a hundredth of
// its width.
bool tpLiesInHull(const tpPair* pair);

// Of contacts from `first` on, sorts and keeps one for each feature, and for each vertex of A one
// for each direction.
void tpMergeContacts(tpContactList* list, int first);

#endif
