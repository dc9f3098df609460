// The friction problem itself: sizes, checks, and what impulses do to bodies.

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "complementarity/friction_island.h"

int tpFriction_RowCount(const tpFrictionProblem* problem) {
    TP_NEED(problem, 0);
    if (problem->dimensions == NULL) {
        return problem->blockCount * problem->dimension;
    }
    int rows = 0;
    for (int b = 0; b < problem->blockCount; ++b) {
        rows += problem->dimensions[b];
    }
    return rows;
}

// Whether all numbers are finite. Zero times any other is no number.
static bool areFinite(const double* values, size_t count) {
    double sums[4] = { 0.0 };
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (size_t k = 0; k < 4; ++k) {
            sums[k] += 0.0 * values[i + k];
        }
    }
    for (; i < count; ++i) {
        sums[0] += 0.0 * values[i];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]) == 0.0;
}

static tpResult checkBlocks(const tpFrictionProblem* problem, tpError* error) {
    if (problem->blockCount < 0) {
        return tpError_Set(error, tp_badInput, "the number of blocks is negative");
    }
    for (int b = 0; b < problem->blockCount; ++b) {
        int rows = problem->dimensions != NULL ? problem->dimensions[b] : problem->dimension;
        int kind = problem->kinds != NULL ? problem->kinds[b] : tp_frictionCone;
        if (rows < 1 || rows > TP_FRICTION_MAX_ROWS) {
            return tpError_Set(error, tp_badInput, "block %d has %d rows, 1 to %d are possible", b,
                               rows, TP_FRICTION_MAX_ROWS);
        }
        if (kind > tp_frictionFree || (kind == tp_frictionNonnegative && rows != 1)) {
            return tpError_Set(error, tp_badInput, "block %d is of no known kind", b);
        }
        if (kind == tp_frictionCone &&
            (problem->mu == NULL || !(problem->mu[b] >= 0.0 && problem->mu[b] < INFINITY))) {
            return tpError_Set(error, tp_badInput,
                               "block %d: its coefficient of friction is not a number >= 0", b);
        }
    }
    return tp_success;
}

static tpResult checkRows(const tpFrictionProblem* problem, int rowCount, tpError* error) {
    for (int i = 0; i < rowCount; ++i) {
        if (!isfinite(problem->q[i])) {
            return tpError_Set(error, tp_badInput, "q of row %d is not finite", i);
        }
        if (problem->scale != NULL && !(problem->scale[i] > 0.0 && problem->scale[i] < INFINITY)) {
            return tpError_Set(error, tp_badInput, "the scale of row %d is not positive", i);
        }
        if (problem->compliance != NULL &&
            !(problem->compliance[i] >= 0.0 && problem->compliance[i] < INFINITY)) {
            return tpError_Set(error, tp_badInput, "the compliance of row %d is negative", i);
        }
    }
    return tp_success;
}

static tpResult checkMatrix(const tpMatrix* W, int rowCount, tpError* error) {
    if (W->rowCount != rowCount || W->columnCount != rowCount) {
        return tpError_Set(error, tp_badInput, "W is %d by %d, the blocks have %d rows",
                           W->rowCount, W->columnCount, rowCount);
    }
    for (int j = 0; j < rowCount; ++j) {
        bool dense = W->columnStarts == NULL;
        int begin = dense ? 0 : W->columnStarts[j], end = dense ? rowCount : W->columnStarts[j + 1];
        for (int k = begin; k < end; ++k) {
            size_t at = dense ? (size_t)j * (size_t)W->leading + (size_t)k : (size_t)k;
            if (!dense && (W->rowIndices[k] < 0 || W->rowIndices[k] >= rowCount)) {
                return tpError_Set(error, tp_badInput, "W has row %d in column %d",
                                   W->rowIndices[k], j);
            }
            if (!isfinite(W->values[at])) {
                return tpError_Set(error, tp_badInput, "W is not finite in column %d", j);
            }
        }
    }
    return tp_success;
}

static tpResult checkBodies(const tpFrictionProblem* problem, const tpFrictionBodies* bodies,
                            int rowCount, tpError* error) {
    if (bodies->componentCount < 1 || bodies->componentCount > 6 || bodies->bodyCount < 0) {
        return tpError_Set(error, tp_badInput, "bodies have %d velocities, 1 to 6 are possible",
                           bodies->componentCount);
    }
    for (int b = 0; b < problem->blockCount; ++b) {
        if (bodies->bodyA[b] < -1 || bodies->bodyA[b] >= bodies->bodyCount ||
            bodies->bodyB[b] < -1 || bodies->bodyB[b] >= bodies->bodyCount) {
            return tpError_Set(error, tp_badInput, "block %d acts on a body that is not there", b);
        }
    }
    size_t componentCount = (size_t)bodies->componentCount;
    size_t massSize = componentCount * componentCount;
    size_t masses = (size_t)bodies->bodyCount * massSize,
           places = (size_t)rowCount * componentCount;
    if (areFinite(bodies->inverseMass, masses) && areFinite(bodies->jacobianA, places) &&
        areFinite(bodies->jacobianB, places)) {
        return tp_success;
    }
    for (int i = 0; i < bodies->bodyCount; ++i) {
        if (!areFinite(bodies->inverseMass + (size_t)i * massSize, massSize)) {
            return tpError_Set(error, tp_badInput, "the inverse mass of body %d is not finite", i);
        }
    }
    int row = 0;
    while (areFinite(bodies->jacobianA + (size_t)row * componentCount, componentCount) &&
           areFinite(bodies->jacobianB + (size_t)row * componentCount, componentCount)) {
        row += 1;
    }
    return tpError_Set(error, tp_badInput, "the jacobian of row %d is not finite", row);
}

static tpResult checkMechanism(const tpFrictionProblem* problem, int rowCount, tpError* error) {
    const tpFrictionBodies* bodies = problem->mechanism;
    tpResult result = checkBodies(problem, bodies, rowCount, error);
    const int* first = bodies->firstTerms;
    for (int row = 0; result == tp_success && first != NULL && row < rowCount; ++row) {
        for (int i = first[row]; i < first[row + 1]; ++i) {
            if (bodies->termBodies[i] < 0 || bodies->termBodies[i] >= bodies->bodyCount ||
                !areFinite(bodies->termJacobians + (size_t)i * (size_t)bodies->componentCount,
                           (size_t)bodies->componentCount)) {
                return tpError_Set(error, tp_badInput, "a term of row %d is none of a body", row);
            }
        }
    }
    return result;
}

tpResult tpFriction_Check(const tpFrictionProblem* problem, tpError* error) {
    TP_NEED(problem, tp_badInput);
    tpResult result = checkBlocks(problem, error);
    if (result != tp_success) {
        return result;
    }
    int rowCount = tpFriction_RowCount(problem);
    if (rowCount > 0 && problem->q == NULL) {
        return tpError_Set(error, tp_badInput, "q is missing");
    }
    result = checkRows(problem, rowCount, error);
    if (result != tp_success || problem->blockCount == 0) {
        return result;
    }
    if ((problem->W == NULL) == (problem->bodies == NULL)) {
        return tpError_Set(error, tp_badInput, "either W or bodies must be given");
    }
    if (problem->bodies != NULL) {
        return checkBodies(problem, problem->bodies, rowCount, error);
    }
    result = checkMatrix(problem->W, rowCount, error);
    return result == tp_success && problem->mechanism != NULL
               ? checkMechanism(problem, rowCount, error)
               : result;
}

// The first block after b that acts on other bodies than b, and its first row.
static inline int endOfPair(const tpFrictionProblem* problem, const tpFrictionBodies* bodies, int b,
                            int* row) {
    int x = bodies->bodyA[b], y = bodies->bodyB[b];
    do {
        *row += problem->dimensions != NULL ? problem->dimensions[b] : problem->dimension;
        b += 1;
    } while (b < problem->blockCount && bodies->bodyA[b] == x && bodies->bodyB[b] == y);
    return b;
}

// Adds J^T r of `count` rows to the impulse of a body. With the number of components a constant,
// the loops unroll.
static inline void addImpulse(int componentCount, int count, const double* restrict J,
                              const double* restrict r, double* restrict impulse) {
    double sums[6];
    for (int a = 0; a < componentCount; ++a) {
        sums[a] = impulse[a];
    }
    for (int i = 0; i < count; ++i, J += componentCount) {
        for (int a = 0; a < componentCount; ++a) {
            sums[a] += J[a] * r[i];
        }
    }
    for (int a = 0; a < componentCount; ++a) {
        impulse[a] = sums[a];
    }
}

// Impulses on a body are summed up in the place of its velocity, and meet its mass together.
static inline void applyTogether(const tpFrictionProblem* problem, int componentCount,
                                 const double* r, double* velocity) {
    const tpFrictionBodies* bodies = tpFriction_BodiesOf(problem);
    size_t n = (size_t)componentCount;
    for (int b = 0, row = 0, end, endRow; b < problem->blockCount; b = end, row = endRow) {
        int x = bodies->bodyA[b], y = bodies->bodyB[b];
        endRow = row;
        end = endOfPair(problem, bodies, b, &endRow);
        if (x >= 0) {
            addImpulse(componentCount, endRow - row, bodies->jacobianA + (size_t)row * n, r + row,
                       velocity + (size_t)x * n);
        }
        if (y >= 0) {
            addImpulse(componentCount, endRow - row, bodies->jacobianB + (size_t)row * n, r + row,
                       velocity + (size_t)y * n);
        }
    }
    for (int body = 0; body < bodies->bodyCount; ++body) {
        const double* inverse = bodies->inverseMass + (size_t)body * n * n;
        double *v = velocity + (size_t)body * n, impulse[6];
        for (int a = 0; a < componentCount; ++a) {
            impulse[a] = v[a];
        }
        for (int a = 0; a < componentCount; ++a) {
            double sum = 0.0;
            for (int c = 0; c < componentCount; ++c) {
                sum += inverse[a * componentCount + c] * impulse[c];
            }
            v[a] = sum;
        }
    }
}

// What one block does to one of its bodies: each contact meets the mass by itself.
static inline void applyBlock(int componentCount, int count, const double* J, const double* r,
                              const double* inverse, double* v) {
    double impulse[6] = { 0.0 };
    addImpulse(componentCount, count, J, r, impulse);
    for (int a = 0; a < componentCount; ++a) {
        double sum = 0.0;
        for (int c = 0; c < componentCount; ++c) {
            sum += inverse[a * componentCount + c] * impulse[c];
        }
        v[a] += sum;
    }
}

static inline void applyApart(const tpFrictionProblem* problem, int componentCount, const double* r,
                              double* velocity) {
    const tpFrictionBodies* bodies = tpFriction_BodiesOf(problem);
    size_t n = (size_t)componentCount;
    for (int b = 0, row = 0; b < problem->blockCount; ++b) {
        int count = problem->dimensions != NULL ? problem->dimensions[b] : problem->dimension;
        for (int side = 0; side < 2; ++side) {
            int body = side == 0 ? bodies->bodyA[b] : bodies->bodyB[b];
            const double* jacobian = side == 0 ? bodies->jacobianA : bodies->jacobianB;
            if (body >= 0) {
                applyBlock(componentCount, count, jacobian + (size_t)row * n, r + row,
                           bodies->inverseMass + (size_t)body * n * n, velocity + (size_t)body * n);
            }
        }
        row += count;
    }
}

bool tpFriction_HasJoints(const tpFrictionProblem* problem) {
    for (int b = problem->blockCount - 1; problem->kinds != NULL && b >= 0; --b) {
        if (problem->kinds[b] == tp_frictionFree) {
            return true;
        }
    }
    return false;
}

// Bodies with joints have many rows: their impulses meet the mass together.
static inline void applyImpulses(const tpFrictionProblem* problem, int componentCount,
                                 const double* r, double* velocity) {
    if (tpFriction_HasJoints(problem)) {
        applyTogether(problem, componentCount, r, velocity);
    } else {
        applyApart(problem, componentCount, r, velocity);
    }
}

// What impulses do to further bodies of their rows.
static void applyTerms(const tpFrictionBodies* bodies, int rowCount, const double* r,
                       double* velocity) {
    int n = bodies->componentCount;
    for (int row = 0; row < rowCount; ++row) {
        for (int i = bodies->firstTerms[row]; i < bodies->firstTerms[row + 1]; ++i) {
            const double* J = bodies->termJacobians + (size_t)(i * n);
            const double* inverse =
                bodies->inverseMass + (size_t)bodies->termBodies[i] * (size_t)(n * n);
            double* v = velocity + (size_t)bodies->termBodies[i] * (size_t)n;
            for (int a = 0; a < n; ++a) {
                for (int c = 0; c < n; ++c) {
                    v[a] += inverse[a * n + c] * J[c] * r[row];
                }
            }
        }
    }
}

void tpFriction_FindVelocities(const tpFrictionProblem* problem, const double* r,
                               double* velocity) {
    const tpFrictionBodies* bodies = tpFriction_BodiesOf(problem);
    memset(velocity, 0,
           sizeof(double) * (size_t)bodies->bodyCount * (size_t)bodies->componentCount);
    if (bodies->componentCount == 6) {
        applyImpulses(problem, 6, r, velocity);
    } else {
        applyImpulses(problem, bodies->componentCount, r, velocity);
    }
    if (bodies->firstTerms != NULL) {
        applyTerms(bodies, tpFriction_RowCount(problem), r, velocity);
    }
}

// Adds what one row does to one of its bodies.
static void addRow(const tpFrictionBodies* bodies, int body, const double* J, double r,
                   double* velocity) {
    int n = bodies->componentCount;
    const double* inverse = bodies->inverseMass + (size_t)body * (size_t)(n * n);
    for (int a = 0; a < n; ++a) {
        for (int c = 0; c < n; ++c) {
            velocity[body * n + a] += inverse[a * n + c] * J[c] * r;
        }
    }
}

void tpFriction_ApplyImpulses(const tpFrictionProblem* problem, const double* r, double* velocity) {
    TP_NEED(problem, );
    const tpFrictionBodies* bodies = tpFriction_BodiesOf(problem);
    for (int b = 0, row = 0; b < problem->blockCount; ++b) {
        int end = row + (problem->dimensions != NULL ? problem->dimensions[b] : problem->dimension);
        for (; row < end; ++row) {
            size_t at = (size_t)row * (size_t)bodies->componentCount;
            if (bodies->bodyA[b] >= 0) {
                addRow(bodies, bodies->bodyA[b], bodies->jacobianA + at, r[row], velocity);
            }
            if (bodies->bodyB[b] >= 0) {
                addRow(bodies, bodies->bodyB[b], bodies->jacobianB + at, r[row], velocity);
            }
        }
    }
    if (bodies->firstTerms != NULL) {
        applyTerms(bodies, tpFriction_RowCount(problem), r, velocity);
    }
}
