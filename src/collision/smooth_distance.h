// Signed distance of two convex shapes, with closest points, normal and curvature, and the
// derivatives of all of these with respect to both poses [ChakrabortyBerardAkellaTrinkle07, sec. IV
// and appendix].
//
//          A                    a, b    closest points (deepest ones where the shapes overlap)
//        --a--                  n       unit normal, from B to A
//          ^ n                  gap     n . (a - b), negative if the shapes overlap
//        --b--                  -n is an outward normal of A at a, n one of B at b
//          B
//
// These conditions (eq. 9 of the paper, normals aligned) hold through contact into overlap. There
// gap is the largest of all -h_A(-n) - h_B(n), h the support functions: minus the smallest
// translation that separates the shapes.
//
// Every pair of convex shapes is served.

#ifndef TIPPE_SRC_COLLISION_SMOOTH_DISTANCE_H
#define TIPPE_SRC_COLLISION_SMOOTH_DISTANCE_H

#include "geometry/smooth_core.h"

// Where the last query of a pair ended; a zeroed one is empty. It makes the next query of the same
// pair faster. In a shallow overlap with several local minima of depth it keeps to the one it came
// from. Single precision does for a start.
typedef struct tpSmoothCache {
    float normal[3];            // in the frame of shape A; zero if the cache is empty
    float pointA[3], pointB[3]; // in the frames of the two shapes, before rounding
} tpSmoothCache;

typedef struct tpSmoothResult {
    double gap;            // m
    tpVec3 normal;         // unit, from B to A, world
    tpVec3 pointA, pointB; // world
    tpCurvature curvatureA, curvatureB;
    int iterations; // of all stages together; 0 for closed forms
    bool converged; // the conditions above hold to rounding, or to the roughness asked for
} tpSmoothResult;

// Signed distance of A and B. `cache` may be NULL. False if a shape is not convex, or if
// there is no distance (two half spaces that are not opposite overlap without bound: the gap is
// -INFINITY).
bool tpSmoothClosest(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                     tpSmoothCache* cache, tpSmoothResult* out);

// The same for poses of the shapes themselves.
bool tpSmoothClosestShapes(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                           tpSmoothCache* cache, tpSmoothResult* out);

// The same, content where the conditions are missed by no more than `roughness` of the shapes'
// sizes: points beside each other, or normals that are not opposite, by what the larger shape's
// points then miss. Apart, the gap is between those that a turn of the normal by that angle leaves
// and the distance of the two points, so that it is right to a few times as much; Newton's steps
// are quadratic, so that as a rule it is right to the square. Closed forms are exact as ever, and
// overlaps are searched in all directions as finely.
#define TP_CROWD_ROUGHNESS 1e-7
bool tpSmoothClosestRoughly(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                            double roughness, tpSmoothCache* cache, tpSmoothResult* out);

// Derivatives with respect to the velocities (v, omega) of body A and then of body B, in world
// axes: v moves the origin of the body's pose, omega turns about it. Row vectors of a result x:
// x' = row . nu.
typedef struct tpSmoothDerivatives {
    double gap[12];
    double normal[3][12];
    double pointA[3][12], pointB[3][12];
    bool isUnique; // the implicit function theorem holds; false for faces in parallel, where the
                   // point on them is not determined and is taken to stay on its body
} tpSmoothDerivatives;

void tpDifferentiateSmooth(const tpSmoothResult* result, tpPose poseA, tpPose poseB,
                           tpSmoothDerivatives* out);

// The inequality f_k <= 0 of a shape at a point of the world, its gradient and Hessian in world
// axes: what eq. 10 and 22 of the paper are made of. `k` counts as in geometry/surface.h.
double tpWorldSurface(const tpGeometry* geometry, tpPose body, int k, tpVec3 point,
                      tpVec3* gradient, tpMat33* hessian);

// The inequalities that hold with equality at `point` to within `tolerance`, and multipliers l_k >=
// 0 such that sum l_k grad f_k is as near as can be to `normal`, the outward unit normal of the
// shape there (eq. 22). At most three, linearly independent ones; returns their number.
typedef struct tpActiveSurfaces {
    int index[3];
    double multiplier[3];
    double residual; // |sum l_k grad f_k - normal|
} tpActiveSurfaces;
int tpFindActiveSurfaces(const tpGeometry* geometry, tpPose body, tpVec3 point, tpVec3 normal,
                         double tolerance, tpActiveSurfaces* out);

#endif
