// Two numbers side by side, in one register of any processor that the library runs on.
//
// Rows of mechanisms have six numbers per body, which is three pairs. A product of a row and a
// velocity is two sums that go side by side, of the even and of the odd numbers: the bits are those
// of the same two sums in plain C.

#ifndef TIPPE_SRC_MATH_PAIRS_H
#define TIPPE_SRC_MATH_PAIRS_H

#include <string.h>

typedef double tpPair __attribute__((vector_size(16)));

static inline tpPair tpLoadPair(const double* numbers) {
    tpPair pair;
    memcpy(&pair, numbers, sizeof(pair));
    return pair;
}

// Six numbers.
typedef struct tpSix {
    tpPair a, b, c;
} tpSix;

static inline tpSix tpLoadSix(const double* numbers) {
    return (tpSix){ tpLoadPair(numbers), tpLoadPair(numbers + 2), tpLoadPair(numbers + 4) };
}

// The even and the odd products, each summed up.
static inline tpPair tpSix_Products(const double* row, tpSix x) {
    return tpLoadPair(row) * x.a + tpLoadPair(row + 2) * x.b + tpLoadPair(row + 4) * x.c;
}

// The same, added to what is there.
static inline tpPair tpSix_AddProducts(tpPair sum, const double* row, tpSix x) {
    return sum + tpLoadPair(row) * x.a + tpLoadPair(row + 2) * x.b + tpLoadPair(row + 4) * x.c;
}

// The product of two rows of n numbers, of which the even and the odd ones are summed up apart.
static inline double tpDotNumbers(int n, const double* x, const double* y) {
    tpPair sum = { 0.0, 0.0 };
    int i = 0;
    for (; i + 1 < n; i += 2) {
        sum += tpLoadPair(x + i) * tpLoadPair(y + i);
    }
    return sum[0] + sum[1] + (i < n ? x[i] * y[i] : 0.0);
}

// y += a x, of n numbers.
static inline void tpAddNumbers(int n, double a, const double* x, double* y) {
    int i = 0;
    for (; i + 1 < n; i += 2) {
        tpPair sum = tpLoadPair(y + i) + a * tpLoadPair(x + i);
        memcpy(y + i, &sum, sizeof(sum));
    }
    if (i < n) {
        y[i] += a * x[i];
    }
}

// y += A x, of n numbers; A is dense, row by row. Four rows at once.
static inline void tpAddProduct(int n, const double* A, const double* x, double* y) {
    int i = 0;
    size_t stride = (size_t)n;
    for (; i + 3 < n; i += 4, A += 4 * stride) {
        const double *b = A + stride, *c = b + stride, *d = c + stride;
        tpPair sums[4] = { { 0.0, 0.0 } };
        int k = 0;
        for (; k + 1 < n; k += 2) {
            tpPair by = tpLoadPair(x + k);
            sums[0] += tpLoadPair(A + k) * by;
            sums[1] += tpLoadPair(b + k) * by;
            sums[2] += tpLoadPair(c + k) * by;
            sums[3] += tpLoadPair(d + k) * by;
        }
        const double rest[4] = { k < n ? A[k] * x[k] : 0.0, k < n ? b[k] * x[k] : 0.0,
                                 k < n ? c[k] * x[k] : 0.0, k < n ? d[k] * x[k] : 0.0 };
        for (int j = 0; j < 4; ++j) {
            y[i + j] += sums[j][0] + sums[j][1] + rest[j];
        }
    }
    for (; i < n; ++i, A += stride) {
        y[i] += tpDotNumbers(n, A, x);
    }
}

static inline double tpPair_Sum(tpPair pair) {
    return pair[0] + pair[1];
}

#endif
