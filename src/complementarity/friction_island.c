// What the solvers do with an island: products, residual, exchange of the best iterate.

#include "complementarity/friction_island.h"

#include <math.h>
#include <string.h>

// y_i += A x for one block of m x n.
static inline void addBlock(int m, int n, const double* A, const double* x, double* y) {
    for (int i = 0; i < m; ++i) {
        double sum = 0.0;
        for (int j = 0; j < n; ++j) {
            sum += A[i * n + j] * x[j];
        }
        y[i] += sum;
    }
}

static inline bool isZero(int n, const double* x) {
    for (int i = 0; i < n; ++i) {
        if (x[i] != 0.0) {
            return false;
        }
    }
    return true;
}

void tpFrictionIsland_AddColumn(const tpFrictionIsland* island, int block, const double* x,
                                double* y) {
    int begin = island->columnStart[block], end = island->columnStart[block + 1];
    const double* A = island->values + island->value[begin];
    if (island->uniformRows == 3) {
        double x0 = x[0], x1 = x[1], x2 = x[2];
        for (int k = begin; k < end; ++k, A += 9) {
            double* out = y + 3 * (size_t)island->blockRow[k];
            out[0] += A[0] * x0 + A[1] * x1 + A[2] * x2;
            out[1] += A[3] * x0 + A[4] * x1 + A[5] * x2;
            out[2] += A[6] * x0 + A[7] * x1 + A[8] * x2;
        }
        return;
    }
    int n = tpFrictionIsland_Rows(island, block);
    for (int k = begin; k < end; ++k) {
        int i = island->blockRow[k];
        int m = tpFrictionIsland_Rows(island, i);
        addBlock(m, n, A, x, y + island->row[i]);
        A += m * n;
    }
}

void tpFrictionIsland_Multiply(const tpFrictionIsland* island, const double* x, double* y) {
    memset(y, 0, sizeof(double) * (size_t)island->rowCount);
    for (int j = 0; j < island->blockCount; ++j) {
        const double* xj = x + island->row[j];
        if (!isZero(tpFrictionIsland_Rows(island, j), xj)) {
            tpFrictionIsland_AddColumn(island, j, xj, y);
        }
    }
}

void tpFrictionIsland_Velocity(const tpFrictionIsland* island, const double* r, double* u) {
    tpFrictionIsland_Multiply(island, r, u);
    for (int i = 0; i < island->rowCount; ++i) {
        u[i] += island->q[i];
    }
}

double tpFrictionIsland_ResidualSquared(const tpFrictionIsland* island, const double* r,
                                        const double* u) {
    double sum = 0.0;
    for (int j = 0; j < island->blockCount; ++j) {
        int rows = tpFrictionIsland_Rows(island, j);
        double map[TP_FRICTION_MAX_ROWS];
        tpFrictionNaturalMap(rows, island->kind[j], island->mu[j], r + island->row[j],
                             u + island->row[j], map);
        double square = 0.0;
        for (int i = 0; i < rows; ++i) {
            square += map[i] * map[i];
        }
        sum += island->weight[j] * square;
    }
    return sum;
}

bool tpFrictionIsland_Offer(tpFrictionIsland* island, const double* r, const double* u) {
    double residual = sqrt(tpFrictionIsland_ResidualSquared(island, r, u));
    if (!(residual < island->residual)) {
        return false;
    }
    memcpy(island->r, r, sizeof(double) * (size_t)island->rowCount);
    memcpy(island->u, u, sizeof(double) * (size_t)island->rowCount);
    island->residual = residual;
    return true;
}
