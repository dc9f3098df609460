// The signed distance of two convex polyhedra, with a proof.
//
// Any unit vector n proves a lower bound of the signed distance: the least n . a over A less the
// greatest n . b over B. The signed distance is the largest of these bounds. Apart, GJK finds the
// nearest features, and n is the direction between them; where they span a plane (a face and a
// vertex, two edges) n is that plane's normal, computed from edges, and stays exact down to
// touching. Too near for a direction, or overlapping, the expanding polytope takes over.

#include "collision/difference.h"

// Bounds that agree to this fraction of the size prove the answer. Mostly they agree to 1e-15;
// sizes that differ by 1e6 and needles use the rest.
static const double exactTolerance = 1e-10;

// How closely a direction is made to fit.
static const double polishTolerance = 1e-13;

// The layout of a tpPairCache of two polyhedra: corners of the last answer. Zeros mean nothing
// known.
enum { cacheHead = 0, cacheCorners = 1, cacheInside = 8 };

static void loadSimplex(const tpDifference* d, const tpPairCache* cache, tpCornerSimplex* s) {
    int count = (int)(cache->words[cacheHead] & 7u);
    s->count = 0;
    for (int i = 0; i < count && i < 4; ++i) {
        uint32_t a = cache->words[cacheCorners + 2 * i], b = cache->words[cacheCorners + 2 * i + 1];
        // A cache of another pair is a mistake, but no reason to read out of bounds.
        if (a < (uint32_t)d->a->vertexCount && b < (uint32_t)d->b->vertexCount) {
            s->corners[s->count++] = tpDifference_Corner(d, (int32_t)a, (int32_t)b);
        }
    }
}

static void saveSimplex(const tpCornerSimplex* s, bool isInside, tpPairCache* cache) {
    cache->words[cacheHead] = (uint32_t)s->count | (isInside ? (uint32_t)cacheInside : 0u);
    for (int i = 0; i < s->count; ++i) {
        cache->words[cacheCorners + 2 * i] = (uint32_t)s->corners[i].a;
        cache->words[cacheCorners + 2 * i + 1] = (uint32_t)s->corners[i].b;
    }
}

static void weighPoints(const tpDifference* d, const tpCornerSimplex* s, tpSeparation* out) {
    tpVec3 a = tpZeroVec3(), b = tpZeroVec3();
    for (int i = 0; i < s->count; ++i) {
        a = tpMulAdd(a, s->weights[i], d->a->vertices[s->corners[i].a]);
        b = tpMulAdd(b, s->weights[i], d->b->vertices[s->corners[i].b]);
    }
    b = tpAdd(d->offset, tpMulMV(d->rotation, b));
    out->simplex = *s;
    // What rounding left across the normal is shared by both points.
    tpVec3 error = tpSub(tpSub(a, b), tpScale(out->distance, out->normal));
    out->pointA = tpMulAdd(a, -0.5, error);
    out->pointB = tpMulAdd(b, 0.5, error);
}

// The direction across `count` edges nearest to n: all of it, less its part along an edge, or the
// normal of a plane.
static tpVec3 directionAcross(tpVec3 n, const tpVec3 edges[2], int count) {
    if (count == 0) {
        return n;
    }
    tpVec3 e = tpNormalize(edges[0]);
    tpVec3 across = count == 1 ? tpMulAdd(n, -tpDot(n, e), e) : tpCross(e, edges[1]);
    across = tpNormalize(across);
    return tpDot(across, n) >= 0.0 ? across : tpNeg(across);
}

// From GJK's nearest point: its direction, made exact. Edges between the nearest features are known
// to all digits, the direction of a short nearest point is not; and a corner that comes out lower
// than the nearest point only because of that lies on the plane through it.
static void separateApart(const tpDifference* d, const tpNearestCorners* nearest,
                          tpSeparation* out) {
    const tpCornerSimplex* s = &nearest->simplex;
    double length = tpLength(nearest->point);
    tpVec3 edges[2], n = tpScale(1.0 / length, nearest->point);
    int count = 0;
    for (; count + 1 < s->count && count < 2; ++count) {
        edges[count] = tpDifference_Edge(d, &s->corners[0], &s->corners[count + 1]);
    }
    out->distance = length;
    out->normal = nearest->direction;
    double lower = nearest->lower;
    // Far enough for the direction to be good as it is.
    bool isGood = length > 1e-3 * d->size && length - lower <= polishTolerance * d->size;
    while (!isGood) {
        n = directionAcross(n, edges, count);
        tpCorner w = tpDifference_Lowest(d, n, s->corners[0]);
        double bound = tpDot(n, w.point);
        if (bound >= lower) {
            lower = bound;
            out->normal = n;
        }
        if (length - lower <= polishTolerance * d->size || count == 2) {
            break;
        }
        edges[count++] = tpDifference_Edge(d, &s->corners[0], &w);
    }
    out->isExact = length - lower <= exactTolerance * d->size;
    weighPoints(d, s, out);
}

static void sayDepth(const tpDifference* d, const tpDepth* depth, const tpCornerSimplex* corners,
                     tpSeparation* out) {
    out->distance = -depth->depth;
    out->normal = depth->normal;
    out->isExact = depth->isExact;
    weighPoints(d, corners, out);
}

tpSeparation tpSeparatePolyhedra(const tpDifference* d, double limit, tpPairCache* cache) {
    tpSeparation out = { 0 };
    tpCornerSimplex start;
    start.count = 0;
    if (cache != NULL) {
        loadSimplex(d, cache, &start);
    }
    // Two that overlapped in the last answer mostly still do: then GJK has nothing to find.
    tpDepth depth;
    bool wasInside = cache != NULL && start.count == 3 &&
                     (cache->words[cacheHead] & (uint32_t)cacheInside) != 0u;
    if (wasInside) {
        tpFindDepth(d, &start, &depth);
        if (depth.depth > exactTolerance * d->size) {
            sayDepth(d, &depth, &depth.simplex, &out);
            saveSimplex(&depth.simplex, true, cache);
            return out;
        }
    }
    tpNearestCorners nearest;
    tpFindNearest(d, &start, limit, &nearest);
    if (!nearest.isInside && nearest.lower > limit) {
        out.isFar = true;
        out.distance = nearest.lower;
        out.normal = nearest.direction;
        out.isExact = true;
        if (cache != NULL) {
            saveSimplex(&nearest.simplex, false, cache);
        }
        return out;
    }
    if (!nearest.isInside) {
        separateApart(d, &nearest, &out);
        if (out.isExact) {
            if (cache != NULL) {
                saveSimplex(&nearest.simplex, false, cache);
            }
            return out;
        }
    }
    // Overlapping, or so near that only a face of the difference gives a direction.
    if (!wasInside) {
        tpFindDepth(d, &nearest.simplex, &depth);
    }
    // Apart by less than directions can tell: the points stand, and a face gives the direction.
    // Should GJK have stopped too early, it goes on from that face.
    if (-depth.depth > 1e-15 * d->size && !nearest.isInside) {
        if (-depth.depth < out.distance - exactTolerance * d->size) {
            tpFindNearest(d, &depth.simplex, INFINITY, &nearest);
            separateApart(d, &nearest, &out);
        }
        if (-depth.depth >= out.distance - exactTolerance * d->size) {
            out.normal = depth.normal;
            out.isExact = true;
        }
        weighPoints(d, &nearest.simplex, &out);
    } else {
        // Touching to rounding, GJK's own corners carry the points best.
        bool isTouching = nearest.isInside && nearest.simplex.count < 4 &&
                          fabs(depth.depth) <= exactTolerance * d->size;
        sayDepth(d, &depth, isTouching ? &nearest.simplex : &depth.simplex, &out);
    }
    if (cache != NULL) {
        saveSimplex(&depth.simplex, true, cache);
    }
    return out;
}

// Two bits say how many corners there are, 3 that there are three of an overlap; eight and two bits
// are the vertices of each.
enum { overlapBits = 3 };

bool tpPackStart(const tpPairCache* cache, uint32_t* word) {
    uint32_t count = cache->words[cacheHead] & 7u;
    bool isInside = (cache->words[cacheHead] & (uint32_t)cacheInside) != 0u;
    if (count == 0u || count > 3u || (isInside && count != 3u)) {
        return false;
    }
    *word = isInside ? (uint32_t)overlapBits : count - 1u;
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t a = cache->words[cacheCorners + 2 * i], b = cache->words[cacheCorners + 2 * i + 1];
        if (a > 255u || b > 2u) {
            return false;
        }
        *word |= (a << 2 | b) << (2u + 10u * i);
    }
    return true;
}

tpStartCorners tpReadStart(uint32_t word) {
    uint32_t bits = word & 3u;
    tpStartCorners start = { .isInside = bits == (uint32_t)overlapBits };
    start.count = start.isInside ? 3 : (int)bits + 1;
    for (int i = 0; i < start.count; ++i) {
        uint32_t corner = word >> (2 + 10 * i) & 1023u;
        start.a[i] = (int32_t)(corner >> 2);
        start.b[i] = (int32_t)(corner & 3u);
    }
    return start;
}

void tpUnpackStart(uint32_t word, tpPairCache* cache) {
    tpStartCorners start = tpReadStart(word);
    cache->words[cacheHead] = (uint32_t)start.count | (start.isInside ? (uint32_t)cacheInside : 0u);
    for (int i = 0; i < start.count; ++i) {
        cache->words[cacheCorners + 2 * i] = (uint32_t)start.a[i];
        cache->words[cacheCorners + 2 * i + 1] = (uint32_t)start.b[i];
    }
}

uint32_t tpStartAtVertex(int32_t a, int32_t b) {
    return (uint32_t)a << 4 | (uint32_t)b << 2;
}
