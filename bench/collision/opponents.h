// The engines that Tippe is measured against, behind functions of C.

#ifndef TIPPE_BENCH_COLLISION_OPPONENTS_H
#define TIPPE_BENCH_COLLISION_OPPONENTS_H

#include <stdint.h>

#include "tippe/math.h"

TP_BEGIN_DECLS

// FCL: two convex hulls given by vertices and faces (vertex count, then vertices, face after face).
typedef struct FclPair FclPair;
FclPair* fclCreatePair(const tpVec3* vertices, int vertexCount, const int* faces, int faceCount,
                       int faceLength);
void fclDestroyPair(FclPair* pair);
// The distance with nearest points; `solver` 0 is libccd's, 1 FCL's own.
double fclDistance(FclPair* pair, int solver, tpPose poseA, tpPose poseB);

// Bullet: many boxes with its tree and its box-box detector.
typedef struct BulletBoxes BulletBoxes;
BulletBoxes* bulletCreateBoxes(const tpVec3* sizes, const tpPose* poses, int count);
void bulletDestroyBoxes(BulletBoxes* boxes);
void bulletMove(BulletBoxes* boxes, const tpPose* poses);
// Broad and narrow phase; returns the number of pairs with contacts, and the contacts' in *points.
int bulletUpdate(BulletBoxes* boxes, int* points);

TP_END_DECLS

#endif
