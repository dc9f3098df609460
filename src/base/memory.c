#ifdef __linux__
#define _GNU_SOURCE // MAP_ANONYMOUS, mremap
#endif

#include "base/memory.h"

#include <limits.h>
#include <stdint.h>
#if defined(_WIN32)
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TIPPE_HAS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TIPPE_HAS_SANITIZER
#endif
#ifdef TIPPE_HAS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif
#if defined(__linux__) && !defined(TIPPE_HAS_SANITIZER)
#define TIPPE_MAPS_LARGE
#include <sys/mman.h>
#endif

enum { alignment = 64, pageSize = 4096 };

static size_t roundUp(size_t size) {
    return (size + alignment - 1) & ~(size_t)(alignment - 1);
}

// Blocks of this size and more come from the system itself and go back to it when they are
// released: arrays that grow would leave holes in the heap that nothing else fits into. A sanitizer
// sees the heap alone.
#ifdef TIPPE_MAPS_LARGE
static const size_t largeSize = (size_t)1 << 17;

// In those of this size and more, pages of 2 MB are asked for, if the system has them: loops over a
// hundred thousand bodies take an eighth longer if they look up an address every 4 kB. In smaller
// ones, too much of what is in reserve would be given as well.
static const size_t hugeSize = (size_t)1 << 23, hugePage = (size_t)1 << 21;

static void* mapPages(size_t size) {
    void* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

// A block that begins with a large page.
static void* mapHuge(size_t size) {
    const size_t whole = (size + pageSize - 1) & ~(size_t)(pageSize - 1);
    unsigned char* memory = whole < SIZE_MAX - hugePage ? mapPages(whole + hugePage) : NULL;
    if (memory == NULL) {
        return NULL;
    }
    size_t before = (size_t)(-(uintptr_t)memory & (hugePage - 1));
    if (before > 0) {
        munmap(memory, before);
    }
    if (before < hugePage) {
        munmap(memory + before + whole, hugePage - before);
    }
#ifdef MADV_HUGEPAGE
    (void)madvise(memory + before, whole, MADV_HUGEPAGE);
#endif
    return memory + before;
}

static void* mapLarge(size_t size) {
    return size >= hugeSize ? mapHuge(size) : mapPages(size);
}
#endif

static void* heapAllocate(size_t size, void* context) {
    (void)context;
    if (size > SIZE_MAX - alignment) {
        return NULL;
    }
#if defined(TIPPE_MAPS_LARGE)
    return size >= largeSize ? mapLarge(size) : aligned_alloc(alignment, roundUp(size));
#elif defined(_WIN32)
    return _aligned_malloc(roundUp(size), alignment);
#else
    return aligned_alloc(alignment, roundUp(size));
#endif
}

static void heapRelease(void* memory, size_t size, void* context) {
    (void)context;
#if defined(TIPPE_MAPS_LARGE)
    if (size >= largeSize) {
        munmap(memory, size);
        return;
    }
    free(memory);
#elif defined(_WIN32)
    (void)size;
    _aligned_free(memory);
#else
    (void)size;
    free(memory);
#endif
}

// A larger block with what was in a smaller one, which is gone then; NULL if that cannot be done
// without a copy.
static void* stretch(const tpAllocator* allocator, void* memory, size_t size, size_t larger) {
#ifdef TIPPE_MAPS_LARGE
    // A block that becomes large enough for large pages is copied into these: small pages, which
    // have come one by one between those of other arrays, take longer to look up.
    bool isCopied = size < largeSize || (size < hugeSize && larger >= hugeSize);
    if (allocator->allocate == heapAllocate && !isCopied) {
        void* place = size >= hugeSize ? mapHuge(larger) : NULL;
        int flags = MREMAP_MAYMOVE | (place != NULL ? MREMAP_FIXED : 0);
        void* moved = mremap(memory, size, larger, flags, place);
        if (moved == MAP_FAILED && place != NULL) {
            munmap(place, larger);
        }
        return moved != MAP_FAILED ? moved : NULL;
    }
#endif
    (void)allocator;
    (void)memory;
    (void)size;
    (void)larger;
    return NULL;
}

// A block of which most is in reserve: large pages would give more of that than they gain.
static void keepPagesSmall(const tpAllocator* allocator, void* memory, size_t size) {
#if defined(TIPPE_MAPS_LARGE) && defined(MADV_NOHUGEPAGE)
    if (allocator->allocate == heapAllocate && size >= hugeSize && size < 4 * hugeSize) {
        (void)madvise(memory, size & ~(size_t)(pageSize - 1), MADV_NOHUGEPAGE);
    }
#endif
    (void)allocator;
    (void)memory;
    (void)size;
}

tpAllocator tpDefaultAllocator(void) {
    tpAllocator allocator = { heapAllocate, heapRelease, NULL };
    return allocator;
}

void* tpAllocate(const tpAllocator* allocator, size_t size) {
    return size == 0 ? NULL : allocator->allocate(size, allocator->context);
}

void* tpAllocateZeroed(const tpAllocator* allocator, size_t size) {
    void* memory = tpAllocate(allocator, size);
    if (memory != NULL) {
        memset(memory, 0, size);
    }
    return memory;
}

void tpRelease(const tpAllocator* allocator, void* memory, size_t size) {
    if (memory != NULL) {
        allocator->release(memory, size, allocator->context);
    }
}

bool tpArray_Reserve(const tpAllocator* allocator, void** data, int* capacity, int wanted,
                     size_t elementSize) {
    if (wanted <= *capacity) {
        return true;
    }
    // Double, so that a million pushes copy a million elements; never past what an int can count.
    int grown = *capacity > INT_MAX / 2 ? INT_MAX : 2 * *capacity;
    if (grown < wanted) {
        grown = wanted;
    }
    if (grown < 8) {
        grown = 8;
    }
    if ((size_t)grown > SIZE_MAX / elementSize) {
        return false;
    }
    size_t size = (size_t)*capacity * elementSize;
    void* bigger = stretch(allocator, *data, size, (size_t)grown * elementSize);
    if (bigger == NULL) {
        bigger = tpAllocate(allocator, (size_t)grown * elementSize);
        if (bigger == NULL) {
            return false;
        }
        if (*data != NULL) {
            memcpy(bigger, *data, size);
            tpRelease(allocator, *data, size);
        }
    }
    *data = bigger;
    *capacity = grown;
    return true;
}

void tpTouchPages(void* memory, size_t size) {
    volatile unsigned char* bytes = memory;
    for (size_t i = 0; i < size; i += pageSize) {
        bytes[i] = 0;
    }
    if (size > 0) {
        bytes[size - 1] = 0;
    }
}

bool tpArray_Prepare(const tpAllocator* allocator, void** data, int* capacity, int begin,
                     int wanted, size_t elementSize) {
    if (!tpArray_Reserve(allocator, data, capacity, wanted, elementSize)) {
        return false;
    }
    if (begin < wanted) {
        tpTouchPages((unsigned char*)*data + (size_t)begin * elementSize,
                     (size_t)(wanted - begin) * elementSize);
    }
    return true;
}

bool tpArray_Renew(const tpAllocator* allocator, void** data, int* capacity, int wanted,
                   size_t elementSize) {
    if (wanted <= *capacity) {
        return true;
    }
    int grown = wanted > INT_MAX - wanted / 8 ? INT_MAX : wanted + wanted / 8;
    tpRelease(allocator, *data, (size_t)*capacity * elementSize);
    *data = NULL;
    *capacity = 0;
    if ((size_t)grown > SIZE_MAX / elementSize) {
        return false;
    }
    *data = tpAllocate(allocator, (size_t)grown * elementSize);
    *capacity = *data != NULL ? grown : 0;
    return *data != NULL;
}

// Arena ---------------------------------------------------------------------------------------

struct tpArenaBlock {
    tpArenaBlock* older;
    size_t size;   // of the payload
    size_t offset; // bytes of the payload handed out
    unsigned char padding[alignment - 3 * sizeof(size_t)];
};

_Static_assert(sizeof(tpArenaBlock) == alignment, "the payload of an arena block must be aligned");

static unsigned char* payload(tpArenaBlock* block) {
    return (unsigned char*)(block + 1);
}

// Under the address sanitizer only the bytes that are handed out may be touched: each piece of
// scratch ends in a guard, and what was given back is closed again. A fresh piece is filled with
// ones, which are NaN as doubles and -1 as integers, so that no result rests on what an earlier
// piece left there.
#ifdef TIPPE_HAS_SANITIZER
enum { guardSize = alignment };

static void closePieces(tpArenaBlock* block, size_t from, size_t to) {
    __asan_poison_memory_region(payload(block) + from, to - from);
}

static void openWhole(tpArenaBlock* block) {
    __asan_unpoison_memory_region(payload(block), block->size);
}

static void touchByte(unsigned char* byte) {
    (void)byte; // it may not be touched yet
}

static void openPiece(void* memory, size_t size) {
    __asan_unpoison_memory_region(memory, size);
    memset(memory, 0xff, size);
}
#else
enum { guardSize = 0 };

static void closePieces(tpArenaBlock* block, size_t from, size_t to) {
    (void)block;
    (void)from;
    (void)to;
}

static void openWhole(tpArenaBlock* block) {
    (void)block;
}

static void touchByte(unsigned char* byte) {
    *(volatile unsigned char*)byte = 0;
}

static void openPiece(void* memory, size_t size) {
    (void)memory;
    (void)size;
}
#endif

static void releaseBlock(tpArena* arena, tpArenaBlock* block) {
    openWhole(block);
    tpRelease(&arena->allocator, block, sizeof(tpArenaBlock) + block->size);
}

static bool addBlock(tpArena* arena, size_t size) {
    if (size > SIZE_MAX - sizeof(tpArenaBlock)) {
        return false;
    }
    tpArenaBlock* block = tpAllocate(&arena->allocator, sizeof(tpArenaBlock) + size);
    if (block == NULL) {
        return false;
    }
    keepPagesSmall(&arena->allocator, block, sizeof(tpArenaBlock) + size);
    block->older = arena->newest;
    block->size = size;
    block->offset = 0;
    closePieces(block, 0, size);
    arena->newest = block;
    arena->touched = 0;
    return true;
}

void tpArena_Create(tpArena* arena, const tpAllocator* allocator) {
    memset(arena, 0, sizeof(*arena));
    arena->allocator = *allocator;
}

void tpArena_Destroy(tpArena* arena) {
    while (arena->newest != NULL) {
        tpArenaBlock* older = arena->newest->older;
        releaseBlock(arena, arena->newest);
        arena->newest = older;
    }
}

void tpArena_Prepare(tpArena* arena, size_t size) {
    if (arena->used > 0 || size > SIZE_MAX / 4) {
        return;
    }
    // Half more than is asked for must fit, and as much again: whoever asks again and again, each
    // time for a little more, gets a new block a few times only.
    if (arena->newest == NULL || arena->newest->older != NULL ||
        arena->newest->size < size + size / 2) {
        tpArena_Destroy(arena);
        if (!addBlock(arena, roundUp(3 * size))) {
            return;
        }
    }
    for (; arena->touched < size; arena->touched += pageSize) {
        touchByte(payload(arena->newest) + arena->touched);
    }
}

// A block that has room for so much. NULL, and the arena has failed, if there is none.
__attribute__((noinline)) static tpArenaBlock* findBlock(tpArena* arena, size_t size) {
    tpArenaBlock* block = arena->newest;
    // A fresh block at least doubles what there is, so their number stays small.
    size_t grown = block != NULL ? 2 * block->size : (size_t)64 * 1024;
    if (!addBlock(arena, grown > size ? grown : size) && !addBlock(arena, size)) {
        arena->failed = true;
        return NULL;
    }
    return arena->newest;
}

void* tpArena_Get(tpArena* arena, size_t size) {
    if (size > SIZE_MAX / 4) {
        arena->failed = true;
        return NULL;
    }
    size_t asked = size;
    size = roundUp(size == 0 ? 1 : size) + guardSize;
    tpArenaBlock* block = arena->newest;
    if (block == NULL || block->size - block->offset < size) {
        block = findBlock(arena, size);
        if (block == NULL) {
            return NULL;
        }
    }
    void* memory = payload(block) + block->offset;
    openPiece(memory, asked);
    block->offset += size;
    arena->used += size;
    arena->most = arena->used > arena->most ? arena->used : arena->most;
    return memory;
}

void* tpArena_GetZeroed(tpArena* arena, size_t size) {
    void* memory = tpArena_Get(arena, size);
    if (memory != NULL) {
        memset(memory, 0, size);
    }
    return memory;
}

static void* takeFromArena(size_t size, void* context) {
    return tpArena_Get(context, size);
}

static void leaveToArena(void* memory, size_t size, void* context) {
    (void)memory;
    (void)size;
    (void)context;
}

tpAllocator tpArena_AsAllocator(tpArena* arena) {
    tpAllocator allocator = { takeFromArena, leaveToArena, arena };
    return allocator;
}

void tpArena_Reset(tpArena* arena) {
    arena->used = 0;
    arena->failed = false;
    tpArenaBlock* newest = arena->newest;
    if (newest == NULL) {
        return;
    }
    closePieces(newest, 0, newest->offset);
    newest->offset = 0;
    if (newest->older == NULL) {
        return;
    }
    if (newest->size >= arena->most) {
        // It holds all that was ever needed, and its pages have been touched.
        while (newest->older != NULL) {
            tpArenaBlock* older = newest->older;
            newest->older = older->older;
            releaseBlock(arena, older);
        }
        return;
    }
    tpArena_Destroy(arena);
    addBlock(arena, roundUp(arena->most + arena->most / 2));
}

tpArenaMark tpArena_Mark(const tpArena* arena) {
    tpArenaMark mark = { arena->newest, arena->newest != NULL ? arena->newest->offset : 0,
                         arena->used };
    return mark;
}

void tpArena_Release(tpArena* arena, tpArenaMark mark) {
    tpArenaBlock* newest = arena->newest;
    arena->used = mark.used;
    if (mark.block != NULL) {
        closePieces(mark.block, mark.offset, mark.block->offset);
        mark.block->offset = mark.offset;
    }
    if (newest == mark.block) {
        return;
    }
    // Of the blocks added since, the newest stays: it is at least as large as the others together.
    while (newest->older != mark.block) {
        tpArenaBlock* older = newest->older;
        newest->older = older->older;
        releaseBlock(arena, older);
    }
    closePieces(newest, 0, newest->offset);
    newest->offset = 0;
}
