// The collider: shapes in, pairs and contacts out.
//
// What an update learned about a pair is kept beside the pair. Both the old pairs and the new ones
// are sorted, so that one walk along both hands it on. Only pairs whose bounds overlap are kept:
// what is remembered depends on poses alone, not on the history of the broad phase. Pairs of
// spheres remember nothing: their place is left alone, neither read nor written.

#include "collision/collider_parts.h"

#include <string.h>

#include "geometry/shape.h"

tpResult tpCreateCollider(const tpColliderDef* def, tpCollider** out) {
    *out = tpAllocateZeroed(&def->allocator, sizeof(tpCollider));
    if (*out == NULL) {
        return tp_outOfMemory;
    }
    (*out)->allocator = def->allocator;
    tpCreateSharedPool(&(*out)->geometries, &def->allocator, sizeof(tpGeometry));
    (*out)->broadPhaseClass = def->useHash ? &tp_hashBroadPhase : &tp_treeBroadPhase;
    if ((*out)->broadPhaseClass->create(&def->allocator, &(*out)->broadPhase) != tp_success) {
        tpRelease(&def->allocator, *out, sizeof(tpCollider));
        *out = NULL;
        return tp_outOfMemory;
    }
    return tp_success;
}

// A geometry at a pose in the frame of its body's centre of mass; NULL if memory ran out.
static const tpGeometry* takeGeometry(tpCollider* collider, const tpGeometry* geometry,
                                      tpPose pose) {
    tpGeometry placed;
    memcpy(&placed, geometry, sizeof(placed));
    placed.pose = pose;
    const tpGeometry* shared = tpSharedPool_Take(&collider->geometries, &placed);
    if (shared != NULL) {
        tpRetainGeometry(geometry);
    }
    return shared;
}

static void dropGeometry(tpCollider* collider, tpColliderShape* shape) {
    if (shape->geometry != NULL) {
        tpGeometry geometry = *shape->geometry;
        tpReleaseGeometry(&geometry);
        tpSharedPool_GiveBack(&collider->geometries, shape->geometry);
        shape->geometry = NULL;
    }
}

void tpDestroyCollider(tpCollider* collider) {
    if (collider == NULL) {
        return;
    }
    tpAllocator allocator = collider->allocator;
    for (int i = 0; i < collider->shapes.count; ++i) {
        dropGeometry(collider, &collider->shapes.data[i]);
    }
    TP_FREE_ARRAY(&allocator, collider->shapes);
    tpDestroySharedPool(&collider->geometries);
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

tpResult tpCollider_PutShape(tpCollider* collider, int32_t shape, const tpColliderShapeDef* def) {
    TP_ASSERT(shape >= 0);
    if (!TP_RESERVE(&collider->allocator, collider->shapes, shape + 1)) {
        return tp_outOfMemory;
    }
    if (tpCollider_HasShape(collider, shape)) {
        tpCollider_RemoveShape(collider, shape);
    }
    while (collider->shapes.count <= shape) {
        collider->shapes.data[collider->shapes.count++] = (tpColliderShape){ .body = -1 };
    }
    tpColliderShape* s = &collider->shapes.data[shape];
    s->geometry =
        takeGeometry(collider, def->geometry, tpComposePoses(def->pose, def->geometry->pose));
    if (s->geometry == NULL) {
        return tp_outOfMemory;
    }
    s->body = def->body;
    s->isMovable = def->isMovable;
    s->group = def->group;
    s->mask = def->mask;
    s->innerRadius = tpGeometry_InnerRadius(s->geometry);
    return tp_success;
}

bool tpCollider_HasShape(const tpCollider* collider, int32_t shape) {
    return shape >= 0 && shape < collider->shapes.count && collider->shapes.data[shape].body >= 0;
}

void tpCollider_RemoveShape(tpCollider* collider, int32_t shape) {
    TP_ASSERT(tpCollider_HasShape(collider, shape));
    tpColliderShape* s = &collider->shapes.data[shape];
    dropGeometry(collider, s);
    s->body = -1;
    s->hasGone = collider->hasGone = true;
}

// Pairs of shapes that have gone, and what is known about them, go too: all at once, before anybody
// looks at pairs. The numbers may have other owners by now.
static void forgetGone(const tpCollider* constant) {
    tpCollider* collider = (tpCollider*)constant; // what it knows of live shapes stays as it is
    if (!collider->hasGone) {
        return;
    }
    tpColliderShape* shapes = collider->shapes.data;
    int kept = 0;
    for (int i = 0; i < collider->pairs.count; ++i) {
        tpShapePair pair = collider->pairs.data[i];
        if (!shapes[pair.shapeA].hasGone && !shapes[pair.shapeB].hasGone) {
            collider->pairs.data[kept] = pair;
            collider->caches.data[kept++] = collider->caches.data[i];
        }
    }
    collider->pairs.count = collider->caches.count = kept;
    for (int i = 0; i < collider->shapes.count; ++i) {
        shapes[i].hasGone = false;
    }
    while (collider->shapes.count > 0 && shapes[collider->shapes.count - 1].body < 0) {
        --collider->shapes.count;
    }
    collider->hasGone = false;
}

tpResult tpCollider_MoveShape(tpCollider* collider, int32_t shape, int32_t body, tpPose pose,
                              bool isMovable) {
    tpColliderShape* s = &collider->shapes.data[shape];
    const tpGeometry* geometry = takeGeometry(collider, s->geometry, pose);
    if (geometry == NULL) {
        return tp_outOfMemory;
    }
    dropGeometry(collider, s);
    s->geometry = geometry;
    s->body = body;
    s->isMovable = isMovable;
    return tp_success;
}

const tpGeometry* tpCollider_GetGeometry(const tpCollider* collider, int32_t shape) {
    return collider->shapes.data[shape].geometry;
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
    const tpColliderShape* a = &collider->shapes.data[i];
    const tpColliderShape* b = &collider->shapes.data[j];
    bool swapped;
    return a->body != b->body && (a->group & b->mask) != 0 && (b->group & a->mask) != 0 &&
           tpFindPairClass(a->geometry->type, b->geometry->type, &swapped) != NULL &&
           !tpExcludedPairs_Has(&collider->excluded, a->body, b->body) &&
           (collider->filter == NULL || collider->filter(collider->filterContext, i, j));
}

void tpCollider_SetFilter(tpCollider* collider, tpPairFilter filter, void* context) {
    collider->filter = filter;
    collider->filterContext = context;
}

void tpCollider_SetStop(tpCollider* collider, const volatile sig_atomic_t* stop) {
    collider->stop = stop;
}

bool tpCollider_MayCollide(const tpCollider* collider, int32_t shapeA, int32_t shapeB) {
    return mayCollide(collider, shapeA, shapeB);
}

// Balls whose boxes overlap may still be apart: of the neighbours in a heap of equal ones three in
// four are. A little more than the rounding of boxes is allowed for.
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
        const tpColliderShape* s = &collider->shapes.data[i];
        collider->kinds.data[i] = s->body < 0    ? tp_noProxy
                                  : s->isMovable ? tp_movableProxy
                                                 : tp_fixedProxy;
        if (s->body < 0) {
            collider->types.data[i] = 0;
            collider->bounds.data[i] = (tpBounds){ { 0.0, 0.0, 0.0 }, { 0.0, 0.0, 0.0 } };
            continue;
        }
        tpPose pose = update->bodyPoses[s->body];
        double margin = update->bodyMargins != NULL ? update->bodyMargins[s->body] : 0.0;
        tpVec3 grow = tpMakeVec3(margin, margin, margin);
        collider->types.data[i] = (uint8_t)s->geometry->type;
        tpBounds bounds = tpGeometry_Bounds(s->geometry, pose);
        collider->poses.data[i] = tpComposePoses(pose, s->geometry->pose);
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
    tpTasks_Run(tasks, placeChunk, &update, tpChunksOf(count, shapesAChunk));
    return true;
}

// Pairs whose bounds overlap, boxes in general and balls for spheres.
static tpResult findPairs(tpCollider* collider, tpTasks* tasks) {
    tpProxies proxies = { collider->bounds.data,
                          collider->kinds.data,
                          collider->shapes.count,
                          mayTouch,
                          collider,
                          NULL };
    return collider->broadPhaseClass->findPairs(collider->broadPhase, &proxies, tasks,
                                                &collider->pairs);
}

static void inheritChunk(void* context, int chunk, int worker) {
    (void)worker;
    tpCollider* collider = context;
    const tpPairArray* old = &collider->oldPairs;
    int begin = chunk * pairsAChunk, end = begin + pairsAChunk;
    end = end < collider->pairs.count ? end : collider->pairs.count;
    int o = tpPairs_Find(old, collider->pairs.data[begin]);
    for (int i = begin; i < end; ++i) {
        tpShapePair p = collider->pairs.data[i];
        if (!tpCollider_Remembers(collider, p)) {
            continue;
        }
        while (o < old->count && tpShapePair_IsBefore(old->data[o], p)) {
            ++o;
        }
        if (o < old->count && !tpShapePair_IsBefore(p, old->data[o])) {
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
    tpTasks_Run(tasks, inheritChunk, collider, tpChunksOf(collider->pairs.count, pairsAChunk));
    return true;
}

tpResult tpCollider_FindPairs(tpCollider* collider, const tpPose* bodyPoses,
                              const double* bodyMargins, tpTasks* tasks) {
    forgetGone(collider);
    tpPairArray pairs = collider->oldPairs;
    tpCacheArray caches = collider->oldCaches;
    collider->oldPairs = collider->pairs;
    collider->oldCaches = collider->caches;
    collider->pairs = pairs;
    collider->caches = caches;
    collider->pairs.count = collider->caches.count = collider->contacts.count = 0;
    bool isPlaced = placeShapes(collider, bodyPoses, bodyMargins, tasks);
    tpResult result = isPlaced ? findPairs(collider, tasks) : tp_outOfMemory;
    if (result == tp_success && !inheritCaches(collider, tasks)) {
        result = tp_outOfMemory;
    }
    if (result != tp_success) {
        collider->pairs.count = collider->caches.count = 0;
    }
    return result;
}

// Contacts ------------------------------------------------------------------------------------

tpResult tpCollider_Update(tpCollider* collider, const tpPose* bodyPoses, const double* bodyMargins,
                           tpTasks* tasks) {
    tpResult result = tpCollider_FindPairs(collider, bodyPoses, bodyMargins, tasks);
    return result == tp_success ? tpCollider_CollidePairs(collider, bodyMargins, tasks) : result;
}

const tpContact* tpCollider_GetContacts(const tpCollider* collider, int* count) {
    *count = collider->contacts.count;
    return collider->contacts.data;
}

void tpCollider_TakeContacts(tpCollider* collider, tpContactArray* contacts) {
    tpContactArray taken = collider->contacts;
    collider->contacts = *contacts;
    collider->contacts.count = 0;
    *contacts = taken;
}

const tpShapePair* tpCollider_GetPairs(const tpCollider* collider, int* count) {
    forgetGone(collider);
    *count = collider->pairs.count;
    return collider->pairs.data;
}

// What the last update learned about a pair. Pairs are sorted: it is looked for by halving.
static tpPairCache knownOf(const tpCollider* collider, tpShapePair pair) {
    const tpColliderShape *a = &collider->shapes.data[pair.shapeA],
                          *b = &collider->shapes.data[pair.shapeB];
    forgetGone(collider);
    tpPairCache cache;
    memset(&cache, 0, sizeof cache);
    if (!tpTypesRemember(a->geometry->type, b->geometry->type)) {
        return cache;
    }
    int low = tpPairs_Find(&collider->pairs, pair);
    bool isKnown = low < collider->pairs.count && collider->pairs.data[low].shapeA == pair.shapeA &&
                   collider->pairs.data[low].shapeB == pair.shapeB;
    return isKnown ? collider->caches.data[low] : cache;
}

tpResult tpCollider_Closest(const tpCollider* collider, int32_t shapeA, int32_t shapeB,
                            tpPose bodyA, tpPose bodyB, tpClosest* out) {
    const tpColliderShape* a = &collider->shapes.data[shapeA];
    const tpColliderShape* b = &collider->shapes.data[shapeB];
    tpPairCache cache = knownOf(collider, (tpShapePair){ shapeA, shapeB });
    return tpClosestPoints(a->geometry, bodyA, b->geometry, bodyB, &cache, out);
}

int tpCollider_CollidePair(const tpCollider* collider, tpShapePair pair, const tpPose* bodyPoses,
                           const double* bodyMargins, tpContact* contacts, int room) {
    enum { mostPoints = 64 };
    const tpColliderShape* a = &collider->shapes.data[pair.shapeA];
    const tpColliderShape* b = &collider->shapes.data[pair.shapeB];
    tpPairCache cache = knownOf(collider, pair);
    tpContactPoint points[mostPoints];
    tpContactList list = { points, 0, room < mostPoints ? room : mostPoints };
    tpPose poseA = tpComposePoses(bodyPoses[a->body], a->geometry->pose);
    tpPose poseB = tpComposePoses(bodyPoses[b->body], b->geometry->pose);
    tpCollideShapes(a->geometry, poseA, b->geometry, poseB,
                    bodyMargins[a->body] + bodyMargins[b->body], false, &cache, &list, NULL);
    for (int i = 0; i < list.count && i < list.capacity; ++i) {
        const tpContactPoint* p = &points[i];
        contacts[i] = (tpContact){ a->body,   b->body,   pair.shapeA, pair.shapeB, p->feature,
                                   p->pointA, p->pointB, p->normal,   p->gap };
    }
    return list.count > list.capacity ? room + 1 : list.count;
}

// State: pairs, then what is known about each.
size_t tpCollider_StateSize(const tpCollider* collider) {
    forgetGone(collider);
    return (size_t)collider->pairs.count * (sizeof(tpShapePair) + sizeof(tpPairCache));
}

void tpCollider_SaveState(const tpCollider* collider, void* state) {
    forgetGone(collider);
    const tpColliderShape* shapes = collider->shapes.data;
    size_t pairBytes = (size_t)collider->pairs.count * sizeof(tpShapePair);
    if (pairBytes == 0) {
        return;
    }
    memcpy(state, collider->pairs.data, pairBytes);
    char* known = (char*)state + pairBytes;
    for (int i = 0; i < collider->pairs.count; ++i, known += sizeof(tpPairCache)) {
        tpShapePair pair = collider->pairs.data[i];
        if (tpTypesRemember(shapes[pair.shapeA].geometry->type,
                            shapes[pair.shapeB].geometry->type)) {
            memcpy(known, &collider->caches.data[i], sizeof(tpPairCache));
        } else {
            memset(known, 0, sizeof(tpPairCache));
        }
    }
}

tpResult tpCollider_LoadState(tpCollider* collider, const void* state, size_t size) {
    size_t each = sizeof(tpShapePair) + sizeof(tpPairCache);
    int count = (int)(size / each);
    for (int i = 0; i < count; ++i) {
        tpShapePair pair;
        memcpy(&pair, (const char*)state + sizeof(pair) * (size_t)i, sizeof(pair));
        bool isIn = pair.shapeA >= 0 && pair.shapeA < collider->shapes.count && pair.shapeB >= 0 &&
                    pair.shapeB < collider->shapes.count;
        if (!isIn || size % each != 0) {
            return tp_badInput;
        }
    }
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
