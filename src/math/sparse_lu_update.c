// Replacement of columns in product form: B_new = B E, where E is the identity but for one column
// (an eta).

#include <string.h>

#include "math/sparse_lu.h"

// x -= sum of weights times etas, four at a time so that x is read and written once for four.
static void subtractEtas(const tpSparseLu* factor, const double* weights, const int* active,
                         int count, double* restrict x) {
    size_t n = (size_t)factor->n;
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        const double* restrict a = factor->etas + (size_t)active[k] * n;
        const double* restrict b = factor->etas + (size_t)active[k + 1] * n;
        const double* restrict c = factor->etas + (size_t)active[k + 2] * n;
        const double* restrict d = factor->etas + (size_t)active[k + 3] * n;
        double wa = weights[active[k]], wb = weights[active[k + 1]];
        double wc = weights[active[k + 2]], wd = weights[active[k + 3]];
        for (size_t i = 0; i < n; ++i) {
            x[i] -= (a[i] * wa + b[i] * wb) + (c[i] * wc + d[i] * wd);
        }
    }
    for (; k < count; ++k) {
        const double* restrict a = factor->etas + (size_t)active[k] * n;
        double wa = weights[active[k]];
        for (size_t i = 0; i < n; ++i) {
            x[i] -= a[i] * wa;
        }
    }
}

// Applies all etas to x. First their weights, which need only the pivot positions: the weight of
// eta e is what x has at its position when the ones before it have been applied, over its pivot.
// Then all other positions at once; at the pivot positions x is set from the weights.
void tpSparseLu_ApplyUpdates(const tpSparseLu* factor, double* x) {
    int count = factor->etaCount;
    double* weights = factor->etaWeights;
    int* active = factor->etaActive;
    const double* between = factor->etaBetween; // [g][e]: entry of eta g at the position of eta e
    size_t stride = (size_t)factor->etaCapacity;
    int activeCount = 0;
    for (int e = 0; e < count; ++e) {
        int before = factor->etaBefore[e];
        double value = before >= 0 ? weights[before] : x[factor->etaPosition[e]];
        for (int a = activeCount - 1; a >= 0 && active[a] > before; --a) {
            value -= between[(size_t)active[a] * stride + (size_t)e] * weights[active[a]];
        }
        weights[e] = value / between[(size_t)e * stride + (size_t)e];
        active[activeCount] = e;
        activeCount += weights[e] != 0.0;
    }
    subtractEtas(factor, weights, active, activeCount, x);
    for (int e = 0; e < count; ++e) {
        double value = weights[e];
        for (int a = activeCount - 1; a >= 0 && active[a] > e; --a) {
            value -= between[(size_t)active[a] * stride + (size_t)e] * weights[active[a]];
        }
        x[factor->etaPosition[e]] = value;
    }
}

void tpSparseLu_ApplyUpdatesTransposed(const tpSparseLu* factor, double* c) {
    for (int e = factor->etaCount - 1; e >= 0; --e) {
        const double* eta = factor->etas + (size_t)e * (size_t)factor->n;
        int p = factor->etaPosition[e];
        double sum = 0.0;
        for (int i = 0; i < factor->n; ++i) {
            sum += eta[i] * c[i];
        }
        c[p] = (c[p] - (sum - eta[p] * c[p])) / eta[p];
    }
}

void tpSparseLu_Replace(tpSparseLu* factor, int position, const double* alpha) {
    TP_ASSERT(factor->etaCount < factor->etaCapacity);
    int e = factor->etaCount++;
    size_t n = (size_t)factor->n;
    size_t stride = (size_t)factor->etaCapacity;
    memcpy(factor->etas + (size_t)e * n, alpha, sizeof(double) * n);
    factor->etaPosition[e] = position;
    factor->etaBefore[e] = -1;
    for (int g = 0; g <= e; ++g) {
        const double* eta = factor->etas + (size_t)g * n;
        factor->etaBetween[(size_t)g * stride + (size_t)e] = eta[position];
        factor->etaBetween[(size_t)e * stride + (size_t)g] = alpha[factor->etaPosition[g]];
        if (g < e && factor->etaPosition[g] == position) {
            factor->etaBefore[e] = g;
        }
    }
}
