// sin, cos, tan.
//
// The argument is brought to r = x - k pi / 2 with |r| <= pi / 4, as a sum of two doubles; then the
// Taylor series of sin and cos about zero serve, whose coefficients need no table: up to r^17 and
// r^18 they leave out less than 1e-18. Arguments above 2^20 are multiplied by enough bits of 2 /
// pi, in integers [PayneHanek83].

#include <math.h>
#include <string.h>

#include "math/elementary.h"
#include "math/elementary_tables.h"

// pi / 2 in parts of 33 bits, so that products with whole numbers below 2^20 are exact, and what is
// left.
static const double halfPi1 = 0x1.921fb544p+0, halfPi2 = 0x1.0b4611a6p-34;
static const double halfPi3 = 0x1.3198a2ep-69, halfPi4 = 0x1.b839a252049c1p-104;
static const double twoOverPi = 0x1.45f306dc9c883p-1;
static const double quarterPi = 0x1.921fb54442d18p-1;
static const double largeArgument = 0x1p20;

// An argument within a quarter turn about zero.
typedef struct angle {
    tpTwo r;
    unsigned quadrant; // k mod 4
} angle;

// Adding and taking away 1.5 2^52 rounds to a whole number.
static double nearestWhole(double x) {
    return (x + 0x1.8p52) - 0x1.8p52;
}

static angle reduceSmall(double x) {
    double k = nearestWhole(x * twoOverPi);
    tpTwo r = tpTwoSum(x - k * halfPi1, -k * halfPi2); // the first difference is exact
    tpTwo next = tpTwoSum(r.low, -k * halfPi3);
    tpTwo sum = tpTwoSumOrdered(r.high, next.high);
    angle reduced;
    reduced.r = tpTwoSumOrdered(sum.high, sum.low + (next.low - k * halfPi4));
    reduced.quadrant = (unsigned)((int)k & 3);
    return reduced;
}

// A word of 64 bits of 2 / pi that starts at a bit after the point.
static uint64_t bitsOfTwoOverPi(int start) {
    int word = start / 32, shift = start % 32;
    uint64_t upper = (uint64_t)tp_twoOverPi[word] << 32 | tp_twoOverPi[word + 1];
    return shift == 0 ? upper : upper << shift | tp_twoOverPi[word + 2] >> (32 - shift);
}

static uint64_t upperProduct(uint64_t a, uint64_t b) {
    uint64_t al = a & 0xffffffffu, ah = a >> 32, bl = b & 0xffffffffu, bh = b >> 32;
    uint64_t middle = ah * bl + (al * bl >> 32);
    uint64_t other = al * bh + (middle & 0xffffffffu);
    return ah * bh + (middle >> 32) + (other >> 32);
}

// x = m 2^e with a whole m below 2^53. Of m 2^e 2 / pi all bits above 4 are turns, and left out
// from the start: what is multiplied begins with the bit of 2 / pi that has the value 2^(-e + 2).
static angle reduceLarge(double x) {
    uint64_t bits;
    double size = fabs(x);
    memcpy(&bits, &size, sizeof(bits));
    int e = (int)(bits >> 52) - 1075;
    uint64_t m = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(0x10000000000000);
    // The first bit after the point is 2^-1; a start before the point does not come up, since e >=
    // -32.
    int start = e - 2 > 0 ? e - 2 : 0;
    int dropped = e - 2 > 0 ? 0 : 2 - e; // bits that m has to be moved down, at most 34
    uint64_t a = bitsOfTwoOverPi(start), b = bitsOfTwoOverPi(start + 64);
    uint64_t c = bitsOfTwoOverPi(start + 128);
    // m (a + b 2^-64 + c 2^-128), the low 64 bits of its whole part and 128 after: weights 4 2^-64
    // a unit of `whole`.
    uint64_t whole = m * a, first = m * b;
    uint64_t second = upperProduct(m, c);
    uint64_t carry = upperProduct(m, b);
    whole += carry;
    uint64_t third = m * c;
    first += second;
    whole += first < second ? 1 : 0;
    if (dropped > 0) {
        uint64_t above = upperProduct(m, a) + (m * a > whole ? 1 : 0);
        third = third >> dropped | first << (64 - dropped);
        first = first >> dropped | whole << (64 - dropped);
        whole = whole >> dropped | above << (64 - dropped);
    }
    unsigned quadrant = (unsigned)(whole >> 62);
    // The fraction of a quarter turn, rounded to the nearest whole one.
    uint64_t high = whole << 2 | first >> 62, low = first << 2 | third >> 62;
    int isNegative = (int)(high >> 63);
    if (isNegative) {
        quadrant = (quadrant + 1) & 3;
        high = ~high + (low == 0 ? 1 : 0);
        low = ~low + 1;
    }
    // Leading zeros go first, so that no bits are lost in the doubles.
    int lost = 0;
    while (lost < 127 && high >> 63 == 0) {
        high = high << 1 | low >> 63;
        low <<= 1;
        ++lost;
    }
    tpTwo fraction = tpTwoSumOrdered((double)(high >> 11) * 0x1p-53,
                                     (double)((high & 0x7ff) << 42 | low >> 22) * 0x1p-106);
    tpTwo r = tpMulTwo(fraction, tpMakeTwo(0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54));
    double scale = ldexp(isNegative ? -1.0 : 1.0, -lost);
    angle reduced = { { r.high * scale, r.low * scale }, quadrant };
    if (x < 0.0) {
        reduced.r = tpNegTwo(reduced.r);
        reduced.quadrant = (4 - quadrant) & 3;
    }
    return reduced;
}

static angle reduce(double x) {
    if (fabs(x) <= quarterPi) {
        angle same = { { x, 0.0 }, 0 };
        return same;
    }
    return fabs(x) < largeArgument ? reduceSmall(x) : reduceLarge(x);
}

// sin(r), sorted: the series beyond r is added to the small part first.
static tpTwo sineSeries(tpTwo r) {
    double x = r.high, z = x * x, w = z * z;
    double even =
        -1.0 / 6.0 + w * (-1.0 / 5040.0 + w * (-1.0 / 39916800.0 + w * (-1.0 / 1307674368000.0)));
    double odd = 1.0 / 120.0 +
                 w * (1.0 / 362880.0 + w * (1.0 / 6227020800.0 + w * (1.0 / 355687428096000.0)));
    double rest = x * z * (even + z * odd) + r.low * (1.0 - 0.5 * z);
    return tpTwoSumOrdered(x, rest);
}

static tpTwo cosineSeries(tpTwo r) {
    double x = r.high, z = x * x, w = z * z;
    double even =
        1.0 / 24.0 + w * (1.0 / 40320.0 + w * (1.0 / 479001600.0 + w * (1.0 / 20922789888000.0)));
    double odd = -1.0 / 720.0 + w * (-1.0 / 3628800.0 +
                                     w * (-1.0 / 87178291200.0 + w * (-1.0 / 6402373705728000.0)));
    // x^2 / 2 with what its rounding left: near a quarter of pi it would show.
    tpTwo square = tpTwoProduct(x, x);
    tpTwo first = tpTwoSumOrdered(1.0, -0.5 * square.high);
    double rest = first.low - 0.5 * square.low + (w * (even + z * odd) - x * r.low);
    return tpTwoSumOrdered(first.high, rest);
}

// Both, of the whole argument.
static void sineAndCosine(double x, tpTwo* sine, tpTwo* cosine) {
    angle a = reduce(x);
    tpTwo s = sineSeries(a.r), c = cosineSeries(a.r);
    switch (a.quadrant) {
    case 0:
        *sine = s, *cosine = c;
        break;
    case 1:
        *sine = c, *cosine = tpNegTwo(s);
        break;
    case 2:
        *sine = tpNegTwo(s), *cosine = tpNegTwo(c);
        break;
    default:
        *sine = tpNegTwo(c), *cosine = s;
        break;
    }
}

double tpSin(double x) {
    if (!isfinite(x)) {
        return x - x;
    }
    if (fabs(x) < 0x1p-27) {
        return x; // and keeps the sign of zero
    }
    angle a = reduce(x);
    double size = (a.quadrant & 1) != 0 ? cosineSeries(a.r).high : sineSeries(a.r).high;
    return (a.quadrant & 2) != 0 ? -size : size;
}

double tpCos(double x) {
    if (!isfinite(x)) {
        return x - x;
    }
    angle a = reduce(x);
    double size = (a.quadrant & 1) != 0 ? sineSeries(a.r).high : cosineSeries(a.r).high;
    return ((a.quadrant + 1) & 2) != 0 ? -size : size;
}

void tpSinCos(double x, double* sine, double* cosine) {
    if (!isfinite(x)) {
        *sine = *cosine = x - x;
        return;
    }
    tpTwo s, c;
    sineAndCosine(x, &s, &c);
    *sine = fabs(x) < 0x1p-27 ? x : s.high;
    *cosine = c.high;
}

double tpTan(double x) {
    if (!isfinite(x)) {
        return x - x;
    }
    if (fabs(x) < 0x1p-27) {
        return x;
    }
    tpTwo s, c;
    sineAndCosine(x, &s, &c);
    return tpDivTwo(s, c).high;
}
