// Which way of finding box axes this machine has; the plain way itself.

#include "collision/box_axes.h"

#define TP_BOX_LANES 2
#define TP_BOX_AXES tpFindBoxAxes_plain
#include "collision/box_axes_lanes.h"

bool tpBoxBatch_FindAxesBy(tpBoxBatch* batch, int width) {
#ifdef __x86_64__
    if (width == 8 && __builtin_cpu_supports("avx512f")) {
        tpFindBoxAxes_avx512(batch);
        return true;
    }
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
    int width = 8;
    while (!tpBoxBatch_FindAxesBy(batch, width)) {
        width /= 2;
    }
}
