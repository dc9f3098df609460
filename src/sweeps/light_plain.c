// Light sweeps. One contact at once.

#include "math/light_lanes_plain.h"

#include <string.h>

#include "sweeps/light_kernels.h"

// What is done with that width.
#include "sweeps/light_pack_lanes.h"

const tpLightKernels tp_plainLightKernels = TP_LIGHT_KERNELS("plain", 1);
