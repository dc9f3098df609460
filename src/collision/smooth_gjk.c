// The descent of Gilbert, Johnson and Keerthi on support maps [GilbertJohnsonKeerthi88]: the global
// stage of the distance solver.
//
// v is the point nearest to the origin of a simplex in A - B. Each support point w in the direction
// -v gives a lower bound v . w / |v| on the distance, and |v| is an upper one; the two close in
// from any start. On curved bodies the descent slows down near the end and its simplices become
// slivers, so it only leads to where Newton's method takes over; its bounds remain the judge of
// what comes out.

#include "collision/smooth_body.h"

static void addSupport(tpPointSimplex* s, tpSmoothBody* a, tpSmoothBody* b, tpVec3 direction) {
    int k = s->count++;
    s->a[k] = tpBodySupport(a, direction);
    s->b[k] = tpBodySupport(b, tpNeg(direction));
    s->w[k] = tpSub(s->a[k], s->b[k]);
}

void tpStartGjk(tpGjk* gjk, tpSmoothBody* a, tpSmoothBody* b, tpVec3 direction) {
    gjk->simplex.count = 0;
    gjk->lower = -INFINITY;
    gjk->iterations = 0;
    gjk->scale = a->core.size + b->core.size + tpDistanceBetween(a->position, b->position);
    gjk->bestNormal =
        tpLengthSquared(direction) > 0.0 ? tpNormalize(direction) : tpMakeVec3(0.0, 0.0, 1.0);
    addSupport(&gjk->simplex, a, b, tpNeg(gjk->bestNormal));
    gjk->lower = tpDot(gjk->bestNormal, gjk->simplex.w[0]);
    gjk->v = tpReducePoints(&gjk->simplex);
}

tpGjkStatus tpRunGjk(tpGjk* gjk, tpSmoothBody* a, tpSmoothBody* b, double tolerance) {
    for (int k = 0; k < 200; ++k) {
        double length = tpLength(gjk->v);
        if (length <= 1e-14 * gjk->scale || gjk->simplex.count == 4) {
            return tp_gjkOverlap;
        }
        tpVec3 n = tpScale(1.0 / length, gjk->v);
        tpPointSimplex old = gjk->simplex;
        addSupport(&gjk->simplex, a, b, tpNeg(n));
        gjk->iterations += 1;
        double bound = tpDot(n, gjk->simplex.w[gjk->simplex.count - 1]);
        if (bound > gjk->lower) {
            gjk->lower = bound;
            gjk->bestNormal = n;
        }
        if (length - bound <= tolerance * length) {
            gjk->simplex = old;
            return tp_gjkApart;
        }
        tpVec3 v = tpReducePoints(&gjk->simplex);
        if (!(tpLengthSquared(v) < length * length)) {
            gjk->simplex = old;
            return tp_gjkStalled;
        }
        gjk->v = v;
    }
    return tp_gjkStalled;
}
