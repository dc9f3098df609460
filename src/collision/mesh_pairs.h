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

// Of contacts from `first` on, sorts and keeps one for each feature, and for each vertex of A one
// for each direction.
void tpMergeContacts(tpContactList* list, int first);

#endif
