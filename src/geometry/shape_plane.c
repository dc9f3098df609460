// Planes: half spaces normal . x <= offset.

#include "base/assert.h"
#include "base/error.h"
#include "geometry/shape_parts.h"

static tpResult checkPlane(tpGeometry* geometry, tpError* error) {
    tpPlane* plane = &geometry->plane;
    tpVec3 normal = tpNormalize(plane->normal);
    if (!tpIsFiniteVec3(plane->normal) || tpLengthSquared(normal) == 0.0) {
        return tpError_Set(error, tp_badInput, "normal must be finite and not zero");
    }
    if (!isfinite(plane->offset)) {
        return tpError_Set(error, tp_badInput, "offset must be finite");
    }
    plane->normal = normal;
    return tp_success;
}

tpResult tpMakePlane(const tpPlane* plane, tpPose pose, tpGeometry* out, tpError* error) {
    TP_NEED(plane, tp_badInput);
    tpGeometry given = { .type = tp_planeShape, .pose = pose, .plane = *plane };
    return tpMakeFromNumbers(&given, out, error);
}

// A half space is bounded on one side if its normal is along an axis, else not at all.
static tpBounds planeBounds(const tpGeometry* geometry, tpPose pose) {
    tpVec3 n = tpRotate(pose.rotation, geometry->plane.normal);
    double offset = geometry->plane.offset + tpDot(n, pose.position);
    double along[3] = { n.x, n.y, n.z };
    double lower[3] = { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL };
    double upper[3] = { HUGE_VAL, HUGE_VAL, HUGE_VAL };
    for (int k = 0; k < 3; ++k) {
        if (along[k] == 1.0) {
            upper[k] = offset;
        } else if (along[k] == -1.0) {
            lower[k] = -offset;
        }
    }
    return (tpBounds){ tpMakeVec3(lower[0], lower[1], lower[2]),
                       tpMakeVec3(upper[0], upper[1], upper[2]) };
}

static double planeRadius(const tpGeometry* geometry, tpVec3 point) {
    (void)geometry;
    (void)point;
    return HUGE_VAL;
}

static double planeInnerRadius(const tpGeometry* geometry) {
    (void)geometry;
    return HUGE_VAL;
}

static double planeSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                           tpMat33* hessian) {
    (void)k;
    return tpLinearSurface(geometry->plane.normal, geometry->plane.offset, p, gradient, hessian);
}

static bool planeClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                          tpLineClip* clip) {
    *clip = tpWholeLine();
    return tpClipByPlane(clip, geometry->plane.normal, geometry->plane.offset, origin, direction);
}

static bool planeFacet(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpFacet* out) {
    out->normal = tpRotate(pose.rotation, geometry->plane.normal);
    out->cosine = tpDot(out->normal, direction);
    out->center = tpMulAdd(pose.position, geometry->plane.offset, out->normal);
    out->radius = INFINITY;
    out->count = 0;
    return true;
}

const tpShapeClass tp_planeClass = {
    .name = "plane",
    .kind = tp_planeKind,
    .isConvex = true,
    .numbers = { TP_SHAPE_NUMBER("normal", plane.normal), TP_SHAPE_NUMBER("offset", plane.offset) },
    .numberCount = 2,
    .check = checkPlane,
    .bounds = planeBounds,
    .radius = planeRadius,
    .innerRadius = planeInnerRadius,
    .surfaceCount = tpOneSurface,
    .surface = planeSurface,
    .clipLine = planeClipLine,
    .facet = planeFacet,
};
