// The contacts of a heap as soft packs in a store.

#ifndef TIPPE_TESTS_SWEEPS_SOFT_HEAP_H
#define TIPPE_TESTS_SWEEPS_SOFT_HEAP_H

#include "heap.h"
#include "sweeps/pack_store.h"

enum { heapBlocks = 3 };

typedef struct SoftHeap {
    tpPackStore store;
    tpSoftSweep sweep;
    tpSweepBody* masses;
    tpSupport* supports;
    tpSoftBounce* bounces;
    int packRoom;
    tpVelocity* lines[9]; // velocities, given, starts, kicks, moved, bases, means, aheads, places
    int slotCount;
    int32_t slots[mostContacts]; // of manifolds
    int firsts[mostContacts];    // contacts of each
    int counts[mostContacts];
} SoftHeap;

static inline int32_t blockOfBody(int body) {
    return body == 0 || body >= bodies ? -1 : body * heapBlocks / bodies;
}

static inline void storeColumn(float (*parts)[tp_packWidth], int lane, tpVec3 v) {
    parts[0][lane] = (float)v.x;
    parts[1][lane] = (float)v.y;
    parts[2][lane] = (float)v.z;
}

// Writes the contacts of a manifold into its lane.
static inline void fillLane(SoftHeap* soft, const Heap* heap, int m, uint64_t seed) {
    int lane;
    tpSoftRun* run = tpPackStore_Find(&soft->store, soft->slots[m], &lane);
    for (int k = 0; k < soft->counts[m]; ++k) {
        int i = soft->firsts[m] + k;
        const tpSweepContact* c = &heap->contacts[i];
        tpSoftPack* pack = &run->packs[k];
        storeColumn(pack->normal, lane, c->normal);
        storeColumn(pack->tangents[0], lane, c->tangents[0]);
        storeColumn(pack->tangents[1], lane, c->tangents[1]);
        storeColumn(pack->armA, lane, c->armA);
        storeColumn(pack->armB, lane, c->armB);
        pack->gap[lane] = 1e-3f * (float)(i % 7 - 3);
        pack->isPoint[lane] = 1 + i % 2;
        pack->feature[lane] = (uint64_t)i;
        pack->impulse[0][lane] = 0.01 * (i % 5);
        pack->impulse[1][lane] = 0.001 * (i % 3);
        pack->load[lane] = i % 11 == 0 ? 0.0 : 0.02 * (i % 11) + 1e-4 * i;
        if (run->torsions != NULL && c->torsionArm > 0.0) {
            run->torsions[k].arm[lane] = (float)c->torsionArm;
            run->torsions[k].impulse[lane] = 0.001 * (i % 4);
            run->torsional = (uint8_t)(run->torsional | 1u << lane);
        }
    }
    run->points[lane] = (uint8_t)soft->counts[m];
    run->muStatic[lane] = (float)heap->contacts[soft->firsts[m]].muStatic;
    run->muDynamic[lane] = (float)heap->contacts[soft->firsts[m]].muDynamic;
    run->restitution[lane] = m % 5 == 0 ? 0.5f : 0.0f;
    run->elastic = (uint8_t)(run->elastic | (m % 5 == 0 ? 1u << lane : 0));
    run->unround = (uint8_t)(run->unround | (seed % 2 == 0 ? 1u << lane : 0));
    run->share[lane] = 0.5f * (float)(m % 3);
    storeColumn(run->incident, lane,
                m % 4 == 0 ? tpZeroVec3() : tpMakeVec3(0.1 * (m % 4), 0.2, -0.9));
    run->slack[lane] = 0.05f;
    run->size[lane] = 0.5f;
    tpSoftRun_SetUneven(run, lane, seed % 3 == 0);
    tpSoftRun_Summarise(run);
}

static inline SoftHeap* makeSoftHeap(const Heap* heap, uint64_t seed) {
    const tpAllocator* allocator = &heap->allocator;
    SoftHeap* soft = tpAllocateZeroed(allocator, sizeof(SoftHeap));
    tpCreatePackStore(&soft->store, allocator);
    int32_t blocks[bodies + 1];
    for (int i = 0; i <= bodies; ++i) {
        blocks[i] = blockOfBody(i);
    }
    assert_true(tpPackStore_Start(&soft->store, blocks, bodies + 1, heapBlocks));
    for (int i = 0; i < heap->count; ++i) {
        if (heap->contacts[i].torsionArm > 0.0) {
            assert_true(tpPackStore_AllowTorsion(&soft->store));
        }
    }
    for (int i = 0; i < heap->count;) {
        int end = i + 1;
        while (end < heap->count && heap->contacts[end].bodyA == heap->contacts[i].bodyA &&
               heap->contacts[end].bodyB == heap->contacts[i].bodyB) {
            ++end;
        }
        int m = soft->slotCount++;
        soft->firsts[m] = i;
        soft->counts[m] = end - i;
        soft->slots[m] = tpPackStore_Add(&soft->store, heap->contacts[i].bodyA,
                                         heap->contacts[i].bodyB, end - i, false);
        assert_true(soft->slots[m] >= 0);
        fillLane(soft, heap, m, seed);
        i = end;
    }
    assert_true(tpPackStore_Order(&soft->store));
    tpRandom random = { seed };
    soft->masses = tpAllocateZeroed(allocator, sizeof(tpSweepBody) * (bodies + 1));
    memcpy(soft->masses, heap->sweeper.bodies, sizeof(tpSweepBody) * bodies);
    for (int k = 0; k < 9; ++k) {
        soft->lines[k] = tpAllocateZeroed(allocator, sizeof(tpVelocity) * (bodies + 1));
        double size = k == 1 ? 0.0 : k >= 4 ? 1e-3 : 1.0;
        for (int i = 0; i < bodies; ++i) {
            soft->lines[k][i].linear = randomVec3(&random, -size, size);
            soft->lines[k][i].angular = randomVec3(&random, -size, size);
        }
    }
    soft->supports = tpAllocateZeroed(allocator, sizeof(tpSupport) * (bodies + 1));
    soft->packRoom = tpPackStore_PackRoom(&soft->store);
    soft->bounces = tpAllocateZeroed(allocator, sizeof(tpSoftBounce) * (size_t)soft->packRoom);
    for (int i = 0; i <= bodies; ++i) {
        soft->supports[i].carrier = -1;
    }
    for (int i = 0; i < bodies; ++i) {
        soft->masses[i].spare = 0.01;
        soft->lines[7][i].padding1 = 0.01;
    }
    soft->sweep = (tpSoftSweep){ .masses = soft->masses,
                                 .velocities = soft->lines[0],
                                 .given = soft->lines[1],
                                 .starts = soft->lines[2],
                                 .kicks = soft->lines[3],
                                 .supports = soft->supports,
                                 .bounces = soft->bounces,
                                 .up = { 0.6, 0.0, 0.8 },
                                 .moved = soft->lines[4],
                                 .bases = soft->lines[5],
                                 .means = soft->lines[6],
                                 .shifts = soft->lines[4],
                                 .aheads = soft->lines[7],
                                 .places = soft->lines[8],
                                 .softness = { 240.0, 20.0, 0.1, 0.9, 0.1, 2.0 },
                                 .limits = { 0.02f, 0.02f, 2e-4f, 80.0f, 0.1f },
                                 .h = 1.0 / 60.0,
                                 .substeps = 4,
                                 .warm = 1.0,
                                 .threshold = 0.1,
                                 .touching = 1e-6 };
    return soft;
}

static inline void destroySoftHeap(SoftHeap* soft) {
    tpAllocator allocator = soft->store.allocator;
    tpDestroyPackStore(&soft->store);
    tpRelease(&allocator, soft->masses, sizeof(tpSweepBody) * (bodies + 1));
    tpRelease(&allocator, soft->supports, sizeof(tpSupport) * (bodies + 1));
    tpRelease(&allocator, soft->bounces, sizeof(tpSoftBounce) * (size_t)soft->packRoom);
    for (int k = 0; k < 9; ++k) {
        tpRelease(&allocator, soft->lines[k], sizeof(tpVelocity) * (bodies + 1));
    }
    tpRelease(&allocator, soft, sizeof(SoftHeap));
}

#endif
