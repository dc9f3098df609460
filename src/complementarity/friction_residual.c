// The judge of friction problems. It reads the problem and an r, and knows no solver.

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "complementarity/friction_island.h"
#include "math/pairs.h"

static int rowsOf(const tpFrictionProblem* problem, int block) {
    return problem->dimensions != NULL ? problem->dimensions[block] : problem->dimension;
}

static const double atRest[6];

static inline tpSix velocityOf(const double* velocity, int body) {
    return tpLoadSix(body >= 0 ? velocity + (size_t)6 * (size_t)body : atRest);
}

// u = J v + q of problems with joints. Blocks of one joint come one after the other.
static void readSpaceVelocities(const tpFrictionProblem* problem, const double* velocity,
                                double* u) {
    const tpFrictionBodies* bodies = tpFriction_BodiesOf(problem);
    int row = 0;
    for (int b = 0; b < problem->blockCount;) {
        int x = bodies->bodyA[b], y = bodies->bodyB[b], end = row;
        for (; b < problem->blockCount && bodies->bodyA[b] == x && bodies->bodyB[b] == y; ++b) {
            end += rowsOf(problem, b);
        }
        tpSix v = velocityOf(velocity, x), w = velocityOf(velocity, y);
        const double* JA = bodies->jacobianA + (size_t)6 * (size_t)row;
        const double* JB = bodies->jacobianB + (size_t)6 * (size_t)row;
        for (; row < end; ++row, JA += 6, JB += 6) {
            u[row] = problem->q[row] + tpPair_Sum(tpSix_Products(JA, v)) +
                     tpPair_Sum(tpSix_Products(JB, w));
        }
    }
}

// The same of others. With the number of components a constant, the loops unroll.
static inline void readVelocities(const tpFrictionProblem* problem, int componentCount,
                                  const double* velocity, double* u) {
    const tpFrictionBodies* bodies = tpFriction_BodiesOf(problem);
    for (int b = 0, row = 0; b < problem->blockCount; ++b) {
        for (int end = row + rowsOf(problem, b); row < end; ++row) {
            double sum = problem->q[row];
            for (int side = 0; side < 2; ++side) {
                int body = side == 0 ? bodies->bodyA[b] : bodies->bodyB[b];
                const double* J = (side == 0 ? bodies->jacobianA : bodies->jacobianB) +
                                  (size_t)row * (size_t)componentCount;
                for (int a = 0; body >= 0 && a < componentCount; ++a) {
                    sum += J[a] * velocity[body * componentCount + a];
                }
            }
            u[row] = sum;
        }
    }
}

// The part of u that comes from further bodies.
static void readTerms(const tpFrictionBodies* bodies, int rowCount, const double* velocity,
                      double* u) {
    int n = bodies->componentCount;
    for (int row = 0; row < rowCount; ++row) {
        for (int i = bodies->firstTerms[row]; i < bodies->firstTerms[row + 1]; ++i) {
            for (int a = 0; a < n; ++a) {
                u[row] +=
                    bodies->termJacobians[i * n + a] * velocity[bodies->termBodies[i] * n + a];
            }
        }
    }
}

// u = W r + q, from the problem's own data.
static bool velocities(const tpFrictionProblem* problem, const double* r, int rowCount,
                       tpArena* arena, double* velocity, double* u) {
    if (problem->W != NULL) {
        tpMatrix_Multiply(problem->W, r, problem->q, u);
    } else {
        const tpFrictionBodies* bodies = tpFriction_BodiesOf(problem);
        int componentCount = bodies->componentCount;
        if (velocity == NULL) {
            velocity = TP_SCRATCH(arena, double, bodies->bodyCount* componentCount);
        }
        if (velocity == NULL) {
            return false;
        }
        tpFriction_FindVelocities(problem, r, velocity);
        if (componentCount == 6 && tpFriction_HasJoints(problem)) {
            readSpaceVelocities(problem, velocity, u);
        } else if (componentCount == 6) {
            readVelocities(problem, 6, velocity, u);
        } else {
            readVelocities(problem, componentCount, velocity, u);
        }
        if (bodies->firstTerms != NULL) {
            readTerms(bodies, rowCount, velocity, u);
        }
    }
    for (int i = 0; problem->compliance != NULL && i < rowCount; ++i) {
        u[i] += problem->compliance[i] * r[i];
    }
    return true;
}

// sum + J A J^T for the inverse mass A of a body.
static inline double addForm(int componentCount, const double* J, const double* inverse,
                             double sum) {
    double product[6] = { 0.0 };
    for (int c = 0; c < componentCount; ++c) {
        for (int a = 0; a < componentCount; ++a) {
            product[a] += J[c] * inverse[c * componentCount + a];
        }
    }
    for (int a = 0; a < componentCount; ++a) {
        sum += product[a] * J[a];
    }
    return sum;
}

// The same of a body in space, two columns at once.
static inline double addSpatialForm(const double* J, const double* inverse, double sum) {
    tpSix product = { { 0.0, 0.0 }, { 0.0, 0.0 }, { 0.0, 0.0 } };
    for (int c = 0; c < 6; ++c) {
        tpSix row = tpLoadSix(inverse + 6 * c);
        product.a += J[c] * row.a;
        product.b += J[c] * row.b;
        product.c += J[c] * row.c;
    }
    tpPair a = product.a * tpLoadPair(J), b = product.b * tpLoadPair(J + 2);
    tpPair c = product.c * tpLoadPair(J + 4);
    return sum + a[0] + a[1] + b[0] + b[1] + c[0] + c[1];
}

// Diagonal entry of W at a row of a block.
static double diagonalEntry(const tpFrictionProblem* problem, int block, int row) {
    double entry = problem->compliance != NULL ? problem->compliance[row] : 0.0;
    const tpMatrix* W = problem->W;
    if (W != NULL && W->columnStarts == NULL) {
        return entry + W->values[(size_t)row * (size_t)W->leading + (size_t)row];
    }
    if (W != NULL) {
        for (int k = W->columnStarts[row]; k < W->columnStarts[row + 1]; ++k) {
            entry += W->rowIndices[k] == row ? W->values[k] : 0.0;
        }
        return entry;
    }
    const tpFrictionBodies* bodies = tpFriction_BodiesOf(problem);
    int componentCount = bodies->componentCount;
    const double* JA = bodies->jacobianA + (size_t)row * (size_t)componentCount;
    const double* JB = bodies->jacobianB + (size_t)row * (size_t)componentCount;
    int pair[2] = { bodies->bodyA[block], bodies->bodyB[block] };
    bool same = pair[0] == pair[1];
    for (int side = 0; side < (same ? 1 : 2); ++side) {
        if (pair[side] < 0) {
            continue;
        }
        const double* inverse =
            bodies->inverseMass + (size_t)pair[side] * (size_t)(componentCount * componentCount);
        if (componentCount == 6 && !same) {
            entry = addSpatialForm(side == 0 ? JA : JB, inverse, entry);
            continue;
        }
        double J[6] = { 0.0 };
        for (int a = 0; a < componentCount; ++a) {
            J[a] = same ? JA[a] + JB[a] : (side == 0 ? JA[a] : JB[a]);
        }
        entry = addForm(componentCount, J, inverse, entry);
    }
    for (int i = bodies->firstTerms != NULL ? bodies->firstTerms[row] : 0;
         bodies->firstTerms != NULL && i < bodies->firstTerms[row + 1]; ++i) {
        entry = addForm(componentCount, bodies->termJacobians + (size_t)(i * componentCount),
                        bodies->inverseMass + (size_t)bodies->termBodies[i] *
                                                  (size_t)(componentCount * componentCount),
                        entry);
    }
    return entry;
}

// What a free block adds: its natural map is u, whatever its scale.
static void judgeFree(int rows, const double* u, tpFrictionResidual* residual,
                      double* plainSquare) {
    double square = 0.0, largest = residual->separation;
    for (int i = 0; i < rows; ++i) {
        square += u[i] * u[i];
        largest = fabs(u[i]) > largest ? fabs(u[i]) : largest;
    }
    *plainSquare += square;
    residual->velocity += square;
    residual->separation = largest;
}

static inline void raiseTo(double* largest, double to) {
    *largest = to > *largest ? to : *largest;
}

// What another block adds, in scaled rows.
static void judgeBlock(int rows, int kind, double mu, double trace, const double* r,
                       const double* u, tpFrictionResidual* residual, double* plainSquare) {
    double map[TP_FRICTION_MAX_ROWS], scaled[TP_FRICTION_MAX_ROWS];
    tpFrictionNaturalMap(rows, kind, mu, r, u, map);
    for (int i = 0; i < rows; ++i) {
        *plainSquare += map[i] * map[i];
    }
    double rho = trace > 0.0 ? (double)rows / trace : 1.0;
    for (int i = 0; i < rows; ++i) {
        scaled[i] = rho * u[i];
    }
    tpFrictionNaturalMap(rows, kind, mu, r, scaled, map);
    for (int i = 0; i < rows; ++i) {
        residual->velocity += (map[i] / rho) * (map[i] / rho);
    }
    double impulse = 0.0, slip = 0.0, power = 0.0;
    for (int i = 1; i < rows; ++i) {
        impulse += r[i] * r[i];
        slip += u[i] * u[i];
        power += r[i] * u[i];
    }
    raiseTo(&residual->cone, -r[0]);
    raiseTo(&residual->cone, sqrt(impulse) - mu * r[0]);
    raiseTo(&residual->separation, -u[0]);
    raiseTo(&residual->complementarity, fabs(r[0] * u[0]));
    residual->dissipation += mu * r[0] * sqrt(slip) + power;
}

bool tpFriction_Judge(const tpFrictionProblem* problem, const double* r, double* u,
                      tpSolverMemory* memory, tpFrictionResidual* residual) {
    TP_NEED(problem, false);
    return tpFriction_JudgeBodies(problem, r, u, NULL, memory, residual);
}

bool tpFriction_JudgeBodies(const tpFrictionProblem* problem, const double* r, double* u,
                            double* velocity, tpSolverMemory* memory,
                            tpFrictionResidual* residual) {
    int rowCount = tpFriction_RowCount(problem);
    *residual = (tpFrictionResidual){ INFINITY, INFINITY, INFINITY, INFINITY,
                                      INFINITY, INFINITY, INFINITY };
    if (problem->blockCount == 0) {
        *residual = (tpFrictionResidual){ 0 };
        return true;
    }
    tpArenaMark mark = tpSolverMemory_Begin(memory);
    bool enough = velocities(problem, r, rowCount, &memory->arena, velocity, u);
    tpSolverMemory_End(memory, mark);
    if (!enough) {
        return false;
    }
    tpFrictionResidual found = { 0 };
    double plainSquare = 0.0, qSquare = 0.0, rSquare = 0.0, uSquare = 0.0;
    for (int b = 0, row = 0, rows; b < problem->blockCount; ++b, row += rows) {
        rows = rowsOf(problem, b);
        double rb[TP_FRICTION_MAX_ROWS], ub[TP_FRICTION_MAX_ROWS];
        for (int i = 0; i < rows; ++i) {
            double e = problem->scale != NULL ? problem->scale[row + i] : 1.0;
            double q = e * problem->q[row + i];
            rb[i] = e == 1.0 ? r[row + i] : r[row + i] / e;
            ub[i] = u[row + i] * e;
            qSquare += q * q;
            rSquare += rb[i] * rb[i];
            uSquare += ub[i] * ub[i];
        }
        int kind = problem->kinds != NULL ? problem->kinds[b] : tp_frictionCone;
        if (kind == tp_frictionFree) {
            judgeFree(rows, ub, &found, &plainSquare);
            continue;
        }
        double trace = 0.0;
        for (int i = 0; i < rows; ++i) {
            double e = problem->scale != NULL ? problem->scale[row + i] : 1.0;
            trace += diagonalEntry(problem, b, row + i) * e * e;
        }
        double mu = kind == tp_frictionCone ? problem->mu[b] : 0.0;
        judgeBlock(rows, kind, mu, trace, rb, ub, &found, &plainSquare);
    }
    found.velocity = sqrt(found.velocity);
    found.natural = found.velocity / (qSquare > 0.0 ? sqrt(qSquare) : 1.0);
    double largest = sqrt(fmax(qSquare, fmax(rSquare, uSquare)));
    found.plain = sqrt(plainSquare) / (largest > 0.0 ? largest : 1.0);
    if (isfinite(found.natural) && isfinite(found.plain)) {
        *residual = found;
    }
    return true;
}
