// Which pair of shapes is asked by which functions.

#include "collision/contact.h"
#include "collision/convex_pairs.h"
#include "collision/mesh_pairs.h"
#include "collision/sort_contacts.h"

#define core &tp_corePair
#define boxb &tp_boxPair
#define sphr &tp_spherePair
#define sbox &tp_sphereBoxPair
#define smth &tp_smoothPair
#define plan &tp_planePair
#define mesh &tp_meshPair
#define tria &tp_trianglesPair
#define mpla &tp_meshPlanePair
#define ____ NULL

// Rows are A, columns B. Below the diagonal B is asked against A.
static const tpPairClass* const pairTable[tp_shapeTypeCount][tp_shapeTypeCount] = {
    // clang-format off
    //                   sphere  box   caps  cyl   cone  prism ell   super hull  mesh  hfld  plane inter impl
    /* sphere        */ { sphr, sbox, core, smth, smth, core, smth, smth, core, mesh, mesh, plan, core, smth },
    /* box           */ { ____, boxb, core, smth, smth, core, smth, smth, core, mesh, mesh, plan, core, smth },
    /* capsule       */ { ____, ____, core, smth, smth, core, smth, smth, core, mesh, mesh, plan, core, smth },
    /* cylinder      */ { ____, ____, ____, smth, smth, smth, smth, smth, smth, mesh, mesh, plan, smth, smth },
    /* cone          */ { ____, ____, ____, ____, smth, smth, smth, smth, smth, mesh, mesh, plan, smth, smth },
    /* prism         */ { ____, ____, ____, ____, ____, core, smth, smth, core, mesh, mesh, plan, core, smth },
    /* ellipsoid     */ { ____, ____, ____, ____, ____, ____, smth, smth, smth, mesh, mesh, plan, smth, smth },
    /* superellipsoid*/ { ____, ____, ____, ____, ____, ____, ____, smth, smth, mesh, mesh, plan, smth, smth },
    /* hull          */ { ____, ____, ____, ____, ____, ____, ____, ____, core, mesh, mesh, plan, core, smth },
    /* mesh          */ { ____, ____, ____, ____, ____, ____, ____, ____, ____, tria, tria, mpla, ____, ____ },
    /* height field  */ { ____, ____, ____, ____, ____, ____, ____, ____, ____, ____, ____, ____, ____, ____ },
    /* plane         */ { ____, ____, ____, ____, ____, ____, ____, ____, ____, ____, ____, ____, ____, ____ },
    /* intersection  */ { ____, ____, ____, ____, ____, ____, ____, ____, ____, mesh, mesh, plan, core, smth },
    /* implicit      */ { ____, ____, ____, ____, ____, ____, ____, ____, ____, mesh, mesh, plan, ____, smth },
    // clang-format on
};

const tpPairClass* tpFindPairClass(tpShapeType a, tpShapeType b, bool* swapped) {
    const tpPairClass* class = pairTable[a][b];
    *swapped = class == NULL;
    return class != NULL ? class : pairTable[b][a];
}

uint64_t tpSwapFeature(uint64_t feature) {
    uint64_t mask = (UINT64_C(1) << 31) - 1;
    uint64_t kind = feature >> 62, a = feature >> 31 & mask, b = feature & mask;
    if (kind == tp_faceVertex || kind == tp_vertexFace) {
        kind = 1 - kind;
    }
    return kind << 62 | b << 31 | a;
}

// The pair as its functions want it: B near the origin, and the right way round.
static const tpPairClass* arrange(const tpGeometry* a, tpPose poseA, const tpGeometry* b,
                                  tpPose poseB, double margin, tpPair* pair, bool* swapped) {
    const tpPairClass* class = tpFindPairClass(a->type, b->type, swapped);
    poseA.position = tpSub(poseA.position, poseB.position);
    poseB.position = tpZeroVec3();
    pair->a = *swapped ? b : a;
    pair->b = *swapped ? a : b;
    pair->poseA = *swapped ? poseB : poseA;
    pair->poseB = *swapped ? poseA : poseB;
    pair->margin = margin;
    pair->looksAhead = false;
    return class;
}

tpResult tpCollideShapes(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                         double margin, bool looksAhead, tpPairCache* cache, tpContactList* out) {
    tpPair pair;
    bool swapped;
    const tpPairClass* class = arrange(a, poseA, b, poseB, margin, &pair, &swapped);
    if (class == NULL) {
        return tp_unsupported;
    }
    pair.looksAhead = looksAhead;
    int first = out->count;
    class->collide(&pair, cache, out);
    int end = out->count < out->capacity ? out->count : out->capacity;
    for (int i = first; i < end; ++i) {
        tpContactPoint* c = &out->points[i];
        if (swapped) {
            tpVec3 point = c->pointA;
            c->pointA = c->pointB;
            c->pointB = point;
            c->normal = tpNeg(c->normal);
            c->feature = tpSwapFeature(c->feature);
        }
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
    tpPair pair;
    bool swapped;
    const tpPairClass* class = arrange(a, poseA, b, poseB, INFINITY, &pair, &swapped);
    if (class == NULL) {
        return tp_unsupported;
    }
    tpResult result = class->closest(&pair, cache, out);
    if (swapped) {
        tpVec3 point = out->pointA;
        out->pointA = out->pointB;
        out->pointB = point;
        out->normal = tpNeg(out->normal);
    }
    out->pointA = tpAdd(out->pointA, poseB.position);
    out->pointB = tpAdd(out->pointB, poseB.position);
    return result;
}

tpResult tpClosestPoints(const tpGeometry* a, tpPose bodyA, const tpGeometry* b, tpPose bodyB,
                         tpPairCache* cache, tpClosest* out) {
    return tpClosestShapes(a, tpComposePoses(bodyA, a->pose), b, tpComposePoses(bodyB, b->pose),
                           cache, out);
}

tpResult tpCollide(const tpGeometry* a, tpPose bodyA, const tpGeometry* b, tpPose bodyB,
                   double margin, tpPairCache* cache, tpContactList* out) {
    out->count = 0;
    return tpCollideShapes(a, tpComposePoses(bodyA, a->pose), b, tpComposePoses(bodyB, b->pose),
                           margin, false, cache, out);
}
