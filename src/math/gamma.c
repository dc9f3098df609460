// The gamma function, by Stirling's series for arguments from 10 on; smaller ones are brought there
// by gamma(x) = gamma(x + 1) / x.

#include <math.h>

#include "math/elementary.h"

static const double stirlingFrom = 10.0; // eight terms of the series leave out 3e-17
static const double largest = 171.7;     // overflows beyond

double tpGamma(double x) {
    if (!(x > 0.0)) {
        return NAN;
    }
    if (x > largest) {
        return INFINITY;
    }
    double product = 1.0;
    for (; x < stirlingFrom; x += 1.0) {
        product *= x;
    }
    double y = 1.0 / x, z = y * y;
    double series =
        y *
        (1.0 / 12.0 +
         z * (-1.0 / 360.0 +
              z * (1.0 / 1260.0 +
                   z * (-1.0 / 1680.0 +
                        z * (1.0 / 1188.0 + z * (-691.0 / 360360.0 +
                                                 z * (1.0 / 156.0 + z * (-3617.0 / 122400.0))))))));
    // Half of the power at a time: all of it overflows before the result does. No exponent is
    // rounded.
    double half = tpPow(x, 0.5 * x);
    double rootOfTwoPi = 0x1.40d931ff62706p+1;
    return half * (rootOfTwoPi / sqrt(x) * tpExp(-x) * tpExp(series)) * half / product;
}
