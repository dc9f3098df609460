// Axes of boxes, four pairs at once with AVX2. This file is compiled for it.

#include "collision/box_axes.h"

#include "math/lanes_avx2.h"

#define TP_BOX_AXES tpFindBoxAxes_avx2
#include "collision/box_axes_lanes.h"
