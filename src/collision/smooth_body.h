// A convex shape as the distance solver sees it: a core and a ball added to it.
//
// A sphere is a point plus a ball, a capsule a segment plus a ball; every other shape is its own core
// with a ball of radius zero. Balls move the surface along its normal and change nothing else, so the
// solver works on cores and the balls are added at the end.
//
// All of a query happens in world axes about an origin between the two shapes, so that nothing is lost
// far from the world's origin.

#ifndef TIPPE_SRC_COLLISION_SMOOTH_BODY_H
#define TIPPE_SRC_COLLISION_SMOOTH_BODY_H

#include "collision/smooth_distance.h"
#include "geometry/hull.h"

// A point of a core's surface with one of its outward unit normals and its curvature there: an element
// of the normal bundle, which is a surface without edges even where the core has them.
typedef struct tpElement {
    tpVec3 point, normal;
    tpCurvature curvature;
    tpVec3 local; // the point in the shape's frame, where a small shape far away loses no digits
} tpElement;

typedef struct tpSmoothBody tpSmoothBody;

// Functions of a core, in the frame of the shape.
typedef struct tpCoreClass {
    // A point farthest along `direction`.
    tpVec3 (*support)(tpSmoothBody* body, tpVec3 direction);
    // The exact element nearest to a point and a normal that are nearly right: mostly that of the
    // projection of point + size normal; ellipsoids keep the normal, which their support map takes.
    void (*element)(tpSmoothBody* body, tpVec3 point, tpVec3 normal, tpElement* out);
} tpCoreClass;

struct tpSmoothBody {
    const tpGeometry* geometry;
    const tpCoreClass* core;
    const tpHull* hull; // of polyhedral cores but boxes
    tpMat33 rotation;   // shape axes into world axes
    tpVec3 position;    // of the shape, from the origin of the query
    tpVec3 center;      // a point inside, in the shape's frame
    tpVec3 half;        // box: half lengths; segment, cylinder, cone: z is half the length
    double radius;      // of cylinders and cones
    double rounding;    // radius of the ball added to the core
    double size;        // the core's extent: the length with which curvature is measured
    int32_t hint;       // last support vertex of a hull
};

// Prepares a bounded convex shape; `shape` is its pose in the world, `origin` that of the query.
void tpPrepareSmoothBody(const tpGeometry* geometry, tpPose shape, tpVec3 origin,
                         tpSmoothBody* out);

// Core classes by the file that has them.
extern const tpCoreClass tp_pointCore, tp_segmentCore, tp_boxCore, tp_hullCore; // smooth_flat.c
extern const tpCoreClass tp_cylinderCore, tp_coneCore; // smooth_revolution.c
extern const tpCoreClass tp_ellipsoidCore;             // smooth_ellipsoid.c
extern const tpCoreClass tp_superellipsoidCore;        // smooth_superellipsoid.c
extern const tpCoreClass tp_intersectionCore;          // smooth_intersection.c

// Principal curvatures of the surface with gradient g (not zero) and Hessian H at a point.
tpCurvature tpImplicitCurvature(tpVec3 gradient, const tpMat33* hessian);

// Curvature of the symmetric 2 x 2 form [xx xy; xy yy] on the tangents t and o, of determinant `det`.
// The determinant comes from the caller, who knows it without cancellation.
tpCurvature tpPrincipalCurvature(tpVec3 t, tpVec3 o, double xx, double xy, double yy, double det);

// The surface after a ball has been added.
static inline tpCurvature tpRoundedCurvature(tpCurvature c, double radius) {
    c.along = c.along > 0.0 ? 1.0 / (1.0 / c.along + radius) : 0.0;
    c.across = c.across > 0.0 ? 1.0 / (1.0 / c.across + radius) : 0.0;
    return c;
}

static inline tpVec3 tpBodySupport(tpSmoothBody* body, tpVec3 direction) {
    tpVec3 p = body->core->support(body, tpMulMTV(body->rotation, direction));
    return tpAdd(body->position, tpMulMV(body->rotation, p));
}

// The element near a point given in the shape's frame and a normal in world axes.
static inline void tpBodyElement(tpSmoothBody* body, tpVec3 local, tpVec3 normal, tpElement* out) {
    body->core->element(body, local, tpMulMTV(body->rotation, normal), out);
    out->local = out->point;
    out->point = tpAdd(body->position, tpMulMV(body->rotation, out->local));
    out->normal = tpMulMV(body->rotation, out->normal);
    out->curvature.tangent = tpMulMV(body->rotation, out->curvature.tangent);
}

static inline tpVec3 tpBodyLocal(const tpSmoothBody* body, tpVec3 point) {
    return tpMulMTV(body->rotation, tpSub(point, body->position));
}

// The stages of the solver ------------------------------------------------------------------------

// Points of A - B with the points of A and B they come from.
typedef struct tpSimplex {
    int count; // 1 to 4
    tpVec3 w[4], a[4], b[4];
    double weight[4]; // of the point nearest to the origin
} tpSimplex;

// Reduces a simplex to the smallest face that holds the point nearest to the origin; returns that
// point. Exact zero for a tetrahedron that holds the origin.
tpVec3 tpReduceSimplex(tpSimplex* simplex);

typedef enum tpGjkStatus { tp_gjkApart, tp_gjkOverlap, tp_gjkStalled } tpGjkStatus;

// The state of a descent, so that it can go on to a finer tolerance.
typedef struct tpGjk {
    tpSimplex simplex;
    tpVec3 v;          // nearest point of the simplex
    tpVec3 bestNormal; // unit, with the largest lower bound so far
    double lower;      // that bound: no point of A - B is nearer to the origin, if positive
    double scale;      // of all lengths
    int iterations;
} tpGjk;

void tpStartGjk(tpGjk* gjk, tpSmoothBody* a, tpSmoothBody* b, tpVec3 direction);

// Goes on until |v| - lower <= tolerance |v|.
tpGjkStatus tpRunGjk(tpGjk* gjk, tpSmoothBody* a, tpSmoothBody* b, double tolerance);

// The pair of elements that the solver moves.
typedef struct tpElementPair {
    tpElement a, b;
    tpVec3 normal; // from B to A
    double gap;
    double misfit; // how far from the conditions, m
} tpElementPair;

// Newton's method on the conditions; gives up where it is not near them after `limit` steps. False
// where they were not met.
bool tpPolish(tpSmoothBody* a, tpSmoothBody* b, int limit, tpElementPair* pair, int* iterations);

// The elements of both bodies at the given points (in the frames of the shapes) and normal.
void tpStartPair(tpSmoothBody* a, tpSmoothBody* b, tpVec3 localA, tpVec3 localB, tpVec3 normal,
                 tpElementPair* pair);

// The linear system of the conditions: moves u of A's and v of B's offset point (2 numbers each in the
// tangents t, o) for a wanted change `turn` of normal A plus normal B and `shift` of a - b - gap n.
// Returns the rank, 4 where the closest points are determined.
typedef struct tpPairSystem {
    double P[2][3], Q[2][3]; // xx xy yy for both bodies: da = P u, dn = Q u
    double gap;
} tpPairSystem;
void tpFillPairSystem(const tpCurvature* a, const tpCurvature* b, double sizeA, double sizeB,
                      double gap, tpVec3 t, tpVec3 o, tpPairSystem* out);
int tpSolvePairSystem(const tpPairSystem* system, int columns, double (*turn)[2],
                      double (*shift)[2], double (*u)[2], double (*v)[2]);

// The smallest translation that separates overlapping cores, over all directions, to 1e-4 of
// the depth; within the valley found it is exact where `isExact` says so, else an upper bound. False
// where the cores have no volume to search.
bool tpSearchPenetration(tpSmoothBody* a, tpSmoothBody* b, double scale, tpElementPair* pair,
                         bool* isExact, int* iterations);

// Closed forms: false where this pair of types has none.
bool tpClosedForm(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                  tpSmoothResult* out);

#endif
