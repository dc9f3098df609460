// What the files of the store share: its pieces of memory, runs, and groups (pack_store_runs.c).

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

// Pieces for so many packs. False if memory ran out.
bool tpPackStore_NeedPieces(tpPackStore* store, int packs);

// Runs -------------------------------------------------------------------------------------------

// The smallest class of runs with room for so many points, and that of a run.
int tpRunClass(int points);
int tpSoftRun_Class(const tpSoftRun* run);

// Balls have runs of their own, since their packs are followed another way.
int tpRunSort(int class, bool areBalls);
int tpSoftRun_Sort(const tpSoftRun* run);

// An empty run of a colour; -1 if memory ran out.
int32_t tpPackStore_TakeRun(tpPackStore* store, int32_t group, int colour, int class,
                            bool areBalls);
void tpPackStore_FreeRun(tpPackStore* store, int32_t number);

// The list of open runs of a colour and sort, chained by `next`; NULL if memory ran out.
int32_t* tpPackStore_OpenList(tpPackStore* store, int32_t group, int colour, int sort);
// Colours other than those that are busy which have an empty lane for a manifold of so many points:
// in the smallest runs that have any, whose class is returned. 0: there is none.
uint64_t tpPackStore_FindOpen(const tpPackStore* store, int32_t group, uint64_t busy, int points,
                              bool areBalls, int* class);
void tpPackStore_PushOpen(tpPackStore* store, int32_t* open, int32_t number);
void tpPackStore_PopOpen(tpPackStore* store, int32_t* open);

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
