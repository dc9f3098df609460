// Contacts of two boxes: separating axes, then clipping in the plane of a face
// [GottschalkLinManocha96].
//
// Of the fifteen axes (three faces of each, nine crosses of edges: box_axes.h) the one with the
// largest separation gives normal and depth where the boxes overlap. A cross of edges that is
// nearly a face's normal, the rule in stacks, stands for that face. Apart but near, the nearest
// features may be corners that no axis sees: unless contacts as near as the separation prove it,
// the general polyhedra decide. If two edges are nearest, a pair that looks ahead has the
// corners over the best face beside them: the edges stop each other, the boxes turn, and it is the
// corners that meet before the next query. Features are numbered as for hulls (geometry/hull.h), so
// that contacts keep their names either way.

#include "base/constants.h"
#include "collision/boxes.h"
#include "collision/convex_pairs.h"
#include "collision/hull_manifold.h"
#include "collision/sort_contacts.h"
#include "geometry/shape.h"

#include <float.h>

void tpBoxBatch_Set(tpBoxBatch* batch, int lane, const tpGeometry* a, tpPose poseA,
                    const tpGeometry* b, tpPose poseB) {
    const tpQuat p = poseA.rotation, q = poseB.rotation;
    const double turnA[4] = { p.w, p.x, p.y, p.z }, turnB[4] = { q.w, q.x, q.y, q.z };
    tpVec3 way = tpSub(poseB.position, poseA.position);
    const double ways[3] = { way.x, way.y, way.z };
    double radius;
    tpVec3 sizeA = tpBoxCoreSize(a, &radius), sizeB = tpBoxCoreSize(b, &radius);
    const double sizesA[3] = { sizeA.x, sizeA.y, sizeA.z };
    const double sizesB[3] = { sizeB.x, sizeB.y, sizeB.z };
    for (int k = 0; k < 4; ++k) {
        batch->rotationA[k][lane] = turnA[k];
        batch->rotationB[k][lane] = turnB[k];
    }
    for (int k = 0; k < 3; ++k) {
        batch->way[k][lane] = ways[k];
        batch->a[k][lane] = 0.5 * sizesA[k];
        batch->b[k][lane] = 0.5 * sizesB[k];
    }
}

void tpBoxBatch_Copy(tpBoxBatch* batch, int from, int to) {
    for (int k = 0; k < 4; ++k) {
        batch->rotationA[k][to] = batch->rotationA[k][from];
        batch->rotationB[k][to] = batch->rotationB[k][from];
    }
    for (int k = 0; k < 3; ++k) {
        batch->way[k][to] = batch->way[k][from];
        batch->a[k][to] = batch->a[k][from];
        batch->b[k][to] = batch->b[k][from];
    }
}

tpVec3 tpBoxBatch_FaceNormal(const tpBoxBatch* batch, int lane) {
    int face = (int)batch->face[lane], axis = face % 3;
    double side = face < 3 ? batch->t[axis][lane] : batch->s[axis][lane];
    double sign = side > 0.0 ? -1.0 : 1.0;
    tpVec3 unit = { axis == 0 ? sign : 0.0, axis == 1 ? sign : 0.0, axis == 2 ? sign : 0.0 };
    const double(*turn)[tp_boxesAtOnce] = face < 3 ? batch->rotationA : batch->rotationB;
    return tpRotate((tpQuat){ turn[0][lane], turn[1][lane], turn[2][lane], turn[3][lane] }, unit);
}

static void takeLane(const tpBoxBatch* batch, int lane, tpBoxes* boxes) {
    for (int i = 0; i < 3; ++i) {
        boxes->a[i] = batch->a[i][lane];
        boxes->b[i] = batch->b[i][lane];
        boxes->t[i] = batch->t[i][lane];
        boxes->s[i] = batch->s[i][lane];
        for (int j = 0; j < 3; ++j) {
            boxes->r[i][j] = batch->r[i][j][lane];
        }
    }
}

// The separation along a cross of edges. Parallel edges have none.
static double alongEdges(const tpBoxes* x, int i, int j) {
    int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    double across = 1.0 - x->r[i][j] * x->r[i][j];
    if (across < 1e-8) {
        return -DBL_MAX;
    }
    return (fabs(x->t[i2] * x->r[i1][j] - x->t[i1] * x->r[i2][j]) - x->a[i1] * fabs(x->r[i2][j]) -
            x->a[i2] * fabs(x->r[i1][j]) - x->b[j1] * fabs(x->r[i][j2]) -
            x->b[j2] * fabs(x->r[i][j1])) /
           sqrt(across);
}

// The axis of the largest separation: the face, or one of the crosses of edges (6 + 3 i + j) that
// may beat it. They must do so clearly.
static int bestAxis(const tpBoxes* x, int face, int edges, double* separation) {
    int best = face;
    double slack = TP_EDGE_SLACK * (x->a[0] + x->a[1] + x->a[2] + x->b[0] + x->b[1] + x->b[2]);
    for (int k = 0; edges != 0; ++k, edges >>= 1) {
        double s = (edges & 1) != 0 ? alongEdges(x, k / 3, k % 3) : -DBL_MAX;
        if (s > *separation + slack) {
            *separation = s;
            best = 6 + k;
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

// The length of a diagonal.
static double sizeOf(const double half[3]) {
    return 2.0 * sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
}

// The face that a cross of edges stands for: its normal is within TP_FACE_COSINE. -1 if there is
// none.
static int faceOfEdges(const tpBoxes* x, int axis) {
    int i = (axis - 6) / 3, j = (axis - 6) % 3;
    int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
    // The cross in the frame of A has no part along edge i.
    double n1 = -x->r[i2][j], n2 = x->r[i1][j], length = sqrt(n1 * n1 + n2 * n2);
    double alongA1 = fabs(n1), alongA2 = fabs(n2);
    double alongB1 = fabs(n1 * x->r[i1][j1] + n2 * x->r[i2][j1]);
    double alongB2 = fabs(n1 * x->r[i1][j2] + n2 * x->r[i2][j2]);
    double mostA = fmax(alongA1, alongA2), mostB = fmax(alongB1, alongB2);
    if (fmax(mostA, mostB) < TP_FACE_COSINE * length) {
        return -1;
    }
    // Of two parallel faces the larger box's is the reference, as for hulls.
    bool isTie = fabs(mostA - mostB) <= 1e-9 * length;
    bool useB = isTie ? sizeOf(x->b) >= sizeOf(x->a) : mostB > mostA;
    return useB ? 3 + (alongB2 > alongB1 ? j2 : j1) : alongA2 > alongA1 ? i2 : i1;
}

// One contact where the edges are nearest. False where their ends are nearer.
static bool collideEdges(const tpBoxes* x, int axis, const EdgePair* edges, double separation,
                         tpVec3 shift, tpContactList* out) {
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
    tpContactPoint contact = { tpAdd(onA, shift), tpAdd(surface, shift), edges->normal, separation,
                               tpMakeFeature(tp_edgeEdge, edges->edgeA, edges->edgeB) };
    tpContactList_Add(out, &contact);
    return true;
}

// Contacts along the best axis, and what is known of its face; false if they do not prove
// themselves by being as near as the separation says.
static bool collideAlong(const tpPair* pair, const tpBoxes* x, int best, int axis,
                         double separation, tpVec3 shift, tpContactList* out, tpOverFace* over) {
    double sizeA = sizeOf(x->a), sizeB = sizeOf(x->b);
    if (axis < 6) {
        *over = tpCollideOverBoxFace(pair, x, axis, shift, out);
        return !over->isEdge && over->least <= separation + 1e-9 * (sizeA + sizeB);
    }
    int face = faceOfEdges(x, axis);
    if (face < 0) {
        EdgePair edges;
        crossEdges(pair, x, axis, &edges);
        bool isFound = collideEdges(x, axis, &edges, separation, shift, out);
        if (isFound && pair->looksAhead) {
            *over = tpCollideOverBoxFace(pair, x, best, shift, out);
            over->hasEdges = true;
        }
        return isFound;
    }
    // Up to 0.6 degrees from the face's normal gaps along it differ a little.
    double slack = 5e-7 * fmin(sizeA, sizeB) + 1e-4 * fabs(separation);
    *over = tpCollideOverBoxFace(pair, x, face, shift, out);
    return !over->isEdge && over->least <= separation + slack;
}

// Of the smaller box: overlaps beyond this are those of crowds that are pressed together.
static const double deepPart = 0.002;

// Whether contacts that do not prove themselves will do for a pair that looks ahead. Apart, it is
// asked again before corners can meet. If the boxes overlap deeply, contacts over the face tell
// where they do, though a deeper corner may lie beside the face: half as deep as that is deep
// enough to push them apart. What leans on an edge overlaps little, and needs the direction of the
// edge.
static bool isNearEnough(const tpBoxes* x, const tpContactList* out, int before,
                         double separation) {
    bool isNear = separation > 0.0;
    bool isDeep = separation < -deepPart * fmin(sizeOf(x->a), sizeOf(x->b));
    for (int i = before; isDeep && !isNear && i < out->count && i < out->capacity; ++i) {
        isNear = out->points[i].gap <= 0.5 * separation;
    }
    return isNear;
}

// The contacts of the cores of one lane, whose pair this is, moved by `shift`.
static tpOverFace collideCores(const tpBoxBatch* batch, int lane, const tpPair* pair, tpVec3 shift,
                               tpPairCache* cache, tpContactList* out) {
    double separation = batch->separation[lane];
    tpOverFace over = { .isFace = false };
    if (separation > pair->margin) {
        return over;
    }
    tpBoxes boxes;
    takeLane(batch, lane, &boxes);
    int face = (int)batch->face[lane];
    int axis = bestAxis(&boxes, face, (int)batch->edges[lane], &separation);
    if (separation > pair->margin) {
        return over;
    }
    int before = out->count;
    bool isProven = collideAlong(pair, &boxes, face, axis, separation, shift, out, &over);
    if (!isProven && !(pair->looksAhead && isNearEnough(&boxes, out, before, separation))) {
        out->count = before;
        over.isFace = false;
        tpBoxHull a, b;
        tpFillBoxHull(&a, tpMakeVec3(2.0 * boxes.a[0], 2.0 * boxes.a[1], 2.0 * boxes.a[2]));
        tpFillBoxHull(&b, tpMakeVec3(2.0 * boxes.b[0], 2.0 * boxes.b[1], 2.0 * boxes.b[2]));
        tpCollideHulls(&a.hull, pair->poseA, &b.hull, pair->poseB, pair->margin, cache, out, NULL);
        for (int i = before; i < out->count && i < out->capacity; ++i) {
            out->points[i].pointA = tpAdd(out->points[i].pointA, shift);
            out->points[i].pointB = tpAdd(out->points[i].pointB, shift);
        }
    }
    return over;
}

// The contacts of one lane: cores within both radii more than the margin, made round.
static tpOverFace collideLane(const tpBoxBatch* batch, int lane, const tpPair* pair, tpVec3 shift,
                              tpPairCache* cache, tpContactList* out) {
    double radiusA, radiusB;
    tpBoxCoreSize(pair->a, &radiusA);
    tpBoxCoreSize(pair->b, &radiusB);
    tpPair cores = *pair;
    cores.margin += radiusA + radiusB;
    int first = out->count;
    tpOverFace over = collideCores(batch, lane, &cores, shift, cache, out);
    tpRoundContacts(out, first, radiusA, radiusB);
    over.least -= radiusA + radiusB;
    over.beyond -= radiusA + radiusB;
    return over;
}

tpOverFace tpBoxBatch_Collide(const tpBoxBatch* batch, int lane, const tpGeometry* a, tpPose poseA,
                              const tpGeometry* b, tpPose poseB, double margin, bool looksAhead,
                              tpPairCache* cache, tpContactList* out) {
    // As tpCollideShapes does: B at the origin.
    tpVec3 origin = poseB.position;
    poseA.position = tpSub(poseA.position, origin);
    poseB.position = tpZeroVec3();
    tpPair pair = { a, b, poseA, poseB, margin, looksAhead, NULL };
    int first = out->count;
    tpOverFace over = collideLane(batch, lane, &pair, origin, cache, out);
    int end = out->count < out->capacity ? out->count : out->capacity;
    if (end > first) {
        tpSortContacts(out->points + first, end - first);
    }
    return over;
}

// A lone pair fills all lanes.
static void collideBoxes(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    tpBoxBatch batch;
    for (int lane = 0; lane < tp_boxesAtOnce; ++lane) {
        tpBoxBatch_Set(&batch, lane, pair->a, pair->poseA, pair->b, pair->poseB);
    }
    tpBoxBatch_FindAxes(&batch);
    collideLane(&batch, 0, pair, tpZeroVec3(), cache, out);
}

const tpPairClass tp_boxPair = { collideBoxes, tpClosestCores, false };
