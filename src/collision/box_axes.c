// Axes of boxes, one pair at a time; and which way this machine takes.

#include "collision/box_axes.h"

#include "math/lanes_plain.h"

#define TP_BOX_AXES tpFindBoxAxes_plain
#include "collision/box_axes_lanes.h"

bool tpBoxBatch_FindAxesBy(tpBoxBatch* batch, int width) {
    if (!tpHasWidth(width) || width > 4) {
        return false;
    }
#ifdef TP_HAS_WIDE_KERNELS
    if (width == 4) {
        tpFindBoxAxes_avx2(batch);
        return true;
    }
#endif
    tpFindBoxAxes_plain(batch);
    return true;
}

void tpBoxBatch_FindAxes(tpBoxBatch* batch) {
    // Eight pairs at once with AVX-512 were tried: a funnel of boxes took 8 percent longer
    // (math/widths.h).
    tpBoxBatch_FindAxesBy(batch, tpChooseWidth(4));
}
