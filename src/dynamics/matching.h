// Which contact of a list is which of another.

#ifndef TIPPE_SRC_DYNAMICS_MATCHING_H
#define TIPPE_SRC_DYNAMICS_MATCHING_H

#include "base/memory.h"
#include "collision/collider.h"

// For each new contact its old one, or -1; both lists in the collider's order. In the arena; NULL
// if memory ran out.
int* tpMatchContacts(const tpContact* old, int oldCount, const tpContact* new, int newCount,
                     tpArena* arena);

#endif
