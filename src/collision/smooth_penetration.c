// The smallest translation that separates two overlapping cores, over all directions.
//
// A polytope inside C = A - B grows towards its boundary [VanDenBergen01]: the support point in the
// direction m of the nearest face is added until that face lies on the boundary. Every inner
// polytope gives a lower bound on the depth, the distance of its nearest face from the origin, and
// every support function value h(m) an upper bound. On curved bodies the bounds close in slowly, so
// as soon as they have told the valleys of h apart, Newton's method goes down each valley that may
// be the deepest.
//
// Distances of faces carry a sign: a polytope that does not hold the origin yet grows towards it
// first.

#include "collision/smooth_body.h"

enum { maxVertices = 160, maxFaces = 2 * maxVertices, maxValleys = 16 };

typedef struct {
    tpVec3 normal;   // unit, outward
    double distance; // of its plane from the origin
    int16_t vertex[3];
    int16_t across[3]; // face across the edge from vertex k to k + 1
    bool isAlive, isSettled;
} SmoothFace;

typedef struct {
    tpSmoothBody *a, *b;
    tpVec3 w[maxVertices], pointA[maxVertices], pointB[maxVertices];
    SmoothFace faces[maxFaces];
    int16_t freeFaces[maxFaces];
    int vertexCount, faceCount, freeCount;
    double scale, roughness;
    int* iterations;
} DepthSearch;

static int addVertex(DepthSearch* s, tpVec3 m) {
    int k = s->vertexCount++;
    s->pointA[k] = tpBodySupport(s->a, m);
    s->pointB[k] = tpBodySupport(s->b, tpNeg(m));
    s->w[k] = tpSub(s->pointA[k], s->pointB[k]);
    *s->iterations += 1;
    return k;
}

// A face; slivers get the distance infinity and are never looked at.
static int addFace(DepthSearch* s, int i, int j, int k) {
    if (s->freeCount == 0 && s->faceCount == maxFaces) {
        return -1;
    }
    int f = s->freeCount > 0 ? s->freeFaces[--s->freeCount] : s->faceCount++;
    SmoothFace* face = &s->faces[f];
    *face = (SmoothFace){ .vertex = { (int16_t)i, (int16_t)j, (int16_t)k }, .isAlive = true };
    tpVec3 ij = tpSub(s->w[j], s->w[i]), ik = tpSub(s->w[k], s->w[i]), n = tpCross(ij, ik);
    double area = tpLength(n);
    if (area > 1e-14 * tpLength(ij) * tpLength(ik)) {
        face->normal = tpScale(1.0 / area, n);
        face->distance = tpDot(face->normal, s->w[i]);
    } else {
        face->distance = INFINITY;
    }
    return f;
}

static void joinFaces(DepthSearch* s, int f, int edge, int g) {
    int16_t from = s->faces[f].vertex[edge], to = s->faces[f].vertex[(edge + 1) % 3];
    for (int k = 0; k < 3; ++k) {
        if (s->faces[g].vertex[k] == to && s->faces[g].vertex[(k + 1) % 3] == from) {
            s->faces[g].across[k] = (int16_t)f;
            s->faces[f].across[edge] = (int16_t)g;
        }
    }
}

// Four points of C that span a volume.
static bool startTetrahedron(DepthSearch* s, tpVec3 m) {
    int i0 = addVertex(s, m), i1 = addVertex(s, tpNeg(m));
    tpVec3 axis = tpNormalize(tpSub(s->w[i1], s->w[i0])), t, o;
    tpMakeTangents(axis, &t, &o);
    int i2 = -1;
    const tpVec3 tries[4] = { t, tpNeg(t), o, tpNeg(o) };
    for (int k = 0; k < 4 && i2 < 0; ++k) {
        int i = addVertex(s, tries[k]);
        tpVec3 d = tpSub(s->w[i], s->w[i0]);
        if (tpLength(tpCross(d, axis)) > 1e-9 * s->scale) {
            i2 = i;
        } else {
            s->vertexCount -= 1;
        }
    }
    if (i2 < 0) {
        return false;
    }
    tpVec3 n = tpNormalize(tpCross(tpSub(s->w[i1], s->w[i0]), tpSub(s->w[i2], s->w[i0])));
    int i3 = addVertex(s, n);
    double height = tpDot(n, tpSub(s->w[i3], s->w[i0]));
    if (!(height > 1e-9 * s->scale)) {
        s->vertexCount -= 1;
        i3 = addVertex(s, tpNeg(n));
        height = tpDot(n, tpSub(s->w[i3], s->w[i0]));
    }
    if (!(fabs(height) > 1e-12 * s->scale)) {
        return false;
    }
    if (height > 0.0) {
        int swap = i1;
        i1 = i2;
        i2 = swap;
    }
    int f[4] = { addFace(s, i0, i1, i2), addFace(s, i0, i3, i1), addFace(s, i1, i3, i2),
                 addFace(s, i2, i3, i0) };
    for (int k = 0; k < 4; ++k) {
        for (int j = 0; j < 12; ++j) {
            if (f[j / 3] != f[k]) {
                joinFaces(s, f[j / 3], j % 3, f[k]);
            }
        }
    }
    return true;
}

// Whether the edges form loops: each ends where exactly one begins.
static bool isClosed(const int* from, const int* to, int count) {
    for (int e = 0; e < count; ++e) {
        int followers = 0;
        for (int k = 0; k < count; ++k) {
            followers += from[k] == to[e];
        }
        if (followers != 1) {
            return false;
        }
    }
    return count >= 3;
}

// Replaces all faces that see vertex v, starting from one that does, by a fan. False, with nothing
// changed, where the room ran out or rounding would tear the surface.
static bool growTo(DepthSearch* s, int start, int v) {
    int stack[maxFaces], visible[maxFaces], count = 0, depth = 0;
    bool seen[maxFaces] = { false };
    stack[depth++] = start;
    seen[start] = true;
    while (depth > 0) {
        int f = stack[--depth];
        visible[count++] = f;
        for (int k = 0; k < 3; ++k) {
            int g = s->faces[f].across[k];
            const SmoothFace* face = &s->faces[g];
            bool isVisible = isinf(face->distance) ||
                             tpDot(face->normal, s->w[v]) > face->distance + 1e-15 * s->scale;
            if (!seen[g] && isVisible) {
                seen[g] = true;
                stack[depth++] = g;
            }
        }
    }
    // Edges between what v sees and what it does not see: one closed loop.
    int from[maxFaces], to[maxFaces], outer[maxFaces], edges = 0;
    for (int i = 0; i < count; ++i) {
        const SmoothFace* face = &s->faces[visible[i]];
        for (int k = 0; k < 3; ++k) {
            if (!seen[face->across[k]]) {
                from[edges] = face->vertex[k];
                to[edges] = face->vertex[(k + 1) % 3];
                outer[edges++] = face->across[k];
            }
        }
    }
    if (s->faceCount - s->freeCount + edges - count > maxFaces || !isClosed(from, to, edges)) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        s->faces[visible[i]].isAlive = false;
        s->freeFaces[s->freeCount++] = (int16_t)visible[i];
    }
    int fan[maxFaces];
    for (int e = 0; e < edges; ++e) {
        fan[e] = addFace(s, from[e], to[e], v);
        joinFaces(s, fan[e], 0, outer[e]);
    }
    for (int e = 0; e < edges; ++e) {
        int next = 0;
        while (from[next] != to[e]) {
            next += 1;
        }
        joinFaces(s, fan[e], 1, fan[next]);
    }
    return true;
}

static int nearestFace(const DepthSearch* s) {
    int best = -1;
    for (int f = 0; f < s->faceCount; ++f) {
        const SmoothFace* face = &s->faces[f];
        if (face->isAlive && !face->isSettled &&
            (best < 0 || face->distance < s->faces[best].distance)) {
            best = f;
        }
    }
    return best;
}

// Where the face comes nearest to the origin, as points of A and B.
static void nearestOfFace(const DepthSearch* s, const SmoothFace* face, tpVec3* a, tpVec3* b) {
    tpPointSimplex simplex = { .count = 3 };
    for (int k = 0; k < 3; ++k) {
        simplex.w[k] = s->w[face->vertex[k]];
        simplex.a[k] = s->pointA[face->vertex[k]];
        simplex.b[k] = s->pointB[face->vertex[k]];
    }
    tpReducePoints(&simplex);
    *a = *b = tpZeroVec3();
    for (int k = 0; k < simplex.count; ++k) {
        *a = tpMulAdd(*a, simplex.weight[k], simplex.a[k]);
        *b = tpMulAdd(*b, simplex.weight[k], simplex.b[k]);
    }
}

// The valleys that Newton's method has gone down, and the least depth of all.
typedef struct {
    tpElementPair pair;
    double depth;
    bool isExact;
    tpVec3 bottoms[maxValleys];
    int count;
} Valleys;

// Goes down the valley around direction m of support value `upper`, from points a and b.
static void enterValley(DepthSearch* s, tpVec3 m, double upper, tpVec3 a, tpVec3 b,
                        Valleys* valleys) {
    tpElementPair pair;
    tpVec3 n = tpNeg(m);
    tpStartPair(s->a, s->b, tpBodyLocal(s->a, a), tpBodyLocal(s->b, b), n, &pair);
    bool isExact =
        tpPolish(s->a, s->b, tpStepLimit(s->roughness), s->roughness, &pair, s->iterations);
    // Above the support value it is another stationary point than the smallest of this valley.
    double slack = 1e-9 * s->scale;
    if (!isExact || -pair.gap > upper + slack) {
        tpStartPair(s->a, s->b, tpBodyLocal(s->a, a), tpBodyLocal(s->b, b), n, &pair);
        pair.a.point = a;
        pair.b.point = b;
        pair.normal = n;
        pair.gap = -upper;
        // The nearest point of a face that continues in its neighbours may lie in one of those.
        double aside = tpDistanceBetween(tpSub(a, b), tpScale(upper, m));
        isExact = aside <= 1e-10 * s->scale;
    }
    if (isExact && valleys->count < maxValleys) {
        valleys->bottoms[valleys->count++] = tpNeg(pair.normal);
    }
    // What is exact replaces what is not even where the two agree.
    double allowance = isExact && !valleys->isExact ? slack : 0.0;
    if (-pair.gap < valleys->depth + allowance) {
        valleys->depth = -pair.gap;
        valleys->pair = pair;
        valleys->isExact = isExact;
    }
}

static bool isNearBottom(const Valleys* valleys, tpVec3 m) {
    for (int k = 0; k < valleys->count; ++k) {
        if (tpDot(m, valleys->bottoms[k]) > 0.97) {
            return true;
        }
    }
    return false;
}

// Looks at the nearest face. False if nothing is left to do: no face is nearer than the depth
// known by more than a ten thousandth, or at all where that depth is not exact yet.
static bool lookAtNearest(DepthSearch* s, Valleys* valleys) {
    int f = nearestFace(s);
    double depth = valleys->depth;
    double limit = valleys->isExact ? 0.9999 * depth : depth + 1e-12 * s->scale;
    if (f < 0 || !(s->faces[f].distance < limit) || s->vertexCount == maxVertices) {
        return false;
    }
    SmoothFace* face = &s->faces[f];
    int v = addVertex(s, face->normal);
    double upper = tpDot(face->normal, s->w[v]);
    bool isFlat = upper - face->distance <= 1e-12 * s->scale;
    bool isResolved = upper - face->distance <= 0.1 * upper;
    if (isFlat ||
        (isResolved && upper < 1.05 * valleys->depth && !isNearBottom(valleys, face->normal))) {
        tpVec3 a, b;
        nearestOfFace(s, face, &a, &b);
        enterValley(s, face->normal, upper, a, b, valleys);
    }
    if (isFlat || !growTo(s, f, v)) {
        face->isSettled = true;
        s->vertexCount -= 1;
    }
    return true;
}

// The axes of both shapes are where symmetric shapes have their valleys; the best of them bounds
// the depth from the start.
static void tryAxes(DepthSearch* s, Valleys* valleys) {
    const tpMat33 *ra = &s->a->rotation, *rb = &s->b->rotation;
    const tpVec3 axes[6] = { ra->cx, ra->cy, ra->cz, rb->cx, rb->cy, rb->cz };
    tpVec3 best = axes[0], bestA = tpZeroVec3(), bestB = tpZeroVec3();
    double upper = INFINITY;
    for (int k = 0; k < 12; ++k) {
        tpVec3 m = k < 6 ? axes[k] : tpNeg(axes[k - 6]);
        tpVec3 a = tpBodySupport(s->a, m), b = tpBodySupport(s->b, tpNeg(m));
        double depth = tpDot(m, tpSub(a, b));
        if (depth < upper) {
            upper = depth;
            best = m;
            bestA = a;
            bestB = b;
        }
    }
    *s->iterations += 12;
    enterValley(s, best, upper, bestA, bestB, valleys);
}

bool tpSearchPenetration(tpSmoothBody* a, tpSmoothBody* b, double scale, double roughness,
                         tpElementPair* pair, bool* isExact, int* iterations) {
    DepthSearch search;
    search.a = a;
    search.b = b;
    search.vertexCount = search.faceCount = search.freeCount = 0;
    search.scale = scale;
    search.roughness = roughness;
    search.iterations = iterations;
    Valleys valleys = { .depth = INFINITY };
    if (!startTetrahedron(&search, tpMakeVec3(0.0, 0.0, 1.0))) {
        return false;
    }
    tryAxes(&search, &valleys);
    while (lookAtNearest(&search, &valleys)) {
    }
    *pair = valleys.pair;
    *isExact = valleys.isExact;
    return isfinite(valleys.depth);
}
