// Snapshots of the store.

#include <string.h>

#include "sweeps/pack_store_parts.h"

// Numbers, runs, their packs, places, bodies, groups with their open runs.
typedef struct SavedStore {
    int32_t runCount, packCount, pieceCount, placeCount, bodyCount, groupCount, blockCount;
    int32_t slotCount, freeRun, freeSlot, nobody, tidied, dealt, allowsTorsion;
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
    head.pieceCount = store->pieces.count;
    head.placeCount = store->places.count;
    head.bodyCount = store->blocks.count;
    head.groupCount = store->groups.count;
    head.blockCount = store->blockCount;
    head.slotCount = store->slotCount;
    head.freeRun = store->freeRun;
    head.freeSlot = store->freeSlot;
    head.nobody = store->nobody;
    head.tidied = store->tidied;
    head.dealt = store->dealt;
    head.allowsTorsion = store->allowsTorsion ? 1 : 0;
    unsigned char* place = put(saved, &head, sizeof(head));
    for (int r = 0; r < store->runs.count; ++r) {
        // Whether a run has packs is told by the pointer, which means nothing elsewhere.
        tpSoftRun run = store->runs.data[r];
        run.first = run.packs != NULL ? run.first : -1;
        run.packs = NULL;
        run.torsions = NULL;
        place = put(place, &run, sizeof(run));
    }
    for (int r = 0; r < store->runs.count; ++r) {
        const tpSoftRun* run = &store->runs.data[r];
        place = put(place, run->packs, sizeof(tpSoftPack) * (size_t)run->room);
        if (run->torsions != NULL) {
            place = put(place, run->torsions, sizeof(tpSoftTorsion) * (size_t)run->room);
        }
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
    return tpPackStore_NeedPieces(store, head->pieceCount) &&
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
        if (!tpPackStore_AddGroup(store, numbers[0], numbers[1])) {
            return false;
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

static bool loadRuns(tpPackStore* store, tpSavedReader* reader) {
    for (int r = 0; r < store->runs.count; ++r) {
        tpSoftRun* run = &store->runs.data[r];
        tpSavedReader_Take(reader, run, sizeof(*run));
        run->packs = NULL;
        run->torsions = NULL;
        if (reader->failed ||
            (run->first >= 0 && !tpPackStore_ClaimPacks(store, run->first, run->room))) {
            return false;
        }
        if (run->first >= 0) {
            tpPackStore_PlacePacks(store, run);
        }
    }
    for (int r = 0; r < store->runs.count; ++r) {
        tpSoftRun* run = &store->runs.data[r];
        if (run->packs != NULL) {
            tpSavedReader_Take(reader, run->packs, sizeof(tpSoftPack) * (size_t)run->room);
        }
        if (run->torsions != NULL) {
            tpSavedReader_Take(reader, run->torsions, sizeof(tpSoftTorsion) * (size_t)run->room);
        }
    }
    return !reader->failed;
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
    tpPackStore_DropGroups(store);
    store->runs.count = store->places.count = 0;
    store->isOrdered = false;
    store->groupFirsts.count = 0;
    store->allowsTorsion = head.allowsTorsion != 0;
    if (!reserveAll(store, &head)) {
        return false;
    }
    tpPackStore_FreeAllPacks(store);
    store->slotCount = head.slotCount;
    store->blockCount = head.blockCount;
    store->freeRun = head.freeRun;
    store->freeSlot = head.freeSlot;
    store->nobody = head.nobody;
    store->tidied = head.tidied;
    store->dealt = head.dealt;
    store->runs.count = head.runCount;
    store->places.count = head.placeCount;
    store->blocks.count = store->insideColours.count = head.bodyCount;
    store->betweenColours.count = head.bodyCount;
    if (store->table.capacity > 0) {
        memset(store->table.data, -1, sizeof(int32_t) * (size_t)store->table.capacity);
    }
    if (!loadRuns(store, reader)) {
        return false;
    }
    tpSavedReader_Take(reader, store->places.data, sizeof(int32_t) * (size_t)head.placeCount);
    tpSavedReader_Take(reader, store->blocks.data, sizeof(int32_t) * (size_t)head.bodyCount);
    tpSavedReader_Take(reader, store->insideColours.data,
                       sizeof(uint64_t) * (size_t)head.bodyCount);
    tpSavedReader_Take(reader, store->betweenColours.data,
                       sizeof(uint64_t) * (size_t)head.bodyCount);
    return !reader->failed && loadGroups(store, head.groupCount, reader);
}
