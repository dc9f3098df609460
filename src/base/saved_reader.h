// Bytes that were saved, read from front to back: nothing is read beyond their end, and a count
// that cannot be is found out before memory is asked for.

#ifndef TIPPE_SRC_BASE_SAVED_READER_H
#define TIPPE_SRC_BASE_SAVED_READER_H

#include <string.h>

#include "tippe/base.h"

typedef struct tpSavedReader {
    const unsigned char* place;
    size_t left;
    bool failed; // something was asked for that is not there
} tpSavedReader;

// Copies the next bytes, or fails.
static inline bool tpSavedReader_Take(tpSavedReader* reader, void* to, size_t size) {
    if (reader->failed || size > reader->left) {
        reader->failed = true;
        return false;
    }
    if (size > 0) {
        memcpy(to, reader->place, size);
        reader->place += size;
        reader->left -= size;
    }
    return true;
}

// Whether so many things of this size can still come; fails where they cannot.
static inline bool tpSavedReader_Has(tpSavedReader* reader, int64_t count, size_t size) {
    bool isThere = !reader->failed && count >= 0 && (uint64_t)count <= reader->left / size;
    reader->failed = !isThere;
    return isThere;
}

#endif
