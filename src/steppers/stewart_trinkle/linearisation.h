// How the next place at which rows are linearised follows from the last solve.

#ifndef TIPPE_SRC_STEPPERS_STEWART_TRINKLE_LINEARISATION_H
#define TIPPE_SRC_STEPPERS_STEWART_TRINKLE_LINEARISATION_H

#include "steppers/stewart_trinkle/solve_at.h"

// Newton's method for joints that are taut. `isSolved`: rows at `at` have been solved as if none
// were. False if memory ran out.
bool tpStewartTrinkle_SolveTaut(tpTimeStep* step, tpLinearisation* at, bool isSolved,
                                tpStepProblem* problem);

// Velocities that lead to where rows are linearised, in memory of their own.
typedef struct tpLeading {
    tpVelocity *meanVelocities, *towards;
} tpLeading;

// These are false if memory ran out.

bool tpLeading_Begin(tpLeading* leading, const tpTimeStep* step);

// The next rows are linearised where the last ones lead.
bool tpLeading_Follow(const tpLeading* leading, tpTimeStep* step, const tpStepProblem* problem,
                      tpLinearisation* at);

// The same on a part of the way there from where the last ones were written.
bool tpLeading_FollowPart(const tpLeading* leading, double part, tpTimeStep* step,
                          const tpStepProblem* problem, tpLinearisation* at);

#endif
