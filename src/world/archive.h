// One way through the parts of a snapshot, for writing and for reading: each number is transferred
// by the same call.

#ifndef TIPPE_SRC_WORLD_ARCHIVE_H
#define TIPPE_SRC_WORLD_ARCHIVE_H

#include "base/memory.h"
#include "base/saved_reader.h"
#include "tippe/math.h"

typedef enum tpArchiveMode {
    tp_archiveWrites, // appends to `bytes`
    tp_archiveReads   // fills what is transferred; does nothing once the reader has failed
} tpArchiveMode;

typedef struct tpArchive {
    tpArchiveMode mode;
    const tpAllocator* allocator;
    TP_ARRAY(unsigned char) bytes;
    bool isOutOfMemory;
    tpSavedReader reader;
} tpArchive;

// Plain bytes: of arrays whose entries are numbers throughout.
void tpArchive_Bytes(tpArchive* archive, void* data, size_t size);

void tpArchive_Double(tpArchive* archive, double* number);
void tpArchive_Doubles(tpArchive* archive, double* numbers, int count);
void tpArchive_Int(tpArchive* archive, int* number);
void tpArchive_Unsigned(tpArchive* archive, uint32_t* number);
void tpArchive_Long(tpArchive* archive, int64_t* number);
void tpArchive_Bool(tpArchive* archive, bool* flag);
void tpArchive_Vec3(tpArchive* archive, tpVec3* vector);

// Appends room for so many bytes and returns it, or NULL if memory ran out; for writing.
void* tpArchive_Grow(tpArchive* archive, size_t size);

#endif
