// All overlapping pairs of many boxes at once: boxes sorted into rows of cells.
//
// A tree answers one box after the other, each time from the top. If many boxes are new, it costs a
// fraction of that to sort them all by place and to compare neighbours in this order.
//
// Boxes of similar size are a level, with cells a little larger than any of its boxes. A box
// belongs to the cell that its lower corner is in. The lower corners of boxes that overlap lie less
// than a cell apart, so that they are in the same cell or in neighbouring ones. Boxes are sorted by
// level, z, y, and along x by an eighth of a cell: a row of cells along x is a stretch of the list,
// and so is the part of a row that a box can overlap.
//
//     z + 1   y - 1   ..bb.....        a box of row (y, z) looks at what comes after it in its own
//             y       ..bbb....        row, and at a stretch of the next row and of those above; in
//             y + 1   ....bb...        coarser levels at a stretch of all rows around it
//     z       y       ..abb....
//             y + 1   ...bb....
//
// The boxes here are in single precision, a little larger than the true ones: each pair of true
// boxes that overlap is met once, with a few that do not quite.

#ifndef TIPPE_SRC_COLLISION_BOX_ROWS_H
#define TIPPE_SRC_COLLISION_BOX_ROWS_H

#include "base/memory.h"
#include "base/tasks.h"
#include "geometry/area_split.h"

// 32 bytes; from the lower corner of all boxes together.
typedef struct tpRowBox {
    _Alignas(16) float lower[3];
    int32_t number;
    float upper[3];
    float radius; // of a ball in the middle of its box; 0 of others
} tpRowBox;

enum { tp_rowLevels = 32 };

typedef struct tpBoxRows {
    const tpRowBox* boxes; // sorted
    const uint64_t* keys;  // of each: level, z, y, x; then one that is larger than any
    int count;
    uint32_t usedLevels;             // a bit each
    double perCell[tp_rowLevels][3]; // 1 / length of a cell; along x, of an eighth of it
    int shifts[3], levelShift;       // of x, y, z and the level in a key
    int32_t most[3];                 // cells beyond the last share it
} tpBoxRows;

// Which boxes: those of these numbers, which must be finite.
typedef struct tpRowInput {
    tpItemBounds bounds; // by number, as the radii, which may be NULL
    const float* radii;
    const int32_t* numbers;
    int count;
} tpRowInput;

// Sorts the boxes; what it needs stays in the arena. False if memory ran out, or if the boxes
// spread too far for single precision.
bool tpBoxRows_Sort(tpBoxRows* rows, const tpRowInput* input, tpTasks* tasks, tpArena* arena);

// What is done with two boxes that overlap here. Those of balls that cannot touch while they stay
// in their boxes (fat_balls.h) are left out, as far as single precision tells. False ends the
// visit.
typedef bool (*tpRowVisitor)(void* context, const tpRowBox* a, const tpRowBox* b);

// Visits the pairs that boxes begin to end - 1 of the sorted ones have with later ones.
void tpBoxRows_Visit(const tpBoxRows* rows, int begin, int end, tpRowVisitor visit, void* context);

#endif
