// Cores without curved faces: points, segments, boxes and hulls.
//
// Their projections are closed, so the element nearest to a point p and a normal n is that of the
// projection of p + size n: it chooses between face, edge and corner by itself, and continuously.

#include "geometry/point_simplex.h"
#include "geometry/smooth_core.h"

// A straight edge: the normal turns across it only.
static tpCurvature edgeCurvature(tpVec3 direction) {
    tpCurvature c = { direction, 0.0, INFINITY };
    return c;
}

// The offset point whose projection the elements below are.
static tpVec3 offsetPoint(const tpSmoothCore* core, tpVec3 point, tpVec3 normal) {
    return tpMulAdd(point, core->size, normal);
}

static void setNormal(tpVec3 offset, tpVec3 fallback, tpElement* out) {
    tpVec3 d = tpSub(offset, out->point);
    out->normal = tpLengthSquared(d) > 0.0 ? tpNormalize(d) : fallback;
}

// Point -------------------------------------------------------------------------------------------

static tpVec3 pointSupport(tpSmoothCore* core, tpVec3 direction) {
    (void)core;
    (void)direction;
    return tpZeroVec3();
}

static void pointElement(tpSmoothCore* core, tpVec3 point, tpVec3 normal, tpElement* out) {
    (void)core;
    (void)point;
    out->point = tpZeroVec3();
    out->normal = tpNormalize(normal);
    out->curvature = tp_sharpCurvature;
}

const tpSmoothCoreClass tp_pointCore = { pointSupport, pointElement };

// Segment along z ---------------------------------------------------------------------------------

static tpVec3 segmentSupport(tpSmoothCore* core, tpVec3 direction) {
    return tpMakeVec3(0.0, 0.0, direction.z >= 0.0 ? core->half.z : -core->half.z);
}

static void segmentElement(tpSmoothCore* core, tpVec3 point, tpVec3 normal, tpElement* out) {
    tpVec3 offset = offsetPoint(core, point, normal);
    double z = fmin(fmax(offset.z, -core->half.z), core->half.z);
    out->point = tpMakeVec3(0.0, 0.0, z);
    setNormal(offset, normal, out);
    out->curvature = z == offset.z ? edgeCurvature(tpMakeVec3(0.0, 0.0, 1.0)) : tp_sharpCurvature;
}

const tpSmoothCoreClass tp_segmentCore = { segmentSupport, segmentElement };

// Box ---------------------------------------------------------------------------------------------

static tpVec3 boxSupport(tpSmoothCore* core, tpVec3 direction) {
    return tpMakeVec3(copysign(core->half.x, direction.x), copysign(core->half.y, direction.y),
                      copysign(core->half.z, direction.z));
}

static void boxElement(tpSmoothCore* core, tpVec3 point, tpVec3 normal, tpElement* out) {
    tpVec3 offset = offsetPoint(core, point, normal), h = core->half;
    tpVec3 p = tpMaxVec3(tpMinVec3(offset, h), tpNeg(h));
    bool outX = p.x != offset.x, outY = p.y != offset.y, outZ = p.z != offset.z;
    int outside = outX + outY + outZ;
    out->point = p;
    setNormal(offset, normal, out);
    if (outside == 2) {
        out->curvature = edgeCurvature(tpMakeVec3(!outX, !outY, !outZ));
    } else {
        out->curvature = outside == 3 ? tp_sharpCurvature : tp_flatCurvature;
    }
}

const tpSmoothCoreClass tp_boxCore = { boxSupport, boxElement };

// Hull --------------------------------------------------------------------------------------------

static tpVec3 hullSupport(tpSmoothCore* core, tpVec3 direction) {
    core->hint = tpHull_Support(core->hull, direction, core->hint);
    return core->hull->vertices[core->hint];
}

static bool areNeighbors(const tpHull* hull, int32_t a, int32_t b) {
    for (int32_t k = hull->neighborFirst[a]; k < hull->neighborFirst[a + 1]; ++k) {
        if (hull->neighbors[k] == b) {
            return true;
        }
    }
    return false;
}

// The face around vertex `a` that has all the vertices given; -1 if there is none.
static int32_t commonFace(const tpHull* hull, const int32_t* vertices, int count) {
    int32_t first = hull->vertexEdges[vertices[0]], h = first;
    do {
        int32_t face = hull->halfEdges[h].face;
        int found = 1;
        for (int32_t k = hull->faceFirst[face]; k < hull->faceFirst[face + 1]; ++k) {
            for (int i = 1; i < count; ++i) {
                found += hull->faceVertices[k] == vertices[i];
            }
        }
        if (found == count) {
            return face;
        }
        h = tpHull_NextAround(hull, h);
    } while (h != first);
    return -1;
}

// The vertices of the face of the hull in whose interior the projection of `offset` lies, and the
// projection: the descent of Gilbert, Johnson and Keerthi, which is finite for a polyhedron.
static tpVec3 projectOnHull(tpSmoothCore* core, tpVec3 offset, tpVec3 normal, int32_t vertices[4],
                            int* count) {
    tpPointSimplex simplex = { .count = 1 };
    (void)hullSupport(core, normal);
    simplex.w[0] = tpSub(core->hull->vertices[core->hint], offset);
    simplex.a[0] = tpMakeVec3((double)core->hint, 0.0, 0.0);
    tpVec3 v = tpReducePoints(&simplex);
    for (int k = 0; k < 64; ++k) {
        tpVec3 w = tpSub(hullSupport(core, tpNeg(v)), offset);
        double progress = tpDot(v, tpSub(v, w));
        if (!(progress > 1e-15 * tpLengthSquared(v)) || simplex.count == 4) {
            break;
        }
        simplex.w[simplex.count] = w;
        simplex.a[simplex.count++] = tpMakeVec3((double)core->hint, 0.0, 0.0);
        tpVec3 next = tpReducePoints(&simplex);
        if (!(tpLengthSquared(next) < tpLengthSquared(v))) {
            v = next;
            break;
        }
        v = next;
    }
    *count = simplex.count;
    for (int i = 0; i < simplex.count; ++i) {
        vertices[i] = (int32_t)simplex.a[i].x;
    }
    return tpAdd(offset, v);
}

static void hullElement(tpSmoothCore* core, tpVec3 point, tpVec3 normal, tpElement* out) {
    const tpHull* hull = core->hull;
    tpVec3 offset = offsetPoint(core, point, normal);
    int32_t vertices[4] = { 0 };
    int count = 0;
    out->point = projectOnHull(core, offset, normal, vertices, &count);
    if (count == 1) {
        out->point = hull->vertices[vertices[0]];
        setNormal(offset, normal, out);
        out->curvature = tp_sharpCurvature;
        return;
    }
    if (count == 2 && areNeighbors(hull, vertices[0], vertices[1])) {
        tpVec3 a = hull->vertices[vertices[0]];
        tpVec3 d = tpNormalize(tpSub(hull->vertices[vertices[1]], a));
        out->point = tpMulAdd(a, tpDot(tpSub(offset, a), d), d);
        setNormal(offset, normal, out);
        out->curvature = edgeCurvature(d);
        return;
    }
    int32_t face = count <= 3 ? commonFace(hull, vertices, count) : -1;
    if (face < 0) {
        face = tpHull_SupportFace(hull, normal);
    }
    tpVec3 n = hull->normals[face];
    out->point = tpMulAdd(offset, hull->offsets[face] - tpDot(n, offset), n);
    out->normal = n;
    out->curvature = tp_flatCurvature;
}

const tpSmoothCoreClass tp_hullCore = { hullSupport, hullElement };

void tpUseHullCore(const tpHull* hull, tpSmoothCore* out) {
    out->class = &tp_hullCore;
    out->hull = hull;
    out->center = hull->center;
    out->size = hull->radius;
    out->innerRadius = hull->innerRadius;
}
