// Which way of finding box axes this machine has; the plain way itself.
//
// Eight pairs at once with AVX-512 were tried: a few of its operations among much that is not wide slow down the
// clock for all of it, and a funnel of boxes took 8 percent longer.

#include "collision/box_axes.h"

#define TP_BOX_LANES 2
#define TP_BOX_AXES tpFindBoxAxes_plain
#include "collision/box_axes_lanes.h"

bool tpBoxBatch_FindAxesBy(tpBoxBatch* batch, int width) {
#ifdef __x86_64__
    if (width == 4 && __builtin_cpu_supports("avx2")) {
        tpFindBoxAxes_avx2(batch);
        return true;
    }
#endif
    if (width == 2) {
        tpFindBoxAxes_plain(batch);
    }
    return width == 2;
}

void tpBoxBatch_FindAxes(tpBoxBatch* batch) {
    if (!tpBoxBatch_FindAxesBy(batch, 4)) {
        tpFindBoxAxes_plain(batch);
    }
}
