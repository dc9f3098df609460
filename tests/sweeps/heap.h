// A heap of bodies for tests of the sweeps.

#ifndef TIPPE_TESTS_SWEEPS_HEAP_H
#define TIPPE_TESTS_SWEEPS_HEAP_H

#include <string.h>

#include "support/check.h"
#include "sweeps/sweeper_kernels.h"
#include "tippe/friction.h"

enum { bodies = 300, mostContacts = 4000 };

// A heap of bodies: body 0 does not move, body 1 touches nearly all others, the rest their
// neighbours.
typedef struct Heap {
    tpArena arena;
    tpAllocator allocator;
    tpSweeper sweeper;
    tpVec3 places[bodies];
    tpVelocity* velocities;
    tpSweepContact contacts[mostContacts];
    int count;
} Heap;

static inline void addManifold(Heap* heap, tpRandom* random, int a, int b, int points,
                               bool torsional) {
    tpVec3 normal = tpRotate(randomRotation(random), tpMakeVec3(0.0, 0.0, 1.0));
    // Points of a pair of shapes have one friction.
    double mu = randomBetween(random, 0.0, 1.0), more = a % 2 == 0 ? 0.2 : 0.0;
    for (int k = 0; k < points; ++k) {
        tpSweepContact* contact = &heap->contacts[heap->count++];
        memset(contact, 0, sizeof(*contact));
        contact->bodyA = a;
        contact->bodyB = b;
        contact->normal = normal;
        contact->armA = randomVec3(random, -0.5, 0.5);
        contact->armB = tpSub(tpAdd(heap->places[a], contact->armA), heap->places[b]);
        contact->muDynamic = mu;
        contact->muStatic = mu + more;
        contact->torsionArm = torsional ? 0.01 : 0.0;
        tpMakeTangents(normal, &contact->tangents[0], &contact->tangents[1]);
        contact->tangents[1] = tpScale(randomBetween(random, 0.5, 1.0), contact->tangents[1]);
    }
}

static inline void fillBodies(Heap* heap, tpRandom* random) {
    for (int i = 0; i < bodies; ++i) {
        tpSweepBody* body = &heap->sweeper.bodies[i];
        heap->places[i] = randomVec3(random, -0.3, 0.3);
        heap->velocities[i].linear = randomVec3(random, -1.0, 1.0);
        heap->velocities[i].angular = randomVec3(random, -1.0, 1.0);
        if (i == 0) {
            continue;
        }
        body->inverseMass = randomBetween(random, 0.5, 2.0);
        for (int k = 0; k < 6; ++k) {
            body->inverseInertia[k] =
                k < 3 ? randomBetween(random, 4.0, 8.0) : randomBetween(random, -1.0, 1.0);
        }
    }
}

static inline void prepare(Heap* heap) {
    assert_true(
        tpSweeper_AddContacts(&heap->sweeper, heap->contacts, heap->count, NULL, &heap->arena));
    heap->sweeper.velocities = heap->velocities;
}

// Every third body but the first two is locked along one axis, every ninth along two.
static inline void lockBodies(Heap* heap) {
    tpVec3* axes = TP_SCRATCH(&heap->arena, tpVec3, bodies);
    for (int i = 0; i < bodies; ++i) {
        double first = i > 1 && i % 3 == 0 ? 0.0 : 1.0, second = i > 1 && i % 9 == 0 ? 0.0 : 1.0;
        axes[i] = i % 2 == 0 ? tpMakeVec3(first, 1.0, second) : tpMakeVec3(1.0, first, second);
        tpVec3* v = &heap->velocities[i].linear;
        *v = tpMakeVec3(axes[i].x * v->x, axes[i].y * v->y, axes[i].z * v->z);
    }
    heap->sweeper.freeAxes = axes;
}

// Bodies that nothing touches yet.
static inline Heap* makeBodies(tpRandom* random) {
    tpAllocator allocator = tpDefaultAllocator();
    Heap* heap = tpAllocateZeroed(&allocator, sizeof(Heap));
    heap->allocator = allocator;
    tpArena_Create(&heap->arena, &heap->allocator);
    heap->velocities = TP_SCRATCH_ZEROED(&heap->arena, tpVelocity, bodies);
    assert_true(
        tpSweeper_Create(&heap->sweeper, &heap->arena, bodies, mostContacts, tpFriction_SolveOne));
    fillBodies(heap, random);
    return heap;
}

// A heap, some of whose centres have locked axes if `hasLocks`.
static inline Heap* makeHeapOf(uint64_t seed, bool withTorsion, bool hasLocks) {
    tpRandom random = { seed };
    Heap* heap = makeBodies(&random);
    if (hasLocks) {
        lockBodies(heap);
    }
    for (int i = 1; i < bodies; ++i) {
        bool turns = withTorsion && i % 7 == 0;
        addManifold(heap, &random, 0, i, (int)(randomBits(&random) % 3), turns);
        if (i > 1 && i < 200) {
            addManifold(heap, &random, 1, i, 1 + (int)(randomBits(&random) % 4), false);
        }
        for (int k = 1; k < 4 && i + k * k < bodies; ++k) {
            addManifold(heap, &random, i, i + k * k, (int)(randomBits(&random) % 5), turns);
        }
    }
    prepare(heap);
    return heap;
}

static inline Heap* makeHeap(uint64_t seed, bool withTorsion) {
    return makeHeapOf(seed, withTorsion, false);
}

static inline void destroyHeap(Heap* heap) {
    tpAllocator allocator = heap->allocator;
    tpArena_Destroy(&heap->arena);
    tpRelease(&allocator, heap, sizeof(Heap));
}

#endif
