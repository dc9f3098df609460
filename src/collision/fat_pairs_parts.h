// Pieces of fat pairs that their files share.

#ifndef TIPPE_SRC_COLLISION_FAT_PAIRS_PARTS_H
#define TIPPE_SRC_COLLISION_FAT_PAIRS_PARTS_H

#include "collision/fat_pairs.h"

// Gives all leaves of the tree their boxes, and the tree a shape that fits them.
void tpFatPairs_RenewTree(tpFatPairs* fat, tpTasks* tasks);

// Old pairs without moved shapes stay, those found for moved shapes come in. False if memory ran
// out.
bool tpFatPairs_Renew(tpFatPairs* fat, const tpProxies* proxies, tpTasks* tasks, tpArena* arena);

#endif
