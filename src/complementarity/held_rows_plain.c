// Factors of rows that are held, with what every machine has.

#include <stdbool.h>

#include "complementarity/held_rows.h"

#include "complementarity/held_rows_lanes.h"

#include "math/widths.h"

const tpHeldKernels tp_plainHeldKernels = TP_HELD_KERNELS;

const tpHeldKernels* tpGetHeldKernels(int width) {
#ifdef TP_HAS_WIDE_KERNELS
    if (width >= 4) {
        return &tp_avx2HeldKernels;
    }
#endif
    (void)width;
    return &tp_plainHeldKernels;
}
