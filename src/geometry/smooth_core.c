// Smooth cores: preparing them, curvature from second derivatives, and nearest points by elements.

#include "geometry/shape.h"

void tpPrepareSmoothCore(const tpGeometry* geometry, tpSmoothCore* out) {
    *out = (tpSmoothCore){ .geometry = geometry, .hint = -1, .innerRadius = -1.0 };
    tpClassOf(geometry)->smoothCore(geometry, out);
}

double tpSmoothCore_InnerRadius(const tpSmoothCore* core) {
    if (core->innerRadius >= 0.0) {
        return core->innerRadius;
    }
    // Surfaces are distances to first order, and convex.
    int k;
    return fmax(-0.5 * tpSurfaceMaximum(core->geometry, core->center, &k), 0.0);
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

// Nearest points ----------------------------------------------------------------------------------

bool tpNearestOutside(const tpGeometry* geometry, tpVec3 p, tpSurfacePoint* out) {
    tpSmoothCore core;
    tpElement element;
    tpPrepareSmoothCore(geometry, &core);
    core.size = 0.0; // the projection of p itself
    core.class->element(&core, p, tpMakeVec3(0.0, 0.0, 1.0), &element);
    tpVec3 d = tpSub(p, element.point);
    double distance = tpLength(d);
    out->point = element.point;
    out->curvature = element.curvature;
    // A face's own normal stays exact if the point is very close to it.
    bool isFace = !isinf(element.curvature.along) && !isinf(element.curvature.across);
    out->normal = isFace ? element.normal : tpScale(1.0 / distance, d);
    out->distance = isFace ? tpDot(element.normal, d) : distance;
    return out->distance > 0.0;
}

void tpTryNearestPlane(tpVec3 p, tpVec3 n, double offset, tpSurfacePoint* best) {
    double distance = tpDot(n, p) - offset;
    if (distance > best->distance) {
        best->distance = distance;
        best->normal = n;
        best->point = tpMulAdd(p, -distance, n);
    }
}

void tpFinishNearest(const tpGeometry* geometry, tpSurfacePoint* out) {
    tpSmoothCore core;
    tpElement element;
    tpPrepareSmoothCore(geometry, &core);
    core.class->element(&core, out->point, out->normal, &element);
    out->curvature = element.curvature;
}
