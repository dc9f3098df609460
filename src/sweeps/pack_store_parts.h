// What the files of the store share: its packs (pack_store_packs.c), runs and groups
// (pack_store_runs.c).

#ifndef TIPPE_SRC_SWEEPS_PACK_STORE_PARTS_H
#define TIPPE_SRC_SWEEPS_PACK_STORE_PARTS_H

#include "sweeps/pack_store.h"

enum { tp_packsPerPiece = 64 };

// Packs ------------------------------------------------------------------------------------------

static inline tpSoftPack* tpPackStore_PackAt(const tpPackStore* store, int32_t index) {
    return &store->pieces.data[index / tp_packsPerPiece][index % tp_packsPerPiece];
}

static inline tpSoftTorsion* tpPackStore_TorsionAt(const tpPackStore* store, int32_t index) {
    return store->allowsTorsion
               ? &store->torsionPieces.data[index / tp_packsPerPiece][index % tp_packsPerPiece]
               : NULL;
}

// At least so many pieces. False if memory ran out.
bool tpPackStore_NeedPieces(tpPackStore* store, int pieces);

// So many packs side by side that nobody has; -1 if memory ran out.
int32_t tpPackStore_TakePacks(tpPackStore* store, int count);
// These very packs. False if there are no such, or somebody has one of them.
bool tpPackStore_ClaimPacks(tpPackStore* store, int32_t first, int count);
void tpPackStore_FreeAllPacks(tpPackStore* store);

// Sets a run's pointers from the number of its first pack.
void tpPackStore_PlacePacks(tpPackStore* store, tpSoftRun* run);

// Gives back the packs of a run that none of its lanes has points in.
void tpPackStore_TrimRoom(tpPackStore* store, tpSoftRun* run);
// Moves the packs of a run to a piece before theirs, if one has room: so that holes get filled.
void tpPackStore_LowerPacks(tpPackStore* store, tpSoftRun* run);

// Runs -------------------------------------------------------------------------------------------

// An empty run of a colour with room for so many points; -1 if memory ran out.
int32_t tpPackStore_TakeRun(tpPackStore* store, int32_t group, int colour, int points,
                            bool areBalls);
void tpPackStore_FreeRun(tpPackStore* store, int32_t number);

// Two lanes of runs of one colour change places; one may be empty. An empty run stays until it is
// closed. False if memory ran out.
bool tpPackStore_ExchangeLanes(tpPackStore* store, int32_t runA, int laneA, int32_t runB,
                               int laneB);
void tpPackStore_CloseIfEmpty(tpPackStore* store, int32_t number);

// The list of open runs of a colour, of balls or of others, chained by `next`; NULL if memory ran
// out.
int32_t* tpPackStore_OpenList(tpPackStore* store, int32_t group, int colour, bool areBalls);
// Of the colours other than those that are busy which have an empty lane the one that such a
// manifold suits best; -1: none has.
int tpPackStore_FindOpen(const tpPackStore* store, int32_t group, uint64_t busy, int points,
                         bool areBalls);
void tpPackStore_PushOpen(tpPackStore* store, int32_t* open, int32_t number);
void tpPackStore_PopOpen(tpPackStore* store, int32_t* open);
// Takes a run out of its list, wherever it is.
void tpPackStore_Unlist(tpPackStore* store, int32_t number);

// Groups -----------------------------------------------------------------------------------------

// Another group at the end of the list; one between two blocks is entered in the table. False if
// memory ran out.
bool tpPackStore_AddGroup(tpPackStore* store, int32_t blockA, int32_t blockB);

// The group of bodies of these blocks, made if it is not there; -1 if memory ran out.
int32_t tpPackStore_TakeGroup(tpPackStore* store, int32_t blockA, int32_t blockB);

void tpPackStore_DropGroups(tpPackStore* store);

// The colours that bodies have in a group of this kind.
static inline uint64_t* tpPackStore_ColourMasks(tpPackStore* store, int32_t group) {
    return group < store->blockCount ? store->insideColours.data : store->betweenColours.data;
}

#endif
