// A plane and anything bounded: the support point against the plane's normal is the nearest one.

#include "collision/closed_form.h"

static void finish(tpVec3 pointA, tpVec3 normal, double gap, tpSmoothResult* out) {
    out->gap = gap;
    out->normal = normal;
    out->pointA = pointA;
    out->pointB = tpMulAdd(pointA, -gap, normal);
    out->curvatureB = tp_flatCurvature;
    out->iterations = 0;
    out->converged = true;
}

bool tpShapePlane(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                  tpSmoothResult* out) {
    tpVec3 n = tpRotate(shapeB.rotation, b->plane.normal);
    double height = tpDot(n, tpSub(shapeA.position, shapeB.position)) - b->plane.offset;
    if (a->type == tp_sphereShape) {
        double radius = a->sphere.radius;
        finish(tpMulAdd(shapeA.position, -radius, n), n, height - radius, out);
        out->curvatureA = tpBallCurvature(radius);
        return true;
    }
    // About the shape's own place, so that nothing is lost far away.
    tpSmoothBody body;
    tpElement element;
    tpPrepareSmoothBody(a, shapeA, shapeA.position, &body);
    tpVec3 p = tpBodySupport(&body, tpNeg(n));
    tpBodyElement(&body, tpBodyLocal(&body, p), tpNeg(n), &element);
    tpVec3 point = tpMulAdd(p, -body.core.rounding, n);
    finish(tpAdd(shapeA.position, point), n, height + tpDot(n, point), out);
    out->curvatureA = tpRoundedCurvature(element.curvature, body.core.rounding);
    return true;
}

// Two half spaces: opposite ones are a slab or a gap, any others overlap without bound.
bool tpPlanePlane(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                  tpSmoothResult* out) {
    tpVec3 normalA = tpRotate(shapeA.rotation, a->plane.normal);
    tpVec3 n = tpRotate(shapeB.rotation, b->plane.normal);
    bool isOpposite = tpLength(tpAdd(normalA, n)) < 1e-15;
    tpVec3 point = tpMulAdd(shapeA.position, a->plane.offset, normalA);
    double gap = tpDot(n, tpSub(point, shapeB.position)) - b->plane.offset;
    finish(point, n, isOpposite ? gap : -INFINITY, out);
    out->curvatureA = out->curvatureB;
    out->pointB = isOpposite ? out->pointB : point;
    return true;
}
