// The contacts of a step with what they carried, gathered from one or more solves.

#ifndef TIPPE_SRC_DYNAMICS_TALLY_H
#define TIPPE_SRC_DYNAMICS_TALLY_H

#include "dynamics/contact_info.h"

// Impulses of contacts over a step, gathered from one or more solves, in the collider's order.
typedef struct tpTally {
    tpContactInfo* list; // in the arena
    int count;
} tpTally;

// A contact in the tally, or NULL. Asked for in order; `cursor` starts at 0.
const tpContactInfo* tpTally_Find(const tpTally* tally, const tpContact* contact, int* cursor);

// Merges a list that is in order into the tally; what is in both is added up, with the place of the
// list's.
bool tpTally_Merge(tpTally* tally, const tpContactInfo* list, int count, tpArena* arena);

// Measures penetration and gaps where the bodies are now, within the margins, and lists the
// contacts that carry something or touch as the system's.
bool tpTally_List(tpTally* tally, tpSystem* system, const double* margins, tpStepReport* report);

#endif
