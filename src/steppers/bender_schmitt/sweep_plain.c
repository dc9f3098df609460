// Accurate sweeps. One contact at once.

#include "steppers/bender_schmitt/lanes_plain.h"

#include "steppers/bender_schmitt/sweep_wide.h"

// What is done with that width.
#include "steppers/bender_schmitt/sweep_lanes.h"

const tpWideSweep tp_plainSweep = {
    .name = "plain",
    .width = 1,
    .sweepRun = sweepRun,
    .startRun = startRun,
    .speedRun = speedRun,
    .respondRun = respondRun,
    .addChanges = addChanges,
    .advance = advance,
};
