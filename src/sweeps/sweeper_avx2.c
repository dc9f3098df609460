// Accurate sweeps. Four contacts at once, with AVX2. This file is compiled for it.

#include "math/lanes_avx2.h"

#include "sweeps/contact_lanes.h"
#include "sweeps/sweeper_kernels.h"

// What is done with that width.
#include "sweeps/sweeper_lanes.h"

const tpSweepKernels tp_avx2SweepKernels = TP_SWEEP_KERNELS("AVX2", 4);
