// Sixteen floats at once with AVX-512 (light_lanes.h).

#ifndef TIPPE_SRC_MATH_LIGHT_LANES_AVX512_H
#define TIPPE_SRC_MATH_LIGHT_LANES_AVX512_H

#include <immintrin.h>

#include "math/widths.h"

enum { F = 16 };

typedef __m512 light;
typedef __mmask16 lightMask;

static inline light loadLight(const float* p) {
    return _mm512_load_ps(p);
}
static inline void storeLight(float* p, light a) {
    _mm512_store_ps(p, a);
}
static inline light lightOf(float a) {
    return _mm512_set1_ps(a);
}
static inline light lightMax(light a, light b) {
    return _mm512_max_ps(a, b);
}
static inline light lightSqrt(light a) {
    return _mm512_sqrt_ps(a);
}
static inline lightMask lightGreater(light a, light b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
}
static inline light lightSelect(lightMask mask, light yes, light no) {
    return _mm512_mask_blend_ps(mask, no, yes);
}
static inline bool lightAny(lightMask mask) {
    return mask != 0;
}
static inline void addProducts(light a, light b, double* sums) {
    __m512d x = _mm512_cvtps_pd(_mm512_castps512_ps256(a));
    __m512d y = _mm512_cvtps_pd(_mm512_castps512_ps256(b));
    _mm512_storeu_pd(sums, _mm512_loadu_pd(sums) + x * y);
    x = _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1));
    y = _mm512_cvtps_pd(_mm512_extractf32x8_ps(b, 1));
    _mm512_storeu_pd(sums + 8, _mm512_loadu_pd(sums + 8) + x * y);
}

#include "math/light_lanes.h"

// Rows become columns in either half: pairs, then pairs of pairs, then quarters.
static inline void transposeLight(light r[8]) {
    const __m512i low = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
    const __m512i high = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
    light t[8], s[8];
    for (int k = 0; k < 8; k += 2) {
        t[k] = _mm512_unpacklo_ps(r[k], r[k + 1]);
        t[k + 1] = _mm512_unpackhi_ps(r[k], r[k + 1]);
    }
    for (int k = 0; k < 8; k += 4) {
        s[k] = _mm512_shuffle_ps(t[k], t[k + 2], 0x44);
        s[k + 1] = _mm512_shuffle_ps(t[k], t[k + 2], 0xee);
        s[k + 2] = _mm512_shuffle_ps(t[k + 1], t[k + 3], 0x44);
        s[k + 3] = _mm512_shuffle_ps(t[k + 1], t[k + 3], 0xee);
    }
    for (int k = 0; k < 4; ++k) {
        __m512d a = _mm512_castps_pd(s[k]), b = _mm512_castps_pd(s[k + 4]);
        r[k] = _mm512_castpd_ps(_mm512_permutex2var_pd(a, low, b));
        r[k + 4] = _mm512_castpd_ps(_mm512_permutex2var_pd(a, high, b));
    }
}

static inline void loadLightLines(const float* base, const int32_t* indices, LightLines* lines) {
    for (int k = 0; k < 8; ++k) {
        __m256 first = _mm256_load_ps(base + 8 * (ptrdiff_t)indices[k]);
        __m256 second = _mm256_load_ps(base + 8 * (ptrdiff_t)indices[k + 8]);
        lines->numbers[k] = _mm512_insertf32x8(_mm512_castps256_ps512(first), second, 1);
    }
    transposeLight(lines->numbers);
}

static inline void storeLightLines(float* base, const int32_t* indices, const LightLines* lines) {
    LightLines rows = *lines;
    transposeLight(rows.numbers);
    for (int k = 0; k < 8; ++k) {
        light row = rows.numbers[k];
        _mm256_store_ps(base + 8 * (ptrdiff_t)indices[k], _mm512_castps512_ps256(row));
        _mm256_store_ps(base + 8 * (ptrdiff_t)indices[k + 8], _mm512_extractf32x8_ps(row, 1));
    }
}

#endif
