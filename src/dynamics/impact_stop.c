// The end of a slip that stops, by a power series.
//
// Slip that stops turns towards a limiting direction without reaching it before its length s is 0.
// What passes from an angle t to the stop is s F(t), since everything scales with s; along the path,
// with dtau = rate dpz / s, ln s has the rate g(t) and t the rate h(t), so that the normal impulse
// (times rate) obeys
//
//     g F + h F' = -1
//
// and F is the solution that is smooth at the limit, where h = 0. Its power series in the angle from
// the limit follows term by term; no term divides by 0, because g and h' are both negative there. It
// converges up to the next zero of h in the complex plane. The friction that passes follows from
// what the tangential velocity has lost.

#include <math.h>

#include "dynamics/impact_path.h"

enum { order = 28 };

// Terms of the series, each times its power of the angle.
typedef struct tpStopSeries {
    double growth[order + 1];                    // of g
    double turn[order + 2];                      // of h, but for one power of the angle
    double impulse[order + 1], slope[order + 1]; // F and angle F'
    int last;                                    // the last term that counts
} tpStopSeries;

// The terms of the smooth solution until they are lost in rounding. False where they would not be
// within the order: convergence is geometric, so that a few terms tell.
static bool solveSeries(const tpSlip* slip, tpDirection limit, double angle, tpStopSeries* series) {
    enum { early = 6 };
    const double rounding = 1e-16, earlyBound = 3.7e-4; // rounding^(early / order)
    // The first and second harmonics of g about the limit and their derivatives by turns; h is the
    // derivative of the first and half that of the second.
    double d = slip->alpha - slip->beta;
    double a = slip->ex * limit.x + slip->ey * limit.y, b = slip->ey * limit.x - slip->ex * limit.y;
    double c = -0.5 * d * (limit.x - limit.y) * (limit.x + limit.y), e = d * limit.x * limit.y;
    const double first[4] = { a, b, -a, -b }, second[4] = { c, e, -c, -e };
    double growth0 = a + c - 0.5 * (slip->alpha + slip->beta);
    double turn1 = -a - 2.0 * c;
    if (!(turn1 < 0.0)) {
        return false;
    }

    double scale = 1.0, scaleTwice = 1.0; // angle^n / n! and (2 angle)^n / n!
    series->turn[0] = 0.0;
    for (int n = 0; n <= order; ++n) {
        series->growth[n] = scale * first[n & 3] + scaleTwice * second[n & 3];
        series->turn[n + 1] =
            (scale * first[(n + 2) & 3] + 2.0 * scaleTwice * second[(n + 2) & 3]) *
            tpInverses[n + 1];
        double sumGrowth = n == 0 ? 1.0 : 0.0, sumTurn = 0.0;
        for (int j = 1; j <= n; ++j) {
            sumGrowth += series->growth[j] * series->impulse[n - j];
            sumTurn += series->turn[j + 1] * series->slope[n - j];
        }
        series->impulse[n] = -(sumGrowth + sumTurn) / (n * turn1 + growth0);
        series->slope[n] = n * series->impulse[n];
        double size = fabs(series->impulse[n]), bound = fabs(series->impulse[0]);
        if (n == early && !(size <= earlyBound * bound)) {
            return false;
        }
        if (n > early && size <= rounding * bound) {
            series->last = n;
            series->growth[0] = growth0;
            return true;
        }
        scale *= angle * tpInverses[n + 1];
        scaleTwice *= 2.0 * angle * tpInverses[n + 1];
    }
    return false;
}

static double sumImpulse(const tpStopSeries* series) {
    double total = 0.0;
    for (int n = series->last; n >= 0; --n) {
        total += series->impulse[n];
    }
    return total;
}

// The work is uz at the stop times the impulse, less what uz lacks on the way: s^2 times a function F
// of the angle with 2 g F + h F' = -lack.
static double sumLackOfWork(const tpSlip* slip, tpDirection limit, double angle,
                            const tpStopSeries* series) {
    // uz lacks what the impulse gives it at rest, less what stopping takes.
    double x = slip->cx / slip->a, y = slip->cy / slip->b;
    double stopping = -slip->rate * (x * limit.x + y * limit.y);
    double stoppingSlope = -slip->rate * (y * limit.x - x * limit.y);
    const double harmonic[4] = { stopping, stoppingSlope, -stopping, -stoppingSlope };
    double terms[order + 1];
    double total = 0.0, scale = 1.0;
    for (int n = 0; n <= series->last; ++n) {
        double missing = slip->heldKzz * series->impulse[n] + scale * harmonic[n & 3];
        for (int j = 1; j <= n; ++j) {
            missing += (2.0 * series->growth[j] + (n - j) * series->turn[j + 1]) * terms[n - j];
        }
        terms[n] = -missing / (n * series->turn[1] + 2.0 * series->growth[0]);
        total += terms[n];
        scale *= angle * tpInverses[n + 1];
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
    double angle = atan2(limit.x * now.y - limit.y * now.x, limit.x * now.x + limit.y * now.y);
    // Hardly any compliance would make friction a small difference of large velocities.
    bool isStiff = slip->b < 1e-3 * (slip->a + slip->kzz);
    tpStopSeries series;
    if (fabs(angle) > 0.7 || isStiff || mayTurnBack(slip, now, limit, target.goal) ||
        !solveSeries(slip, limit, angle, &series)) {
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
        double lack = sumLackOfWork(slip, limit, angle, &series);
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
