// From contacts to packs.
//
// Contacts that cannot close in the step are left out. The rest, pair by pair of bodies, go to blocks: each has
// about a thousand bodies with neighbouring numbers and the pairs among them. A sweep goes through a block with
// all its colours while the block lies in the nearer caches, and then over the pairs between blocks; so what a
// contact costs does not grow with their number, and threads take blocks. Within a block pairs are coloured
// (sweeps/colour.c) and laid side by side, eight of one colour in a run; fill.c fills them.

#include <string.h>

#include "steppers/small_steps/step.h"

// Threads share contacts in chunks of at least so many, and no more chunks than that.
enum { contactsAChunk = 1024, chunkLimit = 64 };

// Bodies of a block: with their contacts they fill half of a usual second cache. Fewer than two of them are one.
enum { bodiesABlock = 1024 };

// Choosing ------------------------------------------------------------------------------------------

// Manifolds on their way to their blocks. A chunk's lists begin at its first contact's place.
typedef struct Choosing {
    tpSmallStep* step;
    tpManifold* manifolds;
    int chunkCount, groupCount;           // groups: the blocks, and what lies between them
    int32_t *keptCounts, *manifoldCounts; // of each chunk
    int32_t* places; // [chunk][group] how many manifolds, and then where the next one goes
    tpManifold* sorted;
} Choosing;

// Bodies that fall side by side are fast, but not against each other. A quarter of how far both may move is
// allowed for what impulses do to them; what they make of the rest is seen in the next step.
static bool mayClose(const tpSmallStep* step, const tpContact* c) {
    double way = 0.25 * (step->margins[c->bodyA] + step->margins[c->bodyB]);
    if (c->gap <= way) {
        return true;
    }
    const tpPose* poses = step->system->poses.data;
    const tpVelocity *a = &step->frees[c->bodyA], *b = &step->frees[c->bodyB];
    tpVec3 onA = tpAdd(a->linear, tpCross(a->angular, tpSub(c->pointA, poses[c->bodyA].position)));
    tpVec3 onB = tpAdd(b->linear, tpCross(b->angular, tpSub(c->pointB, poses[c->bodyB].position)));
    return c->gap + step->h * tpDot(tpSub(onA, onB), c->normal) <= way;
}

// The block of a pair of bodies; the number of blocks for those between two of them.
static int blockOf(const tpSmallStep* step, const tpManifold* manifold) {
    int a = manifold->bodyA, b = manifold->bodyB;
    int blockA = (a >= 0 ? a : b) / bodiesABlock, blockB = (b >= 0 ? b : a) / bodiesABlock;
    return step->blockCount == 1 ? 0 : blockA == blockB ? blockA : step->blockCount;
}

// The first contact at or after `i` that is of other bodies than the one before it.
static int startOfPair(const tpSmallStep* step, int i) {
    const tpContact* c = step->contacts;
    while (i > 0 && i < step->contactCount && c[i].bodyA == c[i - 1].bodyA &&
           c[i].bodyB == c[i - 1].bodyB) {
        ++i;
    }
    return i;
}

static tpRange chunkOfContacts(const Choosing* choosing, int chunk) {
    const tpSmallStep* step = choosing->step;
    tpRange range = tpChunkRange(step->contactCount, chunk, choosing->chunkCount);
    return (tpRange){ startOfPair(step, range.begin), startOfPair(step, range.end) };
}

static tpManifold startManifold(const tpSmallStep* step, const tpContact* contact, int first) {
    const tpSweepBody* masses = step->masses;
    int a = contact->bodyA, b = contact->bodyB;
    return (tpManifold){ first, 0, masses[a].inverseMass > 0.0 ? a : -1,
                         masses[b].inverseMass > 0.0 ? b : -1, 0 };
}

// The manifolds of a chunk's contacts that may close.
static void chooseChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Choosing* choosing = context;
    const tpSmallStep* step = choosing->step;
    tpRange range = chunkOfContacts(choosing, chunk);
    int32_t* places = choosing->places + chunk * choosing->groupCount;
    int kept = range.begin, end = range.begin;
    const tpContact* last = NULL;
    memset(places, 0, sizeof(int32_t) * (size_t)choosing->groupCount);
    for (int i = range.begin; i < range.end; ++i) {
        const tpContact* c = &step->contacts[i];
        if (!mayClose(step, c)) {
            continue;
        }
        if (last == NULL || c->bodyA != last->bodyA || c->bodyB != last->bodyB) {
            choosing->manifolds[end] = startManifold(step, c, kept);
            places[blockOf(step, &choosing->manifolds[end++])] += 1;
            last = c;
        }
        choosing->manifolds[end - 1].count += 1;
        step->kept[kept++] = i;
    }
    choosing->keptCounts[chunk] = kept - range.begin;
    choosing->manifoldCounts[chunk] = end - range.begin;
}

// Turns numbers of manifolds into places, block after block and chunk after chunk; `firsts` are the first of each
// block, and the end.
static void placeGroups(const Choosing* choosing, int32_t* firsts) {
    int groups = choosing->groupCount, sum = 0;
    for (int g = 0; g < groups; ++g) {
        firsts[g] = sum;
        for (int c = 0; c < choosing->chunkCount; ++c) {
            int32_t* place = &choosing->places[c * groups + g];
            int count = *place;
            *place = sum;
            sum += count;
        }
    }
    firsts[groups] = sum;
    choosing->step->manifoldCount = sum;
    for (int c = 0; c < choosing->chunkCount; ++c) {
        choosing->step->keptCount += choosing->keptCounts[c];
    }
}

static void sortChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Choosing* choosing = context;
    int32_t* places = choosing->places + chunk * choosing->groupCount;
    const tpManifold* manifolds = choosing->manifolds + chunkOfContacts(choosing, chunk).begin;
    for (int m = 0; m < choosing->manifoldCounts[chunk]; ++m) {
        choosing->sorted[places[blockOf(choosing->step, &manifolds[m])]++] = manifolds[m];
    }
}

// Finds the manifolds of all contacts that may close, block after block. False where memory ran out.
static bool chooseAll(tpSmallStep* step, int32_t** firsts) {
    tpArena* arena = &step->system->arena;
    int count = step->contactCount, wanted = tpChunksOf(count, contactsAChunk);
    bool isSmall = step->bodyCount < 2 * bodiesABlock;
    step->blockCount = isSmall ? 1 : tpChunksOf(step->bodyCount, bodiesABlock);
    Choosing choosing = { .step = step, .groupCount = step->blockCount + 1 };
    choosing.chunkCount = wanted < chunkLimit ? wanted : chunkLimit;
    choosing.manifolds = TP_SCRATCH(arena, tpManifold, count);
    choosing.sorted = TP_SCRATCH(arena, tpManifold, count);
    choosing.keptCounts = TP_SCRATCH(arena, int32_t, choosing.chunkCount);
    choosing.manifoldCounts = TP_SCRATCH(arena, int32_t, choosing.chunkCount);
    choosing.places = TP_SCRATCH(arena, int32_t, choosing.chunkCount * choosing.groupCount);
    step->kept = TP_SCRATCH(arena, int32_t, count);
    *firsts = TP_SCRATCH(arena, int32_t, choosing.groupCount + 1);
    if (arena->failed) {
        return false;
    }
    tpTasks_Run(step->system->tasks, chooseChunk, &choosing, choosing.chunkCount);
    placeGroups(&choosing, *firsts);
    tpTasks_Run(step->system->tasks, sortChunk, &choosing, choosing.chunkCount);
    step->manifolds = choosing.sorted;
    return true;
}

// Blocks --------------------------------------------------------------------------------------------

typedef struct Blocks {
    tpSmallStep* step;
    const int32_t* firsts;
    uint64_t* used; // colours of each body
} Blocks;

// Blocks share no body that moves.
static void colourBlock(void* context, int block, int worker) {
    (void)worker;
    const Blocks* blocks = context;
    tpSmallStep* step = blocks->step;
    int first = blocks->firsts[block], count = blocks->firsts[block + 1] - first;
    tpColourManifolds(step->manifolds + first, count, blocks->used, step->order + first);
    for (int k = 0; k < count; ++k) {
        step->order[first + k] += first;
    }
}

// Up to eight manifolds of a colour a run.
static void placeRuns(tpSmallStep* step, int first, int end) {
    for (int m = first; m < end;) {
        int colourEnd = tpEndOfColour(step->manifolds, step->order, end, m);
        step->colours[step->colourCount++] = step->runCount;
        for (; m < colourEnd; m += tp_packWidth) {
            int lanes = colourEnd - m < tp_packWidth ? colourEnd - m : tp_packWidth, packs = 0;
            for (int lane = 0; lane < lanes; ++lane) {
                int points = step->manifolds[step->order[m + lane]].count;
                packs = points > packs ? points : packs;
            }
            step->runs[step->runCount++] = (tpSoftRun){
                .first = step->packCount, .count = packs, .manifold = m, .lanes = lanes
            };
            step->packCount += packs;
        }
        m = colourEnd;
    }
}

// Blocks, colours and runs of all manifolds.
static bool colourAll(tpSmallStep* step, const int32_t* firsts) {
    tpArena* arena = &step->system->arena;
    size_t bodies = (size_t)step->bodyCount, manifolds = (size_t)step->manifoldCount;
    uint64_t* used = TP_SCRATCH_ZEROED(arena, uint64_t, bodies);
    // No more runs than manifolds, no more colours than runs.
    step->order = TP_SCRATCH(arena, int32_t, manifolds);
    step->runs = TP_SCRATCH(arena, tpSoftRun, manifolds);
    step->colours = TP_SCRATCH(arena, int32_t, manifolds + 1);
    step->blocks = TP_SCRATCH(arena, int32_t, (size_t)step->blockCount + 2);
    if (arena->failed) {
        return false;
    }
    Blocks blocks = { step, firsts, used };
    tpTasks_Run(step->system->tasks, colourBlock, &blocks, step->blockCount);
    if (bodies > 0) {
        memset(used, 0, sizeof(uint64_t) * bodies);
    }
    colourBlock(&blocks, step->blockCount, 0);
    for (int group = 0; group <= step->blockCount; ++group) {
        step->blocks[group] = step->colourCount;
        placeRuns(step, firsts[group], firsts[group + 1]);
    }
    step->blocks[step->blockCount + 1] = step->colourCount;
    step->colours[step->colourCount] = step->runCount;
    return true;
}

bool tpSmallStep_Pack(tpSmallStep* step) {
    int32_t* firsts;
    return chooseAll(step, &firsts) && colourAll(step, firsts) && tpSmallStep_Fill(step);
}
