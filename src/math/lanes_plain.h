// One number at once, for machines without wide registers: the same lines with one lane (lanes.h).

#ifndef TIPPE_SRC_MATH_LANES_PLAIN_H
#define TIPPE_SRC_MATH_LANES_PLAIN_H

#include "math/widths.h"

enum { W = 1 };

typedef double wide;
typedef bool wideMask;

static inline wide loadWide(const double* p) {
    return *p;
}
static inline void storeWide(double* p, wide a) {
    *p = a;
}
static inline wide loadFloats(const float* p) {
    return *p;
}
static inline void storeFloats(float* p, wide a) {
    *p = (float)a;
}
static inline wide loadInts(const int32_t* p) {
    return *p;
}
static inline wide wideOf(double a) {
    return a;
}
static inline wide wideMax(wide a, wide b) {
    return a > b ? a : b;
}
static inline wide wideAbs(wide a) {
    return fabs(a);
}
static inline wide wideSqrt(wide a) {
    return sqrt(a);
}
static inline wideMask wideGreater(wide a, wide b) {
    return a > b;
}
static inline wide wideSelect(wideMask mask, wide yes, wide no) {
    return mask ? yes : no;
}
static inline bool wideAny(wideMask mask) {
    return mask;
}
static inline unsigned wideBits(wideMask mask) {
    return mask ? 1u : 0u;
}
static inline double wideLargest(wide a) {
    return a;
}

#include "math/lanes.h"

static inline void loadLines(const double* base, const int32_t* indices, WideLines* lines) {
    for (int k = 0; k < 8; ++k) {
        lines->numbers[k] = base[8 * (ptrdiff_t)indices[0] + k];
    }
}

static inline void loadRows(const double* const* rows, WideLines* lines) {
    for (int k = 0; k < 8; ++k) {
        lines->numbers[k] = rows[0][k];
    }
}

static inline void loadFours(const double* const* rows, int at, wide fours[4]) {
    for (int k = 0; k < 4; ++k) {
        fours[k] = rows[0][at + k];
    }
}

static inline wide gatherWide(const double* const* from) {
    return *from[0];
}

static inline void storeFours(double* const* rows, int at, int count, const wide fours[4]) {
    for (int k = 0; count > 0 && k < 4; ++k) {
        rows[0][at + k] = fours[k];
    }
}

static inline void loadSixes(const double* const* rows, wide six[6]) {
    for (int k = 0; k < 6; ++k) {
        six[k] = rows[0][k];
    }
}

static inline void storeSixes(double* const* rows, int count, const wide six[6]) {
    for (int k = 0; count > 0 && k < 6; ++k) {
        rows[0][k] = six[k];
    }
}

static inline double dotFour(const double* row, const double* r) {
    return (row[0] * r[0] + row[1] * r[1]) + (row[2] * r[2] + row[3] * r[3]);
}

static inline void dotFours(const double (*rows)[4], const double* r, double dots[4]) {
    for (int k = 0; k < 4; ++k) {
        dots[k] = dotFour(rows[k], r);
    }
}

static inline void addSixes(double* const* rows, unsigned mask, const wide six[6]) {
    for (int k = 0; (mask & 1) != 0 && k < 6; ++k) {
        rows[0][k] = six[k] + rows[0][k];
    }
}

static inline void storeLines(double* base, const int32_t* indices, unsigned mask,
                              const WideLines* lines) {
    for (int k = 0; (mask & 1) != 0 && k < 8; ++k) {
        base[8 * (ptrdiff_t)indices[0] + k] = lines->numbers[k];
    }
}

#endif
