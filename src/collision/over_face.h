// What is known of a pair beside its contacts, above all where they lie over a face.

#ifndef TIPPE_SRC_COLLISION_OVER_FACE_H
#define TIPPE_SRC_COLLISION_OVER_FACE_H

#include "tippe/collision.h"

// Of one body over a face of the other, the reference.
typedef struct tpOverFace {
    bool isFace;     // there is such a face; else only `beyond` is said
    bool isPlane;    // all contacts lie over a face and turn with it; of its border nothing is said
    bool isA;        // the reference is A
    bool hasEdges;   // beside the contacts over the face there is one of two edges
    tpVec3 normal;   // of the contacts over the face
    tpVec3 incident; // outward normal of the other body's side that faces it, world
    double least;    // gap of the contacts, m; DBL_MAX if there is none
    // Least gap of what has no contact, m. Over a face these are the corners that the margin left
    // out, DBL_MAX if it left out none. Without contacts it is a lower bound of the distance.
    double beyond;
    // Without contacts: the unit vector from B to A along which it is; 0: none is known.
    tpVec3 away;
    bool isAlong; // that is measured along the normal of the contacts, also if there is no face
    // Of a ball over a face: how far from the border of the face it is at least, m; 0: not known.
    double room;
    bool isEdge; // the boxes meet at an edge of the face: then tpCollideEdges knows better
} tpOverFace;

#endif
