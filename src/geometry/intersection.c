// Intersections of convex shapes: made once, cut out exactly where all parts are flat.

#include "geometry/intersection.h"
#include "base/assert.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "geometry/mass.h"
#include "geometry/shape_parts.h"

typedef TP_ARRAY(tpPlane) Planes;

static bool isFlat(const tpGeometry* part) {
    return tpClassOf(part)->kind == tp_planeKind || tpClassOf(part)->isPolyhedral;
}

// The planes of a flat part, in the frame of the intersection.
static bool addPlanes(const tpAllocator* allocator, const tpGeometry* part, Planes* planes) {
    int count = tpSurfaceCount(part);
    for (int k = 0; k < count; ++k) {
        tpVec3 normal;
        double height = tpSurfaceValue(part, k, tpZeroVec3(), &normal, NULL);
        tpPlane plane;
        plane.normal = tpRotate(part->pose.rotation, normal);
        plane.offset = tpDot(plane.normal, part->pose.position) - height;
        if (!TP_PUSH(allocator, *planes, plane)) {
            return false;
        }
    }
    return true;
}

// What two boxes have in common.
static tpBounds meetBounds(tpBounds a, tpBounds b) {
    return (tpBounds){ tpMaxVec3(a.lower, b.lower), tpMinVec3(a.upper, b.upper) };
}

// A box as starting body, a little larger than the bounds.
static tpResult cutBox(const tpAllocator* allocator, tpBounds bounds, const Planes* planes,
                       tpHull** out, tpError* error) {
    tpVec3 center = tpScale(0.5, tpAdd(bounds.lower, bounds.upper));
    tpVec3 size = tpScale(1.25, tpSub(bounds.upper, bounds.lower));
    tpBoxHull box;
    tpFillBoxHull(&box, size);
    for (int i = 0; i < 8; ++i) {
        box.vertices[i] = tpAdd(box.vertices[i], center);
    }
    box.hull.center = center;
    return tpClipHull(allocator, &box.hull, planes->data, planes->count, out, error);
}

// Cuts the polyhedron out of a box: first a large one, then one that fits, for the sake of digits.
static tpResult cutOut(const tpAllocator* allocator, const Planes* planes, tpBounds bounds,
                       tpHull** out, tpError* error) {
    double reach = 1.0;
    for (int i = 0; i < planes->count; ++i) {
        reach = fmax(reach, fabs(planes->data[i].offset));
    }
    reach *= 1e6;
    tpVec3 corner = tpMakeVec3(reach, reach, reach);
    bounds = meetBounds(bounds, (tpBounds){ tpNeg(corner), corner });
    tpVec3 extent = tpSub(bounds.upper, bounds.lower);
    if (!(extent.x > 0.0 && extent.y > 0.0 && extent.z > 0.0)) {
        return tp_success; // nothing in common
    }
    for (int pass = 0; pass < 2; ++pass) {
        tpHull* hull;
        tpResult result = cutBox(allocator, bounds, planes, &hull, error);
        if (result != tp_success || hull == NULL) {
            tpReleaseHull(*out);
            *out = NULL;
            return result;
        }
        bounds = hull->bounds;
        tpReleaseHull(*out);
        *out = hull;
    }
    tpVec3 farthest = tpMaxVec3(tpAbsVec3(bounds.lower), tpAbsVec3(bounds.upper));
    if (tpMaxPart(farthest) > 0.99 * reach) {
        tpReleaseHull(*out);
        *out = NULL;
        return tpError_Set(error, tp_badInput, "the intersection is not bounded");
    }
    return tp_success;
}

static tpResult makePolyhedron(tpIntersection* self, tpBounds bounds, tpError* error) {
    Planes planes = { 0 };
    tpResult result = tp_success;
    for (int i = 0; i < self->partCount && result == tp_success; ++i) {
        if (!addPlanes(&self->allocator, &self->parts[i], &planes)) {
            result = tpError_OutOfMemory(error);
        }
    }
    if (result == tp_success) {
        result = cutOut(&self->allocator, &planes, bounds, &self->hull, error);
    }
    TP_FREE_ARRAY(&self->allocator, planes);
    if (result == tp_success && self->hull == NULL) {
        result = tpError_Set(error, tp_badInput, "the intersection is empty");
    }
    if (result == tp_success) {
        self->interior = self->hull->center;
        self->bounds = self->hull->bounds;
    }
    return result;
}

// Bounds of a body with round parts, by its farthest points.
static tpBounds tightBounds(const tpGeometry* geometry, tpBounds loose) {
    const tpVec3 axes[3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
    double lower[3], upper[3];
    for (int k = 0; k < 3; ++k) {
        upper[k] = tpDot(axes[k], tpSupportBySearch(geometry, loose, axes[k]));
        lower[k] = tpDot(axes[k], tpSupportBySearch(geometry, loose, tpNeg(axes[k])));
    }
    // The search ends just inside.
    double slack = 1e-10 * tpDistanceBetween(loose.lower, loose.upper);
    tpVec3 margin = tpMakeVec3(slack, slack, slack);
    tpBounds tight = { tpSub(tpMakeVec3(lower[0], lower[1], lower[2]), margin),
                       tpAdd(tpMakeVec3(upper[0], upper[1], upper[2]), margin) };
    return meetBounds(tight, loose);
}

static tpResult makeRound(tpIntersection* self, tpBounds bounds, tpError* error) {
    tpVec3 extent = tpSub(bounds.upper, bounds.lower);
    if (!tpIsFiniteBounds(&bounds)) {
        return tpError_Set(error, tp_badInput, "the intersection is not bounded");
    }
    double depth = 0.0;
    tpGeometry geometry = { .type = tp_intersectionShape, .pose = tpIdentityPose() };
    geometry.intersection = self;
    self->bounds = bounds;
    if (extent.x > 0.0 && extent.y > 0.0 && extent.z > 0.0) {
        self->interior = tpInteriorPoint(&geometry, &depth);
    }
    if (!(depth < -1e-9 * tpLength(extent))) {
        return tpError_Set(error, tp_badInput, "the intersection is empty");
    }
    self->bounds = tightBounds(&geometry, bounds);
    return tp_success;
}

static tpResult checkParts(const tpGeometry* parts, int count, tpError* error) {
    if (count < 1) {
        return tpError_Set(error, tp_badInput, "an intersection needs at least one shape");
    }
    for (int i = 0; i < count; ++i) {
        if (!tpGeometry_IsConvex(&parts[i])) {
            return tpError_Set(error, tp_badInput,
                               "shape %d of the intersection is a %s, which is not convex", i,
                               tpShapeTypeName(parts[i].type));
        }
    }
    return tp_success;
}

static tpIntersection* allocateIntersection(const tpAllocator* allocator, const tpGeometry* parts,
                                            int count) {
    size_t head = (sizeof(tpIntersection) + 63) & ~(size_t)63;
    size_t byteCount = head + (size_t)count * sizeof(tpGeometry);
    tpIntersection* self = tpAllocateZeroed(allocator, byteCount);
    if (self == NULL) {
        return NULL;
    }
    self->parts = (tpGeometry*)((unsigned char*)self + head);
    self->partCount = count;
    self->allocator = *allocator;
    self->byteCount = byteCount;
    atomic_init(&self->references, 1);
    for (int i = 0; i < count; ++i) {
        self->parts[i] = tpRetainGeometry(&parts[i]);
    }
    return self;
}

tpResult tpMakeIntersection(const tpAllocator* allocator, const tpGeometry* parts, int count,
                            tpPose pose, tpGeometry* out, tpError* error) {
    if (count > 0) {
        TP_NEED(parts, tp_badInput);
    }
    TP_NEED(out, tp_badInput);
    tpResult result = checkParts(parts, count, error);
    if (result != tp_success) {
        return result;
    }
    tpIntersection* self = allocateIntersection(allocator, parts, count);
    if (self == NULL) {
        return tpError_OutOfMemory(error);
    }
    bool flat = true;
    tpBounds bounds = tpGeometry_Bounds(&parts[0], tpIdentityPose());
    for (int i = 0; i < count; ++i) {
        flat = flat && isFlat(&parts[i]);
        bounds = meetBounds(bounds, tpGeometry_Bounds(&parts[i], tpIdentityPose()));
    }
    result = flat ? makePolyhedron(self, bounds, error) : makeRound(self, bounds, error);
    if (result != tp_success) {
        tpReleaseIntersection(self);
        return result;
    }
    *out = (tpGeometry){ .type = tp_intersectionShape, .pose = pose };
    out->intersection = self;
    return tp_success;
}

tpIntersection* tpRetainIntersection(tpIntersection* intersection) {
    atomic_fetch_add_explicit(&intersection->references, 1, memory_order_relaxed);
    return intersection;
}

void tpReleaseIntersection(tpIntersection* intersection) {
    if (intersection == NULL ||
        atomic_fetch_sub_explicit(&intersection->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (int i = 0; i < intersection->partCount; ++i) {
        tpReleaseGeometry(&intersection->parts[i]);
    }
    tpReleaseHull(intersection->hull);
    tpAllocator allocator = intersection->allocator;
    tpRelease(&allocator, intersection, intersection->byteCount);
}

// The row of the table ------------------------------------------------------------------------

static const void* sharedIntersection(const tpGeometry* geometry) {
    return geometry->intersection;
}

static void retainIntersection(const tpGeometry* geometry) {
    tpRetainIntersection(geometry->intersection);
}

static void releaseIntersection(tpGeometry* geometry) {
    tpReleaseIntersection(geometry->intersection);
    geometry->intersection = NULL;
}

// For round bodies the smaller of two boxes around: that of all parts, and that of the tight box.
static tpBounds intersectionBounds(const tpGeometry* geometry, tpPose pose) {
    const tpIntersection* self = geometry->intersection;
    if (self->hull != NULL) {
        return tpHullBounds(self->hull, pose);
    }
    tpBounds bounds = tpTransformBounds(self->bounds, pose);
    for (int i = 0; i < self->partCount; ++i) {
        bounds = meetBounds(bounds, tpGeometry_Bounds(&self->parts[i], pose));
    }
    return bounds;
}

static tpVec3 intersectionSupport(const tpGeometry* geometry, tpVec3 direction) {
    const tpIntersection* self = geometry->intersection;
    if (self->hull != NULL) {
        return self->hull->vertices[tpHull_Support(self->hull, direction, -1)];
    }
    return tpSupportBySearch(geometry, self->bounds, direction);
}

static tpResult intersectionMass(const tpGeometry* geometry, tpMassProperties* out,
                                 tpError* error) {
    const tpIntersection* self = geometry->intersection;
    if (self->hull == NULL) {
        return tpIntegrateConvex(geometry, self->interior, out, error);
    }
    *out = self->hull->mass;
    return tp_success;
}

static double intersectionRadius(const tpGeometry* geometry, tpVec3 point) {
    const tpIntersection* self = geometry->intersection;
    if (self->hull != NULL) {
        return tpHullRadius(self->hull, point);
    }
    // The farthest corner of the box, or the smallest ball of a part.
    tpVec3 farthest = tpMaxVec3(tpAbsVec3(tpSub(self->bounds.lower, point)),
                                tpAbsVec3(tpSub(self->bounds.upper, point)));
    double radius = tpLength(farthest);
    for (int i = 0; i < self->partCount; ++i) {
        radius = fmin(radius, tpGeometry_RadiusAbout(&self->parts[i], point));
    }
    return radius;
}

static int intersectionSurfaceCount(const tpGeometry* geometry) {
    const tpIntersection* self = geometry->intersection;
    int count = 0;
    for (int i = 0; i < self->partCount; ++i) {
        count += tpSurfaceCount(&self->parts[i]);
    }
    return count;
}

static const tpGeometry* findPart(const tpIntersection* self, int* k) {
    const tpGeometry* part = self->parts;
    for (int count = tpSurfaceCount(part); *k >= count; count = tpSurfaceCount(part)) {
        *k -= count;
        ++part;
    }
    return part;
}

const tpGeometry* tpSurfaceOwner(const tpGeometry* geometry, int* k, tpVec3* p) {
    while (geometry->type == tp_intersectionShape) {
        geometry = findPart(geometry->intersection, k);
        *p = tpUntransformPoint(geometry->pose, *p);
    }
    return geometry;
}

static double intersectionSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                                  tpMat33* hessian) {
    const tpGeometry* part = findPart(geometry->intersection, &k);
    double value = tpSurfaceValue(part, k, tpUntransformPoint(part->pose, p), gradient, hessian);
    if (gradient != NULL) {
        *gradient = tpRotate(part->pose.rotation, *gradient);
    }
    if (hessian != NULL) {
        tpMat33 turn = tpMatFromQuat(part->pose.rotation);
        *hessian = tpMulMM(turn, tpMulMM(*hessian, tpTranspose(turn)));
    }
    return value;
}

static bool intersectionClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                                 tpLineClip* clip) {
    const tpIntersection* self = geometry->intersection;
    *clip = tpWholeLine();
    for (int i = 0; i < self->partCount; ++i) {
        const tpGeometry* part = &self->parts[i];
        tpLineClip own;
        if (!tpClipLine(part, tpUntransformPoint(part->pose, origin),
                        tpUnrotate(part->pose.rotation, direction), &own)) {
            return false;
        }
        if (own.enter > clip->enter) {
            clip->enter = own.enter;
            clip->enterNormal = tpRotate(part->pose.rotation, own.enterNormal);
        }
        if (own.leave < clip->leave) {
            clip->leave = own.leave;
            clip->leaveNormal = tpRotate(part->pose.rotation, own.leaveNormal);
        }
    }
    return clip->enter <= clip->leave;
}

static const tpHull* intersectionCore(const tpGeometry* geometry, tpCoreStorage* storage,
                                      double* radius) {
    (void)storage;
    *radius = 0.0;
    return geometry->intersection->hull;
}

static void intersectionSmoothCore(const tpGeometry* geometry, tpSmoothCore* out) {
    const tpIntersection* self = geometry->intersection;
    if (self->hull != NULL) {
        tpUseHullCore(self->hull, out);
        return;
    }
    out->class = &tp_inequalityCore;
    out->center = self->interior;
    out->size = 0.5 * tpDistanceBetween(self->bounds.lower, self->bounds.upper);
}

const tpShapeClass tp_intersectionClass = {
    .name = "intersection",
    .kind = tp_coreKind,
    .isConvex = true,
    .isCurved = true,
    .shared = sharedIntersection,
    .retain = retainIntersection,
    .release = releaseIntersection,
    .bounds = intersectionBounds,
    .support = intersectionSupport,
    .supportIsSearch = true,
    .mass = intersectionMass,
    .radius = intersectionRadius,
    .surfaceCount = intersectionSurfaceCount,
    .surface = intersectionSurface,
    .clipLine = intersectionClipLine,
    .core = intersectionCore,
    .smoothCore = intersectionSmoothCore,
    .facet = tpCoreFacet,
    .outline = tpCoreOutline,
    .line = tpCoreLine,
};
