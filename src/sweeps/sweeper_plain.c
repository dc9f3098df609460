// Accurate sweeps. One contact at once.

#include "math/lanes_plain.h"

#include "sweeps/contact_lanes.h"
#include "sweeps/sweeper_kernels.h"

// What is done with that width.
#include "sweeps/sweeper_lanes.h"

const tpSweepKernels tp_plainSweepKernels = TP_SWEEP_KERNELS("plain", 1);
