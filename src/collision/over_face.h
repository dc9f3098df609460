// Contacts of two boxes over a face of one of them: what is known beside the points.

#ifndef TIPPE_SRC_COLLISION_OVER_FACE_H
#define TIPPE_SRC_COLLISION_OVER_FACE_H

#include "tippe/collision.h"

// What is known of one box over a face of the other, the reference, beside the contacts.
typedef struct tpOverFace {
    bool isFace;     // there is such a face; else nothing below is said
    bool isA;        // the reference is A
    bool hasEdges;   // beside the contacts over the face there is one of two edges
    tpVec3 normal;   // of the contacts over the face
    tpVec3 incident; // outward normal of the other box's side that faces it, world
    double least;    // gap of the contacts, m; DBL_MAX if there is none
    double beyond;   // least gap of the corners that the margin left out, m; DBL_MAX: none were
    bool isEdge;     // the boxes meet at an edge of the face: then tpCollideEdges knows better
} tpOverFace;

#endif
