// Opening a file that a user named, for reading.

#ifndef TIPPE_SRC_BASE_INPUT_FILE_H
#define TIPPE_SRC_BASE_INPUT_FILE_H

#include <stdio.h>

#include "tippe/base.h"

// Opens a file, a device or a pipe that is open already (/dev/stdin, or /dev/fd/63 of a shell). A
// directory is refused, and so is a named pipe, whose opening would wait for a writer that may
// never come. On failure returns NULL, with "PATH: cannot be read: reason" in `error`. *size (may
// be NULL) gets the bytes of a regular file, -1 of anything else.
FILE* tpOpenInput(const char* path, int64_t* size, tpError* error);

#endif
