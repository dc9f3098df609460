// Boxes.

#include "base/assert.h"
#include "geometry/shape_parts.h"

static tpResult checkBox(tpGeometry* geometry, tpError* error) {
    return tpCheckPositiveVec3("size", geometry->box.size, error);
}

tpResult tpMakeBox(const tpBox* box, tpPose pose, tpGeometry* out, tpError* error) {
    TP_NEED(box, tp_badInput);
    tpGeometry given = { .type = tp_boxShape, .pose = pose, .box = *box };
    return tpMakeFromNumbers(&given, out, error);
}

static tpVec3 halfOf(const tpGeometry* geometry) {
    return tpScale(0.5, geometry->box.size);
}

static tpBounds boxBounds(const tpGeometry* geometry, tpPose pose) {
    tpVec3 half = halfOf(geometry);
    return tpTransformBounds((tpBounds){ tpNeg(half), half }, pose);
}

static tpVec3 boxSupport(const tpGeometry* geometry, tpVec3 direction) {
    tpVec3 half = halfOf(geometry);
    return tpMakeVec3(copysign(half.x, direction.x), copysign(half.y, direction.y),
                      copysign(half.z, direction.z));
}

static tpResult boxMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    (void)error;
    tpVec3 s = geometry->box.size;
    tpVec3 squares = tpMulParts(s, s);
    out->mass = s.x * s.y * s.z;
    out->center = tpZeroVec3();
    out->inertia = tpDiagonal(
        tpScale(out->mass / 12.0,
                tpMakeVec3(squares.y + squares.z, squares.x + squares.z, squares.x + squares.y)));
    return tp_success;
}

static double boxRadius(const tpGeometry* geometry, tpVec3 point) {
    return tpLength(tpMulAdd(tpAbsVec3(point), 0.5, geometry->box.size));
}

static int boxSurfaceCount(const tpGeometry* geometry) {
    (void)geometry;
    return 6;
}

// In the order of tpBoxHull's faces: +x, -x, +y, -y, +z, -z.
static tpVec3 faceNormal(int face) {
    double sign = face % 2 == 0 ? 1.0 : -1.0;
    return tpMakeVec3(face / 2 == 0 ? sign : 0.0, face / 2 == 1 ? sign : 0.0,
                      face / 2 == 2 ? sign : 0.0);
}

static double faceOffset(tpVec3 half, int face) {
    return face / 2 == 0 ? half.x : face / 2 == 1 ? half.y : half.z;
}

static double boxSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                         tpMat33* hessian) {
    return tpLinearSurface(faceNormal(k), faceOffset(halfOf(geometry), k), p, gradient, hessian);
}

bool tpClipByBox(tpVec3 half, tpVec3 origin, tpVec3 direction, tpLineClip* clip) {
    *clip = tpWholeLine();
    for (int face = 0; face < 6; ++face) {
        if (!tpClipByPlane(clip, faceNormal(face), faceOffset(half, face), origin, direction)) {
            return false;
        }
    }
    return true;
}

static bool boxClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                        tpLineClip* clip) {
    return tpClipByBox(halfOf(geometry), origin, direction, clip);
}

static const tpHull* boxCore(const tpGeometry* geometry, tpCoreStorage* storage, double* radius) {
    *radius = 0.0;
    tpFillBoxHull(&storage->box, geometry->box.size);
    return &storage->box.hull;
}

static void boxSmoothCore(const tpGeometry* geometry, tpSmoothCore* out) {
    out->class = &tp_boxCore;
    out->half = halfOf(geometry);
    out->size = tpLength(out->half);
    out->innerRadius = fmin(out->half.x, fmin(out->half.y, out->half.z));
}

static void boxNearest(const tpGeometry* geometry, tpVec3 p, tpSurfacePoint* out) {
    if (tpNearestOutside(geometry, p, out)) {
        return;
    }
    tpVec3 half = halfOf(geometry);
    out->distance = -INFINITY;
    tpTryNearestPlane(p, tpMakeVec3(copysign(1.0, p.x), 0.0, 0.0), half.x, out);
    tpTryNearestPlane(p, tpMakeVec3(0.0, copysign(1.0, p.y), 0.0), half.y, out);
    tpTryNearestPlane(p, tpMakeVec3(0.0, 0.0, copysign(1.0, p.z)), half.z, out);
    tpFinishNearest(geometry, out);
}

const tpShapeClass tp_boxClass = {
    .name = "box",
    .kind = tp_boxKind,
    .isConvex = true,
    .isPolyhedral = true,
    .numbers = { TP_SHAPE_NUMBER("size", box.size) },
    .numberCount = 1,
    .check = checkBox,
    .bounds = boxBounds,
    .support = boxSupport,
    .mass = boxMass,
    .radius = boxRadius,
    .surfaceCount = boxSurfaceCount,
    .surface = boxSurface,
    .clipLine = boxClipLine,
    .core = boxCore,
    .smoothCore = boxSmoothCore,
    .nearest = boxNearest,
    .facet = tpCoreFacet,
    .outline = tpCoreOutline,
    .line = tpCoreLine,
};
