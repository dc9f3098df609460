#include "sweeps/row_answers.h"

// Points of a way that are looked at until its least point is found.
enum { mostPoints = 60 };

// A way that rises from its start, or from a bend, ends this part of it later: beyond the bend.
static const double leastPart = 1e-15;

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

// The bends of the slope next to a part of the way, within `low` and `high`, which are these if
// there is none.
static void findBends(const tpRowAnswer* rows, int count, double part, double* low, double* high) {
    for (int k = 0; k < count; ++k) {
        const tpRowAnswer* row = &rows[k];
        if (row->state == tp_deadRow || !tpRowAnswer_IsBounded(row)) {
            continue;
        }
        double wanted = tpRowAnswer_To(row, row->pathVelocity);
        double rate = -row->stiffness * (row->velocity - row->pathVelocity);
        const double bounds[2] = { row->least, row->most };
        for (int i = 0; i < 2; ++i) {
            // Without a rate, or a bound, there is no bend: what comes out is no number or
            // infinite.
            double bend = (bounds[i] - wanted) / rate;
            *low = bend <= part && bend > *low ? bend : *low;
            *high = bend > part && bend < *high ? bend : *high;
        }
    }
}

// The part of the way to the last solve after which the function rises. The slope is made of
// straight pieces: on one of them the chord of its ends meets zero where the slope does. So the
// piece on which the chord meets zero is looked at; halves between chords bound how often.
static double partOfWay(const tpRowAnswer* rows, int count) {
    double low = 0.0, high = 1.0, atHigh = slopeAt(rows, count, 1.0);
    if (!(atHigh > 0.0)) {
        return 1.0;
    }
    double atLow = slopeAt(rows, count, 0.0);
    for (int k = 0; k < mostPoints; ++k) {
        double chord = atLow < 0.0 ? low + (high - low) * (atLow / (atLow - atHigh)) : low;
        double ends[2] = { low, high };
        findBends(rows, count, k % 2 == 0 ? chord : 0.5 * (low + high), &ends[0], &ends[1]);
        if (ends[0] == low && ends[1] == high) {
            return atLow < 0.0 ? chord : low + leastPart;
        }
        for (int i = 0; i < 2; ++i) {
            double slope = ends[i] > low && ends[i] < high ? slopeAt(rows, count, ends[i]) : 0.0;
            if (slope > 0.0) {
                high = ends[i];
                atHigh = slope;
            } else if (ends[i] > low && ends[i] < high) {
                low = ends[i];
                atLow = slope;
            }
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
