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
    double even = 0.0, odd = 0.0;
    int i = 0;
    for (; i + 1 < n; i += 2) {
        even += x[i] * y[i];
        odd += x[i + 1] * y[i + 1];
    }
    return even + odd + (i < n ? x[i] * y[i] : 0.0);
}

static inline double tpPair_Sum(tpPair pair) {
    return pair[0] + pair[1];
}

#endif
