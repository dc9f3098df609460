// Soft sweeps. Four contacts at once, with AVX2. This file is compiled for it.

#include "math/lanes_avx2.h"

// What is done with that width.
#include "sweeps/soft_fill_lanes.h"
#include "sweeps/soft_lanes.h"
#include "sweeps/soft_sum_lanes.h"

const tpSoftKernels tp_avx2SoftKernels = {
    .width = 4,
    .fillPack = fillPack,
    .respondRun = respondRun,
    .startRun = startRun,
    .leadRun = leadRun,
    .settleRun = settleRun,
    .bounceRun = bounceRun,
    .judgeRun = judgeRun,
    .ratioRun = ratioRun,
    .carryRun = carryRun,
};
