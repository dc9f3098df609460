// Manifolds in lanes of runs, kept from step to step: who is swept with whom, in which order.
//
// Bodies belong to blocks of neighbours. Manifolds within a block, or between it and bodies that do
// not move, are the block's own group; those between two blocks are a group for each pair of
// blocks. Within a group manifolds have colours: those of one colour share no body that moves, and
// eight of them are a run. A new manifold takes an empty lane of a colour that both bodies have
// free, in a run for about as many points, and only if there is none begins a run of the lowest
// such colour; one that goes leaves its lane to others. A run has as many packs as its longest
// manifold has points; manifolds of one colour change places if that saves packs
// (pack_store_deal.c).
//
//     group 0 (block 0)       group 1 (block 1)     group 2 (blocks 0 and 1)
//     colour 0    colour 1    ...
//     run  run    run                               runs of a colour may be swept in any order
//
// A sweep goes through the groups of blocks and then through those between them (schedule.h). Which
// lanes a manifold gets depends on what came before, in a fixed way: all of this is part of a
// caller's state.

#ifndef TIPPE_SRC_SWEEPS_PACK_STORE_H
#define TIPPE_SRC_SWEEPS_PACK_STORE_H

#include "base/memory.h"
#include "base/saved_reader.h"
#include "base/tasks.h"
#include "sweeps/colour.h"
#include "sweeps/soft_pack.h"

// The most points of a manifold.
enum { tp_mostPoints = 64 };

// Runs of balls and of others: packs of balls are followed another way.
enum { tp_runSorts = 2 };

typedef struct tpPackGroup {
    int32_t blockA, blockB; // equal for a block's own group
    // Of each colour and sort of run: the first one with an empty lane; -1: none.
    TP_ARRAY(int32_t) openRuns;
    uint64_t openColours[tp_runSorts]; // of each sort: a bit for each colour that has one
} tpPackGroup;

typedef struct tpPackStore {
    tpAllocator allocator;
    TP_ARRAY(tpSoftPack*) pieces;           // of tp_mostPoints packs each, which never move
    TP_ARRAY(tpSoftTorsion*) torsionPieces; // as many, if the store allows torsion; else none
    bool allowsTorsion;
    TP_ARRAY(tpSoftRun) runs; // a free one has no packs
    TP_ARRAY(int32_t) places; // of each slot: run * 8 + lane; of a free one: -1 - the next free one
    TP_ARRAY(tpPackGroup) groups; // those of blocks come first
    int32_t blockCount;
    TP_ARRAY(uint64_t) taken; // of each piece, a bit per pack: a run has it
    TP_ARRAY(int32_t) owners; // of each pack: the run of which it is the first; -1: none
    // Of each number of packs, less one: pieces before this one do not have so many free side by
    // side.
    int32_t firstOpen[tp_mostPoints];
    int32_t freeRun, freeSlot; // -1: none
    int packCount, slotCount;  // packs that runs have, manifolds
    // Of each body: its block, -1 if impulses do not move it, and the colours that it has in its
    // block's group and in others.
    TP_ARRAY(int32_t) blocks;
    TP_ARRAY(uint64_t) insideColours, betweenColours;
    int32_t nobody;        // a body that empty lanes have
    int32_t tidied, dealt; // the last run and the last group that were looked at
    // Runs with manifolds, by group, colour and number, and the first of each group.
    TP_ARRAY(int32_t) order, groupFirsts;
    bool isOrdered;
    TP_ARRAY(int32_t) table; // hash of the groups between blocks
} tpPackStore;

void tpCreatePackStore(tpPackStore* store, const tpAllocator* allocator);
void tpDestroyPackStore(tpPackStore* store);

// Room for torsional friction beside all packs, now and later. False if memory ran out.
bool tpPackStore_AllowTorsion(tpPackStore* store);

// Room that is asked for before manifolds come: of bodies and manifolds those from `begin` up to
// `end` are new.
typedef struct tpPackRoom {
    tpRange bodies, manifolds;
    int points; // of all manifolds together
} tpPackRoom;

// Asks for memory for so many bodies and manifolds. It stays with the store until this is
// destroyed.
void tpPackStore_Prepare(tpPackStore* store, const tpPackRoom* room);

// Forgets all manifolds.
void tpPackStore_Clear(tpPackStore* store);

// Starts with these bodies and no manifolds: the block of each, -1 for those that impulses do not
// move. The last is nobody. False if memory ran out.
bool tpPackStore_Start(tpPackStore* store, const int32_t* blocks, int bodyCount, int blockCount);

// A store that has just started takes over the memory of another one's packs, which are still the
// other one's. Whoever has moved a run's manifolds gives back its packs here.
void tpPackStore_TakePieces(tpPackStore* store, tpPackStore* from);
void tpPackStore_FreePacks(tpPackStore* store, int32_t first, int count);

// Another body before nobody, whose number it takes; nobody gets the next. False if memory ran out.
bool tpPackStore_AddBody(tpPackStore* store, int32_t block);

// A lane for a manifold of these bodies with up to so many points, of which at least one has a
// block. Its columns are zeros. Returns the slot, -1 if memory ran out.
int32_t tpPackStore_Add(tpPackStore* store, int32_t bodyA, int32_t bodyB, int points,
                        bool areBalls);

// Takes a manifold out.
void tpPackStore_Remove(tpPackStore* store, int32_t slot);

// Packs that there is memory for, of runs and free ones: their numbers are smaller than that.
int tpPackStore_PackRoom(const tpPackStore* store);

static inline tpSoftRun* tpPackStore_Find(const tpPackStore* store, int32_t slot, int* lane) {
    int32_t place = store->places.data[slot];
    *lane = place % tp_packWidth;
    return &store->runs.data[place / tp_packWidth];
}

// Packs for so many points in each lane of a run, at most its capacity: the pointers of the run may
// change. False if memory ran out.
bool tpPackStore_NeedRoom(tpPackStore* store, tpSoftRun* run, int points);

// Moves manifolds out of sparse runs, a few runs in each call: sweeps cost as much for an empty
// lane as for another. Packs without points are given back.
void tpPackStore_Tidy(tpPackStore* store);

// Deals the lanes of some colours anew, so that their runs need fewer packs; brings `order` up to
// date. False if memory ran out.
bool tpPackStore_Deal(tpPackStore* store);

// Brings `order` up to date. False if memory ran out.
bool tpPackStore_Order(tpPackStore* store);

// Snapshots.
size_t tpPackStore_SavedSize(const tpPackStore* store);
void tpPackStore_Save(const tpPackStore* store, void* saved);
// False if memory ran out or the bytes are not what was saved.
bool tpPackStore_Load(tpPackStore* store, tpSavedReader* reader);

#endif
