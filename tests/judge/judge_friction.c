// Asks the library's judge about random friction problems with impulses that are wrong on purpose,
// and prints problems and verdicts for judge.py, which knows the formulas and none of this code.

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/check.h"
#include "tippe/friction.h"
#include "tippe/lcp.h"

enum { mostBlocks = 5, mostRows = 4 * mostBlocks, bodies = 5, mostDegrees = 6, mostTerms = 2 };

static tpRandom source = { 77 };

static double between(double low, double high) {
    return randomBetween(&source, low, high);
}

static void fill(double* numbers, int count, double size) {
    for (int i = 0; i < count; ++i) {
        numbers[i] = between(-size, size);
    }
}

static void print(const char* key, const double* numbers, int count) {
    printf(", \"%s\": [", key);
    for (int i = 0; i < count; ++i) {
        printf("%s%.17g", i == 0 ? "" : ", ", numbers[i]);
    }
    printf("]");
}

static void printVerdict(const tpFrictionResidual* found, const double* u, int rows) {
    const double numbers[] = { found->natural,    found->plain,      found->velocity,
                               found->cone,       found->separation, found->complementarity,
                               found->dissipation };
    print("verdict", numbers, 7);
    print("u", u, rows);
    printf("}\n");
}

// Blocks of all kinds and sizes, by a matrix (dense or sparse) or by bodies.
static void judgeOne(int way, tpSolverMemory* memory) {
    int dimensions[mostBlocks], bodyA[mostBlocks], bodyB[mostBlocks], rows = 0;
    unsigned char kinds[mostBlocks];
    double mu[mostBlocks], scale[mostRows], compliance[mostRows], q[mostRows], r[mostRows];
    int blockCount = 1 + (int)(randomBits(&source) % mostBlocks);
    for (int b = 0; b < blockCount; ++b) {
        kinds[b] = (unsigned char)(randomBits(&source) % 3);
        dimensions[b] = kinds[b] == tp_frictionNonnegative ? 1
                        : kinds[b] == tp_frictionCone      ? 2 + (int)(randomBits(&source) % 3)
                                                           : 1 + (int)(randomBits(&source) % 4);
        mu[b] = between(0.0, 1.0);
        bodyA[b] = (int)(randomBits(&source) % bodies);
        bodyB[b] = (int)(randomBits(&source) % (bodies + 1)) - 1;
        for (int k = 0; k < dimensions[b]; ++k, ++rows) {
            bool isFriction = kinds[b] == tp_frictionCone && k > 0;
            scale[rows] = isFriction ? between(0.2, 2.0) : 1.0;
            compliance[rows] = between(0.0, 0.3);
        }
    }
    fill(q, rows, 2.0);
    fill(r, rows, 1.0);
    // In space, in the plane, or with any number of velocities per body; rows may act on further
    // bodies, each on those that it does not yet.
    int degrees = randomBits(&source) % 2 == 0 ? 6 : 1 + (int)(randomBits(&source) % 5);
    bool hasTerms = randomBits(&source) % 2 == 0;
    int firstTerms[mostRows + 1], termBodies[mostTerms * mostRows], terms = 0;
    for (int b = 0, row = 0; b < blockCount; ++b) {
        for (int k = 0; k < dimensions[b]; ++k, ++row) {
            int wanted = (int)(randomBits(&source) % (mostTerms + 1));
            firstTerms[row] = terms;
            for (int i = 0; i < bodies && wanted > 0; ++i) {
                if (i != bodyA[b] && i != bodyB[b]) {
                    termBodies[terms++] = i;
                    --wanted;
                }
            }
        }
    }
    firstTerms[rows] = terms;
    double values[mostRows * mostRows], inverseMass[bodies * mostDegrees * mostDegrees];
    double jacobianA[mostRows * mostDegrees], jacobianB[mostRows * mostDegrees];
    double termJacobians[mostTerms * mostRows * mostDegrees];
    int starts[mostRows + 1], indices[mostRows * mostRows];
    fill(values, rows * rows, 1.0);
    fill(inverseMass, bodies * degrees * degrees, 0.2);
    for (int i = 0; i < bodies; ++i) {
        for (int a = 0; a < degrees; ++a) {
            for (int c = 0; c < a; ++c) {
                inverseMass[(i * degrees + a) * degrees + c] =
                    inverseMass[(i * degrees + c) * degrees + a];
            }
            inverseMass[(i * degrees + a) * degrees + a] = between(1.0, 2.0);
        }
    }
    fill(jacobianA, rows * degrees, 1.0);
    fill(jacobianB, rows * degrees, 1.0);
    fill(termJacobians, terms * degrees, 1.0);
    for (int i = 0; i < rows; ++i) {
        values[i * rows + i] = between(0.5, 2.0);
        starts[i] = i * rows;
        for (int k = 0; k < rows; ++k) {
            indices[i * rows + k] = k;
        }
    }
    starts[rows] = rows * rows;
    tpMatrix dense = tpDenseMatrix(rows, rows, values);
    tpMatrix sparse = { .rowCount = rows,
                        .columnCount = rows,
                        .values = values,
                        .columnStarts = starts,
                        .rowIndices = indices };
    tpFrictionBodies given = { .bodyCount = bodies,
                               .componentCount = degrees,
                               .inverseMass = inverseMass,
                               .bodyA = bodyA,
                               .bodyB = bodyB,
                               .jacobianA = jacobianA,
                               .jacobianB = jacobianB,
                               .firstTerms = hasTerms ? firstTerms : NULL,
                               .termBodies = termBodies,
                               .termJacobians = termJacobians };
    bool isPlain = randomBits(&source) % 2 == 0;
    tpFrictionProblem problem = { .blockCount = blockCount,
                                  .dimensions = dimensions,
                                  .kinds = kinds,
                                  .mu = mu,
                                  .scale = isPlain ? NULL : scale,
                                  .compliance = isPlain ? NULL : compliance,
                                  .q = q,
                                  .W = way == 0   ? &dense
                                       : way == 1 ? &sparse
                                                  : NULL,
                                  .bodies = way == 2 && !hasTerms ? &given : NULL,
                                  .mechanism = way == 2 && hasTerms ? &given : NULL };
    double u[mostRows];
    tpFrictionResidual found;
    if (!tpFriction_Judge(&problem, r, u, memory, &found)) {
        return;
    }
    printf("{\"way\": %d, \"degrees\": %d, \"plain\": %s", way, degrees,
           isPlain ? "true" : "false");
    double numbers[mostBlocks][4];
    for (int b = 0; b < blockCount; ++b) {
        numbers[b][0] = kinds[b], numbers[b][1] = dimensions[b];
        numbers[b][2] = bodyA[b], numbers[b][3] = bodyB[b];
    }
    print("blocks", numbers[0], 4 * blockCount);
    print("mu", mu, blockCount);
    print("scale", scale, rows);
    print("compliance", compliance, rows);
    print("q", q, rows);
    print("r", r, rows);
    print("values", values, rows * rows);
    print("inverse_mass", inverseMass, bodies * degrees * degrees);
    print("jacobian_a", jacobianA, rows * degrees);
    print("jacobian_b", jacobianB, rows * degrees);
    double termNumbers[mostTerms * mostRows][2];
    int shown = hasTerms ? terms : 0;
    for (int row = 0; row < rows; ++row) {
        for (int i = firstTerms[row]; i < firstTerms[row + 1]; ++i) {
            termNumbers[i][0] = row, termNumbers[i][1] = termBodies[i];
        }
    }
    print("terms", termNumbers[0], 2 * shown);
    print("term_jacobians", termJacobians, shown * degrees);
    printVerdict(&found, u, rows);
}

// A linear complementarity problem, some of its variables free, and a z that is wrong on purpose.
static void judgeLcp(tpSolverMemory* memory) {
    enum { most = 8 };
    int n = 1 + (int)(randomBits(&source) % most);
    double values[most * most], q[most], z[most], w[most], isFreeNumber[most];
    bool isFree[most];
    double size = between(0.1, 10.0);
    fill(values, n * n, 1.0);
    fill(q, n, size);
    fill(z, n, 1.0);
    for (int i = 0; i < n; ++i) {
        isFree[i] = randomBits(&source) % 4 == 0;
        isFreeNumber[i] = isFree[i];
    }
    tpMatrix M = tpDenseMatrix(n, n, values);
    tpLcp lcp = { n, M, q, isFree };
    double residual = tpLcp_Residual(&lcp, z, w, memory, NULL);
    printf("{\"way\": 3");
    print("values", values, n * n);
    print("q", q, n);
    print("z", z, n);
    print("free", isFreeNumber, n);
    print("verdict", &residual, 1);
    print("u", w, n);
    printf("}\n");
}

int main(void) {
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    for (int i = 0; i < 300; ++i) {
        judgeOne(i % 3, memory);
        judgeLcp(memory);
    }
    tpDestroySolverMemory(memory);
    return 0;
}
