// Inner loops of block columns with AVX2. This file is compiled for it.

#include "math/block_column.h"

#define TP_SUBTRACT_THREE subtractThree
#define TP_SUBTRACT_SIX subtractSix
#define TP_FIND_SUBTRACT tpFindBlockColumn_avx2
tpBlockColumn_Subtract* tpFindBlockColumn_avx2(int size);
#include "math/block_column_lanes.h"
