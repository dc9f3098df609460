// W of the rows, and the problem that the solvers of the friction cone take.

#include <string.h>

#include "complementarity/block_graph.h"
#include "dynamics/islands.h"
#include "dynamics/rows.h"

// The directions of row k of a block on one body, or NULL.
static const double* directionsOn(const tpRows* rows, int block, int k, int body) {
    int row = rows->firstRows[block] + k;
    size_t place = (size_t)row * (size_t)rows->componentCount;
    if (rows->bodyA[block] == body) {
        return rows->jacobianA + place;
    }
    if (rows->bodyB[block] == body) {
        return rows->jacobianB + place;
    }
    for (int t = 0; t < rows->termCounts[row]; ++t) {
        const tpRowTerm* term = &rows->terms[rows->firstTerms[row] + t];
        if (term->body == body) {
            return term->jacobian;
        }
    }
    return NULL;
}

// W of two blocks through one body.
static void addThroughBody(const tpRows* rows, int body, int b, int c,
                           double W[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS]) {
    int componentCount = rows->componentCount;
    const double* inverse =
        rows->inverseMass + (size_t)body * (size_t)(componentCount * componentCount);
    for (int j = 0; j < rows->dimensions[c]; ++j) {
        const double* Jc = directionsOn(rows, c, j, body);
        if (Jc == NULL) {
            continue;
        }
        double response[6];
        for (int i = 0; i < componentCount; ++i) {
            double sum = 0.0;
            for (int k = 0; k < componentCount; ++k) {
                sum += inverse[i * componentCount + k] * Jc[k];
            }
            response[i] = sum;
        }
        for (int i = 0; i < rows->dimensions[b]; ++i) {
            const double* Jb = directionsOn(rows, b, i, body);
            double sum = 0.0;
            for (int k = 0; Jb != NULL && k < componentCount; ++k) {
                sum += Jb[k] * response[k];
            }
            W[i][j] += sum;
        }
    }
}

void tpRows_Coupling(const tpRows* rows, int b, int c,
                     double W[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS]) {
    memset(W, 0, sizeof(double) * TP_FRICTION_MAX_ROWS * TP_FRICTION_MAX_ROWS);
    int ofB, ofC;
    for (int i = 0; tpRows_BodyAt(rows, b, i, &ofB); ++i) {
        for (int k = 0; ofB >= 0 && tpRows_BodyAt(rows, c, k, &ofC); ++k) {
            if (ofB == ofC) {
                addThroughBody(rows, ofB, b, c, W);
            }
        }
    }
}

// W as a sparse matrix; NULL if memory ran out.
static const tpMatrix* makeMatrix(const tpRows* rows) {
    tpArena* arena = rows->arena;
    tpBlockGraph graph;
    if (!tpRows_Graph(rows, arena, &graph)) {
        return NULL;
    }
    int* starts = TP_SCRATCH(arena, int, rows->rowCount + 1);
    if (starts == NULL) {
        return NULL;
    }
    int entries = 0;
    for (int c = 0; c < rows->blockCount; ++c) {
        int count, height = 0;
        const int* neighbours = tpBlockGraph_Neighbours(&graph, c, &count);
        for (int k = 0; k < count; ++k) {
            height += rows->dimensions[neighbours[k]];
        }
        for (int j = 0; j < rows->dimensions[c]; ++j) {
            starts[rows->firstRows[c] + j] = entries;
            entries += height;
        }
    }
    starts[rows->rowCount] = entries;
    int* indices = TP_SCRATCH(arena, int, entries);
    double* values = TP_SCRATCH(arena, double, entries);
    tpMatrix* matrix = tpArena_Get(arena, sizeof(tpMatrix));
    if (arena->failed) {
        return NULL;
    }
    for (int c = 0; c < rows->blockCount; ++c) {
        int count, offset = 0;
        const int* neighbours = tpBlockGraph_Neighbours(&graph, c, &count);
        for (int k = 0; k < count; ++k) {
            int b = neighbours[k];
            double W[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS];
            tpRows_Coupling(rows, b, c, W);
            for (int j = 0; j < rows->dimensions[c]; ++j) {
                int place = starts[rows->firstRows[c] + j] + offset;
                for (int i = 0; i < rows->dimensions[b]; ++i) {
                    indices[place + i] = rows->firstRows[b] + i;
                    values[place + i] = W[i][j];
                }
            }
            offset += rows->dimensions[b];
        }
    }
    *matrix = tpSparseMatrix(rows->rowCount, rows->rowCount, starts, indices, values);
    return matrix;
}

// The terms of all rows, of bodies that move by impulses. False if memory ran out.
static bool listTerms(const tpRows* rows, tpFrictionBodies* bodies) {
    int n = rows->componentCount, count = 0;
    int* first = TP_SCRATCH(rows->arena, int, rows->rowCount + 1);
    int* of = TP_SCRATCH(rows->arena, int, rows->termCount);
    double* jacobians = TP_SCRATCH(rows->arena, double, rows->termCount* n);
    if (rows->arena->failed) {
        return false;
    }
    for (int row = 0; row < rows->rowCount; ++row) {
        first[row] = count;
        for (int k = 0; k < rows->termCounts[row]; ++k) {
            const tpRowTerm* term = &rows->terms[rows->firstTerms[row] + k];
            if (term->isDynamic) {
                of[count] = term->body;
                memcpy(jacobians + (size_t)(count * n), term->jacobian, sizeof(double) * (size_t)n);
                count += 1;
            }
        }
    }
    first[rows->rowCount] = count;
    bodies->firstTerms = first;
    bodies->termBodies = of;
    bodies->termJacobians = jacobians;
    return true;
}

// All but W.
static tpFrictionProblem describe(const tpRows* rows, tpFrictionBodies* bodies) {
    tpFrictionProblem problem;
    memset(&problem, 0, sizeof(problem));
    problem.blockCount = rows->blockCount;
    problem.dimensions = rows->dimensions;
    problem.kinds = rows->kinds;
    problem.mu = rows->mu;
    problem.scale = rows->scale;
    problem.compliance = rows->compliance;
    problem.q = rows->q;
    memset(bodies, 0, sizeof(*bodies));
    bodies->bodyCount = rows->bodyCount;
    bodies->componentCount = rows->componentCount;
    bodies->inverseMass = rows->inverseMass;
    bodies->bodyA = rows->bodyA;
    bodies->bodyB = rows->bodyB;
    bodies->jacobianA = rows->jacobianA;
    bodies->jacobianB = rows->jacobianB;
    if (rows->termCount == 0) {
        problem.bodies = bodies;
    } else if (listTerms(rows, bodies)) {
        problem.mechanism = bodies;
    } else {
        problem.blockCount = 0;
    }
    return problem;
}

tpFrictionProblem tpRows_Mechanism(const tpRows* rows, tpFrictionBodies* bodies) {
    return describe(rows, bodies);
}

tpFrictionProblem tpRows_FrictionProblem(const tpRows* rows, tpFrictionBodies* bodies) {
    tpFrictionProblem problem = describe(rows, bodies);
    if (rows->termCount > 0) {
        problem.W = makeMatrix(rows);
        problem.blockCount = problem.W != NULL ? problem.blockCount : 0;
    }
    return problem;
}
