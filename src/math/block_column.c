// Inner loops of block columns for any machine; and which way this machine takes.

#include "math/block_column.h"

#define TP_SUBTRACT_THREE subtractThree
#define TP_SUBTRACT_SIX subtractSix
#define TP_INVERT_SIX invertSix
#define TP_MULTIPLY_SIX multiplySix
#define TP_ADD_COUPLES addAllCouples
#define TP_FIND_SUBTRACT tpFindBlockColumn_plain
#define TP_FIND_SIX tpFindSixKernels_plain
tpBlockColumn_Subtract* tpFindBlockColumn_plain(int size);
tpBlockColumn_Subtract* tpFindBlockColumn_avx2(int size);
tpSixKernels tpFindSixKernels_plain(void);
tpSixKernels tpFindSixKernels_avx2(void);
#include "math/block_column_lanes.h"

tpBlockColumn_Subtract* tpBlockColumn_Find(int size, int width) {
#ifdef TP_HAS_WIDE_KERNELS
    if (width == 4) {
        return tpHasWidth(4) ? tpFindBlockColumn_avx2(size) : NULL;
    }
#endif
    return width == 1 ? tpFindBlockColumn_plain(size) : NULL;
}

tpSixKernels tpSixKernels_Find(int width) {
#ifdef TP_HAS_WIDE_KERNELS
    if (width == 4 && tpHasWidth(4)) {
        return tpFindSixKernels_avx2();
    }
#endif
    return tpFindSixKernels_plain();
}
