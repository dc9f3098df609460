// Soft sweeps. Eight contacts at once, with AVX-512. This file is compiled for it.

#include "math/lanes_avx512.h"

// What is done with that width.
#include "sweeps/soft_follow_lanes.h"
#include "sweeps/soft_lanes.h"
#include "sweeps/soft_strike_lanes.h"
#include "sweeps/soft_sum_lanes.h"

const tpSoftKernels tp_avx512SoftKernels = TP_SOFT_KERNELS;
