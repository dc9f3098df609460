// Which way of sweeping this machine takes.

#include "steppers/bender_schmitt/sweep_wide.h"

const tpWideSweep* tpGetWideSweep(int width) {
#ifdef TP_HAS_WIDE_SWEEPS
    if (width == 8 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
        return &tp_avx512Sweep;
    }
    if (width == 4 && __builtin_cpu_supports("avx2")) {
        return &tp_avx2Sweep;
    }
#endif
    return width == 1 ? &tp_plainSweep : NULL;
}

const tpWideSweep* tpChooseWideSweep(void) {
    for (int width = 8; width > 1; width /= 2) {
        const tpWideSweep* wide = tpGetWideSweep(width);
        if (wide != NULL) {
            return wide;
        }
    }
    return &tp_plainSweep;
}
