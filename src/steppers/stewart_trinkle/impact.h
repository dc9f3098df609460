// Instantaneous collisions: velocities jump, positions stay.

#ifndef TIPPE_SRC_STEPPERS_STEWART_TRINKLE_IMPACT_H
#define TIPPE_SRC_STEPPERS_STEWART_TRINKLE_IMPACT_H

#include "steppers/memory.h"

typedef struct tpImpactLaw {
    tpSolveSettings solve;
    int law;          // tp_newtonImpact or tp_poissonImpact
    double threshold; // approaches slower than this do not bounce, m/s
    bool isGuarded;   // kinetic energy does not rise
    double wholeStep; // over which reactions of joints are averaged, s
} tpImpactLaw;

// The fastest approach among closed contacts with restitution, m/s; 0 if none is faster than the
// threshold. Negative if memory ran out.
double tpStewartTrinkle_FastestApproach(tpSystem* system, const tpImpactLaw* settings,
                                        const double* margins);

// Resolves the collisions of all contacts closed now, and adds impulses and energies to tally and
// report. False if memory ran out.
bool tpStewartTrinkle_Collide(tpSystem* system, tpStepperMemory* memory,
                              const tpImpactLaw* settings, const double* margins, tpTally* tally,
                              tpStepReport* report);

#endif
