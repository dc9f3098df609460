// A convex shape as a surface of triangles sees it.

#include "collision/mesh_query.h"

#include "collision/smooth_distance.h"

void tpMeshQuery_PlaceCore(tpMeshQuery* query) {
    const tpHull* core = query->core;
    query->cornerCount = 0;
    if (core == NULL) {
        return;
    }
    tpQuat inverse = tpConjugate(query->pose.rotation);
    query->difference.a = core;
    query->difference.rotation = tpMatFromQuat(inverse);
    query->difference.offset = tpRotate(inverse, tpNeg(query->pose.position));
    query->cornerCount = core->vertexCount <= tp_fewCorners ? core->vertexCount : 0;
    for (int i = 0; i < query->cornerCount; ++i) {
        query->corners[i] =
            tpAdd(query->pose.position, tpMulMTV(query->difference.rotation, core->vertices[i]));
    }
}

void tpStartMeshQuery(const tpPair* pair, tpContactList* out, tpMeshQuery* query) {
    query->convex = *pair->a;
    query->convex.pose = tpIdentityPose();
    query->view = (tpSurfaceView){ pair->b, false };
    query->pose = tpComposePoses(tpInversePose(pair->poseB), pair->poseA);
    query->core = tpGeometry_Core(&query->convex, &query->storage, &query->radius);
    query->margin = pair->margin;
    query->roughness = pair->over != NULL ? TP_CROWD_ROUGHNESS : 0.0;
    query->toWorld = pair->poseB;
    query->out = out;
    query->outlineNormal = tpZeroVec3();
    query->lowest = 0;
    query->starts = NULL;
    tpMeshQuery_PlaceCore(query);
    if (query->core != NULL) {
        query->center = tpTransformPoint(query->pose, query->core->center);
        query->size = query->core->radius + query->radius;
    } else {
        tpPrepareSmoothCore(&query->convex, &query->smooth);
        query->center = tpTransformPoint(query->pose, query->smooth.center);
        query->size = query->smooth.size + query->smooth.rounding;
    }
    query->reach =
        tpGeometry_RadiusAbout(&query->convex, tpUntransformPoint(query->pose, query->center));
    query->hasOutline = tpClassOf(&query->convex)->outline != NULL;
}

tpTriangleQuery tpMeshQuery_Near(const tpMeshQuery* query) {
    tpBounds bounds = tpGeometry_Bounds(&query->convex, query->pose);
    tpVec3 grow = tpMakeVec3(query->margin, query->margin, query->margin);
    bounds.lower = tpSub(bounds.lower, grow);
    bounds.upper = tpAdd(bounds.upper, grow);
    return tpQueryTriangles(query->view.geometry, bounds);
}

// The corner of the core that is lowest along n, the first of equals. That of a box is known by the
// signs of n in its frame.
static int32_t lowestCorner(const tpMeshQuery* query, tpVec3 n) {
    if (query->convex.type == tp_boxShape) {
        tpVec3 own = tpMulMV(query->difference.rotation, n);
        return (own.x < 0.0 ? 1 : 0) | (own.y < 0.0 ? 2 : 0) | (own.z < 0.0 ? 4 : 0);
    }
    double least = tpDot(query->corners[0], n);
    int32_t lowest = 0;
    for (int32_t i = 1; i < query->cornerCount; ++i) {
        double along = tpDot(query->corners[i], n);
        lowest = along < least ? i : lowest;
        least = along < least ? along : least;
    }
    return lowest;
}

tpVec3 tpMeshQuery_Lowest(tpMeshQuery* query, tpVec3 n) {
    if (query->cornerCount > 0) {
        query->lowest = lowestCorner(query, n);
        return tpMulAdd(query->corners[query->lowest], -query->radius, n);
    }
    tpVec3 down = tpUnrotate(query->pose.rotation, tpNeg(n));
    if (query->core != NULL) {
        query->lowest = tpHull_Support(query->core, down, query->lowest);
        tpVec3 vertex = query->core->vertices[query->lowest];
        return tpMulAdd(tpTransformPoint(query->pose, vertex), -query->radius, n);
    }
    tpVec3 low = query->smooth.class->support(&query->smooth, down);
    return tpMulAdd(tpTransformPoint(query->pose, low), -query->smooth.rounding, n);
}

const tpTriangleStart* tpMeshQuery_StartOf(const tpMeshQuery* query, int32_t index) {
    for (int i = 0; query->starts != NULL && i < query->starts->knownCount; ++i) {
        if (query->starts->known[i].triangle == index) {
            return &query->starts->known[i];
        }
    }
    return NULL;
}

void tpMeshQuery_KeepStart(tpMeshQuery* query, int32_t index, uint32_t word) {
    tpTriangleStarts* starts = query->starts;
    if (starts != NULL && starts->foundCount < tp_mostStarts) {
        starts->found[starts->foundCount++] = (tpTriangleStart){ index, word };
    }
}
