// From contacts to the packs of a step in parts.
//
// Contacts that cannot close in the step are left out. The rest, pair by pair of bodies, go to blocks: each has
// about a thousand bodies with neighbouring numbers and the pairs among them. A sweep goes through a block with
// all its colours while the block lies in the nearer caches, and then over the pairs between blocks; so what a
// contact costs does not grow with their number, and threads take blocks. Within a block pairs are coloured
// (sweep_colour.c) and laid side by side, eight of one colour in a run.

#include <string.h>

#include "steppers/bender_schmitt/brisk_step.h"

enum { contactsAChunk = 1024, runsAChunk = 32 };

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

// Filling -------------------------------------------------------------------------------------------

typedef struct Filling {
    tpBrisk* brisk;
    double threshold; // approaches slower than this do not bounce, m/s
    bool* bounces;    // of each chunk
} Filling;

static void storeVector(float (*parts)[tp_packWidth], int lane, tpVec3 v) {
    parts[0][lane] = (float)v.x;
    parts[1][lane] = (float)v.y;
    parts[2][lane] = (float)v.z;
}

static double approachOf(const tpBrisk* brisk, const tpContact* c, tpVec3 armA, tpVec3 armB) {
    const tpVelocity *a = &brisk->starts[c->bodyA], *b = &brisk->starts[c->bodyB];
    tpVec3 onA = tpAdd(a->linear, tpCross(a->angular, armA));
    tpVec3 onB = tpAdd(b->linear, tpCross(b->angular, armB));
    return tpDot(tpSub(onA, onB), c->normal);
}

// One contact: geometry, friction, the impulse it starts with (that of the last step, spread over the parts)
// and whether it will bounce.
static bool storeContact(const Filling* filling, tpBriskPack* pack, int lane, int number,
                         const tpContactLaw* law) {
    const tpBrisk* brisk = filling->brisk;
    const tpContact* c = &brisk->contacts[number];
    const tpPose* poses = brisk->system->poses.data;
    // In the plane friction has one direction.
    double across = brisk->system->isPlanar ? 0.0 : law->ellipse[1];
    tpVec3 armA = tpSub(c->pointA, poses[c->bodyA].position);
    tpVec3 armB = tpSub(c->pointB, poses[c->bodyB].position);
    pack->contact[lane] = number;
    storeVector(pack->normal, lane, c->normal);
    storeVector(pack->tangents[0], lane, tpScale(law->ellipse[0], law->tangents[0]));
    storeVector(pack->tangents[1], lane, tpScale(across, law->tangents[1]));
    storeVector(pack->armA, lane, armA);
    storeVector(pack->armB, lane, armB);
    pack->muStatic[lane] = (float)law->muStatic;
    pack->muDynamic[lane] = (float)law->mu;
    pack->startGap[lane] = (float)c->gap;
    if (brisk->impulses != NULL) {
        tpVec3 start = tpScale(1.0 / brisk->parts, brisk->impulses[number]);
        pack->impulse[0][lane] = fmax(0.0, tpDot(start, c->normal));
        if (law->mu > 0.0) {
            pack->impulse[1][lane] = tpDot(start, law->tangents[0]) / law->ellipse[0];
            pack->impulse[2][lane] = tpDot(start, law->tangents[1]) / law->ellipse[1];
        }
    }
    double approach = law->restitution > 0.0 ? approachOf(brisk, c, armA, armB) : 0.0;
    bool bounces = approach < -filling->threshold;
    pack->bounce[lane] = bounces ? (float)(law->restitution * approach) : 0.0f;
    return bounces;
}

static bool isSameFrame(const tpContact* a, const tpContact* b) {
    return a->shapeA == b->shapeA && a->shapeB == b->shapeB && a->normal.x == b->normal.x &&
           a->normal.y == b->normal.y && a->normal.z == b->normal.z;
}

// A pair of bodies, down its lane. Returns whether one of its contacts bounces.
static bool fillLane(const Filling* filling, tpBriskRun* run, int lane) {
    tpBrisk* brisk = filling->brisk;
    const tpManifold* manifold = &brisk->manifolds[brisk->order[run->manifold + lane]];
    const int32_t* numbers = &brisk->kept[manifold->first];
    const tpContact* framed = NULL;
    tpContactLaw law;
    bool bounces = false;
    for (int k = 0; k < manifold->count; ++k) {
        const tpContact* contact = &brisk->contacts[numbers[k]];
        if (framed == NULL || !isSameFrame(framed, contact)) {
            run->isFlat = run->isFlat && framed == NULL;
            law = tpMakeContactLaw(brisk->system, contact);
            framed = contact;
        }
        tpBriskPack* pack = &brisk->sweep.packs[run->first + k];
        bounces = storeContact(filling, pack, lane, numbers[k], &law) || bounces;
    }
    run->bodyA[lane] = framed->bodyA;
    run->bodyB[lane] = framed->bodyB;
    run->movesA = (uint8_t)(run->movesA | (manifold->bodyA >= 0 ? 1 << lane : 0));
    run->movesB = (uint8_t)(run->movesB | (manifold->bodyB >= 0 ? 1 << lane : 0));
    return bounces;
}

static void fillChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Filling* filling = context;
    tpBrisk* brisk = filling->brisk;
    tpRange range = tpChunkAt(brisk->runCount, runsAChunk, chunk);
    filling->bounces[chunk] = false;
    for (int r = range.begin; r < range.end; ++r) {
        tpBriskRun* run = &brisk->runs[r];
        tpBriskPack* first = &brisk->sweep.packs[run->first];
        memset(first, 0, sizeof(*first) * (size_t)run->count);
        for (int k = 0; k < run->count; ++k) {
            memset(first[k].contact, -1, sizeof(first[k].contact));
        }
        run->isFlat = true;
        for (int lane = 0; lane < run->lanes; ++lane) {
            if (fillLane(filling, run, lane)) {
                filling->bounces[chunk] = true;
            }
        }
        for (int lane = run->lanes; lane < tp_packWidth; ++lane) {
            run->bodyA[lane] = run->bodyA[0];
            run->bodyB[lane] = run->bodyB[0];
        }
        brisk->wide->respondRun(&brisk->sweep, run);
    }
}

static bool fillPacks(tpBrisk* brisk) {
    tpSystem* system = brisk->system;
    int chunks = tpChunksOf(brisk->runCount, runsAChunk);
    Filling filling = { brisk, brisk->settings->threshold, NULL };
    filling.threshold = fmax(filling.threshold, 2.0 * brisk->h * tpLength(system->gravity));
    filling.bounces = TP_SCRATCH(&system->arena, bool, chunks);
    brisk->sweep.packs = TP_SCRATCH(&system->arena, tpBriskPack, brisk->packCount);
    if (system->arena.failed) {
        return false;
    }
    tpTasks_Run(system->tasks, fillChunk, &filling, chunks);
    for (int c = 0; c < chunks; ++c) {
        brisk->bounces = brisk->bounces || filling.bounces[c];
    }
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
    return colourAll(brisk) && fillPacks(brisk);
}
