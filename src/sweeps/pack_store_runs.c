// Runs and groups of the store: what is taken and given back.

#include "sweeps/pack_store_parts.h"

#include <limits.h>
#include <string.h>

int32_t tpPackStore_TakeRun(tpPackStore* store, int32_t group, int colour, int points,
                            bool areBalls) {
    int32_t number = store->freeRun;
    if (number < 0) {
        tpSoftRun none;
        memset(&none, 0, sizeof(none));
        if (!TP_PUSH(&store->allocator, store->runs, none)) {
            return -1;
        }
        number = store->runs.count - 1;
        store->runs.data[number].next = -1;
    }
    tpSoftRun* run = &store->runs.data[number];
    int32_t next = run->next;
    memset(run, 0, sizeof(*run));
    if (!tpPackStore_NeedRoom(store, run, points)) {
        run->next = next;
        store->freeRun = number;
        return -1;
    }
    if (store->freeRun == number) {
        store->freeRun = next;
    }
    run->group = group;
    run->colour = colour;
    run->areBalls = areBalls;
    run->next = -1;
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        run->bodyA[lane] = run->bodyB[lane] = store->nobody;
        run->slots[lane] = -1;
    }
    return number;
}

void tpPackStore_FreeRun(tpPackStore* store, int32_t number) {
    tpSoftRun* run = &store->runs.data[number];
    tpPackStore_FreePacks(store, run->first, run->room);
    run->packs = NULL;
    run->torsions = NULL;
    run->room = 0;
    run->next = store->freeRun;
    store->freeRun = number;
}

int32_t* tpPackStore_OpenList(tpPackStore* store, int32_t group, int colour, bool areBalls) {
    tpPackGroup* g = &store->groups.data[group];
    int list = colour * tp_runSorts + areBalls;
    if (list >= g->openRuns.count) {
        if (!TP_RESERVE(&store->allocator, g->openRuns, list + 1)) {
            return NULL;
        }
        while (g->openRuns.count <= list) {
            g->openRuns.data[g->openRuns.count++] = -1;
        }
    }
    return &g->openRuns.data[list];
}

int tpPackStore_FindOpen(const tpPackStore* store, int32_t group, uint64_t busy, int points,
                         bool areBalls) {
    const tpPackGroup* g = &store->groups.data[group];
    int best = -1, least = INT_MAX;
    for (uint64_t open = g->openColours[areBalls] & ~busy; open != 0; open &= open - 1) {
        int colour = __builtin_ctzll(open);
        int room = store->runs.data[g->openRuns.data[colour * tp_runSorts + areBalls]].room;
        // Each pack more is one more for all lanes; packs too many are lost for this lane alone.
        int cost = points > room ? tp_packWidth * (points - room) : room - points;
        if (cost < least) {
            least = cost;
            best = colour;
        }
    }
    return best;
}

void tpPackStore_PushOpen(tpPackStore* store, int32_t* open, int32_t number) {
    tpSoftRun* run = &store->runs.data[number];
    run->next = *open;
    *open = number;
    store->groups.data[run->group].openColours[run->areBalls] |= UINT64_C(1) << run->colour;
}

void tpPackStore_PopOpen(tpPackStore* store, int32_t* open) {
    tpSoftRun* run = &store->runs.data[*open];
    *open = run->next;
    run->next = -1;
    if (*open < 0) {
        store->groups.data[run->group].openColours[run->areBalls] &= ~(UINT64_C(1) << run->colour);
    }
}

void tpPackStore_Unlist(tpPackStore* store, int32_t number) {
    const tpSoftRun* run = &store->runs.data[number];
    int32_t* open = tpPackStore_OpenList(store, run->group, run->colour, run->areBalls);
    if (*open == number) {
        tpPackStore_PopOpen(store, open);
        return;
    }
    int32_t before = *open;
    while (store->runs.data[before].next != number) {
        before = store->runs.data[before].next;
    }
    store->runs.data[before].next = run->next;
}

// Groups -----------------------------------------------------------------------------------------

// The table has a power of two of places, at most half of them taken.
static uint32_t hashPair(int32_t a, int32_t b) {
    return (uint32_t)a * UINT32_C(0x9e3779b1) ^ (uint32_t)b * UINT32_C(0x85ebca77);
}

static int32_t* findPlace(const tpPackStore* store, int32_t a, int32_t b) {
    uint32_t mask = (uint32_t)store->table.capacity - 1;
    for (uint32_t i = hashPair(a, b);; ++i) {
        int32_t* place = &store->table.data[i & mask];
        if (*place < 0) {
            return place;
        }
        const tpPackGroup* group = &store->groups.data[*place];
        if (group->blockA == a && group->blockB == b) {
            return place;
        }
    }
}

// Room for one group more in the table.
static bool growTable(tpPackStore* store) {
    int between = store->groups.count - store->blockCount + 1, capacity = 16;
    while (capacity < 2 * between) {
        capacity *= 2;
    }
    if (capacity <= store->table.capacity) {
        return true;
    }
    TP_FREE_ARRAY(&store->allocator, store->table);
    store->table.data = tpAllocate(&store->allocator, sizeof(int32_t) * (size_t)capacity);
    if (store->table.data == NULL) {
        return false;
    }
    store->table.capacity = capacity;
    memset(store->table.data, -1, sizeof(int32_t) * (size_t)capacity);
    for (int g = store->blockCount; g < store->groups.count; ++g) {
        const tpPackGroup* group = &store->groups.data[g];
        *findPlace(store, group->blockA, group->blockB) = g;
    }
    return true;
}

bool tpPackStore_AddGroup(tpPackStore* store, int32_t blockA, int32_t blockB) {
    tpPackGroup group;
    memset(&group, 0, sizeof(group));
    group.blockA = blockA;
    group.blockB = blockB;
    bool isBetween = store->groups.count >= store->blockCount;
    if ((isBetween && !growTable(store)) || !TP_PUSH(&store->allocator, store->groups, group)) {
        return false;
    }
    if (isBetween) {
        *findPlace(store, blockA, blockB) = store->groups.count - 1;
    }
    return true;
}

int32_t tpPackStore_TakeGroup(tpPackStore* store, int32_t blockA, int32_t blockB) {
    if (blockA < 0 || blockB < 0 || blockA == blockB) {
        return blockA < 0 ? blockB : blockA;
    }
    int32_t low = blockA < blockB ? blockA : blockB, high = blockA < blockB ? blockB : blockA;
    if (!growTable(store)) {
        return -1;
    }
    int32_t group = *findPlace(store, low, high);
    if (group >= 0) {
        return group;
    }
    return tpPackStore_AddGroup(store, low, high) ? store->groups.count - 1 : -1;
}

void tpPackStore_DropGroups(tpPackStore* store) {
    for (int i = 0; i < store->groups.count; ++i) {
        TP_FREE_ARRAY(&store->allocator, store->groups.data[i].openRuns);
    }
    store->groups.count = 0;
}

void tpPackStore_Clear(tpPackStore* store) {
    tpPackStore_DropGroups(store);
    tpPackStore_FreeAllPacks(store);
    store->runs.count = store->places.count = store->slotCount = 0;
    store->order.count = store->groupFirsts.count = 0;
    store->isOrdered = false;
    store->freeRun = store->freeSlot = -1;
    store->tidied = store->dealt = 0;
}
