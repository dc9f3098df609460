// The end of a slip that stops, by a power series.
//
// Slip that stops turns towards a limiting direction without reaching it before its length s is 0.
// What passes from an angle t to the stop is s F(t), since everything scales with s; along the path,
// with dtau = dpz / s, ln s has the rate g(t) and t the rate h(t), so that
//
//     g F + h F' = -f                            f: 1 for the impulse, cos t, sin t for friction
//
// and F is the solution that is smooth at the limit, where h = 0. Its power series in the angle from
// the limit follows term by term; no term divides by 0, because g and h' are both negative there. It
// converges up to the next zero of h in the complex plane.

#include <math.h>

#include "dynamics/impact_path.h"

enum { order = 24 };

typedef struct tpStopSeries {
    double growth[order + 1]; // g about the limit
    double turn[order + 2];   // h about the limit, turn[0] = 0
    double cosine[order + 1], sine[order + 1];
} tpStopSeries;

static void expandRates(const tpSlip* slip, tpDirection limit, tpStopSeries* series) {
    double d = slip->alpha - slip->beta;
    // First and second harmonics of g about the limit, and their derivatives in turn.
    double first[4] = { slip->ex * limit.x + slip->ey * limit.y,
                        slip->ey * limit.x - slip->ex * limit.y, 0.0, 0.0 };
    double cosTwice = (limit.x - limit.y) * (limit.x + limit.y);
    double sinTwice = 2.0 * limit.x * limit.y;
    double second[4] = { -0.5 * d * cosTwice, 0.5 * d * sinTwice, 0.0, 0.0 };
    double cosine[4] = { limit.x, -limit.y, -limit.x, limit.y };
    double sine[4] = { limit.y, limit.x, -limit.y, -limit.x };
    first[2] = -first[0];
    first[3] = -first[1];
    second[2] = -second[0];
    second[3] = -second[1];
    double scale = 1.0, scaleTwice = 1.0; // 1 / k! and 2^k / k!
    for (int k = 0; k <= order; ++k) {
        series->growth[k] = scale * first[k & 3] + scaleTwice * second[k & 3];
        series->turn[k] = scale * first[(k + 1) & 3] + scaleTwice * second[(k + 1) & 3];
        series->cosine[k] = scale * cosine[k & 3];
        series->sine[k] = scale * sine[k & 3];
        scale /= k + 1;
        scaleTwice *= 2.0 / (k + 1);
    }
    series->growth[0] -= 0.5 * (slip->alpha + slip->beta);
    series->turn[0] = 0.0;
    series->turn[order + 1] = 0.0; // only ever taken 0 times
}

// Coefficients of the smooth solution of  factor g F + h F' = -f.
static void solveSeries(const tpStopSeries* series, double factor, const double* f,
                        double* solution) {
    for (int n = 0; n <= order; ++n) {
        double sum = f[n];
        for (int j = 1; j <= n; ++j) {
            double coupling = factor * series->growth[j] + (n - j) * series->turn[j + 1];
            sum += coupling * solution[n - j];
        }
        solution[n] = -sum / (n * series->turn[1] + factor * series->growth[0]);
    }
}

// The sum at an angle, and whether its last terms are lost in rounding.
static bool sumSeries(const double* coefficients, double angle, double* sum) {
    double total = 0.0, largest = 0.0, last = 0.0;
    double power = 1.0;
    for (int n = 0; n <= order; ++n) {
        double term = coefficients[n] * power;
        total += term;
        largest = fmax(largest, fabs(term));
        last = n >= order - 2 ? fmax(last, fabs(term)) : 0.0;
        power *= angle;
    }
    *sum = total;
    return last <= 2e-17 * largest && isfinite(total);
}

// Whether the target may be met before the stop although it is not met there.
static bool mayTurnBack(const tpSlip* slip, tpDirection now, tpDirection limit, tpSlipGoal goal) {
    double normalNow = tpSlip_NormalRate(slip, now), normalThen = tpSlip_NormalRate(slip, limit);
    if (goal == tp_untilCompressed) {
        return normalNow > 0.0 && normalThen < 0.0;
    }
    return goal == tp_untilWork && (normalNow < 0.0 || normalThen < 0.0);
}

bool tpSlip_GoToStop(const tpSlip* slip, tpSlipState* state, tpDirection limit,
                     tpSlipTarget target) {
    double s = hypot(state->ux, state->uy);
    tpDirection now = { state->ux / s, state->uy / s };
    double angle = atan2(limit.x * now.y - limit.y * now.x, limit.x * now.x + limit.y * now.y);
    if (fabs(angle) > 0.7 || !(tpSlip_GrowthRate(slip, limit) < 0.0) ||
        mayTurnBack(slip, now, limit, target.goal)) {
        return false;
    }
    tpStopSeries series;
    expandRates(slip, limit, &series);
    if (!(series.turn[1] < 0.0)) {
        return false;
    }

    double impulse[order + 1], frictionX[order + 1], frictionY[order + 1];
    double one[order + 1] = { 1.0 };
    double sumZ, sumX, sumY;
    solveSeries(&series, 1.0, one, impulse);
    if (!sumSeries(impulse, angle, &sumZ)) {
        return false;
    }
    solveSeries(&series, 1.0, series.cosine, frictionX);
    solveSeries(&series, 1.0, series.sine, frictionY);
    if (!sumSeries(frictionX, angle, &sumX) || !sumSeries(frictionY, angle, &sumY)) {
        return false;
    }

    double unit = s / slip->rate;
    tpSlipState stopped = *state;
    stopped.ux = stopped.uy = 0.0;
    stopped.pz += unit * sumZ;
    stopped.px -= slip->mu * unit * sumX;
    stopped.py -= slip->mu * unit * sumY;
    stopped.uz = tpSlip_NormalVelocity(slip, &stopped);

    // The work is uz at the stop times the impulse, less what uz lacks on the way: s^2 times a
    // function of the angle of the same kind.
    if (slip->tracksWork) {
        double lack[order + 1], lackOfWork[order + 1], sumWork;
        for (int n = 0; n <= order; ++n) {
            lack[n] = slip->kzz * impulse[n] -
                      slip->mu * (slip->cx * frictionX[n] + slip->cy * frictionY[n]);
        }
        solveSeries(&series, 2.0, lack, lackOfWork);
        if (!sumSeries(lackOfWork, angle, &sumWork)) {
            return false;
        }
        stopped.work += stopped.uz * unit * sumZ - unit * unit * sumWork;
    }

    bool isReached = target.goal == tp_untilCompressed ? stopped.uz >= 0.0
                     : target.goal == tp_untilImpulse  ? stopped.pz >= target.value
                                                       : stopped.work >= target.value;
    if (isReached) {
        return false;
    }
    *state = stopped;
    return true;
}
