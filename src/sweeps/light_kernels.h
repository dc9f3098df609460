// Ways to do light sweeps: one contact after the other, or eight or sixteen at once, with the same
// bits (math/light_lanes.h).

#ifndef TIPPE_SRC_SWEEPS_LIGHT_KERNELS_H
#define TIPPE_SRC_SWEEPS_LIGHT_KERNELS_H

#include "sweeps/light.h"

// Arrays are aligned to 64 bytes, their counts are multiples of sixteen.
typedef struct tpLightKernels {
    const char* name;
    int width; // floats at once
    // Solves the contacts of a run.
    void (*sweepRun)(tpLightSweeper* light, const tpLightRun* run);
    // Adds what impulses have changed since they were loaded to the changes of velocity.
    void (*startRun)(tpLightSweeper* light, const tpLightRun* run);
    // The same for all packs of round contacts.
    void (*sweepRounds)(tpLightSweeper* light);
    void (*startRounds)(tpLightSweeper* light);
    // Sum of weight (a - b)^2.
    double (*measure)(const float* weight, const float* a, const float* b, int count);
    // values += part (values - last), and last = values as they were
    void (*advance)(float* values, float* last, float part, int count);
} tpLightKernels;

// Kernels for what tpGetSweepKernels has for doubles: width 1, 4 or 8; NULL if there are none.
const tpLightKernels* tpGetLightKernels(int width);

// The table of one width, where its functions stand.
#define TP_LIGHT_KERNELS(label, lanes)                                                             \
    {                                                                                              \
        .name = label, .width = lanes, .sweepRun = sweepLightRun, .startRun = startLightRun,       \
        .sweepRounds = sweepRounds, .startRounds = startRounds, .measure = measureLight,           \
        .advance = advanceLight,                                                                   \
    }

extern const tpLightKernels tp_plainLightKernels;
extern const tpLightKernels tp_avx2LightKernels;
extern const tpLightKernels tp_avx512LightKernels;

#endif
