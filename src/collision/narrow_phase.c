// The narrow phase of the collider: contacts of its pairs, in their order.
//
// Pairs are cut into blocks of a fixed number, whatever the threads: a block's contacts go to its
// own part of the scratch memory, and are then copied out in order. A block that finds its part too
// small says how much it needs, gets that much at the end, and is asked again.

#include "collision/boxes.h"
#include "collision/collider_parts.h"
#include "geometry/shape.h"

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
                   collider->shapes.data[pair.shapeA].geometry, collider->poses.data[pair.shapeA],
                   collider->shapes.data[pair.shapeB].geometry, collider->poses.data[pair.shapeB]);
}

static bool isBox(const tpCollider* collider, int32_t shape) {
    return tpClassOf(collider->shapes.data[shape].geometry)->kind == tp_boxKind;
}

static void findBoxAxes(const tpCollider* collider, int begin, int end, BoxPairs* boxes) {
    int count = 0;
    tpShapePair last = { 0, 0 };
    for (int i = begin; i < end; ++i) {
        tpShapePair pair = collider->pairs.data[i];
        bool areBoxes = isBox(collider, pair.shapeA) && isBox(collider, pair.shapeB);
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
    tpContactBlock* block = &collider->blocks.data[index];
    if (block->isDone) {
        return;
    }
    block->isSkipped = tpCollider_IsStopped(collider);
    if (block->isSkipped) {
        return;
    }
    tpContactList list = { collider->scratch.data + block->first, 0, block->room };
    int begin = index * blockSize, end = begin + blockSize;
    end = end < collider->pairs.count ? end : collider->pairs.count;
    BoxPairs boxes;
    findBoxAxes(collider, begin, end, &boxes);
    for (int i = begin; i < end; ++i) {
        tpShapePair pair = collider->pairs.data[i];
        const tpColliderShape* a = &collider->shapes.data[pair.shapeA];
        const tpColliderShape* b = &collider->shapes.data[pair.shapeB];
        tpPose poseA = collider->poses.data[pair.shapeA], poseB = collider->poses.data[pair.shapeB];
        double margin = phase->bodyMargins != NULL
                            ? phase->bodyMargins[a->body] + phase->bodyMargins[b->body]
                            : 0.0;
        // What is learned is written beside what was known, in case the block is asked again.
        tpPairCache* cache = &collider->learned.data[i];
        if (tpCollider_Remembers(collider, pair)) {
            *cache = collider->caches.data[i];
        }
        int before = list.count, place = boxes.places[i - begin];
        if (place >= 0) {
            tpBoxBatch_Collide(&boxes.batches[place / tp_boxesAtOnce], place % tp_boxesAtOnce,
                               a->geometry, poseA, b->geometry, poseB, margin, false, cache, &list);
        } else {
            tpCollideShapes(a->geometry, poseA, b->geometry, poseB, margin, false, cache, &list,
                            NULL);
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

// Room for all blocks, one after the other. False if memory ran out.
static bool placeBlocks(tpCollider* collider) {
    int first = 0;
    for (int i = 0; i < collider->blocks.count; ++i) {
        tpContactBlock* block = &collider->blocks.data[i];
        block->isDone = block->isSkipped = false;
        block->first = first;
        first += block->room;
    }
    collider->scratch.count = first;
    return TP_RESERVE(&collider->allocator, collider->scratch, first);
}

static bool isAnySkipped(const tpCollider* collider) {
    bool isAny = false;
    for (int i = 0; i < collider->blocks.count && !isAny; ++i) {
        isAny = collider->blocks.data[i].isSkipped;
    }
    return isAny;
}

// Room for blocks that asked for more, and a little over, since contacts come one by one. Says
// whether there are any, and false if memory ran out.
static bool enlargeBlocks(tpCollider* collider, bool* isShort) {
    *isShort = false;
    for (int i = 0; i < collider->blocks.count; ++i) {
        tpContactBlock* block = &collider->blocks.data[i];
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
    // Blocks keep the room they once needed; none has less than half more than they had in the
    // mean, since pairs move from block to block.
    int64_t total = 0;
    for (int i = 0; i < collider->blocks.count; ++i) {
        total += collider->blocks.data[i].count;
    }
    int known = collider->blocks.count, least = leastRoom(collider);
    int usual = known > 0 ? (int)(3 * total / (2 * known)) : 0;
    usual = usual > least ? usual : least;
    for (int i = 0; i < blocks; ++i) {
        tpContactBlock* block = &collider->blocks.data[i];
        if (i >= known) {
            *block = (tpContactBlock){ .room = usual };
        }
        block->room = block->room > usual ? block->room : usual;
    }
    collider->blocks.count = blocks;
    return placeBlocks(collider);
}

// Copies contacts out of a block, pair after pair, to where they belong.
static void gatherBlock(tpCollider* collider, int index) {
    const tpContactBlock* block = &collider->blocks.data[index];
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
        tpTasks_Run(tasks, gatherChunk, collider, tpChunksOf(collider->blocks.count, blocksAChunk));
    }
    return tp_success;
}

// Contacts of all pairs; shapes are in place.
tpResult tpCollider_CollidePairs(tpCollider* collider, const double* bodyMargins, tpTasks* tasks) {
    collider->contacts.count = 0;
    if (!startBlocks(collider)) {
        return tp_outOfMemory;
    }
    NarrowPhase phase = { collider, bodyMargins };
    int chunks = tpChunksOf(collider->blocks.count, blocksAChunk);
    tpTasks_Run(tasks, collideChunk, &phase, chunks);
    if (isAnySkipped(collider)) {
        return tp_notSolved;
    }
    bool isShort;
    if (!enlargeBlocks(collider, &isShort)) {
        return tp_outOfMemory;
    }
    if (isShort) {
        tpTasks_Run(tasks, collideChunk, &phase, chunks);
    }
    if (isAnySkipped(collider)) {
        return tp_notSolved;
    }
    tpCacheArray known = collider->caches;
    collider->caches = collider->learned;
    collider->caches.count = collider->pairs.count;
    collider->learned = known;
    return gatherContacts(collider, tasks);
}
