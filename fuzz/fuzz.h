// What all fuzz targets share: the entry that libFuzzer calls, and the end of a run that found
// something.

#ifndef TIPPE_FUZZ_H
#define TIPPE_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t length);

// libFuzzer keeps the input of a process that aborts.
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
