#include "math/widths.h"

bool tpHasWidth(int width) {
#ifdef TP_HAS_WIDE_KERNELS
    if (width == 8) {
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
    }
    if (width == 4) {
        return __builtin_cpu_supports("avx2");
    }
#endif
    return width == 1;
}

int tpChooseWidth(int most) {
    for (int width = tp_packWidth; width > 1; width /= 2) {
        if (width <= most && tpHasWidth(width)) {
            return width;
        }
    }
    return 1;
}
