// Which blocks of rows hang together through bodies that move.

#ifndef TIPPE_SRC_DYNAMICS_ISLANDS_H
#define TIPPE_SRC_DYNAMICS_ISLANDS_H

#include "complementarity/block_graph.h"
#include "dynamics/rows.h"

typedef struct tpIslands {
    int count;
    int* starts; // count + 1
    int* blocks; // of island i: blocks[starts[i]] .. blocks[starts[i + 1] - 1], ascending
    int* ofBlock;
    tpBlockGraph graph;
} tpIslands;

// Which blocks share a body that moves. False if memory ran out.
bool tpRows_Graph(const tpRows* rows, tpArena* arena, tpBlockGraph* graph);

// Islands are numbered by their first block. False if memory ran out.
bool tpIslands_Find(tpIslands* islands, const tpRows* rows, tpArena* arena);

#endif
