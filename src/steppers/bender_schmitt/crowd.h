// Crowds under a certificate that the user has chosen.

#ifndef TIPPE_SRC_STEPPERS_BENDER_SCHMITT_CROWD_H
#define TIPPE_SRC_STEPPERS_BENDER_SCHMITT_CROWD_H

#include "steppers/bender_schmitt/touch.h"
#include "sweeps/light.h"

// Sweeps from the impulses that the contacts start with until the certificate's velocity is at most
// `goal`, m/s, or until they have cost a hundred budgets. `size` is the size of the velocities
// without impulses. The sweeper's velocities are `start`
// (another array) at first. Adds the sweeps to the report. False if memory ran out.
bool tpCrowd_Solve(tpTouch* touch, const tpBenderSettings* settings, tpSolverMemory* memory,
                   const tpVelocity* start, double goal, double size, tpStepReport* report,
                   tpSweepVerdict* verdict);

// Whether a solve has ended with loads that nothing but a contradiction has made
// (sweeps/runaway_loads.h). Takes them out; velocities are the caller's task. `start` are those
// without impulses.
bool tpCrowd_HasRunAway(tpTouch* touch, tpVelocity* start);

// Solves the chosen contacts by the friction portfolio from the impulses that they have (chosen.c);
// all others carry nothing. Velocities are the caller's task. Adds iterations to the report. False
// if memory ran out.
bool tpCrowd_SolveChosen(tpTouch* touch, tpSolverMemory* memory, const tpLightSweeper* light,
                         const tpVelocity* start, double goal, tpStepReport* report);

#endif
