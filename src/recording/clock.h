// Wall time.

#ifndef TIPPE_SRC_RECORDING_CLOCK_H
#define TIPPE_SRC_RECORDING_CLOCK_H

#include <time.h>

// Seconds of the monotonic clock.
static inline double tpSecondsNow(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
