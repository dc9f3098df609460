// Numbers as unevaluated sums of two doubles, some 106 bits: sums and products of doubles without
// error [Dekker71; Knuth98, sec. 4.2.2].
//
// Only additions and multiplications in IEEE double precision are used, never a fused multiply-add:
// the result is the same bits on every machine.

#ifndef TIPPE_MATH_TWO_H
#define TIPPE_MATH_TWO_H

// high is the double nearest to high + low.
typedef struct tpTwo {
    double high, low;
} tpTwo;

static inline tpTwo tpMakeTwo(double high, double low) {
    tpTwo two;
    two.high = high;
    two.low = low;
    return two;
}

// a + b, exactly.
static inline tpTwo tpTwoSum(double a, double b) {
    double sum = a + b, part = sum - a;
    return tpMakeTwo(sum, (a - (sum - part)) + (b - part));
}

// a + b, exactly, if |a| >= |b| or a is 0.
static inline tpTwo tpTwoSumOrdered(double a, double b) {
    double sum = a + b;
    return tpMakeTwo(sum, b - (sum - a));
}

// The upper 26 bits of a number below 2^996.
static inline double tpUpperHalf(double a) {
    double scaled = 134217729.0 * a; // 2^27 + 1
    return scaled - (scaled - a);
}

// a b, exactly, if it neither overflows nor comes near the smallest numbers; |a|, |b| < 2^996.
static inline tpTwo tpTwoProduct(double a, double b) {
    double product = a * b;
    double ah = tpUpperHalf(a), al = a - ah, bh = tpUpperHalf(b), bl = b - bh;
    return tpMakeTwo(product, al * bl - (((product - ah * bh) - al * bh) - ah * bl));
}

// The operations below err by a few units of 2^-104, relative to the result; sums of numbers of
// opposite signs relative to the larger one.

static inline tpTwo tpAddTwo(tpTwo a, tpTwo b) {
    tpTwo sum = tpTwoSum(a.high, b.high);
    return tpTwoSumOrdered(sum.high, sum.low + (a.low + b.low));
}

static inline tpTwo tpNegTwo(tpTwo a) {
    return tpMakeTwo(-a.high, -a.low);
}

static inline tpTwo tpScaleTwo(double s, tpTwo a) {
    tpTwo product = tpTwoProduct(s, a.high);
    return tpTwoSumOrdered(product.high, product.low + s * a.low);
}

static inline tpTwo tpMulTwo(tpTwo a, tpTwo b) {
    tpTwo product = tpTwoProduct(a.high, b.high);
    return tpTwoSumOrdered(product.high, product.low + (a.high * b.low + a.low * b.high));
}

static inline tpTwo tpDivTwo(tpTwo a, tpTwo b) {
    double quotient = a.high / b.high;
    tpTwo product = tpTwoProduct(quotient, b.high);
    double rest = (((a.high - product.high) - product.low) + a.low) - quotient * b.low;
    return tpTwoSumOrdered(quotient, rest / b.high);
}

#endif
