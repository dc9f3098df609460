// Tables of the elementary functions, written by tools/make_elementary_tables.py.

#ifndef TIPPE_MATH_ELEMENTARY_TABLES_H
#define TIPPE_MATH_ELEMENTARY_TABLES_H

#include <stdint.h>

#include "math/two.h"

// A factor of at most 9 bits near 1 / z for z in an interval of [1, 2), and minus its logarithm.
typedef struct tpLogEntry {
    double factor;
    double high; // a multiple of 2^-42
    double low;
} tpLogEntry;

extern const tpTwo tp_exponentials[64];     // 2^(j / 64)
extern const tpLogEntry tp_logarithms[128]; // z from 1 + j / 128
extern const tpTwo tp_arctangents[65];      // of j / 64
extern const uint32_t tp_twoOverPi[38];     // 2 / pi, bits after the point

#endif
