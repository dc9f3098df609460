#include "dynamics/row_history.h"

#include <math.h>
#include <string.h>

#include "math/pairs.h"

void tpRowHistory_Destroy(tpRowHistory* history, const tpAllocator* allocator) {
    TP_FREE_ARRAY(allocator, history->list);
    TP_FREE_ARRAY(allocator, history->numbers);
    TP_FREE_ARRAY(allocator, history->spare);
    TP_FREE_ARRAY(allocator, history->spareNumbers);
}

static inline int numbersOf(const tpRowMemory* memory) {
    return memory->rowCount * (memory->bendCount > 0 ? 1 + tp_keptBends : 1);
}

static bool isWhole(const tpRowHistory* history) {
    int count = 0;
    for (int i = 0; i < history->list.count; ++i) {
        const tpRowMemory* memory = &history->list.data[i];
        if (memory->first != count || memory->rowCount < 0 ||
            memory->rowCount > TP_FRICTION_MAX_ROWS || memory->bendCount < 0 ||
            memory->bendCount > tp_keptBends) {
            return false;
        }
        count += numbersOf(memory);
        if (count > history->numbers.count) {
            return false;
        }
    }
    return count == history->numbers.count;
}

void tpRowHistory_Forget(tpRowHistory* history) {
    history->list.count = history->numbers.count = 0;
}

bool tpRowHistory_CheckRead(tpRowHistory* history) {
    if (isWhole(history)) {
        return true;
    }
    tpRowHistory_Forget(history);
    return false;
}

static inline tpRowKey keyOf(const tpRows* rows, int block) {
    const tpBlockInfo* info = &rows->infos[block];
    return (tpRowKey){ .owner = info->isCoupling ? -1 - info->index : info->index,
                       .code = (uint32_t)info->role | (uint32_t)info->source << 4 |
                               (uint32_t)info->part << 8 | (uint32_t)info->coordinate << 16 };
}

static inline bool isSame(const tpRowMemory* memory, const tpRowKey* key, int rowCount) {
    return memory->key.owner == key->owner && memory->key.code == key->code &&
           memory->rowCount == rowCount;
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
static inline tpRowMemory* find(const tpRowHistory* history, const tpRowKey* wanted, int rowCount,
                                int* cursor) {
    tpRowMemory* list = history->list.data;
    int count = history->list.count, k = *cursor;
    if (k < count && isSame(&list[k], wanted, rowCount) &&
        (k == 0 || !isSame(&list[k - 1], wanted, rowCount))) {
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
        if (isSame(&list[k], wanted, rowCount)) {
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
        const tpRowMemory* last = find(history, &wanted, rows->dimensions[b], &cursor);
        // The load of a bounded impulse is known.
        bool isBounded = rows->infos[b].source == tp_boundedSource;
        for (int i = isBounded ? 1 : 0; last != NULL && i < rows->dimensions[b]; ++i) {
            rows->impulse[rows->firstRows[b] + i] = h * history->numbers.data[last->first + i];
        }
    }
}

// Bends ------------------------------------------------------------------------------------------

// Rows whose biases are corrected at every end of a drift.
static bool mayBend(const tpBlockInfo* info) {
    return info->role == tp_heldRole || tpRowRole_IsRotor(info->role) ||
           tpRowRole_IsLaw(info->role);
}

static inline double* bendsOf(const tpRowMemory* memory, double* numbers) {
    return numbers + memory->first + memory->rowCount;
}

// A forecast counts if it would have missed the last bend by no more than this part of it: bodies
// that are thrown about are better off with none.
static const double largestPart = 0.1;

// The next of the bends of a row: the polynomial through the last n of them, of that n which comes
// nearest to the last one from those before it; 0 if none does. With d_k the k-th differences of
// the bends at the last one, that polynomial goes on to d_0 + ... + d_(n-1), and has missed the
// last one by d_n.
typedef struct Forecast {
    double sum;         // d_0 + ... + d_(n-1)
    double next, least; // of the best n so far: the forecast, and by how much it missed
} Forecast;

static inline void take(Forecast* forecast, double last, double difference) {
    forecast->sum += last;
    double missed = fabs(difference);
    bool isNearer = missed < forecast->least;
    forecast->next = isNearer ? forecast->sum : forecast->next;
    forecast->least = isNearer ? missed : forecast->least;
}

// The differences of all kept bends, level by level: no loop is left when it is compiled.
static inline void foreseeAll(const double* bends, Forecast* forecast) {
    double one[5], two[4], three[3], four[2];
    for (int k = 0; k < 5; ++k) {
        one[k] = bends[k] - bends[k + 1];
    }
    for (int k = 0; k < 4; ++k) {
        two[k] = one[k] - one[k + 1];
    }
    for (int k = 0; k < 3; ++k) {
        three[k] = two[k] - two[k + 1];
    }
    four[0] = three[0] - three[1];
    four[1] = three[1] - three[2];
    take(forecast, bends[0], one[0]);
    take(forecast, one[0], two[0]);
    take(forecast, two[0], three[0]);
    take(forecast, three[0], four[0]);
    take(forecast, four[0], four[0] - four[1]);
}

_Static_assert(tp_keptBends == 6, "foreseeAll has six bends");

// The same while fewer are known.
static void foreseeSome(const double* bends, int count, Forecast* forecast) {
    double differences[tp_keptBends];
    memcpy(differences, bends, sizeof(differences));
    for (int n = 1; n < count; ++n) {
        double last = differences[0];
        for (int k = 0; k + n < count; ++k) {
            differences[k] -= differences[k + 1];
        }
        take(forecast, last, differences[0]);
    }
}

double tpForeseeBend(const double* bends, int count) {
    double size = fabs(bends[0]);
    Forecast forecast = { 0.0, 0.0, INFINITY };
    if (size == 0.0) {
        return 0.0;
    }
    if (count == tp_keptBends) {
        foreseeAll(bends, &forecast);
    } else {
        foreseeSome(bends, count, &forecast);
    }
    return forecast.least <= largestPart * size ? forecast.next : 0.0;
}

typedef long long Mask __attribute__((vector_size(16)));

static inline tpPair sizeOf(tpPair x) {
    return (tpPair)((Mask)x & (Mask){ 0x7fffffffffffffffLL, 0x7fffffffffffffffLL });
}

static inline tpPair choose(Mask which, tpPair a, tpPair b) {
    return (tpPair)(((Mask)a & which) | ((Mask)b & ~which));
}

void tpForeseeBends(int rowCount, const double* bends, double* next) {
    for (int k = 0; k < rowCount; k += 2) {
        tpPair difference[tp_keptBends], sum = { 0.0, 0.0 }, best = sum;
        tpPair least = { INFINITY, INFINITY };
        for (int i = 0; i < tp_keptBends; ++i) {
            difference[i] = tpLoadPair(bends + i * rowCount + k);
        }
        tpPair size = sizeOf(difference[0]);
        for (int n = 1; n < tp_keptBends; ++n) {
            sum += difference[0];
            for (int i = 0; i + n < tp_keptBends; ++i) {
                difference[i] -= difference[i + 1];
            }
            tpPair missed = sizeOf(difference[0]);
            Mask isNearer = missed < least;
            best = choose(isNearer, sum, best);
            least = choose(isNearer, missed, least);
        }
        best = choose(least <= largestPart * size, best, (tpPair){ 0.0, 0.0 });
        memcpy(next + k, &best, sizeof(best));
    }
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
        const tpRowMemory* last = find(history, &wanted, rows->dimensions[b], &cursor);
        if (last == NULL || last->bendCount < 2 || last->h != h) {
            continue;
        }
        const double* bends = bendsOf(last, history->numbers.data);
        for (int i = 0; i < rows->dimensions[b]; ++i, bends += tp_keptBends) {
            double bend = h * tpForeseeBend(bends, last->bendCount);
            rows->bias[rows->firstRows[b] + i] += bend;
            rows->missed[rows->firstRows[b] + i] += isOfLaw ? bend : 0.0;
        }
    }
}

// The bends of a block after this step, from those before it, in `lastBends`.
static void keepBends(tpRowMemory* memory, double* bends, const tpRowMemory* last,
                      const double* lastBends, const double* bias, const double* written,
                      double h) {
    bool isNext = last != NULL && last->bendCount > 0 && last->h == h;
    int known = isNext ? last->bendCount : 0;
    int kept = known < tp_keptBends - 1 ? known : tp_keptBends - 1;
    for (int i = 0; i < memory->rowCount; ++i, bends += tp_keptBends) {
        if (isNext) {
            memcpy(bends + 1, lastBends, sizeof(double) * (tp_keptBends - 1));
            lastBends += tp_keptBends;
        } else {
            memset(bends + 1, 0, sizeof(double) * (tp_keptBends - 1));
        }
        bends[0] = (bias[i] - written[i]) / h;
    }
    memory->bendCount = kept + 1;
}

// Keeping -----------------------------------------------------------------------------------------

static bool reserve(tpRowHistory* history, const tpAllocator* allocator, const tpRows* rows) {
    int blocks = 0, numbers = 0; // contacts have a memory of their own
    for (int b = 0; b < rows->blockCount; ++b) {
        bool isContact = rows->infos[b].source == tp_contactSource;
        blocks += isContact ? 0 : 1;
        numbers += isContact ? 0 : (1 + tp_keptBends) * rows->dimensions[b];
    }
    return TP_RESERVE(allocator, history->spare, blocks) &&
           TP_RESERVE(allocator, history->spareNumbers, numbers);
}

// What a block carries over; its numbers come to `numbers`.
static void keepBlock(const tpRowHistory* history, const tpRows* rows, int block, double h,
                      const double* written, int* cursor, tpRowMemory* memory, double* numbers) {
    int first = rows->firstRows[block];
    memset(memory, 0, sizeof(*memory)); // the bytes of snapshots are the same in every run
    memory->key = keyOf(rows, block);
    memory->rowCount = rows->dimensions[block];
    memory->isBounded = rows->infos[block].source == tp_boundedSource;
    memory->h = h;
    for (int i = 0; i < rows->dimensions[block]; ++i) {
        numbers[i] = rows->impulse[first + i] / h;
    }
    if (written != NULL && mayBend(&rows->infos[block])) {
        const tpRowMemory* last = find(history, &memory->key, memory->rowCount, cursor);
        const double* bends = last != NULL ? bendsOf(last, history->numbers.data) : NULL;
        keepBends(memory, numbers + rows->dimensions[block], last, bends, rows->bias + first,
                  written, h);
    }
}

bool tpRowHistory_Keep(tpRowHistory* history, const tpAllocator* allocator, const tpRows* rows,
                       double h, const double* written) {
    if (!reserve(history, allocator, rows)) {
        return false;
    }
    tpRowMemories kept = history->spare;
    tpRowNumbers numbers = history->spareNumbers;
    kept.count = numbers.count = 0;
    int cursor = 0;
    for (int b = 0; b < rows->blockCount; ++b) {
        if (rows->infos[b].source == tp_contactSource) {
            continue;
        }
        tpRowMemory* memory = &kept.data[kept.count++];
        keepBlock(history, rows, b, h, written, &cursor, memory, numbers.data + numbers.count);
        memory->first = numbers.count;
        numbers.count += numbersOf(memory);
        written = written != NULL ? written + rows->dimensions[b] : NULL;
    }
    history->spare = history->list;
    history->spareNumbers = history->numbers;
    history->list = kept;
    history->numbers = numbers;
    return true;
}

void tpRowHistory_Balance(tpRowHistory* first, tpRowHistory* second) {
    int cursor = 0;
    for (int i = 0; i < first->list.count; ++i) {
        tpRowMemory* own = &first->list.data[i];
        tpRowMemory* other =
            own->isBounded ? find(second, &own->key, own->rowCount, &cursor) : NULL;
        for (int k = 1; other != NULL && k < own->rowCount; ++k) {
            double* a = first->numbers.data + own->first + k;
            double* b = second->numbers.data + other->first + k;
            *a = *b = 0.5 * (*a + *b);
        }
    }
}
