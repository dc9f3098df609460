// atan, atan2, asin, acos.
//
// For 0 <= y <= x let c be the nearest of 0, 1/64, 2/64, ... to y / x. Then
//
//     atan(y / x) = atan(c) + atan(t),    t = (y - c x) / (x + c y),    |t| <= 1/128,
//
// atan(c) from a table, atan(t) by its series. asin and acos are angles of right triangles whose
// third side is sqrt((1 - x)(1 + x)).

#include <math.h>
#include <stdbool.h>

#include "math/elementary.h"
#include "math/elementary_tables.h"

static const tpTwo pi = { 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53 };
static const tpTwo halfPi = { 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54 };

// atan(y / x) for 0 <= y <= x, both of a size whose squares neither overflow nor vanish.
static tpTwo arctangent(tpTwo y, tpTwo x) {
    int j = (int)(64.0 * (y.high / x.high) + 0.5);
    double c = j * 0x1p-6;
    tpTwo t = y;
    if (j > 0) {
        t = tpDivTwo(tpAddTwo(y, tpNegTwo(tpScaleTwo(c, x))), tpAddTwo(x, tpScaleTwo(c, y)));
    } else {
        t = tpDivTwo(y, x);
    }
    double z = t.high * t.high;
    double series =
        z * (-1.0 / 3.0 + z * (0.2 + z * (-1.0 / 7.0 + z * (1.0 / 9.0 - z * (1.0 / 11.0)))));
    tpTwo base = tp_arctangents[j];
    tpTwo sum = tpTwoSumOrdered(base.high, t.high);
    return tpTwoSumOrdered(sum.high, sum.low + (t.low + base.low + t.high * series));
}

// The angle of (x, y) for x, y >= 0, not both 0 and of a size as above.
static tpTwo angleInQuadrant(tpTwo y, tpTwo x) {
    if (y.high <= x.high) {
        return arctangent(y, x);
    }
    return tpAddTwo(halfPi, tpNegTwo(arctangent(x, y)));
}

static double angleOfSpecial(double y, double x) {
    if (isnan(x) || isnan(y)) {
        return x + y;
    }
    if (isinf(y)) {
        double size = isinf(x) ? (x > 0.0 ? 0.5 : 1.5) * halfPi.high : halfPi.high;
        return copysign(size, y);
    }
    if (y == 0.0 || isinf(x)) { // x is not 0 where y is, but for two zeros
        return copysign(signbit(x) ? pi.high : 0.0, y);
    }
    return copysign(halfPi.high, y);
}

// The angle of (x, y), given that of (|x|, |y|).
static double intoQuadrant(tpTwo angle, double y, double x) {
    if (x < 0.0) {
        angle = tpAddTwo(pi, tpNegTwo(angle));
    }
    return copysign(angle.high, y);
}

double tpAtan2(double y, double x) {
    double sizeOfX = fabs(x), sizeOfY = fabs(y);
    bool isMiddling =
        sizeOfX > 0x1p-30 && sizeOfX < 0x1p30 && sizeOfY > 0x1p-30 && sizeOfY < 0x1p30;
    if (isMiddling) {
        // Nothing to scale: powers of two would change no digit.
        return intoQuadrant(angleInQuadrant(tpMakeTwo(sizeOfY, 0.0), tpMakeTwo(sizeOfX, 0.0)), y,
                            x);
    }
    if (!isfinite(x) || !isfinite(y) || x == 0.0 || y == 0.0) {
        return angleOfSpecial(y, x);
    }
    int exponentX, exponentY;
    double sizeX = frexp(sizeOfX, &exponentX), sizeY = frexp(sizeOfY, &exponentY);
    int apart = exponentY - exponentX;
    if (apart > 64) {
        return copysign(halfPi.high, y);
    }
    if (apart < -64) {
        return x < 0.0 ? copysign(pi.high, y) : y / x;
    }
    return intoQuadrant(angleInQuadrant(tpMakeTwo(ldexp(sizeY, apart), 0.0), tpMakeTwo(sizeX, 0.0)),
                        y, x);
}

double tpAtan(double x) {
    double size = fabs(x);
    if (size < 0x1p-27 || isnan(x)) {
        return x;
    }
    if (size > 0x1p54) {
        return copysign(halfPi.high, x);
    }
    return copysign(angleInQuadrant(tpMakeTwo(size, 0.0), tpMakeTwo(1.0, 0.0)).high, x);
}

// sqrt(1 - x^2) for |x| < 1.
static tpTwo otherSide(double x) {
    tpTwo square = tpMulTwo(tpTwoSumOrdered(1.0, -x), tpTwoSumOrdered(1.0, x));
    double root = sqrt(square.high);
    tpTwo product = tpTwoProduct(root, root);
    double rest = ((square.high - product.high) - product.low) + square.low;
    return tpTwoSumOrdered(root, rest / (2.0 * root));
}

double tpAsin(double x) {
    double size = fabs(x);
    if (!(size < 1.0)) {
        return size == 1.0 ? copysign(halfPi.high, x) : NAN;
    }
    if (size < 0x1p-27) {
        return x;
    }
    return copysign(angleInQuadrant(tpMakeTwo(size, 0.0), otherSide(size)).high, x);
}

double tpAcos(double x) {
    double size = fabs(x);
    if (!(size < 1.0)) {
        return x == 1.0 ? 0.0 : x == -1.0 ? pi.high : NAN;
    }
    if (size < 0x1p-60) {
        return halfPi.high;
    }
    tpTwo angle = angleInQuadrant(otherSide(size), tpMakeTwo(size, 0.0));
    return x < 0.0 ? tpAddTwo(pi, tpNegTwo(angle)).high : angle.high;
}
