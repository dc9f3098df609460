// A text file written row by row through a buffer.
//
// Reaches the disk at least four times a second as long as rows keep coming. When a write fails, a row
// that is not whole is cut off again, and the file takes nothing more.

#ifndef TIPPE_SRC_RECORDING_TEXT_FILE_H
#define TIPPE_SRC_RECORDING_TEXT_FILE_H

#include "tippe/base.h"

typedef struct tpTextFile {
    tpAllocator allocator;
    char* path;
    size_t pathSize;
    int file;
    char* buffer;
    size_t used;
    uint64_t written;     // bytes in the file
    uint64_t rowEnd;      // of the last whole row in the file, in bytes from its start
    uint64_t bufferedEnd; // of the last whole row in the buffer, likewise; 0: none ends there
    double lastFlush;     // s
    int failure;          // errno of the first failure, or 0
} tpTextFile;

tpResult tpTextFile_Create(tpTextFile* text, const char* path, const tpAllocator* allocator,
                           tpError* error);

// Pieces of a row. Failures show at its end.
void tpTextFile_PutText(tpTextFile* text, const char* piece);
void tpTextFile_PutChar(tpTextFile* text, char c);
void tpTextFile_PutNumber(tpTextFile* text, double value);
// A name as a field: in quotes where commas, quotes or line ends ask for it.
void tpTextFile_PutName(tpTextFile* text, const char* name);

tpResult tpTextFile_EndRow(tpTextFile* text, tpError* error);
tpResult tpTextFile_Close(tpTextFile* text, tpError* error); // frees it, also on failure

#endif
