// Files that are there whole or not at all: written under a temporary name beside the target, which
// takes the target's place only when everything has been written. Devices and pipes are written to
// directly.

#ifndef TIPPE_APP_OUTPUT_FILE_H
#define TIPPE_APP_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>

typedef struct tpOutputFile {
    FILE* stream; // NULL when not open
    const char* path;
    char temporary[4096]; // empty where the target is written directly
} tpOutputFile;

// Whether the file could be written now: to say so before a long computation. On failure prints
// "tippe COMMAND: PATH: reason" to standard error.
bool canWriteOutput(const char* command, const char* path);

// On failure prints the reason to standard error and returns false.
bool openOutput(const char* command, const char* path, tpOutputFile* output);

// Flushes, closes and renames. False (with the reason printed, and nothing left behind) where
// something could not be written.
bool commitOutput(const char* command, tpOutputFile* output);

void discardOutput(tpOutputFile* output);

#endif
