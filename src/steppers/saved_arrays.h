// Arrays that a stepper keeps from step to step, copied into a snapshot and back.

#ifndef TIPPE_SRC_STEPPERS_SAVED_ARRAYS_H
#define TIPPE_SRC_STEPPERS_SAVED_ARRAYS_H

#include "base/memory.h"
#include "base/saved_reader.h"

// One of them, as TP_ARRAY declares it.
typedef struct tpSavedArray {
    void** data;
    int* count;
    int* capacity;
    size_t size; // of an entry
} tpSavedArray;

#define TP_SAVED_ARRAY(array)                                                                      \
    { (void**)&(array).data, &(array).count, &(array).capacity, sizeof(*(array).data) }

// Bytes of all of them in a snapshot, their counts included.
size_t tpSavedArrays_Size(const tpSavedArray* arrays, int arrayCount);

// Writes them; returns the end.
unsigned char* tpSavedArrays_Save(const tpSavedArray* arrays, int arrayCount, unsigned char* place);

// Reads them. False if memory ran out or the bytes are not what was saved.
bool tpSavedArrays_Restore(const tpSavedArray* arrays, int arrayCount, const tpAllocator* allocator,
                           tpSavedReader* reader);

#endif
