// Which pairs of shapes have closed forms.

#include "collision/closed_form.h"

// Asked as row (A) against column (B); what is missing here is tried the other way round.
//
//                sphere  capsule  box  cylinder  cone  ellipsoid  plane
//     sphere       x        x      x       x       x       x        x
//     capsule               x                                       x
//     the rest that is bounded                                      x
static tpClosedFormFunction find(tpShapeType a, tpShapeType b) {
    if (b == tp_planeShape) {
        bool isMesh = a == tp_meshShape || a == tp_heightFieldShape;
        return a == tp_planeShape ? tpPlanePlane : isMesh ? NULL : tpShapePlane;
    }
    if (a == tp_capsuleShape && b == tp_capsuleShape) {
        return tpCapsuleCapsule;
    }
    if (a != tp_sphereShape) {
        return NULL;
    }
    switch (b) {
    case tp_sphereShape:
        return tpSphereSphere;
    case tp_capsuleShape:
        return tpSphereCapsule;
    case tp_boxShape:
    case tp_cylinderShape:
    case tp_coneShape:
    case tp_ellipsoidShape:
        return tpSphereSolid;
    default:
        return NULL;
    }
}

static void turnRound(tpSmoothResult* result) {
    tpVec3 point = result->pointA;
    tpCurvature curvature = result->curvatureA;
    result->pointA = result->pointB;
    result->curvatureA = result->curvatureB;
    result->pointB = point;
    result->curvatureB = curvature;
    result->normal = tpNeg(result->normal);
}

bool tpClosedForm(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                  tpSmoothResult* out) {
    tpClosedFormFunction function = find(a->type, b->type);
    if (function != NULL) {
        return function(a, shapeA, b, shapeB, out);
    }
    function = find(b->type, a->type);
    if (function != NULL && function(b, shapeB, a, shapeA, out)) {
        turnRound(out);
        return true;
    }
    return false;
}
