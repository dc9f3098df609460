// Axes of boxes, eight pairs at once with AVX-512. This file is compiled for it.

#include "collision/box_axes.h"

#define TP_BOX_LANES 8
#define TP_BOX_AXES tpFindBoxAxes_avx512
#include "collision/box_axes_lanes.h"
