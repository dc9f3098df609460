// Factors of rows that are held. This file is compiled for AVX2.

#include <stdbool.h>

#include "complementarity/held_rows.h"

#include "complementarity/held_rows_lanes.h"

const tpHeldKernels tp_avx2HeldKernels = TP_HELD_KERNELS;
