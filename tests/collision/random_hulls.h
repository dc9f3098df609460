// Convex polyhedra of many kinds for random tests, with their mirror images.

#ifndef TIPPE_TESTS_COLLISION_RANDOM_HULLS_H
#define TIPPE_TESTS_COLLISION_RANDOM_HULLS_H

#include "geometry/hull.h"
#include "support/check.h"

typedef enum HullKind {
    roundHull,  // points on a sphere
    cloudHull,  // points in a ball
    flatHull,   // a plate, 1e-4 of its width thick
    needleHull, // 1e-4 of its length wide
    blockHull,  // a box
    wedgeHull,  // a prism with sharp edges
    gridHull,   // points of a coarse grid: many parallel faces and edges
    tetraHull,
    hullKindCount
} HullKind;

static inline tpVec3 randomDirection(tpRandom* random) {
    tpVec3 v;
    do {
        v = randomVec3(random, -1.0, 1.0);
    } while (tpLengthSquared(v) > 1.0 || tpLengthSquared(v) < 1e-3);
    return tpNormalize(v);
}

static inline tpVec3 randomHullPoint(tpRandom* random, HullKind kind, int i) {
    tpVec3 v = randomDirection(random);
    switch (kind) {
    case roundHull:
        return v;
    case flatHull:
        return tpMulParts(v, tpMakeVec3(1.0, 1.0, 1e-4));
    case needleHull:
        return tpMulParts(v, tpMakeVec3(1.0, 1e-4, 1e-4));
    case blockHull:
        return tpMakeVec3(i & 1 ? 0.5 : -0.5, i & 2 ? 0.7 : -0.7, i & 4 ? 1.0 : -1.0);
    case wedgeHull:
        return tpMakeVec3(i & 1 ? 1.0 : -1.0,
                          i % 6 < 2   ? 0.0
                          : i % 6 < 4 ? 0.05
                                      : -0.05,
                          i % 6 < 2 ? 1.0 : -1.0);
    case gridHull:
        return tpMakeVec3(0.5 * floor(randomBetween(random, -2.0, 3.0)),
                          0.5 * floor(randomBetween(random, -2.0, 3.0)),
                          0.5 * floor(randomBetween(random, -2.0, 3.0)));
    default:
        return tpScale(randomBetween(random, 0.0, 1.0), v);
    }
}

// A hull and its mirror image in the plane x = 0; false if the points have no volume.
static inline bool makeRandomHull(tpRandom* random, HullKind kind, int pointCount, double size,
                                  tpGeometry* out, tpGeometry* mirrored) {
    enum { maxPoints = 4096 };
    static tpVec3 points[maxPoints];
    tpAllocator allocator = tpDefaultAllocator();
    pointCount = kind == blockHull   ? 8
                 : kind == wedgeHull ? 12
                 : kind == tetraHull ? 4
                                     : pointCount;
    for (int i = 0; i < pointCount; ++i) {
        points[i] = tpScale(size, randomHullPoint(random, kind, i));
    }
    if (tpMakeHull(&allocator, points, pointCount, tpIdentityPose(), out, NULL) != tp_success) {
        return false;
    }
    for (int i = 0; i < pointCount; ++i) {
        points[i].x = -points[i].x;
    }
    if (tpMakeHull(&allocator, points, pointCount, tpIdentityPose(), mirrored, NULL) !=
        tp_success) {
        tpReleaseGeometry(out);
        return false;
    }
    return true;
}

// The support function of a hull at a pose, by looking at every vertex.
static inline double hullSupport(const tpHull* hull, tpPose pose, tpVec3 direction) {
    tpVec3 local = tpUnrotate(pose.rotation, direction);
    double most = -INFINITY;
    for (int i = 0; i < hull->vertexCount; ++i) {
        most = fmax(most, tpDot(local, hull->vertices[i]));
    }
    return most + tpDot(direction, pose.position);
}

// The lower bound of the signed distance that a unit vector from B to A proves.
static inline double provenDistance(const tpHull* a, tpPose poseA, const tpHull* b, tpPose poseB,
                                    tpVec3 n) {
    return -hullSupport(a, poseA, tpNeg(n)) - hullSupport(b, poseB, n);
}

// How far a point is outside of a hull, by its planes.
static inline double outsideHull(const tpHull* hull, tpPose pose, tpVec3 point) {
    tpVec3 local = tpUntransformPoint(pose, point);
    double most = -INFINITY;
    for (int f = 0; f < hull->faceCount; ++f) {
        most = fmax(most, tpDot(hull->normals[f], local) - hull->offsets[f]);
    }
    return most;
}

// The signed distance of overlapping hulls by trying every axis: faces of both and crosses of
// edges.
static inline double bruteDepth(const tpHull* a, tpPose poseA, const tpHull* b, tpPose poseB) {
    double best = -INFINITY;
    for (int f = 0; f < a->faceCount; ++f) {
        tpVec3 n = tpNeg(tpRotate(poseA.rotation, a->normals[f]));
        best = fmax(best, provenDistance(a, poseA, b, poseB, n));
    }
    for (int f = 0; f < b->faceCount; ++f) {
        tpVec3 n = tpRotate(poseB.rotation, b->normals[f]);
        best = fmax(best, provenDistance(a, poseA, b, poseB, n));
    }
    for (int i = 0; i < a->edgeCount; ++i) {
        tpVec3 u = tpRotate(poseA.rotation, tpSub(a->vertices[tpHull_Target(a, 2 * i)],
                                                  a->vertices[a->halfEdges[2 * i].origin]));
        for (int j = 0; j < b->edgeCount; ++j) {
            tpVec3 v = tpRotate(poseB.rotation, tpSub(b->vertices[tpHull_Target(b, 2 * j)],
                                                      b->vertices[b->halfEdges[2 * j].origin]));
            tpVec3 n = tpCross(u, v);
            if (tpLengthSquared(n) < 1e-18 * tpLengthSquared(u) * tpLengthSquared(v)) {
                continue;
            }
            n = tpNormalize(n);
            best = fmax(best, provenDistance(a, poseA, b, poseB, n));
            best = fmax(best, provenDistance(a, poseA, b, poseB, tpNeg(n)));
        }
    }
    return best;
}

#endif
