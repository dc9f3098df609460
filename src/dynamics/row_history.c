#include "dynamics/row_history.h"

#include <math.h>
#include <string.h>

void tpRowHistory_Destroy(tpRowHistory* history, const tpAllocator* allocator) {
    TP_FREE_ARRAY(allocator, history->list);
    TP_FREE_ARRAY(allocator, history->spare);
}

static tpRowKey keyOf(const tpRows* rows, int block) {
    const tpBlockInfo* info = &rows->infos[block];
    return (tpRowKey){ .owner = info->isCoupling ? -1 - info->index : info->index,
                       .role = (int)info->role,
                       .coordinate = info->coordinate,
                       .part = info->part,
                       .source = (int)info->source,
                       .rowCount = rows->dimensions[block] };
}

static inline bool isSame(const tpRowKey* a, const tpRowKey* b) {
    return a->owner == b->owner && a->role == b->role && a->coordinate == b->coordinate &&
           a->part == b->part && a->source == b->source && a->rowCount == b->rowCount;
}

// Whether rows of `a` are written before those of `b`: joints in order, then couplings.
static inline bool isBefore(const tpRowKey* a, const tpRowKey* b) {
    bool isCouplingA = a->owner < 0, isCouplingB = b->owner < 0;
    if (isCouplingA != isCouplingB) {
        return isCouplingB;
    }
    return isCouplingA ? a->owner > b->owner : a->owner < b->owner;
}

// The memory of the same block, the first if there are several, NULL if there is none. Blocks are
// asked for in order; the cursor begins at 0. Mostly it is the one after that of the last block.
static inline tpRowMemory* find(const tpRowHistory* history, const tpRowKey* wanted, int* cursor) {
    tpRowMemory* list = history->list.data;
    int count = history->list.count, k = *cursor;
    if (k < count && isSame(&list[k].key, wanted) &&
        (k == 0 || !isSame(&list[k - 1].key, wanted))) {
        *cursor = k + 1;
        return &list[k];
    }
    while (k < count && isBefore(&list[k].key, wanted)) {
        k += 1;
    }
    while (k > 0 && !isBefore(&list[k - 1].key, wanted)) {
        k -= 1;
    }
    for (; k < count && !isBefore(wanted, &list[k].key); ++k) {
        if (isSame(&list[k].key, wanted)) {
            *cursor = k + 1;
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
        tpRowKey wanted = keyOf(rows, b);
        const tpRowMemory* last = find(history, &wanted, &cursor);
        // The load of a bounded impulse is known.
        bool isBounded = rows->infos[b].source == tp_boundedSource;
        for (int i = isBounded ? 1 : 0; last != NULL && i < rows->dimensions[b]; ++i) {
            rows->impulse[rows->firstRows[b] + i] = h * last->force[i];
        }
    }
}

// Bends ------------------------------------------------------------------------------------------

// Rows whose biases are corrected at every end of a drift.
static bool mayBend(const tpBlockInfo* info) {
    return info->role == tp_heldRole || info->role == tp_rotorRole || tpRowRole_IsLaw(info->role);
}

// A forecast counts if it would have missed the last bend by no more than this part of it: bodies
// that are thrown about are better off with none.
static const double largestPart = 0.1;

// The next of the bends of row i: the polynomial through the last n of them, of that n which comes
// nearest to the last one from those before it; 0 if none does. With d_k the k-th differences of
// the bends at the last one, that polynomial goes on to d_0 + ... + d_(n-1), and has missed the
// last one by d_n.
static inline double foreseeFrom(const double* bends, int count) {
    double differences[tp_keptBends] = { bends[0] };
    double size = fabs(bends[0]), next = 0.0, least = INFINITY, sum = 0.0;
    if (size == 0.0) {
        return 0.0;
    }
    for (int k = 1; k < count; ++k) {
        differences[k] = bends[k];
    }
    for (int n = 1; n < count; ++n) {
        sum += differences[0];
        for (int k = 0; k + n < count; ++k) {
            differences[k] -= differences[k + 1];
        }
        if (fabs(differences[0]) < least) {
            least = fabs(differences[0]);
            next = sum;
        }
    }
    return least <= largestPart * size ? next : 0.0;
}

// With the number of bends a constant, the loops unroll.
static double foresee(const double* bends, int count) {
    return count == tp_keptBends ? foreseeFrom(bends, tp_keptBends) : foreseeFrom(bends, count);
}

void tpRowHistory_Foresee(const tpRowHistory* history, tpRows* rows, double h, bool withLaws) {
    int cursor = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        const tpBlockInfo* info = &rows->infos[b];
        bool isOfLaw = tpRowRole_IsLaw(info->role);
        if (info->source == tp_contactSource || !mayBend(info) || (isOfLaw && !withLaws)) {
            continue;
        }
        tpRowKey wanted = keyOf(rows, b);
        const tpRowMemory* last = find(history, &wanted, &cursor);
        if (last == NULL || last->bendCount < 2 || last->h != h) {
            continue;
        }
        for (int i = 0; i < rows->dimensions[b]; ++i) {
            double bend = h * foresee(last->bends[i], last->bendCount);
            rows->bias[rows->firstRows[b] + i] += bend;
            rows->missed[rows->firstRows[b] + i] += isOfLaw ? bend : 0.0;
        }
    }
}

// The bends of a block after this step, from those before it.
static void keepBends(tpRowMemory* memory, const tpRowMemory* last, const double* bias,
                      const double* written, double h) {
    bool isNext = last != NULL && last->bendCount > 0 && last->h == h;
    int known = isNext ? last->bendCount : 0;
    int kept = known < tp_keptBends - 1 ? known : tp_keptBends - 1;
    for (int i = 0; i < memory->key.rowCount; ++i) {
        memory->bends[i][0] = (bias[i] - written[i]) / h;
        for (int k = 0; k < kept; ++k) {
            memory->bends[i][k + 1] = last->bends[i][k];
        }
    }
    memory->bendCount = kept + 1;
}

// Keeping -----------------------------------------------------------------------------------------

bool tpRowHistory_Keep(tpRowHistory* history, const tpAllocator* allocator, const tpRows* rows,
                       double h, const double* written) {
    int wanted = 0; // contacts have a memory of their own
    for (int b = 0; b < rows->blockCount; ++b) {
        wanted += rows->infos[b].source != tp_contactSource;
    }
    if (!TP_RESERVE(allocator, history->spare, wanted)) {
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
        tpRowMemory* memory = &kept.data[kept.count++];
        memset(memory, 0, sizeof(*memory)); // the bytes of snapshots are the same in every run
        memory->key = keyOf(rows, b);
        memory->h = h;
        for (int i = 0; i < rows->dimensions[b]; ++i) {
            memory->force[i] = rows->impulse[first + i] / h;
        }
        if (written != NULL && mayBend(&rows->infos[b])) {
            keepBends(memory, find(history, &memory->key, &cursor), rows->bias + first,
                      written + place, h);
        }
        place += rows->dimensions[b];
    }
    history->spare = history->list;
    history->list = kept;
    return true;
}

void tpRowHistory_Balance(tpRowHistory* first, tpRowHistory* second) {
    int cursor = 0;
    for (int i = 0; i < first->list.count; ++i) {
        tpRowMemory* own = &first->list.data[i];
        bool isBounded = own->key.source == (int)tp_boundedSource;
        tpRowMemory* other = isBounded ? find(second, &own->key, &cursor) : NULL;
        for (int k = 1; other != NULL && k < own->key.rowCount; ++k) {
            own->force[k] = other->force[k] = 0.5 * (own->force[k] + other->force[k]);
        }
    }
}
