// Polynomials along the path of an impact: their values, and where an event happens on them.

#ifndef TIPPE_SRC_DYNAMICS_IMPACT_POLYNOMIAL_H
#define TIPPE_SRC_DYNAMICS_IMPACT_POLYNOMIAL_H

#include <math.h>

static inline double tpEvaluate(const double* coefficients, int degree, double t) {
    double sum = coefficients[degree];
    for (int n = degree - 1; n >= 0; --n) {
        sum = sum * t + coefficients[n];
    }
    return sum;
}

static inline double tpEvaluateSlope(const double* coefficients, int degree, double t) {
    double sum = degree * coefficients[degree];
    for (int n = degree - 1; n >= 1; --n) {
        sum = sum * t + n * coefficients[n];
    }
    return sum;
}

// The zero of the event between a point where it is negative and one where it is not.
static inline double tpFindEvent(const double* event, int degree, double low, double high) {
    double t = 0.5 * (low + high);
    for (int i = 0; i < 200; ++i) {
        double value = tpEvaluate(event, degree, t);
        if (value < 0.0) {
            low = t;
        } else {
            high = t;
        }
        double next = t - value / tpEvaluateSlope(event, degree, t);
        if (!(next > low && next < high)) {
            next = 0.5 * (low + high);
        }
        if (fabs(next - t) <= 1e-16 * high || next == t) {
            break;
        }
        t = next;
    }
    return t;
}

// If the event rises and falls again within a step it may be met in between: its top, or the
// end.
static inline double tpFindTop(const double* event, int degree, double end) {
    if (!(event[1] > 0.0 && tpEvaluateSlope(event, degree, end) < 0.0)) {
        return end;
    }
    double low = 0.0, high = end;
    for (int i = 0; i < 60; ++i) {
        double middle = 0.5 * (low + high);
        if (tpEvaluateSlope(event, degree, middle) > 0.0) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

#endif
