// A box over a face of another: the facing side, clipped to the face [GottschalkLinManocha96].
//
// All is done in coordinates (u, v, height) of the face, and only what becomes a contact goes back
// to the world. Most sides of the face cut nothing off: the polygon is then left as it is.

#include "base/constants.h"
#include "collision/boxes.h"
#include "collision/edge_contacts.h"

#include <float.h>

enum { maxCorners = 16 };

// The axes that follow an axis.
static const int nextAxis[3] = { 1, 2, 0 }, lastAxis[3] = { 2, 0, 1 };

// The other box over a face of the reference box, in coordinates (u, v, height) of that face.
typedef struct BoxFace {
    int axis, sign;       // of the reference
    double half[3];       // of the reference, u and v extents first, then its height
    double center[3];     // of the incident box
    double heights[3];    // of the axes of the incident box
    double ways[3][2][3]; // ways[j]: from the centre against and along axis j to the side
    int incidentAxis, incidentSign;
    double rim;
    bool isEdge; // the lowest corners of the other box lie on an edge of the face (edge_contacts.h)
} BoxFace;

typedef struct BoxCorner {
    double p[3];
    int32_t vertex; // of the incident box; -1 for crossings; -2 - vertex of the reference
    int32_t after;  // line to the next corner: edge of the incident box, or -1 - side
} BoxCorner;

// The reference box's axes in the order u, v, height.
static void layFace(const tpBoxes* x, int axis, BoxFace* face) {
    bool isA = axis < 3;
    int w = isA ? axis : axis - 3, order[3] = { nextAxis[w], lastAxis[w], w };
    const double* half = isA ? x->a : x->b;
    const double* other = isA ? x->b : x->a;
    face->axis = w;
    face->sign = (isA ? x->t[w] : -x->s[w]) >= 0.0 ? 1 : -1;
    face->incidentAxis = 0;
    for (int k = 0; k < 3; ++k) {
        // Heights are measured outwards; u keeps its direction, v turns so that the frame is
        // right-handed.
        double turn = k == 0 || face->sign > 0 ? 1.0 : -1.0;
        face->half[k] = half[order[k]];
        face->center[k] = turn * (isA ? x->t[order[k]] : -x->s[order[k]]);
        for (int j = 0; j < 3; ++j) {
            double part = turn * (isA ? x->r[order[k]][j] : x->r[j][order[k]]),
                   way = other[j] * part;
            face->ways[j][0][k] = -way;
            face->ways[j][1][k] = way;
            face->heights[j] = part;
        }
    }
    face->center[2] -= face->half[2];
    face->rim = TP_RIM_TOLERANCE * sqrt(half[0] * half[0] + half[1] * half[1] + half[2] * half[2]);
    for (int j = 1; j < 3; ++j) {
        if (fabs(face->heights[j]) > fabs(face->heights[face->incidentAxis])) {
            face->incidentAxis = j;
        }
    }
    face->incidentSign = face->heights[face->incidentAxis] > 0.0 ? -1 : 1;
}

static void incidentPoint(const BoxFace* face, int32_t vertex, double p[3]) {
    const double *x = face->ways[0][vertex & 1], *y = face->ways[1][vertex >> 1 & 1];
    const double* z = face->ways[2][vertex >> 2];
    for (int k = 0; k < 3; ++k) {
        p[k] = face->center[k] + x[k] + y[k] + z[k];
    }
}

int32_t tpBoxEdge(int axis, int32_t vertex) {
    return axis == 0   ? vertex >> 1
           : axis == 1 ? 4 + (vertex & 1) + (vertex >> 2) * 2
                       : 8 + (vertex & 3);
}

// The vertex of the reference face at (u, v) signs.
static int32_t referenceVertex(const BoxFace* face, int u, int v) {
    int w = face->axis, signV = face->sign > 0 ? v : -v;
    return (u > 0) << nextAxis[w] | (signV > 0) << lastAxis[w] | (face->sign > 0) << w;
}

// Sides of the face: u <= half, u >= -half, v <= half, v >= -half.
static int32_t referenceEdge(const BoxFace* face, int side) {
    int direction = side % 2 == 0 ? 1 : -1;
    return side < 2 ? tpBoxEdge(lastAxis[face->axis], referenceVertex(face, direction, 1))
                    : tpBoxEdge(nextAxis[face->axis], referenceVertex(face, 1, direction));
}

// Where the line from a corner to the next one crosses a side. `before` is what it lies on up to
// here.
static void crossSide(const BoxFace* face, int side, const BoxCorner* p, const BoxCorner* q,
                      double at, bool leaves, BoxCorner* c) {
    for (int m = 0; m < 3; ++m) {
        c->p[m] = p->p[m] + at * (q->p[m] - p->p[m]);
    }
    c->vertex = -1;
    if (p->after < 0) {
        // Two sides meet in a corner of the reference: side 0 or 1, which are cut first, and this.
        int u = p->after == -1 ? 1 : -1, v = side == 2 ? 1 : -1;
        c->vertex = -2 - referenceVertex(face, u, v);
    }
    c->after = leaves ? -1 - side : p->after;
}

// Whether one of four corners lies beyond a side.
static bool cuts(const BoxFace* face, int side, const BoxCorner* in) {
    int k = side / 2;
    double sign = side % 2 == 0 ? 1.0 : -1.0, limit = face->half[k], rim = face->rim;
    bool isWhole = true;
    for (int i = 0; i < 4; ++i) {
        isWhole = isWhole & (sign * in[i].p[k] - limit <= rim);
    }
    return !isWhole;
}

// Cuts off what lies beyond a side, into `out`.
static int cutPolygon(const BoxFace* face, int side, const BoxCorner* in, int count,
                      BoxCorner* out) {
    int k = side / 2, kept = 0;
    double sign = side % 2 == 0 ? 1.0 : -1.0, rim = face->rim, beyond[maxCorners + 1];
    for (int i = 0; i < count; ++i) {
        beyond[i] = sign * in[i].p[k] - face->half[k];
    }
    beyond[count] = beyond[0];
    for (int i = 0; i < count; ++i) {
        double s = beyond[i], t = beyond[i + 1];
        bool isIn = s <= rim;
        if (isIn) {
            out[kept++] = in[i];
        }
        if (isIn == (t <= rim)) {
            continue;
        }
        if (isIn && s >= -rim) {
            out[kept - 1].after = -1 - side;
        }
        if ((isIn ? s : t) < -rim) {
            const BoxCorner* next = &in[i + 1 < count ? i + 1 : 0];
            crossSide(face, side, &in[i], next, s / (s - t), isIn, &out[kept++]);
        }
    }
    return kept;
}

// Whether at most two of the four facing corners are lowest, and those are at one side of the face.
static bool isAtEdge(const BoxFace* face, const BoxCorner* facing, double rounding) {
    double lowest = facing[0].p[2], reach = tp_edgeReach * rounding;
    for (int i = 1; i < 4; ++i) {
        lowest = facing[i].p[2] < lowest ? facing[i].p[2] : lowest;
    }
    int count = 0;
    bool isNear[4] = { true, true, true, true };
    for (int i = 0; i < 4; ++i) {
        if (facing[i].p[2] > lowest + rounding) {
            continue;
        }
        ++count;
        for (int side = 0; side < 4; ++side) {
            double sign = side % 2 == 0 ? 1.0 : -1.0;
            double beyond = sign * facing[i].p[side / 2] - face->half[side / 2];
            isNear[side] = isNear[side] && fabs(beyond) < reach;
        }
    }
    return count <= 2 && fabs(lowest) < reach && (isNear[0] || isNear[1] || isNear[2] || isNear[3]);
}

// The facing side, in the face's coordinates, cut by all sides of the face. Returns where it ends
// up.
static const BoxCorner* clipFacing(BoxFace* face, double rounding, BoxCorner buffers[2][maxCorners],
                                   int* count) {
    int f = face->incidentAxis, u = nextAxis[f], v = lastAxis[f];
    int32_t base = (face->incidentSign > 0) << f;
    // Around the facing side: u along, v along, u back, v back.
    int32_t ring[4] = { base, base | 1 << u, base | 1 << u | 1 << v, base | 1 << v };
    int32_t edges[4] = { tpBoxEdge(u, base), tpBoxEdge(v, ring[1]), tpBoxEdge(u, ring[3]),
                         tpBoxEdge(v, base) };
    for (int k = 0; k < 4; ++k) {
        incidentPoint(face, ring[k], buffers[0][k].p);
        buffers[0][k].vertex = ring[k];
        buffers[0][k].after = edges[k];
    }
    face->isEdge = isAtEdge(face, buffers[0], rounding);
    // What all corners lie within, all that is cut out of them does.
    bool isCut[4];
    for (int side = 0; side < 4; ++side) {
        isCut[side] = cuts(face, side, buffers[0]);
    }
    int current = 0;
    *count = 4;
    for (int side = 0; side < 4 && *count > 0; ++side) {
        if (isCut[side]) {
            *count = cutPolygon(face, side, buffers[current], *count, buffers[1 - current]);
            current = 1 - current;
        }
    }
    return buffers[current];
}

static uint64_t cornerFeature(const BoxFace* face, const BoxCorner* corner, int32_t before) {
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
    tpVec3 normal; // of contacts
    tpVec3 shift;  // where the pair is
    bool isA;      // the reference is A
    double least;  // gap of what went up so far
    double beyond; // gap of what the margin left out
} Lift;

static Lift liftFace(const tpPair* pair, const BoxFace* face, bool isA, tpVec3 shift) {
    tpPose pose = isA ? pair->poseA : pair->poseB;
    tpMat33 m = tpMatFromQuat(pose.rotation);
    const tpVec3 axes[3] = { m.cx, m.cy, m.cz };
    double sign = face->sign;
    tpVec3 w = tpScale(sign, axes[face->axis]);
    Lift lift = { axes[nextAxis[face->axis]],
                  tpScale(sign, axes[lastAxis[face->axis]]),
                  w,
                  tpMulAdd(pose.position, face->half[2], w),
                  isA ? tpNeg(w) : w,
                  shift,
                  isA,
                  DBL_MAX,
                  DBL_MAX };
    return lift;
}

static void emit(Lift* lift, const double p[3], uint64_t feature, tpContactList* out) {
    if (out->count < out->capacity) {
        tpVec3 onFace = tpMulAdd(tpMulAdd(lift->origin, p[0], lift->u), p[1], lift->v);
        tpVec3 above = tpMulAdd(onFace, p[2], lift->w);
        tpContactPoint* contact = &out->points[out->count];
        *(lift->isA ? &contact->pointA : &contact->pointB) = tpAdd(onFace, lift->shift);
        *(lift->isA ? &contact->pointB : &contact->pointA) = tpAdd(above, lift->shift);
        contact->normal = lift->normal;
        contact->gap = p[2];
        contact->feature = feature;
    }
    lift->least = p[2] < lift->least ? p[2] : lift->least;
    ++out->count;
}

static uint64_t featureFrom(bool isA, uint64_t feature) {
    return isA ? tpSwapFeature(feature) : feature;
}

// Corners within the margin, in the order of their features.
static void emitCorners(const BoxFace* face, Lift* lift, const BoxCorner* corners, int count,
                        double margin, tpContactList* out) {
    uint64_t features[maxCorners];
    int order[maxCorners], used = 0;
    for (int i = 0; i < count; ++i) {
        if (!(corners[i].p[2] <= margin)) {
            lift->beyond = corners[i].p[2] < lift->beyond ? corners[i].p[2] : lift->beyond;
            continue;
        }
        int32_t before = corners[i > 0 ? i - 1 : count - 1].after;
        uint64_t feature = featureFrom(lift->isA, cornerFeature(face, &corners[i], before));
        int place = used++;
        for (; place > 0 && features[place - 1] > feature; --place) {
            features[place] = features[place - 1];
            order[place] = order[place - 1];
        }
        features[place] = feature;
        order[place] = i;
    }
    for (int k = 0; k < used; ++k) {
        emit(lift, corners[order[k]].p, features[k], out);
    }
}

// Vertices beside the facing polygon that hang over the face, on sides that look towards it.
static void emitOthers(const BoxFace* face, Lift* lift, double margin, tpContactList* out) {
    int sides[3], count = 0;
    for (int j = 0; j < 3; ++j) {
        if (j != face->incidentAxis && fabs(face->heights[j]) >= TP_FACING_SINE) {
            sides[count++] = j;
        }
    }
    for (int32_t vertex = 0; vertex < 8 && count > 0; ++vertex) {
        bool isOnFacing = (vertex >> face->incidentAxis & 1) == (face->incidentSign > 0);
        bool looks = false;
        for (int k = 0; k < count; ++k) {
            looks = looks || (vertex >> sides[k] & 1) == (face->heights[sides[k]] < 0.0);
        }
        double p[3];
        incidentPoint(face, vertex, p);
        if (isOnFacing || !looks || fabs(p[0]) > face->half[0] + face->rim ||
            fabs(p[1]) > face->half[1] + face->rim) {
            continue;
        }
        if (p[2] <= margin) {
            emit(lift, p, featureFrom(lift->isA, tpMakeFeature(tp_vertexFace, vertex, 0)), out);
        } else {
            lift->beyond = p[2] < lift->beyond ? p[2] : lift->beyond;
        }
    }
}

static double leastHalf(const double half[3]) {
    double least = half[0] < half[1] ? half[0] : half[1];
    return least < half[2] ? least : half[2];
}

// The outward normal of the incident box's facing side, in the world.
static tpVec3 incidentNormal(const tpPair* pair, const BoxFace* face, bool isA) {
    double along[3] = { 0.0, 0.0, 0.0 };
    along[face->incidentAxis] = face->incidentSign;
    return tpRotate(isA ? pair->poseB.rotation : pair->poseA.rotation,
                    tpMakeVec3(along[0], along[1], along[2]));
}

tpOverFace tpCollideOverBoxFace(const tpPair* pair, const tpBoxes* boxes, int axis, tpVec3 shift,
                                tpContactList* out) {
    BoxFace face;
    layFace(boxes, axis, &face);
    BoxCorner buffers[2][maxCorners];
    int count;
    double rounding = tpEdgeRounding(leastHalf(boxes->a), leastHalf(boxes->b));
    const BoxCorner* corners = clipFacing(&face, rounding, buffers, &count);
    Lift lift = liftFace(pair, &face, axis < 3, shift);
    emitCorners(&face, &lift, corners, count, pair->margin, out);
    emitOthers(&face, &lift, pair->margin, out);
    return (tpOverFace){ .isFace = true,
                         .isA = lift.isA,
                         .normal = lift.normal,
                         .incident = incidentNormal(pair, &face, lift.isA),
                         .least = lift.least,
                         .beyond = lift.beyond,
                         .isEdge = face.isEdge };
}
