#include "dynamics/few_rows.h"

#include <math.h>

enum { most = tp_fewRows, components = 6 };

// Of the response of a row to its own impulse: a row whose pivot is smaller depends on others. Then
// so much of the response is added to the diagonal, and taken away again by another solve.
static const double smallPivot = 1e-8, softness = 1e-8;

// A row with what a unit of its impulse changes of the velocities of its two bodies.
typedef struct FewRow {
    int bodies[2];
    const double* jacobians[2];
    double changes[2][components];
} FewRow;

static bool areFew(const tpRows* rows) {
    if (rows->rowCount > most) {
        return false;
    }
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->kinds[b] != tp_frictionFree) {
            return false;
        }
    }
    for (int k = 0; k < rows->rowCount; ++k) {
        if (rows->termCounts[k] > 0) {
            return false;
        }
    }
    return true;
}

static void respond(const tpRows* rows, FewRow* row) {
    int n = rows->componentCount;
    for (int side = 0; side < 2; ++side) {
        int body = row->bodies[side];
        if (body < 0) {
            continue;
        }
        const double* inverse = rows->inverseMass + (size_t)(body * n * n);
        for (int i = 0; i < n; ++i) {
            double sum = 0.0;
            for (int j = 0; j < n; ++j) {
                sum += inverse[i * n + j] * row->jacobians[side][j];
            }
            row->changes[side][i] = sum;
        }
    }
}

static void list(const tpRows* rows, FewRow* few) {
    for (int b = 0; b < rows->blockCount; ++b) {
        for (int k = rows->firstRows[b]; k < rows->firstRows[b] + rows->dimensions[b]; ++k) {
            size_t place = (size_t)(k * rows->componentCount);
            few[k].bodies[0] = rows->bodyA[b];
            few[k].bodies[1] = rows->bodyB[b];
            few[k].jacobians[0] = rows->jacobianA + place;
            few[k].jacobians[1] = rows->jacobianB + place;
            respond(rows, &few[k]);
        }
    }
}

// The velocity of one row that a unit of the impulse of another makes.
static double coupling(const FewRow* row, const FewRow* other, int count) {
    double sum = 0.0;
    for (int side = 0; side < 2; ++side) {
        for (int from = 0; from < 2; ++from) {
            if (row->bodies[side] < 0 || row->bodies[side] != other->bodies[from]) {
                continue;
            }
            for (int i = 0; i < count; ++i) {
                sum += row->jacobians[side][i] * other->changes[from][i];
            }
        }
    }
    return sum;
}

// Cholesky factors of the lower triangle, with what is to be added to the diagonal. False if a row
// depends on those before it.
static bool factorise(double (*matrix)[most], const double* added, int n) {
    for (int k = 0; k < n; ++k) {
        double own = matrix[k][k];
        matrix[k][k] += added[k];
        for (int j = 0; j < k; ++j) {
            matrix[k][k] -= matrix[k][j] * matrix[k][j];
        }
        // Rounding may leave half of what was added.
        if (!(matrix[k][k] > fmax(smallPivot * own - 0.5 * added[k], 0.0))) {
            return false;
        }
        matrix[k][k] = sqrt(matrix[k][k]);
        for (int i = k + 1; i < n; ++i) {
            for (int j = 0; j < k; ++j) {
                matrix[i][k] -= matrix[i][j] * matrix[k][j];
            }
            matrix[i][k] /= matrix[k][k];
        }
    }
    return true;
}

static void solve(double (*factors)[most], int n, double* x) {
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < i; ++j) {
            x[i] -= factors[i][j] * x[j];
        }
        x[i] /= factors[i][i];
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int j = i + 1; j < n; ++j) {
            x[i] -= factors[j][i] * x[j];
        }
        x[i] /= factors[i][i];
    }
}

// The responses of all rows, lower triangle. A row that moves nothing, such as one across the plane
// of a planar world, gets a response of its own: its impulse does nothing.
static void assemble(const tpRows* rows, const FewRow* few, double (*matrix)[most]) {
    for (int i = 0; i < rows->rowCount; ++i) {
        for (int j = 0; j <= i; ++j) {
            matrix[i][j] = coupling(&few[i], &few[j], rows->componentCount);
        }
        matrix[i][i] += rows->compliance[i];
        matrix[i][i] = matrix[i][i] > 0.0 ? matrix[i][i] : 1.0;
    }
}

// Solves (W + S) x = b and takes S back, steppers/auto/README.md derives it: what x leaves of b is
// S x, and what is left after the second solve is its square.
static void solveSoft(double (*factors)[most], const double* added, int n, double* x) {
    double rest[most];
    solve(factors, n, x);
    for (int i = 0; i < n; ++i) {
        rest[i] = added[i] * x[i];
    }
    solve(factors, n, rest);
    for (int i = 0; i < n; ++i) {
        x[i] += rest[i];
    }
}

bool tpRows_SolveFew(tpRows* rows) {
    FewRow few[most] = { 0 };
    double matrix[most][most], added[most] = { 0 };
    int n = rows->rowCount;
    if (!areFew(rows)) {
        return false;
    }
    list(rows, few);
    assemble(rows, few, matrix);
    bool isSoft = !factorise(matrix, added, n);
    if (isSoft) {
        assemble(rows, few, matrix);
        for (int i = 0; i < n; ++i) {
            added[i] = softness * matrix[i][i];
        }
        if (!factorise(matrix, added, n)) {
            return false;
        }
    }
    for (int i = 0; i < n; ++i) {
        rows->impulse[i] = -rows->q[i];
    }
    if (isSoft) {
        solveSoft(matrix, added, n, rows->impulse);
    } else {
        solve(matrix, n, rows->impulse);
    }
    return true;
}
