// Facets, outlines and lines of polyhedra, and of shapes that are a polyhedron with a radius.

#include "geometry/shape_parts.h"

bool tpFindFacet(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpFacet* out) {
    const tpShapeClass* class = tpClassOf(geometry);
    return class->facet != NULL && class->facet(geometry, pose, direction, out);
}

double tpFacetCosine(const tpGeometry* geometry, tpPose pose, tpVec3 direction) {
    const tpShapeClass* class = tpClassOf(geometry);
    if (class->facet == NULL) {
        return -2.0;
    }
    tpVec3 local = tpUnrotate(pose.rotation, direction);
    switch (geometry->type) {
    case tp_boxShape:
        return tpMaxPart(tpAbsVec3(local));
    case tp_cylinderShape:
        return fabs(local.z);
    case tp_hullShape:
    case tp_prismShape:
        return tpDot(geometry->hull->normals[tpHull_SupportFace(geometry->hull, local)], local);
    default: {
        tpFacet facet;
        return class->facet(geometry, pose, direction, &facet) ? facet.cosine : -2.0;
    }
    }
}

bool tpFindOutline(const tpGeometry* geometry, tpPose pose, tpVec3 normal, tpOutline* out) {
    const tpShapeClass* class = tpClassOf(geometry);
    return class->outline != NULL && class->outline(geometry, pose, normal, out);
}

bool tpFindLine(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpVec3 ends[2],
                double* radius) {
    const tpShapeClass* class = tpClassOf(geometry);
    return class->line != NULL && class->line(geometry, pose, direction, ends, radius);
}

void tpFillSegmentOutline(tpOutline* out, const tpVec3 ends[2], double radius) {
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

// The face of a core that looks along a direction, its corners moved out by `by` times the radius.
static bool coreFace(const tpGeometry* geometry, tpPose pose, tpVec3 direction, double by,
                     tpFacet* out, double* radius) {
    tpCoreStorage storage;
    const tpHull* hull = tpGeometry_Core(geometry, &storage, radius);
    if (hull == NULL) {
        return false;
    }
    tpVec3 local = tpUnrotate(pose.rotation, direction);
    int32_t face = tpHull_SupportFace(hull, local);
    tpVec3 lift = tpScale(by * *radius, hull->normals[face]);
    out->normal = tpRotate(pose.rotation, hull->normals[face]);
    out->cosine = tpDot(hull->normals[face], local);
    out->radius = 0.0;
    out->count = 0;
    for (int32_t i = hull->faceFirst[face]; i < hull->faceFirst[face + 1]; ++i) {
        if (out->count < tp_maxPatch) {
            int32_t vertex = hull->faceVertices[i];
            out->ids[out->count] = vertex;
            out->corners[out->count++] =
                tpTransformPoint(pose, tpAdd(hull->vertices[vertex], lift));
        }
    }
    out->center = out->corners[0];
    return true;
}

bool tpCoreFacet(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpFacet* out) {
    double radius;
    return coreFace(geometry, pose, direction, 1.0, out, &radius);
}

bool tpCoreOutline(const tpGeometry* geometry, tpPose pose, tpVec3 normal, tpOutline* out) {
    tpFacet facet;
    if (!coreFace(geometry, pose, tpNeg(normal), 0.0, &facet, &out->radius)) {
        return false;
    }
    out->rimRadius = 0.0;
    out->isPolygon = true;
    out->segmentCount = 0;
    out->count = facet.count;
    for (int i = 0; i < facet.count; ++i) {
        out->points[i] = facet.corners[i];
        out->ids[i] = facet.ids[i];
    }
    return true;
}

bool tpCoreLine(const tpGeometry* geometry, tpPose pose, tpVec3 direction, tpVec3 ends[2],
                double* radius) {
    tpCoreStorage storage;
    const tpHull* hull = tpGeometry_Core(geometry, &storage, radius);
    if (hull == NULL) {
        return false;
    }
    tpVec3 local = tpUnrotate(pose.rotation, direction);
    int32_t vertex = tpHull_Support(hull, local, 0), best = -1;
    double least = TP_ACROSS_SINE;
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
