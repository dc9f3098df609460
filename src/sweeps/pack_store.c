#include "sweeps/pack_store.h"

#include <string.h>

static const int classSizes[tp_packClasses] = { 1, 4, 8, 16, 32, 64 };

// Rows of floats that a pack begins with.
static const size_t floatRows =
    offsetof(tpSoftPack, inverseNormal) / (tp_packWidth * sizeof(float));

enum { packsPerPiece = 64, colourLists = (tp_maskColours + 1) * tp_packClasses };

void tpCreatePackStore(tpPackStore* store, const tpAllocator* allocator) {
    memset(store, 0, sizeof(*store));
    store->allocator = *allocator;
}

static void dropGroups(tpPackStore* store) {
    for (int i = 0; i < store->groups.count; ++i) {
        TP_FREE_ARRAY(&store->allocator, store->groups.data[i].openRuns);
    }
    store->groups.count = 0;
}

void tpDestroyPackStore(tpPackStore* store) {
    const tpAllocator* allocator = &store->allocator;
    for (int i = 0; i < store->pieces.count; ++i) {
        tpRelease(allocator, store->pieces.data[i], sizeof(tpSoftPack) * packsPerPiece);
    }
    for (int i = 0; i < store->torsionPieces.count; ++i) {
        tpRelease(allocator, store->torsionPieces.data[i], sizeof(tpSoftTorsion) * packsPerPiece);
    }
    dropGroups(store);
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

// Groups --------------------------------------------------------------------------------------

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

static bool addGroup(tpPackStore* store, int32_t blockA, int32_t blockB) {
    tpPackGroup group;
    memset(&group, 0, sizeof(group));
    group.blockA = blockA;
    group.blockB = blockB;
    return TP_PUSH(&store->allocator, store->groups, group);
}

// The group of two bodies, made if it is not there; -1 if memory ran out.
static int32_t groupOf(tpPackStore* store, int32_t blockA, int32_t blockB) {
    if (blockA < 0 || blockB < 0 || blockA == blockB) {
        return blockA < 0 ? blockB : blockA;
    }
    int32_t low = blockA < blockB ? blockA : blockB, high = blockA < blockB ? blockB : blockA;
    if (!growTable(store)) {
        return -1;
    }
    int32_t* place = findPlace(store, low, high);
    if (*place < 0) {
        if (!addGroup(store, low, high)) {
            return -1;
        }
        *place = store->groups.count - 1;
    }
    return *place;
}

// Runs ----------------------------------------------------------------------------------------

static tpSoftPack* packAt(const tpPackStore* store, int32_t index) {
    return &store->pieces.data[index / packsPerPiece][index % packsPerPiece];
}

static tpSoftTorsion* torsionAt(const tpPackStore* store, int32_t index) {
    return store->allowsTorsion
               ? &store->torsionPieces.data[index / packsPerPiece][index % packsPerPiece]
               : NULL;
}

// Pieces for so many packs. False if memory ran out.
static bool needPieces(tpPackStore* store, int packs) {
    const tpAllocator* allocator = &store->allocator;
    while (store->pieces.count * packsPerPiece < packs) {
        tpSoftPack* piece = tpAllocateZeroed(allocator, sizeof(tpSoftPack) * packsPerPiece);
        if (piece == NULL || !TP_PUSH(allocator, store->pieces, piece)) {
            tpRelease(allocator, piece, sizeof(tpSoftPack) * packsPerPiece);
            return false;
        }
    }
    while (store->allowsTorsion && store->torsionPieces.count < store->pieces.count) {
        tpSoftTorsion* piece = tpAllocateZeroed(allocator, sizeof(tpSoftTorsion) * packsPerPiece);
        if (piece == NULL || !TP_PUSH(allocator, store->torsionPieces, piece)) {
            tpRelease(allocator, piece, sizeof(tpSoftTorsion) * packsPerPiece);
            return false;
        }
    }
    return true;
}

bool tpPackStore_AllowTorsion(tpPackStore* store) {
    store->allowsTorsion = true;
    if (!needPieces(store, store->packCount)) {
        return false;
    }
    for (int r = 0; r < store->runs.count; ++r) {
        tpSoftRun* run = &store->runs.data[r];
        run->torsions = run->packs != NULL ? torsionAt(store, run->first) : NULL;
    }
    return true;
}

// Packs of a class that nobody uses are chained through their first feature.
static int32_t takePacks(tpPackStore* store, int class) {
    int32_t first = store->freePacks[class];
    if (first >= 0) {
        store->freePacks[class] = (int32_t)packAt(store, first)->feature[0];
        return first;
    }
    // Packs of a run lie in one piece.
    int size = classSizes[class], left = packsPerPiece - store->packCount % packsPerPiece;
    first = store->packCount + (left < size ? left : 0);
    if (!needPieces(store, first + size)) {
        return -1;
    }
    store->packCount = first + size;
    return first;
}

static int classOf(int points) {
    int class = 0;
    while (class + 1 < tp_packClasses && classSizes[class] < points) {
        ++class;
    }
    return class;
}

static int classOfRun(const tpSoftRun* run) {
    return classOf(run->capacity);
}

// An empty run of a colour; -1 if memory ran out.
static int32_t takeRun(tpPackStore* store, int32_t group, int colour, int class, bool areBalls) {
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
    run->packs = packAt(store, first);
    run->torsions = torsionAt(store, first);
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

static void freeRun(tpPackStore* store, int32_t number) {
    tpSoftRun* run = &store->runs.data[number];
    int class = classOfRun(run);
    run->packs->feature[0] = (uint64_t)(int64_t)store->freePacks[class];
    store->freePacks[class] = run->first;
    run->packs = NULL;
    run->torsions = NULL;
    run->next = store->freeRun;
    store->freeRun = number;
}

// Balls have runs of their own, since their packs are followed another way.
static int sortOf(int class, bool areBalls) {
    return 2 * class + (areBalls ? 1 : 0);
}

static int sortOfRun(const tpSoftRun* run) {
    return sortOf(classOfRun(run), run->areBalls);
}

// The list of open runs of a colour and sort; NULL if memory ran out.
static int32_t* openList(tpPackStore* store, int32_t group, int colour, int sort) {
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

static void pushOpen(tpPackStore* store, int32_t* open, int32_t number) {
    tpSoftRun* run = &store->runs.data[number];
    run->next = *open;
    *open = number;
    store->groups.data[run->group].openColours[sortOfRun(run)] |= UINT64_C(1) << run->colour;
}

static void popOpen(tpPackStore* store, int32_t* open) {
    tpSoftRun* run = &store->runs.data[*open];
    *open = run->next;
    run->next = -1;
    if (*open < 0) {
        store->groups.data[run->group].openColours[sortOfRun(run)] &= ~(UINT64_C(1) << run->colour);
    }
}

// Bodies and manifolds ------------------------------------------------------------------------

bool tpPackStore_Start(tpPackStore* store, const int32_t* blocks, int bodyCount, int blockCount) {
    const tpAllocator* allocator = &store->allocator;
    dropGroups(store);
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
        if (!addGroup(store, b, b)) {
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

static uint64_t* colourMasks(tpPackStore* store, int32_t group) {
    return group < store->blockCount ? store->insideColours.data : store->betweenColours.data;
}

// A colour that both bodies have free, one with an empty lane if there is any.
static int chooseColour(tpPackStore* store, int32_t group, int32_t bodyA, int32_t bodyB, int sort) {
    uint64_t* masks = colourMasks(store, group);
    bool movesA = store->blocks.data[bodyA] >= 0, movesB = store->blocks.data[bodyB] >= 0;
    uint64_t busy = (movesA ? masks[bodyA] : 0) | (movesB ? masks[bodyB] : 0);
    if (busy == UINT64_MAX) {
        return tp_maskColours;
    }
    uint64_t open = store->groups.data[group].openColours[sort] & ~busy;
    int colour = tpLowestFreeColour(open != 0 ? ~open : busy);
    uint64_t mine = UINT64_C(1) << colour;
    masks[bodyA] |= movesA ? mine : 0;
    masks[bodyB] |= movesB ? mine : 0;
    return colour;
}

static void freeColour(tpPackStore* store, const tpSoftRun* run, int lane) {
    if (run->colour < tp_maskColours) {
        uint64_t* masks = colourMasks(store, run->group);
        uint64_t others = ~(UINT64_C(1) << run->colour);
        masks[run->bodyA[lane]] &= others;
        masks[run->bodyB[lane]] &= others;
    }
}

// A run of the colour with an empty lane; -1 if memory ran out. Manifolds without a colour have
// runs of their own.
static int32_t openRun(tpPackStore* store, int32_t group, int colour, int class, bool areBalls) {
    if (colour == tp_maskColours) {
        return takeRun(store, group, colour, class, areBalls);
    }
    int32_t* open = openList(store, group, colour, sortOf(class, areBalls));
    if (open != NULL && *open < 0) {
        int32_t number = takeRun(store, group, colour, class, areBalls);
        if (number < 0) {
            return -1;
        }
        pushOpen(store, open, number);
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
    int32_t group = groupOf(store, store->blocks.data[bodyA], store->blocks.data[bodyB]);
    int32_t slot = group >= 0 ? takeSlot(store) : -1;
    if (slot < 0) {
        return -1;
    }
    int class = classOf(points), sort = sortOf(class, areBalls);
    int colour = chooseColour(store, group, bodyA, bodyB, sort);
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
        popOpen(store, openList(store, group, colour, sort));
    }
    return slot;
}

static void clearLane(tpSoftPack* pack, int lane) {
    // All but the last rows are floats, doubles or whole numbers of which zero is zero.
    float* floats = &pack->normal[0][0];
    for (size_t k = 0; k < floatRows; ++k) {
        floats[k * tp_packWidth + (size_t)lane] = 0.0f;
    }
    pack->inverseNormal[lane] = pack->load[lane] = 0.0;
    for (int k = 0; k < 3; ++k) {
        pack->impulse[k][lane] = pack->total[k][lane] = 0.0;
        pack->diagonal[k][lane] = 0.0f;
    }
    pack->isPoint[lane] = -1;
    pack->feature[lane] = 0;
}

static void clearTorsion(tpSoftTorsion* torsion, int lane) {
    torsion->impulse[lane] = torsion->total[lane] = 0.0;
    torsion->arm[lane] = torsion->coupling[lane] = 0.0f;
    for (int k = 0; k < 6; ++k) {
        torsion->friction[k][lane] = 0.0f;
    }
}

void tpPackStore_Remove(tpPackStore* store, int32_t slot) {
    int lane;
    tpSoftRun* run = tpPackStore_Find(store, slot, &lane);
    int32_t number = (int32_t)(run - store->runs.data);
    unsigned bit = 1u << lane;
    freeColour(store, run, lane);
    store->places.data[slot] = -1 - store->freeSlot;
    store->freeSlot = slot;
    store->slotCount -= 1;
    bool wasFull = run->used == UINT8_MAX;
    run->used = (uint8_t)(run->used & ~bit);
    if (run->colour == tp_maskColours) {
        store->isOrdered = false;
        freeRun(store, number);
        return;
    }
    run->movesA = (uint8_t)(run->movesA & ~bit);
    run->movesB = (uint8_t)(run->movesB & ~bit);
    run->uneven = (uint8_t)(run->uneven & ~bit);
    run->unround = (uint8_t)(run->unround & ~bit);
    run->elastic = (uint8_t)(run->elastic & ~bit);
    run->stale = (uint8_t)(run->stale & ~bit);
    run->torsional = (uint8_t)(run->torsional & ~bit);
    run->bodyA[lane] = run->bodyB[lane] = store->nobody;
    run->slots[lane] = -1;
    run->points[lane] = 0;
    run->restitution[lane] = run->share[lane] = run->slack[lane] = run->slip[lane] = 0.0f;
    run->turn[lane] = run->tilt[lane] = run->size[lane] = run->age[lane] = 0.0f;
    run->radiusA[lane] = run->radiusB[lane] = 0.0;
    for (int k = 0; k < run->capacity; ++k) {
        clearLane(&run->packs[k], lane);
        if (run->torsions != NULL) {
            clearTorsion(&run->torsions[k], lane);
        }
    }
    if (wasFull) {
        pushOpen(store, openList(store, run->group, run->colour, sortOfRun(run)), number);
    }
    store->isOrdered = store->isOrdered && run->used != 0;
    tpSoftRun_Summarise(run);
}

void tpSoftRun_Summarise(tpSoftRun* run) {
    run->count = 0;
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        run->count = run->points[lane] > run->count ? run->points[lane] : run->count;
    }
    run->isFlat = run->uneven == 0;
    run->isRound = run->unround == 0;
    run->bounces = run->elastic != 0;
}

void tpSoftRun_CopyLane(const tpSoftRun* from, int fromLane, tpSoftRun* to, int toLane) {
    unsigned oldBit = 1u << fromLane, newBit = 1u << toLane;
    for (int k = 0; k < from->points[fromLane]; ++k) {
        const tpSoftPack *a = &from->packs[k], *frame = &from->packs[from->isFlat ? 0 : k];
        tpSoftPack* b = &to->packs[k];
        const float* floats = &a->normal[0][0];
        float* others = &b->normal[0][0];
        for (size_t row = 0; row < floatRows; ++row) {
            others[row * tp_packWidth + (size_t)toLane] =
                floats[row * tp_packWidth + (size_t)fromLane];
        }
        for (int i = 0; i < 3; ++i) {
            b->impulse[i][toLane] = a->impulse[i][fromLane];
            b->total[i][toLane] = a->total[i][fromLane];
            b->diagonal[i][toLane] = a->diagonal[i][fromLane];
            b->normal[i][toLane] = frame->normal[i][fromLane];
            b->tangents[0][i][toLane] = frame->tangents[0][i][fromLane];
            b->tangents[1][i][toLane] = frame->tangents[1][i][fromLane];
        }
        b->inverseNormal[toLane] = a->inverseNormal[fromLane];
        b->load[toLane] = a->load[fromLane];
        b->isPoint[toLane] = a->isPoint[fromLane];
        b->feature[toLane] = a->feature[fromLane];
    }
    for (int k = 0; from->torsions != NULL && to->torsions != NULL && k < from->points[fromLane];
         ++k) {
        const tpSoftTorsion* a = &from->torsions[k];
        tpSoftTorsion* b = &to->torsions[k];
        b->impulse[toLane] = a->impulse[fromLane];
        b->total[toLane] = a->total[fromLane];
        b->arm[toLane] = a->arm[fromLane];
        b->coupling[toLane] = a->coupling[fromLane];
        for (int i = 0; i < 6; ++i) {
            b->friction[i][toLane] = a->friction[i][fromLane];
        }
    }
    to->points[toLane] = from->points[fromLane];
    to->restitution[toLane] = from->restitution[fromLane];
    to->share[toLane] = from->share[fromLane];
    to->slack[toLane] = from->slack[fromLane];
    to->slip[toLane] = from->slip[fromLane];
    to->turn[toLane] = from->turn[fromLane];
    to->tilt[toLane] = from->tilt[fromLane];
    to->size[toLane] = from->size[fromLane];
    to->age[toLane] = from->age[fromLane];
    to->radiusA[toLane] = from->radiusA[fromLane];
    to->radiusB[toLane] = from->radiusB[fromLane];
    to->stale = (uint8_t)(to->stale | ((from->stale & oldBit) != 0 ? newBit : 0));
    to->unround = (uint8_t)(to->unround | ((from->unround & oldBit) != 0 ? newBit : 0));
    to->elastic = (uint8_t)(to->elastic | ((from->elastic & oldBit) != 0 ? newBit : 0));
    to->torsional = (uint8_t)(to->torsional | ((from->torsional & oldBit) != 0 ? newBit : 0));
    tpSoftRun_SetUneven(to, toLane, (from->uneven & oldBit) != 0);
    tpSoftRun_Summarise(to);
}

static void copyFrame(const tpSoftPack* from, tpSoftPack* to, int lane) {
    for (int k = 0; k < 3; ++k) {
        to->normal[k][lane] = from->normal[k][lane];
        to->tangents[0][k][lane] = from->tangents[0][k][lane];
        to->tangents[1][k][lane] = from->tangents[1][k][lane];
    }
    to->muStatic[lane] = from->muStatic[lane];
    to->muDynamic[lane] = from->muDynamic[lane];
}

void tpSoftRun_SetUneven(tpSoftRun* run, int lane, bool isUneven) {
    unsigned bit = 1u << lane;
    bool wasFlat = run->uneven == 0;
    run->uneven = (uint8_t)(isUneven ? run->uneven | bit : run->uneven & ~bit);
    // While a run is flat only the frames of its first pack are kept up to date.
    for (int other = 0; wasFlat && isUneven && other < tp_packWidth; ++other) {
        for (int k = 1; other != lane && k < run->points[other]; ++k) {
            copyFrame(run->packs, &run->packs[k], other);
        }
    }
}

// Tidying -------------------------------------------------------------------------------------

// Runs that are looked at in a step, a part of all and some; those with at most so many manifolds
// are emptied if these find lanes elsewhere.
enum { tidyPart = 16, leastTidy = 8, sparseLanes = 4 };

// Moves a manifold to an empty lane of another colour. False if there is none.
static bool moveLane(tpPackStore* store, int32_t number, int lane) {
    tpSoftRun* from = &store->runs.data[number];
    int32_t a = from->bodyA[lane], b = from->bodyB[lane], group = from->group;
    uint64_t* masks = colourMasks(store, group);
    bool movesA = store->blocks.data[a] >= 0, movesB = store->blocks.data[b] >= 0;
    uint64_t busy = (movesA ? masks[a] : 0) | (movesB ? masks[b] : 0);
    int sort = sortOfRun(from);
    // Its own colour is busy, so that it does not come back to its own run.
    uint64_t open = store->groups.data[group].openColours[sort] & ~busy;
    if (open == 0) {
        return false;
    }
    int32_t slot = from->slots[lane];
    int32_t moved = tpPackStore_Add(store, a, b, from->capacity, from->areBalls);
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

// Gives an empty run back.
static void closeRun(tpPackStore* store, int32_t number) {
    tpSoftRun* run = &store->runs.data[number];
    int32_t* open = openList(store, run->group, run->colour, sortOfRun(run));
    if (*open == number) {
        popOpen(store, open);
    } else {
        int32_t before = *open;
        while (store->runs.data[before].next != number) {
            before = store->runs.data[before].next;
        }
        store->runs.data[before].next = run->next;
    }
    freeRun(store, number);
    store->isOrdered = false;
}

void tpPackStore_Tidy(tpPackStore* store) {
    int looks = store->runs.count / tidyPart + leastTidy;
    for (int k = 0; k < looks && store->runs.count > 0; ++k) {
        store->tidied = (store->tidied + 1) % store->runs.count;
        int32_t number = store->tidied;
        const tpSoftRun* run = &store->runs.data[number];
        if (run->packs == NULL || run->colour == tp_maskColours ||
            __builtin_popcount(run->used) > sparseLanes) {
            continue;
        }
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            if ((store->runs.data[number].used >> lane & 1) != 0) {
                moveLane(store, number, lane);
            }
        }
        if (store->runs.data[number].used == 0) {
            closeRun(store, number);
        }
    }
}

// Order ---------------------------------------------------------------------------------------

static bool isOccupied(const tpSoftRun* run) {
    return run->packs != NULL && run->used != 0;
}

// Sorts the runs of one group, which stand in the order of their numbers, by colour; those with
// more packs first.
static void sortGroup(tpPackStore* store, int32_t begin, int32_t end, int32_t* scratch) {
    int32_t starts[colourLists + 1] = { 0 };
    const tpSoftRun* runs = store->runs.data;
    int32_t* order = store->order.data;
    for (int32_t i = begin; i < end; ++i) {
        const tpSoftRun* run = &runs[order[i]];
        int list = run->colour * tp_packClasses + (tp_packClasses - 1 - classOfRun(run));
        starts[list + 1] += 1;
    }
    for (int k = 0; k < colourLists; ++k) {
        starts[k + 1] += starts[k];
    }
    for (int32_t i = begin; i < end; ++i) {
        const tpSoftRun* run = &runs[order[i]];
        int list = run->colour * tp_packClasses + (tp_packClasses - 1 - classOfRun(run));
        scratch[starts[list]++] = order[i];
    }
    memcpy(order + begin, scratch, sizeof(int32_t) * (size_t)(end - begin));
}

bool tpPackStore_Order(tpPackStore* store) {
    if (store->isOrdered && store->groupFirsts.count == store->groups.count + 1) {
        return true;
    }
    const tpAllocator* allocator = &store->allocator;
    int runCount = store->runs.count, groupCount = store->groups.count;
    // The second half of the order is scratch.
    if (!TP_RESERVE(allocator, store->order, 2 * runCount) ||
        !TP_RESERVE(allocator, store->groupFirsts, groupCount + 1)) {
        return false;
    }
    int32_t* firsts = store->groupFirsts.data;
    memset(firsts, 0, sizeof(int32_t) * (size_t)(groupCount + 1));
    for (int r = 0; r < runCount; ++r) {
        firsts[store->runs.data[r].group] += isOccupied(&store->runs.data[r]) ? 1 : 0;
    }
    int32_t sum = 0;
    for (int g = 0; g <= groupCount; ++g) {
        int32_t count = g < groupCount ? firsts[g] : 0;
        firsts[g] = sum;
        sum += count;
    }
    store->order.count = sum;
    for (int r = 0; r < runCount; ++r) {
        if (isOccupied(&store->runs.data[r])) {
            store->order.data[firsts[store->runs.data[r].group]++] = r;
        }
    }
    for (int g = groupCount; g > 0; --g) {
        firsts[g] = firsts[g - 1];
    }
    firsts[0] = 0;
    store->groupFirsts.count = groupCount + 1;
    for (int g = 0; g < groupCount; ++g) {
        if (firsts[g + 1] > firsts[g]) {
            sortGroup(store, firsts[g], firsts[g + 1], store->order.data + runCount);
        }
    }
    store->isOrdered = true;
    return true;
}

// Snapshots -----------------------------------------------------------------------------------

// Numbers, runs, packs, places, bodies, groups with their open runs.
typedef struct SavedStore {
    int32_t runCount, packCount, placeCount, bodyCount, groupCount, blockCount, slotCount;
    int32_t freeRun, freeSlot, nobody, tidied, freePacks[tp_packClasses];
    int32_t allowsTorsion;
} SavedStore;

size_t tpPackStore_SavedSize(const tpPackStore* store) {
    size_t size = sizeof(SavedStore) + sizeof(tpSoftRun) * (size_t)store->runs.count +
                  sizeof(tpSoftPack) * (size_t)store->packCount +
                  (store->allowsTorsion ? sizeof(tpSoftTorsion) * (size_t)store->packCount : 0) +
                  sizeof(int32_t) * (size_t)store->places.count +
                  (sizeof(int32_t) + 2 * sizeof(uint64_t)) * (size_t)store->blocks.count;
    for (int g = 0; g < store->groups.count; ++g) {
        size += sizeof(int32_t) * (3 + (size_t)store->groups.data[g].openRuns.count) +
                sizeof(store->groups.data[g].openColours);
    }
    return size;
}

static unsigned char* put(unsigned char* place, const void* data, size_t size) {
    if (size > 0) {
        memcpy(place, data, size);
    }
    return place + size;
}

void tpPackStore_Save(const tpPackStore* store, void* saved) {
    SavedStore head;
    memset(&head, 0, sizeof(head));
    head.runCount = store->runs.count;
    head.packCount = store->packCount;
    head.placeCount = store->places.count;
    head.bodyCount = store->blocks.count;
    head.groupCount = store->groups.count;
    head.blockCount = store->blockCount;
    head.slotCount = store->slotCount;
    head.freeRun = store->freeRun;
    head.freeSlot = store->freeSlot;
    head.nobody = store->nobody;
    head.tidied = store->tidied;
    head.allowsTorsion = store->allowsTorsion ? 1 : 0;
    memcpy(head.freePacks, store->freePacks, sizeof(head.freePacks));
    unsigned char* place = put(saved, &head, sizeof(head));
    for (int r = 0; r < store->runs.count; ++r) {
        // Whether a run has packs is told by the pointer, which means nothing elsewhere.
        tpSoftRun run = store->runs.data[r];
        run.first = run.packs != NULL ? run.first : -1;
        run.packs = NULL;
        run.torsions = NULL;
        place = put(place, &run, sizeof(run));
    }
    for (int p = 0; p < store->packCount; ++p) {
        place = put(place, packAt(store, p), sizeof(tpSoftPack));
    }
    for (int p = 0; store->allowsTorsion && p < store->packCount; ++p) {
        place = put(place, torsionAt(store, p), sizeof(tpSoftTorsion));
    }
    place = put(place, store->places.data, sizeof(int32_t) * (size_t)head.placeCount);
    place = put(place, store->blocks.data, sizeof(int32_t) * (size_t)head.bodyCount);
    place = put(place, store->insideColours.data, sizeof(uint64_t) * (size_t)head.bodyCount);
    place = put(place, store->betweenColours.data, sizeof(uint64_t) * (size_t)head.bodyCount);
    for (int g = 0; g < store->groups.count; ++g) {
        const tpPackGroup* group = &store->groups.data[g];
        int32_t numbers[3] = { group->blockA, group->blockB, group->openRuns.count };
        place = put(place, numbers, sizeof(numbers));
        place = put(place, group->openColours, sizeof(group->openColours));
        place = put(place, group->openRuns.data, sizeof(int32_t) * (size_t)numbers[2]);
    }
}

static bool reserveAll(tpPackStore* store, const SavedStore* head) {
    const tpAllocator* allocator = &store->allocator;
    return needPieces(store, head->packCount) &&
           TP_RESERVE(allocator, store->runs, head->runCount) &&
           TP_RESERVE(allocator, store->places, head->placeCount) &&
           TP_RESERVE(allocator, store->blocks, head->bodyCount) &&
           TP_RESERVE(allocator, store->insideColours, head->bodyCount) &&
           TP_RESERVE(allocator, store->betweenColours, head->bodyCount);
}

static bool loadGroups(tpPackStore* store, int count, tpSavedReader* reader) {
    for (int g = 0; g < count; ++g) {
        int32_t numbers[3];
        if (!tpSavedReader_Take(reader, numbers, sizeof(numbers)) ||
            !tpSavedReader_Has(reader, numbers[2], sizeof(int32_t))) {
            return false;
        }
        bool isBetween = g >= store->blockCount;
        if ((isBetween && !growTable(store)) || !addGroup(store, numbers[0], numbers[1])) {
            return false;
        }
        if (isBetween) {
            *findPlace(store, numbers[0], numbers[1]) = g;
        }
        tpPackGroup* group = &store->groups.data[g];
        if (!TP_RESERVE(&store->allocator, group->openRuns, numbers[2])) {
            return false;
        }
        group->openRuns.count = numbers[2];
        tpSavedReader_Take(reader, group->openColours, sizeof(group->openColours));
        tpSavedReader_Take(reader, group->openRuns.data, sizeof(int32_t) * (size_t)numbers[2]);
    }
    return true;
}

bool tpPackStore_Load(tpPackStore* store, tpSavedReader* reader) {
    SavedStore head;
    if (!tpSavedReader_Take(reader, &head, sizeof(head)) ||
        !tpSavedReader_Has(reader, head.runCount, sizeof(tpSoftRun)) ||
        !tpSavedReader_Has(reader, head.packCount, sizeof(tpSoftPack)) ||
        !tpSavedReader_Has(reader, head.placeCount, sizeof(int32_t)) ||
        !tpSavedReader_Has(reader, head.bodyCount, sizeof(uint64_t)) ||
        !tpSavedReader_Has(reader, head.groupCount, 1)) {
        return false;
    }
    dropGroups(store);
    store->runs.count = store->places.count = 0;
    store->isOrdered = false;
    store->groupFirsts.count = 0;
    store->allowsTorsion = head.allowsTorsion != 0;
    if (!reserveAll(store, &head)) {
        return false;
    }
    store->packCount = head.packCount;
    store->slotCount = head.slotCount;
    store->blockCount = head.blockCount;
    store->freeRun = head.freeRun;
    store->freeSlot = head.freeSlot;
    store->nobody = head.nobody;
    store->tidied = head.tidied;
    memcpy(store->freePacks, head.freePacks, sizeof(head.freePacks));
    store->runs.count = head.runCount;
    store->places.count = head.placeCount;
    store->blocks.count = store->insideColours.count = head.bodyCount;
    store->betweenColours.count = head.bodyCount;
    if (store->table.capacity > 0) {
        memset(store->table.data, -1, sizeof(int32_t) * (size_t)store->table.capacity);
    }
    for (int r = 0; r < head.runCount; ++r) {
        tpSoftRun* run = &store->runs.data[r];
        tpSavedReader_Take(reader, run, sizeof(*run));
        reader->failed = reader->failed || run->first >= head.packCount;
        if (reader->failed) {
            return false;
        }
        run->packs = run->first >= 0 ? packAt(store, run->first) : NULL;
        run->torsions = run->first >= 0 ? torsionAt(store, run->first) : NULL;
    }
    for (int p = 0; p < head.packCount; ++p) {
        tpSavedReader_Take(reader, packAt(store, p), sizeof(tpSoftPack));
    }
    for (int p = 0; store->allowsTorsion && p < head.packCount; ++p) {
        tpSavedReader_Take(reader, torsionAt(store, p), sizeof(tpSoftTorsion));
    }
    tpSavedReader_Take(reader, store->places.data, sizeof(int32_t) * (size_t)head.placeCount);
    tpSavedReader_Take(reader, store->blocks.data, sizeof(int32_t) * (size_t)head.bodyCount);
    tpSavedReader_Take(reader, store->insideColours.data,
                       sizeof(uint64_t) * (size_t)head.bodyCount);
    tpSavedReader_Take(reader, store->betweenColours.data,
                       sizeof(uint64_t) * (size_t)head.bodyCount);
    return !reader->failed && loadGroups(store, head.groupCount, reader);
}
