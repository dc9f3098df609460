// A text file written row by row through a buffer.
//
// Of two kinds. A growing file is that of a run: it reaches the disk at least four times per second
// as long as rows keep coming, and when a write fails, a row that is not whole is cut off again and
// the file takes nothing more. It is locked while it is written, so that two runs do not mix their
// rows, and what was there before stays until the first row goes out.
// A whole file is that of an export: it takes the place of the file before it when all is written,
// and leaves nothing behind otherwise. Devices and pipes are written to directly, and "-" is
// standard output, whatever the kind.

#ifndef TIPPE_SRC_RECORDING_TEXT_FILE_H
#define TIPPE_SRC_RECORDING_TEXT_FILE_H

#include "base/part_file.h"

typedef enum tpTextFileKind { tp_growingText, tp_wholeText } tpTextFileKind;

typedef struct tpTextFile {
    tpAllocator allocator;
    char* path;
    size_t pathSize;
    int file;
    tpPartFile* part; // that `file` belongs to; NULL: the file itself is written
    bool isNew;       // there was no file before
    bool isCleared;   // of what was there before
    char* buffer;
    size_t used;
    uint64_t written;     // bytes in the file
    uint64_t rowEnd;      // of the last whole row in the file, in bytes from its start
    uint64_t bufferedEnd; // of the last whole row in the buffer, likewise; 0: none ends there
    double lastFlush;     // s
    int failure;          // errno of the first failure, or 0
} tpTextFile;

tpResult tpTextFile_Create(tpTextFile* text, const char* path, tpTextFileKind kind,
                           const tpAllocator* allocator, tpError* error);

// Pieces of a row. Failures show at its end.
void tpTextFile_PutText(tpTextFile* text, const char* piece);
void tpTextFile_PutChar(tpTextFile* text, char c);
void tpTextFile_PutNumber(tpTextFile* text, double value);
// A name as a field: in quotes where commas, quotes or line ends ask for it.
void tpTextFile_PutName(tpTextFile* text, const char* name);

tpResult tpTextFile_EndRow(tpTextFile* text, tpError* error);
tpResult tpTextFile_Close(tpTextFile* text, tpError* error); // frees it, also on failure
// Closes a file whose rows end here for a reason of the caller's. A whole file is not placed, and a
// growing one that has no rows yet is left as it was before.
void tpTextFile_Abandon(tpTextFile* text);

#endif
