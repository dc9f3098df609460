// From contacts to the packs of a step in parts.
//
// Contacts that cannot close in the step are left out. The rest, pair by pair of bodies, are coloured
// (sweep_colour.c) and laid side by side, eight pairs of one colour in a run.

#include <string.h>

#include "steppers/bender_schmitt/brisk_step.h"

enum { contactsAChunk = 1024, runsAChunk = 32 };

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

// Manifolds of what was chosen.
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

// Up to eight manifolds of a colour a run.
static void placeRuns(tpBrisk* brisk) {
    for (int m = 0; m < brisk->manifoldCount;) {
        int end = tpEndOfColour(brisk->manifolds, brisk->order, brisk->manifoldCount, m);
        brisk->colours[brisk->colourCount++] = brisk->runCount;
        for (; m < end; m += tp_packWidth) {
            int lanes = end - m < tp_packWidth ? end - m : tp_packWidth, packs = 0;
            for (int lane = 0; lane < lanes; ++lane) {
                int points = brisk->manifolds[brisk->order[m + lane]].count;
                packs = points > packs ? points : packs;
            }
            brisk->runs[brisk->runCount++] = (tpBriskRun){
                .first = brisk->packCount, .count = packs, .manifold = m, .lanes = lanes
            };
            brisk->packCount += packs;
        }
        m = end;
    }
    brisk->colours[brisk->colourCount] = brisk->runCount;
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
    uint64_t* used = TP_SCRATCH_ZEROED(arena, uint64_t, brisk->bodyCount);
    brisk->kept = TP_SCRATCH(arena, int32_t, count);
    brisk->manifolds = TP_SCRATCH(arena, tpManifold, count);
    brisk->order = TP_SCRATCH(arena, int32_t, count);
    if (arena->failed) {
        return false;
    }
    tpTasks_Run(system->tasks, chooseChunk, &choosing, tpChunksOf(count, contactsAChunk));
    findManifolds(brisk, choosing.pairs);
    // No more runs than manifolds, no more colours than runs.
    brisk->runs = TP_SCRATCH(arena, tpBriskRun, brisk->manifoldCount);
    brisk->colours = TP_SCRATCH(arena, int32_t, (size_t)brisk->manifoldCount + 1);
    if (arena->failed) {
        return false;
    }
    tpColourManifolds(brisk->manifolds, brisk->manifoldCount, used, brisk->order);
    placeRuns(brisk);
    return fillPacks(brisk);
}
