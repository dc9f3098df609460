// Steps in parts. One contact at once.

#include "steppers/bender_schmitt/lanes_plain.h"

#include "steppers/bender_schmitt/brisk_pack.h"

// What is done with that width.
#include "steppers/bender_schmitt/brisk_lanes.h"
#include "steppers/bender_schmitt/brisk_pack_lanes.h"
#include "steppers/bender_schmitt/brisk_sum_lanes.h"

const tpWideBrisk tp_plainBrisk = {
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
