// Addresses in comments are those of [HDF5Format], sections III (file level) and IV (objects).

#include "base/hdf5_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/hdf5_parts.h"
#include "base/memory.h"
#include "base/part_file.h"

enum {
    mostObjects = 4096,     // groups and datasets; recordings have some seventy
    mostBlocks = 64,        // of one object header
    mostHeader = 64 * 1024, // bytes of one block of it
    mostHeap = 1024 * 1024, // bytes of the names of a group
    mostLevels = 8          // of an index
};

// A piece of the file that belongs to one part alone.
typedef struct extent {
    uint64_t start, end;
} extent;

typedef struct checker {
    int file;
    uint64_t end; // of the file by its own account
    tpArena arena;
    TP_ARRAY(extent) extents;
    tpHdf5Kind kind;
    const char* const* names; // of datasets that will be opened; NULL: all
    int objectCount;
    const char* wrong; // the first thing that is, or NULL
} checker;

static bool complain(checker* check, const char* what) {
    if (check->wrong == NULL) {
        check->wrong = what;
    }
    return false;
}

static bool isInside(const checker* check, uint64_t address, uint64_t size) {
    return address <= check->end && size <= check->end - address;
}

// The bytes of a part, read and taken possession of. NULL if that is not possible.
static const unsigned char* take(checker* check, uint64_t address, uint64_t size) {
    if (!isInside(check, address, size)) {
        complain(check, "a part lies outside of the file");
        return NULL;
    }
    unsigned char* bytes = tpArena_Get(&check->arena, size);
    extent part = { address, address + size };
    if (bytes == NULL || !TP_PUSH(&check->arena.allocator, check->extents, part)) {
        check->arena.failed = true;
        complain(check, "out of memory");
        return NULL;
    }
    if (!tpReadAll(check->file, bytes, size, address)) {
        complain(check, "it cannot be read");
        return NULL;
    }
    return bytes;
}

static int compareExtents(const void* a, const void* b) {
    uint64_t startA = ((const extent*)a)->start, startB = ((const extent*)b)->start;
    return (startA > startB) - (startA < startB);
}

static bool areDisjoint(checker* check) {
    qsort(check->extents.data, (size_t)check->extents.count, sizeof(extent), compareExtents);
    for (int i = 1; i < check->extents.count; ++i) {
        if (check->extents.data[i].start < check->extents.data[i - 1].end) {
            return complain(check, "two parts lie in the same place");
        }
    }
    return true;
}

// Chunks -----------------------------------------------------------------------------------------

// An index of chunks (III.A.1), from one of its nodes down. The key before each child says where
// its first chunk lies in the dataset and how many bytes it has in the file.
static bool checkChunks(checker* check, uint64_t address, int level, const tpDatasetParts* parts) {
    int rank = parts->chunkRank; // one more than the dataset's, for the bytes of an element
    uint64_t keySize = 8 + 8 * (uint64_t)rank;
    enum { entries = 64 };
    tpArenaMark mark = tpArena_Mark(&check->arena);
    const unsigned char* node = take(check, address, 24 + (entries + 1) * keySize + entries * 8);
    if (node == NULL) {
        return false;
    }
    int nodeLevel = node[5], count = tpGet16(node + 6);
    bool right = memcmp(node, "TREE", 4) == 0 && node[4] == 1 && count <= entries &&
                 nodeLevel < mostLevels && (level < 0 || nodeLevel == level);
    for (int i = 0; right && i < count; ++i) {
        const unsigned char* key = node + 24 + (uint64_t)i * (keySize + 8);
        uint64_t child = tpGet64(key + keySize);
        if (nodeLevel > 0) {
            right = checkChunks(check, child, nodeLevel - 1, parts);
        } else {
            right = tpIsChunkKey(key, parts) && isInside(check, child, tpGet32(key));
        }
    }
    tpArena_Release(&check->arena, mark);
    return right || complain(check, "an index of chunks is wrong");
}

// Objects ----------------------------------------------------------------------------------------

typedef struct groupPlace {
    uint64_t tree, heap;
} groupPlace;

static bool checkGroup(checker* check, groupPlace place, int depth);

// The messages of one block of an object header (IV.A.1.a), with those that continue it elsewhere.
static bool readBlock(checker* check, uint64_t address, uint64_t size, tpObjectParts* object,
                      int* blockCount) {
    if (size > mostHeader || ++*blockCount > mostBlocks) {
        return complain(check, "an object header is too large");
    }
    const unsigned char* block = take(check, address, size);
    uint64_t at = 0;
    while (block != NULL && at < size) {
        const unsigned char* message = block + at;
        uint64_t left = size - at, length = left >= 8 ? tpGet16(message + 2) : 0;
        if (left < 8 || length % 8 != 0 || length > left - 8) {
            return complain(check, "an object header is wrong");
        }
        if (!tpTakeMessage(object, tpGet16(message), message[4], message + 8, length)) {
            return complain(check, "an object header says what none in such a file does");
        }
        bool continues = tpGet16(message) == tp_continuationMessage;
        if (continues &&
            !readBlock(check, tpGet64(message + 8), tpGet64(message + 16), object, blockCount)) {
            return false;
        }
        at += 8 + length;
    }
    return block != NULL;
}

static bool checkDataset(checker* check, const tpObjectParts* object) {
    const tpDatasetParts* parts = &object->dataset;
    if (object->isForeign) {
        return true; // of a type that is never opened
    }
    if (!tpIsDatasetWhole(object)) {
        return complain(check, "a dataset is not as such files have them");
    }
    if (parts->isCompact || parts->address == tp_undefinedAddress) {
        return true; // in the header, or nothing was ever written to it
    }
    if (parts->isChunked) {
        return checkChunks(check, parts->address, -1, parts);
    }
    return isInside(check, parts->address, parts->byteCount) ||
           complain(check, "a dataset lies outside of the file");
}

// Whether a dataset of this name will be opened; the root has none.
static bool isOpened(const checker* check, const char* name) {
    bool isListed = check->names == NULL || name == NULL;
    for (int i = 0; !isListed && check->names[i] != NULL; ++i) {
        isListed = strcmp(check->names[i], name) == 0;
    }
    return isListed;
}

// An object; `cached` is what the entry that leads to it says of a group.
static bool checkObject(checker* check, uint64_t address, const char* name,
                        const groupPlace* cached, int depth) {
    if (++check->objectCount > mostObjects) {
        return complain(check, "there are too many objects");
    }
    tpArenaMark mark = tpArena_Mark(&check->arena);
    const unsigned char* head = take(check, address, 16);
    if (head == NULL || head[0] != 1) {
        return complain(check, "an object header is wrong");
    }
    tpObjectParts object = { .kind = check->kind, .mayBeForeign = !isOpened(check, name) };
    int blockCount = 0, messageCount = tpGet16(head + 2);
    bool right = readBlock(check, address + 16, tpGet32(head + 8), &object, &blockCount);
    tpArena_Release(&check->arena, mark);
    if (!right || object.messageCount != messageCount) {
        return complain(check, "an object header is wrong");
    }
    if (!object.isGroup) {
        return cached == NULL ? checkDataset(check, &object) : complain(check, "a group is none");
    }
    groupPlace place = { object.tree, object.heap };
    if (cached != NULL && (cached->tree != place.tree || cached->heap != place.heap)) {
        return complain(check, "a group is in two places");
    }
    if (!tpIsGroupWhole(&object)) {
        return complain(check, "a group is wrong");
    }
    return checkGroup(check, place, depth + 1);
}

// Groups -----------------------------------------------------------------------------------------

typedef struct nameHeap {
    const char* bytes;
    uint64_t size;
} nameHeap;

static bool isName(const nameHeap* heap, uint64_t offset) {
    return offset < heap->size && memchr(heap->bytes + offset, 0, heap->size - offset) != NULL;
}

// The names of a group (III.D): a head, then elsewhere the names, among them a list of free pieces.
static bool readHeap(checker* check, uint64_t address, nameHeap* heap) {
    const unsigned char* head = take(check, address, 32);
    if (head == NULL || memcmp(head, "HEAP", 4) != 0 || head[4] != 0) {
        return complain(check, "a heap is wrong");
    }
    heap->size = tpGet64(head + 8);
    if (heap->size == 0 || heap->size > mostHeap || heap->size % 8 != 0) {
        return complain(check, "a heap is wrong");
    }
    const unsigned char* bytes = take(check, tpGet64(head + 24), heap->size);
    if (bytes == NULL) {
        return false;
    }
    heap->bytes = (const char*)bytes;
    // Free pieces follow each other upwards, which no list that goes in circles does.
    uint64_t piece = tpGet64(head + 16), from = 0;
    while (piece != tp_endOfFreeList) {
        if (heap->size < 16 || piece < from || piece > heap->size - 16 || piece % 8 != 0) {
            return complain(check, "a heap is wrong");
        }
        uint64_t length = tpGet64(bytes + piece + 8);
        if (length < 16 || length > heap->size - piece) {
            return complain(check, "a heap is wrong");
        }
        from = piece + length;
        piece = tpGet64(bytes + piece);
    }
    return true;
}

// Entries of a group (III.C), those of one node.
static bool checkEntries(checker* check, uint64_t address, const nameHeap* heap, int depth) {
    enum { entries = 8, entrySize = 40 };
    const unsigned char* node = take(check, address, 8 + entries * entrySize);
    if (node == NULL || memcmp(node, "SNOD", 4) != 0 || node[4] != 1 ||
        tpGet16(node + 6) > entries) {
        return complain(check, "a group is wrong");
    }
    for (int i = 0; i < tpGet16(node + 6); ++i) {
        const unsigned char* entry = node + 8 + i * entrySize;
        // 0: nothing is kept here, 1: the place of a group, 2: a path that leads elsewhere
        uint32_t kind = tpGet32(entry + 16);
        groupPlace cached = { tpGet64(entry + 24), tpGet64(entry + 32) };
        uint64_t name = tpGet64(entry);
        bool isPath = kind == 2 && check->kind == tp_problemFile;
        if (isPath && isName(heap, name) && !isOpened(check, heap->bytes + name)) {
            continue; // never followed
        }
        if (kind > 1 || !isName(heap, name) ||
            !checkObject(check, tpGet64(entry + 8), heap->bytes + name, kind == 1 ? &cached : NULL,
                         depth)) {
            return complain(check, "a group is wrong");
        }
    }
    return true;
}

// The index of a group (III.A.1) from one of its nodes down.
static bool checkIndex(checker* check, uint64_t address, int level, const nameHeap* heap,
                       int depth) {
    enum { entries = 32 };
    const unsigned char* node = take(check, address, 24 + (2 * entries + 1) * 8);
    if (node == NULL) {
        return false;
    }
    int nodeLevel = node[5], count = tpGet16(node + 6);
    bool right = memcmp(node, "TREE", 4) == 0 && node[4] == 0 && count <= entries &&
                 nodeLevel < mostLevels && (level < 0 || nodeLevel == level);
    for (int i = 0; right && i < count; ++i) {
        const unsigned char* key = node + 24 + 16 * i;
        uint64_t child = tpGet64(key + 8);
        right = isName(heap, tpGet64(key)) && isName(heap, tpGet64(key + 16)) &&
                (nodeLevel > 0 ? checkIndex(check, child, nodeLevel - 1, heap, depth)
                               : checkEntries(check, child, heap, depth));
    }
    return right || complain(check, "the index of a group is wrong");
}

static bool checkGroup(checker* check, groupPlace place, int depth) {
    // Groups in the root of a recording have datasets only, those of a problem matrices.
    if (depth > (check->kind == tp_recordingFile ? 2 : 4)) {
        return complain(check, "groups lie too deep");
    }
    nameHeap heap;
    tpArenaMark mark = tpArena_Mark(&check->arena);
    bool right =
        readHeap(check, place.heap, &heap) && checkIndex(check, place.tree, -1, &heap, depth);
    tpArena_Release(&check->arena, mark);
    return right;
}

// The file ---------------------------------------------------------------------------------------

// The superblock of version 0 (II.A), and through the entry of the root group everything else.
static bool checkSuperblock(checker* check, uint64_t size) {
    static const unsigned char start[] = {
        0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n', 0, 0, 0, 0, 0, 8, 8, 0, 4, 0, 16, 0, 0, 0, 0, 0
    };
    check->end = size;
    const unsigned char* super = take(check, 0, 96);
    if (super != NULL && check->kind == tp_problemFile && memcmp(super, start, 8) == 0 &&
        super[8] >= 2 && super[8] <= 3) {
        return complain(check, "it is of a newer form: write it with HDF5's earliest, as by "
                               "libver='earliest' in h5py");
    }
    if (super == NULL || memcmp(super, start, sizeof(start)) != 0 || tpGet64(super + 24) != 0 ||
        tpGet64(super + 32) != tp_undefinedAddress || tpGet64(super + 48) != tp_undefinedAddress) {
        return complain(check, "it does not begin as such files do");
    }
    check->end = tpGet64(super + 40);
    if (check->end > size) {
        return complain(check, "it is cut short");
    }
    groupPlace cached = { tpGet64(super + 80), tpGet64(super + 88) };
    if (tpGet32(super + 72) != 1) {
        return complain(check, "it does not begin as such files do");
    }
    return checkObject(check, tpGet64(super + 64), NULL, &cached, 0);
}

const char* tpCheckHdf5(int file, uint64_t size, tpHdf5Kind kind, const char* const* names,
                        const tpAllocator* allocator, bool* outOfMemory) {
    checker check = { .file = file, .kind = kind, .names = names };
    tpArena_Create(&check.arena, allocator);
    if (!checkSuperblock(&check, size) || !areDisjoint(&check)) {
        complain(&check, "its structure is wrong");
    }
    *outOfMemory = check.arena.failed;
    TP_FREE_ARRAY(allocator, check.extents);
    tpArena_Destroy(&check.arena);
    return check.wrong;
}
