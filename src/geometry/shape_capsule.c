// Capsules, with their axis along z.

#include "base/assert.h"
#include "base/constants.h"
#include "geometry/shape_parts.h"

static tpResult checkCapsule(tpGeometry* geometry, tpError* error) {
    tpCapsule* c = &geometry->capsule;
    return tpCheckAxial(c->radius, c->length, true, &c->axis, &geometry->pose, error);
}

tpResult tpMakeCapsule(const tpCapsule* capsule, tpPose pose, tpGeometry* out, tpError* error) {
    TP_NEED(capsule, tp_badInput);
    tpGeometry given = { .type = tp_capsuleShape, .pose = pose, .capsule = *capsule };
    return tpMakeFromNumbers(&given, out, error);
}

static tpVec3 endOf(const tpGeometry* geometry, double sign) {
    return tpMakeVec3(0.0, 0.0, sign * 0.5 * geometry->capsule.length);
}

static tpBounds capsuleBounds(const tpGeometry* geometry, tpPose pose) {
    double r = geometry->capsule.radius;
    tpVec3 arm = tpAbsVec3(tpRotate(pose.rotation, endOf(geometry, 1.0)));
    return tpBoundsAbout(pose.position, tpAdd(arm, tpMakeVec3(r, r, r)));
}

static tpVec3 capsuleSupport(const tpGeometry* geometry, tpVec3 direction) {
    tpVec3 p = tpScale(geometry->capsule.radius, tpNormalize(direction));
    p.z += copysign(0.5 * geometry->capsule.length, direction.z);
    return p;
}

// A cylinder and two half balls, whose centre of mass is 3/8 r from their flat side.
static tpResult capsuleMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    (void)error;
    double r = geometry->capsule.radius, l = geometry->capsule.length;
    double cylinder = TP_PI * r * r * l, ball = 4.0 / 3.0 * TP_PI * r * r * r;
    out->mass = cylinder + ball;
    out->center = tpZeroVec3();
    double axial = 0.5 * cylinder * r * r + 0.4 * ball * r * r;
    double across = cylinder * (3.0 * r * r + l * l) / 12.0 +
                    ball * (0.4 * r * r + 0.25 * l * l + 0.375 * r * l);
    out->inertia = tpDiagonal(tpMakeVec3(across, across, axial));
    return tp_success;
}

static double capsuleRadius(const tpGeometry* geometry, tpVec3 point) {
    point.z = fabs(point.z) + 0.5 * geometry->capsule.length;
    return tpLength(point) + geometry->capsule.radius;
}

static double capsuleSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                             tpMat33* hessian) {
    (void)k;
    double r = geometry->capsule.radius, half = 0.5 * geometry->capsule.length;
    bool beside = fabs(p.z) < half;
    // From the nearest point of the axis.
    tpVec3 d = tpMakeVec3(p.x, p.y, beside ? 0.0 : p.z - copysign(half, p.z));
    if (gradient != NULL) {
        *gradient = tpScale(1.0 / r, d);
    }
    if (hessian != NULL) {
        *hessian = tpDiagonal(tpMakeVec3(1.0 / r, 1.0 / r, beside ? 0.0 : 1.0 / r));
    }
    double distance = tpLength(d);
    return (distance - r) * (distance + r) / (2.0 * r);
}

// The union of two balls and a cylinder is convex: its interval is the hull of theirs.
static bool capsuleClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                            tpLineClip* clip) {
    double r = geometry->capsule.radius, half = 0.5 * geometry->capsule.length;
    bool any = false;
    tpLineClip part;
    if (half > 0.0 && tpClipByCylinder(r, half, origin, direction, &part)) {
        tpUniteClip(clip, &part, &any);
    }
    for (int end = 0; end < 2; ++end) {
        if (tpClipByBall(endOf(geometry, end == 0 ? 1.0 : -1.0), r, origin, direction, &part)) {
            tpUniteClip(clip, &part, &any);
        }
    }
    return any;
}

static const tpHull* capsuleCore(const tpGeometry* geometry, tpCoreStorage* storage,
                                 double* radius) {
    *radius = geometry->capsule.radius;
    tpFillSegment(&storage->small, endOf(geometry, -1.0), endOf(geometry, 1.0));
    return &storage->small.hull;
}

static void capsuleSmoothCore(const tpGeometry* geometry, tpSmoothCore* out) {
    out->class = &tp_segmentCore;
    out->half.z = 0.5 * geometry->capsule.length;
    out->rounding = geometry->capsule.radius;
    out->size = out->half.z + out->rounding;
    out->innerRadius = 0.0;
}

static void endsInWorld(const tpGeometry* geometry, tpPose pose, tpVec3 ends[2]) {
    ends[0] = tpTransformPoint(pose, endOf(geometry, -1.0));
    ends[1] = tpTransformPoint(pose, endOf(geometry, 1.0));
}

static bool capsuleOutline(const tpGeometry* geometry, tpPose pose, tpVec3 normal, tpOutline* out) {
    (void)normal;
    tpVec3 ends[2];
    endsInWorld(geometry, pose, ends);
    tpFillSegmentOutline(out, ends, geometry->capsule.radius);
    return geometry->capsule.length > 0.0;
}

static bool capsuleLine(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpVec3 ends[2],
                        double* radius) {
    *radius = geometry->capsule.radius;
    endsInWorld(geometry, pose, ends);
    tpVec3 along = tpSub(ends[1], ends[0]);
    return geometry->capsule.length > 0.0 &&
           fabs(tpDot(along, direction)) <= TP_ACROSS_SINE * geometry->capsule.length;
}

const tpShapeClass tp_capsuleClass = {
    .name = "capsule",
    .kind = tp_segmentKind,
    .isConvex = true,
    .numbers = { TP_SHAPE_NUMBER("radius", capsule.radius),
                 TP_SHAPE_NUMBER("length", capsule.length), TP_SHAPE_AXIS(capsule.axis) },
    .numberCount = 3,
    .check = checkCapsule,
    .bounds = capsuleBounds,
    .support = capsuleSupport,
    .mass = capsuleMass,
    .radius = capsuleRadius,
    .surfaceCount = tpOneSurface,
    .surface = capsuleSurface,
    .clipLine = capsuleClipLine,
    .core = capsuleCore,
    .smoothCore = capsuleSmoothCore,
    .outline = capsuleOutline,
    .line = capsuleLine,
};
