// Facets, outlines and lines of each type of shape: a table, one row a type.

#include "collision/patches.h"

#include "collision/hull_manifold.h"
#include "collision/shape_view.h"

// A cap shows its rim to planes it looks towards by 20 degrees or more.
static const double looksTowards = 0.34;

// Lines lie across a direction when they do so within about 6 degrees.
static const double acrossTolerance = 0.1;

typedef struct PatchClass {
    bool (*facet)(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpFacet* out);
    bool (*outline)(const tpGeometry* geometry, tpPose pose, tpVec3 normal, tpOutline* out);
    bool (*line)(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpVec3 ends[2],
                 double* radius);
} PatchClass;

// Polyhedra -----------------------------------------------------------------------------------

static bool hullFacet(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpFacet* out) {
    tpCoreStorage storage;
    double radius;
    const tpHull* hull = tpViewCore(geometry, &storage, &radius);
    if (hull == NULL) {
        return false;
    }
    tpVec3 local = tpUnrotate(pose.rotation, direction);
    int32_t face = tpHull_SupportFace(hull, local);
    out->normal = tpRotate(pose.rotation, hull->normals[face]);
    out->cosine = tpDot(hull->normals[face], local);
    out->radius = 0.0;
    out->count = 0;
    for (int32_t i = hull->faceFirst[face]; i < hull->faceFirst[face + 1]; ++i) {
        if (out->count < tp_maxPatch) {
            out->ids[out->count] = hull->faceVertices[i];
            out->corners[out->count++] =
                tpTransformPoint(pose, hull->vertices[hull->faceVertices[i]]);
        }
    }
    out->center = out->corners[0];
    return true;
}

static bool hullOutline(const tpGeometry* geometry, tpPose pose, tpVec3 normal, tpOutline* out) {
    tpFacet facet;
    if (!hullFacet(geometry, pose, tpNeg(normal), &facet)) {
        return false;
    }
    out->radius = out->rimRadius = 0.0;
    out->isPolygon = true;
    out->segmentCount = 0;
    out->count = facet.count;
    for (int i = 0; i < facet.count; ++i) {
        out->points[i] = facet.corners[i];
        out->ids[i] = facet.ids[i];
    }
    return true;
}

static bool hullLine(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpVec3 ends[2],
                     double* radius) {
    tpCoreStorage storage;
    const tpHull* hull = tpViewCore(geometry, &storage, radius);
    if (hull == NULL) {
        return false;
    }
    tpVec3 local = tpUnrotate(pose.rotation, direction);
    int32_t vertex = tpHull_Support(hull, local, 0), best = -1;
    double least = acrossTolerance;
    for (int32_t k = hull->neighborFirst[vertex]; k < hull->neighborFirst[vertex + 1]; ++k) {
        tpVec3 along = tpSub(hull->vertices[hull->neighbors[k]], hull->vertices[vertex]);
        double slope = fabs(tpDot(along, local)) / tpLength(along);
        if (slope < least) {
            least = slope;
            best = hull->neighbors[k];
        }
    }
    if (best < 0) {
        return false;
    }
    ends[0] = tpTransformPoint(pose, hull->vertices[vertex < best ? vertex : best]);
    ends[1] = tpTransformPoint(pose, hull->vertices[vertex < best ? best : vertex]);
    return true;
}

// Capsules ------------------------------------------------------------------------------------

static void capsuleEnds(const tpGeometry* geometry, tpPose pose, tpVec3 ends[2]) {
    double half = 0.5 * geometry->capsule.length;
    ends[0] = tpTransformPoint(pose, tpMakeVec3(0.0, 0.0, -half));
    ends[1] = tpTransformPoint(pose, tpMakeVec3(0.0, 0.0, half));
}

static void fillSegmentOutline(tpOutline* out, const tpVec3 ends[2], double radius) {
    out->radius = radius;
    out->rimRadius = 0.0;
    out->isPolygon = false;
    out->count = 2;
    out->segmentCount = 1;
    for (int k = 0; k < 2; ++k) {
        out->points[k] = ends[k];
        out->ids[k] = tp_lowestRim + k;
        out->segments[0][k] = k;
    }
}

static bool capsuleOutline(const tpGeometry* geometry, tpPose pose, tpVec3 normal, tpOutline* out) {
    (void)normal;
    tpVec3 ends[2];
    capsuleEnds(geometry, pose, ends);
    fillSegmentOutline(out, ends, geometry->capsule.radius);
    return geometry->capsule.length > 0.0;
}

static bool capsuleLine(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpVec3 ends[2],
                        double* radius) {
    *radius = geometry->capsule.radius;
    capsuleEnds(geometry, pose, ends);
    tpVec3 along = tpSub(ends[1], ends[0]);
    return geometry->capsule.length > 0.0 &&
           fabs(tpDot(along, direction)) <= acrossTolerance * geometry->capsule.length;
}

// Cylinders and cones ---------------------------------------------------------------------------
// Both have a base at -length / 2; the other end is a cap, or a cap of radius zero: the tip.

typedef struct Turned {
    double radius[2], half; // of the base and of the other end
} Turned;

static Turned turnedShape(const tpGeometry* geometry) {
    if (geometry->type == tp_cylinderShape) {
        double r = geometry->cylinder.radius;
        return (Turned){ { r, r }, 0.5 * geometry->cylinder.length };
    }
    return (Turned){ { geometry->cone.radius, 0.0 }, 0.5 * geometry->cone.length };
}

// Points of a rim, fixed to the body.
static int addRim(tpPose pose, double radius, double height, tpVec3* points, int32_t* ids) {
    static const double cosines[tp_rimPoints] = { 1.0,  0.70710678118654752,
                                                  0.0,  -0.70710678118654752,
                                                  -1.0, -0.70710678118654752,
                                                  0.0,  0.70710678118654752 };
    for (int i = 0; i < tp_rimPoints; ++i) {
        double c = cosines[i], s = cosines[(i + 6) % tp_rimPoints];
        points[i] = tpTransformPoint(pose, tpMakeVec3(radius * c, radius * s, height));
        ids[i] = i;
    }
    return tp_rimPoints;
}

static bool turnedFacet(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpFacet* out) {
    Turned shape = turnedShape(geometry);
    double axial = tpUnrotate(pose.rotation, direction).z;
    int end = axial > 0.0 ? 1 : 0;
    if (shape.radius[end] <= 0.0) {
        return false;
    }
    double height = end == 1 ? shape.half : -shape.half;
    out->cosine = fabs(axial);
    out->normal = tpRotate(pose.rotation, tpMakeVec3(0.0, 0.0, end == 1 ? 1.0 : -1.0));
    out->center = tpTransformPoint(pose, tpMakeVec3(0.0, 0.0, height));
    out->radius = shape.radius[end];
    out->count = addRim(pose, out->radius, height, out->corners, out->ids);
    return true;
}

// The generator that is lowest: its two ends are the lowest points of both rims.
static void lowestGenerator(const tpGeometry* geometry, tpPose pose, tpVec3 direction,
                            tpVec3 ends[2]) {
    Turned shape = turnedShape(geometry);
    tpVec3 local = tpUnrotate(pose.rotation, direction);
    double across = sqrt(local.x * local.x + local.y * local.y);
    double x = across > 0.0 ? local.x / across : 1.0, y = across > 0.0 ? local.y / across : 0.0;
    for (int end = 0; end < 2; ++end) {
        double r = shape.radius[end];
        ends[end] =
            tpTransformPoint(pose, tpMakeVec3(r * x, r * y, end == 1 ? shape.half : -shape.half));
    }
}

// A generator within 20 degrees of the plane shows both its ends; a cap that looks towards the plane
// shows its rim, and the rim's lowest point where that is none of the fixed ones.
static bool turnedOutline(const tpGeometry* geometry, tpPose pose, tpVec3 normal, tpOutline* out) {
    tpVec3 ends[2], down = tpNeg(normal);
    lowestGenerator(geometry, pose, down, ends);
    tpVec3 along = tpSub(ends[1], ends[0]);
    bool isLying = fabs(tpDot(along, normal)) <= looksTowards * tpLength(along);
    fillSegmentOutline(out, ends, 0.0);
    if (!isLying) {
        out->count = out->segmentCount = 0;
    }
    tpFacet cap;
    int low = tpDot(normal, along) < 0.0 ? 1 : 0;
    if (!turnedFacet(geometry, pose, down, &cap) || cap.cosine < looksTowards) {
        out->points[0] = ends[isLying ? 0 : low];
        out->count = isLying ? 2 : 1;
        return true;
    }
    double lowest = tpDot(normal, cap.corners[0]);
    for (int i = 1; i < cap.count; ++i) {
        lowest = fmin(lowest, tpDot(normal, cap.corners[i]));
    }
    if (!isLying && tpDot(normal, ends[low]) < lowest - 1e-9 * cap.radius) {
        out->points[out->count++] = ends[low];
    }
    out->rimRadius = cap.radius;
    out->rimCenter = cap.center;
    out->rimAxis = cap.normal;
    for (int i = 0; i < cap.count; ++i) {
        out->ids[out->count] = cap.ids[i];
        out->points[out->count++] = cap.corners[i];
    }
    return true;
}

static bool turnedLine(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpVec3 ends[2],
                       double* radius) {
    *radius = 0.0;
    lowestGenerator(geometry, pose, direction, ends);
    tpVec3 along = tpSub(ends[1], ends[0]);
    return fabs(tpDot(along, direction)) <= acrossTolerance * tpLength(along);
}

// Planes --------------------------------------------------------------------------------------

static bool planeFacet(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpFacet* out) {
    out->normal = tpRotate(pose.rotation, geometry->plane.normal);
    out->cosine = tpDot(out->normal, direction);
    out->center = tpMulAdd(pose.position, geometry->plane.offset, out->normal);
    out->radius = INFINITY;
    out->count = 0;
    return true;
}

static const PatchClass patchClasses[tp_shapeTypeCount] = {
    [tp_boxShape] = { hullFacet, hullOutline, hullLine },
    [tp_prismShape] = { hullFacet, hullOutline, hullLine },
    [tp_hullShape] = { hullFacet, hullOutline, hullLine },
    [tp_intersectionShape] = { hullFacet, hullOutline, hullLine },
    [tp_capsuleShape] = { NULL, capsuleOutline, capsuleLine },
    [tp_cylinderShape] = { turnedFacet, turnedOutline, turnedLine },
    [tp_coneShape] = { turnedFacet, turnedOutline, turnedLine },
    [tp_planeShape] = { planeFacet, NULL, NULL },
};

bool tpFindFacet(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpFacet* out) {
    const PatchClass* class = &patchClasses[geometry->type];
    return class->facet != NULL && class->facet(geometry, pose, direction, out);
}

bool tpFindOutline(const tpGeometry* geometry, tpPose pose, tpVec3 normal, tpOutline* out) {
    const PatchClass* class = &patchClasses[geometry->type];
    return class->outline != NULL && class->outline(geometry, pose, normal, out);
}

bool tpFindLine(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpVec3 ends[2],
                double* radius) {
    const PatchClass* class = &patchClasses[geometry->type];
    return class->line != NULL && class->line(geometry, pose, direction, ends, radius);
}
