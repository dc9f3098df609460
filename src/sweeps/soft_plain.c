// Soft sweeps. One contact at once.

#include "math/lanes_plain.h"

// What is done with that width.
#include "sweeps/soft_fill_lanes.h"
#include "sweeps/soft_lanes.h"
#include "sweeps/soft_sum_lanes.h"

const tpSoftKernels tp_plainSoftKernels = {
    .width = 1,
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
