// Two boxes in one frame, and what hangs over a face of one of them.

#ifndef TIPPE_SRC_COLLISION_BOXES_H
#define TIPPE_SRC_COLLISION_BOXES_H

#include "collision/box_axes.h"
#include "collision/contact.h"
#include "collision/over_face.h"

// Both boxes in the frame of A.
typedef struct tpBoxes {
    double a[3], b[3]; // half sizes
    double r[3][3];    // r[i][j] = axis i of A . axis j of B
    double t[3];       // centre of B in A
    double s[3];       // centre of B along the axes of B
} tpBoxes;

// Vertices are numbered by the signs of their coordinates, a bit an axis; edges along x, y, z in
// this order.
int32_t tpBoxEdge(int axis, int32_t vertex);

// Contacts of one box over a face of the other, up to the pair's margin, moved by `shift`; `axis` 0
// to 2 are the faces of A, 3 to 5 those of B.
tpOverFace tpCollideOverBoxFace(const tpPair* pair, const tpBoxes* boxes, int axis, tpVec3 shift,
                                tpContactList* out);

// One lane's pair of boxes, at poses of the shapes themselves.
void tpBoxBatch_Set(tpBoxBatch* batch, int lane, const tpGeometry* a, tpPose poseA,
                    const tpGeometry* b, tpPose poseB);

// Gives a lane the boxes of another.
void tpBoxBatch_Copy(tpBoxBatch* batch, int from, int to);

// Of a lane whose axes have been found: the normal of the face with the largest separation, from B
// to A.
tpVec3 tpBoxBatch_FaceNormal(const tpBoxBatch* batch, int lane);

// tpCollideShapes for a lane whose axes have been found. Returns what is known of the face.
tpOverFace tpBoxBatch_Collide(const tpBoxBatch* batch, int lane, const tpGeometry* a, tpPose poseA,
                              const tpGeometry* b, tpPose poseB, double margin, bool looksAhead,
                              tpPairCache* cache, tpContactList* out);

#endif
