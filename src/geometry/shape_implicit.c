// Smooth convex bodies given by a function of the user's.

#include "base/assert.h"
#include "base/error.h"
#include "geometry/mass.h"
#include "geometry/shape_parts.h"

tpResult tpMakeImplicit(const tpImplicit* implicit, tpPose pose, tpGeometry* out, tpError* error) {
    TP_NEED(implicit, tp_badInput);
    tpResult result = tpCheckShapePose(pose, error);
    if (result != tp_success) {
        return result;
    }
    tpVec3 extent = tpSub(implicit->bounds.upper, implicit->bounds.lower);
    if (implicit->evaluate == NULL) {
        return tpError_Set(error, tp_badInput, "an implicit shape needs its function");
    }
    if (!tpIsFiniteBounds(&implicit->bounds) ||
        !(extent.x > 0.0 && extent.y > 0.0 && extent.z > 0.0)) {
        return tpError_Set(error, tp_badInput,
                           "the bounds of an implicit shape must be finite and have a volume");
    }
    tpGeometry made = { .type = tp_implicitShape, .pose = pose, .implicit = *implicit };
    double value;
    tpInteriorPoint(&made, &value);
    if (!(value < 0.0)) {
        return tpError_Set(error, tp_badInput,
                           "the function of the implicit shape is nowhere negative in its bounds");
    }
    *out = made;
    return tp_success;
}

static tpBounds implicitBounds(const tpGeometry* geometry, tpPose pose) {
    return tpTransformBounds(geometry->implicit.bounds, pose);
}

static tpVec3 implicitSupport(const tpGeometry* geometry, tpVec3 direction) {
    return tpSupportBySearch(geometry, geometry->implicit.bounds, direction);
}

static tpResult implicitMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    double value;
    tpVec3 interior = tpInteriorPoint(geometry, &value);
    return tpIntegrateConvex(geometry, interior, out, error);
}

// The farthest corner of the box around it.
static double implicitRadius(const tpGeometry* geometry, tpVec3 point) {
    tpBounds b = geometry->implicit.bounds;
    return tpLength(tpMaxVec3(tpAbsVec3(tpSub(b.lower, point)), tpAbsVec3(tpSub(b.upper, point))));
}

static double implicitSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                              tpMat33* hessian) {
    (void)k;
    return geometry->implicit.evaluate(p, gradient, hessian, geometry->implicit.context);
}

static bool implicitClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                             tpLineClip* clip) {
    return tpClipByFunction(geometry, geometry->implicit.bounds, origin, direction, clip);
}

static void implicitSmoothCore(const tpGeometry* geometry, tpSmoothCore* out) {
    const tpImplicit* implicit = &geometry->implicit;
    tpVec3 lower = implicit->bounds.lower, upper = implicit->bounds.upper;
    out->class = &tp_inequalityCore;
    out->size = 0.5 * tpDistanceBetween(lower, upper);
    out->center = tpScale(0.5, tpAdd(lower, upper));
    if (!(implicit->evaluate(out->center, NULL, NULL, implicit->context) < 0.0)) {
        double value;
        out->center = tpInteriorPoint(geometry, &value);
    }
}

const tpShapeClass tp_implicitClass = {
    .name = "implicit",
    .kind = tp_roundKind,
    .isConvex = true,
    .isCurved = true,
    .bounds = implicitBounds,
    .support = implicitSupport,
    .supportIsSearch = true,
    .mass = implicitMass,
    .radius = implicitRadius,
    .surfaceCount = tpOneSurface,
    .surface = implicitSurface,
    .clipLine = implicitClipLine,
    .smoothCore = implicitSmoothCore,
};
