// Memory through an allocator, typed arrays that grow, and an arena for scratch.
//
// Arrays: TP_ARRAY(double) is an anonymous struct { double* data; int count, capacity; }; give it a
// name with typedef where it crosses a function. All growth can fail: the macros below return false
// and leave the array as it was.
//
// The arena hands out scratch memory that lives until the next tpArena_Reset or tpArena_Release to
// a mark. After a reset its memory is one block large enough for the most that was in use at once,
// so a step that has warmed up allocates nothing.

#ifndef TIPPE_SRC_BASE_MEMORY_H
#define TIPPE_SRC_BASE_MEMORY_H

#include "base/assert.h"
#include "tippe/base.h"

// Memory of `size` bytes, aligned to 64; NULL if there is none, or for a size of zero.
void* tpAllocate(const tpAllocator* allocator, size_t size);
void* tpAllocateZeroed(const tpAllocator* allocator, size_t size);
void tpRelease(const tpAllocator* allocator, void* memory, size_t size);

#define TP_ARRAY(type)                                                                             \
    struct {                                                                                       \
        type* data;                                                                                \
        int count;                                                                                 \
        int capacity;                                                                              \
    }

// Room for at least `capacity` elements, doubling. True on success.
#define TP_RESERVE(allocator, array, wanted)                                                       \
    tpArray_Reserve((allocator), (void**)&(array).data, &(array).capacity, (wanted),               \
                    sizeof(*(array).data))

// The same, and the pages of elements from `begin` up to `wanted` that are beyond
// its count are touched: whoever fills them in later does not wait for the system. True on success.
#define TP_PREPARE(allocator, array, begin, wanted)                                                \
    tpArray_Prepare((allocator), (void**)&(array).data, &(array).capacity,                         \
                    (begin) > (array).count ? (begin) : (array).count, (wanted),                   \
                    sizeof(*(array).data))

// The same for an array whose elements need not be kept: they are given back first, and little more
// is asked for than is wanted. If memory ran out the array is empty.
#define TP_RENEW(allocator, array, wanted)                                                         \
    tpArray_Renew((allocator), (void**)&(array).data, &(array).capacity, (wanted),                 \
                  sizeof(*(array).data))

// Appends a value. True on success.
#define TP_PUSH(allocator, array, value)                                                           \
    (TP_RESERVE(allocator, array, (array).count + 1)                                               \
         ? ((array).data[(array).count++] = (value), true)                                         \
         : false)

#define TP_FREE_ARRAY(allocator, array)                                                            \
    (tpRelease((allocator), (array).data, (size_t)(array).capacity * sizeof(*(array).data)),       \
     (array).data = NULL, (array).count = 0, (array).capacity = 0)

// The place of element i; NULL in an array that has no memory yet, to which C does not let one add
// even 0.
#define TP_PLACE(array, i) ((array).data != NULL ? (array).data + (i) : NULL)

// Two arrays of one type change places.
#define TP_SWAP_ARRAYS(a, b)                                                                       \
    do {                                                                                           \
        void* data_ = (a).data;                                                                    \
        int count_ = (a).count, capacity_ = (a).capacity;                                          \
        (a).data = (b).data;                                                                       \
        (a).count = (b).count;                                                                     \
        (a).capacity = (b).capacity;                                                               \
        (b).data = data_;                                                                          \
        (b).count = count_;                                                                        \
        (b).capacity = capacity_;                                                                  \
    } while (0)

bool tpArray_Reserve(const tpAllocator* allocator, void** data, int* capacity, int wanted,
                     size_t elementSize);

bool tpArray_Prepare(const tpAllocator* allocator, void** data, int* capacity, int begin,
                     int wanted, size_t elementSize);

bool tpArray_Renew(const tpAllocator* allocator, void** data, int* capacity, int wanted,
                   size_t elementSize);

// Touches the pages of memory that nobody uses yet: a byte of each becomes zero.
void tpTouchPages(void* memory, size_t size);

typedef struct tpArenaBlock tpArenaBlock;

typedef struct tpArena {
    tpAllocator allocator;
    tpArenaBlock* newest; // blocks chain to older ones
    size_t used;          // bytes handed out since the last reset, padding included
    size_t most;          // of them at once, ever
    bool failed;          // an allocation failed since the last reset
    size_t touched;       // bytes of the newest block that tpArena_Prepare has touched
} tpArena;

// A place in the arena to return to.
typedef struct tpArenaMark {
    tpArenaBlock* block;
    size_t offset;
    size_t used;
} tpArenaMark;

void tpArena_Create(tpArena* arena, const tpAllocator* allocator);
void tpArena_Destroy(tpArena* arena);

// Scratch memory aligned to 64 bytes. NULL if there is none (and `failed` is set); size zero
// gives a valid pointer to nothing.
void* tpArena_Get(tpArena* arena, size_t size);
void* tpArena_GetZeroed(tpArena* arena, size_t size);

// Typed: TP_SCRATCH(arena, double, n)
#define TP_SCRATCH(arena, type, number)                                                            \
    ((type*)tpArena_Get((arena), sizeof(type) * (size_t)(number)))
#define TP_SCRATCH_ZEROED(arena, type, number)                                                     \
    ((type*)tpArena_GetZeroed((arena), sizeof(type) * (size_t)(number)))

// Gives everything back; blocks become one, of the most that was in use at once and half more: what
// is not used costs addresses, and to grow in every other step costs time.
void tpArena_Reset(tpArena* arena);

// For an arena that has handed out nothing yet: one block in which `size` bytes have been touched,
// so that the system has given them memory before it is needed. Does nothing if the arena is in use
// or memory ran out.
void tpArena_Prepare(tpArena* arena, size_t size);

// An allocator that takes from the arena and leaves it to the arena to give back: for arrays that
// live no longer than that.
tpAllocator tpArena_AsAllocator(tpArena* arena);

tpArenaMark tpArena_Mark(const tpArena* arena);

// Gives back what was handed out after the mark (memory stays with the arena).
void tpArena_Release(tpArena* arena, tpArenaMark mark);

#endif
