// Eight numbers at once with AVX-512 (lanes.h).

#ifndef TIPPE_SRC_MATH_LANES_AVX512_H
#define TIPPE_SRC_MATH_LANES_AVX512_H

#include <immintrin.h>

#include "math/widths.h"

enum { W = 8 };

typedef __m512d wide;
typedef __mmask8 wideMask;

static inline wide loadWide(const double* p) {
    return _mm512_load_pd(p);
}
static inline void storeWide(double* p, wide a) {
    _mm512_store_pd(p, a);
}
static inline wide loadFloats(const float* p) {
    return _mm512_cvtps_pd(_mm256_load_ps(p));
}
static inline void storeFloats(float* p, wide a) {
    _mm256_store_ps(p, _mm512_cvtpd_ps(a));
}
static inline wide loadInts(const int32_t* p) {
    return _mm512_cvtepi32_pd(_mm256_load_si256((const __m256i*)p));
}
static inline wide wideOf(double a) {
    return _mm512_set1_pd(a);
}
static inline wide wideMax(wide a, wide b) {
    return _mm512_max_pd(a, b);
}
static inline wide wideAbs(wide a) {
    return _mm512_abs_pd(a);
}
static inline wide wideSqrt(wide a) {
    return _mm512_sqrt_pd(a);
}
static inline wideMask wideGreater(wide a, wide b) {
    return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ);
}
static inline wide wideSelect(wideMask mask, wide yes, wide no) {
    return _mm512_mask_blend_pd(mask, no, yes);
}
static inline bool wideAny(wideMask mask) {
    return mask != 0;
}
static inline unsigned wideBits(wideMask mask) {
    return mask;
}

static inline double wideLargest(wide a) {
    double largest = a[0];
    for (int k = 1; k < W; ++k) {
        largest = a[k] > largest ? a[k] : largest;
    }
    return largest;
}

#include "math/lanes.h"

// Rows become columns: pairs, then pairs of pairs, then halves.
static inline void transpose(wide r[8]) {
    wide t[8], s[8];
    for (int k = 0; k < 8; k += 2) {
        t[k] = _mm512_unpacklo_pd(r[k], r[k + 1]);
        t[k + 1] = _mm512_unpackhi_pd(r[k], r[k + 1]);
    }
    const __m512i low = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
    const __m512i high = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
    for (int k = 0; k < 8; k += 4) {
        for (int i = 0; i < 2; ++i) {
            s[k + i] = _mm512_permutex2var_pd(t[k + i], low, t[k + i + 2]);
            s[k + i + 2] = _mm512_permutex2var_pd(t[k + i], high, t[k + i + 2]);
        }
    }
    for (int k = 0; k < 4; ++k) {
        r[k] = _mm512_shuffle_f64x2(s[k], s[k + 4], 0x44);
        r[k + 4] = _mm512_shuffle_f64x2(s[k], s[k + 4], 0xee);
    }
}

static inline void loadLines(const double* base, const int32_t* indices, WideLines* lines) {
    for (int k = 0; k < 8; ++k) {
        lines->numbers[k] = _mm512_load_pd(base + 8 * (ptrdiff_t)indices[k]);
    }
    transpose(lines->numbers);
}

static inline void loadRows(const double* const* rows, WideLines* lines) {
    for (int k = 0; k < 8; ++k) {
        lines->numbers[k] = _mm512_loadu_pd(rows[k]);
    }
    transpose(lines->numbers);
}

// Inlined always: called, it writes the registers to memory first.
__attribute__((always_inline)) static inline void
storeLines(double* base, const int32_t* indices, unsigned mask, const WideLines* lines) {
    WideLines rows = *lines;
    transpose(rows.numbers);
    for (int k = 0; k < 8; ++k) {
        if (mask >> k & 1) {
            _mm512_store_pd(base + 8 * (ptrdiff_t)indices[k], rows.numbers[k]);
        }
    }
}

#endif
