// Soft sweeps. One contact at once.

#include "math/lanes_plain.h"

// What is done with that width.
#include "sweeps/soft_follow_lanes.h"
#include "sweeps/soft_lanes.h"
#include "sweeps/soft_strike_lanes.h"
#include "sweeps/soft_sum_lanes.h"

const tpSoftKernels tp_plainSoftKernels = TP_SOFT_KERNELS;
