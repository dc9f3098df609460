// Slip during an impact: straight stretches in closed form, curves by Taylor series.
//
// With dtau = rate dpz / s the equations of motion are linear but for the length s = |u_t|,
//
//     ux' = ex s - alpha ux,   uy' = ey s - beta uy,   s s' = ux ux' + uy uy',
//
// have no singularity where slip stops (s falls as an exponential of tau), and give the terms of
// their Taylor series by a recurrence of three short sums. A step sums some twenty terms, its
// length is taken from the last of them, and an event is a zero of a polynomial, found to rounding.

#include <math.h>

#include "dynamics/impact_path.h"
#include "dynamics/impact_polynomial.h"
#include "math/elementary.h"

enum {
    order = 16,
    maxSteps = 2000 // no input known needs a tenth of it
};

// A step's part of the radius of convergence that the last terms show; to the power of order + 1,
// what is neglected: 3e-14. The work is a product of two series, whose terms fall more slowly.
static const double fraction = 0.16, fractionForWork = 0.12;

// What one step of the series holds; slip is scaled to length 1 at its start.
typedef struct tpSlipSeries {
    double x[order + 1], y[order + 1], s[order + 1];
    double event[order + 2]; // what the target lacks, negative at the start
} tpSlipSeries;

static void expand(const tpSlip* slip, tpDirection d, tpSlipSeries* series) {
    double *x = series->x, *y = series->y, *s = series->s;
    x[0] = d.x;
    y[0] = d.y;
    s[0] = 1.0;
    for (int n = 1; n <= order; ++n) {
        x[n] = (slip->ex * s[n - 1] - slip->alpha * x[n - 1]) * tpInverses[n];
        y[n] = (slip->ey * s[n - 1] - slip->beta * y[n - 1]) * tpInverses[n];
        // The term of order n in s^2 = x^2 + y^2.
        double sumX = d.x * x[n], sumY = d.y * y[n], sumS = 0.0;
        for (int k = 1, m = n - 1; k < m; ++k, --m) {
            sumX += x[k] * x[m];
            sumY += y[k] * y[m];
            sumS += s[k] * s[m];
        }
        if (n % 2 == 0) {
            double half = 0.5 * (x[n / 2] * x[n / 2] + y[n / 2] * y[n / 2]);
            sumX += half - 0.5 * s[n / 2] * s[n / 2];
        }
        s[n] = sumX + sumY - sumS;
    }
}

static double largest(double a, double b) {
    return a > b ? a : b; // fmax, without the call
}

// The largest step whose first neglected terms are below rounding.
static double stepLength(const tpSlip* slip, const tpSlipSeries* series) {
    double part = slip->tracksWork ? fractionForWork : fraction;
    double last = 0.0;
    for (int n = order - 1; n <= order; ++n) {
        double term = largest(fabs(series->x[n]), fabs(series->y[n]));
        last = largest(last, largest(fabs(series->s[n]), term));
    }
    double root = sqrt(sqrt(sqrt(sqrt(last))));           // of that order
    return root > 1.0 / 40.0 * part ? part / root : 40.0; // exp(-40) is as good as 0
}

// The series of uz, or of what else the target asks for, less its value at the target.
static void expandEvent(const tpSlip* slip, const tpSlipState* state, double s, tpSlipTarget target,
                        tpSlipSeries* series) {
    double unit = s / slip->rate;
    double* event = series->event;
    if (target.goal == tp_untilImpulse) {
        event[0] = state->pz - target.value;
        for (int n = 0; n <= order; ++n) {
            event[n + 1] = unit * series->s[n] * tpInverses[n + 1];
        }
        return;
    }
    double uz[order + 2] = { state->uz };
    for (int n = 0; n <= order; ++n) {
        double slope = slip->kzz * series->s[n] -
                       slip->mu * (slip->cx * series->x[n] + slip->cy * series->y[n]);
        uz[n + 1] = unit * slope * tpInverses[n + 1];
    }
    if (target.goal == tp_untilCompressed) {
        for (int n = 0; n <= order + 1; ++n) {
            event[n] = uz[n];
        }
        return;
    }
    event[0] = state->work - target.value;
    for (int n = 0; n <= order; ++n) {
        double sum = 0.0;
        for (int k = 0; k <= n; ++k) {
            sum += uz[k] * series->s[n - k];
        }
        event[n + 1] = unit * sum * tpInverses[n + 1];
    }
}

// The work done over a step.
static double workOf(const tpSlip* slip, const tpSlipState* state, double s,
                     const tpSlipSeries* series, double t) {
    tpSlipSeries copy = *series;
    tpSlipState start = *state;
    start.work = 0.0;
    expandEvent(slip, &start, s, (tpSlipTarget){ tp_untilWork, 0.0 }, &copy);
    return tpEvaluate(copy.event, order + 1, t);
}

static void advance(const tpSlip* slip, tpSlipState* state, double s, const tpSlipSeries* series,
                    double t) {
    double unit = s / slip->rate;
    if (slip->tracksWork) {
        state->work += workOf(slip, state, s, series, t);
    }
    // Sums of the series of slip, and of the integrals of slip and its length, side by side.
    double x = 0.0, y = 0.0, integralX = 0.0, integralY = 0.0, integralS = 0.0;
    for (int n = order; n >= 0; --n) {
        x = x * t + series->x[n];
        y = y * t + series->y[n];
        integralX = integralX * t + series->x[n] * tpInverses[n + 1];
        integralY = integralY * t + series->y[n] * tpInverses[n + 1];
        integralS = integralS * t + series->s[n] * tpInverses[n + 1];
    }
    state->pz += unit * t * integralS;
    state->px -= slip->mu * unit * t * integralX;
    state->py -= slip->mu * unit * t * integralY;
    state->ux = s * x;
    state->uy = s * y;
    state->uz = tpSlip_NormalVelocity(slip, state);
}

static void settle(tpSlipState* state, tpSlipTarget target) {
    if (target.goal == tp_untilCompressed) {
        state->uz = 0.0;
    } else if (target.goal == tp_untilImpulse) {
        state->pz = target.value;
    } else {
        state->work = target.value;
    }
}

tpSlipEnd tpSlip_GoStraight(const tpSlip* slip, tpSlipState* state, double qx, double qy,
                            tpSlipTarget target) {
    double rateX = slip->cx + slip->a * qx, rateY = slip->cy + slip->b * qy;
    double normalRate = slip->kzz + slip->cx * qx + slip->cy * qy;
    double length = tpStraightLength(state->uz, state->pz, state->work, normalRate, target);
    double s = tpHypot(state->ux, state->uy);
    double growth = s > 0.0 ? (state->ux * rateX + state->uy * rateY) / s : 0.0;
    bool falls = growth < 0.0;
    double stop = falls ? s / -growth : INFINITY;
    bool stops = stop <= length;
    double step = stops ? stop : length;
    if (!isfinite(step)) {
        return tp_slipLost;
    }
    state->work += step * (state->uz + 0.5 * normalRate * step);
    state->px += step * qx;
    state->py += step * qy;
    state->pz += step;
    // Slip that falls keeps its direction, whatever rounding says where it ends.
    state->ux = falls ? (1.0 - step / stop) * state->ux : state->ux + step * rateX;
    state->uy = falls ? (1.0 - step / stop) * state->uy : state->uy + step * rateY;
    state->uz = tpSlip_NormalVelocity(slip, state);
    if (stops) {
        return tp_slipStopped;
    }
    settle(state, target);
    return tp_slipReached;
}

tpSlipEnd tpSlip_GoAlongCurve(const tpSlip* slip, tpSlipState* state, tpDirection limit,
                              tpSlipTarget target, int* stepCount) {
    double smallest = 1e-17 * -slip->startUz / slip->kzz; // an impulse that does not count
    bool mayStop = true;
    for (int i = 0; i < maxSteps; ++i) {
        double s = sqrt(state->ux * state->ux + state->uy * state->uy);
        tpDirection d = { state->ux / s, state->uy / s };
        double growth = tpSlip_GrowthRate(slip, d);
        double across = limit.x * d.y - limit.y * d.x;
        double along = limit.x * d.x + limit.y * d.y;
        // Rounding keeps slip from its limit where it turns to it slowly.
        bool isAtLimit =
            along > 0.0 && (fabs(across) <= 1e-14 || fabs(tpSlip_TurnRate(slip, d)) <= 4e-16);
        bool isAtEnd = growth < 0.0 && s <= -growth * slip->rate * smallest;
        if (isAtLimit || isAtEnd) {
            return tpSlip_GoStraight(slip, state, -slip->mu * d.x, -slip->mu * d.y, target);
        }
        if (along > 0.0 && mayStop) {
            tpStopOutcome outcome = tpSlip_GoToStop(slip, state, limit, target);
            if (outcome == tp_stopReached) {
                return tp_slipStopped;
            }
            mayStop = outcome == tp_stopTooFar;
        }

        *stepCount += 1;
        tpSlipSeries series;
        expand(slip, d, &series);
        expandEvent(slip, state, s, target, &series);
        double end = stepLength(slip, &series);
        double top = tpFindTop(series.event, order + 1, end);
        if (tpEvaluate(series.event, order + 1, top) >= 0.0) {
            advance(slip, state, s, &series, tpFindEvent(series.event, order + 1, 0.0, top));
            settle(state, target);
            return tp_slipReached;
        }
        advance(slip, state, s, &series, end);
    }
    return tp_slipLost;
}
