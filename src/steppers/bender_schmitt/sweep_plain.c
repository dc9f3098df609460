// One contact at once, for machines without wide registers: the same lines with one lane.

#include "steppers/bender_schmitt/sweep_wide.h"

enum { W = 1 };

typedef double wide;
typedef bool wideMask;

static inline wide loadWide(const double* p) {
    return *p;
}
static inline void storeWide(double* p, wide a) {
    *p = a;
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
static inline double wideLargest(wide a) {
    return a;
}

#include "steppers/bender_schmitt/sweep_lanes.h"
#include "steppers/bender_schmitt/sweep_sum_lanes.h"

static inline void loadLines(const double* base, const int32_t* indices, WideLines* lines) {
    for (int k = 0; k < 8; ++k) {
        lines->numbers[k] = base[8 * (ptrdiff_t)indices[0] + k];
    }
}

static inline void storeLines(double* base, const int32_t* indices, unsigned mask,
                              const WideLines* lines) {
    for (int k = 0; (mask & 1) != 0 && k < 8; ++k) {
        base[8 * (ptrdiff_t)indices[0] + k] = lines->numbers[k];
    }
}

const tpWideSweep tp_plainSweep = {
    .name = "plain",
    .width = 1,
    .sweepRun = sweepRun,
    .startRun = startRun,
    .speedRun = speedRun,
    .respondRun = respondRun,
    .gapRun = gapRun,
    .softRun = softRun,
    .bounceRun = bounceRun,
    .freeRun = freeRun,
    .workRun = workRun,
    .judgeRun = judgeRun,
    .ratioRun = ratioRun,
};
