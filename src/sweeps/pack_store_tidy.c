// Sparse runs of the store are emptied, and packs that no lane needs given back, a few in each
// step.

#include "sweeps/pack_store_parts.h"

// Runs that are looked at in a step, a part of all and some; those with at most so many manifolds
// are emptied if these find lanes elsewhere.
enum { tidyPart = 8, leastTidy = 8, sparseLanes = 6 };

// Moves a manifold to an empty lane of another colour. False if there is none.
static bool moveLane(tpPackStore* store, int32_t number, int lane) {
    tpSoftRun* from = &store->runs.data[number];
    int32_t a = from->bodyA[lane], b = from->bodyB[lane], group = from->group;
    uint64_t* masks = tpPackStore_ColourMasks(store, group);
    bool movesA = store->blocks.data[a] >= 0, movesB = store->blocks.data[b] >= 0;
    uint64_t busy = (movesA ? masks[a] : 0) | (movesB ? masks[b] : 0);
    // Its own colour is busy, so that it does not come back to its own run.
    if (tpPackStore_FindOpen(store, group, busy, from->points[lane], from->areBalls) < 0) {
        return false;
    }
    int32_t slot = from->slots[lane];
    int32_t moved = tpPackStore_Add(store, a, b, from->points[lane], from->areBalls);
    if (moved < 0) {
        return false;
    }
    int newLane;
    tpSoftRun* to = tpPackStore_Find(store, moved, &newLane);
    tpSoftRun_CopyLane(&store->runs.data[number], lane, to, newLane);
    // The slots change places, so that the manifold keeps its own.
    to->slots[newLane] = slot;
    store->runs.data[number].slots[lane] = moved;
    int32_t place = store->places.data[slot];
    store->places.data[slot] = store->places.data[moved];
    store->places.data[moved] = place;
    tpPackStore_Remove(store, moved);
    return true;
}

void tpPackStore_Tidy(tpPackStore* store) {
    for (int r = 0; r < store->runs.count; ++r) {
        if (store->runs.data[r].packs != NULL) {
            tpPackStore_TrimRoom(store, &store->runs.data[r]);
            tpPackStore_LowerPacks(store, &store->runs.data[r]);
        }
    }
    int looks = store->runs.count / tidyPart + leastTidy;
    for (int k = 0; k < looks && store->runs.count > 0; ++k) {
        store->tidied = (store->tidied + 1) % store->runs.count;
        int32_t number = store->tidied;
        tpSoftRun* run = &store->runs.data[number];
        if (run->packs == NULL) {
            continue;
        }
        if (run->colour == tp_maskColours || __builtin_popcount(run->used) > sparseLanes) {
            continue;
        }
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            if ((store->runs.data[number].used >> lane & 1) != 0) {
                moveLane(store, number, lane);
            }
        }
    }
}
