// A sphere and a box, cylinder, cone or ellipsoid: where the centre is nearest to the surface, from
// outside or inside, less the radius.

#include "collision/closed_form.h"
#include "math/elementary.h"

// Inside, the nearest of some planes n . x = offset; they are compared in order.
static void tryPlane(tpVec3 p, tpVec3 n, double offset, tpNearest* best) {
    double distance = tpDot(n, p) - offset;
    if (distance > best->distance) {
        best->distance = distance;
        best->normal = n;
        best->point = tpMulAdd(p, -distance, n);
    }
}

static void nearestInBox(tpVec3 half, tpVec3 p, tpNearest* out) {
    tryPlane(p, tpMakeVec3(copysign(1.0, p.x), 0.0, 0.0), half.x, out);
    tryPlane(p, tpMakeVec3(0.0, copysign(1.0, p.y), 0.0), half.y, out);
    tryPlane(p, tpMakeVec3(0.0, 0.0, copysign(1.0, p.z)), half.z, out);
}

// The direction away from the axis; x for points on it.
static tpVec3 outwards(tpVec3 p) {
    double r = tpHypot(p.x, p.y);
    return r > 0.0 ? tpMakeVec3(p.x / r, p.y / r, 0.0) : tpMakeVec3(1.0, 0.0, 0.0);
}

static void nearestInCylinder(const tpSmoothBody* body, tpVec3 p, tpNearest* out) {
    tryPlane(p, outwards(p), body->radius, out);
    tryPlane(p, tpMakeVec3(0.0, 0.0, copysign(1.0, p.z)), body->half.z, out);
}

static void nearestInCone(const tpSmoothBody* body, tpVec3 p, tpNearest* out) {
    tpVec3 radial = outwards(p);
    double height = 2.0 * body->half.z, slant = tpHypot(body->radius, height);
    tpVec3 n =
        tpMakeVec3(radial.x * height / slant, radial.y * height / slant, body->radius / slant);
    tryPlane(p, n, n.z * body->half.z, out);
    tryPlane(p, tpMakeVec3(0.0, 0.0, -1.0), body->half.z, out);
}

// The distance from outside through the projection, which these cores have in closed form. False
// inside, where it is zero.
static bool nearestOutside(tpSmoothBody* body, tpVec3 p, tpNearest* out) {
    tpElement element;
    double size = body->size;
    body->size = 0.0;
    body->core->element(body, p, tpMakeVec3(0.0, 0.0, 1.0), &element);
    body->size = size;
    tpVec3 d = tpSub(p, element.point);
    double distance = tpLength(d);
    out->point = element.point;
    out->curvature = element.curvature;
    // A face's own normal stays exact where the point is very close to it.
    bool isFace = !isinf(element.curvature.along) && !isinf(element.curvature.across);
    out->normal = isFace ? element.normal : tpScale(1.0 / distance, d);
    out->distance = isFace ? tpDot(element.normal, d) : distance;
    return out->distance > 0.0;
}

static void nearestOnSolid(tpSmoothBody* body, tpVec3 p, tpNearest* out) {
    if (body->geometry->type == tp_ellipsoidShape) {
        tpNearestOnEllipsoid(body->geometry->ellipsoid.radii, p, out);
        tpElement element;
        body->core->element(body, out->point, out->normal, &element);
        out->curvature = element.curvature;
        return;
    }
    if (nearestOutside(body, p, out)) {
        return;
    }
    out->distance = -INFINITY;
    switch (body->geometry->type) {
    case tp_boxShape:
        nearestInBox(body->half, p, out);
        break;
    case tp_cylinderShape:
        nearestInCylinder(body, p, out);
        break;
    default:
        nearestInCone(body, p, out);
        break;
    }
    tpElement element;
    body->core->element(body, out->point, out->normal, &element);
    out->curvature = element.curvature;
}

bool tpSphereSolid(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                   tpSmoothResult* out) {
    double radius = a->sphere.radius;
    tpSmoothBody body;
    tpNearest nearest;
    tpPrepareSmoothBody(b, shapeB, shapeB.position, &body);
    tpVec3 p = tpSub(shapeA.position, shapeB.position);
    nearestOnSolid(&body, tpMulMTV(body.rotation, p), &nearest);
    tpVec3 n = tpMulMV(body.rotation, nearest.normal);
    out->gap = nearest.distance - radius;
    out->normal = n;
    out->pointA = tpMulAdd(shapeA.position, -radius, n);
    out->pointB = tpAdd(shapeB.position, tpMulMV(body.rotation, nearest.point));
    out->curvatureA = (tpCurvature){ tpZeroVec3(), 1.0 / radius, 1.0 / radius };
    out->curvatureB = nearest.curvature;
    out->curvatureB.tangent = tpMulMV(body.rotation, nearest.curvature.tangent);
    out->iterations = 0;
    out->converged = true;
    return true;
}
