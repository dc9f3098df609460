// Assertions of programming mistakes, through a hook the user may replace.

#ifndef TIPPE_SRC_BASE_ASSERT_H
#define TIPPE_SRC_BASE_ASSERT_H

#include "tippe/base.h"

void tpAssertFailed(const char* condition, const char* file, int line);

#define TP_ASSERT(condition)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            tpAssertFailed(#condition, __FILE__, __LINE__);                                        \
        }                                                                                          \
    } while (0)

#endif
