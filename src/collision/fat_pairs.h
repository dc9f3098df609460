// Pairs of boxes that are a little larger than the shapes' (fat boxes), kept from call to call.
//
// A shape's fat box is left alone until the shape leaves it; only pairs of shapes that got a new
// fat box are looked up again: a few in a dynamic tree, many by rows of cells. So the list of pairs
// stays the same from call to call while little moves far, and what callers know about a pair can
// be handed on: `origins` says where each pair stood in the list before.
//
// Which pairs are listed depends on the history of the boxes. The fat boxes are therefore part of a
// caller's state: Save and Load copy them, and with them the pairs.

#ifndef TIPPE_SRC_COLLISION_FAT_PAIRS_H
#define TIPPE_SRC_COLLISION_FAT_PAIRS_H

#include "base/saved_reader.h"
#include "collision/bounds_tree.h"
#include "collision/pair_gather.h"

typedef struct tpFatProxy {
    tpBounds fat;
    tpVec3 lastLower; // of the true box, in the last call
    int32_t leaf;     // in the tree; -1: not there
    uint8_t kind;     // tpProxyKind
    bool isUnbounded; // its fat box is the true one
    bool leaps;       // its new fat box is far from the old one
} tpFatProxy;

typedef struct tpFatPairs {
    tpAllocator allocator;
    // pairs that tpProxies.mayPair does not want are left out; if not, callers ask for themselves
    bool filters;
    // How much larger a fat box is on each side, of the sum of the shape's sides, and how many
    // steps of its motion it reaches ahead. Larger boxes last longer but have more pairs. Those of
    // balls are larger by twice as much: most of their pairs are told apart (fat_balls.h). The size
    // margin of links is twice as large: they have the same neighbours for long, and few pairs
    // more.
    double sizeMargin, motionMargin;
    tpPairArray pairs; // sorted
    // Of each pair: its place in the list before the last update; -1: it is new. Scratch of that
    // update.
    const int32_t* origins;
    int oldCount;    // pairs before the last update
    int foundCount;  // pairs that the last update looked up
    bool isOver;     // the last update failed because there are more than tpPairLimit
    bool hasChanged; // the last update changed the list; if not, origins are not filled in

    tpBoundsTree tree;
    TP_ARRAY(tpFatProxy) proxies;
    TP_ARRAY(bool) hasMoved; // of each proxy: it has a new fat box in this call, or none any more
    TP_ARRAY(int32_t) moved, unbounded;
    TP_ARRAY(int) staleCounts; // of each chunk of proxies: how many fat boxes do not serve any more
    int64_t changeCount;       // new boxes since the tree was last built or fitted
    bool isTreeOld; // many boxes have changed since the tree was built or fitted: it waits for that
    bool usesRows;  // pairs of this call are found without the tree (box_rows.h)
} tpFatPairs;

void tpCreateFatPairs(tpFatPairs* fat, const tpAllocator* allocator, bool filters);
void tpDestroyFatPairs(tpFatPairs* fat);

// Asks for memory for the boxes of shapes from `begin` up to `end`, before they come.
void tpFatPairs_Prepare(tpFatPairs* fat, int begin, int end);

// Brings the pairs up to date with the boxes. What it needs meanwhile, some 30 bytes per pair at
// most, comes from the arena, and `origins` stays there. False if memory ran out: there are no
// pairs then, and the next call starts afresh.
bool tpFatPairs_Update(tpFatPairs* fat, const tpProxies* proxies, tpTasks* tasks, tpArena* arena);

// Forgets everything.
void tpFatPairs_Clear(tpFatPairs* fat);

// Looks up all pairs of these shapes again in the next update: whether they are wanted may have
// changed.
void tpFatPairs_Disturb(tpFatPairs* fat, int32_t shape);

// Snapshots of pairs and boxes.
size_t tpFatPairs_SavedSize(const tpFatPairs* fat);
void tpFatPairs_Save(const tpFatPairs* fat, void* saved);
// False if memory ran out or the bytes are not what was saved.
bool tpFatPairs_Load(tpFatPairs* fat, tpSavedReader* reader);

#endif
