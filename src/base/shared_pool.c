#include "base/shared_pool.h"

#include <string.h>

// Before each record. Entries of one list are chained; so are free ones.
typedef struct SharedEntry {
    uint64_t hash;
    int32_t users, next;
} SharedEntry;

enum { entriesPerPiece = 32, leastLists = 16 };

static size_t strideOf(const tpSharedPool* pool) {
    return sizeof(SharedEntry) + ((pool->size + 7) & ~(size_t)7);
}

static SharedEntry* entryAt(const tpSharedPool* pool, int32_t index) {
    unsigned char* piece = pool->pieces.data[index / entriesPerPiece];
    return (SharedEntry*)(void*)(piece + strideOf(pool) * (size_t)(index % entriesPerPiece));
}

static void* recordOf(SharedEntry* entry) {
    return entry + 1;
}

static uint64_t hashOf(const void* record, size_t size) {
    const unsigned char* bytes = record;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t k = 0; k < size; k += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, bytes + k, size - k < sizeof(word) ? size - k : sizeof(word));
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static int32_t* headOf(const tpSharedPool* pool, uint64_t hash) {
    return &pool->heads.data[hash & (uint64_t)(pool->heads.count - 1)];
}

void tpCreateSharedPool(tpSharedPool* pool, const tpAllocator* allocator, size_t size) {
    memset(pool, 0, sizeof(*pool));
    pool->allocator = *allocator;
    pool->size = size;
    pool->firstFree = -1;
}

void tpDestroySharedPool(tpSharedPool* pool) {
    for (int i = 0; i < pool->pieces.count; ++i) {
        tpRelease(&pool->allocator, pool->pieces.data[i], entriesPerPiece * strideOf(pool));
    }
    TP_FREE_ARRAY(&pool->allocator, pool->pieces);
    TP_FREE_ARRAY(&pool->allocator, pool->heads);
}

// As many lists as records, so that they are short.
static bool growLists(tpSharedPool* pool) {
    if (pool->count < pool->heads.count) {
        return true;
    }
    int lists = pool->heads.count > 0 ? 2 * pool->heads.count : leastLists;
    if (!TP_RESERVE(&pool->allocator, pool->heads, lists)) {
        return false;
    }
    pool->heads.count = lists;
    for (int i = 0; i < lists; ++i) {
        pool->heads.data[i] = -1;
    }
    for (int32_t i = 0; i < pool->entryCount; ++i) {
        SharedEntry* entry = entryAt(pool, i);
        if (entry->users > 0) {
            int32_t* head = headOf(pool, entry->hash);
            entry->next = *head;
            *head = i;
        }
    }
    return true;
}

// An entry that nobody has; -1 if memory ran out.
static int32_t takeEntry(tpSharedPool* pool) {
    int32_t index = pool->firstFree;
    if (index >= 0) {
        pool->firstFree = entryAt(pool, index)->next;
        return index;
    }
    if (pool->entryCount == entriesPerPiece * pool->pieces.count) {
        if (!TP_RESERVE(&pool->allocator, pool->pieces, pool->pieces.count + 1)) {
            return -1;
        }
        unsigned char* piece = tpAllocate(&pool->allocator, entriesPerPiece * strideOf(pool));
        if (piece == NULL) {
            return -1;
        }
        pool->pieces.data[pool->pieces.count++] = piece;
    }
    return pool->entryCount++;
}

// What was taken or begun lately is asked for first: crowds are made one like the other. The
// other one is for things that begin as nothing, as bodies do before they have a shape.
static const void* takeRecent(tpSharedPool* pool, const void* record) {
    for (int k = 0; k < 2; ++k) {
        SharedEntry* entry =
            pool->recent[k] < pool->entryCount ? entryAt(pool, pool->recent[k]) : NULL;
        if (entry != NULL && entry->users > 0 && memcmp(recordOf(entry), record, pool->size) == 0) {
            entry->users += 1;
            return recordOf(entry);
        }
    }
    return NULL;
}

static void remember(tpSharedPool* pool, int32_t index) {
    pool->recent[1] = pool->recent[0];
    pool->recent[0] = index;
}

const void* tpSharedPool_Take(tpSharedPool* pool, const void* record) {
    const void* recent = takeRecent(pool, record);
    if (recent != NULL) {
        return recent;
    }
    uint64_t hash = hashOf(record, pool->size);
    for (int32_t i = pool->heads.count > 0 ? *headOf(pool, hash) : -1; i >= 0;) {
        SharedEntry* entry = entryAt(pool, i);
        if (entry->hash == hash && memcmp(recordOf(entry), record, pool->size) == 0) {
            entry->users += 1;
            remember(pool, i);
            return recordOf(entry);
        }
        i = entry->next;
    }
    int32_t index = growLists(pool) ? takeEntry(pool) : -1;
    if (index < 0) {
        return NULL;
    }
    SharedEntry* entry = entryAt(pool, index);
    int32_t* head = headOf(pool, hash);
    *entry = (SharedEntry){ hash, 1, *head };
    memcpy(recordOf(entry), record, pool->size);
    *head = index;
    pool->count += 1;
    remember(pool, index);
    return recordOf(entry);
}

void tpSharedPool_GiveBack(tpSharedPool* pool, const void* record) {
    SharedEntry* entry =
        (SharedEntry*)(void*)((unsigned char*)(uintptr_t)record - sizeof(SharedEntry));
    TP_ASSERT(entry->users > 0);
    entry->users -= 1;
    if (entry->users > 0) {
        return;
    }
    int32_t* place = headOf(pool, entry->hash);
    while (entryAt(pool, *place) != entry) {
        place = &entryAt(pool, *place)->next;
    }
    int32_t index = *place;
    *place = entry->next;
    entry->next = pool->firstFree;
    pool->firstFree = index;
    pool->count -= 1;
}
