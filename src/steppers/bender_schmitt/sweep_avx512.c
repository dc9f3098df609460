// Accurate sweeps. Eight contacts at once, with AVX-512. This file is compiled for it.

#include "steppers/bender_schmitt/lanes_avx512.h"

#include "steppers/bender_schmitt/sweep_wide.h"

// What is done with that width.
#include "steppers/bender_schmitt/sweep_lanes.h"

const tpWideSweep tp_avx512Sweep = {
    .name = "AVX-512",
    .width = 8,
    .sweepRun = sweepRun,
    .startRun = startRun,
    .speedRun = speedRun,
    .respondRun = respondRun,
    .addChanges = addChanges,
    .advance = advance,
};
