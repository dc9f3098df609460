// Which pairs of shapes have closed forms.

#include "collision/closed_form.h"
#include "geometry/shape.h"

// Asked as A against B; a pair that is missing here is tried the other way round.
//
//                sphere  capsule  a shape with a nearest point   plane
//     sphere       x        x                 x                   x
//     capsule               x                                     x
//     the rest that is bounded                                    x
static tpClosedFormFunction find(const tpGeometry* a, const tpGeometry* b) {
    tpShapeKind kind = tpClassOf(a)->kind;
    if (b->type == tp_planeShape) {
        return kind == tp_planeKind ? tpPlanePlane : tpGeometry_IsConvex(a) ? tpShapePlane : NULL;
    }
    if (a->type == tp_capsuleShape && b->type == tp_capsuleShape) {
        return tpCapsuleCapsule;
    }
    if (kind != tp_ballKind) {
        return NULL;
    }
    if (b->type == tp_sphereShape) {
        return tpSphereSphere;
    }
    if (b->type == tp_capsuleShape) {
        return tpSphereCapsule;
    }
    return tpClassOf(b)->nearest != NULL ? tpSphereSolid : NULL;
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
    tpClosedFormFunction function = find(a, b);
    if (function != NULL) {
        return function(a, shapeA, b, shapeB, out);
    }
    function = find(b, a);
    if (function != NULL && function(b, shapeB, a, shapeA, out)) {
        turnRound(out);
        return true;
    }
    return false;
}
