// Accurate sweeps. Eight contacts at once, with AVX-512. This file is compiled for it.

#include "math/lanes_avx512.h"

#include "sweeps/contact_lanes.h"
#include "sweeps/sweeper_kernels.h"

// What is done with that width.
#include "sweeps/sweeper_lanes.h"

const tpSweepKernels tp_avx512SweepKernels = TP_SWEEP_KERNELS("AVX-512", 8);
