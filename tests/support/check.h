// What tests share: cmocka with its includes, and comparisons that say the numbers.

#ifndef TIPPE_TESTS_SUPPORT_CHECK_H
#define TIPPE_TESTS_SUPPORT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tippe/math.h"

// |actual - expected| <= tolerance, NaN never.
#define CHECK_NEAR(actual, expected, tolerance)                                                    \
    do {                                                                                           \
        double actualValue_ = (actual), expectedValue_ = (expected), tolerance_ = (tolerance);     \
        if (!(fabs(actualValue_ - expectedValue_) <= tolerance_)) {                                \
            fail_msg("%s:%d: %s is %.17g, expected %.17g within %g (off by %g)", __FILE__,         \
                     __LINE__, #actual, actualValue_, expectedValue_, tolerance_,                  \
                     actualValue_ - expectedValue_);                                               \
        }                                                                                          \
    } while (0)

#define CHECK_VEC3(actual, expected, tolerance)                                                    \
    do {                                                                                           \
        tpVec3 a_ = (actual), e_ = (expected);                                                     \
        double distance_ = tpDistanceBetween(a_, e_);                                              \
        if (!(distance_ <= (tolerance))) {                                                         \
            fail_msg("%s:%d: %s is (%.17g, %.17g, %.17g), expected (%.17g, %.17g, %.17g), off by " \
                     "%g",                                                                         \
                     __FILE__, __LINE__, #actual, a_.x, a_.y, a_.z, e_.x, e_.y, e_.z, distance_);  \
        }                                                                                          \
    } while (0)

#define CHECK_BELOW(actual, limit)                                                                 \
    do {                                                                                           \
        double actualValue_ = (actual), limit_ = (limit);                                          \
        if (!(actualValue_ < limit_)) {                                                            \
            fail_msg("%s:%d: %s is %.17g, expected below %g", __FILE__, __LINE__, #actual,         \
                     actualValue_, limit_);                                                        \
        }                                                                                          \
    } while (0)

// A small generator of reproducible numbers (splitmix64), the same on every machine.
typedef struct tpRandom {
    uint64_t state;
} tpRandom;

static inline uint64_t randomBits(tpRandom* random) {
    uint64_t z = (random->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline double randomBetween(tpRandom* random, double low, double high) {
    return low + (high - low) * ((double)(randomBits(random) >> 11) * 0x1p-53);
}

static inline tpVec3 randomVec3(tpRandom* random, double low, double high) {
    double x = randomBetween(random, low, high);
    double y = randomBetween(random, low, high);
    return tpMakeVec3(x, y, randomBetween(random, low, high));
}

static inline tpQuat randomRotation(tpRandom* random) {
    tpQuat q;
    do {
        tpVec3 v = randomVec3(random, -1.0, 1.0);
        q = tpMakeQuat(randomBetween(random, -1.0, 1.0), v.x, v.y, v.z);
    } while (tpDotQQ(q, q) > 1.0 || tpDotQQ(q, q) < 0.01);
    return tpNormalizeQuat(q);
}

#endif
