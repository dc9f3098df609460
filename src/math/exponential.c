// exp, log, and what is made of them.
//
// exp: x = (64 m + j) ln 2 / 64 + r with |r| < 0.0055, so exp x = 2^m 2^(j / 64) (1 + r + r^2 / 2 +
// ...), the middle factor from a table. log: x = 2^k z, and z times a factor c of few bits is 1 + r
// with |r| < 0.007, so log x = k ln 2 - log c + (r - r^2 / 2 + ...). Both are computed as sums of
// two doubles where pow needs that: an error of log grows with the exponent [Tang89; Tang90].

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "math/elementary.h"
#include "math/elementary_tables.h"

// ln 2 / 64 and ln 2 in two parts; the first has so few bits that products with the whole numbers
// that occur are exact.
static const double stepHigh = 0x1.62e42fefap-7, stepLow = 0x1.cf79abc9e3b3ap-46;
static const double ln2High = 0x1.62e42fefa38p-1, ln2Low = 0x1.ef35793c7673p-45;
static const double stepsPerUnit = 0x1.71547652b82fep+6; // 64 / ln 2

static const double largestExponent = 0x1.62e42fefa39efp+9; // exp overflows beyond
static const double leastExponent = -746.0;                 // exp is 0 below

static uint64_t bitsOf(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static double fromBits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

// x 2^m for m from -1100 to 1024.
static double scaled(double x, int m) {
    if (m > 1023) {
        return x * 0x1p1023 * 2.0;
    }
    if (m < -1022) {
        return x * fromBits((uint64_t)(1023 + m + 200) << 52) * 0x1p-200;
    }
    return x * fromBits((uint64_t)(1023 + m) << 52);
}

// exp(x) = (high + low) 2^m for x within the limits above.
static tpTwo exponential(tpTwo x, int* m) {
    double k = (x.high * stepsPerUnit + 0x1.8p52) - 0x1.8p52;
    tpTwo r = tpTwoSumOrdered(x.high - k * stepHigh, x.low - k * stepLow);
    int index = (int)k;
    tpTwo base = tp_exponentials[index & 63];
    *m = (index - (index & 63)) / 64;
    double y = r.high;
    double rest =
        r.low +
        y * y * (0.5 + y * (1.0 / 6.0 + y * (1.0 / 24.0 + y * (1.0 / 120.0 + y * (1.0 / 720.0)))));
    tpTwo lead = tpTwoProduct(base.high, y);
    double small = lead.low + (base.low * (1.0 + y) + base.high * rest);
    tpTwo sum = tpTwoSumOrdered(base.high, lead.high);
    return tpTwoSumOrdered(sum.high, sum.low + small);
}

// log(x) for a positive, finite x.
static tpTwo logarithm(double x) {
    int k = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        k = -54;
    }
    uint64_t bits = bitsOf(x);
    int j = (int)(bits >> 45 & 127);
    k += (int)(bits >> 52) - 1023 + (j >= 53 ? 1 : 0);
    uint64_t exponent = j >= 53 ? 1022 : 1023;
    double z = fromBits((bits & UINT64_C(0xfffffffffffff)) | exponent << 52);
    const tpLogEntry* entry = &tp_logarithms[j];
    // z c - 1: the product of the upper bits is exact, and so is its difference from 1.
    double upper = fromBits(bitsOf(z) & ~UINT64_C(0x7ffffff));
    tpTwo r = tpTwoSum(upper * entry->factor - 1.0, (z - upper) * entry->factor);
    double y = r.high;
    tpTwo square = tpTwoProduct(y, y);
    double series =
        1.0 / 3.0 +
        y * (-0.25 +
             y * (0.2 + y * (-1.0 / 6.0 + y * (1.0 / 7.0 + y * (-0.125 + y * (1.0 / 9.0))))));
    tpTwo sum = tpTwoSum(k * ln2High + entry->high, y);
    tpTwo next = tpTwoSum(sum.low, -0.5 * square.high);
    double rest = (next.low - 0.5 * square.low) + (r.low - y * r.low) + (k * ln2Low + entry->low);
    next = tpTwoSum(next.high, y * square.high * series);
    sum = tpTwoSum(sum.high, next.high);
    return tpTwoSumOrdered(sum.high, sum.low + (next.low + rest));
}

double tpExp(double x) {
    if (isnan(x)) {
        return x;
    }
    if (x > largestExponent) {
        return INFINITY;
    }
    if (x < leastExponent) {
        return 0.0;
    }
    int m;
    tpTwo y = exponential(tpMakeTwo(x, 0.0), &m);
    return scaled(y.high, m);
}

double tpExpm1(double x) {
    if (fabs(x) < 0.25) {
        if (fabs(x) < 0x1p-54) {
            return x;
        }
        double tail = 0.0;
        for (int k = 15; k > 2; --k) { // 1 / 3! + x / 4! + ..., nested
            tail = (1.0 + x * tail) / k;
        }
        tpTwo square = tpTwoProduct(0.5 * x, x);
        tpTwo sum = tpTwoSumOrdered(x, square.high);
        return sum.high + (sum.low + (square.low + square.high * x * tail));
    }
    if (isnan(x) || x > largestExponent) {
        return x > 0.0 ? INFINITY : x;
    }
    if (x < -40.0) {
        return -1.0;
    }
    int m;
    tpTwo y = exponential(tpMakeTwo(x, 0.0), &m);
    if (m > 100) {
        return scaled(y.high, m);
    }
    tpTwo sum = tpTwoSum(scaled(y.high, m), -1.0);
    return sum.high + (sum.low + scaled(y.low, m));
}

double tpLog(double x) {
    if (!(x > 0.0)) {
        return x == 0.0 ? -INFINITY : isnan(x) ? x : NAN;
    }
    return isinf(x) ? x : logarithm(x).high;
}

typedef enum parity { notWhole, even, odd } parity;

static parity parityOf(double y) {
    double size = fabs(y);
    if (size >= 0x1p53) {
        return even;
    }
    if (size != floor(size)) {
        return notWhole;
    }
    return ((uint64_t)size & 1) != 0 ? odd : even;
}

// x^y where x or y is 0, infinite or not a number.
static double powerOfSpecial(double x, double y) {
    if (y == 0.0 || x == 1.0) {
        return 1.0;
    }
    if (isnan(x) || isnan(y)) {
        return x + y;
    }
    if (isinf(y)) {
        double size = fabs(x);
        return size == 1.0 ? 1.0 : (size > 1.0) == (y > 0.0) ? INFINITY : 0.0;
    }
    double size = (x == 0.0) == (y > 0.0) ? 0.0 : INFINITY;
    return parityOf(y) == odd ? copysign(size, x) : size;
}

double tpPow(double x, double y) {
    if (!isfinite(x) || !isfinite(y) || x == 0.0 || y == 0.0) {
        return powerOfSpecial(x, y);
    }
    double sign = 1.0;
    if (x < 0.0) {
        parity p = parityOf(y);
        if (p == notWhole) {
            return NAN;
        }
        sign = p == odd ? -1.0 : 1.0;
        x = -x;
    }
    tpTwo log = logarithm(x);
    double size = log.high * y;
    if (size > 710.0) {
        return sign * INFINITY;
    }
    if (size < leastExponent) {
        return sign * 0.0;
    }
    if (fabs(size) < 0x1p-60) {
        return sign;
    }
    int m;
    tpTwo power = exponential(tpScaleTwo(y, log), &m);
    return sign * scaled(power.high, m);
}

// Hyperbolic ------------------------------------------------------------------------------------

// (exp(x) + sign exp(-x)) / 2 for x >= 0, finite. From 40 on the second term is beyond the last
// place.
static double halfSum(double x, double sign) {
    if (x > 711.0) {
        return INFINITY;
    }
    int m;
    tpTwo e = exponential(tpMakeTwo(x, 0.0), &m);
    tpTwo up = tpMakeTwo(scaled(e.high, m - 1), scaled(e.low, m - 1));
    return x < 40.0 ? tpAddTwo(up, tpDivTwo(tpMakeTwo(0.25 * sign, 0.0), up)).high : up.high;
}

double tpSinh(double x) {
    double size = fabs(x);
    if (!(size < INFINITY) || size < 0x1p-27) {
        return x;
    }
    if (size < 0.5) {
        double z = x * x, tail = 0.0;
        for (int k = 15; k > 1; k -= 2) { // z / 3! + z^2 / 5! + ..., nested
            tail = z * (1.0 + tail) / (k * (k - 1));
        }
        return x + x * tail;
    }
    return copysign(halfSum(size, -1.0), x);
}

double tpCosh(double x) {
    double size = fabs(x);
    return size < INFINITY ? halfSum(size, 1.0) : size;
}

double tpTanh(double x) {
    double size = fabs(x);
    if (!(size > 0x1p-27)) {
        return x;
    }
    if (size > 20.0) {
        return copysign(1.0, x);
    }
    double e = tpExpm1(2.0 * size);
    return copysign(e / (e + 2.0), x);
}
