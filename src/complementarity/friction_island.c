// What the solvers do with an island: products, residual, exchange of the best iterate.

#include "complementarity/friction_island.h"

#include <math.h>
#include <string.h>

#include "complementarity/friction_solvers.h"
#include "math/pairs.h"

// Work that an island with a residual that will do has for a better one: half as much again, and so
// many sweeps.
static const double graceSweeps = 300.0;

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
    const tpBlockMatrix* W = &island->W;
    int begin = W->columnStart[block], end = W->columnStart[block + 1];
    const double* A = W->values + W->value[begin];
    if (W->uniform == 3) {
        double x0 = x[0], x1 = x[1], x2 = x[2];
        for (int k = begin; k < end; ++k, A += 9) {
            double* out = y + 3 * (size_t)W->blockRow[k];
            out[0] += A[0] * x0 + A[1] * x1 + A[2] * x2;
            out[1] += A[3] * x0 + A[4] * x1 + A[5] * x2;
            out[2] += A[6] * x0 + A[7] * x1 + A[8] * x2;
        }
        return;
    }
    int n = tpFrictionIsland_Rows(island, block);
    for (int k = begin; k < end; ++k) {
        int i = W->blockRow[k];
        int m = tpFrictionIsland_Rows(island, i);
        addBlock(m, n, A, x, y + island->row[i]);
        A += m * n;
    }
}

static inline const double* halfOf(const tpFrictionIsland* island, int block, int side) {
    return island->jacobian +
           (size_t)(island->row[block] * 2 + side) * (size_t)island->componentCount;
}

static inline void pushRows(int n, int componentCount, const double* G, const double* x,
                            double* v) {
    for (int i = 0; i < n; ++i, G += 2 * componentCount) {
        for (int a = 0; a < componentCount; ++a) {
            v[a] += G[a] * x[i];
        }
    }
}

static inline void readRows(int n, int componentCount, const double* G, const double* v,
                            double* y) {
    for (int i = 0; i < n; ++i, G += 2 * componentCount) {
        double sum = 0.0;
        for (int a = 0; a < componentCount; ++a) {
            sum += G[a] * v[a];
        }
        y[i] += sum;
    }
}

// The same for the sizes that matter, contacts of bodies in space.
static inline void pushContact(const double* G, const double* x, double* v) {
    tpSix sum = tpLoadSix(v);
    for (int i = 0; i < 3; ++i, G += 12) {
        tpSix row = tpLoadSix(G);
        tpPair both = { x[i], x[i] };
        sum.a += row.a * both;
        sum.b += row.b * both;
        sum.c += row.c * both;
    }
    memcpy(v, &sum, sizeof(sum));
}

static inline void readContact(const double* G, const double* v, double* y) {
    tpSix velocity = tpLoadSix(v);
    for (int i = 0; i < 3; ++i, G += 12) {
        y[i] += tpPair_Sum(tpSix_Products(G, velocity));
    }
}

static inline void pushSpatial(const tpFrictionIsland* island, int block, const double* x,
                               double* velocity) {
    const int* body = island->body + 2 * (size_t)block;
    const double* G = island->jacobian + (size_t)island->row[block] * 12;
    if (body[0] >= 0) {
        pushContact(G, x, velocity + (size_t)body[0] * 6);
    }
    if (body[1] >= 0) {
        pushContact(G + 6, x, velocity + (size_t)body[1] * 6);
    }
}

static inline void pushBlock(const tpFrictionIsland* island, int block, const double* x,
                             double* velocity) {
    int componentCount = island->componentCount, n = tpFrictionIsland_Rows(island, block);
    if (componentCount == 6 && n == 3) {
        pushSpatial(island, block, x, velocity);
        return;
    }
    for (int side = 0; side < 2; ++side) {
        int body = island->body[2 * block + side];
        if (body < 0) {
            continue;
        }
        const double* G = halfOf(island, block, side);
        pushRows(n, componentCount, G, x, velocity + (size_t)(body * componentCount));
    }
}

static inline void readSpatial(const tpFrictionIsland* island, int block, const double* velocity,
                               double* y) {
    const int* body = island->body + 2 * (size_t)block;
    const double* G = island->jacobian + (size_t)island->row[block] * 12;
    double sum[3] = { 0.0, 0.0, 0.0 };
    if (body[0] >= 0) {
        readContact(G, velocity + (size_t)body[0] * 6, sum);
    }
    if (body[1] >= 0) {
        readContact(G + 6, velocity + (size_t)body[1] * 6, sum);
    }
    memcpy(y, sum, sizeof(sum));
}

static inline void readBlock(const tpFrictionIsland* island, int block, const double* velocity,
                             double* y) {
    int componentCount = island->componentCount, n = tpFrictionIsland_Rows(island, block);
    if (componentCount == 6 && n == 3) {
        readSpatial(island, block, velocity, y);
        return;
    }
    for (int i = 0; i < n; ++i) {
        y[i] = 0.0;
    }
    for (int side = 0; side < 2; ++side) {
        int body = island->body[2 * block + side];
        if (body < 0) {
            continue;
        }
        const double* G = halfOf(island, block, side);
        const double* v = velocity + (size_t)(body * componentCount);
        readRows(n, componentCount, G, v, y);
    }
}

void tpFrictionIsland_PushBodies(const tpFrictionIsland* island, int block, const double* x,
                                 double* velocity) {
    pushBlock(island, block, x, velocity);
}

void tpFrictionIsland_ReadBodies(const tpFrictionIsland* island, int block, const double* velocity,
                                 double* y) {
    readBlock(island, block, velocity, y);
}

static void multiplyByBodies(const tpFrictionIsland* island, const double* x, double* y) {
    memset(island->velocity, 0,
           sizeof(double) * (size_t)(island->bodyCount * island->componentCount));
    for (int j = 0; j < island->blockCount; ++j) {
        const double* xj = x + island->row[j];
        if (!isZero(tpFrictionIsland_Rows(island, j), xj)) {
            pushBlock(island, j, xj, island->velocity);
        }
    }
    for (int j = 0; j < island->blockCount; ++j) {
        readBlock(island, j, island->velocity, y + island->row[j]);
    }
    for (int i = 0; island->compliance != NULL && i < island->rowCount; ++i) {
        y[i] += island->compliance[i] * x[i];
    }
}

void tpFrictionIsland_Multiply(const tpFrictionIsland* island, const double* x, double* y) {
    if (tpFrictionIsland_IsByBodies(island)) {
        multiplyByBodies(island, x, y);
        return;
    }
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

void tpFrictionIsland_BeginGrace(tpFrictionIsland* island) {
    if (island->residual <= island->enough && island->grace == INFINITY) {
        island->grace = 1.5 * island->work + graceSweeps * tpFrictionIsland_SweepWork(island);
    }
}

bool tpFrictionIsland_Offer(tpFrictionIsland* island, const double* r, const double* u) {
    double residual = sqrt(tpFrictionIsland_ResidualSquared(island, r, u));
    if (!(residual < island->residual)) {
        return false;
    }
    memcpy(island->r, r, sizeof(double) * (size_t)island->rowCount);
    memcpy(island->u, u, sizeof(double) * (size_t)island->rowCount);
    island->residual = residual;
    tpFrictionIsland_BeginGrace(island);
    return true;
}
