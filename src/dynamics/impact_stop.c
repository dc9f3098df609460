// The end of a slip that stops, by a power series.
//
// Slip that stops turns towards a limiting direction without reaching it before its length s is 0.
// What passes from an angle t to the stop is s F(t), since everything scales with s; along the
// path, with dtau = rate dpz / s, ln s has the rate g(t) and t the rate h(t), so that the normal
// impulse (times rate) obeys
//
//     g F + h dF/dt = -1
//
// and F is the solution that is smooth at the limit, where h = 0. In w = tan(t / 2), t counted from
// the limit, this is an equation with polynomials, whose power series follows by a recurrence of
// few terms; none divides by 0, because g and dh/dt are both negative at the limit. It converges up
// to the next zero of h in the complex plane, or up to w = i. The friction that passes follows from
// what the tangential velocity has lost.

#include <math.h>

#include "dynamics/impact_path.h"

enum { order = 40, reach = 5, first = reach };

// The equation growth F + turn w dF/dw = -(1 + w^2)^2, every coefficient times its power of w, and
// the terms of its solution, with zeros before the first.
typedef struct tpStopSeries {
    double growth[reach + 1];
    double turn[reach + 1];
    double impulse[first + order + 1];
    int last; // the last term that counts
} tpStopSeries;

static void makeEquation(const tpSlip* slip, tpDirection limit, double w, tpStopSeries* series) {
    // g = a cos t + b sin t + c cos 2t + e sin 2t - r about the limit; h has b + e = 0.
    double d = slip->alpha - slip->beta, r = 0.5 * (slip->alpha + slip->beta);
    double a = slip->ex * limit.x + slip->ey * limit.y;
    double c = -0.5 * d * (limit.x - limit.y) * (limit.x + limit.y), e = d * limit.x * limit.y;
    double w2 = w * w, w3 = w2 * w, w4 = w2 * w2;
    series->growth[0] = a + c - r;
    series->growth[1] = 2.0 * e * w;
    series->growth[2] = (-6.0 * c - 2.0 * r) * w2;
    series->growth[3] = -6.0 * e * w3;
    series->growth[4] = (c - a - r) * w4;
    series->growth[5] = 0.0;
    series->turn[0] = -a - 2.0 * c;
    series->turn[1] = -3.0 * e * w;
    series->turn[2] = -2.0 * a * w2;
    series->turn[3] = -2.0 * e * w3;
    series->turn[4] = (2.0 * c - a) * w4;
    series->turn[5] = e * w4 * w;
}

// What the terms before number n contribute to it.
static inline double carry(const tpStopSeries* series, double factor, const double* terms, int n) {
    double sum = 0.0;
    for (int j = reach; j >= 1; --j) { // the term just before last, for it is ready last
        sum += (factor * series->growth[j] + (n - j) * series->turn[j]) * terms[first + n - j];
    }
    return sum;
}

// The terms of the smooth solution until they are lost in rounding. False if they would not be
// within the order: convergence is geometric, so that a few terms tell.
static bool solveSeries(double w, tpStopSeries* series) {
    enum { early = 8 };
    const double rounding = 1e-16, earlyBound = 6.3e-4; // rounding^(early / order)
    if (!(series->turn[0] < 0.0)) {
        return false;
    }
    double source[5] = { 1.0, 0.0, 2.0 * w * w, 0.0, w * w * w * w };
    for (int i = 0; i < first; ++i) {
        series->impulse[i] = 0.0;
    }
    double bound = 0.0, before = INFINITY;
    for (int n = 0; n <= order; ++n) {
        double sum = (n < 5 ? source[n] : 0.0) + carry(series, 1.0, series->impulse, n);
        double term = -sum / (series->growth[0] + n * series->turn[0]);
        series->impulse[first + n] = term;
        bound = n == 0 ? term : bound; // positive: slip falls at the limit, so growth[0] < 0
        double size = fabs(term);
        if (n == early && !(size + before <= earlyBound * bound)) {
            return false;
        }
        if (n > early && size + before <= rounding * bound) {
            series->last = n;
            return true;
        }
        before = size;
    }
    return false;
}

static double sumImpulse(const tpStopSeries* series) {
    double total = 0.0;
    for (int n = series->last; n >= 0; --n) {
        total += series->impulse[first + n];
    }
    return total;
}

// The work is uz at the stop times the impulse, less what uz lacks on the way: s^2 times a function
// F of the angle with 2 g F + h dF/dt = -lack.
static double sumLackOfWork(const tpSlip* slip, tpDirection limit, double w,
                            const tpStopSeries* series) {
    // uz lacks what the impulse gives it at rest, less what stopping takes.
    double x = slip->cx / slip->a, y = slip->cy / slip->b, w2 = w * w;
    double stopping = -slip->rate * (x * limit.x + y * limit.y);
    double sideways = -slip->rate * (y * limit.x - x * limit.y);
    const double source[5] = { stopping, 2.0 * sideways * w, 0.0, 2.0 * sideways * w2 * w,
                               -stopping * w2 * w2 };
    const double* impulse = series->impulse + first;
    double terms[first + order + 1] = { 0.0 };
    double total = 0.0;
    for (int n = 0; n <= series->last; ++n) {
        double given = impulse[n] + (n >= 2 ? 2.0 * w2 * impulse[n - 2] : 0.0) +
                       (n >= 4 ? w2 * w2 * impulse[n - 4] : 0.0);
        double sum =
            slip->heldKzz * given + (n < 5 ? source[n] : 0.0) + carry(series, 2.0, terms, n);
        terms[first + n] = -sum / (2.0 * series->growth[0] + n * series->turn[0]);
        total += terms[first + n];
    }
    return total;
}

// Whether the target may be met before the stop although it is not met there.
static bool mayTurnBack(const tpSlip* slip, tpDirection now, tpDirection limit, tpSlipGoal goal) {
    double normalNow = tpSlip_NormalRate(slip, now), normalThen = tpSlip_NormalRate(slip, limit);
    if (goal == tp_untilCompressed) {
        return normalNow > 0.0 && normalThen < 0.0;
    }
    return goal == tp_untilWork && (normalNow < 0.0 || normalThen < 0.0);
}

tpStopOutcome tpSlip_GoToStop(const tpSlip* slip, tpSlipState* state, tpDirection limit,
                              tpSlipTarget target) {
    if (!(tpSlip_GrowthRate(slip, limit) < 0.0)) {
        return tp_stopTooLate;
    }
    double s = sqrt(state->ux * state->ux + state->uy * state->uy);
    tpDirection now = { state->ux / s, state->uy / s };
    // Half the angle from the limit, which is less than a quarter turn away.
    double across = limit.x * now.y - limit.y * now.x, along = limit.x * now.x + limit.y * now.y;
    double w = across / (1.0 + along);
    // Hardly any compliance would make friction a small difference of large velocities.
    bool isStiff = slip->b < 1e-3 * (slip->a + slip->kzz);
    if (fabs(w) > 0.4 || isStiff || mayTurnBack(slip, now, limit, target.goal)) {
        return tp_stopTooFar;
    }
    tpStopSeries series;
    makeEquation(slip, limit, w, &series);
    if (!solveSeries(w, &series)) {
        return tp_stopTooFar;
    }

    double unit = s / slip->rate;
    double impulse = unit * sumImpulse(&series);
    tpSlipState stopped = *state;
    stopped.ux = stopped.uy = 0.0;
    stopped.pz += impulse;
    stopped.px -= (state->ux + slip->cx * impulse) / slip->a;
    stopped.py -= (state->uy + slip->cy * impulse) / slip->b;
    stopped.uz = tpSlip_NormalVelocity(slip, &stopped);
    if (slip->tracksWork) {
        double lack = sumLackOfWork(slip, limit, w, &series);
        stopped.work += stopped.uz * impulse - unit * unit * lack;
    }

    bool isReached = target.goal == tp_untilCompressed ? stopped.uz >= 0.0
                     : target.goal == tp_untilImpulse  ? stopped.pz >= target.value
                                                       : stopped.work >= target.value;
    if (isReached) {
        return tp_stopTooLate;
    }
    *state = stopped;
    return tp_stopReached;
}
