#include "world/archive.h"

#include <limits.h>

void* tpArchive_Grow(tpArchive* archive, size_t size) {
    size_t count = (size_t)archive->bytes.count;
    bool fits = size <= (size_t)INT_MAX && count + size <= (size_t)INT_MAX;
    if (archive->isOutOfMemory || !fits ||
        !TP_RESERVE(archive->allocator, archive->bytes, (int)(count + size))) {
        archive->isOutOfMemory = true;
        return NULL;
    }
    archive->bytes.count = (int)(count + size);
    return archive->bytes.data + count;
}

void tpArchive_Bytes(tpArchive* archive, void* data, size_t size) {
    if (archive->mode == tp_archiveReads) {
        tpSavedReader_Take(&archive->reader, data, size);
        return;
    }
    void* place = size > 0 ? tpArchive_Grow(archive, size) : NULL;
    if (place != NULL) {
        memcpy(place, data, size);
    }
}

void tpArchive_Double(tpArchive* archive, double* number) {
    tpArchive_Bytes(archive, number, sizeof(*number));
}

void tpArchive_Doubles(tpArchive* archive, double* numbers, int count) {
    tpArchive_Bytes(archive, numbers, sizeof(double) * (size_t)count);
}

void tpArchive_Int(tpArchive* archive, int* number) {
    tpArchive_Bytes(archive, number, sizeof(*number));
}

void tpArchive_Unsigned(tpArchive* archive, uint32_t* number) {
    tpArchive_Bytes(archive, number, sizeof(*number));
}

void tpArchive_Long(tpArchive* archive, int64_t* number) {
    tpArchive_Bytes(archive, number, sizeof(*number));
}

void tpArchive_Bool(tpArchive* archive, bool* flag) {
    unsigned char byte = *flag ? 1 : 0;
    tpArchive_Bytes(archive, &byte, 1);
    *flag = byte != 0;
}

void tpArchive_Vec3(tpArchive* archive, tpVec3* vector) {
    tpArchive_Bytes(archive, vector, sizeof(*vector));
}
