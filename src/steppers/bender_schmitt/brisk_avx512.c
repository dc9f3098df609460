// Steps in parts. Eight contacts at once, with AVX-512. This file is compiled for it.

#include "steppers/bender_schmitt/lanes_avx512.h"

#include "steppers/bender_schmitt/brisk_pack.h"

// What is done with that width.
#include "steppers/bender_schmitt/brisk_lanes.h"
#include "steppers/bender_schmitt/brisk_pack_lanes.h"
#include "steppers/bender_schmitt/brisk_sum_lanes.h"

const tpWideBrisk tp_avx512Brisk = {
    .width = 8,
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
