// The kernels of each width.

#include "sweeps/soft_pack.h"
#include "sweeps/sweeper_kernels.h"

const tpSweepKernels* tpGetSweepKernels(int width) {
    if (!tpHasWidth(width)) {
        return NULL;
    }
#ifdef TP_HAS_WIDE_KERNELS
    if (width > 1) {
        return width == 8 ? &tp_avx512SweepKernels : &tp_avx2SweepKernels;
    }
#endif
    return &tp_plainSweepKernels;
}

const tpSoftKernels* tpGetSoftKernels(int width) {
    if (!tpHasWidth(width)) {
        return NULL;
    }
#ifdef TP_HAS_WIDE_KERNELS
    if (width > 1) {
        return width == 8 ? &tp_avx512SoftKernels : &tp_avx2SoftKernels;
    }
#endif
    return &tp_plainSoftKernels;
}
