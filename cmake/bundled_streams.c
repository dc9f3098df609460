// The standard streams under names that the archives of cmake/bundle.cmake ask for.

#include <stdio.h>

extern FILE *tp_bundledInput, *tp_bundledOutput, *tp_bundledErrors;

__attribute__((visibility("hidden"))) FILE *tp_bundledInput, *tp_bundledOutput, *tp_bundledErrors;

// Before anything of those archives runs.
__attribute__((constructor(101))) static void takeStreams(void) {
    tp_bundledInput = stdin;
    tp_bundledOutput = stdout;
    tp_bundledErrors = stderr;
}
