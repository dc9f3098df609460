// Packs, runs and groups of the store: what is taken and given back.

#include "sweeps/pack_store_parts.h"

#include <string.h>

static const int classSizes[tp_packClasses] = { 1, 2, 4, 6, 8, 16, 32, 64 };

// A manifold may have a lane of a run that is so many classes too large. Each of them makes fewer
// manifolds move and fills more lanes, and takes more packs of which lanes have none of the points.
enum { classesAbove = 2 };

// Packs ------------------------------------------------------------------------------------------

bool tpPackStore_NeedPieces(tpPackStore* store, int packs) {
    const tpAllocator* allocator = &store->allocator;
    while (store->pieces.count * tp_packsPerPiece < packs) {
        tpSoftPack* piece = tpAllocateZeroed(allocator, sizeof(tpSoftPack) * tp_packsPerPiece);
        if (piece == NULL || !TP_PUSH(allocator, store->pieces, piece)) {
            tpRelease(allocator, piece, sizeof(tpSoftPack) * tp_packsPerPiece);
            return false;
        }
    }
    while (store->allowsTorsion && store->torsionPieces.count < store->pieces.count) {
        tpSoftTorsion* piece =
            tpAllocateZeroed(allocator, sizeof(tpSoftTorsion) * tp_packsPerPiece);
        if (piece == NULL || !TP_PUSH(allocator, store->torsionPieces, piece)) {
            tpRelease(allocator, piece, sizeof(tpSoftTorsion) * tp_packsPerPiece);
            return false;
        }
    }
    return true;
}

bool tpPackStore_AllowTorsion(tpPackStore* store) {
    store->allowsTorsion = true;
    if (!tpPackStore_NeedPieces(store, store->packCount)) {
        return false;
    }
    for (int r = 0; r < store->runs.count; ++r) {
        tpSoftRun* run = &store->runs.data[r];
        run->torsions = run->packs != NULL ? tpPackStore_TorsionAt(store, run->first) : NULL;
    }
    return true;
}

// Packs of a class that nobody uses are chained through their first feature.
static void pushFree(tpPackStore* store, int class, int32_t first) {
    tpPackStore_PackAt(store, first)->feature[0] = (uint64_t)(int64_t)store->freePacks[class];
    store->freePacks[class] = first;
}

static int32_t popFree(tpPackStore* store, int class) {
    int32_t first = store->freePacks[class];
    if (first >= 0) {
        store->freePacks[class] = (int32_t)tpPackStore_PackAt(store, first)->feature[0];
    }
    return first;
}

// The largest class with at most so many packs.
static int classWithin(int packs) {
    int class = 0;
    while (class + 1 < tp_packClasses && classSizes[class + 1] <= packs) {
        ++class;
    }
    return class;
}

// Packs that nobody uses, if need be the first of a larger class, whose others stay free.
static int32_t reusePacks(tpPackStore* store, int class) {
    for (int from = class; from < tp_packClasses; ++from) {
        int32_t first = popFree(store, from);
        if (first < 0) {
            continue;
        }
        int32_t rest = first + classSizes[class], end = first + classSizes[from];
        while (rest < end) {
            int part = classWithin(end - rest);
            pushFree(store, part, rest);
            rest += classSizes[part];
        }
        return first;
    }
    return -1;
}

static int32_t takePacks(tpPackStore* store, int class) {
    int32_t first = reusePacks(store, class);
    if (first >= 0) {
        return first;
    }
    // Packs of a run lie in one piece.
    int size = classSizes[class], left = tp_packsPerPiece - store->packCount % tp_packsPerPiece;
    first = store->packCount + (left < size ? left : 0);
    if (!tpPackStore_NeedPieces(store, first + size)) {
        return -1;
    }
    store->packCount = first + size;
    return first;
}

// Runs -------------------------------------------------------------------------------------------

int tpRunClass(int points) {
    int class = 0;
    while (class + 1 < tp_packClasses && classSizes[class] < points) {
        ++class;
    }
    return class;
}

// The largest class whose lanes such a manifold may have.
static int mostClass(int points) {
    int class = tpRunClass(points) + classesAbove;
    return class < tp_packClasses ? class : tp_packClasses - 1;
}

int tpSoftRun_Class(const tpSoftRun* run) {
    return tpRunClass(run->capacity);
}

bool tpSoftRun_Suits(const tpSoftRun* run, int points, bool areBalls) {
    return points <= run->capacity && tpSoftRun_Class(run) <= mostClass(points) &&
           areBalls == run->areBalls;
}

int32_t tpPackStore_TakeRun(tpPackStore* store, int32_t group, int colour, int class,
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
    int32_t first = takePacks(store, class);
    if (first < 0) {
        store->freeRun = number;
        return -1;
    }
    tpSoftRun* run = &store->runs.data[number];
    if (store->freeRun == number) {
        store->freeRun = run->next;
    }
    memset(run, 0, sizeof(*run));
    run->first = first;
    run->packs = tpPackStore_PackAt(store, first);
    run->torsions = tpPackStore_TorsionAt(store, first);
    run->capacity = (int16_t)classSizes[class];
    run->group = group;
    run->colour = colour;
    run->areBalls = areBalls;
    run->next = -1;
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        run->bodyA[lane] = run->bodyB[lane] = store->nobody;
        run->slots[lane] = -1;
    }
    memset(run->packs, 0, sizeof(tpSoftPack) * (size_t)run->capacity);
    if (run->torsions != NULL) {
        memset(run->torsions, 0, sizeof(tpSoftTorsion) * (size_t)run->capacity);
    }
    for (int k = 0; k < run->capacity; ++k) {
        memset(run->packs[k].isPoint, -1, sizeof(run->packs[k].isPoint));
    }
    return number;
}

void tpPackStore_FreeRun(tpPackStore* store, int32_t number) {
    tpSoftRun* run = &store->runs.data[number];
    int class = tpSoftRun_Class(run);
    pushFree(store, class, run->first);
    run->packs = NULL;
    run->torsions = NULL;
    run->next = store->freeRun;
    store->freeRun = number;
}

int tpRunSort(int class, bool areBalls) {
    return 2 * class + (areBalls ? 1 : 0);
}

int tpSoftRun_Sort(const tpSoftRun* run) {
    return tpRunSort(tpSoftRun_Class(run), run->areBalls);
}

int32_t* tpPackStore_OpenList(tpPackStore* store, int32_t group, int colour, int sort) {
    tpPackGroup* g = &store->groups.data[group];
    int list = colour * tp_runSorts + sort;
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

uint64_t tpPackStore_FindOpen(const tpPackStore* store, int32_t group, uint64_t busy, int points,
                              bool areBalls, int* class) {
    const tpPackGroup* g = &store->groups.data[group];
    int most = mostClass(points);
    for (int c = tpRunClass(points); c <= most; ++c) {
        uint64_t open = g->openColours[tpRunSort(c, areBalls)] & ~busy;
        if (open != 0) {
            *class = c;
            return open;
        }
    }
    return 0;
}

void tpPackStore_PushOpen(tpPackStore* store, int32_t* open, int32_t number) {
    tpSoftRun* run = &store->runs.data[number];
    run->next = *open;
    *open = number;
    store->groups.data[run->group].openColours[tpSoftRun_Sort(run)] |= UINT64_C(1) << run->colour;
}

void tpPackStore_PopOpen(tpPackStore* store, int32_t* open) {
    tpSoftRun* run = &store->runs.data[*open];
    *open = run->next;
    run->next = -1;
    if (*open < 0) {
        store->groups.data[run->group].openColours[tpSoftRun_Sort(run)] &=
            ~(UINT64_C(1) << run->colour);
    }
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
