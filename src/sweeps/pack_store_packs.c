// Packs of the store: who has them, and how runs get more or fewer.
//
// Packs lie in pieces of 64, which never move and stay with the store; a word per piece says which
// of them runs have. Those of a run lie side by side in one piece. A run has as many as its lanes
// need, not as many as they may need: it takes more when a manifold with more points comes, and
// gives back what none of its lanes uses when it is tidied. Runs take the lowest packs that are
// free, so that all stay close together. Before another piece is asked for, the packs of one that
// has enough free ones here and there are moved together. Where packs lie changes no bits.

#include <string.h>

#include "sweeps/pack_store_parts.h"

_Static_assert((int)tp_packsPerPiece == 64 && (int)tp_mostPoints <= 64, "a bit for each pack");

bool tpPackStore_NeedPieces(tpPackStore* store, int pieces) {
    const tpAllocator* allocator = &store->allocator;
    if (!TP_RESERVE(allocator, store->taken, pieces)) {
        return false;
    }
    while (store->pieces.count < pieces) {
        tpSoftPack* piece = tpAllocate(allocator, sizeof(tpSoftPack) * tp_packsPerPiece);
        if (piece == NULL || !TP_PUSH(allocator, store->pieces, piece)) {
            tpRelease(allocator, piece, sizeof(tpSoftPack) * tp_packsPerPiece);
            return false;
        }
    }
    while (store->allowsTorsion && store->torsionPieces.count < store->pieces.count) {
        tpSoftTorsion* piece = tpAllocate(allocator, sizeof(tpSoftTorsion) * tp_packsPerPiece);
        if (piece == NULL || !TP_PUSH(allocator, store->torsionPieces, piece)) {
            tpRelease(allocator, piece, sizeof(tpSoftTorsion) * tp_packsPerPiece);
            return false;
        }
    }
    if (!TP_RESERVE(allocator, store->owners, store->pieces.count * tp_packsPerPiece)) {
        return false;
    }
    while (store->taken.count < store->pieces.count) {
        store->taken.data[store->taken.count++] = 0;
    }
    for (; store->owners.count < store->pieces.count * tp_packsPerPiece; ++store->owners.count) {
        store->owners.data[store->owners.count] = -1;
    }
    return true;
}

int tpPackStore_PackRoom(const tpPackStore* store) {
    return store->pieces.count * tp_packsPerPiece;
}

void tpPackStore_FreeAllPacks(tpPackStore* store) {
    store->packCount = 0;
    for (int p = 0; p < store->taken.count; ++p) {
        store->taken.data[p] = 0;
    }
    for (int i = 0; i < store->owners.count; ++i) {
        store->owners.data[i] = -1;
    }
    memset(store->firstOpen, 0, sizeof(store->firstOpen));
}

void tpPackStore_TakePieces(tpPackStore* store, tpPackStore* from) {
    TP_ASSERT(store->packCount == 0 && store->allowsTorsion == from->allowsTorsion);
    TP_SWAP_ARRAYS(store->pieces, from->pieces);
    TP_SWAP_ARRAYS(store->torsionPieces, from->torsionPieces);
    TP_SWAP_ARRAYS(store->taken, from->taken);
    // Those who have them are not runs of this store.
    TP_SWAP_ARRAYS(store->owners, from->owners);
    for (int i = 0; i < store->owners.count; ++i) {
        store->owners.data[i] = -1;
    }
    store->packCount = from->packCount;
    memcpy(store->firstOpen, from->firstOpen, sizeof(store->firstOpen));
}

// So many bits, 1 to 64, from a place on.
static uint64_t bitsAt(int place, int count) {
    return (UINT64_MAX >> (tp_packsPerPiece - count)) << place;
}

// The lowest place where so many packs of a piece are free; -1: none.
static int findStretch(uint64_t taken, int count) {
    // A bit stays while as many are free from it on as have been asked for so far.
    uint64_t free = ~taken;
    for (int known = 1; known < count && free != 0;) {
        int more = known < count - known ? known : count - known;
        free &= free >> more;
        known += more;
    }
    return free != 0 ? __builtin_ctzll(free) : -1;
}

static void take(tpPackStore* store, int32_t first, int count) {
    store->taken.data[first / tp_packsPerPiece] |= bitsAt(first % tp_packsPerPiece, count);
    store->packCount += count;
}

void tpPackStore_FreePacks(tpPackStore* store, int32_t first, int count) {
    int32_t piece = first / tp_packsPerPiece;
    store->taken.data[piece] &= ~bitsAt(first % tp_packsPerPiece, count);
    store->owners.data[first] = -1;
    store->packCount -= count;
    for (int k = 0; k < tp_mostPoints; ++k) {
        store->firstOpen[k] = piece < store->firstOpen[k] ? piece : store->firstOpen[k];
    }
}

// The first piece with so many free packs side by side, or the number of pieces.
static int32_t findOpen(tpPackStore* store, int count) {
    int32_t* open = &store->firstOpen[count - 1];
    while (*open < store->taken.count && findStretch(store->taken.data[*open], count) < 0) {
        *open += 1;
    }
    return *open;
}

// Whether all packs of a piece that are taken belong to runs of this store.
static bool isOwned(const tpPackStore* store, int32_t piece) {
    uint64_t taken = store->taken.data[piece];
    for (int k = 0; k < tp_packsPerPiece;) {
        int32_t owner = store->owners.data[piece * tp_packsPerPiece + k];
        if (owner < 0 && (taken >> k & 1) != 0) {
            return false;
        }
        k += owner < 0 ? 1 : store->runs.data[owner].room;
    }
    return true;
}

// Moves the packs of a piece together, at its beginning.
static void closeGaps(tpPackStore* store, int32_t piece) {
    int32_t begin = piece * tp_packsPerPiece, end = begin;
    for (int k = 0; k < tp_packsPerPiece;) {
        int32_t from = begin + k, owner = store->owners.data[from];
        if (owner < 0) {
            ++k;
            continue;
        }
        tpSoftRun* run = &store->runs.data[owner];
        if (end < from) {
            size_t room = (size_t)run->room;
            memmove(tpPackStore_PackAt(store, end), run->packs, sizeof(tpSoftPack) * room);
            if (run->torsions != NULL) {
                memmove(tpPackStore_TorsionAt(store, end), run->torsions,
                        sizeof(tpSoftTorsion) * room);
            }
            store->owners.data[from] = -1;
            run->first = end;
            tpPackStore_PlacePacks(store, run);
        }
        k += run->room;
        end += run->room;
    }
    store->taken.data[piece] = end > begin ? bitsAt(0, end - begin) : 0;
    for (int k = 0; k < tp_mostPoints; ++k) {
        store->firstOpen[k] = piece < store->firstOpen[k] ? piece : store->firstOpen[k];
    }
}

// Closes the gaps of the first piece that has so many free packs. False if none has.
static bool closeSome(tpPackStore* store, int count) {
    for (int32_t p = 0; p < store->taken.count; ++p) {
        int taken = __builtin_popcountll(store->taken.data[p]);
        if (tp_packsPerPiece - taken >= count && isOwned(store, p)) {
            closeGaps(store, p);
            return true;
        }
    }
    return false;
}

int32_t tpPackStore_TakePacks(tpPackStore* store, int count) {
    int32_t piece = findOpen(store, count);
    if (piece >= store->taken.count && closeSome(store, count)) {
        piece = findOpen(store, count);
    }
    if (piece >= store->taken.count && !tpPackStore_NeedPieces(store, piece + 1)) {
        return -1;
    }
    int32_t first = piece * tp_packsPerPiece + findStretch(store->taken.data[piece], count);
    take(store, first, count);
    return first;
}

bool tpPackStore_ClaimPacks(tpPackStore* store, int32_t first, int count) {
    if (first < 0 || count < 1 || first / tp_packsPerPiece >= store->taken.count ||
        first % tp_packsPerPiece + count > tp_packsPerPiece ||
        (store->taken.data[first / tp_packsPerPiece] & bitsAt(first % tp_packsPerPiece, count)) !=
            0) {
        return false;
    }
    take(store, first, count);
    return true;
}

void tpPackStore_PlacePacks(tpPackStore* store, tpSoftRun* run) {
    store->owners.data[run->first] = (int32_t)(run - store->runs.data);
    run->packs = tpPackStore_PackAt(store, run->first);
    run->torsions = tpPackStore_TorsionAt(store, run->first);
}

bool tpPackStore_AllowTorsion(tpPackStore* store) {
    store->allowsTorsion = true;
    if (!tpPackStore_NeedPieces(store, store->pieces.count)) {
        return false;
    }
    for (int r = 0; r < store->runs.count; ++r) {
        tpSoftRun* run = &store->runs.data[r];
        if (run->packs != NULL) {
            tpPackStore_PlacePacks(store, run);
            memset(run->torsions, 0, sizeof(tpSoftTorsion) * (size_t)run->room);
        }
    }
    return true;
}

// Packs without points.
static void clearPacks(tpSoftRun* run, int begin, int end) {
    size_t count = (size_t)(end - begin);
    memset(run->packs + begin, 0, sizeof(tpSoftPack) * count);
    for (int k = begin; k < end; ++k) {
        memset(run->packs[k].isPoint, -1, sizeof(run->packs[k].isPoint));
    }
    if (run->torsions != NULL) {
        memset(run->torsions + begin, 0, sizeof(tpSoftTorsion) * count);
    }
}

// Moves a run's packs to others, of which it has as many or more.
static void movePacks(tpPackStore* store, tpSoftRun* run, int32_t first) {
    memcpy(tpPackStore_PackAt(store, first), run->packs, sizeof(tpSoftPack) * (size_t)run->room);
    if (run->torsions != NULL) {
        memcpy(tpPackStore_TorsionAt(store, first), run->torsions,
               sizeof(tpSoftTorsion) * (size_t)run->room);
    }
    tpPackStore_FreePacks(store, run->first, run->room);
}

bool tpPackStore_NeedRoom(tpPackStore* store, tpSoftRun* run, int points) {
    int room = run->room;
    if (points <= room) {
        return true;
    }
    bool isBeside = room > 0 && run->first % tp_packsPerPiece + points <= tp_packsPerPiece &&
                    tpPackStore_ClaimPacks(store, run->first + room, points - room);
    if (!isBeside) {
        int32_t first = tpPackStore_TakePacks(store, points);
        if (first < 0) {
            return false;
        }
        if (room > 0) {
            movePacks(store, run, first);
        }
        run->first = first;
        tpPackStore_PlacePacks(store, run);
    }
    run->room = (int16_t)points;
    clearPacks(run, room, points);
    return true;
}

void tpPackStore_TrimRoom(tpPackStore* store, tpSoftRun* run) {
    int keep = run->count > 1 ? run->count : 1;
    if (run->room > keep) {
        tpPackStore_FreePacks(store, run->first + keep, run->room - keep);
        run->room = (int16_t)keep;
    }
}

void tpPackStore_LowerPacks(tpPackStore* store, tpSoftRun* run) {
    if (findOpen(store, run->room) >= run->first / tp_packsPerPiece) {
        return;
    }
    int32_t first = tpPackStore_TakePacks(store, run->room);
    movePacks(store, run, first);
    run->first = first;
    tpPackStore_PlacePacks(store, run);
}
