#include "sweeps/pack_store.h"

#include <string.h>

#include "sweeps/pack_store_parts.h"

void tpCreatePackStore(tpPackStore* store, const tpAllocator* allocator) {
    memset(store, 0, sizeof(*store));
    store->allocator = *allocator;
}

void tpDestroyPackStore(tpPackStore* store) {
    const tpAllocator* allocator = &store->allocator;
    for (int i = 0; i < store->pieces.count; ++i) {
        tpRelease(allocator, store->pieces.data[i], sizeof(tpSoftPack) * tp_packsPerPiece);
    }
    for (int i = 0; i < store->torsionPieces.count; ++i) {
        tpRelease(allocator, store->torsionPieces.data[i],
                  sizeof(tpSoftTorsion) * tp_packsPerPiece);
    }
    tpPackStore_DropGroups(store);
    TP_FREE_ARRAY(allocator, store->pieces);
    TP_FREE_ARRAY(allocator, store->torsionPieces);
    TP_FREE_ARRAY(allocator, store->runs);
    TP_FREE_ARRAY(allocator, store->places);
    TP_FREE_ARRAY(allocator, store->groups);
    TP_FREE_ARRAY(allocator, store->blocks);
    TP_FREE_ARRAY(allocator, store->insideColours);
    TP_FREE_ARRAY(allocator, store->betweenColours);
    TP_FREE_ARRAY(allocator, store->order);
    TP_FREE_ARRAY(allocator, store->groupFirsts);
    TP_FREE_ARRAY(allocator, store->table);
}

bool tpPackStore_Start(tpPackStore* store, const int32_t* blocks, int bodyCount, int blockCount) {
    const tpAllocator* allocator = &store->allocator;
    tpPackStore_DropGroups(store);
    store->runs.count = store->places.count = store->packCount = store->slotCount = 0;
    store->order.count = store->groupFirsts.count = 0;
    store->isOrdered = false;
    store->freeRun = store->freeSlot = -1;
    store->tidied = 0;
    for (int i = 0; i < tp_packClasses; ++i) {
        store->freePacks[i] = -1;
    }
    store->blockCount = blockCount;
    if (store->table.capacity > 0) {
        memset(store->table.data, -1, sizeof(int32_t) * (size_t)store->table.capacity);
    }
    if (!TP_RESERVE(allocator, store->blocks, bodyCount) ||
        !TP_RESERVE(allocator, store->insideColours, bodyCount) ||
        !TP_RESERVE(allocator, store->betweenColours, bodyCount)) {
        return false;
    }
    store->blocks.count = store->insideColours.count = store->betweenColours.count = bodyCount;
    store->nobody = bodyCount - 1;
    memcpy(store->blocks.data, blocks, sizeof(int32_t) * (size_t)bodyCount);
    memset(store->insideColours.data, 0, sizeof(uint64_t) * (size_t)bodyCount);
    memset(store->betweenColours.data, 0, sizeof(uint64_t) * (size_t)bodyCount);
    for (int b = 0; b < blockCount; ++b) {
        if (!tpPackStore_AddGroup(store, b, b)) {
            return false;
        }
    }
    return true;
}

bool tpPackStore_AddBody(tpPackStore* store, int32_t block) {
    const tpAllocator* allocator = &store->allocator;
    int count = store->blocks.count;
    if (!TP_RESERVE(allocator, store->blocks, count + 1) ||
        !TP_RESERVE(allocator, store->insideColours, count + 1) ||
        !TP_RESERVE(allocator, store->betweenColours, count + 1)) {
        return false;
    }
    store->blocks.data[count - 1] = block;
    store->blocks.data[count] = -1;
    store->insideColours.data[count] = store->betweenColours.data[count] = 0;
    store->blocks.count = store->insideColours.count = store->betweenColours.count = count + 1;
    for (int r = 0; r < store->runs.count; ++r) {
        tpSoftRun* run = &store->runs.data[r];
        for (int lane = 0; run->packs != NULL && lane < tp_packWidth; ++lane) {
            if ((run->used >> lane & 1) == 0) {
                run->bodyA[lane] = run->bodyB[lane] = count;
            }
        }
    }
    store->nobody = count;
    return true;
}

// A colour that both bodies have free, one with an empty lane if there is any; `class` becomes that
// of the run.
static int chooseColour(tpPackStore* store, int32_t group, int32_t bodyA, int32_t bodyB, int points,
                        bool areBalls, int* class) {
    uint64_t* masks = tpPackStore_ColourMasks(store, group);
    bool movesA = store->blocks.data[bodyA] >= 0, movesB = store->blocks.data[bodyB] >= 0;
    uint64_t busy = (movesA ? masks[bodyA] : 0) | (movesB ? masks[bodyB] : 0);
    *class = tpRunClass(points);
    if (busy == UINT64_MAX) {
        return tp_maskColours;
    }
    uint64_t open = tpPackStore_FindOpen(store, group, busy, points, areBalls, class);
    int colour = tpLowestFreeColour(open != 0 ? ~open : busy);
    uint64_t mine = UINT64_C(1) << colour;
    masks[bodyA] |= movesA ? mine : 0;
    masks[bodyB] |= movesB ? mine : 0;
    return colour;
}

static void freeColour(tpPackStore* store, const tpSoftRun* run, int lane) {
    if (run->colour < tp_maskColours) {
        uint64_t* masks = tpPackStore_ColourMasks(store, run->group);
        uint64_t others = ~(UINT64_C(1) << run->colour);
        masks[run->bodyA[lane]] &= others;
        masks[run->bodyB[lane]] &= others;
    }
}

// A run of the colour with an empty lane; -1 if memory ran out. Manifolds without a colour have
// runs of their own.
static int32_t openRun(tpPackStore* store, int32_t group, int colour, int class, bool areBalls) {
    if (colour == tp_maskColours) {
        return tpPackStore_TakeRun(store, group, colour, class, areBalls);
    }
    int32_t* open = tpPackStore_OpenList(store, group, colour, tpRunSort(class, areBalls));
    if (open != NULL && *open < 0) {
        int32_t number = tpPackStore_TakeRun(store, group, colour, class, areBalls);
        if (number < 0) {
            return -1;
        }
        tpPackStore_PushOpen(store, open, number);
        store->isOrdered = false;
    }
    return open != NULL ? *open : -1;
}

static int32_t takeSlot(tpPackStore* store) {
    int32_t slot = store->freeSlot;
    if (slot >= 0) {
        store->freeSlot = -1 - store->places.data[slot];
        return slot;
    }
    return TP_PUSH(&store->allocator, store->places, -1) ? store->places.count - 1 : -1;
}

int32_t tpPackStore_Add(tpPackStore* store, int32_t bodyA, int32_t bodyB, int points,
                        bool areBalls) {
    int32_t group =
        tpPackStore_TakeGroup(store, store->blocks.data[bodyA], store->blocks.data[bodyB]);
    int32_t slot = group >= 0 ? takeSlot(store) : -1;
    if (slot < 0) {
        return -1;
    }
    int class, colour = chooseColour(store, group, bodyA, bodyB, points, areBalls, &class);
    int32_t number = openRun(store, group, colour, class, areBalls);
    if (number < 0) {
        store->places.data[slot] = -1 - store->freeSlot;
        store->freeSlot = slot;
        return -1;
    }
    tpSoftRun* run = &store->runs.data[number];
    int lane = 0;
    while (run->used >> lane & 1) {
        ++lane;
    }
    unsigned bit = 1u << lane;
    store->isOrdered = store->isOrdered && run->used != 0;
    run->used = (uint8_t)(run->used | bit);
    run->bodyA[lane] = bodyA;
    run->bodyB[lane] = bodyB;
    run->movesA = (uint8_t)(run->movesA | (store->blocks.data[bodyA] >= 0 ? bit : 0));
    run->movesB = (uint8_t)(run->movesB | (store->blocks.data[bodyB] >= 0 ? bit : 0));
    run->slots[lane] = slot;
    store->places.data[slot] = number * tp_packWidth + lane;
    store->slotCount += 1;
    if (run->used == UINT8_MAX && colour < tp_maskColours) {
        tpPackStore_PopOpen(store,
                            tpPackStore_OpenList(store, group, colour, tpRunSort(class, areBalls)));
    }
    return slot;
}

int32_t tpPackStore_Leave(tpPackStore* store, int32_t slot) {
    int lane;
    const tpSoftRun* run = tpPackStore_Find(store, slot, &lane);
    int32_t place = store->places.data[slot];
    freeColour(store, run, lane);
    store->places.data[slot] = -1 - store->freeSlot;
    store->freeSlot = slot;
    store->slotCount -= 1;
    return place;
}

// Gives an empty run back.
static void closeRun(tpPackStore* store, int32_t number) {
    tpSoftRun* run = &store->runs.data[number];
    int32_t* open = tpPackStore_OpenList(store, run->group, run->colour, tpSoftRun_Sort(run));
    if (*open == number) {
        tpPackStore_PopOpen(store, open);
    } else {
        int32_t before = *open;
        while (store->runs.data[before].next != number) {
            before = store->runs.data[before].next;
        }
        store->runs.data[before].next = run->next;
    }
    tpPackStore_FreeRun(store, number);
    store->isOrdered = false;
}

void tpPackStore_Vacate(tpPackStore* store, int32_t place) {
    int32_t number = place / tp_packWidth;
    int lane = place % tp_packWidth;
    tpSoftRun* run = &store->runs.data[number];
    unsigned bit = 1u << lane;
    bool wasFull = run->used == UINT8_MAX;
    run->used = (uint8_t)(run->used & ~bit);
    if (run->colour == tp_maskColours) {
        store->isOrdered = false;
        tpPackStore_FreeRun(store, number);
        return;
    }
    run->movesA = (uint8_t)(run->movesA & ~bit);
    run->movesB = (uint8_t)(run->movesB & ~bit);
    run->bodyA[lane] = run->bodyB[lane] = store->nobody;
    run->slots[lane] = -1;
    if (wasFull) {
        tpPackStore_PushOpen(
            store, tpPackStore_OpenList(store, run->group, run->colour, tpSoftRun_Sort(run)),
            number);
    }
    if (run->used == 0) {
        closeRun(store, number);
    }
}

void tpPackStore_Remove(tpPackStore* store, int32_t slot) {
    int32_t place = tpPackStore_Leave(store, slot);
    tpSoftRun_ClearLane(&store->runs.data[place / tp_packWidth], place % tp_packWidth);
    tpPackStore_Vacate(store, place);
}
