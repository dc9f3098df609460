// Light sweeps. Sixteen contacts at once, with AVX-512. This file is compiled for it.

#include "math/light_lanes_avx512.h"

#include <string.h>

#include "sweeps/light_kernels.h"

// What is done with that width.
#include "sweeps/light_pack_lanes.h"

const tpLightKernels tp_avx512LightKernels = TP_LIGHT_KERNELS("AVX-512", 16);
