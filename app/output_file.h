// Files that are there whole or not at all: written as a part beside the target (base/part_file.h),
// which takes the target's place only when everything has been written. Devices and pipes are
// written to directly, and "-" is standard output.

#ifndef TIPPE_APP_OUTPUT_FILE_H
#define TIPPE_APP_OUTPUT_FILE_H

#include <stdio.h>

#include "base/part_file.h"

typedef struct tpOutputFile {
    FILE* stream; // NULL when not open
    const char* path;
    bool hasPart; // false if the target is written directly
    tpPartFile part;
    int failure; // errno of the first write that failed, or 0
} tpOutputFile;

// Whether the path means standard output.
bool isStandardOutput(const char* path);

// Whether the file could be written now: to say so before a long computation. On failure prints
// "tippe COMMAND: PATH: reason" to standard error.
bool canWriteOutput(const char* command, const char* path);

// On failure prints the reason to standard error and returns false.
bool openOutput(const char* command, const char* path, tpOutputFile* output);

// Writes bytes. The first failure is kept, with its reason, for commitOutput to tell.
bool putOutput(tpOutputFile* output, const void* bytes, size_t size);

// To be called after printing to the stream directly, a row at a time: keeps the reason of a
// failure.
bool checkOutput(tpOutputFile* output);

// Flushes, closes and moves the part into place. False (with the reason printed, and nothing left
// behind) where something could not be written.
bool commitOutput(const char* command, tpOutputFile* output);

void discardOutput(tpOutputFile* output);

#endif
