// Rows that answer to their velocity, within bounds.
//
// A row with the velocity u answers with the impulse
//
//     r = offset - stiffness (u + bias),     least <= r <= most.
//
// Velocities of bodies under such rows are the least of a convex function. Its slope is the
// momentum that bodies lack less the impulses that rows answer with, each within its bounds.
// Newton's steps on it are linear solves with the rows that are within; one that goes beyond the
// least along its way ends there, so that states never go around in circles.

#ifndef TIPPE_SRC_SWEEPS_ROW_ANSWERS_H
#define TIPPE_SRC_SWEEPS_ROW_ANSWERS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum tpRowState { tp_atLeastRow = -1, tp_withinRow, tp_atMostRow, tp_deadRow } tpRowState;

typedef struct tpRowAnswer {
    double stiffness, bias, offset;
    double least, most;               // of the impulse
    double impulse, velocity;         // after a solve
    double pathImpulse, pathVelocity; // of the iterate that bounds are found with
    int32_t state;                    // tpRowState
} tpRowAnswer;

// How often states of rows may change in one solve. Rows that still change then keep the impulses
// that they have.
enum { tp_mostTrials = 24 };

static inline bool tpRowAnswer_IsBounded(const tpRowAnswer* row) {
    return isfinite(row->least) || isfinite(row->most);
}

static inline double tpRowAnswer_To(const tpRowAnswer* row, double velocity) {
    return row->offset - row->stiffness * (velocity + row->bias);
}

static inline double tpRowAnswer_AtBound(const tpRowAnswer* row) {
    return row->state == tp_atLeastRow ? row->least : row->state == tp_atMostRow ? row->most : 0.0;
}

// The impulse of a row before anything moves.
static inline double tpRowAnswer_Start(const tpRowAnswer* row) {
    return row->state == tp_withinRow ? row->offset - row->stiffness * row->bias
                                      : tpRowAnswer_AtBound(row);
}

// Velocity and impulse after a solve.
static inline void tpRowAnswer_Set(tpRowAnswer* row, double velocity) {
    row->velocity = velocity;
    row->impulse =
        row->state == tp_withinRow ? tpRowAnswer_To(row, velocity) : tpRowAnswer_AtBound(row);
}

// Whether a row is where its answer to a velocity asks it to be.
static inline bool tpRowAnswer_IsSettled(const tpRowAnswer* row, double velocity) {
    if (row->state == tp_deadRow) {
        return true;
    }
    double wanted = tpRowAnswer_To(row, velocity);
    if (row->state != tp_withinRow) {
        return row->state == tp_atLeastRow ? wanted < row->least : wanted > row->most;
    }
    double slack = 1e-12 * fabs(wanted);
    return !(wanted < row->least - slack || wanted > row->most + slack);
}

// Goes along the way to the last solve, the `trial`th of its kind, and gives rows the states that
// their answers there ask for. Whether a state has changed.
bool tpRowAnswers_Follow(tpRowAnswer* rows, int count, int trial);

#endif
