// Contacts of two boxes: separating axes, then clipping in the plane of a face [GottschalkLinManocha96].
//
// Of the fifteen axes (three faces of each, nine crosses of edges) the one with the largest separation
// gives normal and depth where the boxes overlap; the axis of the last query is tried first, and where it
// still separates by more than the margin, nothing more is done. A cross of edges that is nearly a face's
// normal, the rule in stacks, stands for that face. Apart but near, the nearest features may be corners
// that no axis sees: unless contacts as near as the separation prove it, the general polyhedra decide. Where two
// edges are nearest, a pair that looks ahead has the corners over the best face beside them: the edges stop
// each other, the boxes turn, and it is the corners that meet before the next query.
// Features are numbered as for hulls (geometry/hull.h), so that contacts keep their names either way.

#include "collision/boxes.h"
#include "collision/convex_pairs.h"

#include <float.h>

enum { axisWord = 19 };

// As for hulls: edges within 0.6 degrees of a face are left to the face.
static const double faceCosine = 0.99995;

static void relate(const tpPair* pair, tpBoxes* boxes) {
    tpQuat inverse = tpConjugate(pair->poseA.rotation);
    tpMat33 r = tpMatFromQuat(tpMulQQ(inverse, pair->poseB.rotation));
    tpVec3 t = tpRotate(inverse, tpSub(pair->poseB.position, pair->poseA.position));
    tpVec3 s = tpMulMTV(r, t);
    tpVec3 a = tpScale(0.5, pair->a->box.size), b = tpScale(0.5, pair->b->box.size);
    *boxes = (tpBoxes){
        { a.x, a.y, a.z },
        { b.x, b.y, b.z },
        { { r.cx.x, r.cy.x, r.cz.x }, { r.cx.y, r.cy.y, r.cz.y }, { r.cx.z, r.cy.z, r.cz.z } },
        { { 0.0 } },
        { t.x, t.y, t.z },
        { s.x, s.y, s.z }
    };
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            boxes->absolute[i][j] = fabs(boxes->r[i][j]);
        }
    }
}

// Separations along axes: 0 to 2 faces of A, 3 to 5 faces of B, 6 + 3 i + j edges i of A and j of B.
static double alongFaceA(const tpBoxes* x, int i) {
    const double* r = x->absolute[i];
    return fabs(x->t[i]) - x->a[i] - x->b[0] * r[0] - x->b[1] * r[1] - x->b[2] * r[2];
}

static double alongFaceB(const tpBoxes* x, int j) {
    return fabs(x->s[j]) - x->b[j] - x->a[0] * x->absolute[0][j] - x->a[1] * x->absolute[1][j] -
           x->a[2] * x->absolute[2][j];
}

// Along a cross of edges whose length is the sine of their angle, not one: more than the separation where
// that is negative.
static inline double crossSeparation(const tpBoxes* x, int i, int j) {
    int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    return fabs(x->t[i2] * x->r[i1][j] - x->t[i1] * x->r[i2][j]) - x->a[i1] * x->absolute[i2][j] -
           x->a[i2] * x->absolute[i1][j] - x->b[j1] * x->absolute[i][j2] -
           x->b[j2] * x->absolute[i][j1];
}

// Parallel edges have no axis of their own.
static double alongEdges(const tpBoxes* x, int i, int j) {
    double across = 1.0 - x->r[i][j] * x->r[i][j];
    return across < 1e-8 ? -DBL_MAX : crossSeparation(x, i, j) / sqrt(across);
}

static double alongAxis(const tpBoxes* x, int axis) {
    return axis < 3   ? alongFaceA(x, axis)
           : axis < 6 ? alongFaceB(x, axis - 3)
                      : alongEdges(x, (axis - 6) / 3, (axis - 6) % 3);
}

// The axis of the largest separation; stops at one beyond the margin. Edges must beat faces clearly.
static int bestAxis(const tpBoxes* x, double margin, double* separation) {
    int best = 0;
    *separation = -DBL_MAX;
    for (int k = 0; k < 3; ++k) {
        double s = alongFaceA(x, k);
        if (s > *separation) {
            *separation = s;
            best = k;
        }
    }
    for (int k = 0; k < 3; ++k) {
        double s = alongFaceB(x, k);
        if (s > *separation) {
            *separation = s;
            best = 3 + k;
        }
    }
    if (*separation > margin) {
        return best;
    }
    double slack = 1e-10 * (x->a[0] + x->a[1] + x->a[2] + x->b[0] + x->b[1] + x->b[2]);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            // Most crosses are out before their length is asked for.
            double s = crossSeparation(x, i, j);
            if (s < 0.0 && s <= *separation + slack) {
                continue;
            }
            s = alongEdges(x, i, j);
            if (s > *separation + slack) {
                *separation = s;
                best = 6 + 3 * i + j;
            }
        }
    }
    return best;
}

// Edges -----------------------------------------------------------------------------------------

// Two edges across each other: the direction of the axis and where the edges are.
typedef struct EdgePair {
    tpVec3 normal;   // unit, from B to A
    tpVec3 onA, onB; // middles of the edges
    tpVec3 alongA, alongB;
    int32_t edgeA, edgeB;
} EdgePair;

static void crossEdges(const tpPair* pair, const tpBoxes* x, int axis, EdgePair* edges) {
    int i = (axis - 6) / 3, j = (axis - 6) % 3;
    tpMat33 a = tpMatFromQuat(pair->poseA.rotation), b = tpMatFromQuat(pair->poseB.rotation);
    const tpVec3 axesA[3] = { a.cx, a.cy, a.cz }, axesB[3] = { b.cx, b.cy, b.cz };
    tpVec3 n = tpNormalize(tpCross(axesA[i], axesB[j]));
    if (tpDot(n, tpSub(pair->poseB.position, pair->poseA.position)) > 0.0) {
        n = tpNeg(n);
    }
    int32_t vertexA = 0, vertexB = 0;
    tpVec3 onA = pair->poseA.position, onB = pair->poseB.position;
    for (int k = 0; k < 3; ++k) {
        double alongA = tpDot(n, axesA[k]), alongB = tpDot(n, axesB[k]);
        if (k != i) {
            onA = tpMulAdd(onA, alongA < 0.0 ? x->a[k] : -x->a[k], axesA[k]);
            vertexA |= (alongA < 0.0) << k;
        }
        if (k != j) {
            onB = tpMulAdd(onB, alongB > 0.0 ? x->b[k] : -x->b[k], axesB[k]);
            vertexB |= (alongB > 0.0) << k;
        }
    }
    *edges =
        (EdgePair){ n, onA, onB, axesA[i], axesB[j], tpBoxEdge(i, vertexA), tpBoxEdge(j, vertexB) };
}

// The face that a cross of edges stands for: its normal is within faceCosine. -1 where there is none.
static int faceOfEdges(const tpPair* pair, const tpBoxes* x, int axis) {
    int i = (axis - 6) / 3, j = (axis - 6) % 3;
    int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    // The cross in the frame of A has no part along edge i.
    double n1 = -x->r[i2][j], n2 = x->r[i1][j], length = sqrt(n1 * n1 + n2 * n2);
    double alongA1 = fabs(n1), alongA2 = fabs(n2);
    double alongB1 = fabs(n1 * x->r[i1][j1] + n2 * x->r[i2][j1]);
    double alongB2 = fabs(n1 * x->r[i1][j2] + n2 * x->r[i2][j2]);
    double mostA = fmax(alongA1, alongA2), mostB = fmax(alongB1, alongB2);
    if (fmax(mostA, mostB) < faceCosine * length) {
        return -1;
    }
    // Of two parallel faces the larger box's is the reference, as for hulls.
    bool isTie = fabs(mostA - mostB) <= 1e-9 * length;
    bool useB = isTie ? tpLengthSquared(pair->b->box.size) >= tpLengthSquared(pair->a->box.size)
                      : mostB > mostA;
    return useB ? 3 + (alongB2 > alongB1 ? j2 : j1) : alongA2 > alongA1 ? i2 : i1;
}

// One contact where the edges are nearest. False where their ends are nearer.
static bool collideEdges(const tpBoxes* x, int axis, const EdgePair* edges, double separation,
                         tpContactList* out) {
    int i = (axis - 6) / 3, j = (axis - 6) % 3;
    // The nearest points of the two lines, from the middles of the edges.
    tpVec3 between = tpSub(edges->onB, edges->onA);
    double c = x->r[i][j], p = tpDot(edges->alongA, between), q = tpDot(edges->alongB, between);
    double across = 1.0 - c * c, s = (p - c * q) / across, t = (c * p - q) / across;
    if (fabs(s) > x->a[i] || fabs(t) > x->b[j]) {
        return false;
    }
    tpVec3 onA = tpMulAdd(edges->onA, s, edges->alongA);
    tpVec3 surface = tpMulAdd(onA, -separation, edges->normal);
    tpContactPoint contact = { onA, surface, edges->normal, separation,
                               tpMakeFeature(tp_edgeEdge, edges->edgeA, edges->edgeB) };
    tpContactList_Add(out, &contact);
    return true;
}

static int bestFace(const tpBoxes* x) {
    int best = 0;
    for (int k = 1; k < 6; ++k) {
        best = alongAxis(x, k) > alongAxis(x, best) ? k : best;
    }
    return best;
}

// Contacts along the best axis; false where they do not prove themselves by being as near as the
// separation says.
static bool collideAlong(const tpPair* pair, const tpBoxes* x, int axis, double separation,
                         tpContactList* out) {
    double sizeA = tpLength(pair->a->box.size), sizeB = tpLength(pair->b->box.size);
    if (axis < 6) {
        return tpCollideOverBoxFace(pair, x, axis, out) <= separation + 1e-9 * (sizeA + sizeB);
    }
    int face = faceOfEdges(pair, x, axis);
    if (face < 0) {
        EdgePair edges;
        crossEdges(pair, x, axis, &edges);
        bool isFound = collideEdges(x, axis, &edges, separation, out);
        if (isFound && pair->looksAhead) {
            tpCollideOverBoxFace(pair, x, bestFace(x), out);
        }
        return isFound;
    }
    // Up to 0.6 degrees from the face's normal gaps along it differ a little.
    double slack = 5e-7 * fmin(sizeA, sizeB) + 1e-4 * fabs(separation);
    return tpCollideOverBoxFace(pair, x, face, out) <= separation + slack;
}

static void collideBoxes(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    tpBoxes boxes;
    relate(pair, &boxes);
    uint32_t remembered = cache != NULL ? cache->words[axisWord] : 0;
    if (remembered > 0 && remembered <= 15 &&
        alongAxis(&boxes, (int)remembered - 1) > pair->margin) {
        return;
    }
    double separation;
    int axis = bestAxis(&boxes, pair->margin, &separation);
    if (cache != NULL) {
        cache->words[axisWord] = (uint32_t)axis + 1;
    }
    if (separation > pair->margin) {
        return;
    }
    int before = out->count;
    if (!collideAlong(pair, &boxes, axis, separation, out)) {
        out->count = before;
        tp_corePair.collide(pair, cache, out);
    }
}

const tpPairClass tp_boxPair = { collideBoxes, tpClosestCores, false };
