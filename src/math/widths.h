// How many lanes a kernel takes at once: the one place that decides.
//
// Data lie eight side by side on every machine (tp_packWidth), so that their layout, and the order
// of all operations on them, do not depend on the machine. A kernel goes over the eight in one
// piece with AVX-512, in two with AVX2, in eight without either, and gives the same bits every way.
// A library of kernels is compiled once for each width (sources named *_avx2.c and *_avx512.c,
// which CMake compiles for these), and chosen when it is first needed by what the processor has.

#ifndef TIPPE_SRC_MATH_WIDTHS_H
#define TIPPE_SRC_MATH_WIDTHS_H

#include "tippe/math.h"

// Numbers side by side in memory.
enum { tp_packWidth = 8 };

// The same for floats (math/light_lanes.h).
enum { tp_lightWidth = 16 };

// Wide kernels are compiled into the library.
#if defined(__x86_64__) && defined(__GNUC__)
#define TP_HAS_WIDE_KERNELS 1
#endif

// Whether this build and this machine have kernels of that width: 1 (always), 4 (AVX2) or 8
// (AVX-512).
bool tpHasWidth(int width);

// The largest width that this machine has and that is at most `most`. Arithmetic that is a small
// part of its loop takes at most 4: a few operations of AVX-512 lower the clock for all that is not
// wide around them.
int tpChooseWidth(int most);

#endif
