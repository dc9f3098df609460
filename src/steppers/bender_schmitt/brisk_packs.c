// From contacts to the packs of a step in parts.
//
// Contacts that cannot close in the step are left out. The rest, pair by pair of bodies, go to blocks: each has
// about a thousand bodies with neighbouring numbers and the pairs among them. A sweep goes through a block with
// all its colours while the block lies in the nearer caches, and then over the pairs between blocks; so what a
// contact costs does not grow with their number, and threads take blocks. Within a block pairs are coloured
// (sweep_colour.c) and laid side by side, eight of one colour in a run; brisk_fill.c fills them.

#include <string.h>

#include "steppers/bender_schmitt/brisk_step.h"

// Threads share contacts in chunks of at least so many, and no more chunks than that.
enum { contactsAChunk = 1024, chunkLimit = 64 };

// Bodies of a block: with their contacts they fill half of a usual second cache. Fewer than two of them are one.
enum { bodiesABlock = 1024 };

// Choosing ------------------------------------------------------------------------------------------

// Manifolds on their way to their blocks. A chunk's lists begin at its first contact's place.
typedef struct Choosing {
    tpBrisk* brisk;
    tpManifold* manifolds;
    int chunkCount, groupCount;           // groups: the blocks, and what lies between them
    int32_t *keptCounts, *manifoldCounts; // of each chunk
    int32_t* places; // [chunk][group] how many manifolds, and then where the next one goes
    tpManifold* sorted;
} Choosing;

// Bodies that fall side by side are fast, but not against each other. A quarter of how far both may move is
// allowed for what impulses do to them; what they make of the rest is seen in the next step.
static bool mayClose(const tpBrisk* brisk, const tpContact* c) {
    double way = 0.25 * (brisk->margins[c->bodyA] + brisk->margins[c->bodyB]);
    if (c->gap <= way) {
        return true;
    }
    const tpPose* poses = brisk->system->poses.data;
    const tpVelocity *a = &brisk->frees[c->bodyA], *b = &brisk->frees[c->bodyB];
    tpVec3 onA = tpAdd(a->linear, tpCross(a->angular, tpSub(c->pointA, poses[c->bodyA].position)));
    tpVec3 onB = tpAdd(b->linear, tpCross(b->angular, tpSub(c->pointB, poses[c->bodyB].position)));
    return c->gap + brisk->h * tpDot(tpSub(onA, onB), c->normal) <= way;
}

// The block of a pair of bodies; the number of blocks for those between two of them.
static int blockOf(const tpBrisk* brisk, const tpManifold* manifold) {
    int a = manifold->bodyA, b = manifold->bodyB;
    int blockA = (a >= 0 ? a : b) / bodiesABlock, blockB = (b >= 0 ? b : a) / bodiesABlock;
    return brisk->blockCount == 1 ? 0 : blockA == blockB ? blockA : brisk->blockCount;
}

// The first contact at or after `i` that is of other bodies than the one before it.
static int startOfPair(const tpBrisk* brisk, int i) {
    const tpContact* c = brisk->contacts;
    while (i > 0 && i < brisk->contactCount && c[i].bodyA == c[i - 1].bodyA &&
           c[i].bodyB == c[i - 1].bodyB) {
        ++i;
    }
    return i;
}

static tpRange chunkOfContacts(const Choosing* choosing, int chunk) {
    const tpBrisk* brisk = choosing->brisk;
    tpRange range = tpChunkRange(brisk->contactCount, chunk, choosing->chunkCount);
    return (tpRange){ startOfPair(brisk, range.begin), startOfPair(brisk, range.end) };
}

static tpManifold startManifold(const tpBrisk* brisk, const tpContact* contact, int first) {
    const tpSweepBody* masses = brisk->masses;
    int a = contact->bodyA, b = contact->bodyB;
    return (tpManifold){ first, 0, masses[a].inverseMass > 0.0 ? a : -1,
                         masses[b].inverseMass > 0.0 ? b : -1, 0 };
}

// The manifolds of a chunk's contacts that may close.
static void chooseChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Choosing* choosing = context;
    const tpBrisk* brisk = choosing->brisk;
    tpRange range = chunkOfContacts(choosing, chunk);
    int32_t* places = choosing->places + chunk * choosing->groupCount;
    int kept = range.begin, end = range.begin;
    const tpContact* last = NULL;
    memset(places, 0, sizeof(int32_t) * (size_t)choosing->groupCount);
    for (int i = range.begin; i < range.end; ++i) {
        const tpContact* c = &brisk->contacts[i];
        if (!mayClose(brisk, c)) {
            continue;
        }
        if (last == NULL || c->bodyA != last->bodyA || c->bodyB != last->bodyB) {
            choosing->manifolds[end] = startManifold(brisk, c, kept);
            places[blockOf(brisk, &choosing->manifolds[end++])] += 1;
            last = c;
        }
        choosing->manifolds[end - 1].count += 1;
        brisk->kept[kept++] = i;
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
    choosing->brisk->manifoldCount = sum;
    for (int c = 0; c < choosing->chunkCount; ++c) {
        choosing->brisk->keptCount += choosing->keptCounts[c];
    }
}

static void sortChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Choosing* choosing = context;
    int32_t* places = choosing->places + chunk * choosing->groupCount;
    const tpManifold* manifolds = choosing->manifolds + chunkOfContacts(choosing, chunk).begin;
    for (int m = 0; m < choosing->manifoldCounts[chunk]; ++m) {
        choosing->sorted[places[blockOf(choosing->brisk, &manifolds[m])]++] = manifolds[m];
    }
}

// Finds the manifolds of all contacts that may close, block after block. False where memory ran out.
static bool chooseAll(tpBrisk* brisk, int32_t** firsts) {
    tpArena* arena = &brisk->system->arena;
    int count = brisk->contactCount, wanted = tpChunksOf(count, contactsAChunk);
    bool isSmall = brisk->bodyCount < 2 * bodiesABlock;
    brisk->blockCount = isSmall ? 1 : tpChunksOf(brisk->bodyCount, bodiesABlock);
    Choosing choosing = { .brisk = brisk, .groupCount = brisk->blockCount + 1 };
    choosing.chunkCount = wanted < chunkLimit ? wanted : chunkLimit;
    choosing.manifolds = TP_SCRATCH(arena, tpManifold, count);
    choosing.sorted = TP_SCRATCH(arena, tpManifold, count);
    choosing.keptCounts = TP_SCRATCH(arena, int32_t, choosing.chunkCount);
    choosing.manifoldCounts = TP_SCRATCH(arena, int32_t, choosing.chunkCount);
    choosing.places = TP_SCRATCH(arena, int32_t, choosing.chunkCount * choosing.groupCount);
    brisk->kept = TP_SCRATCH(arena, int32_t, count);
    *firsts = TP_SCRATCH(arena, int32_t, choosing.groupCount + 1);
    if (arena->failed) {
        return false;
    }
    tpTasks_Run(brisk->system->tasks, chooseChunk, &choosing, choosing.chunkCount);
    placeGroups(&choosing, *firsts);
    tpTasks_Run(brisk->system->tasks, sortChunk, &choosing, choosing.chunkCount);
    brisk->manifolds = choosing.sorted;
    return true;
}

// Blocks --------------------------------------------------------------------------------------------

typedef struct Blocks {
    tpBrisk* brisk;
    const int32_t* firsts;
    uint64_t* used; // colours of each body
} Blocks;

// Blocks share no body that moves.
static void colourBlock(void* context, int block, int worker) {
    (void)worker;
    const Blocks* blocks = context;
    tpBrisk* brisk = blocks->brisk;
    int first = blocks->firsts[block], count = blocks->firsts[block + 1] - first;
    tpColourManifolds(brisk->manifolds + first, count, blocks->used, brisk->order + first);
    for (int k = 0; k < count; ++k) {
        brisk->order[first + k] += first;
    }
}

// Up to eight manifolds of a colour a run.
static void placeRuns(tpBrisk* brisk, int first, int end) {
    for (int m = first; m < end;) {
        int colourEnd = tpEndOfColour(brisk->manifolds, brisk->order, end, m);
        brisk->colours[brisk->colourCount++] = brisk->runCount;
        for (; m < colourEnd; m += tp_packWidth) {
            int lanes = colourEnd - m < tp_packWidth ? colourEnd - m : tp_packWidth, packs = 0;
            for (int lane = 0; lane < lanes; ++lane) {
                int points = brisk->manifolds[brisk->order[m + lane]].count;
                packs = points > packs ? points : packs;
            }
            brisk->runs[brisk->runCount++] = (tpBriskRun){
                .first = brisk->packCount, .count = packs, .manifold = m, .lanes = lanes
            };
            brisk->packCount += packs;
        }
        m = colourEnd;
    }
}

// Blocks, colours and runs of all manifolds.
static bool colourAll(tpBrisk* brisk, const int32_t* firsts) {
    tpArena* arena = &brisk->system->arena;
    size_t bodies = (size_t)brisk->bodyCount, manifolds = (size_t)brisk->manifoldCount;
    uint64_t* used = TP_SCRATCH_ZEROED(arena, uint64_t, bodies);
    // No more runs than manifolds, no more colours than runs.
    brisk->order = TP_SCRATCH(arena, int32_t, manifolds);
    brisk->runs = TP_SCRATCH(arena, tpBriskRun, manifolds);
    brisk->colours = TP_SCRATCH(arena, int32_t, manifolds + 1);
    brisk->blocks = TP_SCRATCH(arena, int32_t, (size_t)brisk->blockCount + 2);
    if (arena->failed) {
        return false;
    }
    Blocks blocks = { brisk, firsts, used };
    tpTasks_Run(brisk->system->tasks, colourBlock, &blocks, brisk->blockCount);
    if (bodies > 0) {
        memset(used, 0, sizeof(uint64_t) * bodies);
    }
    colourBlock(&blocks, brisk->blockCount, 0);
    for (int group = 0; group <= brisk->blockCount; ++group) {
        brisk->blocks[group] = brisk->colourCount;
        placeRuns(brisk, firsts[group], firsts[group + 1]);
    }
    brisk->blocks[brisk->blockCount + 1] = brisk->colourCount;
    brisk->colours[brisk->colourCount] = brisk->runCount;
    return true;
}

bool tpBrisk_Pack(tpBrisk* brisk) {
    int32_t* firsts;
    return chooseAll(brisk, &firsts) && colourAll(brisk, firsts) && tpBrisk_Fill(brisk);
}
