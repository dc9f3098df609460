// Which contact of a list is which of another.

#ifndef TIPPE_SRC_DYNAMICS_MATCHING_H
#define TIPPE_SRC_DYNAMICS_MATCHING_H

#include "base/memory.h"
#include "base/tasks.h"
#include "collision/collider.h"

// For each new contact its old one, or -1; both lists in the collider's order. In the arena; NULL
// if memory ran out.
int* tpMatchContacts(const tpContact* old, int oldCount, const tpContact* new, int newCount,
                     tpArena* arena);

// The same in parts that threads may share.
typedef struct tpMatching {
    const tpContact* old;
    int oldCount;
    const tpContact* new;
    int newCount;
    int* match;    // of each new contact
    bool* isTaken; // of each old one
} tpMatching;

// False if memory ran out.
bool tpMatching_Create(tpMatching* matching, const tpContact* old, int oldCount,
                       const tpContact* new, int newCount, tpArena* arena);

// Matches the pairs that begin in a range of the new contacts; returns which contacts those are.
tpRange tpMatching_Run(const tpMatching* matching, tpRange range);

#endif
