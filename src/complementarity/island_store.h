// What islands of friction problems have in common, whether they are given by a matrix or by
// bodies: their arrays, one island after the other in common memory.

#ifndef TIPPE_SRC_COMPLEMENTARITY_ISLAND_STORE_H
#define TIPPE_SRC_COMPLEMENTARITY_ISLAND_STORE_H

#include "complementarity/friction_island.h"

// Numbers between the diagonal blocks of an island.
enum { tp_diagonalStride = TP_FRICTION_MAX_ROWS * TP_FRICTION_MAX_ROWS };

// The arrays of the island that is being written, and of those that follow it.
typedef struct tpIslandStore {
    int* row;
    unsigned char* kind;
    double *mu, *weight, *q, *diagonal, *r, *u;
} tpIslandStore;

// Room for all islands; r, u and the diagonal are zero. False if memory ran out.
bool tpIslandStore_Reserve(tpIslandStore* store, tpArena* arena, int blockCount, int rowCount,
                           int islandCount);

// The law of block b of the island, which is block `from` of the problem.
void tpIslandStore_SetLaw(tpIslandStore* store, const tpFrictionProblem* problem, int b, int from);

// The island whose first blocks and rows have been written; the store goes on behind them.
tpFrictionIsland tpIslandStore_Take(tpIslandStore* store, int blockCount, int rowCount);

// A system without islands: where its blocks and rows come from. False if memory ran out.
bool tpFrictionSystem_Start(tpFrictionSystem* system, tpArena* arena, int blockCount, int rowCount);

// Row `row` of the system, counted in the problem as `source`, has the scale s times its ellipse.
// Returns that scale.
static inline double tpFrictionSystem_SetRow(tpFrictionSystem* system,
                                             const tpFrictionProblem* problem, int row, int source,
                                             double s) {
    double scale = s * (problem->scale != NULL ? problem->scale[source] : 1.0);
    system->sourceRow[row] = source;
    system->scale[row] = scale;
    return scale;
}

#endif
