// The path of one impact through its velocities: what impact.c drives and impact_*.c go along.
//
// Axes: z is the normal; x and y are the principal axes of the tangential block of the collision
// matrix, turned so that its coupling to the normal has no negative part. In them
//
//     u_t' = c - mu diag(a, b) d,   u_z' = kzz - mu c . d,   d = u_t / s,   s = |u_t|,
//
// is [MirtichCanny94, eq. 9], ' the derivative by the normal impulse. Units are scaled so that the
// largest entries of matrix and velocity are near 1.

#ifndef TIPPE_DYNAMICS_IMPACT_PATH_H
#define TIPPE_DYNAMICS_IMPACT_PATH_H

#include <math.h>
#include <stdbool.h>

#include "tippe/impact.h"

// 1 / n, for the series.
static const double tpInverses[30] = { 0.0,      1.0,      1.0 / 2,  1.0 / 3,  1.0 / 4,  1.0 / 5,
                                       1.0 / 6,  1.0 / 7,  1.0 / 8,  1.0 / 9,  1.0 / 10, 1.0 / 11,
                                       1.0 / 12, 1.0 / 13, 1.0 / 14, 1.0 / 15, 1.0 / 16, 1.0 / 17,
                                       1.0 / 18, 1.0 / 19, 1.0 / 20, 1.0 / 21, 1.0 / 22, 1.0 / 23,
                                       1.0 / 24, 1.0 / 25, 1.0 / 26, 1.0 / 27, 1.0 / 28, 1.0 / 29 };

typedef struct tpSlip {
    double a, b;   // principal tangential compliances, a >= b >= 0
    double cx, cy; // coupling of normal and tangent, both >= 0
    double kzz;
    double heldKzz; // the normal compliance while friction keeps the tangent from moving
    double mu;
    double startUz;
    bool tracksWork; // only where restitution asks for it
    // The same by the rate of the fastest change of slip, rate = max(cx, cy, mu a):
    double rate;
    double alpha, beta; // mu a / rate, mu b / rate
    double ex, ey;      // c / rate
} tpSlip;

typedef struct tpSlipState {
    double ux, uy, uz;
    double px, py, pz;
    double work; // of the normal impulse, the integral of uz over pz
} tpSlipState;

// Where a stretch of the path ends if the slip does not stop before.
typedef enum tpSlipGoal {
    tp_untilCompressed, // uz reaches 0
    tp_untilImpulse,    // pz reaches goalValue
    tp_untilWork        // work reaches goalValue
} tpSlipGoal;

typedef struct tpSlipTarget {
    tpSlipGoal goal;
    double value;
} tpSlipTarget;

typedef enum tpSlipEnd {
    tp_slipReached, // the target
    tp_slipStopped, // the slip, ux = uy = 0
    tp_slipLost     // neither can be reached in finite numbers
} tpSlipEnd;

// Cosine and sine of a direction of slip.
typedef struct tpDirection {
    double x, y;
} tpDirection;

// The rate of the length of slip along d and s times that of its angle, both by slip->rate: g and h
// in  s' = rate g,  s angle' = rate h.
static inline double tpSlip_GrowthRate(const tpSlip* slip, tpDirection d) {
    return slip->ex * d.x + slip->ey * d.y - slip->alpha * d.x * d.x - slip->beta * d.y * d.y;
}

static inline double tpSlip_TurnRate(const tpSlip* slip, tpDirection d) {
    return slip->ey * d.x - slip->ex * d.y + (slip->alpha - slip->beta) * d.x * d.y;
}

// uz' while slipping along d.
static inline double tpSlip_NormalRate(const tpSlip* slip, tpDirection d) {
    return slip->kzz - slip->mu * (slip->cx * d.x + slip->cy * d.y);
}

// Direction to which slip that starts along d turns without ever passing it.
tpDirection tpSlip_Limit(const tpSlip* slip, tpDirection d);

// The only direction in which slip can leave rest.
tpDirection tpSlip_WayOut(const tpSlip* slip);

// Normal impulse until the target on a straight stretch, where uz has the given rate; infinite
// where it is never met.
static inline double tpStraightLength(double uz, double pz, double work, double normalRate,
                                      tpSlipTarget target) {
    if (target.goal == tp_untilCompressed) {
        return normalRate > 0.0 ? fmax(-uz / normalRate, 0.0) : INFINITY;
    }
    if (target.goal == tp_untilImpulse) {
        return fmax(target.value - pz, 0.0);
    }
    double lack = target.value - work;
    double square = uz * uz + 2.0 * normalRate * lack;
    double sum = uz + sqrt(fmax(square, 0.0));
    if (lack <= 0.0) {
        return 0.0;
    }
    return square >= 0.0 && sum > 0.0 ? 2.0 * lack / sum : INFINITY;
}

// Goes on with the constant tangential impulse (qx, qy) for each unit of normal impulse.
tpSlipEnd tpSlip_GoStraight(const tpSlip* slip, tpSlipState* state, double qx, double qy,
                            tpSlipTarget target);

// Goes on sliding along the curve until the target or until slip stops; adds its steps to
// stepCount.
tpSlipEnd tpSlip_GoAlongCurve(const tpSlip* slip, tpSlipState* state, tpDirection limit,
                              tpSlipTarget target, int* stepCount);

typedef enum tpStopOutcome {
    tp_stopReached, // the state is that of the stop
    tp_stopTooFar,  // not known from here; the state is as it was, as in the next
    tp_stopTooLate  // the target comes before the stop, or there is none
} tpStopOutcome;

// All the rest of a slip that stops, in one sum of a series about its limit.
tpStopOutcome tpSlip_GoToStop(const tpSlip* slip, tpSlipState* state, tpDirection limit,
                              tpSlipTarget target);

// uz from the impulse so far.
static inline double tpSlip_NormalVelocity(const tpSlip* slip, const tpSlipState* state) {
    return slip->startUz + slip->kzz * state->pz + slip->cx * state->px + slip->cy * state->py;
}

#endif
