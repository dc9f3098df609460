#include "dynamics/row_history.h"

#include <math.h>
#include <string.h>

void tpRowHistory_Destroy(tpRowHistory* history, const tpAllocator* allocator) {
    TP_FREE_ARRAY(allocator, history->list);
    TP_FREE_ARRAY(allocator, history->spare);
}

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

// Bends ------------------------------------------------------------------------------------------

static bool isLaw(tpRowRole role) {
    return role == tp_springRole || role == tp_servoRole || role == tp_damperRole;
}

// Rows whose biases are corrected at every end of a drift.
static bool mayBend(const tpBlockInfo* info) {
    return info->role == tp_heldRole || info->role == tp_rotorRole || isLaw(info->role);
}

// A forecast counts if it would have missed the last bend by no more than this part of it: bodies
// that are thrown about are better off with none.
static const double largestPart = 0.1;

// The next of the bends of row i: the polynomial through the last n of them, of that n, 1 to 3,
// which comes nearest to the last one from those before it; 0 if none does.
static double foresee(const tpRowMemory* last, int i, double h) {
    if (last->bendCount < 2 || last->h != h) {
        return 0.0;
    }
    double a = last->bends[0][i], b = last->bends[1][i];
    double c = last->bends[2][i], d = last->bends[3][i];
    const double errors[] = { a - b, a - 2.0 * b + c, a - 3.0 * (b - c) - d };
    const double next[] = { a, 2.0 * a - b, 3.0 * (a - b) + c };
    int best = 0;
    for (int n = 1; n + 1 < last->bendCount; ++n) {
        best = fabs(errors[n]) < fabs(errors[best]) ? n : best;
    }
    return fabs(errors[best]) <= largestPart * fabs(a) ? next[best] : 0.0;
}

void tpRowHistory_Foresee(const tpRowHistory* history, tpRows* rows, double h, bool withLaws) {
    int cursor = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        const tpBlockInfo* info = &rows->infos[b];
        bool isOfLaw = isLaw(info->role);
        if (info->source == tp_contactSource || !mayBend(info) || (isOfLaw && !withLaws)) {
            continue;
        }
        tpRowMemory wanted = memoryOf(rows, b);
        const tpRowMemory* last = find(history, &wanted, &cursor);
        for (int i = 0; last != NULL && i < rows->dimensions[b]; ++i) {
            double bend = h * foresee(last, i, h);
            rows->bias[rows->firstRows[b] + i] += bend;
            rows->missed[rows->firstRows[b] + i] += isOfLaw ? bend : 0.0;
        }
    }
}

// The bends of a block after this step, from those before it.
static void keepBends(tpRowMemory* memory, const tpRowMemory* last, const double* bias,
                      const double* written, double h) {
    bool isNext = last != NULL && last->bendCount > 0 && last->h == h;
    for (int i = 0; i < memory->rowCount; ++i) {
        for (int k = tp_keptBends - 1; isNext && k > 0; --k) {
            memory->bends[k][i] = last->bends[k - 1][i];
        }
        memory->bends[0][i] = (bias[i] - written[i]) / h;
    }
    memory->bendCount = !isNext ? 1 : last->bendCount + (last->bendCount < tp_keptBends ? 1 : 0);
    memory->h = h;
}

// Keeping -----------------------------------------------------------------------------------------

bool tpRowHistory_Keep(tpRowHistory* history, const tpAllocator* allocator, const tpRows* rows,
                       double h, const double* written) {
    if (!TP_RESERVE(allocator, history->spare, rows->blockCount)) {
        return false;
    }
    tpRowMemories kept = history->spare;
    kept.count = 0;
    int cursor = 0, place = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source == tp_contactSource) {
            continue;
        }
        int first = rows->firstRows[b];
        tpRowMemory memory = memoryOf(rows, b);
        for (int i = 0; i < rows->dimensions[b]; ++i) {
            memory.force[i] = rows->impulse[first + i] / h;
        }
        if (written != NULL && mayBend(&rows->infos[b])) {
            keepBends(&memory, find(history, &memory, &cursor), rows->bias + first, written + place,
                      h);
        }
        place += rows->dimensions[b];
        kept.data[kept.count++] = memory;
    }
    history->spare = history->list;
    history->list = kept;
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
