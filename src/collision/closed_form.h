// Pairs of shapes whose signed distance has a closed form, or needs one root of one unknown.
//
// All functions answer for A given before B; the table in closed_form_table.c turns the others
// round.

#ifndef TIPPE_SRC_COLLISION_CLOSED_FORM_H
#define TIPPE_SRC_COLLISION_CLOSED_FORM_H

#include "collision/smooth_body.h"

typedef bool (*tpClosedFormFunction)(const tpGeometry* a, tpPose shapeA, const tpGeometry* b,
                                     tpPose shapeB, tpSmoothResult* out);

// closed_form_round.c
bool tpSphereSphere(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                    tpSmoothResult* out);
bool tpSphereCapsule(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                     tpSmoothResult* out);
bool tpCapsuleCapsule(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                      tpSmoothResult* out);

// closed_form_plane.c: B is the plane, A any bounded shape; and two planes.
bool tpShapePlane(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                  tpSmoothResult* out);
bool tpPlanePlane(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                  tpSmoothResult* out);

// closed_form_point.c: A is a sphere, B a shape whose nearest point has a closed form.
bool tpSphereSolid(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                   tpSmoothResult* out);

#endif
