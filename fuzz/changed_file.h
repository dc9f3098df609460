// Files that are mostly zeros, changed where it matters.
//
// Random bytes would rarely meet a number of such a file. The input of the fuzzer is instead a list
// of changes to a file that was made at the start. A change is a byte that says what to do, then
// `placeBytes` bytes that say where among the bytes that are not zero, then what to put there.
// Both files live in memory: HDF5 opens the changed one by its descriptor.

#ifndef TIPPE_FUZZ_CHANGED_FILE_H
#define TIPPE_FUZZ_CHANGED_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h> // memfd_create: define _GNU_SOURCE first
#include <unistd.h>

#include "fuzz.h"

enum { largestFile = 1 << 20 };

typedef struct OriginalFile {
    unsigned char bytes[largestFile];
    size_t size;
    size_t places[largestFile]; // of bytes that are not zero
    size_t placeCount;
} OriginalFile;

// The changed file, and where it is in memory.
typedef struct FuzzImage {
    unsigned char bytes[largestFile];
    int descriptor;
    char path[64];
    bool opensAll; // TIPPE_FUZZ_ALL=1: the library reads every file that passes the checks
} FuzzImage;

// A path for a file that is made at the start, before openImage.
static inline void nameScratch(char path[64]) {
    snprintf(path, 64, "/tmp/tippe_fuzz_%d.h5", (int)getpid());
}

// Takes the file at `path` as an original, and removes it.
static inline void takeOriginal(OriginalFile* original, const char* path) {
    FILE* stream = fopen(path, "rb");
    REQUIRE(stream != NULL);
    original->size = fread(original->bytes, 1, largestFile, stream);
    REQUIRE(original->size > 0 && original->size < largestFile && fclose(stream) == 0);
    unlink(path);
    for (size_t i = 0; i < original->size; ++i) {
        if (original->bytes[i] != 0) {
            original->places[original->placeCount++] = i;
        }
    }
}

static inline void openImage(FuzzImage* image) {
    image->descriptor = memfd_create("fuzz", 0);
    REQUIRE(image->descriptor >= 0);
    snprintf(image->path, sizeof(image->path), "/proc/self/fd/%d", image->descriptor);
    image->opensAll = getenv("TIPPE_FUZZ_ALL") != NULL;
}

// Applies the changes that `data` describes and returns the size of the file.
static inline size_t changeFile(FuzzImage* image, const OriginalFile* original, size_t placeBytes,
                                const uint8_t* data, size_t length) {
    unsigned char* bytes = image->bytes;
    memcpy(bytes, original->bytes, original->size);
    size_t size = original->size, head = 1 + placeBytes;
    while (length > head) {
        size_t number = 0;
        for (size_t i = 0; i < placeBytes; ++i) {
            number |= (size_t)data[1 + i] << (8 * i);
        }
        // Bytes behind a place matter as well: the high ones of a number are zeros.
        size_t where =
            (original->places[number % original->placeCount] + (data[0] >> 3 & 1)) % size;
        size_t count = 1 + (data[0] >> 4), room = size - where; // of the bytes that follow
        count = count < room ? count : room;
        size_t given = count < length - head ? count : length - head;
        switch (data[0] & 7) {
        case 0:
            size = where + 1;
            break;
        case 1:
            bytes[where] ^= data[head];
            break;
        case 2:
            memset(bytes + where, data[head], count);
            break;
        default:
            memcpy(bytes + where, data + head, given);
            break;
        }
        size_t used = head + ((data[0] & 7) > 2 ? given : 1);
        data += used;
        length -= used;
    }
    return size;
}

#endif
