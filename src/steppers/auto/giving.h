// Contacts that give, in the steps of a group: what whole and halves of a step cannot tell of them.
//
// The force of such a contact, k depth + c depth', grows from nothing and falls to nothing; nothing
// jumps. But steps take it as one number. A contact that ends within a step either pushes in no
// part of it, whole or halved, and the last of its force is missing; or it pushes in the mean, and
// its force at the end pulls. Whole and halves are wrong alike then, so the bounds here are added
// to what they differ by.

#ifndef TIPPE_SRC_STEPPERS_AUTO_GIVING_H
#define TIPPE_SRC_STEPPERS_AUTO_GIVING_H

#include "dynamics/tally.h"

// Whether all contacts that push give.
bool tpGiving_IsAll(const tpTally* tally, const tpSystem* system);

// What contacts that give have done to the velocities of bodies in h seconds, at most, m/s^2.
double tpGiving_Rate(const tpTally* tally, const tpSystem* system, double h);

// What they do where bodies are now if they pull, though they have pushed in the step, m/s^2.
double tpGiving_PullRate(const tpTally* tally, const tpSystem* system);

#endif
