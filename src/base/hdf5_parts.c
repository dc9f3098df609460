#include "base/hdf5_parts.h"

// Bytes of a chunk when unpacked: HDF5 asks for that much memory to read one number of it.
static uint64_t largestChunk(tpHdf5Kind kind) {
    return kind == tp_recordingFile ? (uint64_t)1 << 20 : (uint64_t)1 << 24;
}

// A dataspace (IV.A.2.b), version 1: rank, sizes, and where they may grow their limits.
static bool takeSpace(const unsigned char* bytes, uint64_t size, int* rank, uint64_t* sizes) {
    if (size < 8 || bytes[0] != 1 || bytes[1] > 3 || bytes[2] > 1) {
        return false;
    }
    *rank = bytes[1];
    uint64_t needed = 8 + 8 * (uint64_t)*rank * (bytes[2] == 1 ? 2 : 1);
    if (size < needed) {
        return false;
    }
    uint64_t product = 1;
    for (int i = 0; i < *rank; ++i) {
        sizes[i] = tpGet64(bytes + 8 + 8 * i);
        if (sizes[i] > ((uint64_t)1 << 56) / product) {
            return false;
        }
        product *= sizes[i] > 0 ? sizes[i] : 1;
        uint64_t limit = bytes[2] == 1 ? tpGet64(bytes + 8 + 8 * (*rank + i)) : sizes[i];
        if (limit < sizes[i]) {
            return false;
        }
    }
    return true;
}

// Whole numbers, in one piece and of the size of their bytes.
static bool isInteger(const unsigned char* bytes, uint64_t size, uint32_t elementSize,
                      tpHdf5Kind kind) {
    bool isKnown = elementSize == 1 || elementSize == 4 || elementSize == 8 ||
                   (elementSize == 2 && kind == tp_problemFile);
    int flags = bytes[1] & ~8; // signed or not
    bool isOrdered = flags == 0 || (flags == 1 && kind == tp_problemFile);
    return size >= 12 && bytes[2] == 0 && bytes[3] == 0 && isOrdered && isKnown &&
           tpGet16(bytes + 8) == 0 && (uint32_t)tpGet16(bytes + 10) == 8 * elementSize;
}

// IEEE 754 in 8 bytes, and in 4 where others write: byte order, place of the sign, then the
// properties.
static bool isFloat(const unsigned char* bytes, uint64_t size, uint32_t elementSize,
                    tpHdf5Kind kind) {
    static const unsigned char real64[] = { 0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0 };
    static const unsigned char real32[] = { 0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0 };
    bool isReal32 = elementSize == 4 && kind == tp_problemFile;
    bool isOrdered = bytes[1] == 0x20 || (bytes[1] == 0x21 && kind == tp_problemFile);
    return size >= 8 + sizeof(real64) && isOrdered && (elementSize == 8 || isReal32) &&
           bytes[2] == (isReal32 ? 31 : 63) && bytes[3] == 0 &&
           memcmp(bytes + 8, isReal32 ? real32 : real64, sizeof(real64)) == 0;
}

// A datatype (IV.A.2.d): integers, floating-point numbers, and texts of a fixed length.
static bool takeType(const unsigned char* bytes, uint64_t size, tpHdf5Kind kind,
                     uint32_t* elementSize) {
    if (size < 8) {
        return false;
    }
    *elementSize = tpGet32(bytes + 4);
    bool isPlain = bytes[2] == 0 && bytes[3] == 0;
    switch (bytes[0]) {
    case 0x10:
        return isInteger(bytes, size, *elementSize, kind);
    case 0x11:
        return isFloat(bytes, size, *elementSize, kind);
    case 0x13: {
        int padding = bytes[1] & 0xf; // zeros at the end, or with a last one that is always there
        return isPlain && (padding == 1 || (padding == 0 && kind == tp_problemFile)) &&
               (bytes[1] >> 4) <= 1 && *elementSize > 0 && *elementSize <= INT32_MAX;
    }
    default:
        return false;
    }
}

// A layout (IV.A.2.i), version 3: in one piece, in chunks, or in the message itself.
static bool takeLayout(const unsigned char* bytes, uint64_t size, tpObjectParts* object) {
    tpDatasetParts* parts = &object->dataset;
    if (size < 4 || bytes[0] != 3) {
        return false;
    }
    if (bytes[1] == 0) {
        parts->isCompact = true;
        parts->byteCount = (uint64_t)tpGet16(bytes + 2);
        return object->kind == tp_problemFile && size >= 4 + parts->byteCount;
    }
    if (size < 18) {
        return false;
    }
    if (bytes[1] == 1) {
        parts->address = tpGet64(bytes + 2);
        parts->byteCount = tpGet64(bytes + 10);
        return true;
    }
    parts->isChunked = true;
    parts->chunkRank = bytes[2];
    if (bytes[1] != 2 || bytes[2] < 2 || bytes[2] > 4 || size < 11 + 4 * (uint64_t)bytes[2]) {
        return false;
    }
    parts->address = tpGet64(bytes + 3);
    for (int i = 0; i < parts->chunkRank; ++i) {
        parts->chunk[i] = tpGet32(bytes + 11 + 4 * i);
    }
    return true;
}

static uint64_t padTo8(uint64_t size) {
    return (size + 7) / 8 * 8;
}

// Filters (IV.A.2.l), version 1, of a recording: shuffle, then deflate.
static bool areOwnFilters(const unsigned char* bytes, uint64_t size, tpDatasetParts* parts) {
    static const unsigned char shuffle[] = { 1, 2, 0, 0, 0,   0,   0,   0,   2,   0,   8,   0,
                                             1, 0, 1, 0, 's', 'h', 'u', 'f', 'f', 'l', 'e', 0 };
    static const unsigned char deflate[] = { 1,   0,   8,   0,   1,   0,   1,   0,
                                             'd', 'e', 'f', 'l', 'a', 't', 'e', 0 };
    parts->shuffleSize = size >= 56 ? tpGet32(bytes + 24) : 0;
    return size >= 56 && memcmp(bytes, shuffle, sizeof(shuffle)) == 0 &&
           memcmp(bytes + 32, deflate, sizeof(deflate)) == 0 && tpGet32(bytes + 48) <= 9;
}

// Filters that HDF5 has built in: deflate (1), shuffle (2), checksums (3), each once at most. Any
// other would be looked for among plugins.
static bool areKnownFilters(const unsigned char* bytes, uint64_t size, tpDatasetParts* parts) {
    unsigned seen = 0;
    uint64_t at = 8;
    if (size < 8 || bytes[0] != 1 || bytes[1] == 0 || bytes[1] > 3) {
        return false;
    }
    for (int i = 0; i < bytes[1]; ++i) {
        if (at + 8 > size) {
            return false;
        }
        const unsigned char* filter = bytes + at;
        int id = tpGet16(filter), count = tpGet16(filter + 6);
        uint64_t values = at + 8 + padTo8((uint64_t)tpGet16(filter + 2));
        at = values + 4 * (uint64_t)(count + count % 2);
        if (id < 1 || id > 3 || (seen >> id & 1) != 0 || count > 1 || at > size) {
            return false;
        }
        seen |= 1u << id;
        if (id == 2) {
            parts->shuffleSize = count == 1 ? tpGet32(bytes + values) : 0;
        } else if (id == 1 && (count != 1 || tpGet32(bytes + values) > 9)) {
            return false;
        }
    }
    return true;
}

// A fill value (IV.A.2.f), version 2: the default one, or where others write one of its own.
static bool isFill(const unsigned char* bytes, uint64_t size, tpHdf5Kind kind) {
    if (size < 4 || bytes[0] != 2 || bytes[1] < 1 || bytes[1] > 3 || bytes[2] > 2 || bytes[3] > 1) {
        return false;
    }
    uint64_t length = bytes[3] == 1 && size >= 8 ? tpGet32(bytes + 4) : 0;
    return kind == tp_recordingFile ? bytes[3] == 1 && size >= 8 && length == 0
                                    : bytes[3] == 0 || (size >= 8 && length <= size - 8);
}

// An attribute of a recording (IV.A.2.m), version 1: name, type, space and value, each padded.
static bool isAttribute(const unsigned char* bytes, uint64_t size) {
    if (size < 8 || bytes[0] != 1) {
        return false;
    }
    uint64_t nameSize = (uint64_t)tpGet16(bytes + 2), typeSize = (uint64_t)tpGet16(bytes + 4);
    uint64_t spaceSize = (uint64_t)tpGet16(bytes + 6);
    uint64_t typeAt = 8 + padTo8(nameSize), spaceAt = typeAt + padTo8(typeSize);
    uint64_t valueAt = spaceAt + padTo8(spaceSize);
    if (valueAt > size || nameSize == 0 || bytes[8 + nameSize - 1] != 0) {
        return false;
    }
    int rank = 0;
    uint64_t sizes[3] = { 1, 1, 1 };
    uint32_t elementSize = 0;
    return takeType(bytes + typeAt, typeSize, tp_recordingFile, &elementSize) &&
           takeSpace(bytes + spaceAt, spaceSize, &rank, sizes) && rank <= 1 &&
           sizes[0] <= (size - valueAt) / elementSize;
}

// What others write beside: times of changes (0x0e, 0x12), the fill value of before (0x04),
// comments.
static bool isHarmless(int type, const unsigned char* bytes, uint64_t size) {
    switch (type) {
    case 0x04:
        return size >= 4 && tpGet32(bytes) <= size - 4;
    case 0x0d:
        return memchr(bytes, 0, size) != NULL;
    case 0x0e:
        return size >= 14;
    case 0x12:
        return size >= 8 && bytes[0] == 1;
    default:
        return false;
    }
}

// Flags of a message (IV.A.1.a): that it is constant (bit 0), is not to be shared (2), and what one
// does who does not know it (3 to 7) mean nothing to a reader. Only what is kept elsewhere (1)
// does.
static bool areFlagsKnown(int flags, tpHdf5Kind kind) {
    return (flags & (kind == tp_recordingFile ? ~1 : 2)) == 0;
}

// What the message says of a dataset; true for messages that say nothing of one.
static bool takeDatasetMessage(tpObjectParts* object, int type, const unsigned char* bytes,
                               uint64_t size) {
    tpDatasetParts* parts = &object->dataset;
    switch (type) {
    case 0x01:
        parts->spaceCount += 1;
        return takeSpace(bytes, size, &parts->rank, parts->size);
    case 0x03:
        parts->typeCount += 1;
        return takeType(bytes, size, object->kind, &parts->elementSize);
    case 0x05:
        parts->fillCount += 1;
        return isFill(bytes, size, object->kind);
    case 0x08:
        parts->layoutCount += 1;
        return takeLayout(bytes, size, object);
    case 0x0b:
        parts->filterCount += 1;
        return object->kind == tp_recordingFile ? areOwnFilters(bytes, size, parts)
                                                : areKnownFilters(bytes, size, parts);
    default:
        return true;
    }
}

// Attributes, continuations, groups, and what others write beside.
static bool takeOtherMessage(tpObjectParts* object, int type, const unsigned char* bytes,
                             uint64_t size) {
    switch (type) {
    case 0x0c:
        return object->kind == tp_problemFile || // of any type, and never read
               isAttribute(bytes, size);
    case tp_continuationMessage:
        return size >= 16;
    case 0x11:
        object->groupCount += 1;
        object->isGroup = true;
        object->tree = size >= 16 ? tpGet64(bytes) : 0;
        object->heap = size >= 16 ? tpGet64(bytes + 8) : 0;
        return size >= 16;
    default:
        return object->kind == tp_problemFile && isHarmless(type, bytes, size);
    }
}

bool tpTakeMessage(tpObjectParts* object, int type, int flags, const unsigned char* bytes,
                   uint64_t size) {
    object->messageCount += 1;
    switch (type) {
    case 0x00: // nothing
        return areFlagsKnown(flags, object->kind);
    case 0x01:
    case 0x03:
    case 0x05:
    case 0x08:
    case 0x0b:
        if (!areFlagsKnown(flags, object->kind) || !takeDatasetMessage(object, type, bytes, size)) {
            object->isForeign = true;
        }
        return !object->isForeign || object->mayBeForeign;
    default:
        return areFlagsKnown(flags, object->kind) && takeOtherMessage(object, type, bytes, size);
    }
}

bool tpIsGroupWhole(const tpObjectParts* object) {
    const tpDatasetParts* parts = &object->dataset;
    return object->groupCount == 1 && parts->spaceCount + parts->typeCount == 0 &&
           parts->fillCount + parts->layoutCount + parts->filterCount == 0;
}

// The bytes of all elements; false if they do not fit into a number.
static bool countBytes(const tpDatasetParts* parts, uint64_t* bytes) {
    *bytes = parts->elementSize;
    for (int i = 0; i < parts->rank; ++i) {
        if (parts->size[i] != 0 && *bytes > ((uint64_t)1 << 60) / parts->size[i]) {
            return false;
        }
        *bytes *= parts->size[i];
    }
    return true;
}

bool tpIsDatasetWhole(const tpObjectParts* object) {
    const tpDatasetParts* parts = &object->dataset;
    bool isFilled = parts->fillCount == 1 || object->kind == tp_problemFile;
    if (parts->spaceCount != 1 || parts->typeCount != 1 || parts->layoutCount != 1 || !isFilled ||
        parts->fillCount > 1 || parts->filterCount > 1) {
        return false;
    }
    uint64_t bytes = 1;
    if (!parts->isChunked) {
        return parts->filterCount == 0 && countBytes(parts, &bytes) && bytes == parts->byteCount;
    }
    bool isShuffled = parts->shuffleSize != 0 || object->kind == tp_recordingFile;
    if (parts->chunkRank != parts->rank + 1 || parts->chunk[parts->rank] != parts->elementSize ||
        (parts->filterCount == 1 && isShuffled && parts->shuffleSize != parts->elementSize)) {
        return false;
    }
    for (int i = 0; i < parts->chunkRank; ++i) {
        if (parts->chunk[i] == 0 || parts->chunk[i] > largestChunk(object->kind) / bytes) {
            return false;
        }
        bytes *= parts->chunk[i];
    }
    return true;
}

bool tpIsChunkKey(const unsigned char* key, const tpDatasetParts* parts) {
    uint64_t unpacked = 1;
    for (int i = 0; i < parts->chunkRank; ++i) {
        unpacked *= parts->chunk[i];
        uint64_t place = tpGet64(key + 8 + 8 * i);
        if (place % parts->chunk[i] != 0 ||
            (i == parts->rank ? place != 0 : place > parts->size[i])) {
            return false;
        }
    }
    // What cannot be packed grows a little.
    uint64_t stored = tpGet32(key),
             most = parts->filterCount == 1 ? unpacked + unpacked / 16 + 1024 : unpacked;
    return tpGet32(key + 4) == 0 && stored <= most &&
           (parts->filterCount == 1 || stored == unpacked);
}
