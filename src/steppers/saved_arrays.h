// Arrays that a stepper keeps from step to step, copied into a snapshot and back.

#ifndef TIPPE_SRC_STEPPERS_SAVED_ARRAYS_H
#define TIPPE_SRC_STEPPERS_SAVED_ARRAYS_H

#include "base/memory.h"

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

// Reads them; returns the end, or NULL if memory ran out (the arrays are then as they were).
const unsigned char* tpSavedArrays_Restore(const tpSavedArray* arrays, int arrayCount,
                                           const tpAllocator* allocator,
                                           const unsigned char* place);

#endif
