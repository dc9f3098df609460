// Numbers and blocks of bodies.
//
// Bodies of a block stand side by side in memory, and manifolds between blocks are few. A body that
// comes gets the next number, in the last block, or a block of its own with others that came; one
// that goes leaves its number unused. When many have come or gone, or the blocks have mixed, they
// are cut anew where the bodies are now, and the manifolds move to their new lanes with all that
// they carry.

#include <string.h>

#include "dynamics/collider_shapes.h"
#include "steppers/small_steps/hinges.h"
#include "steppers/small_steps/shape_marks.h"
#include "steppers/small_steps/step.h"
#include "sweeps/blocks.h"

// Blocks are cut anew if so much more of the manifolds lie between them than soon after the last
// cut, but not in each step.
static const double mixedPart = 0.1;
enum { leastStepsToCut = 60, settledSteps = 10 };

// A body of a mechanism is as much work as so many others; blocks with mechanisms are smaller.
enum { bodiesPerJointed = 4 };

// Cutting -------------------------------------------------------------------------------------

// Bodies of one mechanism belong into one block, that of the first of them.
static bool gatherMechanisms(const tpMechanismMap* map, tpArena* arena, int32_t* order, int moving,
                             int blocks, int32_t* firsts) {
    int32_t* blockOf = TP_SCRATCH(arena, int32_t, moving);
    int32_t* homes = TP_SCRATCH(arena, int32_t, map->count);
    int32_t* sorted = TP_SCRATCH(arena, int32_t, moving);
    int32_t* fills = TP_SCRATCH_ZEROED(arena, int32_t, (size_t)blocks + 1);
    if (arena->failed) {
        return false;
    }
    for (int m = 0; m < map->count; ++m) {
        homes[m] = -1;
    }
    for (int b = 0; b < blocks; ++b) {
        for (int n = firsts[b]; n < firsts[b + 1]; ++n) {
            int32_t owner = map->owners.data[order[n]];
            if (owner >= 0 && homes[owner] < 0) {
                homes[owner] = b;
            }
            blockOf[n] = owner >= 0 ? homes[owner] : b;
            fills[blockOf[n] + 1] += 1;
        }
    }
    for (int b = 0; b < blocks; ++b) {
        fills[b + 1] += fills[b];
        firsts[b] = fills[b];
    }
    for (int n = 0; n < moving; ++n) {
        sorted[fills[blockOf[n]]++] = order[n];
    }
    if (moving > 0) {
        memcpy(order, sorted, sizeof(int32_t) * (size_t)moving);
    }
    return true;
}

// The new numbers: `order` receives the body of each, `firsts` the first of each block. Returns how
// many blocks.
static int cutBodies(const tpSystem* system, const tpMechanismMap* map, tpArena* arena,
                     int32_t* order, int32_t** firsts, int* count) {
    int moving = 0, total = 0;
    tpBlockBody* places = TP_SCRATCH(arena, tpBlockBody, system->bodyCount);
    if (places == NULL) {
        return -1;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpMayMove(&system->bodies.data[i])) {
            tpVec3 p = system->poses.data[i].position;
            places[moving++] = (tpBlockBody){ { p.x, p.y, p.z }, i };
        }
    }
    total = moving;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (system->bodies.data[i].isLive && !tpMayMove(&system->bodies.data[i])) {
            order[total++] = i;
        }
    }
    int blocks = tpBlockCountFor(moving + (bodiesPerJointed - 1) * map->bodies.count);
    *firsts = TP_SCRATCH(arena, int32_t, (size_t)blocks + 1);
    if (*firsts == NULL) {
        return -1;
    }
    tpCutBlocks(places, moving, blocks, order, *firsts);
    if (blocks > 1 && map->count > 0 &&
        !gatherMechanisms(map, arena, order, moving, blocks, *firsts)) {
        return -1;
    }
    *count = total;
    return blocks;
}

static bool reserveBodies(tpSmallSteps* state, const tpAllocator* allocator, int numbers,
                          int bodies) {
    return TP_RESERVE(allocator, state->numbers, bodies) &&
           TP_RESERVE(allocator, state->bodies, numbers) &&
           TP_RESERVE(allocator, state->ways, numbers) &&
           TP_RESERVE(allocator, state->motionMarks, numbers);
}

// What the last step left of a body moves to its new number.
static bool renumber(tpSmallStep* step, const int32_t* order, int count) {
    tpSmallSteps* state = step->state;
    tpSystem* system = step->system;
    int all = count + 1;
    uint64_t* marks = TP_SCRATCH_ZEROED(&system->arena, uint64_t, all);
    tpBodyWay* ways = TP_SCRATCH_ZEROED(&system->arena, tpBodyWay, all);
    if (system->arena.failed || !reserveBodies(state, &system->allocator, all, system->bodyCount)) {
        return false;
    }
    for (int n = 0; n < count; ++n) {
        int old = order[n] < state->numbers.count ? state->numbers.data[order[n]] : -1;
        if (old >= 0) {
            marks[n] = state->motionMarks.data[old];
            ways[n] = state->ways.data[old];
        }
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        state->numbers.data[i] = -1;
    }
    for (int n = 0; n < count; ++n) {
        state->numbers.data[order[n]] = n;
        state->bodies.data[n] = order[n];
    }
    state->bodies.data[count] = -1;
    memcpy(state->motionMarks.data, marks, sizeof(uint64_t) * (size_t)all);
    memcpy(state->ways.data, ways, sizeof(tpBodyWay) * (size_t)all);
    state->numbers.count = system->bodyCount;
    state->bodies.count = state->ways.count = state->motionMarks.count = all;
    return true;
}

// Moves all manifolds from one store to another that knows the new numbers, run by run: the packs
// of the old runs serve the new ones.
static bool moveManifolds(tpSmallStep* step, tpPackStore* from, tpPackStore* to) {
    tpSmallSteps* state = step->state;
    const tpSystem* system = step->system;
    tpArena* arena = &step->system->arena;
    tpShapePair* shapes = TP_SCRATCH(arena, tpShapePair, from->slotCount);
    int32_t* slots = TP_SCRATCH(arena, int32_t, from->places.count);
    int count = 0;
    if (arena->failed) {
        return false;
    }
    tpPackStore_TakePieces(to, from);
    for (int r = 0; r < from->runs.count; ++r) {
        const tpSoftRun* old = &from->runs.data[r];
        for (int lane = 0; old->packs != NULL && lane < tp_packWidth; ++lane) {
            if ((old->used >> lane & 1) == 0) {
                continue;
            }
            tpShapePair pair = state->shapes.data[old->slots[lane]];
            int a = system->shapes.data[pair.shapeA].body;
            int b = system->shapes.data[pair.shapeB].body, newLane;
            int32_t moved = tpPackStore_Add(to, state->numbers.data[a], state->numbers.data[b],
                                            old->points[lane], old->areBalls);
            if (moved < 0) {
                return false;
            }
            tpSoftRun* new = tpPackStore_Find(to, moved, &newLane);
            tpSoftRun_CopyLane(old, lane, new, newLane);
            TP_ASSERT(moved == count);
            slots[old->slots[lane]] = moved;
            shapes[count++] = pair;
        }
        if (old->packs != NULL) {
            tpPackStore_FreePacks(to, old->first, old->room);
        }
    }
    for (int i = 0; i < state->pairs.count; ++i) {
        int32_t* slot = &state->pairs.data[i].slot;
        *slot = *slot >= 0 ? slots[*slot] : -1;
    }
    if (count > 0) {
        memcpy(state->shapes.data, shapes, sizeof(tpShapePair) * (size_t)count);
    }
    state->shapes.count = count;
    return true;
}

static void countCut(tpSmallSteps* state) {
    state->addedBodies = 0;
    state->bordersAtCut = 1.0;
    state->stepsSinceCut = 0;
}

static bool cut(tpSmallStep* step) {
    tpSmallSteps* state = step->state;
    tpSystem* system = step->system;
    const tpAllocator* allocator = &system->allocator;
    int32_t *order = TP_SCRATCH(&system->arena, int32_t, system->bodyCount), *firsts;
    int count = 0;
    int blocks =
        order != NULL ? cutBodies(system, &state->map, &system->arena, order, &firsts, &count) : -1;
    int32_t* blockOf = TP_SCRATCH(&system->arena, int32_t, (size_t)count + 1);
    if (blocks < 0 || blockOf == NULL || !TP_RESERVE(allocator, state->blockFirsts, blocks + 1)) {
        return false;
    }
    for (int n = 0; n <= count; ++n) {
        blockOf[n] = -1;
    }
    for (int b = 0; b < blocks; ++b) {
        for (int n = firsts[b]; n < firsts[b + 1]; ++n) {
            blockOf[n] = b;
        }
    }
    // Bodies that impulses do not move are visited with the last block.
    memcpy(state->blockFirsts.data, firsts, sizeof(int32_t) * (size_t)blocks);
    state->blockFirsts.data[blocks] = count + 1;
    state->blockFirsts.count = blocks + 1;
    if (state->store.slotCount == 0) {
        // The memory that it has serves again.
        if (!renumber(step, order, count) ||
            !tpPackStore_Start(&state->store, blockOf, count + 1, blocks)) {
            return false;
        }
        state->shapes.count = 0;
        countCut(state);
        return true;
    }
    tpPackStore store;
    tpCreatePackStore(&store, allocator);
    bool isDone = (!state->store.allowsTorsion || tpPackStore_AllowTorsion(&store)) &&
                  renumber(step, order, count) &&
                  tpPackStore_Start(&store, blockOf, count + 1, blocks) &&
                  moveManifolds(step, &state->store, &store);
    if (!isDone) {
        tpDestroyPackStore(&store);
        return false;
    }
    tpDestroyPackStore(&state->store);
    state->store = store;
    countCut(state);
    return true;
}

// Whether the blocks have mixed.
static bool haveMixed(tpSmallSteps* state) {
    tpPackStore* store = &state->store;
    // Cutting is work for one thread, and manifolds that come and go find other lanes anyway.
    if (store->blockCount < 2 || store->slotCount == 0 || !state->isCalm ||
        !tpPackStore_Order(store)) {
        return false;
    }
    int between = store->order.count - store->groupFirsts.data[store->blockCount];
    double part = (double)between / store->order.count;
    state->stepsSinceCut += 1;
    if (state->stepsSinceCut <= settledSteps) {
        state->bordersAtCut = part;
    }
    return state->stepsSinceCut > leastStepsToCut && part > state->bordersAtCut + mixedPart;
}

// Coming and going ----------------------------------------------------------------------------

static bool addBody(tpSmallStep* step, int body) {
    tpSmallSteps* state = step->state;
    int number = state->bodies.count - 1; // that of nobody, who moves on
    int block = tpMayMove(&step->system->bodies.data[body]) ? state->store.blockCount - 1 : -1;
    if (!reserveBodies(state, &step->system->allocator, number + 2, body + 1) ||
        !tpPackStore_AddBody(&state->store, block)) {
        return false;
    }
    state->numbers.data[body] = number;
    state->bodies.data[number] = body;
    state->bodies.data[number + 1] = -1;
    memset(&state->ways.data[number], 0, 2 * sizeof(tpBodyWay));
    memset(&state->motionMarks.data[number], 0, 2 * sizeof(uint64_t));
    state->bodies.count = state->ways.count = state->motionMarks.count = number + 2;
    state->blockFirsts.data[state->store.blockCount] = number + 2;
    state->addedBodies += 1;
    return true;
}

// Takes up bodies that have come and lets go of those that are gone. Says whether numbers are not
// worth keeping.
static bool followBodies(tpSmallStep* step, bool* isCut) {
    tpSmallSteps* state = step->state;
    const tpSystem* system = step->system;
    int changed = 0;
    if (!TP_RESERVE(&system->allocator, state->numbers, system->bodyCount)) {
        return false;
    }
    for (; state->numbers.count < system->bodyCount; ++state->numbers.count) {
        state->numbers.data[state->numbers.count] = -1;
    }
    for (int i = 0; i < system->bodyCount && !*isCut; ++i) {
        const tpBody* body = &system->bodies.data[i];
        int number = state->numbers.data[i];
        if (number >= 0 && !body->isLive) {
            state->bodies.data[number] = -1;
            state->numbers.data[i] = -1;
            changed += 1;
        } else if (number >= 0) {
            *isCut = (state->store.blocks.data[number] >= 0) != tpMayMove(body);
        } else if (body->isLive && !addBody(step, i)) {
            return false;
        }
    }
    int count = state->bodies.count - 1;
    state->addedBodies += changed;
    *isCut = *isCut || 8 * state->addedBodies > count;
    return true;
}

// Of the pairs of bodies that may not collide: those of joints, and those that users exclude. What
// a filter of the user's says is not known.
static uint64_t hashExclusions(const tpSystem* system) {
    uint64_t hash = tpHashWord(UINT64_C(0xcbf29ce484222325), system->pairFilter != NULL ? 1 : 0);
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (tpJoint_Excludes(joint)) {
            hash =
                tpHashWord(hash, (uint64_t)(uint32_t)joint->bodyA << 32 | (uint32_t)joint->bodyB);
        }
    }
    for (int i = 0; i < system->excludes.pairs.count; ++i) {
        const tpExcludedPair* pair = &system->excludes.pairs.data[i];
        hash = tpHashWord(hash, (uint64_t)(uint32_t)pair->low << 32 | (uint32_t)pair->high);
    }
    return hash;
}

// Whether any two shapes of the scene use what they have learned: not spheres, boxes, planes and
// capsules, but for a box and a capsule.
static bool remembersPairs(const tpSystem* system) {
    const unsigned box = 1u << tp_boxShape, capsule = 1u << tp_capsuleShape;
    unsigned types = 0;
    for (int i = 0; i < system->shapes.count; ++i) {
        const tpShape* shape = &system->shapes.data[i];
        types |= shape->isLive ? 1u << shape->form->geometry.type : 0;
    }
    unsigned others = types & ~(box | capsule | 1u << tp_sphereShape | 1u << tp_planeShape);
    return others != 0 || (types & (box | capsule)) == (box | capsule);
}

// Forgets the manifolds and distances of shapes whose number another shape has now. All pairs are
// looked up again if other bodies than before may not collide, or if a filter of the user's
// decides.
static bool followShapes(tpSmallStep* step) {
    tpSmallSteps* state = step->state;
    const tpSystem* system = step->system;
    bool* isOther = TP_SCRATCH(&step->system->arena, bool, system->shapes.count);
    if (isOther == NULL ||
        !TP_RESERVE(&system->allocator, state->shapeMarks, system->shapes.count)) {
        return false;
    }
    uint64_t exclusions = hashExclusions(system);
    bool isAny = system->pairFilter != NULL || exclusions != state->exclusions;
    state->exclusions = exclusions;
    for (int i = 0; i < system->shapes.count; ++i) {
        uint64_t mark = system->shapes.data[i].isLive ? tpShape_Mark(&system->shapes.data[i]) : 0;
        isOther[i] = i >= state->shapeMarks.count || state->shapeMarks.data[i] != mark;
        state->shapeMarks.data[i] = mark;
        if (isAny || isOther[i]) {
            tpFatPairs_Disturb(&state->fat, i);
        }
    }
    state->shapeMarks.count = system->shapes.count;
    for (int i = 0; i < state->pairs.count; ++i) {
        tpShapePair pair = state->fat.pairs.data[i];
        if (pair.shapeA >= system->shapes.count || pair.shapeB >= system->shapes.count ||
            isOther[pair.shapeA] || isOther[pair.shapeB]) {
            if (state->pairs.data[i].slot >= 0) {
                tpPackStore_Remove(&state->store, state->pairs.data[i].slot);
            }
            state->pairs.data[i] = (tpPairState){ -1, -1e30f, 0 };
        }
    }
    bool remembers = remembersPairs(system);
    if (remembers && !state->remembers) {
        if (!TP_RESERVE(&system->allocator, state->caches, state->pairs.count)) {
            return false;
        }
        state->caches.count = state->pairs.count;
        if (state->caches.count > 0) {
            memset(state->caches.data, 0, sizeof(tpPairCache) * (size_t)state->caches.count);
        }
    }
    state->remembers = remembers;
    return true;
}

// Whether a mechanism lies in more than one block.
static bool isTorn(const tpSmallSteps* state) {
    const tpMechanismMap* map = &state->map;
    for (int m = 0; m < map->count; ++m) {
        int home = -1;
        for (int i = map->places.data[m].node; i < map->places.data[m + 1].node; ++i) {
            int block = state->store.blocks.data[state->numbers.data[map->bodies.data[i]]];
            if (home >= 0 && block != home) {
                return true;
            }
            home = block;
        }
    }
    return false;
}

bool tpSmallStep_NumberBodies(tpSmallStep* step) {
    tpSmallSteps* state = step->state;
    uint64_t structure = step->system->structure;
    bool isCut = false;
    tpArenaMark mark = tpArena_Mark(&step->system->arena);
    if (!tpMechanismMap_Follow(&state->map, step->system, &step->system->arena) ||
        !tpHinges_Follow(&state->map, step->system)) {
        return false;
    }
    step->hasChanged = state->structure != structure;
    if (state->structure == 0) {
        tpSmallSteps_Forget(state);
        isCut = true;
    }
    if (step->hasChanged) {
        if (!followShapes(step) || (!isCut && !followBodies(step, &isCut))) {
            return false;
        }
        isCut = isCut || isTorn(state);
    }
    isCut = isCut || haveMixed(state);
    if (isCut && !cut(step)) {
        return false;
    }
    state->structure = structure;
    tpArena_Release(&step->system->arena, mark);
    return true;
}
