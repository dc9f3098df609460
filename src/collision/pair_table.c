// Which pair of shapes is asked by which functions.

#include "base/assert.h"
#include "collision/contact.h"
#include "collision/convex_pairs.h"
#include "collision/mesh_pairs.h"
#include "collision/sort_contacts.h"
#include "geometry/shape.h"

#define core &tp_corePair
#define boxb &tp_boxPair
#define sphr &tp_spherePair
#define sbox &tp_sphereBoxPair
#define segm &tp_segmentPair
#define smth &tp_smoothPair
#define plan &tp_planePair
#define mesh &tp_meshPair
#define tria &tp_trianglesPair
#define mpla &tp_meshPlanePair
#define ____ NULL

// Families of shapes (geometry/shape.h); rows are A, columns B. A pair that is empty here is asked
// the other way round; if both ways stand here, the shape with the lower type is A.
static const tpPairClass* const pairTable[tp_shapeKindCount][tp_shapeKindCount] = {
    // clang-format off
    //                    ball  box   segm  core  round mesh  field plane
    [tp_ballKind]        = { sphr, sbox, segm, core, smth, mesh, mesh, plan },
    [tp_boxKind]         = { ____, boxb, core, core, smth, mesh, mesh, plan },
    [tp_segmentKind]     = { ____, ____, segm, core, smth, mesh, mesh, plan },
    [tp_coreKind]        = { ____, ____, core, core, smth, mesh, mesh, plan },
    [tp_roundKind]       = { ____, ____, smth, smth, smth, mesh, mesh, plan },
    [tp_meshKind]        = { ____, ____, ____, ____, ____, tria, tria, mpla },
    [tp_heightFieldKind] = { ____, ____, ____, ____, ____, ____, ____, ____ },
    [tp_planeKind]       = { ____, ____, ____, ____, ____, ____, ____, ____ },
    // clang-format on
};

const tpPairClass* tpFindPairClass(tpShapeType a, tpShapeType b, bool* swapped) {
    tpShapeKind kindA = tp_shapeClasses[a]->kind, kindB = tp_shapeClasses[b]->kind;
    const tpPairClass* class = pairTable[kindA][kindB];
    const tpPairClass* other = pairTable[kindB][kindA];
    *swapped = class == NULL || (other != NULL && a > b);
    return *swapped ? other : class;
}

uint64_t tpSwapFeature(uint64_t feature) {
    uint64_t mask = (UINT64_C(1) << 31) - 1;
    uint64_t kind = feature >> 62, a = feature >> 31 & mask, b = feature & mask;
    if (kind == tp_faceVertex || kind == tp_vertexFace) {
        kind = 1 - kind;
    }
    return kind << 62 | b << 31 | a;
}

tpPair tpSwapPair(const tpPair* pair) {
    tpPair swapped = *pair;
    swapped.a = pair->b;
    swapped.b = pair->a;
    swapped.poseA = pair->poseB;
    swapped.poseB = pair->poseA;
    return swapped;
}

void tpSwapContacts(tpContactList* list, int first) {
    for (int i = first; i < list->count && i < list->capacity; ++i) {
        tpContactPoint* c = &list->points[i];
        tpVec3 point = c->pointA;
        c->pointA = c->pointB;
        c->pointB = point;
        c->normal = tpNeg(c->normal);
        c->feature = tpSwapFeature(c->feature);
    }
}

void tpSwapClosest(tpClosest* closest) {
    tpVec3 point = closest->pointA;
    closest->pointA = closest->pointB;
    closest->pointB = point;
    closest->normal = tpNeg(closest->normal);
}

bool tpCollidePair(const tpPair* pair, tpPairCache* cache, tpContactList* out) {
    bool isSwapped;
    const tpPairClass* class = tpFindPairClass(pair->a->type, pair->b->type, &isSwapped);
    if (class == NULL) {
        return false;
    }
    tpPair asked = isSwapped ? tpSwapPair(pair) : *pair;
    int first = out->count;
    class->collide(&asked, cache, out);
    if (isSwapped) {
        tpSwapContacts(out, first);
        if (pair->over != NULL) {
            pair->over->isA = !pair->over->isA;
            pair->over->normal = tpNeg(pair->over->normal);
            pair->over->away = tpNeg(pair->over->away);
        }
    }
    return true;
}

tpResult tpClosestOfPair(const tpPair* pair, tpPairCache* cache, tpClosest* out) {
    bool isSwapped;
    const tpPairClass* class = tpFindPairClass(pair->a->type, pair->b->type, &isSwapped);
    if (class == NULL) {
        return tp_unsupported;
    }
    tpPair asked = isSwapped ? tpSwapPair(pair) : *pair;
    tpResult result = class->closest(&asked, cache, out);
    if (isSwapped) {
        tpSwapClosest(out);
    }
    return result;
}

// The pair with B near the origin.
static tpPair arrange(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                      double margin) {
    poseA.position = tpSub(poseA.position, poseB.position);
    poseB.position = tpZeroVec3();
    return (tpPair){ .a = a, .b = b, .poseA = poseA, .poseB = poseB, .margin = margin };
}

tpResult tpCollideShapes(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                         double margin, bool looksAhead, tpPairCache* cache, tpContactList* out,
                         tpOverFace* over) {
    tpPair pair = arrange(a, poseA, b, poseB, margin);
    pair.looksAhead = looksAhead;
    pair.over = over;
    if (over != NULL) {
        *over = (tpOverFace){ .beyond = margin };
    }
    int first = out->count;
    if (!tpCollidePair(&pair, cache, out)) {
        return tp_unsupported;
    }
    int end = out->count < out->capacity ? out->count : out->capacity;
    for (int i = first; i < end; ++i) {
        tpContactPoint* c = &out->points[i];
        c->pointA = tpAdd(c->pointA, poseB.position);
        c->pointB = tpAdd(c->pointB, poseB.position);
    }
    if (end > first) {
        tpSortContacts(out->points + first, end - first);
    }
    return tp_success;
}

tpResult tpClosestShapes(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                         tpPairCache* cache, tpClosest* out) {
    tpPair pair = arrange(a, poseA, b, poseB, INFINITY);
    tpResult result = tpClosestOfPair(&pair, cache, out);
    if (result != tp_unsupported) {
        out->pointA = tpAdd(out->pointA, poseB.position);
        out->pointB = tpAdd(out->pointB, poseB.position);
    }
    return result;
}

tpResult tpClosestPoints(const tpGeometry* a, tpPose bodyA, const tpGeometry* b, tpPose bodyB,
                         tpPairCache* cache, tpClosest* out) {
    TP_NEED(a, tp_badInput);
    TP_NEED(b, tp_badInput);
    TP_NEED(out, tp_badInput);
    return tpClosestShapes(a, tpComposePoses(bodyA, a->pose), b, tpComposePoses(bodyB, b->pose),
                           cache, out);
}

tpResult tpCollide(const tpGeometry* a, tpPose bodyA, const tpGeometry* b, tpPose bodyB,
                   double margin, tpPairCache* cache, tpContactList* out) {
    TP_NEED(a, tp_badInput);
    TP_NEED(b, tp_badInput);
    TP_NEED(out, tp_badInput);
    out->count = 0;
    return tpCollideShapes(a, tpComposePoses(bodyA, a->pose), b, tpComposePoses(bodyB, b->pose),
                           margin, false, cache, out, NULL);
}
