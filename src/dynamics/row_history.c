#include "dynamics/row_history.h"

#include <string.h>

static tpRowMemory memoryOf(const tpRows* rows, int block) {
    const tpBlockInfo* info = &rows->infos[block];
    tpRowMemory memory;
    memset(&memory, 0, sizeof(memory));
    memory.owner = info->isCoupling ? -1 - info->index : info->index;
    memory.role = (int)info->role;
    memory.coordinate = info->coordinate;
    memory.part = info->part;
    memory.source = (int)info->source;
    memory.rowCount = rows->dimensions[block];
    return memory;
}

static bool isSame(const tpRowMemory* a, const tpRowMemory* b) {
    return a->owner == b->owner && a->role == b->role && a->coordinate == b->coordinate &&
           a->part == b->part && a->source == b->source && a->rowCount == b->rowCount;
}

// Whether rows of `a` are written before those of `b`: joints in order, then couplings.
static bool isBefore(const tpRowMemory* a, const tpRowMemory* b) {
    bool isCouplingA = a->owner < 0, isCouplingB = b->owner < 0;
    if (isCouplingA != isCouplingB) {
        return isCouplingB;
    }
    return isCouplingA ? a->owner > b->owner : a->owner < b->owner;
}

// The memory of the same block, NULL if there is none. Blocks are asked for in order; the cursor
// begins at 0.
static tpRowMemory* find(const tpRowHistory* history, const tpRowMemory* wanted, int* cursor) {
    tpRowMemory* list = history->list.data;
    int count = history->list.count;
    while (*cursor < count && isBefore(&list[*cursor], wanted)) {
        *cursor += 1;
    }
    for (int k = *cursor; k < count && !isBefore(wanted, &list[k]); ++k) {
        if (isSame(&list[k], wanted)) {
            return &list[k];
        }
    }
    return NULL;
}

void tpRowHistory_Start(const tpRowHistory* history, tpRows* rows, double h) {
    int cursor = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source == tp_contactSource) {
            continue;
        }
        tpRowMemory wanted = memoryOf(rows, b);
        const tpRowMemory* last = find(history, &wanted, &cursor);
        // The load of a bounded impulse is known.
        bool isBounded = rows->infos[b].source == tp_boundedSource;
        for (int i = isBounded ? 1 : 0; last != NULL && i < rows->dimensions[b]; ++i) {
            rows->impulse[rows->firstRows[b] + i] = h * last->force[i];
        }
    }
}

bool tpRowHistory_Keep(tpRowHistory* history, const tpAllocator* allocator, const tpRows* rows,
                       double h) {
    history->list.count = 0;
    if (!TP_RESERVE(allocator, history->list, rows->blockCount)) {
        return false;
    }
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source == tp_contactSource) {
            continue;
        }
        tpRowMemory memory = memoryOf(rows, b);
        for (int i = 0; i < rows->dimensions[b]; ++i) {
            memory.force[i] = rows->impulse[rows->firstRows[b] + i] / h;
        }
        history->list.data[history->list.count++] = memory;
    }
    return true;
}

void tpRowHistory_Balance(tpRowHistory* first, tpRowHistory* second) {
    int cursor = 0;
    for (int i = 0; i < first->list.count; ++i) {
        tpRowMemory* own = &first->list.data[i];
        bool isBounded = own->source == (int)tp_boundedSource;
        tpRowMemory* other = isBounded ? find(second, own, &cursor) : NULL;
        for (int k = 1; other != NULL && k < own->rowCount; ++k) {
            own->force[k] = other->force[k] = 0.5 * (own->force[k] + other->force[k]);
        }
    }
}
