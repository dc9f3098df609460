// Where the rows of a step are linearised, and how the next place follows from the last solve.

#ifndef TIPPE_SRC_STEPPERS_STEWART_TRINKLE_LINEARISATION_H
#define TIPPE_SRC_STEPPERS_STEWART_TRINKLE_LINEARISATION_H

#include "steppers/stewart_trinkle/share.h"
#include "steppers/stewart_trinkle/solve.h"
#include "steppers/stewart_trinkle/taut.h"

// Poses, and the velocities that led there from the start of the step.
typedef struct tpLinearisation {
    tpPose* poses;
    const tpVelocity* meanVelocities; // NULL: the poses are those of the start
    const tpVelocity* towards;        // the same as rows have them, tpTimeStep_LinearMeanVelocities
} tpLinearisation;

typedef struct tpStepProblem {
    const tpStewartTrinkleSettings* settings;
    const tpPassage* passage; // NULL: nothing passes
    tpStepShare share;
    tpStepperMemory* memory;
    tpTaut* taut;               // NULL: joints are rigid
    tpContactHistory* latest;   // impulses of the last solve of this step; h = 0: there was none
    const tpStepReport* before; // what was said before the first solve
    tpStepReport* report;
} tpStepProblem;

// What a linearisation has come to.
typedef struct tpEnd {
    double depth; // how deep bodies overlap, m; known if the depth is limited
    double off;   // of that, what joints are off, m
    bool isRough; // it is not solved to the end, since it is too deep
} tpEnd;

// Finds contacts where `at` says, solves, and solves again while contacts outside the active set
// are violated where the step ends. What ends deeper than `limit` will be linearised again
// (INFINITY: nothing will). False if memory ran out.
bool tpStewartTrinkle_SolveAt(tpTimeStep* step, const tpLinearisation* at,
                              const tpStepProblem* problem, double limit, tpEnd* end);

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
