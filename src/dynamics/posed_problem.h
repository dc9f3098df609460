// Shows the friction problems of a step to whoever asked for them (tpWorld_SetProblemHook).

#ifndef TIPPE_SRC_DYNAMICS_POSED_PROBLEM_H
#define TIPPE_SRC_DYNAMICS_POSED_PROBLEM_H

#include "dynamics/rows.h"

// Before a solve: a copy of the impulses that it begins with, in the system's arena. NULL if nobody
// asked, or if memory ran out (arena.failed).
double* tpPosedProblem_Begin(tpSystem* system, const tpRows* rows);

// After it. Nothing is shown if `start` is NULL.
void tpPosedProblem_End(tpSystem* system, tpRows* rows, const double* start, double residual,
                        bool isSolved);

#endif
