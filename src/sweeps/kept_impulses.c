// Solves that stall end with the best impulses, not with the last ones: where loads creep and
// contacts open or slip on the way, residuals go up and down by a factor of three.

#include "sweeps/kept_impulses.h"

#include <string.h>

enum { packImpulses = 3 * tp_packWidth };

bool tpKeptImpulses_Create(tpKeptImpulses* kept, const tpSweeper* sweeper, tpArena* arena) {
    kept->impulses = TP_SCRATCH(arena, double, packImpulses*(size_t)sweeper->packCount);
    kept->miss = INFINITY;
    return kept->impulses != NULL;
}

void tpKeptImpulses_Keep(tpKeptImpulses* kept, const tpSweeper* sweeper, double miss) {
    if (!(miss < kept->miss)) {
        return;
    }
    kept->miss = miss;
    for (int p = 0; p < sweeper->packCount; ++p) {
        memcpy(kept->impulses + (ptrdiff_t)packImpulses * p, sweeper->packs[p].impulse,
               sizeof(sweeper->packs[p].impulse));
    }
}

void tpKeptImpulses_TakeBack(const tpKeptImpulses* kept, tpSweeper* sweeper) {
    for (int p = 0; p < sweeper->packCount; ++p) {
        memcpy(sweeper->packs[p].impulse, kept->impulses + (ptrdiff_t)packImpulses * p,
               sizeof(sweeper->packs[p].impulse));
    }
}
