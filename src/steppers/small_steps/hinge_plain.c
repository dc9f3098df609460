// Hinges. One link at once.

#include "math/lanes_plain.h"

#include <string.h>

#include "steppers/small_steps/hinges.h"

// What is done with that width.
#include "steppers/small_steps/wide_quats.h"

#include "steppers/small_steps/hinge_lanes.h"

const tpHingeKernels tp_plainHingeKernels = TP_HINGE_KERNELS(1);
