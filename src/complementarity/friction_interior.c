// An interior point method, dense for small islands whatever the condition of W, by blocks for
// others.
//
// With x = (mu r_N, r_T) and y = (u_N / mu + |u_T|, u_T) both of Coulomb's cones become Lorentz'
// cone, and the law is x in L, y in L, x.y = 0 with y = P x + c + |u_T| e_0. The path follows
// x o y = t e towards t = 0; a step solves
//
//     (T P + W^-2) dx = W^-1 g - F,    dy = W^-1 g - W^-2 dx,    T = I + e_0 u_T' / |u_T|,
//
// with W of Nesterov and Todd (lorentz.h) and F the error of y: a predictor of t = 0, then a
// corrector of second order (Mehrotra). Each contact has a scale of its own, W, renewed in every
// step: feet that slip by 1e-8 m/s in a direction in which the robot yields by 1e-11 s/kg, where
// Newton's method on a natural map of one scale creeps, are solved in as many steps as any
// other. Once the path shows who sticks and who slides, Newton's method on the equations of those
// states goes the rest of the way (Mehrotra's steps are slow to turn sliding friction against the
// slip). FRICTION.md has more.

#include <math.h>
#include <string.h>

#include "complementarity/friction_interior.h"
#include "complementarity/friction_solvers.h"
#include "math/dense_lu.h"

// Dense rows that are worth it.
enum { mostDense = 200 };

// A contact with less friction has none.
static const double leastFriction = 1e-9;

// The way to the border that a step may go, and the shortest step that is progress.
static const double boldness = 0.95, leastStep = 0.05;

// Short steps in a row after which the start was too near the border.
enum { mostShortSteps = 3 };

// The gap below which the derivative of |u_T| counts: further away it is as good to take |u_T| from
// the last point, and the matrix stays positive.
static const double nearGap = 1e-4;

// Predictors that get less far than this say nothing about the second order: where many contacts
// decide between sticking and sliding at once, it led to the border in two or three steps.
static const double trustedLength = 0.2;

// The aim after a short step, in parts of the gap, and while y is far from what x says.
static const double shortLength = 0.3, recentering = 0.5;

// The start is so far inside, in units of its residual; each new start is further inside.
static const double startDepth = 10.0, deeper = 1e3, leastDepth = 1e-9;

// On the way to the middle of the solutions alone: the start, and the gap at the end; after a short
// step it may be larger.
static const double halfDepth = 1e-2, endGap = 1e-9, shortGap = 1e-6;

// Added to the diagonal of P, whose mean is one: what keeps a step finite where nothing else does.
static const double regularisation = 1e-15;

// The parts of the island: cones, half lines and free rows. Rows that carry nothing are left out.
static void listParts(tpInterior* interior) {
    const tpFrictionIsland* island = interior->island;
    for (int b = 0; b < island->blockCount; ++b) {
        int rows = tpFrictionIsland_Rows(island, b), kind = island->kind[b];
        bool isCone = kind == tp_frictionCone && rows > 1 && island->mu[b] > leastFriction;
        bool isFree = kind == tp_frictionFree;
        int used = kind == tp_frictionCone && !isCone ? 1 : rows;
        for (int i = 0; i < used; ++i) {
            int row = interior->n++;
            interior->source[row] = island->row[b] + i;
            interior->unit[row] = isCone && i == 0 ? 1.0 / island->mu[b] : 1.0;
            if (i == 0 || !(isCone || isFree)) {
                interior->parts[interior->partCount++] =
                    (tpInteriorPart){ .row = row,
                                      .rows = isCone || isFree ? used : 1,
                                      .block = b,
                                      .first = i,
                                      .isFree = isFree };
                interior->coneCount += isFree ? 0 : 1;
            }
        }
    }
}

static bool allocate(tpInterior* interior, tpArena* arena) {
    int rows = interior->island->rowCount;
    interior->parts = TP_SCRATCH(arena, tpInteriorPart, rows);
    interior->source = TP_SCRATCH(arena, int, rows);
    double** vectors[] = { &interior->unit, &interior->x,  &interior->y,     &interior->u,
                           &interior->dx,   &interior->dy, &interior->g,     &interior->F,
                           &interior->rhs,  &interior->r,  &interior->slope, &interior->velocity };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i) {
        *vectors[i] = TP_SCRATCH(arena, double, rows);
    }
    return !arena->failed;
}

static bool allocateDense(tpInterior* interior, tpArena* arena) {
    int n = interior->n;
    interior->pivots = TP_SCRATCH(arena, int, n);
    interior->P = TP_SCRATCH(arena, double, n* n);
    interior->M = TP_SCRATCH(arena, double, n* n);
    interior->c = TP_SCRATCH(arena, double, n);
    interior->kept = TP_SCRATCH(arena, double, n);
    return !arena->failed;
}

// The unit of x and u, so that |c| is about one.
static void findSize(tpInterior* interior) {
    double size = 0.0;
    for (int i = 0; i < interior->n; ++i) {
        size = fmax(size, fabs(interior->unit[i] * interior->island->q[interior->source[i]]));
    }
    interior->size = size > 0.0 ? scalbn(1.0, ilogb(size)) : 1.0; // no rounding
}

// P and c.
static void formProblem(tpInterior* interior) {
    const tpFrictionIsland* island = interior->island;
    int n = interior->n;
    double* column = interior->velocity;
    for (int j = 0; j < n; ++j) {
        memset(interior->r, 0, sizeof(double) * (size_t)island->rowCount);
        interior->r[interior->source[j]] = interior->unit[j];
        tpFrictionIsland_Multiply(island, interior->r, column);
        for (int i = 0; i < n; ++i) {
            interior->P[i * n + j] = interior->unit[i] * column[interior->source[i]];
        }
        interior->P[j * n + j] += regularisation;
    }
    for (int i = 0; i < n; ++i) {
        interior->c[i] = interior->unit[i] * island->q[interior->source[i]] / interior->size;
    }
}

void tpInterior_FindVelocities(tpInterior* interior) {
    int n = interior->n;
    if (!interior->isDense) {
        tpInteriorBlocks_FindVelocities(interior);
        return;
    }
    for (int i = 0; i < n; ++i) {
        double sum = interior->c[i];
        for (int j = 0; j < n; ++j) {
            sum += interior->P[i * n + j] * interior->x[j];
        }
        interior->u[i] = sum;
    }
}

// Moves x so far inside the cone that its depth is at least `depth`.
static void moveInside(const tpInteriorPart* part, double depth, double* x) {
    double missing = depth - tpLorentz_Depth(part->rows, x + part->row);
    x[part->row] += fmax(missing, 0.0);
}

// Where contacts hold each other as in a vice, solutions reach to infinity, and the middle of the
// cones is there. Impulses are taken up to this many times those of the start, or the velocities.
static const double greatest = 1e3;

// The island's miss of the law, in the unit of x and y. Small dense islands stand for what a
// mechanism makes of its contacts: there the residual, which is a velocity, has served better.
static double missOf(const tpInterior* interior) {
    const tpFrictionIsland* island = interior->island;
    if (interior->isDense) {
        return island->residual / interior->size;
    }
    double sum = 0.0;
    for (int b = 0; b < island->blockCount; ++b) {
        int row = island->row[b], rows = tpFrictionIsland_Rows(island, b);
        double map[TP_FRICTION_MAX_ROWS];
        tpFrictionNaturalMap(rows, island->kind[b], island->mu[b], island->r + row, island->u + row,
                             map);
        for (int i = 0; i < rows; ++i) {
            sum += map[i] * map[i];
        }
    }
    return sqrt(sum) / interior->size;
}

// Begins at the island's best point, moved inside.
static void begin(tpInterior* interior, double depth) {
    const tpFrictionIsland* island = interior->island;
    for (int i = 0; i < interior->n; ++i) {
        interior->x[i] = island->r[interior->source[i]] / (interior->unit[i] * interior->size);
    }
    tpInterior_FindVelocities(interior);
    memcpy(interior->y, interior->u, sizeof(double) * (size_t)interior->n);
    for (int p = 0; p < interior->partCount; ++p) {
        const tpInteriorPart* part = &interior->parts[p];
        if (part->isFree) {
            memset(interior->y + part->row, 0, sizeof(double) * (size_t)part->rows);
            continue;
        }
        interior->y[part->row] += tpInterior_TailNorm(part->rows, interior->u + part->row);
        moveInside(part, depth, interior->x);
        moveInside(part, depth, interior->y);
    }
    tpInterior_FindVelocities(interior);
}

bool tpInterior_Offer(tpInterior* interior, const double* y) {
    tpFrictionIsland* island = interior->island;
    double largest = 0.0;
    memset(interior->r, 0, sizeof(double) * (size_t)island->rowCount);
    for (int p = 0; p < interior->partCount; ++p) {
        const tpInteriorPart* part = &interior->parts[p];
        double z[TP_FRICTION_MAX_ROWS];
        for (int i = 0; i < part->rows; ++i) {
            int row = part->row + i;
            z[i] = interior->x[row] - (part->isFree || y == NULL ? 0.0 : y[row]);
            largest = fmax(largest, fabs(z[i]));
        }
        if (!part->isFree) {
            tpFrictionProject(part->rows, tp_frictionCone, 1.0, z);
        }
        for (int i = 0; i < part->rows; ++i) {
            int row = part->row + i;
            interior->r[interior->source[row]] = z[i] * interior->unit[row] * interior->size;
        }
    }
    if (!(largest <= interior->most)) {
        return false;
    }
    tpFrictionIsland_Velocity(island, interior->r, interior->velocity);
    return tpFrictionIsland_Offer(island, interior->r, interior->velocity);
}

// x.y per cone.
static double gapOf(const tpInterior* interior) {
    double sum = 0.0;
    for (int p = 0; p < interior->partCount; ++p) {
        const tpInteriorPart* part = &interior->parts[p];
        for (int i = part->row; !part->isFree && i < part->row + part->rows; ++i) {
            sum += interior->x[i] * interior->y[i];
        }
    }
    return interior->coneCount > 0 ? sum / interior->coneCount : 0.0;
}

// Scalings, slopes and F at x, y. False if a point is at the border.
static bool scaleParts(tpInterior* interior, double gap) {
    for (int p = 0; p < interior->partCount; ++p) {
        tpInteriorPart* part = &interior->parts[p];
        int row = part->row;
        const double* u = interior->u + row;
        memcpy(interior->F + row, u, sizeof(double) * (size_t)part->rows);
        memset(interior->slope + row, 0, sizeof(double) * (size_t)part->rows);
        if (part->isFree) {
            continue;
        }
        if (!tpLorentzScaling_Make(&part->scaling, part->rows, interior->x + row,
                                   interior->y + row)) {
            return false;
        }
        // |u_T|, rounded off where it is less than the gap: a direction of rounding is none.
        double slip = tpInterior_TailNorm(part->rows, u), smooth = sqrt(slip * slip + gap * gap);
        interior->F[row] += part->rows > 1 ? smooth - gap : 0.0;
        for (int i = 0; i < part->rows; ++i) {
            interior->F[row + i] -= interior->y[row + i];
            interior->slope[row + i] = i > 0 && gap < nearGap ? u[i] / smooth : 0.0;
        }
    }
    return true;
}

// M and its factors. False if it is singular.
static bool factoriseDense(tpInterior* interior) {
    int n = interior->n;
    memcpy(interior->M, interior->P, sizeof(double) * (size_t)n * (size_t)n);
    for (int p = 0; p < interior->partCount; ++p) {
        const tpInteriorPart* part = &interior->parts[p];
        int row = part->row;
        double* first = interior->M + (size_t)row * (size_t)n;
        for (int i = 1; i < part->rows && !part->isFree; ++i) {
            double slope = interior->slope[row + i];
            const double* other = interior->P + (size_t)(row + i) * (size_t)n;
            for (int j = 0; slope != 0.0 && j < n; ++j) {
                first[j] += slope * other[j];
            }
        }
        for (int i = 0; i < part->rows && !part->isFree; ++i) {
            for (int j = 0; j < part->rows; ++j) {
                interior->M[(row + i) * n + row + j] +=
                    tpLorentzScaling_InverseSquare(&part->scaling, i, j);
            }
        }
    }
    return tpDenseLu_Factorise(n, interior->M, interior->pivots);
}

// Scalings, F and the factors of M at x, y. False if a point is at the border or M is singular.
static bool linearise(tpInterior* interior, double gap) {
    return scaleParts(interior, gap) &&
           (interior->isDense ? factoriseDense(interior) : tpInteriorBlocks_Factorise(interior));
}

// dx and dy for the right side g.
static void solveStep(tpInterior* interior) {
    for (int p = 0; p < interior->partCount; ++p) {
        const tpInteriorPart* part = &interior->parts[p];
        int row = part->row;
        double* rhs = interior->rhs + row;
        memset(rhs, 0, sizeof(double) * (size_t)part->rows);
        if (!part->isFree) {
            tpLorentzScaling_ApplyInverse(&part->scaling, interior->g + row, rhs);
        }
        for (int i = 0; i < part->rows; ++i) {
            interior->dy[row + i] = rhs[i];
            rhs[i] -= interior->F[row + i];
        }
    }
    if (interior->isDense) {
        memcpy(interior->dx, interior->rhs, sizeof(double) * (size_t)interior->n);
        tpDenseLu_Solve(interior->n, interior->M, interior->pivots, interior->dx);
    } else {
        tpInteriorBlocks_Solve(interior);
    }
    for (int p = 0; p < interior->partCount; ++p) {
        const tpInteriorPart* part = &interior->parts[p];
        double scaled[TP_FRICTION_MAX_ROWS], twice[TP_FRICTION_MAX_ROWS] = { 0.0 };
        if (!part->isFree) {
            tpLorentzScaling_ApplyInverse(&part->scaling, interior->dx + part->row, scaled);
            tpLorentzScaling_ApplyInverse(&part->scaling, scaled, twice);
        }
        for (int i = 0; i < part->rows; ++i) {
            interior->dy[part->row + i] -= twice[i];
        }
    }
}

// How far x and y may go along dx and dy, up to `most`.
static double reach(const tpInterior* interior, double most) {
    for (int p = 0; p < interior->partCount; ++p) {
        const tpInteriorPart* part = &interior->parts[p];
        if (!part->isFree) {
            int row = part->row;
            most = tpLorentz_Reach(part->rows, interior->x + row, interior->dx + row, most);
            most = tpLorentz_Reach(part->rows, interior->y + row, interior->dy + row, most);
        }
    }
    return most;
}

// g of a step that aims at `gap`; the corrector of second order knows the predictor's step. The
// predictor aims at zero.
static void aim(tpInterior* interior, double gap, bool isSecondOrder) {
    for (int p = 0; p < interior->partCount; ++p) {
        const tpInteriorPart* part = &interior->parts[p];
        double dx[TP_FRICTION_MAX_ROWS], dy[TP_FRICTION_MAX_ROWS];
        double second[TP_FRICTION_MAX_ROWS] = { 0.0 };
        int row = part->row, rows = part->rows;
        if (isSecondOrder && !part->isFree) {
            tpLorentzScaling_ApplyInverse(&part->scaling, interior->dx + row, dx);
            tpLorentzScaling_Apply(&part->scaling, interior->dy + row, dy);
            tpLorentz_Multiply(rows, dx, dy, second);
        }
        if (gap > 0.0 && !part->isFree) {
            for (int i = 0; i < rows; ++i) {
                second[i] = (i == 0 ? gap : 0.0) - second[i];
            }
            tpLorentz_Divide(rows, part->scaling.lambda, second, second);
        }
        for (int i = 0; !part->isFree && i < rows; ++i) {
            interior->g[row + i] = second[i] - part->scaling.lambda[i];
        }
    }
}

// What the corrector aims at after a predictor of this length. Gap and error go down together:
// near the border and yet far from the law no step gets far.
static double aimOf(const tpInterior* interior, double gap, double length) {
    double left = 1.0 - length, part = left * left * left, error = 0.0;
    for (int i = 0; i < interior->n; ++i) {
        error = fmax(error, fabs(interior->F[i]));
    }
    part = fmax(part, fmin(recentering, error * error / gap));
    part = interior->length < shortLength ? fmax(part, recentering) : part;
    return part * gap;
}

// One step of predictor and corrector. Returns its length, 0 if it cannot be taken.
static double step(tpInterior* interior) {
    double gap = gapOf(interior);
    if (!linearise(interior, gap)) {
        return 0.0;
    }
    aim(interior, 0.0, false);
    solveStep(interior);
    double length = reach(interior, 1.0);
    if (interior->coneCount > 0) {
        aim(interior, aimOf(interior, gap, length), length >= trustedLength);
        solveStep(interior);
        length = fmin(1.0, boldness * reach(interior, 1.0 / boldness));
    }
    for (int i = 0; i < interior->n; ++i) {
        if (!isfinite(interior->dx[i]) || !isfinite(interior->dy[i])) {
            return 0.0;
        }
    }
    for (int i = 0; i < interior->n; ++i) {
        interior->x[i] += length * interior->dx[i];
        interior->y[i] += length * interior->dy[i];
    }
    tpInterior_FindVelocities(interior);
    return length;
}

// The problem as the path sees it. False if memory ran out.
static bool pose(tpInterior* interior, tpArena* arena) {
    tpFrictionIsland* island = interior->island;
    if (!allocate(interior, arena)) {
        return false;
    }
    listParts(interior);
    findSize(interior);
    if (!interior->isDense) {
        return tpInteriorBlocks_Create(interior, arena);
    }
    if (!allocateDense(interior, arena)) {
        return false;
    }
    formProblem(interior);
    island->work += (double)interior->n * tpFrictionIsland_SweepWork(island);
    return true;
}

// Whether the middle of the solutions is near enough for another method to end there.
static bool isAtEnd(const tpInterior* interior, int shortSteps) {
    double gap = gapOf(interior);
    return gap < endGap || (shortSteps > 0 && gap < shortGap);
}

// Follows the path: with dense matrices to its end, by blocks before the last digits, which are
// left to another method.
static tpSolveStatus follow(tpInterior* interior, int limit, int* iterations) {
    tpFrictionIsland* island = interior->island;
    double depth = 0.0, least = interior->isDense ? leastDepth : halfDepth;
    int shortSteps = mostShortSteps;
    bool isFresh = true;
    for (int k = 0; k < limit && !tpFrictionIsland_IsDone(island); ++k) {
        if (shortSteps >= mostShortSteps) {
            // By blocks a second path, from deeper inside, costs more than it gains.
            if (depth >= 1.0 || (depth > 0.0 && !interior->isDense)) {
                return tp_stalled;
            }
            double wanted = fmax(startDepth * missOf(interior), least);
            depth = fmin(fmax(depth * deeper, wanted), 1.0);
            begin(interior, depth);
            interior->length = 1.0;
            shortSteps = 0;
        }
        double length = step(interior);
        interior->length = length;
        shortSteps = length > leastStep ? 0 : length > 0.0 ? shortSteps + 1 : mostShortSteps;
        *iterations += 1;
        island->work +=
            interior->isDense ? tpInterior_DenseWork(interior->n) : interior->blocks.work;
        bool isBetter = tpInterior_Offer(interior, interior->y);
        if (!interior->isDense && isAtEnd(interior, shortSteps)) {
            return tp_stalled;
        }
        // States that last are tried once, and again where the path has come nearer.
        bool isSame = tpInteriorStates_Guess(interior) == 0;
        if (interior->isDense && isSame && (isBetter || isFresh) &&
            !tpFrictionIsland_IsDone(island)) {
            tpInteriorStates_Try(interior);
        }
        isFresh = !isSame;
    }
    return island->residual <= island->tolerance ? tp_solved : tp_iterationLimit;
}

tpSolveStatus tpFrictionIsland_Interior(tpFrictionIsland* island, const tpFrictionOptions* options,
                                        int limit, tpArena* arena, int* iterations) {
    (void)options;
    tpInterior interior = { .island = island, .length = 1.0, .most = greatest, .isDense = true };
    if (island->rowCount > mostDense) {
        return tp_notApplicable;
    }
    return pose(&interior, arena) ? follow(&interior, limit, iterations) : tp_solverOutOfMemory;
}

tpSolveStatus tpFrictionIsland_Center(tpFrictionIsland* island, int limit, tpArena* arena,
                                      int* iterations) {
    tpInterior interior = { .island = island, .length = 1.0, .most = greatest };
    if (!pose(&interior, arena)) {
        return tp_solverOutOfMemory;
    }
    tpSolveStatus status = follow(&interior, limit, iterations);
    if (status == tp_solved) {
        return status;
    }
    island->residual = INFINITY;
    return tpInterior_Offer(&interior, interior.y) ? tp_stalled : tp_notApplicable;
}
