// Intersections of convex inequalities, and bodies given by one that the user wrote
// [ChakrabortyBerardAkellaTrinkle07, appendix].
//
// The element nearest to a point p and a normal n is that of the projection x of z = p + size n:
//
//     x - z + sum l_k grad f_k(x) = 0, f_k(x) = 0 and l_k >= 0 for the active k, f_k(x) <= 0 for
//     all.
//
// Sequential quadratic programming solves this: each step d minimises (x - z) . d + 1/2 d . H d
// with H = 1 + sum l_k hess f_k under the inequalities made linear at x. In three dimensions at
// most three of them are active, so the step is found by trying those of the last step first and
// then all choices.

#include "geometry/shape.h"

enum { maxNear = 10 };

typedef struct {
    tpVec3 x;
    int active[3]; // numbers of inequalities
    double multiplier[3];
    tpVec3 gradient[3];
    tpMat33 hessian[3];
    int count;
} Projection;

// The inequalities that may matter at a point, made linear there.
typedef struct {
    int number[maxNear];
    double value[maxNear];
    tpVec3 gradient[maxNear], scaled[maxNear]; // scaled: H^-1 gradient
    int count;
    tpVec3 free; // the step without inequalities
} Linear;

// The inequalities with the largest values at x, in descending order.
static void gatherNear(const tpSmoothCore* core, tpVec3 x, Linear* l) {
    int surfaces = tpSurfaceCount(core->geometry);
    l->count = 0;
    for (int k = 0; k < surfaces; ++k) {
        double value = tpSurfaceValue(core->geometry, k, x, NULL, NULL);
        if (l->count == maxNear && value <= l->value[maxNear - 1]) {
            continue;
        }
        int place = l->count < maxNear ? l->count++ : maxNear - 1;
        while (place > 0 && l->value[place - 1] < value) {
            l->value[place] = l->value[place - 1];
            l->number[place] = l->number[place - 1];
            place -= 1;
        }
        l->value[place] = value;
        l->number[place] = k;
    }
}

// The step in which exactly the chosen inequalities hold with equality. False if they depend on
// each other, a multiplier is negative, or another inequality fails.
static bool tryChoice(const Linear* l, const int* choice, int count, double tolerance,
                      double multiplier[3], tpVec3* step) {
    double m[3][3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
    double r[3] = { 0.0, 0.0, 0.0 }, scale = 1.0;
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            m[i][j] = tpDot(l->gradient[choice[i]], l->scaled[choice[j]]);
        }
        r[i] = l->value[choice[i]] + tpDot(l->gradient[choice[i]], l->free);
        scale *= m[i][i];
    }
    tpVec3 rows[3];
    for (int i = 0; i < 3; ++i) {
        rows[i] = tpMakeVec3(m[i][0], m[i][1], m[i][2]);
    }
    tpMat33 inverse = tpMakeMat33(tpCross(rows[1], rows[2]), tpCross(rows[2], rows[0]),
                                  tpCross(rows[0], rows[1]));
    double determinant = tpDot(rows[0], inverse.cx);
    if (!(determinant > 1e-12 * scale)) {
        return false;
    }
    tpVec3 solution = tpScale(1.0 / determinant, tpMulMV(inverse, tpMakeVec3(r[0], r[1], r[2])));
    const double parts[3] = { solution.x, solution.y, solution.z };
    *step = l->free;
    for (int i = 0; i < count; ++i) {
        if (parts[i] < 0.0) {
            return false;
        }
        multiplier[i] = parts[i];
        *step = tpMulAdd(*step, -parts[i], l->scaled[choice[i]]);
    }
    for (int k = 0; k < l->count; ++k) {
        if (l->value[k] + tpDot(l->gradient[k], *step) > tolerance) {
            return false;
        }
    }
    return true;
}

// All choices of up to three, the last active ones first.
static bool solveStep(const Linear* l, double tolerance, const Projection* last, int choice[3],
                      int* count, double multiplier[3], tpVec3* step) {
    *count = 0;
    for (int i = 0; i < last->count; ++i) {
        for (int k = 0; k < l->count; ++k) {
            if (l->number[k] == last->active[i]) {
                choice[(*count)++] = k;
            }
        }
    }
    if (*count > 0 && tryChoice(l, choice, *count, tolerance, multiplier, step)) {
        return true;
    }
    for (*count = 1; *count <= 3; ++*count) {
        for (choice[0] = 0; choice[0] < l->count; ++choice[0]) {
            int end1 = *count > 1 ? l->count : choice[0] + 2;
            for (choice[1] = choice[0] + 1; choice[1] < end1; ++choice[1]) {
                int end2 = *count > 2 ? l->count : choice[1] + 2;
                for (choice[2] = choice[1] + 1; choice[2] < end2; ++choice[2]) {
                    if (tryChoice(l, choice, *count, tolerance, multiplier, step)) {
                        return true;
                    }
                }
            }
        }
    }
    return false;
}

// Gradients of what is near, and H from the multipliers of the last step.
static bool makeLinear(const tpSmoothCore* core, tpVec3 z, const Projection* p, Linear* l) {
    gatherNear(core, p->x, l);
    tpMat33 H = tpIdentityMat33();
    for (int i = 0; i < p->count; ++i) {
        tpMat33 hessian;
        tpSurfaceValue(core->geometry, p->active[i], p->x, NULL, &hessian);
        H = tpAddMM(H, tpScaleM(p->multiplier[i], hessian));
    }
    tpMat33 inverse = tpInvert(H);
    l->free = tpMulMV(inverse, tpSub(z, p->x));
    for (int k = 0; k < l->count; ++k) {
        tpSurfaceValue(core->geometry, l->number[k], p->x, &l->gradient[k], NULL);
        l->scaled[k] = tpMulMV(inverse, l->gradient[k]);
    }
    return tpIsFiniteVec3(l->free);
}

// The inequality that z violates most at the start, with a multiplier of the right size, so that
// the first step knows how the surface bends.
static void guessActive(const tpSmoothCore* core, tpVec3 z, Projection* p) {
    tpVec3 g;
    tpSurfaceMaximum(core->geometry, z, &p->active[0]);
    tpSurfaceValue(core->geometry, p->active[0], p->x, &g, NULL);
    p->multiplier[0] = fmax(tpDot(tpSub(z, p->x), g) / tpLengthSquared(g), 0.0);
    p->count = 1;
}

// Projects z from a point near the surface. False if the steps did not settle, or z is inside.
static bool project(const tpSmoothCore* core, tpVec3 z, tpVec3 start, Projection* p) {
    p->x = start;
    guessActive(core, z, p);
    double previous = INFINITY;
    for (int k = 0; k < 40; ++k) {
        Linear l;
        int choice[3], count;
        double multiplier[3];
        tpVec3 step;
        if (!makeLinear(core, z, p, &l) ||
            !solveStep(&l, 1e-13 * core->size, p, choice, &count, multiplier, &step)) {
            return false;
        }
        double length = tpLength(step), shorten = length > core->size ? core->size / length : 1.0;
        p->x = tpMulAdd(p->x, shorten, step);
        p->count = count;
        for (int i = 0; i < count; ++i) {
            p->active[i] = l.number[choice[i]];
            p->multiplier[i] = multiplier[i];
        }
        if (length <= 1e-15 * core->size ||
            (length <= 1e-11 * core->size && length > 0.25 * previous)) {
            break;
        }
        previous = length;
        if (k == 39) {
            return false;
        }
    }
    for (int i = 0; i < p->count; ++i) {
        tpSurfaceValue(core->geometry, p->active[i], p->x, &p->gradient[i], &p->hessian[i]);
    }
    return true;
}

static tpCurvature curvatureOf(const Projection* p, tpVec3 normal, double length) {
    tpCurvature c = { tpZeroVec3(), INFINITY, INFINITY };
    if (p->count == 1) {
        return tpImplicitCurvature(p->gradient[0], &p->hessian[0]);
    }
    if (p->count == 2) {
        // Along the curve where two surfaces meet, n . x'' = -sum l_k x' . H_k x' with n = sum l_k
        // g_k.
        c.tangent = tpNormalize(tpCross(p->gradient[0], p->gradient[1]));
        c.tangent = tpNormalize(tpMulAdd(c.tangent, -tpDot(c.tangent, normal), normal));
        c.along = 0.0;
        for (int i = 0; i < 2; ++i) {
            c.along +=
                p->multiplier[i] / length * tpDot(c.tangent, tpMulMV(p->hessian[i], c.tangent));
        }
        c.along = fmax(c.along, 0.0);
    }
    return c;
}

// Support points by projection: x goes to the projection of x + t n. With t far larger than the
// body each step divides the error by about t over its size.
static tpVec3 inequalitySupport(tpSmoothCore* core, tpVec3 direction) {
    tpVec3 n = tpNormalize(direction), x = tpMulAdd(core->center, core->size, n);
    double previous = INFINITY;
    for (int k = 0; k < 20; ++k) {
        Projection p;
        if (!project(core, tpMulAdd(x, 50.0 * core->size, n), x, &p)) {
            break;
        }
        // Moves tell, not heights, which do not change any more where the point still does.
        double move = tpDistanceBetween(p.x, x);
        bool isDone =
            move <= 1e-15 * core->size || (move <= 1e-9 * core->size && move > 0.5 * previous);
        previous = move;
        x = p.x;
        if (isDone) {
            return x;
        }
    }
    return tpClassOf(core->geometry)->support(core->geometry, direction);
}

static void inequalityElement(tpSmoothCore* core, tpVec3 point, tpVec3 normal, tpElement* out) {
    tpVec3 z = tpMulAdd(point, core->size, normal);
    Projection p;
    if (!project(core, z, point, &p)) {
        out->point = inequalitySupport(core, normal);
        out->normal = tpNormalize(normal);
        out->curvature = tp_sharpCurvature;
        return;
    }
    tpVec3 d = tpSub(z, p.x);
    out->point = p.x;
    out->normal = tpNormalize(d);
    out->curvature = curvatureOf(&p, out->normal, tpLength(d));
}

const tpSmoothCoreClass tp_inequalityCore = { inequalitySupport, inequalityElement };
