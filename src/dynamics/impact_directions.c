// Directions in which slip keeps its direction during an impact.
//
// With c = (cx, cy) >= 0 in the principal axes, the rate of turning
//
//     h(t) = cy cos t - cx sin t + D sin t cos t,   D = mu (a - b) >= 0,
//
// has in each quadrant a known number of zeros, since h / (sin t cos t) is monotone or convex
// there: one, attracting, in the first; none in the second; one, repelling, in the third; none or a
// pair, attracting and repelling, in the fourth, a pair where cx^(2/3) + cy^(2/3) < D^(2/3). Slip
// therefore never spirals, and where it leads is known before a step is made.
//
// Slip that leaves rest keeps its direction d: c - mu T d = g d with g > 0, so that
// d = (mu T + g)^-1 c, and |d| = 1 has one root g > 0 exactly when the sticking impulse T^-1 c is
// outside the friction cone, since |d| falls with g. This proves the conjecture of [MirtichCanny94,
// sec. 4.4] that the way out is unique; it is the zero in the first quadrant.

#include <math.h>

#include "dynamics/impact_path.h"
#include "math/elementary.h"

static double turnRateAt(const tpSlip* slip, double angle, double* slope) {
    double x = tpCos(angle), y = tpSin(angle);
    double d = slip->alpha - slip->beta;
    *slope = -slip->ex * x - slip->ey * y + d * (x - y) * (x + y);
    return slip->ey * x - slip->ex * y + d * x * y;
}

// The zero of the turn rate in [low, high], where it goes from positive to negative: Newton's
// method kept inside the bracket by halving.
static double findAttractingZero(const tpSlip* slip, double low, double high, double start) {
    double angle = start;
    for (int i = 0; i < 100; ++i) {
        double slope;
        double value = turnRateAt(slip, angle, &slope);
        if (value > 0.0) {
            low = angle;
        } else {
            high = angle;
        }
        double next = angle - value / slope;
        if (!(next >= low && next <= high)) { // also where the slope is 0
            next = 0.5 * (low + high);
        }
        double change = fabs(next - angle);
        angle = next;
        // What Newton leaves is at most the square of the last change by the slope.
        if (change * change <= 1e-17 * fabs(slope) || high - low <= 1e-16) {
            break;
        }
    }
    return angle;
}

static const double quarterTurn = 1.57079632679489661923;

static tpDirection directionAt(double angle) {
    return (tpDirection){ tpCos(angle), tpSin(angle) };
}

tpDirection tpSlip_WayOut(const tpSlip* slip) {
    // The direction of c itself is the zero of equal compliances, and never far above it.
    double start = tpAtan2(slip->ey, slip->ex);
    return directionAt(findAttractingZero(slip, 0.0, quarterTurn, start));
}

// Angle at which h is least in the fourth quadrant when taken by sin t cos t: it divides the pair
// of zeros, if there is one.
static double dividingAngle(const tpSlip* slip) {
    if (slip->ex == 0.0 && slip->ey == 0.0) {
        return -0.5 * quarterTurn;
    }
    return -tpAtan2(tpCbrt(slip->ey), tpCbrt(slip->ex));
}

tpDirection tpSlip_Limit(const tpSlip* slip, tpDirection d) {
    double turn = tpSlip_TurnRate(slip, d);
    bool isFourth = d.x >= 0.0 && d.y < 0.0;
    bool comesFromThird = d.x < 0.0 && d.y <= 0.0 && turn > 0.0;
    if (!isFourth && !comesFromThird) {
        return tpSlip_WayOut(slip);
    }
    double slope;
    double divide = dividingAngle(slip);
    bool hasPair = turnRateAt(slip, divide, &slope) < 0.0;
    double angle = isFourth ? tpAtan2(d.y, d.x) : -quarterTurn;
    if (isFourth && turn < 0.0) {
        return directionAt(findAttractingZero(slip, -quarterTurn, angle, angle));
    }
    if (hasPair && angle < divide) {
        return directionAt(findAttractingZero(slip, angle, divide, 0.5 * (angle + divide)));
    }
    return tpSlip_WayOut(slip);
}
