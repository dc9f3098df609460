// Impacts: when they happen within a step, and the velocities with which bodies leave them.
//
// The position condition of the step takes an approaching body to the surface by the end of the
// step, with what is left of its approach. A velocity problem there, with friction, ends the
// impact by Newton's or Poisson's law, for every contact that is closed; README.md has both.
// Approaches below the threshold have no restitution. With friction both laws may give energy. If
// the energy after the impact is above that of the start and the work done, the impact is taken
// with a smaller restitution.
//
// An impact happens where a step ends, so only a short one says when: a step with an impact that is
// worth it is taken in halves, and so are these, down to the 128th part of the step.

#ifndef TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_IMPACTS_H
#define TIPPE_SRC_STEPPERS_CHAKRABORTY_TRINKLE_IMPACTS_H

#include "steppers/chakraborty_trinkle/islands.h"

// Whether a contact of a solved part has been hit so hard that the part is to be halved.
bool tpImpacts_AreWorthLocating(const tpImplicitStep* step);

// Whether it is plain before a part is solved that one will be: large crowds would solve each part
// in vain. Contacts and islands are prepared.
bool tpImpacts_AreForeseen(const tpImplicitStep* step);

// Ends the impacts of a part that has been moved to its end: velocities of the islands that were
// hit. `energy` is what they may leave, J. False if memory ran out.
bool tpImpacts_End(tpImplicitStep* step, tpStepperMemory* memory, tpTally* tally, double energy,
                   tpStepReport* report);

// Kinetic and potential energy, less the work done in the step so far.
double tpImpacts_Energy(const tpSystem* system, const tpStepReport* report);

#endif
