// Reading surfaces from files: the text under the cursor, and the surface that grows.

#ifndef TIPPE_SRC_GEOMETRY_SURFACE_FILE_H
#define TIPPE_SRC_GEOMETRY_SURFACE_FILE_H

#include "base/memory.h"
#include "tippe/geometry.h"

typedef struct tpSurfaceReader {
    const char* path;
    const char* text; // the file, with a zero byte behind it
    size_t length;
    size_t at;        // of the cursor
    size_t lineStart; // of the line the cursor is in
    int line;         // counted from 1
    TP_ARRAY(tpVec3) vertices;
    TP_ARRAY(int32_t) corners; // three for each triangle
    tpAllocator allocator;
    tpError* error;
} tpSurfaceReader;

// "file:line:column: message" for the place `at`, which is in the cursor's line.
tpResult tpSurfaceReader_Fail(tpSurfaceReader* reader, size_t at, const char* message);

// Skips blanks (and, in OBJ files, a backslash that continues the line).
void tpSurfaceReader_SkipBlanks(tpSurfaceReader* reader);
bool tpSurfaceReader_AtLineEnd(const tpSurfaceReader* reader);
void tpSurfaceReader_NextLine(tpSurfaceReader* reader);

// A finite number; says what was expected otherwise.
tpResult tpSurfaceReader_Number(tpSurfaceReader* reader, double* value);

// Whether the word under the cursor is this one; if so, it is passed. Case does not count.
bool tpSurfaceReader_Word(tpSurfaceReader* reader, const char* word);

bool tpSurfaceReader_AddTriangle(tpSurfaceReader* reader, int32_t a, int32_t b, int32_t c);

tpResult tpReadObj(tpSurfaceReader* reader);
tpResult tpReadStl(tpSurfaceReader* reader);

#endif
