// Eight floats at once with AVX2, each pack in two halves (light_lanes.h).

#ifndef TIPPE_SRC_MATH_LIGHT_LANES_AVX2_H
#define TIPPE_SRC_MATH_LIGHT_LANES_AVX2_H

#include <immintrin.h>

#include "math/widths.h"

enum { F = 8 };

typedef __m256 light;
typedef __m256 lightMask;

static inline light loadLight(const float* p) {
    return _mm256_load_ps(p);
}
static inline void storeLight(float* p, light a) {
    _mm256_store_ps(p, a);
}
static inline light lightOf(float a) {
    return _mm256_set1_ps(a);
}
static inline light lightMax(light a, light b) {
    return _mm256_max_ps(a, b);
}
static inline light lightSqrt(light a) {
    return _mm256_sqrt_ps(a);
}
static inline lightMask lightGreater(light a, light b) {
    return _mm256_cmp_ps(a, b, _CMP_GT_OQ);
}
static inline light lightSelect(lightMask mask, light yes, light no) {
    return _mm256_blendv_ps(no, yes, mask);
}
static inline bool lightAny(lightMask mask) {
    return _mm256_movemask_ps(mask) != 0;
}
static inline void addProducts(light a, light b, double* sums) {
    for (int half = 0; half < 2; ++half) {
        __m128 x = half == 0 ? _mm256_castps256_ps128(a) : _mm256_extractf128_ps(a, 1);
        __m128 y = half == 0 ? _mm256_castps256_ps128(b) : _mm256_extractf128_ps(b, 1);
        double* sum = sums + 4 * half;
        _mm256_storeu_pd(sum, _mm256_loadu_pd(sum) + _mm256_cvtps_pd(x) * _mm256_cvtps_pd(y));
    }
}

#include "math/light_lanes.h"

// Rows become columns: pairs, then pairs of pairs, then halves.
static inline void transposeLight(light r[8]) {
    light t[8], s[8];
    for (int k = 0; k < 8; k += 2) {
        t[k] = _mm256_unpacklo_ps(r[k], r[k + 1]);
        t[k + 1] = _mm256_unpackhi_ps(r[k], r[k + 1]);
    }
    for (int k = 0; k < 8; k += 4) {
        s[k] = _mm256_shuffle_ps(t[k], t[k + 2], 0x44);
        s[k + 1] = _mm256_shuffle_ps(t[k], t[k + 2], 0xee);
        s[k + 2] = _mm256_shuffle_ps(t[k + 1], t[k + 3], 0x44);
        s[k + 3] = _mm256_shuffle_ps(t[k + 1], t[k + 3], 0xee);
    }
    for (int k = 0; k < 4; ++k) {
        r[k] = _mm256_permute2f128_ps(s[k], s[k + 4], 0x20);
        r[k + 4] = _mm256_permute2f128_ps(s[k], s[k + 4], 0x31);
    }
}

static inline void loadLightLines(const float* base, const int32_t* indices, LightLines* lines) {
    for (int k = 0; k < 8; ++k) {
        lines->numbers[k] = _mm256_load_ps(base + 8 * (ptrdiff_t)indices[k]);
    }
    transposeLight(lines->numbers);
}

static inline void storeLightLines(float* base, const int32_t* indices, const LightLines* lines) {
    LightLines rows = *lines;
    transposeLight(rows.numbers);
    for (int k = 0; k < 8; ++k) {
        _mm256_store_ps(base + 8 * (ptrdiff_t)indices[k], rows.numbers[k]);
    }
}

#endif
