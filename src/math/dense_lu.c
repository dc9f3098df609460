#include "math/dense_lu.h"

#include <math.h>
#include <stddef.h>

static void swapRows(int n, double* a, double* b) {
    for (int j = 0; j < n; ++j) {
        double kept = a[j];
        a[j] = b[j];
        b[j] = kept;
    }
}

bool tpDenseLu_Factorise(int n, double* A, int* pivots) {
    for (int k = 0; k < n; ++k) {
        double* top = A + (size_t)k * (size_t)n;
        int best = k;
        for (int i = k + 1; i < n; ++i) {
            if (fabs(A[(size_t)i * (size_t)n + (size_t)k]) >
                fabs(A[(size_t)best * (size_t)n + (size_t)k])) {
                best = i;
            }
        }
        pivots[k] = best;
        if (best != k) {
            swapRows(n, top, A + (size_t)best * (size_t)n);
        }
        if (!(fabs(top[k]) > 0.0 && fabs(top[k]) < INFINITY)) {
            return false;
        }
        double inverse = 1.0 / top[k];
        for (int i = k + 1; i < n; ++i) {
            double* row = A + (size_t)i * (size_t)n;
            double factor = row[k] * inverse;
            row[k] = factor;
            for (int j = k + 1; factor != 0.0 && j < n; ++j) {
                row[j] -= factor * top[j];
            }
        }
    }
    return true;
}

void tpDenseLu_Solve(int n, const double* A, const int* pivots, double* b) {
    for (int k = 0; k < n; ++k) {
        double kept = b[pivots[k]];
        b[pivots[k]] = b[k];
        b[k] = kept;
    }
    for (int i = 1; i < n; ++i) {
        const double* row = A + (size_t)i * (size_t)n;
        for (int j = 0; j < i; ++j) {
            b[i] -= row[j] * b[j];
        }
    }
    for (int i = n - 1; i >= 0; --i) {
        const double* row = A + (size_t)i * (size_t)n;
        for (int j = i + 1; j < n; ++j) {
            b[i] -= row[j] * b[j];
        }
        b[i] /= row[i];
    }
}
