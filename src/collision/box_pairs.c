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

#include "collision/convex_pairs.h"

#include "collision/hull_manifold.h"

#include <float.h>

enum { axisWord = 19, maxCorners = 16 };

// As for hulls: edges within 0.6 degrees of a face are left to the face.
static const double faceCosine = 0.99995;
static const double rimTolerance = 1e-7;
static const double looksTowards = -0.34;

// Both boxes in the frame of A.
typedef struct Boxes {
    double a[3], b[3];     // half sizes
    double r[3][3];        // r[i][j] = axis i of A . axis j of B
    double absolute[3][3]; // |r|
    double t[3];           // centre of B in A
    double s[3];           // centre of B along the axes of B
} Boxes;

static void relate(const tpPair* pair, Boxes* boxes) {
    tpQuat inverse = tpConjugate(pair->poseA.rotation);
    tpMat33 r = tpMatFromQuat(tpMulQQ(inverse, pair->poseB.rotation));
    tpVec3 t = tpRotate(inverse, tpSub(pair->poseB.position, pair->poseA.position));
    tpVec3 s = tpMulMTV(r, t);
    tpVec3 a = tpScale(0.5, pair->a->box.size), b = tpScale(0.5, pair->b->box.size);
    *boxes = (Boxes){
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
static double alongFaceA(const Boxes* x, int i) {
    const double* r = x->absolute[i];
    return fabs(x->t[i]) - x->a[i] - x->b[0] * r[0] - x->b[1] * r[1] - x->b[2] * r[2];
}

static double alongFaceB(const Boxes* x, int j) {
    return fabs(x->s[j]) - x->b[j] - x->a[0] * x->absolute[0][j] - x->a[1] * x->absolute[1][j] -
           x->a[2] * x->absolute[2][j];
}

// Along a cross of edges whose length is the sine of their angle, not one: more than the separation where
// that is negative.
static inline double crossSeparation(const Boxes* x, int i, int j) {
    int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    return fabs(x->t[i2] * x->r[i1][j] - x->t[i1] * x->r[i2][j]) - x->a[i1] * x->absolute[i2][j] -
           x->a[i2] * x->absolute[i1][j] - x->b[j1] * x->absolute[i][j2] -
           x->b[j2] * x->absolute[i][j1];
}

// Parallel edges have no axis of their own.
static double alongEdges(const Boxes* x, int i, int j) {
    double across = 1.0 - x->r[i][j] * x->r[i][j];
    return across < 1e-8 ? -DBL_MAX : crossSeparation(x, i, j) / sqrt(across);
}

static double alongAxis(const Boxes* x, int axis) {
    return axis < 3   ? alongFaceA(x, axis)
           : axis < 6 ? alongFaceB(x, axis - 3)
                      : alongEdges(x, (axis - 6) / 3, (axis - 6) % 3);
}

// The axis of the largest separation; stops at one beyond the margin. Edges must beat faces clearly.
static int bestAxis(const Boxes* x, double margin, double* separation) {
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

// Faces -----------------------------------------------------------------------------------------

// The other box over a face of the reference box, in coordinates (u, v, height) of that face.
typedef struct Face {
    int axis, sign;    // of the reference
    double half[3];    // of the reference, u and v extents first, then its height
    double other[3];   // half sizes of the incident box
    double center[3];  // of the incident box
    double axes[3][3]; // axes[j]: axis j of the incident box
    int incidentAxis, incidentSign;
    double rim;
} Face;

typedef struct Corner {
    double p[3];
    int32_t vertex; // of the incident box; -1 for crossings; -2 - vertex of the reference
    int32_t after;  // line to the next corner: edge of the incident box, or -1 - side
} Corner;

// The reference box's axes in the order u, v, height.
static void layFace(const Boxes* x, int axis, Face* face) {
    bool isA = axis < 3;
    int w = axis % 3, u = (w + 1) % 3, v = (w + 2) % 3;
    const double* half = isA ? x->a : x->b;
    const double* other = isA ? x->b : x->a;
    double along = isA ? x->t[w] : -x->s[w];
    face->axis = w;
    face->sign = along >= 0.0 ? 1 : -1;
    int order[3] = { u, v, w };
    for (int k = 0; k < 3; ++k) {
        face->half[k] = half[order[k]];
        face->other[k] = other[k];
        double c = isA ? x->t[order[k]] : -x->s[order[k]];
        // Heights are measured outwards; u keeps its direction, v turns so that the frame is right-handed.
        double turn = k == 0 || face->sign > 0 ? 1.0 : -1.0;
        face->center[k] = turn * c;
        for (int j = 0; j < 3; ++j) {
            double r = isA ? x->r[order[k]][j] : x->r[j][order[k]];
            face->axes[j][k] = turn * r;
        }
    }
    face->center[2] -= face->half[2];
    face->rim = rimTolerance * sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
    face->incidentAxis = 0;
    for (int j = 1; j < 3; ++j) {
        if (fabs(face->axes[j][2]) > fabs(face->axes[face->incidentAxis][2])) {
            face->incidentAxis = j;
        }
    }
    face->incidentSign = face->axes[face->incidentAxis][2] > 0.0 ? -1 : 1;
}

static void incidentPoint(const Face* face, int32_t vertex, double p[3]) {
    for (int k = 0; k < 3; ++k) {
        p[k] = face->center[k];
        for (int j = 0; j < 3; ++j) {
            double half = vertex >> j & 1 ? face->other[j] : -face->other[j];
            p[k] += half * face->axes[j][k];
        }
    }
}

// The number of the edge of a box along `axis` through `vertex`.
static int32_t edgeOf(int axis, int32_t vertex) {
    return axis == 0   ? vertex >> 1
           : axis == 1 ? 4 + (vertex & 1) + (vertex >> 2) * 2
                       : 8 + (vertex & 3);
}

// The vertex of the reference face at (u, v) signs.
static int32_t referenceVertex(const Face* face, int u, int v) {
    int w = face->axis, signV = face->sign > 0 ? v : -v;
    return (u > 0) << (w + 1) % 3 | (signV > 0) << (w + 2) % 3 | (face->sign > 0) << w;
}

// Sides of the face: u <= half, u >= -half, v <= half, v >= -half.
static int32_t referenceEdge(const Face* face, int side) {
    int along = side < 2 ? (face->axis + 2) % 3 : (face->axis + 1) % 3;
    int direction = side % 2 == 0 ? 1 : -1;
    return edgeOf(along, side < 2 ? referenceVertex(face, direction, 1)
                                  : referenceVertex(face, 1, direction));
}

static int cutPolygon(const Face* face, int side, const Corner* in, int count, Corner* out) {
    int k = side / 2, kept = 0;
    double sign = side % 2 == 0 ? 1.0 : -1.0, limit = face->half[k];
    for (int i = 0; i < count; ++i) {
        const Corner *p = &in[i], *q = &in[i + 1 < count ? i + 1 : 0];
        double s = sign * p->p[k] - limit, t = sign * q->p[k] - limit;
        bool isIn = s <= face->rim, isNextIn = t <= face->rim;
        if (isIn) {
            out[kept++] = *p;
        }
        if (isIn == isNextIn) {
            continue;
        }
        if (isIn && s >= -face->rim) {
            out[kept - 1].after = -1 - side;
        }
        if ((isIn ? s : t) < -face->rim) {
            Corner* c = &out[kept++];
            double at = s / (s - t);
            for (int m = 0; m < 3; ++m) {
                c->p[m] = p->p[m] + at * (q->p[m] - p->p[m]);
            }
            c->vertex = -1;
            if (p->after < 0) {
                // Two sides meet in a corner of the reference: side k with one of the other pair.
                int before = -1 - p->after;
                int u = before < 2 ? before : side, v = before < 2 ? side : before;
                c->vertex = -2 - referenceVertex(face, u % 2 == 0 ? 1 : -1, v % 2 == 0 ? 1 : -1);
            }
            c->after = isIn ? -1 - side : p->after;
        }
    }
    return kept;
}

static uint64_t cornerFeature(const Face* face, const Corner* corner, int32_t before) {
    if (corner->vertex >= 0) {
        return tpMakeFeature(tp_vertexFace, corner->vertex, 0);
    }
    if (corner->vertex <= -2) {
        return tpMakeFeature(tp_faceVertex, 0, -2 - corner->vertex);
    }
    int32_t incident = corner->after >= 0 ? corner->after : before;
    int32_t side = -1 - (corner->after >= 0 ? before : corner->after);
    return tpMakeFeature(tp_edgeEdge, incident, referenceEdge(face, side));
}

// From a face's coordinates to the world.
typedef struct Lift {
    tpVec3 u, v, w, origin;
    bool isA; // the reference is A
} Lift;

static Lift liftFace(const tpPair* pair, const Face* face, bool isA) {
    tpPose pose = isA ? pair->poseA : pair->poseB;
    tpMat33 m = tpMatFromQuat(pose.rotation);
    const tpVec3 axes[3] = { m.cx, m.cy, m.cz };
    double sign = face->sign;
    Lift lift = { axes[(face->axis + 1) % 3], tpScale(sign, axes[(face->axis + 2) % 3]),
                  tpScale(sign, axes[face->axis]), pose.position, isA };
    lift.origin = tpMulAdd(lift.origin, face->half[2], lift.w);
    return lift;
}

static void emit(const Lift* lift, const double p[3], uint64_t feature, tpContactList* out) {
    tpVec3 onFace = tpMulAdd(tpMulAdd(lift->origin, p[0], lift->u), p[1], lift->v);
    tpVec3 above = tpMulAdd(onFace, p[2], lift->w);
    tpContactPoint contact = { above, onFace, lift->w, p[2], feature };
    if (lift->isA) {
        contact.pointA = onFace;
        contact.pointB = above;
        contact.normal = tpNeg(lift->w);
        contact.feature = tpSwapFeature(feature);
    }
    tpContactList_Add(out, &contact);
}

// Vertices beside the facing polygon that hang over the face, on sides that look towards it.
static void emitOthers(const Face* face, const Lift* lift, double margin, tpContactList* out) {
    int sides[3], count = 0;
    for (int j = 0; j < 3; ++j) {
        if (j != face->incidentAxis && fabs(face->axes[j][2]) >= -looksTowards) {
            sides[count++] = j;
        }
    }
    for (int32_t vertex = 0; vertex < 8 && count > 0; ++vertex) {
        bool isOnFacing = (vertex >> face->incidentAxis & 1) == (face->incidentSign > 0);
        bool looks = false;
        for (int k = 0; k < count; ++k) {
            looks = looks || (vertex >> sides[k] & 1) == (face->axes[sides[k]][2] < 0.0);
        }
        double p[3];
        incidentPoint(face, vertex, p);
        if (!isOnFacing && looks && p[2] <= margin && fabs(p[0]) <= face->half[0] + face->rim &&
            fabs(p[1]) <= face->half[1] + face->rim) {
            emit(lift, p, tpMakeFeature(tp_vertexFace, vertex, 0), out);
        }
    }
}

// Contacts over a face; returns the least gap.
static double collideOverFace(const tpPair* pair, const Boxes* x, int axis, tpContactList* out) {
    Face face;
    layFace(x, axis, &face);
    Lift lift = liftFace(pair, &face, axis < 3);
    Corner buffers[2][maxCorners];
    int f = face.incidentAxis, u = (f + 1) % 3, v = (f + 2) % 3;
    int32_t base = (face.incidentSign > 0) << f;
    // Around the facing side: u along, v along, u back, v back.
    int32_t ring[4] = { base, base | 1 << u, base | 1 << u | 1 << v, base | 1 << v };
    for (int k = 0; k < 4; ++k) {
        incidentPoint(&face, ring[k], buffers[0][k].p);
        buffers[0][k].vertex = ring[k];
        buffers[0][k].after = edgeOf(k % 2 == 0 ? u : v, k == 0 || k == 3 ? base
                                                         : k == 1         ? ring[1]
                                                                          : ring[3]);
    }
    int count = 4, current = 0;
    for (int side = 0; side < 4 && count > 0; ++side) {
        count = cutPolygon(&face, side, buffers[current], count, buffers[1 - current]);
        current = 1 - current;
    }
    int first = out->count;
    for (int i = 0; i < count; ++i) {
        const Corner* corner = &buffers[current][i];
        if (corner->p[2] <= pair->margin) {
            int32_t before = buffers[current][i > 0 ? i - 1 : count - 1].after;
            emit(&lift, corner->p, cornerFeature(&face, corner, before), out);
        }
    }
    emitOthers(&face, &lift, pair->margin, out);
    double least = DBL_MAX;
    for (int i = first; i < out->count && i < out->capacity; ++i) {
        least = fmin(least, out->points[i].gap);
    }
    return least;
}

// Edges -----------------------------------------------------------------------------------------

// Two edges across each other: the direction of the axis and where the edges are.
typedef struct EdgePair {
    tpVec3 normal;   // unit, from B to A
    tpVec3 onA, onB; // middles of the edges
    tpVec3 alongA, alongB;
    int32_t edgeA, edgeB;
    int face; // axis of the face whose normal is within faceCosine, or -1
} EdgePair;

static void crossEdges(const tpPair* pair, const Boxes* x, int axis, EdgePair* edges) {
    int i = (axis - 6) / 3, j = (axis - 6) % 3;
    tpMat33 a = tpMatFromQuat(pair->poseA.rotation), b = tpMatFromQuat(pair->poseB.rotation);
    const tpVec3 axesA[3] = { a.cx, a.cy, a.cz }, axesB[3] = { b.cx, b.cy, b.cz };
    tpVec3 n = tpNormalize(tpCross(axesA[i], axesB[j]));
    if (tpDot(n, tpSub(pair->poseB.position, pair->poseA.position)) > 0.0) {
        n = tpNeg(n);
    }
    int32_t vertexA = 0, vertexB = 0;
    tpVec3 onA = pair->poseA.position, onB = pair->poseB.position;
    double mostA = 0.0, mostB = 0.0;
    int faceA = 0, faceB = 0;
    for (int k = 0; k < 3; ++k) {
        double alongA = tpDot(n, axesA[k]), alongB = tpDot(n, axesB[k]);
        if (fabs(alongA) > mostA) {
            mostA = fabs(alongA);
            faceA = k;
        }
        if (fabs(alongB) > mostB) {
            mostB = fabs(alongB);
            faceB = 3 + k;
        }
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
        (EdgePair){ n, onA, onB, axesA[i], axesB[j], edgeOf(i, vertexA), edgeOf(j, vertexB), -1 };
    if (fmax(mostA, mostB) >= faceCosine) {
        // Of two parallel faces the larger box's is the reference, as for hulls.
        bool isTie = fabs(mostA - mostB) <= 1e-9;
        bool useB = isTie ? tpLengthSquared(pair->b->box.size) >= tpLengthSquared(pair->a->box.size)
                          : mostB > mostA;
        edges->face = useB ? faceB : faceA;
    }
}

// One contact where the edges are nearest. False where their ends are nearer.
static bool collideEdges(const Boxes* x, int axis, const EdgePair* edges, double separation,
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

static int bestFace(const Boxes* x) {
    int best = 0;
    for (int k = 1; k < 6; ++k) {
        best = alongAxis(x, k) > alongAxis(x, best) ? k : best;
    }
    return best;
}

// Contacts along the best axis; false where they do not prove themselves by being as near as the
// separation says.
static bool collideAlong(const tpPair* pair, const Boxes* x, int axis, double separation,
                         tpContactList* out) {
    double sizeA = tpLength(pair->a->box.size), sizeB = tpLength(pair->b->box.size);
    if (axis < 6) {
        return collideOverFace(pair, x, axis, out) <= separation + 1e-9 * (sizeA + sizeB);
    }
    EdgePair edges;
    crossEdges(pair, x, axis, &edges);
    if (edges.face < 0) {
        bool isFound = collideEdges(x, axis, &edges, separation, out);
        if (isFound && pair->looksAhead) {
            collideOverFace(pair, x, bestFace(x), out);
        }
        return isFound;
    }
    // Up to 0.6 degrees from the face's normal gaps along it differ a little.
    double slack = 5e-7 * fmin(sizeA, sizeB) + 1e-4 * fabs(separation);
    return collideOverFace(pair, x, edges.face, out) <= separation + slack;
}

static void collideBoxes(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    Boxes boxes;
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

const tpPairClass tp_boxPair = { collideBoxes, tpClosestCores };
