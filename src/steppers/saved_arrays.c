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

bool tpSavedArrays_Restore(const tpSavedArray* arrays, int arrayCount, const tpAllocator* allocator,
                           tpSavedReader* reader) {
    enum { mostArrays = 16 };
    int counts[mostArrays];
    TP_ASSERT(arrayCount <= mostArrays);
    if (!tpSavedReader_Take(reader, counts, sizeof(int) * (size_t)arrayCount)) {
        return false;
    }
    for (int i = 0; i < arrayCount; ++i) {
        if (!tpSavedReader_Has(reader, counts[i], arrays[i].size) ||
            !tpArray_Reserve(allocator, arrays[i].data, arrays[i].capacity, counts[i],
                             arrays[i].size)) {
            return false;
        }
    }
    for (int i = 0; i < arrayCount; ++i) {
        size_t size = arrays[i].size * (size_t)counts[i];
        if (!tpSavedReader_Take(reader, *arrays[i].data, size)) {
            return false;
        }
        *arrays[i].count = counts[i];
    }
    return true;
}
