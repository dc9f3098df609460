// Which blocks of rows share a body: the pattern of W = J M^-1 J^T.

#ifndef TIPPE_SRC_COMPLEMENTARITY_BLOCK_GRAPH_H
#define TIPPE_SRC_COMPLEMENTARITY_BLOCK_GRAPH_H

#include "base/memory.h"

typedef struct tpBlockGraph {
    int blockCount, bodyCount;
    const int* bodyA; // of block b: bodyA[b * stride]; -1 where there is none
    const int* bodyB;
    int stride;

    // Blocks at each body, ascending: blocks[starts[i]] .. blocks[starts[i + 1] - 1].
    int* starts;
    int* blocks;
    int* neighbours; // scratch of tpBlockGraph_Neighbours
} tpBlockGraph;

// Lists the blocks; the arrays of bodies are kept by reference. False where memory ran out.
bool tpBlockGraph_Create(tpBlockGraph* graph, int blockCount, int bodyCount, const int* bodyA,
                         const int* bodyB, int stride, tpArena* arena);

// Blocks that share a body with this one, itself included, ascending. Valid until the next call.
const int* tpBlockGraph_Neighbours(const tpBlockGraph* graph, int block, int* count);

#endif
