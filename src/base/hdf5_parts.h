// The messages of object headers in an HDF5 file, and what they must say.
// Part of the check of files (base/hdf5_check.h); nothing here reads or allocates.

#ifndef TIPPE_SRC_BASE_HDF5_PARTS_H
#define TIPPE_SRC_BASE_HDF5_PARTS_H

#include <string.h>

#include "base/hdf5_check.h"

#define tp_undefinedAddress UINT64_MAX

enum { tp_continuationMessage = 0x10, tp_endOfFreeList = 1 };

// Little-endian numbers, as HDF5 stores all of its own.
static inline int tpGet16(const unsigned char* bytes) {
    return bytes[0] | bytes[1] << 8;
}

static inline uint32_t tpGet32(const unsigned char* bytes) {
    return (uint32_t)tpGet16(bytes) | (uint32_t)tpGet16(bytes + 2) << 16;
}

static inline uint64_t tpGet64(const unsigned char* bytes) {
    return (uint64_t)tpGet32(bytes) | (uint64_t)tpGet32(bytes + 4) << 32;
}

// What the messages of a dataset say together.
typedef struct tpDatasetParts {
    int spaceCount, typeCount, layoutCount, fillCount, filterCount; // messages of each kind
    int rank;
    uint64_t size[3];
    uint32_t elementSize;
    bool isCompact; // the numbers stand in the header itself
    bool isChunked;
    int chunkRank; // rank + 1, by the file's account
    uint32_t chunk[4];
    uint64_t address;   // of the numbers or of the index of chunks
    uint64_t byteCount; // of numbers that are not in chunks
    // what the shuffle filter takes for the size of an element; 0: there is none
    uint32_t shuffleSize;
} tpDatasetParts;

typedef struct tpObjectParts {
    tpHdf5Kind kind;   // of the file
    bool mayBeForeign; // it will not be opened, so its type does not matter
    bool isForeign;    // it is a dataset of a type or form that is not known here
    int messageCount;
    int groupCount; // messages that make it a group
    bool isGroup;
    uint64_t tree, heap;
    tpDatasetParts dataset;
} tpObjectParts;

// Takes note of a message; false for one that no file of this kind has.
bool tpTakeMessage(tpObjectParts* object, int type, int flags, const unsigned char* bytes,
                   uint64_t size);

// Whether the messages of an object fit together.
bool tpIsGroupWhole(const tpObjectParts* object);
bool tpIsDatasetWhole(const tpObjectParts* object);

// Whether the key of a chunk has the chunk where one can be, and no larger than it can be.
bool tpIsChunkKey(const unsigned char* key, const tpDatasetParts* parts);

#endif
