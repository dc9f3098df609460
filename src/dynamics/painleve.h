// Painleve's paradox, by name.
//
// With p = W_NN - mu W_NT . t < 0 for the slip direction t of a contact, friction presses it on:
// more load makes the contact approach faster. Forces have no solution then, impulses have: the
// contact stops at once, an impact without collision [StewartTrinkle96].

#ifndef TIPPE_SRC_DYNAMICS_PAINLEVE_H
#define TIPPE_SRC_DYNAMICS_PAINLEVE_H

#include "dynamics/rows.h"

// After a solve: looks at contacts with load that slide without their impulses, and says so in the
// report if one of them is of this kind.
void tpRows_NamePainleve(const tpRows* rows, tpStepReport* report);

#endif
