// One float at once, for machines without wide registers (light_lanes.h).

#ifndef TIPPE_SRC_MATH_LIGHT_LANES_PLAIN_H
#define TIPPE_SRC_MATH_LIGHT_LANES_PLAIN_H

#include "math/widths.h"

enum { F = 1 };

typedef float light;
typedef bool lightMask;

static inline light loadLight(const float* p) {
    return *p;
}
static inline void storeLight(float* p, light a) {
    *p = a;
}
static inline light lightOf(float a) {
    return a;
}
static inline light lightMax(light a, light b) {
    return a > b ? a : b;
}
static inline light lightSqrt(light a) {
    return sqrtf(a);
}
static inline lightMask lightGreater(light a, light b) {
    return a > b;
}
static inline light lightSelect(lightMask mask, light yes, light no) {
    return mask ? yes : no;
}
static inline bool lightAny(lightMask mask) {
    return mask;
}
static inline void addProducts(light a, light b, double* sums) {
    sums[0] += (double)a * (double)b;
}

#include "math/light_lanes.h"

static inline void loadLightLines(const float* base, const int32_t* indices, LightLines* lines) {
    for (int k = 0; k < 8; ++k) {
        lines->numbers[k] = base[8 * (ptrdiff_t)indices[0] + k];
    }
}

static inline void storeLightLines(float* base, const int32_t* indices, const LightLines* lines) {
    for (int k = 0; k < 8; ++k) {
        base[8 * (ptrdiff_t)indices[0] + k] = lines->numbers[k];
    }
}

#endif
