// Accurate sweeps. Four contacts at once, with AVX2. This file is compiled for it.

#include "steppers/bender_schmitt/lanes_avx2.h"

#include "steppers/bender_schmitt/sweep_wide.h"

// What is done with that width.
#include "steppers/bender_schmitt/sweep_lanes.h"

const tpWideSweep tp_avx2Sweep = {
    .name = "AVX2",
    .width = 4,
    .sweepRun = sweepRun,
    .startRun = startRun,
    .speedRun = speedRun,
    .respondRun = respondRun,
    .addChanges = addChanges,
    .advance = advance,
};
