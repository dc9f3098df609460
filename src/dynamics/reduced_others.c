// Joints that are no links of trees, and couplings: their rows stand beside those of contacts.
//
// What such a row feels of others comes from the same traces. Rows that hold without any bound are
// eliminated from the small problem before what contacts do is asked: with F these rows and C the
// rest,
//
//     r_F = -W_FF^-1 (q_F + W_FC r_C),     W_CC - W_CF W_FF^-1 W_FC and q_C - W_CF W_FF^-1 q_F
//
// are the problem of the rest. A row that others hold already has no pivot left, and no impulse.

#include <math.h>
#include <string.h>

#include "dynamics/reduced.h"
#include "math/pairs.h"

// A pivot below this part of what the row has by itself is rounding.
static const double leastPivot = 1e-11;

// L D L' of the free rows: row i of L at i (i + 1) / 2, with 1 / D at its end.
static void factoriseFree(tpFreeRows* free, const double* W) {
    size_t n = (size_t)free->all;
    double* row = free->factor;
    for (int i = 0; i < free->count; row += ++i) {
        const double* own = W + (size_t)free->rows[i] * n;
        const double* other = free->factor;
        for (int j = 0; j < i; other += ++j) {
            row[j] = own[free->rows[j]] - tpDotNumbers(j, row, other);
        }
        double pivot = own[free->rows[i]];
        const double* inverse = free->factor;
        for (int k = 0; k < i; inverse += ++k + 1) {
            double scaled = row[k] * *inverse;
            pivot -= scaled * row[k];
            row[k] = scaled;
        }
        row[i] = pivot > leastPivot * own[free->rows[i]] ? 1.0 / pivot : 0.0;
    }
}

static void solveFree(const tpFreeRows* free, double* x) {
    const double* row = free->factor;
    for (int i = 0; i < free->count; row += ++i) {
        x[i] -= tpDotNumbers(i, row, x);
    }
    const double* inverse = free->factor;
    for (int i = 0; i < free->count; inverse += ++i + 1) {
        x[i] *= *inverse;
    }
    for (int i = free->count - 1; i > 0; --i) {
        row = free->factor + i * (i + 1) / 2;
        for (int k = 0; k < i; ++k) {
            x[k] -= row[k] * x[i];
        }
    }
}

static bool reserve(tpFreeRows* free, const tpFrictionProblem* problem, tpArena* arena) {
    free->all = free->count = free->restCount = 0;
    int blocks = 0;
    for (int b = 0; b < problem->blockCount; ++b) {
        bool isFree = problem->kinds[b] == tp_frictionFree;
        free->all += problem->dimensions[b];
        free->count += isFree ? problem->dimensions[b] : 0;
        blocks += isFree ? 0 : 1;
    }
    free->restCount = free->all - free->count;
    size_t held = (size_t)free->count, rest = (size_t)free->restCount;
    free->rows = TP_SCRATCH(arena, int, held);
    free->rest = TP_SCRATCH(arena, int, rest);
    free->factor = TP_SCRATCH(arena, double, held*(held + 1) / 2);
    free->columns = TP_SCRATCH(arena, double, held*(rest + 1));
    free->W = TP_SCRATCH(arena, double, rest* rest);
    free->q = TP_SCRATCH(arena, double, rest);
    free->r = TP_SCRATCH(arena, double, rest);
    free->shift = TP_SCRATCH_ZEROED(arena, double, rest);
    free->dimensions = TP_SCRATCH(arena, int, blocks);
    free->kinds = TP_SCRATCH(arena, unsigned char, blocks);
    free->mu = TP_SCRATCH(arena, double, blocks);
    return !arena->failed;
}

// Which rows are free, and the blocks of the rest.
static void sortRows(tpFreeRows* free, const tpFrictionProblem* problem) {
    int held = 0, rest = 0, blocks = 0;
    for (int b = 0, row = 0; b < problem->blockCount; row += problem->dimensions[b++]) {
        bool isFree = problem->kinds[b] == tp_frictionFree;
        for (int k = row; k < row + problem->dimensions[b]; ++k) {
            if (isFree) {
                free->rows[held++] = k;
            } else {
                free->rest[rest++] = k;
            }
        }
        if (!isFree) {
            free->dimensions[blocks] = problem->dimensions[b];
            free->kinds[blocks] = problem->kinds[b];
            free->mu[blocks++] = problem->mu[b];
        }
    }
    free->problem = (tpFrictionProblem){ .blockCount = blocks,
                                         .dimensions = free->dimensions,
                                         .kinds = free->kinds,
                                         .mu = free->mu,
                                         .q = free->q,
                                         .W = &free->matrix };
}

bool tpFreeRows_Eliminate(tpFreeRows* free, const tpFrictionProblem* problem, const double* W,
                          const double* r, tpArena* arena) {
    if (!reserve(free, problem, arena)) {
        return false;
    }
    sortRows(free, problem);
    factoriseFree(free, W);
    size_t n = (size_t)free->all;
    int held = free->count, rest = free->restCount;
    for (int j = 0; j <= rest; ++j) {
        double* column = free->columns + (size_t)j * (size_t)held;
        for (int i = 0; i < held; ++i) {
            size_t row = (size_t)free->rows[i];
            column[i] = j < rest ? W[row * n + (size_t)free->rest[j]] : problem->q[row];
        }
        solveFree(free, column);
    }
    const double* given = free->columns + (size_t)rest * (size_t)held;
    for (int i = 0; i < rest; ++i) {
        const double* own = W + (size_t)free->rest[i] * n;
        for (int j = 0; j <= rest; ++j) {
            const double* column = j < rest ? free->columns + (size_t)j * (size_t)held : given;
            double sum = j < rest ? own[free->rest[j]] : problem->q[free->rest[i]];
            for (int k = 0; k < held; ++k) {
                sum -= own[free->rows[k]] * column[k];
            }
            *(j < rest ? &free->W[(size_t)i * (size_t)rest + (size_t)j] : &free->q[i]) = sum;
        }
        free->r[i] = r[free->rest[i]];
    }
    free->matrix = tpDenseMatrix(rest, rest, free->W);
    return true;
}

void tpFreeRows_PutBack(const tpFreeRows* free, double* r, double* shift) {
    int held = free->count, rest = free->restCount;
    const double* given = free->columns + (size_t)rest * (size_t)held;
    for (int i = 0; i < held; ++i) {
        r[free->rows[i]] = -given[i];
    }
    for (int j = 0; j < rest; ++j) {
        const double* column = free->columns + (size_t)j * (size_t)held;
        r[free->rest[j]] = free->r[j];
        shift[free->rest[j]] = free->shift[j];
        for (int i = 0; i < held; ++i) {
            r[free->rows[i]] -= column[i] * (free->r[j]);
        }
    }
}
