// Assertions of what the library believes of itself, and mistakes of its users, each through a
// hook.

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

// Tells the hook that an argument of a public function cannot be. The format gives the message.
void tpMisused(const char* function, const char* argument, const char* format, ...) TP_PRINTF(3, 4);

// Whether the condition holds. If not, the hook is told of a wrong argument of the function in
// which this stands: `if (!TP_REQUIRE(h > 0.0, "h", "must be positive")) { return; }`.
#define TP_REQUIRE(condition, argument, ...)                                                       \
    ((condition) ? true : (tpMisused(__func__, argument, __VA_ARGS__), false))

// Leaves a public function that was given NULL where there must be an object: the hook is told, and
// nothing is returned.
#define TP_NEED(pointer, nothing)                                                                  \
    do {                                                                                           \
        if (!TP_REQUIRE((pointer) != NULL, #pointer, "is NULL")) {                                 \
            return nothing;                                                                        \
        }                                                                                          \
    } while (0)

#endif
