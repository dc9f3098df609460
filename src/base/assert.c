#include "base/assert.h"

#include <stdarg.h>
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

static void printMisuse(const char* function, const char* argument, const char* message) {
    fprintf(stderr, "tippe: %s: %s %s\n", function, argument, message);
#ifndef NDEBUG
    abort();
#endif
}

static tpMisuseHook misuseHook = printMisuse;

void tpSetMisuseHook(tpMisuseHook hook) {
    misuseHook = hook != NULL ? hook : printMisuse;
}

void tpMisused(const char* function, const char* argument, const char* format, ...) {
    char message[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    misuseHook(function, argument, message);
}
