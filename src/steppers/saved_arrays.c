#include "steppers/saved_arrays.h"

#include <string.h>

size_t tpSavedArrays_Size(const tpSavedArray* arrays, int arrayCount) {
    size_t size = sizeof(int) * (size_t)arrayCount;
    for (int i = 0; i < arrayCount; ++i) {
        size += arrays[i].size * (size_t)*arrays[i].count;
    }
    return size;
}

unsigned char* tpSavedArrays_Save(const tpSavedArray* arrays, int arrayCount,
                                  unsigned char* place) {
    for (int i = 0; i < arrayCount; ++i) {
        memcpy(place, arrays[i].count, sizeof(int));
        place += sizeof(int);
    }
    for (int i = 0; i < arrayCount; ++i) {
        size_t size = arrays[i].size * (size_t)*arrays[i].count;
        if (size > 0) {
            memcpy(place, *arrays[i].data, size);
            place += size;
        }
    }
    return place;
}

const unsigned char* tpSavedArrays_Restore(const tpSavedArray* arrays, int arrayCount,
                                           const tpAllocator* allocator,
                                           const unsigned char* place) {
    const unsigned char* counts = place;
    place += sizeof(int) * (size_t)arrayCount;
    for (int i = 0; i < arrayCount; ++i) {
        int count;
        memcpy(&count, counts + sizeof(int) * (size_t)i, sizeof(int));
        if (!tpArray_Reserve(allocator, arrays[i].data, arrays[i].capacity, count,
                             arrays[i].size)) {
            return NULL;
        }
    }
    for (int i = 0; i < arrayCount; ++i) {
        memcpy(arrays[i].count, counts + sizeof(int) * (size_t)i, sizeof(int));
        size_t size = arrays[i].size * (size_t)*arrays[i].count;
        if (size > 0) {
            memcpy(*arrays[i].data, place, size);
            place += size;
        }
    }
    return place;
}
