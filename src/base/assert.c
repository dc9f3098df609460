#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

static bool printAndAbort(const char* condition, const char* file, int line) {
    fprintf(stderr, "tippe: assertion failed: %s (%s:%d)\n", condition, file, line);
    return true;
}

static tpAssertHook assertHook = printAndAbort;

void tpSetAssertHook(tpAssertHook hook) {
    assertHook = hook != NULL ? hook : printAndAbort;
}

void tpAssertFailed(const char* condition, const char* file, int line) {
    if (assertHook(condition, file, line)) {
        abort();
    }
}
