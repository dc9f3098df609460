// cbrt and hypot: an approximation in doubles, then one correction from a residual of twice the
// precision.

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "math/elementary.h"
#include "math/two.h"

double tpCbrt(double x) {
    if (x == 0.0 || !isfinite(x)) {
        return x;
    }
    // |x| = a 2^(3 e) with a in [1, 8).
    int exponent;
    double a = frexp(fabs(x), &exponent);
    int e = (exponent - 1 - ((exponent - 1) % 3 + 3) % 3) / 3;
    a = ldexp(a, exponent - 3 * e);
    // A parabola within 0.03 of the root, then Newton's method, which doubles the digits each time.
    double root = 0.64 + a * (0.3295 - 0.0194 * a);
    for (int i = 0; i < 5; ++i) {
        root = (2.0 * root + a / (root * root)) * (1.0 / 3.0);
    }
    tpTwo square = tpTwoProduct(root, root);
    tpTwo cube = tpScaleTwo(root, square);
    double rest = (a - cube.high) - cube.low;
    return copysign(ldexp(root + rest / (3.0 * square.high), e), x);
}

// sqrt(x^2 + y^2) for numbers whose squares and their rounding errors neither overflow nor vanish.
static double lengthOf(double x, double y) {
    tpTwo sum = tpAddTwo(tpTwoProduct(x, x), tpTwoProduct(y, y));
    double root = sqrt(sum.high);
    tpTwo square = tpTwoProduct(root, root);
    double rest = ((sum.high - square.high) - square.low) + sum.low;
    return root + rest / (2.0 * root);
}

double tpHypot(double x, double y) {
    if (isinf(x) || isinf(y)) {
        return INFINITY;
    }
    double large = fabs(x), small = fabs(y);
    if (isnan(large) || isnan(small)) {
        return large + small;
    }
    if (small > large) {
        double swap = large;
        large = small;
        small = swap;
    }
    if (small <= large * 0x1p-54) { // also where both are 0
        return large + small;
    }
    if (large < 0x1p500 && small > 0x1p-400) {
        return lengthOf(large, small);
    }
    double scale = large > 1.0 ? 0x1p-600 : 0x1p600;
    return lengthOf(large * scale, small * scale) / scale;
}
