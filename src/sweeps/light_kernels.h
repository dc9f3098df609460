// Ways to do light sweeps: one contact after the other, or eight or sixteen at once, with the same
// bits (math/light_lanes.h).

#ifndef TIPPE_SRC_SWEEPS_LIGHT_KERNELS_H
#define TIPPE_SRC_SWEEPS_LIGHT_KERNELS_H

#include "sweeps/light.h"

// Arrays whose products are asked for at once, at most.
enum { tp_lightFactors = 8 };

// Sums of weight a others[k] and of weight b others[k].
typedef struct tpLightProducts {
    const float *weight, *a, *b;
    float* const* others;
    int count; // of others
    double *ofA, *ofB;
} tpLightProducts;

// What sweeps have changed, and how that differs from the time before.
typedef struct tpLightChange {
    const float *reached, *start; // impulses after and before the sweeps
    const float* lastStep;
    float* step;          // reached - start
    float* stepChange;    // step - lastStep
    float* reachedChange; // reached - lastReached
    float* lastReached;   // receives reached
} tpLightChange;

// Arrays are aligned to 64 bytes, their counts are multiples of sixteen.
typedef struct tpLightKernels {
    const char* name;
    int width; // floats at once
    // Solves the contacts of a run.
    void (*sweepRun)(tpLightSweeper* light, const tpLightRun* run);
    // Adds what impulses have changed since they were loaded to the changes of velocity.
    void (*startRun)(tpLightSweeper* light, const tpLightRun* run);
    void (*products)(const tpLightProducts* products, int count);
    void (*change)(const tpLightChange* change, int count);
    // to -= factors[k] others[k] for each of them
    void (*mix)(float* to, const float* factors, float* const* others, int otherCount, int count);
} tpLightKernels;

// Kernels for what tpGetSweepKernels has for doubles: width 1, 4 or 8; NULL if there are none.
const tpLightKernels* tpGetLightKernels(int width);

// The table of one width, where its functions stand.
#define TP_LIGHT_KERNELS(label, lanes)                                                             \
    {                                                                                              \
        .name = label, .width = lanes, .sweepRun = sweepLightRun, .startRun = startLightRun,       \
        .products = productsLight, .change = changeLight, .mix = mixLight,                         \
    }

extern const tpLightKernels tp_plainLightKernels;
extern const tpLightKernels tp_avx2LightKernels;
extern const tpLightKernels tp_avx512LightKernels;

#endif
