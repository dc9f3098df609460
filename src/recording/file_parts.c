#include "recording/file_parts.h"

enum { largestChunk = 1024 * 1024 }; // bytes when unpacked

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

// A datatype (IV.A.2.d): integers and doubles, little-endian, and texts of a fixed length.
static bool takeType(const unsigned char* bytes, uint64_t size, uint32_t* elementSize) {
    static const unsigned char floating[] = { 0x11, 0x20, 0x3f, 0,  8, 0,  0,    0, 0, 0,
                                              64,   0,    52,   11, 0, 52, 0xff, 3, 0, 0 };
    if (size < 8) {
        return false;
    }
    *elementSize = tpGet32(bytes + 4);
    bool plain = bytes[2] == 0 && bytes[3] == 0;
    switch (bytes[0]) {
    case 0x10: {
        bool known = *elementSize == 1 || *elementSize == 4 || *elementSize == 8;
        return size >= 12 && plain && (bytes[1] & ~8) == 0 && known && tpGet16(bytes + 8) == 0 &&
               (uint32_t)tpGet16(bytes + 10) == 8 * *elementSize;
    }
    case 0x11:
        return size >= sizeof(floating) && memcmp(bytes, floating, sizeof(floating)) == 0;
    case 0x13:
        return plain && (bytes[1] & ~0x10) == 1 && *elementSize > 0 && *elementSize <= INT32_MAX;
    default:
        return false;
    }
}

// A layout (IV.A.2.i), version 3: in one piece, or in chunks.
static bool takeLayout(const unsigned char* bytes, uint64_t size, tpDatasetParts* parts) {
    if (size < 18 || bytes[0] != 3) {
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

// Filters (IV.A.2.l), version 1: shuffle, then deflate, as they are written and no others.
static bool takeFilters(const unsigned char* bytes, uint64_t size, tpDatasetParts* parts) {
    static const unsigned char shuffle[] = { 1, 2, 0, 0, 0,   0,   0,   0,   2,   0,   8,   0,
                                             1, 0, 1, 0, 's', 'h', 'u', 'f', 'f', 'l', 'e', 0 };
    static const unsigned char deflate[] = { 1,   0,   8,   0,   1,   0,   1,   0,
                                             'd', 'e', 'f', 'l', 'a', 't', 'e', 0 };
    parts->shuffleSize = size >= 56 ? tpGet32(bytes + 24) : 0;
    return size >= 56 && memcmp(bytes, shuffle, sizeof(shuffle)) == 0 &&
           memcmp(bytes + 32, deflate, sizeof(deflate)) == 0 && tpGet32(bytes + 48) <= 9;
}

// A fill value (IV.A.2.f), version 2, which is the default one.
static bool isFill(const unsigned char* bytes, uint64_t size) {
    return size >= 8 && bytes[0] == 2 && bytes[1] >= 1 && bytes[1] <= 3 && bytes[2] <= 2 &&
           bytes[3] == 1 && tpGet32(bytes + 4) == 0;
}

static uint64_t padTo8(uint64_t size) {
    return (size + 7) / 8 * 8;
}

// An attribute (IV.A.2.m), version 1: name, type, space and value, each padded.
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
    return takeType(bytes + typeAt, typeSize, &elementSize) &&
           takeSpace(bytes + spaceAt, spaceSize, &rank, sizes) && rank <= 1 &&
           sizes[0] <= (size - valueAt) / elementSize;
}

bool tpTakeMessage(tpObjectParts* object, int type, int flags, const unsigned char* bytes,
                   uint64_t size) {
    tpDatasetParts* parts = &object->dataset;
    object->messageCount += 1;
    if ((flags & ~1) != 0) { // constant or not; nothing is shared
        return false;
    }
    switch (type) {
    case 0x00: // nothing
        return true;
    case 0x01:
        parts->spaceCount += 1;
        return takeSpace(bytes, size, &parts->rank, parts->size);
    case 0x03:
        parts->typeCount += 1;
        return takeType(bytes, size, &parts->elementSize);
    case 0x05:
        parts->fillCount += 1;
        return isFill(bytes, size);
    case 0x08:
        parts->layoutCount += 1;
        return takeLayout(bytes, size, parts);
    case 0x0b:
        parts->filterCount += 1;
        return takeFilters(bytes, size, parts);
    case 0x0c:
        return isAttribute(bytes, size);
    case tp_continuationMessage:
        return size >= 16;
    case 0x11:
        object->groupCount += 1;
        object->isGroup = true;
        object->tree = size >= 16 ? tpGet64(bytes) : 0;
        object->heap = size >= 16 ? tpGet64(bytes + 8) : 0;
        return size >= 16;
    default:
        return false;
    }
}

bool tpIsGroupWhole(const tpObjectParts* object) {
    const tpDatasetParts* parts = &object->dataset;
    return object->groupCount == 1 && parts->spaceCount + parts->typeCount == 0 &&
           parts->fillCount + parts->layoutCount + parts->filterCount == 0;
}

bool tpIsDatasetWhole(const tpDatasetParts* parts) {
    if (parts->spaceCount != 1 || parts->typeCount != 1 || parts->layoutCount != 1 ||
        parts->fillCount != 1 || parts->filterCount > 1) {
        return false;
    }
    if (!parts->isChunked) {
        uint64_t bytes = parts->elementSize;
        for (int i = 0; i < parts->rank; ++i) {
            if (parts->size[i] != 0 && bytes > ((uint64_t)1 << 60) / parts->size[i]) {
                return false;
            }
            bytes *= parts->size[i];
        }
        return parts->filterCount == 0 && bytes == parts->byteCount;
    }
    if (parts->chunkRank != parts->rank + 1 || parts->chunk[parts->rank] != parts->elementSize ||
        (parts->filterCount == 1 && parts->shuffleSize != parts->elementSize)) {
        return false;
    }
    uint64_t bytes = 1;
    for (int i = 0; i < parts->chunkRank; ++i) {
        if (parts->chunk[i] == 0 || parts->chunk[i] > largestChunk / bytes) {
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
