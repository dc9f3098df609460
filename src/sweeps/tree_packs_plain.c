// Trees of joints. One node at once.

#include "math/lanes_plain.h"

#include <stddef.h>
#include <string.h>

#include "sweeps/tree_packs.h"

// What is done with that width.
#include "sweeps/trace_lanes.h"
#include "sweeps/tree_lanes.h"

const tpTreeKernels tp_plainTreeKernels = TP_TREE_KERNELS(1);
