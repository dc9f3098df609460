// Convex hulls of points, and prisms, which are hulls of two equal polygons.

#include "geometry/shape_parts.h"

tpResult tpMakeHull(const tpAllocator* allocator, const tpVec3* points, int count, tpPose pose,
                    tpGeometry* out, tpError* error) {
    tpResult result = tpCheckShapePose(pose, error);
    tpHull* hull;
    if (result == tp_success) {
        result = tpHullFromPoints(allocator, points, count, &hull, error);
    }
    if (result == tp_success) {
        *out = (tpGeometry){ .type = tp_hullShape, .pose = pose, .hull = hull };
    }
    return result;
}

tpResult tpMakePrism(const tpAllocator* allocator, const double (*points)[2], int count,
                     double length, tpPose pose, tpGeometry* out, tpError* error) {
    tpResult result = tpCheckShapePose(pose, error);
    tpHull* hull;
    if (result == tp_success) {
        result = tpHullFromPrism(allocator, points, count, length, &hull, error);
    }
    if (result == tp_success) {
        *out = (tpGeometry){ .type = tp_prismShape, .pose = pose, .hull = hull };
    }
    return result;
}

static const void* sharedHull(const tpGeometry* geometry) {
    return geometry->hull;
}

static void retainHull(const tpGeometry* geometry) {
    tpRetainHull(geometry->hull);
}

static void releaseHull(tpGeometry* geometry) {
    tpReleaseHull(geometry->hull);
    geometry->hull = NULL;
}

// Hulls larger than this find their extent by climbing rather than by visiting every vertex.
enum { climbLimit = 64 };

static tpBounds boundsByScan(const tpHull* hull, tpMat33 turn) {
    tpVec3 first = tpMulMV(turn, hull->vertices[0]);
    tpBounds bounds = { first, first };
    for (int32_t i = 1; i < hull->vertexCount; ++i) {
        tpVec3 p = tpMulMV(turn, hull->vertices[i]);
        // Points are finite: no calls of fmin, which looks after what is not.
        bounds.lower.x = p.x < bounds.lower.x ? p.x : bounds.lower.x;
        bounds.lower.y = p.y < bounds.lower.y ? p.y : bounds.lower.y;
        bounds.lower.z = p.z < bounds.lower.z ? p.z : bounds.lower.z;
        bounds.upper.x = p.x > bounds.upper.x ? p.x : bounds.upper.x;
        bounds.upper.y = p.y > bounds.upper.y ? p.y : bounds.upper.y;
        bounds.upper.z = p.z > bounds.upper.z ? p.z : bounds.upper.z;
    }
    return bounds;
}

static tpBounds boundsByClimb(const tpHull* hull, tpMat33 turn) {
    tpMat33 rows = tpTranspose(turn);
    const tpVec3 axes[3] = { rows.cx, rows.cy, rows.cz };
    double lower[3], upper[3];
    for (int k = 0; k < 3; ++k) {
        upper[k] = tpDot(axes[k], hull->vertices[tpHull_Support(hull, axes[k], -1)]);
        lower[k] = tpDot(axes[k], hull->vertices[tpHull_Support(hull, tpNeg(axes[k]), -1)]);
    }
    return (tpBounds){ tpMakeVec3(lower[0], lower[1], lower[2]),
                       tpMakeVec3(upper[0], upper[1], upper[2]) };
}

tpBounds tpHullBounds(const tpHull* hull, tpPose pose) {
    tpMat33 turn = tpMatFromQuat(pose.rotation);
    tpBounds b =
        hull->vertexCount > climbLimit ? boundsByClimb(hull, turn) : boundsByScan(hull, turn);
    return (tpBounds){ tpAdd(pose.position, b.lower), tpAdd(pose.position, b.upper) };
}

static tpBounds hullBounds(const tpGeometry* geometry, tpPose pose) {
    return tpHullBounds(geometry->hull, pose);
}

static tpVec3 hullSupport(const tpGeometry* geometry, tpVec3 direction) {
    return geometry->hull->vertices[tpHull_Support(geometry->hull, direction, -1)];
}

static tpResult hullMass(const tpGeometry* geometry, tpMassProperties* out, tpError* error) {
    (void)error;
    *out = geometry->hull->mass;
    return tp_success;
}

// Exact for small hulls, and for large ones about their centre; elsewhere a bound.
double tpHullRadius(const tpHull* hull, tpVec3 point) {
    if (hull->vertexCount > climbLimit) {
        return tpDistanceBetween(point, hull->center) + hull->radius;
    }
    double radius = 0.0;
    for (int32_t i = 0; i < hull->vertexCount; ++i) {
        radius = fmax(radius, tpDistanceBetween(point, hull->vertices[i]));
    }
    return radius;
}

static double hullRadius(const tpGeometry* geometry, tpVec3 point) {
    return tpHullRadius(geometry->hull, point);
}

static int hullSurfaceCount(const tpGeometry* geometry) {
    return geometry->hull->faceCount;
}

static double hullSurface(const tpGeometry* geometry, int k, tpVec3 p, tpVec3* gradient,
                          tpMat33* hessian) {
    return tpLinearSurface(geometry->hull->normals[k], geometry->hull->offsets[k], p, gradient,
                           hessian);
}

bool tpHullClipLine(const tpHull* hull, tpVec3 origin, tpVec3 direction, tpLineClip* clip) {
    *clip = tpWholeLine();
    for (int32_t f = 0; f < hull->faceCount; ++f) {
        if (!tpClipByPlane(clip, hull->normals[f], hull->offsets[f], origin, direction)) {
            return false;
        }
    }
    return true;
}

static bool hullClipLine(const tpGeometry* geometry, tpVec3 origin, tpVec3 direction,
                         tpLineClip* clip) {
    return tpHullClipLine(geometry->hull, origin, direction, clip);
}

static const tpHull* hullCore(const tpGeometry* geometry, tpCoreStorage* storage, double* radius) {
    (void)storage;
    *radius = 0.0;
    return geometry->hull;
}

static void hullSmoothCore(const tpGeometry* geometry, tpSmoothCore* out) {
    tpUseHullCore(geometry->hull, out);
}

#define HULL_ROW(title)                                                                            \
    {                                                                                              \
        .name = title, .kind = tp_coreKind, .isConvex = true, .isPolyhedral = true,                \
        .shared = sharedHull, .retain = retainHull, .release = releaseHull, .bounds = hullBounds,  \
        .support = hullSupport, .mass = hullMass, .radius = hullRadius,                            \
        .surfaceCount = hullSurfaceCount, .surface = hullSurface, .clipLine = hullClipLine,        \
        .core = hullCore, .smoothCore = hullSmoothCore, .facet = tpCoreFacet,                      \
        .outline = tpCoreOutline, .line = tpCoreLine                                               \
    }

const tpShapeClass tp_prismClass = HULL_ROW("prism");
const tpShapeClass tp_hullClass = HULL_ROW("hull");
