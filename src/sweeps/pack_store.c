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
    TP_FREE_ARRAY(allocator, store->taken);
    TP_FREE_ARRAY(allocator, store->owners);
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

void tpPackStore_Prepare(tpPackStore* store, const tpPackRoom* room) {
    const tpAllocator* allocator = &store->allocator;
    tpRange bodies = room->bodies, slots = room->manifolds;
    tpRange runs = { slots.begin / tp_packWidth, slots.end / tp_packWidth };
    int pieces = room->points / (tp_packWidth * tp_packsPerPiece), before = store->pieces.count;
    bool hasRoom = TP_PREPARE(allocator, store->blocks, bodies.begin, bodies.end) &&
                   TP_PREPARE(allocator, store->insideColours, bodies.begin, bodies.end) &&
                   TP_PREPARE(allocator, store->betweenColours, bodies.begin, bodies.end) &&
                   TP_PREPARE(allocator, store->places, slots.begin, slots.end) &&
                   TP_PREPARE(allocator, store->runs, runs.begin, runs.end) &&
                   tpPackStore_NeedPieces(store, pieces);
    for (int i = before; hasRoom && i < pieces; ++i) {
        tpTouchPages(store->pieces.data[i], sizeof(tpSoftPack) * tp_packsPerPiece);
    }
}

bool tpPackStore_Start(tpPackStore* store, const int32_t* blocks, int bodyCount, int blockCount) {
    const tpAllocator* allocator = &store->allocator;
    tpPackStore_Clear(store);
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

// A colour that both bodies have free, one with an empty lane if there is any.
static int chooseColour(tpPackStore* store, int32_t group, int32_t bodyA, int32_t bodyB, int points,
                        bool areBalls) {
    uint64_t* masks = tpPackStore_ColourMasks(store, group);
    bool movesA = store->blocks.data[bodyA] >= 0, movesB = store->blocks.data[bodyB] >= 0;
    uint64_t busy = (movesA ? masks[bodyA] : 0) | (movesB ? masks[bodyB] : 0);
    if (busy == UINT64_MAX) {
        return tp_maskColours;
    }
    int colour = tpPackStore_FindOpen(store, group, busy, points, areBalls);
    colour = colour >= 0 ? colour : tpLowestFreeColour(busy);
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

// A run of the colour with an empty lane for so many points; -1 if memory ran out. Manifolds
// without a colour have runs of their own.
static int32_t openRun(tpPackStore* store, int32_t group, int colour, int points, bool areBalls) {
    if (colour == tp_maskColours) {
        return tpPackStore_TakeRun(store, group, colour, points, areBalls);
    }
    int32_t* open = tpPackStore_OpenList(store, group, colour, areBalls);
    if (open != NULL && *open < 0) {
        int32_t number = tpPackStore_TakeRun(store, group, colour, points, areBalls);
        if (number < 0) {
            return -1;
        }
        tpPackStore_PushOpen(store, open, number);
        store->isOrdered = false;
    }
    if (open == NULL || !tpPackStore_NeedRoom(store, &store->runs.data[*open], points)) {
        return -1;
    }
    return *open;
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
    int colour = chooseColour(store, group, bodyA, bodyB, points, areBalls);
    int32_t number = openRun(store, group, colour, points, areBalls);
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
        tpPackStore_PopOpen(store, tpPackStore_OpenList(store, group, colour, areBalls));
    }
    return slot;
}

// After the lanes of a run have changed.
static void relist(tpPackStore* store, int32_t number, bool wasFull) {
    tpSoftRun* run = &store->runs.data[number];
    bool isFull = run->used == UINT8_MAX;
    if (isFull && !wasFull) {
        tpPackStore_Unlist(store, number);
    } else if (wasFull && !isFull) {
        tpPackStore_PushOpen(
            store, tpPackStore_OpenList(store, run->group, run->colour, run->areBalls), number);
    }
}

void tpPackStore_CloseIfEmpty(tpPackStore* store, int32_t number) {
    if (store->runs.data[number].used == 0) {
        tpPackStore_Unlist(store, number);
        tpPackStore_FreeRun(store, number);
        store->isOrdered = false;
    }
}

void tpPackStore_Remove(tpPackStore* store, int32_t slot) {
    int lane;
    tpSoftRun* run = tpPackStore_Find(store, slot, &lane);
    int32_t number = store->places.data[slot] / tp_packWidth;
    unsigned bit = 1u << lane;
    bool wasFull = run->used == UINT8_MAX;
    freeColour(store, run, lane);
    store->places.data[slot] = -1 - store->freeSlot;
    store->freeSlot = slot;
    store->slotCount -= 1;
    run->used = (uint8_t)(run->used & ~bit);
    if (run->colour == tp_maskColours) {
        store->isOrdered = false;
        tpPackStore_FreeRun(store, number);
        return;
    }
    tpSoftRun_ClearLane(run, lane);
    run->movesA = (uint8_t)(run->movesA & ~bit);
    run->movesB = (uint8_t)(run->movesB & ~bit);
    run->bodyA[lane] = run->bodyB[lane] = store->nobody;
    run->slots[lane] = -1;
    relist(store, number, wasFull);
    tpPackStore_CloseIfEmpty(store, number);
}

bool tpPackStore_ExchangeLanes(tpPackStore* store, int32_t runA, int laneA, int32_t runB,
                               int laneB) {
    tpSoftRun *a = &store->runs.data[runA], *b = &store->runs.data[runB];
    if (!tpPackStore_NeedRoom(store, a, b->points[laneB]) ||
        !tpPackStore_NeedRoom(store, b, a->points[laneA])) {
        return false;
    }
    bool wasFullA = a->used == UINT8_MAX, wasFullB = b->used == UINT8_MAX;
    tpSoftRun_ExchangeLanes(a, laneA, b, laneB);
    if (a->slots[laneA] >= 0) {
        store->places.data[a->slots[laneA]] = runA * tp_packWidth + laneA;
    }
    if (b->slots[laneB] >= 0) {
        store->places.data[b->slots[laneB]] = runB * tp_packWidth + laneB;
    }
    relist(store, runA, wasFullA);
    relist(store, runB, wasFullB);
    return true;
}
