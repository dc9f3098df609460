// Shapes prepared for the distance solver, and curvature from second derivatives.

#include "collision/smooth_body.h"

#include "geometry/intersection.h"
#include "geometry/shape.h"

static void usePolyhedron(const tpHull* hull, tpSmoothBody* body) {
    body->core = &tp_hullCore;
    body->hull = hull;
    body->center = hull->center;
    body->size = hull->radius;
}

static void useIntersection(const tpIntersection* intersection, tpSmoothBody* body) {
    if (intersection->hull != NULL) {
        usePolyhedron(intersection->hull, body);
        return;
    }
    body->core = &tp_intersectionCore;
    body->center = intersection->interior;
    body->size = 0.5 * tpDistanceBetween(intersection->bounds.lower, intersection->bounds.upper);
}

static void useImplicit(const tpImplicit* implicit, tpSmoothBody* body) {
    tpVec3 lower = implicit->bounds.lower, upper = implicit->bounds.upper;
    body->core = &tp_intersectionCore;
    body->size = 0.5 * tpDistanceBetween(lower, upper);
    body->center = tpScale(0.5, tpAdd(lower, upper));
    if (!(implicit->evaluate(body->center, NULL, NULL, implicit->context) < 0.0)) {
        double value;
        body->center = tpInteriorPoint(body->geometry, &value);
    }
}

void tpPrepareSmoothBody(const tpGeometry* geometry, tpPose shape, tpVec3 origin,
                         tpSmoothBody* out) {
    *out = (tpSmoothBody){ .geometry = geometry, .hint = -1 };
    out->rotation = tpMatFromQuat(shape.rotation);
    out->position = tpSub(shape.position, origin);
    switch (geometry->type) {
    case tp_sphereShape:
        out->core = &tp_pointCore;
        out->rounding = out->size = geometry->sphere.radius;
        break;
    case tp_capsuleShape:
        out->core = &tp_segmentCore;
        out->half.z = 0.5 * geometry->capsule.length;
        out->rounding = geometry->capsule.radius;
        out->size = out->half.z + out->rounding;
        break;
    case tp_boxShape:
        out->core = &tp_boxCore;
        out->half = tpScale(0.5, geometry->box.size);
        out->size = tpLength(out->half);
        break;
    case tp_cylinderShape:
        out->core = &tp_cylinderCore;
        out->half.z = 0.5 * geometry->cylinder.length;
        out->radius = geometry->cylinder.radius;
        out->size = out->radius + out->half.z;
        break;
    case tp_coneShape:
        out->core = &tp_coneCore;
        out->half.z = 0.5 * geometry->cone.length;
        out->radius = geometry->cone.radius;
        out->center.z = -0.5 * out->half.z;
        out->size = out->radius + out->half.z;
        break;
    case tp_ellipsoidShape:
        out->core = &tp_ellipsoidCore;
        out->size = tpMaxPart(geometry->ellipsoid.radii);
        break;
    case tp_superellipsoidShape:
        out->core = &tp_superellipsoidCore;
        out->size = tpMaxPart(geometry->superellipsoid.radii);
        break;
    case tp_implicitShape:
        useImplicit(&geometry->implicit, out);
        break;
    case tp_intersectionShape:
        useIntersection(geometry->intersection, out);
        break;
    default:
        usePolyhedron(geometry->hull, out);
        break;
    }
}

tpCurvature tpPrincipalCurvature(tpVec3 t, tpVec3 o, double xx, double xy, double yy, double det) {
    double mean = 0.5 * (xx + yy), half = 0.5 * (xx - yy);
    double radius = sqrt(half * half + xy * xy), large = mean + radius;
    tpCurvature c = { t, large, large > 0.0 ? fmax(det / large, 0.0) : 0.0 };
    // The eigenvector of the larger curvature, from the row without cancellation.
    double x = half >= 0.0 ? half + radius : xy, y = half >= 0.0 ? xy : radius - half;
    double length = sqrt(x * x + y * y);
    if (length > 0.0) {
        c.tangent = tpAdd(tpScale(x / length, t), tpScale(y / length, o));
    }
    return c;
}

tpCurvature tpImplicitCurvature(tpVec3 gradient, const tpMat33* hessian) {
    tpVec3 t, o;
    double inverse = 1.0 / tpLength(gradient);
    tpMakeTangents(tpScale(inverse, gradient), &t, &o);
    tpVec3 Ht = tpScale(inverse, tpMulMV(*hessian, t)), Ho = tpScale(inverse, tpMulMV(*hessian, o));
    double xx = tpDot(t, Ht), xy = tpDot(t, Ho), yy = tpDot(o, Ho);
    return tpPrincipalCurvature(t, o, xx, xy, yy, xx * yy - xy * xy);
}
