// Trees of joints. Four nodes at once, with AVX2. This file is compiled for it.

#include "math/lanes_avx2.h"

#include <stddef.h>
#include <string.h>

#include "sweeps/tree_packs.h"

// What is done with that width.
#include "sweeps/trace_lanes.h"
#include "sweeps/tree_lanes.h"

const tpTreeKernels tp_avx2TreeKernels = TP_TREE_KERNELS(4);
