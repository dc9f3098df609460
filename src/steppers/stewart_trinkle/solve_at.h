// One linearisation of the scheme: contacts and rows where it says, the active set, the impulses.

#ifndef TIPPE_SRC_STEPPERS_STEWART_TRINKLE_SOLVE_AT_H
#define TIPPE_SRC_STEPPERS_STEWART_TRINKLE_SOLVE_AT_H

#include "steppers/stewart_trinkle/share.h"
#include "steppers/stewart_trinkle/solve.h"
#include "steppers/stewart_trinkle/taut.h"

// Where the rows are linearised: poses, and the velocities that led there from the start of the
// step.
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
// are violated where the step ends. A pile that is hit grows its active set layer by layer; when
// that takes long, the last pass has every contact there is, and takes what comes of that. What
// ends deeper than `limit` will be linearised again (INFINITY: nothing will). False if memory ran
// out.
bool tpStewartTrinkle_SolveAt(tpTimeStep* step, const tpLinearisation* at,
                              const tpStepProblem* problem, double limit, tpEnd* end);

// The impulses on the level of velocities [sec. 3.3]. False if memory ran out.
bool tpStewartTrinkle_SolveVelocities(tpTimeStep* step, const tpLinearisation* at,
                                      const tpStepProblem* problem);

#endif
