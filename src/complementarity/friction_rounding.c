// Data that contradict each other: made consistent, or known to allow no better.
//
// Redundant contacts that hold (a card that stands on four corners) ask for u = 0 in more rows than
// W has rank. Their q is a gap over a step. Gaps are found to rounding, and those of a plane that
// turns are linear in the turn, so q lies outside the range of W by a little. Then no impulses of
// contacts that hold make the residual zero, and solvers that go for it spend hundreds of
// iterations on which of the contacts carries the difference.
//
// A proximal point shows what they contradict each other by. It solves the problem with
// u + weight (r - center) in place of u: the given one with q + weight (r - center). If moving the
// center does not make this change smaller, it is the part of q that no impulses answer. If q may
// be changed by as much, it is, and the point is a solution.
//
// Without such leave a bound is found for the residual. The part of u outside the range of W is
// what the method of conjugate residuals leaves of it: of all combinations of u, W u, W^2 u ... it
// takes the one with the smallest rest y, and W y = 0. For all impulses x
//
//     |u| >= y . (W x + q) / |y| = (y . q + x . W y) / |y|,
//
// hence by (y . u - reach |r| |W y|) / |y| for impulses that are within reach |r| of r.

#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"

// Residuals above this, of |q|, are not rounding.
static const double largestRounding = 1e-5;

// Part of the residual that must be proved to be unavoidable.
static const double provedPart = 1.0 / 3.0;

// How far from r impulses are covered by the bound, in units of |r|.
static const double reach = 10.0;

// y is the part outside the range once |W y| is this part of |y|.
static const double outside = 1e-3;

// Impulses that are outside their cones by this part of the largest are rounding.
static const double admissible = 1e-6;

// A product with W costs this part of a sweep.
static const double productWork = 0.5;

typedef struct Rest {
    const tpFrictionIsland* island;
    int n;
    bool* isHolding; // rows that ask for u = 0
    double* y;       // the rest
    double* Wy;
    double* p; // direction of the search
    double* Wp;
    double curvature; // y . W y
} Rest;

static double dot(int n, const double* a, const double* b) {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
        sum += a[i] * b[i];
    }
    return sum;
}

// |x| as a velocity.
static double speedOf(const tpFrictionIsland* island, const double* x) {
    double square = 0.0;
    for (int b = 0; b < island->blockCount; ++b) {
        for (int i = island->row[b]; i < island->row[b + 1]; ++i) {
            square += island->weight[b] * x[i] * x[i];
        }
    }
    return sqrt(square);
}

// Rows of free blocks, of sticking contacts, and normal rows of sliding ones.
static void findHolding(const tpFrictionIsland* island, bool* isHolding) {
    for (int b = 0; b < island->blockCount; ++b) {
        int first = island->row[b], rows = tpFrictionIsland_Rows(island, b);
        const double *r = island->r + first, *u = island->u + first;
        double force = 0.0;
        for (int i = 1; i < rows; ++i) {
            force += (r[i] - u[i]) * (r[i] - u[i]);
        }
        bool isFree = island->kind[b] == tp_frictionFree;
        bool isClosed = isFree || r[0] > u[0];
        bool isSticking = isFree || sqrt(force) < island->mu[b] * (r[0] - u[0]);
        for (int i = 0; i < rows; ++i) {
            isHolding[first + i] = isClosed && (i == 0 || isSticking);
        }
    }
}

static void multiply(const Rest* rest, const double* x, double* y) {
    tpFrictionIsland_Multiply(rest->island, x, y);
    for (int i = 0; i < rest->n; ++i) {
        y[i] = rest->isHolding[i] ? y[i] : 0.0;
    }
}

// False if memory ran out.
static bool beginRest(Rest* rest, const tpFrictionIsland* island, tpArena* arena) {
    int n = island->rowCount;
    *rest = (Rest){ .island = island,
                    .n = n,
                    .isHolding = TP_SCRATCH(arena, bool, n),
                    .y = TP_SCRATCH(arena, double, n),
                    .Wy = TP_SCRATCH(arena, double, n),
                    .p = TP_SCRATCH(arena, double, n),
                    .Wp = TP_SCRATCH(arena, double, n) };
    if (arena->failed) {
        return false;
    }
    findHolding(island, rest->isHolding);
    for (int i = 0; i < n; ++i) {
        rest->y[i] = rest->isHolding[i] ? island->u[i] : 0.0;
    }
    multiply(rest, rest->y, rest->Wy);
    memcpy(rest->p, rest->y, sizeof(double) * (size_t)n);
    memcpy(rest->Wp, rest->Wy, sizeof(double) * (size_t)n);
    rest->curvature = dot(n, rest->y, rest->Wy);
    return true;
}

// One iteration. False if there is nothing left to take away.
static bool reduceRest(Rest* rest) {
    int n = rest->n;
    double square = dot(n, rest->Wp, rest->Wp);
    if (!(square > 0.0)) {
        return false;
    }
    double step = rest->curvature / square;
    for (int i = 0; i < n; ++i) {
        rest->y[i] -= step * rest->Wp[i];
    }
    multiply(rest, rest->y, rest->Wy);
    double next = dot(n, rest->y, rest->Wy);
    double ratio = rest->curvature > 0.0 ? next / rest->curvature : 0.0;
    rest->curvature = next;
    for (int i = 0; i < n; ++i) {
        rest->p[i] = rest->y[i] + ratio * rest->p[i];
        rest->Wp[i] = rest->Wy[i] + ratio * rest->Wp[i];
    }
    return true;
}

static bool isOutside(const Rest* rest) {
    double square = dot(rest->n, rest->y, rest->y);
    return dot(rest->n, rest->Wy, rest->Wy) <= outside * outside * square;
}

static bool isSmall(const tpFrictionIsland* island) {
    return island->residual <= largestRounding * speedOf(island, island->q);
}

// The argument asks for a symmetric W.
static bool mayBeRounding(const tpFrictionIsland* island) {
    return tpFrictionIsland_IsByBodies(island) && isSmall(island);
}

static void shift(tpFrictionIsland* island, double weight, const double* r, const double* center) {
    for (int i = 0; i < island->rowCount; ++i) {
        double change = weight * (r[i] - center[i]);
        island->shift[i] += change;
        island->q[i] += change;
    }
}

static bool isWithinSlack(const tpFrictionIsland* island) {
    for (int b = 0; b < island->blockCount; ++b) {
        for (int i = island->row[b]; i < island->row[b + 1]; ++i) {
            if (!(sqrt(island->weight[b]) * fabs(island->shift[i]) <= island->slack)) {
                return false;
            }
        }
    }
    return true;
}

bool tpFrictionIsland_TakeShift(tpFrictionIsland* island, double weight, const double* r,
                                const double* center, double* u) {
    if (!(island->slack > 0.0) || !isSmall(island)) {
        return false;
    }
    shift(island, weight, r, center);
    tpFrictionIsland_Velocity(island, r, u);
    double residual = sqrt(tpFrictionIsland_ResidualSquared(island, r, u));
    if (!isWithinSlack(island) || !(residual < island->residual)) {
        shift(island, -weight, r, center);
        tpFrictionIsland_Velocity(island, r, u);
        return false;
    }
    size_t bytes = sizeof(double) * (size_t)island->rowCount;
    memcpy(island->r, r, bytes);
    memcpy(island->u, u, bytes);
    island->residual = residual;
    tpFrictionIsland_BeginGrace(island);
    return true;
}

// What the residual cannot fall below, in units of velocity.
static double lowerBound(const Rest* rest, double impulse) {
    const tpFrictionIsland* island = rest->island;
    double length = 0.0;
    for (int b = 0; b < island->blockCount; ++b) {
        for (int i = island->row[b]; i < island->row[b + 1]; ++i) {
            length += rest->y[i] * rest->y[i] / island->weight[b];
        }
    }
    double along = dot(rest->n, rest->y, island->u);
    double slack = reach * impulse * sqrt(dot(rest->n, rest->Wy, rest->Wy));
    return length > 0.0 ? (along - slack) / sqrt(length) : 0.0;
}

tpSolveStatus tpFrictionIsland_FindRounding(tpFrictionIsland* island,
                                            const tpFrictionOptions* options, int limit,
                                            tpArena* arena, int* iterations) {
    (void)options;
    Rest rest;
    if (!mayBeRounding(island)) {
        return tp_notApplicable;
    }
    if (!beginRest(&rest, island, arena)) {
        return tp_solverOutOfMemory;
    }
    double impulse = sqrt(dot(rest.n, island->r, island->r));
    double bound = lowerBound(&rest, impulse);
    for (int k = 0; k < limit && bound < provedPart * island->residual && reduceRest(&rest); ++k) {
        island->work += productWork * tpFrictionIsland_SweepWork(island);
        *iterations += 1;
        bound = fmax(bound, lowerBound(&rest, impulse));
    }
    if (bound < provedPart * island->residual) {
        return tp_notApplicable;
    }
    island->rounding = bound;
    island->isExhausted = true;
    return tp_solvedToRounding;
}

// Whether the impulses -y are such as contacts can have: none pulls, and friction is within its
// cone.
static bool isAdmissible(const Rest* rest) {
    const tpFrictionIsland* island = rest->island;
    double largest = 0.0;
    for (int i = 0; i < rest->n; ++i) {
        largest = fmax(largest, fabs(rest->y[i]));
    }
    for (int b = 0; b < island->blockCount; ++b) {
        int first = island->row[b], rows = tpFrictionIsland_Rows(island, b);
        double force = 0.0;
        for (int i = first + 1; i < first + rows; ++i) {
            force += rest->y[i] * rest->y[i];
        }
        bool isInside = sqrt(force) <= island->mu[b] * -rest->y[first] + admissible * largest;
        if (island->kind[b] != tp_frictionFree &&
            (rest->y[first] > admissible * largest || !isInside)) {
            return false;
        }
    }
    return true;
}

bool tpFrictionIsland_FindJam(tpFrictionIsland* island, int limit, tpArena* arena, double* bound) {
    Rest rest;
    *bound = 0.0;
    if (!tpFrictionIsland_IsByBodies(island)) {
        return true;
    }
    if (!beginRest(&rest, island, arena)) {
        return false;
    }
    double impulse = sqrt(dot(rest.n, island->r, island->r));
    for (int k = 0; k < limit && !isOutside(&rest) && reduceRest(&rest); ++k) {
        island->work += productWork * tpFrictionIsland_SweepWork(island);
    }
    *bound = isAdmissible(&rest) ? fmax(0.0, lowerBound(&rest, impulse)) : 0.0;
    return true;
}
