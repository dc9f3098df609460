// Hinges. Four links at once, with AVX2. This file is compiled for it.

#include "math/lanes_avx2.h"

#include <string.h>

#include "steppers/small_steps/hinges.h"

// What is done with that width.
#include "steppers/small_steps/wide_quats.h"

#include "steppers/small_steps/hinge_lanes.h"

const tpHingeKernels tp_avx2HingeKernels = TP_HINGE_KERNELS(4);
