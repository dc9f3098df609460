// A sphere and a shape that knows its nearest point: the distance of the centre, from outside or
// inside, less the radius.

#include "collision/closed_form.h"
#include "geometry/shape.h"

bool tpSphereSolid(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                   tpSmoothResult* out) {
    double radius = a->sphere.radius;
    tpSurfacePoint nearest;
    tpMat33 turn = tpMatFromQuat(shapeB.rotation);
    tpVec3 p = tpSub(shapeA.position, shapeB.position);
    tpClassOf(b)->nearest(b, tpMulMTV(turn, p), &nearest);
    tpVec3 n = tpMulMV(turn, nearest.normal);
    out->gap = nearest.distance - radius;
    out->normal = n;
    out->pointA = tpMulAdd(shapeA.position, -radius, n);
    out->pointB = tpAdd(shapeB.position, tpMulMV(turn, nearest.point));
    out->curvatureA = tpBallCurvature(radius);
    out->curvatureB = nearest.curvature;
    out->curvatureB.tangent = tpMulMV(turn, nearest.curvature.tangent);
    out->iterations = 0;
    out->converged = true;
    return true;
}
