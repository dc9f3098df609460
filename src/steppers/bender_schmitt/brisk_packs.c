// From contacts to the packs of a step in parts.
//
// Contacts that cannot close in the step are left out. The rest, pair by pair of bodies, go to blocks: each has
// about a thousand bodies with neighbouring numbers and the pairs among them. A sweep goes through a block with
// all its colours while the block lies in the nearer caches, and then over the pairs between blocks; so what a
// contact costs does not grow with their number, and threads take blocks. Within a block pairs are coloured
// (sweep_colour.c) and laid side by side, eight of one colour in a run; brisk_fill.c fills them.

#include <string.h>

#include "steppers/bender_schmitt/brisk_step.h"

enum { contactsAChunk = 1024 };

// Bodies of a block: with their contacts they fill half of a usual second cache. Fewer than two of them are one.
enum { bodiesABlock = 1024 };

// Choosing ------------------------------------------------------------------------------------------

// A contact's bodies; -1 and -1 for one that is left out.
typedef struct Pair {
    int32_t a, b;
} Pair;

typedef struct Choosing {
    const tpBrisk* brisk;
    Pair* pairs;
} Choosing;

// Bodies that fall side by side are fast, but not against each other. A quarter of how far both may move is
// allowed for what impulses do to them; what they make of the rest is seen in the next step.
static bool mayClose(const tpBrisk* brisk, const tpContact* c) {
    const tpPose* poses = brisk->system->poses.data;
    const tpVelocity *a = &brisk->frees[c->bodyA], *b = &brisk->frees[c->bodyB];
    tpVec3 onA = tpAdd(a->linear, tpCross(a->angular, tpSub(c->pointA, poses[c->bodyA].position)));
    tpVec3 onB = tpAdd(b->linear, tpCross(b->angular, tpSub(c->pointB, poses[c->bodyB].position)));
    double way = 0.25 * (brisk->margins[c->bodyA] + brisk->margins[c->bodyB]);
    return c->gap + fmin(0.0, brisk->h * tpDot(tpSub(onA, onB), c->normal)) <= way;
}

static void chooseChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Choosing* choosing = context;
    const tpBrisk* brisk = choosing->brisk;
    tpRange range = tpChunkAt(brisk->contactCount, contactsAChunk, chunk);
    for (int i = range.begin; i < range.end; ++i) {
        const tpContact* c = &brisk->contacts[i];
        choosing->pairs[i] = mayClose(brisk, c) ? (Pair){ c->bodyA, c->bodyB } : (Pair){ -1, -1 };
    }
}

// Manifolds of what was chosen, in the order of contacts.
static void findManifolds(tpBrisk* brisk, const Pair* pairs) {
    const tpSweepBody* masses = brisk->masses;
    Pair last = { -1, -1 };
    for (int i = 0; i < brisk->contactCount; ++i) {
        if (pairs[i].a < 0) {
            continue;
        }
        if (pairs[i].a != last.a || pairs[i].b != last.b) {
            last = pairs[i];
            brisk->manifolds[brisk->manifoldCount++] =
                (tpManifold){ brisk->keptCount, 0, masses[last.a].inverseMass > 0.0 ? last.a : -1,
                              masses[last.b].inverseMass > 0.0 ? last.b : -1, 0 };
        }
        brisk->manifolds[brisk->manifoldCount - 1].count += 1;
        brisk->kept[brisk->keptCount++] = i;
    }
}

// Blocks --------------------------------------------------------------------------------------------

// The block of a manifold; the number of blocks for those between two of them.
static int blockOf(const tpBrisk* brisk, const tpManifold* manifold) {
    int a = manifold->bodyA, b = manifold->bodyB;
    int blockA = (a >= 0 ? a : b) / bodiesABlock, blockB = (b >= 0 ? b : a) / bodiesABlock;
    return brisk->blockCount == 1 ? 0 : blockA == blockB ? blockA : brisk->blockCount;
}

// Manifolds block after block; `firsts` are the first of each, and the end.
static void sortManifolds(tpBrisk* brisk, tpManifold* sorted, int32_t* firsts) {
    int groups = brisk->blockCount + 1;
    memset(firsts, 0, sizeof(int32_t) * (size_t)(groups + 1));
    for (int m = 0; m < brisk->manifoldCount; ++m) {
        firsts[blockOf(brisk, &brisk->manifolds[m]) + 1] += 1;
    }
    for (int g = 0; g < groups; ++g) {
        firsts[g + 1] += firsts[g];
    }
    for (int m = 0; m < brisk->manifoldCount; ++m) {
        sorted[firsts[blockOf(brisk, &brisk->manifolds[m])]++] = brisk->manifolds[m];
    }
    // Each place has moved on to the next block's.
    memmove(firsts + 1, firsts, sizeof(int32_t) * (size_t)groups);
    firsts[0] = 0;
    brisk->manifolds = sorted;
}

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
static bool colourAll(tpBrisk* brisk) {
    tpArena* arena = &brisk->system->arena;
    size_t bodies = (size_t)brisk->bodyCount, manifolds = (size_t)brisk->manifoldCount;
    bool isSmall = brisk->bodyCount < 2 * bodiesABlock;
    brisk->blockCount = isSmall ? 1 : tpChunksOf(brisk->bodyCount, bodiesABlock);
    tpManifold* sorted = TP_SCRATCH(arena, tpManifold, manifolds);
    int32_t* firsts = TP_SCRATCH(arena, int32_t, (size_t)brisk->blockCount + 2);
    uint64_t* used = TP_SCRATCH_ZEROED(arena, uint64_t, bodies);
    // No more runs than manifolds, no more colours than runs.
    brisk->order = TP_SCRATCH(arena, int32_t, manifolds);
    brisk->runs = TP_SCRATCH(arena, tpBriskRun, manifolds);
    brisk->colours = TP_SCRATCH(arena, int32_t, manifolds + 1);
    brisk->blocks = TP_SCRATCH(arena, int32_t, (size_t)brisk->blockCount + 2);
    if (arena->failed) {
        return false;
    }
    sortManifolds(brisk, sorted, firsts);
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
    tpSystem* system = brisk->system;
    tpArena* arena = &system->arena;
    int count = brisk->contactCount;
    Choosing choosing = { brisk, TP_SCRATCH(arena, Pair, count) };
    brisk->kept = TP_SCRATCH(arena, int32_t, count);
    brisk->manifolds = TP_SCRATCH(arena, tpManifold, count);
    if (arena->failed) {
        return false;
    }
    tpTasks_Run(system->tasks, chooseChunk, &choosing, tpChunksOf(count, contactsAChunk));
    findManifolds(brisk, choosing.pairs);
    return colourAll(brisk) && tpBrisk_Fill(brisk);
}
