// Inner loops of block columns with AVX2. This file is compiled for it.

#include "math/block_column.h"

#define TP_SUBTRACT_THREE subtractThree
#define TP_SUBTRACT_SIX subtractSix
#define TP_INVERT_SIX invertSix
#define TP_MULTIPLY_SIX multiplySix
#define TP_ADD_COUPLES addAllCouples
#define TP_FIND_SUBTRACT tpFindBlockColumn_avx2
#define TP_FIND_SIX tpFindSixKernels_avx2
tpBlockColumn_Subtract* tpFindBlockColumn_avx2(int size);
tpSixKernels tpFindSixKernels_avx2(void);
#include "math/block_column_lanes.h"
