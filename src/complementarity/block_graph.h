// Which blocks of rows share a body: the pattern of W = J M^-1 J^T.

#ifndef TIPPE_SRC_COMPLEMENTARITY_BLOCK_GRAPH_H
#define TIPPE_SRC_COMPLEMENTARITY_BLOCK_GRAPH_H

#include "base/memory.h"

// The bodies of blocks: two of each, and where `moreStarts` is not NULL those of block b from
// more[moreStarts[b]] up to more[moreStarts[b + 1]] too.
typedef struct tpBlockBodies {
    const int* bodyA; // of block b: bodyA[b * stride]; -1 if there is none
    const int* bodyB;
    int stride;
    const int* moreStarts;
    const int* more; // -1 if there is none
} tpBlockBodies;

typedef struct tpBlockGraph {
    int blockCount, bodyCount;
    tpBlockBodies bodies;

    // Blocks at each body, ascending: blocks[starts[i]] .. blocks[starts[i + 1] - 1].
    int* starts;
    int* blocks;

    // Scratch of tpBlockGraph_Neighbours.
    int* neighbours;
    int* cursors; // in the lists of a block's bodies: next and end
} tpBlockGraph;

// Lists the blocks; the arrays of bodies are kept by reference. False if memory ran out.
bool tpBlockGraph_Create(tpBlockGraph* graph, int blockCount, int bodyCount,
                         const tpBlockBodies* bodies, tpArena* arena);

// Blocks that share a body with this one, itself included, ascending. Valid until the next call.
const int* tpBlockGraph_Neighbours(const tpBlockGraph* graph, int block, int* count);

#endif
