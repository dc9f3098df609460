// Which way of sweeping this machine takes.

#include "steppers/bender_schmitt/sweep_wide.h"
#include "steppers/bender_schmitt/brisk_pack.h"

#ifdef TP_HAS_WIDE_SWEEPS
static bool hasWidth(int width) {
    return width == 8 ? __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")
                      : width == 4 && __builtin_cpu_supports("avx2");
}
#endif

const tpWideSweep* tpGetWideSweep(int width) {
#ifdef TP_HAS_WIDE_SWEEPS
    if (hasWidth(width)) {
        return width == 8 ? &tp_avx512Sweep : &tp_avx2Sweep;
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

const tpWideBrisk* tpGetWideBrisk(int width) {
#ifdef TP_HAS_WIDE_SWEEPS
    if (hasWidth(width)) {
        return width == 8 ? &tp_avx512Brisk : &tp_avx2Brisk;
    }
#endif
    return width == 1 ? &tp_plainBrisk : NULL;
}

const tpWideBrisk* tpChooseWideBrisk(void) {
    return tpGetWideBrisk(tpChooseWideSweep()->width);
}
