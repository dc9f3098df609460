#include "sweeps/row_answers.h"

// Points of a way that are looked at until its least point is found.
enum { mostPoints = 60 };

// Slopes smaller than this part of the largest one are none.
static const double noSlope = 1e-14;

// The state that a row's answer to its velocity on the path asks for.
static int32_t wantedState(const tpRowAnswer* row) {
    double wanted = tpRowAnswer_To(row, row->pathVelocity);
    double slack = row->state == tp_withinRow ? 1e-12 * fabs(wanted) : 0.0;
    return wanted < row->least - slack  ? tp_atLeastRow
           : wanted > row->most + slack ? tp_atMostRow
                                        : tp_withinRow;
}

// The slope of the function along the way from the path to the last solve, at a part of it. Forces
// of masses are those of the impulses that have led there: M v - m = sum of rows times impulses. A
// row without bounds has answered to its velocity all along, and adds nothing.
static double slopeAt(const tpRowAnswer* rows, int count, double part) {
    double slope = 0.0;
    for (int k = 0; k < count; ++k) {
        const tpRowAnswer* row = &rows[k];
        if (row->state == tp_deadRow || !tpRowAnswer_IsBounded(row)) {
            continue;
        }
        double way = row->velocity - row->pathVelocity;
        double impulse = row->pathImpulse + part * (row->impulse - row->pathImpulse);
        double wanted = tpRowAnswer_To(row, row->pathVelocity + part * way);
        double bounded = wanted < row->least ? row->least : wanted > row->most ? row->most : wanted;
        slope += way * (impulse - bounded);
    }
    return slope;
}

// The part of the way to the last solve after which the function rises. The slope is made of
// straight pieces: on one of them the chord of its ends meets zero where the slope does. Halves
// between chords bring the ends onto one piece.
static double partOfWay(const tpRowAnswer* rows, int count) {
    double low = 0.0, high = 1.0, atHigh = slopeAt(rows, count, 1.0);
    if (!(atHigh > 0.0)) {
        return 1.0;
    }
    double atLow = slopeAt(rows, count, 0.0);
    double small = noSlope * (atHigh + fabs(atLow));
    for (int k = 0; k < mostPoints && high - low > 1e-15; ++k) {
        bool isChord = k % 2 == 0 && atLow < 0.0;
        double middle =
            isChord ? low + (high - low) * (atLow / (atLow - atHigh)) : 0.5 * (low + high);
        double slope = slopeAt(rows, count, middle);
        if (isChord && fabs(slope) <= small) {
            return middle;
        }
        if (slope > 0.0) {
            high = middle;
            atHigh = slope;
        } else {
            low = middle;
            atLow = slope;
        }
    }
    return high; // beyond the bend, if there is one
}

// Whether all rows are where their answers to the last solve ask them to be.
static bool areSettled(const tpRowAnswer* rows, int count) {
    for (int k = 0; k < count; ++k) {
        if (!tpRowAnswer_IsSettled(&rows[k], rows[k].velocity)) {
            return false;
        }
    }
    return true;
}

bool tpRowAnswers_Follow(tpRowAnswer* rows, int count, int trial) {
    if (areSettled(rows, count)) {
        return false;
    }
    double part = trial == 0 ? 1.0 : partOfWay(rows, count);
    bool hasChanged = false;
    for (int k = 0; k < count; ++k) {
        tpRowAnswer* row = &rows[k];
        if (!tpRowAnswer_IsBounded(row)) {
            continue;
        }
        bool isWhole = part == 1.0;
        row->pathVelocity = isWhole
                                ? row->velocity
                                : row->pathVelocity + part * (row->velocity - row->pathVelocity);
        row->pathImpulse =
            isWhole ? row->impulse : row->pathImpulse + part * (row->impulse - row->pathImpulse);
        int32_t state = row->state == tp_deadRow ? row->state : wantedState(row);
        hasChanged = hasChanged || state != row->state;
        row->state = state;
    }
    return hasChanged;
}
