// Light sweeps. Eight contacts at once, with AVX2. This file is compiled for it.

#include "math/light_lanes_avx2.h"

#include <string.h>

#include "sweeps/light_kernels.h"

// What is done with that width.
#include "sweeps/light_pack_lanes.h"

const tpLightKernels tp_avx2LightKernels = TP_LIGHT_KERNELS("AVX2", 8);
