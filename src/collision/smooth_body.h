// A convex shape as the distance solver sees it: a core with its pose; the ball is added at the
// end.
//
// All of a query happens in world axes about an origin between the two shapes, so that nothing is
// lost far from the world's origin.

#ifndef TIPPE_SRC_COLLISION_SMOOTH_BODY_H
#define TIPPE_SRC_COLLISION_SMOOTH_BODY_H

#include "collision/smooth_distance.h"
#include "geometry/point_simplex.h"

// A smooth core at its place in a query.
typedef struct tpSmoothBody {
    tpSmoothCore core;
    tpMat33 rotation; // shape axes into world axes
    tpVec3 position;  // of the shape, from the origin of the query
} tpSmoothBody;

// Prepares a bounded convex shape; `shape` is its pose in the world, `origin` that of the query.
void tpPrepareSmoothBody(const tpGeometry* geometry, tpPose shape, tpVec3 origin,
                         tpSmoothBody* out);

static inline tpVec3 tpBodySupport(tpSmoothBody* body, tpVec3 direction) {
    tpVec3 p = body->core.class->support(&body->core, tpMulMTV(body->rotation, direction));
    return tpAdd(body->position, tpMulMV(body->rotation, p));
}

// The element near a point given in the shape's frame and a normal in world axes.
static inline void tpBodyElement(tpSmoothBody* body, tpVec3 local, tpVec3 normal, tpElement* out) {
    body->core.class->element(&body->core, local, tpMulMTV(body->rotation, normal), out);
    out->local = out->point;
    out->point = tpAdd(body->position, tpMulMV(body->rotation, out->local));
    out->normal = tpMulMV(body->rotation, out->normal);
    out->curvature.tangent = tpMulMV(body->rotation, out->curvature.tangent);
}

static inline tpVec3 tpBodyLocal(const tpSmoothBody* body, tpVec3 point) {
    return tpMulMTV(body->rotation, tpSub(point, body->position));
}

// The stages of the solver ------------------------------------------------------------------------

typedef enum tpGjkStatus { tp_gjkApart, tp_gjkOverlap, tp_gjkStalled } tpGjkStatus;

// The state of a descent, so that it can go on to a finer tolerance.
typedef struct tpGjk {
    tpPointSimplex simplex;
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

// Newton's method on the conditions; gives up where it is not near them after `limit` steps, and is
// content with a misfit of `roughness` times the sizes (0: to rounding). False if they were not
// met.
bool tpPolish(tpSmoothBody* a, tpSmoothBody* b, int limit, double roughness, tpElementPair* pair,
              int* iterations);

// Steps after which a start is given up that is not near: where rough answers do, the next stage is
// soon the cheaper one.
static inline int tpStepLimit(double roughness) {
    return roughness > 0.0 ? 8 : 20;
}

// The elements of both bodies at the given points (in the frames of the shapes) and normal.
void tpStartPair(tpSmoothBody* a, tpSmoothBody* b, tpVec3 localA, tpVec3 localB, tpVec3 normal,
                 tpElementPair* pair);

// The linear system of the conditions: moves u of A's and v of B's offset point (2 numbers each in
// the tangents t, o) for a wanted change `turn` of normal A plus normal B and `shift` of a - b -
// gap n. Returns the rank, 4 where the closest points are determined.
typedef struct tpPairSystem {
    double P[2][3], Q[2][3]; // xx xy yy for both bodies: da = P u, dn = Q u
    double gap;
} tpPairSystem;
void tpFillPairSystem(const tpCurvature* a, const tpCurvature* b, double sizeA, double sizeB,
                      double gap, tpVec3 t, tpVec3 o, tpPairSystem* out);
int tpSolvePairSystem(const tpPairSystem* system, int columns, double (*turn)[2],
                      double (*shift)[2], double (*u)[2], double (*v)[2]);

// The smallest translation that separates overlapping cores, over all directions, to 1e-4 of
// the depth; within the valley found it is exact, or as rough as asked for, where `isExact` says
// so, else an upper bound.
// False if the cores have no volume to search.
bool tpSearchPenetration(tpSmoothBody* a, tpSmoothBody* b, double scale, double roughness,
                         tpElementPair* pair, bool* isExact, int* iterations);

// Closed forms: false if this pair of types has none.
bool tpClosedForm(const tpGeometry* a, tpPose shapeA, const tpGeometry* b, tpPose shapeB,
                  tpSmoothResult* out);

#endif
