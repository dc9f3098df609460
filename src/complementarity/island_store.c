#include "complementarity/island_store.h"

bool tpIslandStore_Reserve(tpIslandStore* store, tpArena* arena, int blockCount, int rowCount,
                           int islandCount) {
    // Each island ends its list of rows with their number.
    store->row = TP_SCRATCH(arena, int, blockCount + islandCount);
    store->kind = TP_SCRATCH(arena, unsigned char, blockCount);
    store->mu = TP_SCRATCH(arena, double, blockCount);
    store->weight = TP_SCRATCH(arena, double, blockCount);
    store->q = TP_SCRATCH(arena, double, rowCount);
    store->diagonal = TP_SCRATCH_ZEROED(arena, double, blockCount* tp_diagonalStride);
    store->r = TP_SCRATCH_ZEROED(arena, double, rowCount);
    store->u = TP_SCRATCH_ZEROED(arena, double, rowCount);
    return !arena->failed;
}

void tpIslandStore_SetLaw(tpIslandStore* store, const tpFrictionProblem* problem, int b, int from) {
    store->kind[b] = problem->kinds != NULL ? problem->kinds[from] : tp_frictionCone;
    store->mu[b] = store->kind[b] == tp_frictionCone ? problem->mu[from] : 0.0;
}

tpFrictionIsland tpIslandStore_Take(tpIslandStore* store, int blockCount, int rowCount) {
    tpFrictionIsland island = { .blockCount = blockCount,
                                .rowCount = rowCount,
                                .row = store->row,
                                .kind = store->kind,
                                .mu = store->mu,
                                .q = store->q,
                                .weight = store->weight,
                                .diagonal = store->diagonal,
                                .r = store->r,
                                .u = store->u };
    store->row[blockCount] = rowCount;
    store->row += blockCount + 1;
    store->kind += blockCount;
    store->mu += blockCount;
    store->weight += blockCount;
    store->diagonal += blockCount * tp_diagonalStride;
    store->q += rowCount;
    store->r += rowCount;
    store->u += rowCount;
    return island;
}

bool tpFrictionSystem_Start(tpFrictionSystem* system, tpArena* arena, int blockCount,
                            int rowCount) {
    *system = (tpFrictionSystem){ .blockCount = blockCount, .rowCount = rowCount };
    system->source = TP_SCRATCH(arena, int, blockCount);
    system->scale = TP_SCRATCH(arena, double, rowCount);
    system->sourceRow = TP_SCRATCH(arena, int, rowCount);
    return !arena->failed;
}
