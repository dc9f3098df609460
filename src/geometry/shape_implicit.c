// Smooth convex bodies given by a function of the user's.

#include "geometry/mass.h"
#include "geometry/shape_kinds.h"

tpBounds tpImplicitBounds(const tpGeometry* geometry, tpPose pose) {
    return tpTransformBounds(geometry->implicit.bounds, pose);
}

tpVec3 tpImplicitSupport(const tpGeometry* geometry, tpVec3 direction) {
    return tpSupportBySearch(geometry, geometry->implicit.bounds, direction);
}

tpResult tpImplicitMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    double value;
    tpVec3 interior = tpInteriorPoint(geometry, &value);
    return tpIntegrateConvex(geometry, interior, out, error);
}

// The farthest corner of the box around it.
double tpImplicitRadius(const tpGeometry* geometry, tpVec3 point) {
    tpBounds b = geometry->implicit.bounds;
    return tpLength(tpMaxVec3(tpAbsVec3(tpSub(b.lower, point)), tpAbsVec3(tpSub(b.upper, point))));
}

int tpImplicitSurfaceCount(const tpGeometry* geometry) {
    (void)geometry;
    return 1;
}

double tpImplicitSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                         tpMat33* hessian) {
    (void)k;
    return geometry->implicit.evaluate(p, gradient, hessian, geometry->implicit.context);
}

bool tpImplicitClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                        tpLineClip* clip) {
    return tpClipByFunction(geometry, geometry->implicit.bounds, origin, direction, clip);
}
