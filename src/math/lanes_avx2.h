// Four numbers at once with AVX2, each pack in two halves (lanes.h).

#ifndef TIPPE_SRC_MATH_LANES_AVX2_H
#define TIPPE_SRC_MATH_LANES_AVX2_H

#include <immintrin.h>

#include "math/widths.h"

enum { W = 4 };

typedef __m256d wide;
typedef __m256d wideMask;

static inline wide loadWide(const double* p) {
    return _mm256_load_pd(p);
}
static inline void storeWide(double* p, wide a) {
    _mm256_store_pd(p, a);
}
static inline wide loadFloats(const float* p) {
    return _mm256_cvtps_pd(_mm_load_ps(p));
}
static inline void storeFloats(float* p, wide a) {
    _mm_store_ps(p, _mm256_cvtpd_ps(a));
}
static inline wide loadInts(const int32_t* p) {
    return _mm256_cvtepi32_pd(_mm_load_si128((const __m128i*)p));
}
static inline wide wideOf(double a) {
    return _mm256_set1_pd(a);
}
static inline wide wideMax(wide a, wide b) {
    return _mm256_max_pd(a, b);
}
static inline wide wideAbs(wide a) {
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
}
static inline wide wideSqrt(wide a) {
    return _mm256_sqrt_pd(a);
}
static inline wideMask wideGreater(wide a, wide b) {
    return _mm256_cmp_pd(a, b, _CMP_GT_OQ);
}
static inline wide wideSelect(wideMask mask, wide yes, wide no) {
    return _mm256_blendv_pd(no, yes, mask);
}
static inline bool wideAny(wideMask mask) {
    return _mm256_movemask_pd(mask) != 0;
}
static inline unsigned wideBits(wideMask mask) {
    return (unsigned)_mm256_movemask_pd(mask);
}

static inline double wideLargest(wide a) {
    double largest = a[0];
    for (int k = 1; k < W; ++k) {
        largest = a[k] > largest ? a[k] : largest;
    }
    return largest;
}

#include "math/lanes.h"

static inline void transpose(wide r[4]) {
    wide a = _mm256_unpacklo_pd(r[0], r[1]), b = _mm256_unpackhi_pd(r[0], r[1]);
    wide c = _mm256_unpacklo_pd(r[2], r[3]), d = _mm256_unpackhi_pd(r[2], r[3]);
    r[0] = _mm256_permute2f128_pd(a, c, 0x20);
    r[1] = _mm256_permute2f128_pd(b, d, 0x20);
    r[2] = _mm256_permute2f128_pd(a, c, 0x31);
    r[3] = _mm256_permute2f128_pd(b, d, 0x31);
}

static inline void loadLines(const double* base, const int32_t* indices, WideLines* lines) {
    for (int k = 0; k < 4; ++k) {
        const double* line = base + 8 * (ptrdiff_t)indices[k];
        lines->numbers[k] = _mm256_load_pd(line);
        lines->numbers[4 + k] = _mm256_load_pd(line + 4);
    }
    transpose(lines->numbers);
    transpose(lines->numbers + 4);
}

static inline void loadRows(const double* const* rows, WideLines* lines) {
    for (int k = 0; k < 4; ++k) {
        lines->numbers[k] = _mm256_loadu_pd(rows[k]);
        lines->numbers[4 + k] = _mm256_loadu_pd(rows[k] + 4);
    }
    transpose(lines->numbers);
    transpose(lines->numbers + 4);
}

// Four numbers of W rows from `at` on, transposed, and back: rows from `count` on are left.
static inline void loadFours(const double* const* rows, int at, wide fours[4]) {
    for (int k = 0; k < 4; ++k) {
        fours[k] = _mm256_loadu_pd(rows[k] + at);
    }
    transpose(fours);
}

static inline wide gatherWide(const double* const* from) {
    return _mm256_set_pd(*from[3], *from[2], *from[1], *from[0]);
}

static inline void storeFours(double* const* rows, int at, int count, const wide fours[4]) {
    wide r[4] = { fours[0], fours[1], fours[2], fours[3] };
    transpose(r);
    if (count == 4) {
        for (int k = 0; k < 4; ++k) {
            _mm256_storeu_pd(rows[k] + at, r[k]);
        }
        return;
    }
    for (int k = 0; k < count; ++k) {
        _mm256_storeu_pd(rows[k] + at, r[k]);
    }
}

// Six numbers of W rows, and back: rows from `count` on are left. The first four and the last two
// go apart, so that what is read soon after it is written is one write.
static inline void loadSixes(const double* const* rows, wide six[6]) {
    wide a = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(rows[0] + 4)),
                                  _mm_loadu_pd(rows[2] + 4), 1);
    wide b = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(rows[1] + 4)),
                                  _mm_loadu_pd(rows[3] + 4), 1);
    loadFours(rows, 0, six);
    six[4] = _mm256_unpacklo_pd(a, b);
    six[5] = _mm256_unpackhi_pd(a, b);
}

static inline void storeSixes(double* const* rows, int count, const wide six[6]) {
    wide r[4] = { six[0], six[1], six[2], six[3] };
    wide low = _mm256_unpacklo_pd(six[4], six[5]), high = _mm256_unpackhi_pd(six[4], six[5]);
    const __m128d pairs[4] = { _mm256_castpd256_pd128(low), _mm256_castpd256_pd128(high),
                               _mm256_extractf128_pd(low, 1), _mm256_extractf128_pd(high, 1) };
    transpose(r);
    if (count == 4) {
        for (int k = 0; k < 4; ++k) {
            _mm256_storeu_pd(rows[k], r[k]);
            _mm_storeu_pd(rows[k] + 4, pairs[k]);
        }
        return;
    }
    for (int k = 0; k < count; ++k) {
        _mm256_storeu_pd(rows[k], r[k]);
        _mm_storeu_pd(rows[k] + 4, pairs[k]);
    }
}

// The products of four rows of four numbers with r: the sum of the first two and that of the last
// two, added.
static inline void dotFours(const double (*rows)[4], const double* r, double dots[4]) {
    wide by = _mm256_loadu_pd(r);
    wide low = _mm256_hadd_pd(_mm256_loadu_pd(rows[0]) * by, _mm256_loadu_pd(rows[1]) * by);
    wide high = _mm256_hadd_pd(_mm256_loadu_pd(rows[2]) * by, _mm256_loadu_pd(rows[3]) * by);
    wide first = _mm256_permute2f128_pd(low, high, 0x20);
    wide second = _mm256_permute2f128_pd(low, high, 0x31);
    _mm256_storeu_pd(dots, first + second);
}

static inline double dotFour(const double* row, const double* r) {
    wide products = _mm256_loadu_pd(row) * _mm256_loadu_pd(r);
    wide sums = _mm256_hadd_pd(products, products);
    return _mm256_cvtsd_f64(sums) + _mm_cvtsd_f64(_mm256_extractf128_pd(sums, 1));
}

// Adds six numbers per lane to W rows, one row after the other: rows may be the same. Lanes without
// their bit are left out.
static inline void addSixes(double* const* rows, unsigned mask, const wide six[6]) {
    wide r[4] = { six[0], six[1], six[2], six[3] };
    wide low = _mm256_unpacklo_pd(six[4], six[5]), high = _mm256_unpackhi_pd(six[4], six[5]);
    const __m128d pairs[4] = { _mm256_castpd256_pd128(low), _mm256_castpd256_pd128(high),
                               _mm256_extractf128_pd(low, 1), _mm256_extractf128_pd(high, 1) };
    transpose(r);
    for (int k = 0; k < 4; ++k) {
        if (mask >> k & 1) {
            _mm256_storeu_pd(rows[k], r[k] + _mm256_loadu_pd(rows[k]));
            _mm_storeu_pd(rows[k] + 4, pairs[k] + _mm_loadu_pd(rows[k] + 4));
        }
    }
}

// Inlined always: called, it writes the registers to memory first.
__attribute__((always_inline)) static inline void
storeLines(double* base, const int32_t* indices, unsigned mask, const WideLines* lines) {
    WideLines rows = *lines;
    transpose(rows.numbers);
    transpose(rows.numbers + 4);
    for (int k = 0; k < 4; ++k) {
        if (mask >> k & 1) {
            double* line = base + 8 * (ptrdiff_t)indices[k];
            _mm256_store_pd(line, rows.numbers[k]);
            _mm256_store_pd(line + 4, rows.numbers[4 + k]);
        }
    }
}

#endif
