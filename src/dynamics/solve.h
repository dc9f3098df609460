// Solving the rows of a step, with a certificate and fallbacks.

#ifndef TIPPE_SRC_DYNAMICS_SOLVE_H
#define TIPPE_SRC_DYNAMICS_SOLVE_H

#include "dynamics/rows.h"

typedef enum tpConeChoice { tp_circularCone = 0, tp_pyramidCone = 1 } tpConeChoice;

typedef struct tpSolveSettings {
    tpConeChoice cone;
    int directionCount; // of the pyramid
    double tolerance;   // of contact velocities, m/s
    double share;       // of the work that a solve in the cone may take; 0: all of it
    double rough;       // relative residual that will do for a solve on the way; 0: it is not one
    double enough;      // residual that will do if more takes long, m/s; 0: that of the certificate
    bool isSwept;       // the impulses come from sweeps enough to begin with Newton's method
    bool isFlowing;     // nothing stands there whose symmetry would be lost by light sweeps
    bool isEnd;         // of the velocities at the end of a step or of a part of it
    bool isTrial;       // a solve to see which contacts join: with a part of its work
} tpSolveSettings;

// The certificate that users have who do not ask for another: option `certificate`.
#define TP_USUAL_CERTIFICATE 1e-8

// What a solve aims at, as a velocity: the tolerance (m/s) or half of the certificate relative to
// `size` (m/s), the smaller one; for a certificate that asks for less than usual nine tenths of it
// or the tolerance, the larger one. It need not get there: a solve that meets the certificate and
// takes long for more is solved.
double tpSolveGoal(double tolerance, double certificate, double size);

// Whether a relative residual is within what a solve to the last digit aims at. The certificate may
// allow more: far limits of joints and links that are light for their drives are in its |q|, by
// which robots creep.
bool tpRows_IsExact(const tpRows* rows, const tpSystem* system, const tpSolveSettings* settings,
                    double residual);

// Solves for rows->impulse and rows->velocity, starting from the impulses given. Adds solves,
// iterations, failures and fallback to the report, and raises its residuals. False if memory ran
// out; a solve that failed leaves the best impulses found.
bool tpRows_Solve(tpRows* rows, tpSystem* system, tpSolverMemory* memory,
                  const tpSolveSettings* settings, tpStepReport* report);

// Judges impulses that came from elsewhere by the contact law as the rows say it: fills in
// rows->velocity and raises the report's residuals. False if memory ran out.
bool tpRows_Judge(tpRows* rows, tpSolverMemory* memory, tpStepReport* report);

// Raises the report's largest relative violations of the cone and of maximal dissipation by those
// of the rows' impulses and velocities.
void tpRows_JudgeContacts(const tpRows* rows, tpStepReport* report);

// Whether a step may still spend much on solves: what it repeats to be more exact, it repeats only
// then.
// |q| of rows, m/s, without limits of joints that are open: those far away would make every
// residual look small.
double tpRows_RoughSize(const tpRows* rows);

bool tpSystem_HasWorkLeft(const tpSystem* system);

#endif
