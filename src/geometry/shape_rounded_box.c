// Boxes with round edges and corners: a smaller box, the core, swept by a ball.
//
// `size` are the edge lengths of the whole body, so that a rounded box stands as high as the box of
// the same size; the core's edges are shorter by twice the radius. Away from edges the surface is
// flat, and its contacts are those of the core, moved out by the radius: a stack of rounded boxes
// has as many contacts as a stack of boxes.

#include "base/assert.h"
#include "base/constants.h"
#include "base/error.h"
#include "geometry/shape_parts.h"

static tpResult checkRoundedBox(tpGeometry* geometry, tpError* error) {
    const tpRoundedBox* box = &geometry->roundedBox;
    tpResult result = tpCheckPositiveVec3("size", box->size, error);
    if (result == tp_success) {
        result = tpCheckPositive("radius", box->radius, error);
    }
    double least = fmin(box->size.x, fmin(box->size.y, box->size.z));
    if (result == tp_success && !(box->radius < 0.5 * least)) {
        result = tpError_Set(error, tp_badInput,
                             "radius must be less than half the smallest edge length, %.9g, not "
                             "%.9g",
                             0.5 * least, box->radius);
    }
    return result;
}

tpResult tpMakeRoundedBox(const tpRoundedBox* box, tpPose pose, tpGeometry* out, tpError* error) {
    TP_NEED(box, tp_badInput);
    tpGeometry given = { .type = tp_roundedBoxShape, .pose = pose, .roundedBox = *box };
    return tpMakeFromNumbers(&given, out, error);
}

// Half the edge lengths of the core.
static tpVec3 coreHalf(const tpGeometry* geometry) {
    double radius;
    return tpScale(0.5, tpBoxCoreSize(geometry, &radius));
}

static tpBounds roundedBounds(const tpGeometry* geometry, tpPose pose) {
    tpVec3 half = coreHalf(geometry);
    double r = geometry->roundedBox.radius;
    tpVec3 grow = tpMakeVec3(r, r, r);
    tpBounds core = tpTransformBounds((tpBounds){ tpNeg(half), half }, pose);
    return (tpBounds){ tpSub(core.lower, grow), tpAdd(core.upper, grow) };
}

static tpVec3 cornerAlong(tpVec3 half, tpVec3 direction) {
    return tpMakeVec3(copysign(half.x, direction.x), copysign(half.y, direction.y),
                      copysign(half.z, direction.z));
}

static tpVec3 roundedSupport(const tpGeometry* geometry, tpVec3 direction) {
    return tpMulAdd(cornerAlong(coreHalf(geometry), direction), geometry->roundedBox.radius,
                    tpNormalize(direction));
}

// The integral of x^2 over the body; a is the core's edge along x, b and c are the others.
//
// The body is the core, six plates on its faces, twelve quarter cylinders on its edges and eight
// octants of a ball on its corners. For a quarter disc of radius r the integrals of 1, u, u^2 are
// pi r^2 / 4, r^3 / 3, pi r^4 / 16; for an octant pi r^3 / 6, pi r^4 / 16, pi r^5 / 30.
static double secondMoment(double a, double b, double c, double r) {
    double h = 0.5 * a, hh = h * h, r2 = r * r, r3 = r2 * r;
    // Everything with the extent of the core along x: core, four plates, four quarter cylinders.
    double across = b * c + 2.0 * r * (b + c) + TP_PI * r2;
    double middle = across * a * a * a / 12.0;
    double ends = 2.0 * b * c * r * (hh + h * r + r2 / 3.0);
    double edges = 4.0 * (b + c) * (hh * TP_PI * r2 / 4.0 + a * r3 / 3.0 + TP_PI * r2 * r2 / 16.0);
    double corners =
        8.0 * (hh * TP_PI * r3 / 6.0 + a * TP_PI * r2 * r2 / 16.0 + TP_PI * r2 * r3 / 30.0);
    return middle + ends + edges + corners;
}

static tpResult roundedMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    (void)error;
    double r;
    tpVec3 s = tpBoxCoreSize(geometry, &r);
    out->mass = s.x * s.y * s.z + 2.0 * r * (s.x * s.y + s.y * s.z + s.z * s.x) +
                TP_PI * r * r * (s.x + s.y + s.z) + 4.0 / 3.0 * TP_PI * r * r * r;
    out->center = tpZeroVec3();
    double xx = secondMoment(s.x, s.y, s.z, r), yy = secondMoment(s.y, s.z, s.x, r);
    double zz = secondMoment(s.z, s.x, s.y, r);
    out->inertia = tpDiagonal(tpMakeVec3(yy + zz, zz + xx, xx + yy));
    return tp_success;
}

static double roundedRadius(const tpGeometry* geometry, tpVec3 point) {
    return tpLength(tpAdd(tpAbsVec3(point), coreHalf(geometry))) + geometry->roundedBox.radius;
}

// From the nearest point of the core, as a capsule's surface from its axis.
static double roundedSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                             tpMat33* hessian) {
    (void)k;
    double r = geometry->roundedBox.radius;
    tpVec3 half = coreHalf(geometry);
    tpVec3 d = tpSub(p, tpMaxVec3(tpMinVec3(p, half), tpNeg(half)));
    if (gradient != NULL) {
        *gradient = tpScale(1.0 / r, d);
    }
    if (hessian != NULL) {
        *hessian = tpDiagonal(tpMakeVec3(d.x != 0.0 ? 1.0 / r : 0.0, d.y != 0.0 ? 1.0 / r : 0.0,
                                         d.z != 0.0 ? 1.0 / r : 0.0));
    }
    double distance = tpLength(d);
    return (distance - r) * (distance + r) / (2.0 * r);
}

// Lines: the body is the union of three boxes, twelve cylinders and eight balls, and convex, so its
// interval is the hull of theirs ------------------------------------------------------------------

// Coordinates in another order: axis k becomes z.
static tpVec3 cycle(tpVec3 v, int k) {
    return k == 0 ? tpMakeVec3(v.y, v.z, v.x) : k == 1 ? tpMakeVec3(v.z, v.x, v.y) : v;
}

static tpVec3 uncycle(tpVec3 v, int k) {
    return k == 0 ? tpMakeVec3(v.z, v.x, v.y) : k == 1 ? tpMakeVec3(v.y, v.z, v.x) : v;
}

// The plate along axis k, and the four cylinders along it.
static void clipAlongAxis(tpVec3 half, double r, int k, tpVec3 origin, tpVec3 direction,
                          tpLineClip* clip, bool* any) {
    tpVec3 h = cycle(half, k), o = cycle(origin, k), d = cycle(direction, k);
    tpLineClip parts[5];
    bool isHit[5];
    isHit[4] = tpClipByBox(tpMakeVec3(h.x, h.y, h.z + r), o, d, &parts[4]);
    for (int i = 0; i < 4; ++i) {
        tpVec3 edge = tpMakeVec3(i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, 0.0);
        isHit[i] = tpClipByCylinder(r, h.z, tpSub(o, edge), d, &parts[i]);
    }
    for (int i = 0; i < 5; ++i) {
        if (isHit[i]) {
            parts[i].enterNormal = uncycle(parts[i].enterNormal, k);
            parts[i].leaveNormal = uncycle(parts[i].leaveNormal, k);
            tpUniteClip(clip, &parts[i], any);
        }
    }
}

static bool roundedClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                            tpLineClip* clip) {
    tpVec3 half = coreHalf(geometry);
    double r = geometry->roundedBox.radius;
    bool any = false;
    for (int k = 0; k < 3; ++k) {
        clipAlongAxis(half, r, k, origin, direction, clip, &any);
    }
    for (int i = 0; i < 8; ++i) {
        tpVec3 corner = tpMakeVec3(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y,
                                   i & 4 ? half.z : -half.z);
        tpLineClip part;
        if (tpClipByBall(corner, r, origin, direction, &part)) {
            tpUniteClip(clip, &part, &any);
        }
    }
    return any;
}

// Contacts ----------------------------------------------------------------------------------------

static const tpHull* roundedCore(const tpGeometry* geometry, tpCoreStorage* storage,
                                 double* radius) {
    tpFillBoxHull(&storage->box, tpBoxCoreSize(geometry, radius));
    return &storage->box.hull;
}

static void roundedSmoothCore(const tpGeometry* geometry, tpSmoothCore* out) {
    out->class = &tp_boxCore;
    out->half = coreHalf(geometry);
    out->rounding = geometry->roundedBox.radius;
    out->size = tpLength(out->half);
    out->innerRadius = fmin(out->half.x, fmin(out->half.y, out->half.z));
}

// From the core's nearest point to that of the body.
static void roundedNearest(const tpGeometry* geometry, tpVec3 p, tpSurfacePoint* out) {
    double r;
    tpGeometry core = { .type = tp_boxShape, .pose = geometry->pose };
    core.box.size = tpBoxCoreSize(geometry, &r);
    tp_boxClass.nearest(&core, p, out);
    out->distance -= r;
    out->point = tpMulAdd(out->point, r, out->normal);
    out->curvature = tpRoundedCurvature(out->curvature, r);
}

const tpShapeClass tp_roundedBoxClass = {
    .name = "rounded_box",
    .kind = tp_boxKind,
    .isConvex = true,
    .numbers = { TP_SHAPE_NUMBER("size", roundedBox.size),
                 TP_SHAPE_NUMBER("radius", roundedBox.radius) },
    .numberCount = 2,
    .check = checkRoundedBox,
    .bounds = roundedBounds,
    .support = roundedSupport,
    .mass = roundedMass,
    .radius = roundedRadius,
    .surfaceCount = tpOneSurface,
    .surface = roundedSurface,
    .clipLine = roundedClipLine,
    .core = roundedCore,
    .smoothCore = roundedSmoothCore,
    .nearest = roundedNearest,
    .facet = tpCoreFacet,
    .outline = tpCoreOutline,
    .line = tpCoreLine,
};
