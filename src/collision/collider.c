// The collider: shapes in, pairs and contacts out.
//
// What an update learned about a pair is kept beside the pair. Both the old pairs and the new ones are
// sorted, so that one walk along both hands it on. Only pairs whose bounds overlap are kept: what is
// remembered depends on poses alone, not on the history of the broad phase. Pairs of spheres remember
// nothing: their place is left alone, neither read nor written.

#include "collision/collider.h"

#include "collision/boxes.h"
#include "collision/contact.h"
#include "collision/excluded_pairs.h"
#include "geometry/shape.h"

#include <string.h>

typedef struct ColliderShape {
    tpGeometry geometry; // pose in the frame of the body's centre of mass
    tpPose own;          // of the geometry in its body's frame, as it was made
    int32_t body;        // -1 for a free slot
    bool isMovable;
    uint32_t group, mask;
} ColliderShape;

typedef TP_ARRAY(tpPairCache) CacheArray;

// Contacts of a block of pairs: their part of the scratch memory, and where they go.
typedef struct ContactBlock {
    int first, room, count, place;
    bool isDone; // its contacts found room
} ContactBlock;

struct tpCollider {
    tpAllocator allocator;
    TP_ARRAY(ColliderShape) shapes;
    int32_t firstFree;         // no slot below it is free
    TP_ARRAY(tpPose) poses;    // of shapes, in the world
    TP_ARRAY(tpBounds) bounds; // grown by margins
    TP_ARRAY(uint8_t) kinds;   // tpProxyKind of shapes
    TP_ARRAY(uint8_t) types;   // tpShapeType of shapes
    const tpBroadPhaseClass* broadPhaseClass;
    tpBroadPhase* broadPhase;
    bool looksAhead;
    tpExcludedPairs excluded;    // bodies
    tpPairArray pairs, oldPairs; // sorted
    CacheArray caches, oldCaches;
    tpContactArray contacts;
    // The narrow phase at work: blocks of pairs, what they find and learn.
    TP_ARRAY(ContactBlock) blocks;
    TP_ARRAY(int32_t) counts; // contacts of each pair
    TP_ARRAY(tpContactPoint) scratch;
    CacheArray learned;
};

tpResult tpCreateCollider(const tpColliderDef* def, tpCollider** out) {
    *out = tpAllocateZeroed(&def->allocator, sizeof(tpCollider));
    if (*out == NULL) {
        return tp_outOfMemory;
    }
    (*out)->allocator = def->allocator;
    (*out)->broadPhaseClass = def->useHash ? &tp_hashBroadPhase : &tp_treeBroadPhase;
    if ((*out)->broadPhaseClass->create(&def->allocator, &(*out)->broadPhase) != tp_success) {
        tpRelease(&def->allocator, *out, sizeof(tpCollider));
        *out = NULL;
        return tp_outOfMemory;
    }
    return tp_success;
}

void tpDestroyCollider(tpCollider* collider) {
    if (collider == NULL) {
        return;
    }
    tpAllocator allocator = collider->allocator;
    for (int i = 0; i < collider->shapes.count; ++i) {
        if (collider->shapes.data[i].body >= 0) {
            tpReleaseGeometry(&collider->shapes.data[i].geometry);
        }
    }
    TP_FREE_ARRAY(&allocator, collider->shapes);
    TP_FREE_ARRAY(&allocator, collider->poses);
    TP_FREE_ARRAY(&allocator, collider->bounds);
    TP_FREE_ARRAY(&allocator, collider->kinds);
    TP_FREE_ARRAY(&allocator, collider->types);
    collider->broadPhaseClass->destroy(collider->broadPhase);
    TP_FREE_ARRAY(&allocator, collider->pairs);
    TP_FREE_ARRAY(&allocator, collider->oldPairs);
    TP_FREE_ARRAY(&allocator, collider->caches);
    TP_FREE_ARRAY(&allocator, collider->oldCaches);
    TP_FREE_ARRAY(&allocator, collider->contacts);
    TP_FREE_ARRAY(&allocator, collider->blocks);
    TP_FREE_ARRAY(&allocator, collider->counts);
    TP_FREE_ARRAY(&allocator, collider->scratch);
    TP_FREE_ARRAY(&allocator, collider->learned);
    tpExcludedPairs_Destroy(&collider->excluded, &allocator);
    tpRelease(&allocator, collider, sizeof *collider);
}

// Shapes --------------------------------------------------------------------------------------

tpResult tpCollider_AddShape(tpCollider* collider, const tpColliderShapeDef* def, int32_t* shape) {
    int32_t slot = collider->firstFree;
    while (slot < collider->shapes.count && collider->shapes.data[slot].body >= 0) {
        ++slot;
    }
    if (slot == collider->shapes.count) {
        if (!TP_PUSH(&collider->allocator, collider->shapes, (ColliderShape){ .body = -1 })) {
            return tp_outOfMemory;
        }
    }
    ColliderShape* s = &collider->shapes.data[slot];
    s->geometry = tpRetainGeometry(def->geometry);
    s->own = def->geometry->pose;
    s->geometry.pose = tpComposePoses(def->pose, s->own);
    s->body = def->body;
    s->isMovable = def->isMovable;
    s->group = def->group;
    s->mask = def->mask;
    collider->firstFree = slot + 1;
    *shape = slot;
    return tp_success;
}

// Pairs of the shape, and what is known about them, go with it.
static void forgetShape(tpCollider* collider, int32_t shape) {
    int kept = 0;
    for (int i = 0; i < collider->pairs.count; ++i) {
        tpShapePair pair = collider->pairs.data[i];
        if (pair.shapeA != shape && pair.shapeB != shape) {
            collider->pairs.data[kept] = pair;
            collider->caches.data[kept++] = collider->caches.data[i];
        }
    }
    collider->pairs.count = collider->caches.count = kept;
}

void tpCollider_RemoveShape(tpCollider* collider, int32_t shape) {
    ColliderShape* s = &collider->shapes.data[shape];
    TP_ASSERT(s->body >= 0);
    tpReleaseGeometry(&s->geometry);
    s->body = -1;
    collider->firstFree = shape < collider->firstFree ? shape : collider->firstFree;
    forgetShape(collider, shape);
    while (collider->shapes.count > 0 &&
           collider->shapes.data[collider->shapes.count - 1].body < 0) {
        --collider->shapes.count;
    }
    if (collider->firstFree > collider->shapes.count) {
        collider->firstFree = collider->shapes.count;
    }
}

void tpCollider_MoveShape(tpCollider* collider, int32_t shape, int32_t body, tpPose pose,
                          bool isMovable) {
    ColliderShape* s = &collider->shapes.data[shape];
    s->body = body;
    s->geometry.pose = tpComposePoses(pose, s->own);
    s->isMovable = isMovable;
}

const tpGeometry* tpCollider_GetGeometry(const tpCollider* collider, int32_t shape) {
    return &collider->shapes.data[shape].geometry;
}

int32_t tpCollider_GetBody(const tpCollider* collider, int32_t shape) {
    return collider->shapes.data[shape].body;
}

bool tpCollider_IsMovable(const tpCollider* collider, int32_t shape) {
    return collider->shapes.data[shape].isMovable;
}

tpResult tpCollider_Exclude(tpCollider* collider, int32_t bodyA, int32_t bodyB) {
    return tpExcludedPairs_Add(&collider->excluded, &collider->allocator, bodyA, bodyB);
}

void tpCollider_Include(tpCollider* collider, int32_t bodyA, int32_t bodyB) {
    tpExcludedPairs_Remove(&collider->excluded, bodyA, bodyB);
}

// Pairs ---------------------------------------------------------------------------------------

static bool mayCollide(const void* context, int32_t i, int32_t j) {
    const tpCollider* collider = context;
    const ColliderShape* a = &collider->shapes.data[i];
    const ColliderShape* b = &collider->shapes.data[j];
    bool swapped;
    return a->body != b->body && (a->group & b->mask) != 0 && (b->group & a->mask) != 0 &&
           tpFindPairClass(a->geometry.type, b->geometry.type, &swapped) != NULL &&
           !tpExcludedPairs_Has(&collider->excluded, a->body, b->body);
}

bool tpCollider_MayCollide(const tpCollider* collider, int32_t shapeA, int32_t shapeB) {
    return mayCollide(collider, shapeA, shapeB);
}

// Balls whose boxes overlap may still be apart: of the neighbours in a heap of equal ones three in four are.
// A little more than the rounding of boxes is allowed for.
static bool areBallsApart(const tpBounds* a, const tpBounds* b) {
    tpVec3 twice = tpSub(tpAdd(a->lower, a->upper), tpAdd(b->lower, b->upper));
    double reach = a->upper.x - a->lower.x + b->upper.x - b->lower.x;
    return tpLengthSquared(twice) > reach * reach * (1.0 + 1e-9);
}

// Of shapes in place whose boxes overlap.
static bool mayTouch(const void* context, int32_t i, int32_t j) {
    const tpCollider* collider = context;
    const uint8_t* types = collider->types.data;
    bool areBalls = types[i] == tp_sphereShape && types[j] == tp_sphereShape;
    return !(areBalls && areBallsApart(&collider->bounds.data[i], &collider->bounds.data[j])) &&
           mayCollide(context, i, j);
}

enum { shapesAChunk = 512, pairsAChunk = 4096 };

static int chunksOf(int count, int size) {
    return (count + size - 1) / size;
}

// What an update is about.
typedef struct Update {
    tpCollider* collider;
    const tpPose* bodyPoses;
    const double* bodyMargins;
} Update;

static void placeChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Update* update = context;
    tpCollider* collider = update->collider;
    int end = (chunk + 1) * shapesAChunk;
    end = end < collider->shapes.count ? end : collider->shapes.count;
    for (int i = chunk * shapesAChunk; i < end; ++i) {
        const ColliderShape* s = &collider->shapes.data[i];
        collider->kinds.data[i] = s->body < 0    ? tp_noProxy
                                  : s->isMovable ? tp_movableProxy
                                                 : tp_fixedProxy;
        collider->types.data[i] = (uint8_t)s->geometry.type;
        if (s->body < 0) {
            collider->bounds.data[i] = (tpBounds){ { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0 } };
            continue;
        }
        tpPose pose = update->bodyPoses[s->body];
        double margin = update->bodyMargins != NULL ? update->bodyMargins[s->body] : 0.0;
        tpVec3 grow = tpMakeVec3(margin, margin, margin);
        tpBounds bounds = tpGeometry_Bounds(&s->geometry, pose);
        collider->poses.data[i] = tpComposePoses(pose, s->geometry.pose);
        collider->bounds.data[i].lower = tpSub(bounds.lower, grow);
        collider->bounds.data[i].upper = tpAdd(bounds.upper, grow);
    }
}

// Poses and bounds of all shapes.
static bool placeShapes(tpCollider* collider, const tpPose* bodyPoses, const double* bodyMargins,
                        tpTasks* tasks) {
    int count = collider->shapes.count;
    if (!TP_RESERVE(&collider->allocator, collider->poses, count) ||
        !TP_RESERVE(&collider->allocator, collider->bounds, count) ||
        !TP_RESERVE(&collider->allocator, collider->kinds, count) ||
        !TP_RESERVE(&collider->allocator, collider->types, count)) {
        return false;
    }
    collider->poses.count = collider->bounds.count = count;
    collider->kinds.count = collider->types.count = count;
    Update update = { collider, bodyPoses, bodyMargins };
    tpTasks_Run(tasks, placeChunk, &update, chunksOf(count, shapesAChunk));
    return true;
}

// Pairs whose bounds overlap, boxes in general and balls for spheres.
static bool findPairs(tpCollider* collider, tpTasks* tasks) {
    tpProxies proxies = { collider->bounds.data, collider->kinds.data, collider->shapes.count,
                          mayTouch, collider };
    return collider->broadPhaseClass->findPairs(collider->broadPhase, &proxies, tasks,
                                                &collider->pairs) == tp_success;
}

static bool isBefore(tpShapePair p, tpShapePair q) {
    return p.shapeA < q.shapeA || (p.shapeA == q.shapeA && p.shapeB < q.shapeB);
}

// The first of sorted pairs that does not come before another.
static int findPair(const tpPairArray* pairs, tpShapePair pair) {
    int low = 0, high = pairs->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (isBefore(pairs->data[middle], pair)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Whether anything is kept about pairs of two types.
static bool typesRemember(tpShapeType a, tpShapeType b) {
    bool swapped;
    const tpPairClass* class = tpFindPairClass(a, b, &swapped);
    return class != NULL && !class->forgets;
}

// About a pair of shapes that are in place.
static bool remembers(const tpCollider* collider, tpShapePair pair) {
    return typesRemember((tpShapeType)collider->types.data[pair.shapeA],
                         (tpShapeType)collider->types.data[pair.shapeB]);
}

static void inheritChunk(void* context, int chunk, int worker) {
    (void)worker;
    tpCollider* collider = context;
    const tpPairArray* old = &collider->oldPairs;
    int begin = chunk * pairsAChunk, end = begin + pairsAChunk;
    end = end < collider->pairs.count ? end : collider->pairs.count;
    int o = findPair(old, collider->pairs.data[begin]);
    for (int i = begin; i < end; ++i) {
        tpShapePair p = collider->pairs.data[i];
        if (!remembers(collider, p)) {
            continue;
        }
        while (o < old->count && isBefore(old->data[o], p)) {
            ++o;
        }
        if (o < old->count && !isBefore(p, old->data[o])) {
            collider->caches.data[i] = collider->oldCaches.data[o];
        } else {
            memset(&collider->caches.data[i], 0, sizeof collider->caches.data[i]);
        }
    }
}

// Hands on what was known about pairs that are still there; both lists are sorted.
static bool inheritCaches(tpCollider* collider, tpTasks* tasks) {
    if (!TP_RESERVE(&collider->allocator, collider->caches, collider->pairs.count)) {
        return false;
    }
    collider->caches.count = collider->pairs.count;
    tpTasks_Run(tasks, inheritChunk, collider, chunksOf(collider->pairs.count, pairsAChunk));
    return true;
}

tpResult tpCollider_FindPairs(tpCollider* collider, const tpPose* bodyPoses,
                              const double* bodyMargins, tpTasks* tasks) {
    tpPairArray pairs = collider->oldPairs;
    CacheArray caches = collider->oldCaches;
    collider->oldPairs = collider->pairs;
    collider->oldCaches = collider->caches;
    collider->pairs = pairs;
    collider->caches = caches;
    collider->pairs.count = collider->caches.count = collider->contacts.count = 0;
    if (!placeShapes(collider, bodyPoses, bodyMargins, tasks) || !findPairs(collider, tasks) ||
        !inheritCaches(collider, tasks)) {
        collider->pairs.count = collider->caches.count = 0;
        return tp_outOfMemory;
    }
    return tp_success;
}

// Contacts ------------------------------------------------------------------------------------

// Pairs are cut into blocks of a fixed number, whatever the threads: a block's contacts go to its own
// part of the scratch memory, and are then copied out in order. A block that finds its part too small
// says how much it needs, gets that much at the end, and is asked again.
enum { blockSize = 32, blocksAChunk = 16 };

typedef struct NarrowPhase {
    tpCollider* collider;
    const double* bodyMargins;
} NarrowPhase;

// The pairs of a block in which both shapes are boxes, eight to a batch.
typedef struct BoxPairs {
    tpBoxBatch batches[blockSize / tp_boxesAtOnce];
    int8_t places[blockSize]; // of each pair; -1: not boxes
} BoxPairs;

static void setBoxes(const tpCollider* collider, tpShapePair pair, int place, BoxPairs* boxes) {
    tpBoxBatch_Set(&boxes->batches[place / tp_boxesAtOnce], place % tp_boxesAtOnce,
                   &collider->shapes.data[pair.shapeA].geometry, collider->poses.data[pair.shapeA],
                   &collider->shapes.data[pair.shapeB].geometry, collider->poses.data[pair.shapeB]);
}

static void findBoxAxes(const tpCollider* collider, int begin, int end, BoxPairs* boxes) {
    int count = 0;
    tpShapePair last = { 0, 0 };
    for (int i = begin; i < end; ++i) {
        tpShapePair pair = collider->pairs.data[i];
        bool areBoxes = collider->shapes.data[pair.shapeA].geometry.type == tp_boxShape &&
                        collider->shapes.data[pair.shapeB].geometry.type == tp_boxShape;
        boxes->places[i - begin] = (int8_t)(areBoxes ? count : -1);
        if (areBoxes) {
            setBoxes(collider, pair, count++, boxes);
            last = pair;
        }
    }
    // The last pair stands in all lanes that are left.
    for (int place = count; place % tp_boxesAtOnce != 0; ++place) {
        setBoxes(collider, last, place, boxes);
    }
    for (int k = 0; k < count; k += tp_boxesAtOnce) {
        tpBoxBatch_FindAxes(&boxes->batches[k / tp_boxesAtOnce]);
    }
}

// The contacts of one block, into its part of the scratch memory.
static void collideBlock(const NarrowPhase* phase, int index) {
    tpCollider* collider = phase->collider;
    ContactBlock* block = &collider->blocks.data[index];
    if (block->isDone) {
        return;
    }
    tpContactList list = { collider->scratch.data + block->first, 0, block->room };
    int begin = index * blockSize, end = begin + blockSize;
    end = end < collider->pairs.count ? end : collider->pairs.count;
    BoxPairs boxes;
    findBoxAxes(collider, begin, end, &boxes);
    for (int i = begin; i < end; ++i) {
        tpShapePair pair = collider->pairs.data[i];
        const ColliderShape* a = &collider->shapes.data[pair.shapeA];
        const ColliderShape* b = &collider->shapes.data[pair.shapeB];
        tpPose poseA = collider->poses.data[pair.shapeA], poseB = collider->poses.data[pair.shapeB];
        double margin = phase->bodyMargins != NULL
                            ? phase->bodyMargins[a->body] + phase->bodyMargins[b->body]
                            : 0.0;
        // What is learned is written beside what was known, in case the block is asked again.
        tpPairCache* cache = &collider->learned.data[i];
        if (remembers(collider, pair)) {
            *cache = collider->caches.data[i];
        }
        int before = list.count, place = boxes.places[i - begin];
        if (place >= 0) {
            tpBoxBatch_Collide(&boxes.batches[place / tp_boxesAtOnce], place % tp_boxesAtOnce,
                               &a->geometry, poseA, &b->geometry, poseB, margin,
                               collider->looksAhead, cache, &list);
        } else {
            tpCollideShapes(&a->geometry, poseA, &b->geometry, poseB, margin, collider->looksAhead,
                            cache, &list);
        }
        collider->counts.data[i] = list.count - before;
    }
    block->count = list.count;
    block->isDone = list.count <= list.capacity;
}

// Threads take several blocks at a time: neighbours share cache lines.
static void collideChunk(void* context, int chunk, int worker) {
    (void)worker;
    const NarrowPhase* phase = context;
    int end = (chunk + 1) * blocksAChunk, count = phase->collider->blocks.count;
    for (int i = chunk * blocksAChunk; i < end && i < count; ++i) {
        collideBlock(phase, i);
    }
}

// Room for all blocks, one after the other. False where memory ran out.
static bool placeBlocks(tpCollider* collider) {
    int first = 0;
    for (int i = 0; i < collider->blocks.count; ++i) {
        ContactBlock* block = &collider->blocks.data[i];
        block->isDone = false;
        block->first = first;
        first += block->room;
    }
    collider->scratch.count = first;
    return TP_RESERVE(&collider->allocator, collider->scratch, first);
}

// Room for blocks that asked for more, and a little over, since contacts come one by one. Says whether there
// are any, and false where memory ran out.
static bool enlargeBlocks(tpCollider* collider, bool* isShort) {
    *isShort = false;
    for (int i = 0; i < collider->blocks.count; ++i) {
        ContactBlock* block = &collider->blocks.data[i];
        if (!block->isDone) {
            *isShort = true;
            block->room = block->count + block->count / 8;
            block->first = collider->scratch.count;
            collider->scratch.count += block->room;
        }
    }
    return TP_RESERVE(&collider->allocator, collider->scratch, collider->scratch.count);
}

// Spheres touch in a point, most others in several.
static int leastRoom(const tpCollider* collider) {
    bool areSpheres = true;
    for (int i = 0; i < collider->types.count && areSpheres; ++i) {
        areSpheres =
            collider->kinds.data[i] != tp_movableProxy || collider->types.data[i] == tp_sphereShape;
    }
    return areSpheres ? blockSize : 4 * blockSize;
}

static bool startBlocks(tpCollider* collider) {
    int pairs = collider->pairs.count, blocks = (pairs + blockSize - 1) / blockSize;
    if (!TP_RESERVE(&collider->allocator, collider->blocks, blocks) ||
        !TP_RESERVE(&collider->allocator, collider->learned, pairs) ||
        !TP_RESERVE(&collider->allocator, collider->counts, pairs)) {
        return false;
    }
    // Blocks keep the room they once needed; none has less than half more than they had in the mean, since pairs
    // move from block to block.
    int64_t total = 0;
    for (int i = 0; i < collider->blocks.count; ++i) {
        total += collider->blocks.data[i].count;
    }
    int known = collider->blocks.count, least = leastRoom(collider);
    int usual = known > 0 ? (int)(3 * total / (2 * known)) : 0;
    usual = usual > least ? usual : least;
    for (int i = 0; i < blocks; ++i) {
        ContactBlock* block = &collider->blocks.data[i];
        if (i >= known) {
            *block = (ContactBlock){ .room = usual };
        }
        block->room = block->room > usual ? block->room : usual;
    }
    collider->blocks.count = blocks;
    return placeBlocks(collider);
}

// Copies contacts out of a block, pair after pair, to where they belong.
static void gatherBlock(tpCollider* collider, int index) {
    const ContactBlock* block = &collider->blocks.data[index];
    tpContact* out = collider->contacts.data + block->place;
    const tpContactPoint* p = collider->scratch.data + block->first;
    int end = (index + 1) * blockSize;
    end = end < collider->pairs.count ? end : collider->pairs.count;
    for (int i = index * blockSize; i < end; ++i) {
        tpShapePair pair = collider->pairs.data[i];
        int32_t bodyA = collider->shapes.data[pair.shapeA].body;
        int32_t bodyB = collider->shapes.data[pair.shapeB].body;
        for (int k = 0; k < collider->counts.data[i]; ++k, ++p) {
            *out++ = (tpContact){ bodyA,     bodyB,     pair.shapeA, pair.shapeB, p->feature,
                                  p->pointA, p->pointB, p->normal,   p->gap };
        }
    }
}

static void gatherChunk(void* context, int chunk, int worker) {
    (void)worker;
    tpCollider* collider = context;
    int end = (chunk + 1) * blocksAChunk;
    for (int i = chunk * blocksAChunk; i < end && i < collider->blocks.count; ++i) {
        gatherBlock(collider, i);
    }
}

static tpResult gatherContacts(tpCollider* collider, tpTasks* tasks) {
    int total = 0;
    for (int i = 0; i < collider->blocks.count; ++i) {
        collider->blocks.data[i].place = total;
        total += collider->blocks.data[i].count;
    }
    if (!TP_RESERVE(&collider->allocator, collider->contacts, total)) {
        return tp_outOfMemory;
    }
    collider->contacts.count = total;
    if (total > 0) {
        tpTasks_Run(tasks, gatherChunk, collider, chunksOf(collider->blocks.count, blocksAChunk));
    }
    return tp_success;
}

// Contacts of all pairs; shapes are in place.
static tpResult collidePairs(tpCollider* collider, const double* bodyMargins, tpTasks* tasks) {
    collider->contacts.count = 0;
    if (!startBlocks(collider)) {
        return tp_outOfMemory;
    }
    NarrowPhase phase = { collider, bodyMargins };
    int chunks = chunksOf(collider->blocks.count, blocksAChunk);
    tpTasks_Run(tasks, collideChunk, &phase, chunks);
    bool isShort;
    if (!enlargeBlocks(collider, &isShort)) {
        return tp_outOfMemory;
    }
    if (isShort) {
        tpTasks_Run(tasks, collideChunk, &phase, chunks);
    }
    CacheArray known = collider->caches;
    collider->caches = collider->learned;
    collider->caches.count = collider->pairs.count;
    collider->learned = known;
    return gatherContacts(collider, tasks);
}

tpResult tpCollider_FindContacts(tpCollider* collider, const tpPose* bodyPoses,
                                 const double* bodyMargins, tpTasks* tasks) {
    collider->contacts.count = 0;
    return placeShapes(collider, bodyPoses, bodyMargins, tasks)
               ? collidePairs(collider, bodyMargins, tasks)
               : tp_outOfMemory;
}

tpResult tpCollider_Update(tpCollider* collider, const tpPose* bodyPoses, const double* bodyMargins,
                           tpTasks* tasks) {
    tpResult result = tpCollider_FindPairs(collider, bodyPoses, bodyMargins, tasks);
    return result == tp_success ? collidePairs(collider, bodyMargins, tasks) : result;
}

const tpContact* tpCollider_GetContacts(const tpCollider* collider, int* count) {
    *count = collider->contacts.count;
    return collider->contacts.data;
}

void tpCollider_LookAhead(tpCollider* collider, bool looksAhead) {
    collider->looksAhead = looksAhead;
}

void tpCollider_TakeContacts(tpCollider* collider, tpContactArray* contacts) {
    tpContactArray taken = collider->contacts;
    collider->contacts = *contacts;
    collider->contacts.count = 0;
    *contacts = taken;
}

const tpShapePair* tpCollider_GetPairs(const tpCollider* collider, int* count) {
    *count = collider->pairs.count;
    return collider->pairs.data;
}

tpResult tpCollider_Closest(const tpCollider* collider, int32_t shapeA, int32_t shapeB,
                            tpPose bodyA, tpPose bodyB, tpClosest* out) {
    const ColliderShape* a = &collider->shapes.data[shapeA];
    const ColliderShape* b = &collider->shapes.data[shapeB];
    // Sorted pairs: look for what is known by halving.
    tpPairCache cache;
    memset(&cache, 0, sizeof cache);
    int low = findPair(&collider->pairs, (tpShapePair){ shapeA, shapeB });
    if (low < collider->pairs.count && collider->pairs.data[low].shapeA == shapeA &&
        collider->pairs.data[low].shapeB == shapeB &&
        typesRemember(a->geometry.type, b->geometry.type)) {
        cache = collider->caches.data[low];
    }
    return tpClosestPoints(&a->geometry, bodyA, &b->geometry, bodyB, &cache, out);
}

// State: pairs, then what is known about each.
size_t tpCollider_StateSize(const tpCollider* collider) {
    return (size_t)collider->pairs.count * (sizeof(tpShapePair) + sizeof(tpPairCache));
}

void tpCollider_SaveState(const tpCollider* collider, void* state) {
    const ColliderShape* shapes = collider->shapes.data;
    size_t pairBytes = (size_t)collider->pairs.count * sizeof(tpShapePair);
    if (pairBytes == 0) {
        return;
    }
    memcpy(state, collider->pairs.data, pairBytes);
    char* known = (char*)state + pairBytes;
    for (int i = 0; i < collider->pairs.count; ++i, known += sizeof(tpPairCache)) {
        tpShapePair pair = collider->pairs.data[i];
        if (typesRemember(shapes[pair.shapeA].geometry.type, shapes[pair.shapeB].geometry.type)) {
            memcpy(known, &collider->caches.data[i], sizeof(tpPairCache));
        } else {
            memset(known, 0, sizeof(tpPairCache));
        }
    }
}

tpResult tpCollider_LoadState(tpCollider* collider, const void* state, size_t size) {
    int count = (int)(size / (sizeof(tpShapePair) + sizeof(tpPairCache)));
    if (!TP_RESERVE(&collider->allocator, collider->pairs, count) ||
        !TP_RESERVE(&collider->allocator, collider->caches, count)) {
        return tp_outOfMemory;
    }
    collider->pairs.count = collider->caches.count = count;
    size_t pairBytes = (size_t)count * sizeof(tpShapePair);
    if (count > 0) {
        memcpy(collider->pairs.data, state, pairBytes);
        memcpy(collider->caches.data, (const char*)state + pairBytes,
               (size_t)count * sizeof(tpPairCache));
    }
    return tp_success;
}
