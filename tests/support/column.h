// A column of cubes for tests of sweeps.

#ifndef TIPPE_TESTS_SUPPORT_COLUMN_H
#define TIPPE_TESTS_SUPPORT_COLUMN_H

#include <string.h>

#include "support/check.h"
#include "sweeps/accelerate.h"
#include "tippe/friction.h"

enum { height = 12, contactCount = 4 * height };

// A column of unit cubes on a body that does not move, falling at 1 m/s: each cube has mass 1.
typedef struct Column {
    tpAllocator allocator;
    tpArena arena;
    tpSweeper sweeper;
    tpVelocity* velocities;
    tpSweepContact contacts[contactCount];
} Column;

static inline void startColumn(Column* column) {
    memset(column->velocities, 0, sizeof(tpVelocity) * (height + 1));
    for (int i = 1; i <= height; ++i) {
        column->velocities[i].linear.z = -1.0;
    }
    for (int i = 0; i < contactCount; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(&column->sweeper, i, &lane);
        pack->impulse[0][lane] = pack->impulse[1][lane] = pack->impulse[2][lane] = 0.0;
    }
}

static inline Column* makeColumn(void) {
    tpAllocator allocator = tpDefaultAllocator();
    Column* column = tpAllocateZeroed(&allocator, sizeof(Column));
    assert_non_null(column);
    column->allocator = allocator;
    tpArena_Create(&column->arena, &allocator);
    column->velocities = TP_SCRATCH_ZEROED(&column->arena, tpVelocity, height + 1);
    assert_true(tpSweeper_Create(&column->sweeper, &column->arena, height + 1, contactCount,
                                 tpFriction_SolveOne));
    column->sweeper.velocities = column->velocities;
    for (int i = 1; i <= height; ++i) {
        tpSweepBody* body = &column->sweeper.bodies[i];
        body->inverseMass = 1.0;
        body->inverseInertia[0] = body->inverseInertia[1] = body->inverseInertia[2] = 6.0;
        for (int k = 0; k < 4; ++k) {
            tpSweepContact* contact = &column->contacts[4 * (i - 1) + k];
            contact->bodyA = i;
            contact->bodyB = i - 1;
            contact->normal = tpMakeVec3(0.0, 0.0, 1.0);
            contact->armA = tpMakeVec3(k % 2 - 0.5, k / 2 - 0.5, -0.5);
            contact->armB = tpMakeVec3(k % 2 - 0.5, k / 2 - 0.5, 0.5);
            contact->muDynamic = contact->muStatic = 0.5;
            tpMakeTangents(contact->normal, &contact->tangents[0], &contact->tangents[1]);
        }
    }
    assert_true(tpSweeper_AddContacts(&column->sweeper, column->contacts, contactCount, NULL,
                                      &column->arena));
    startColumn(column);
    return column;
}

static inline void destroyColumn(Column* column) {
    tpAllocator allocator = column->allocator;
    tpArena_Destroy(&column->arena);
    tpRelease(&allocator, column, sizeof(Column));
}

// Sum of the normal impulses under cube `level` (1: on the ground).
static inline double loadUnder(const Column* column, int level) {
    double sum = 0.0;
    for (int k = 0; k < 4; ++k) {
        int lane;
        const tpContactPack* pack = tpSweeper_PackOf(&column->sweeper, 4 * (level - 1) + k, &lane);
        sum += pack->impulse[0][lane];
    }
    return sum;
}

static inline int sweepsTo(Column* column, double tolerance, bool isAccelerated) {
    tpAccelerator accelerator;
    assert_true(tpAccelerator_Create(&accelerator, &column->sweeper, &column->arena));
    tpAccelerator_Begin(&accelerator, &column->sweeper);
    for (int k = 1; k <= 20000; ++k) {
        tpSweeper_Sweep(&column->sweeper);
        if (tpSweeper_Judge(&column->sweeper).velocity <= tolerance) {
            return k;
        }
        if (isAccelerated) {
            tpAccelerator_End(&accelerator, &column->sweeper);
        }
    }
    return 20000;
}

// Impulses and velocities stay together: the velocities are those that the impulses give to cubes
// which fall at 1 m/s.
static inline void checkVelocitiesAreOfImpulses(Column* column, double tolerance) {
    tpVelocity kept[height + 1];
    memcpy(kept, column->velocities, sizeof(kept));
    memset(column->velocities, 0, sizeof(kept));
    for (int i = 1; i <= height; ++i) {
        column->velocities[i].linear.z = -1.0;
    }
    tpSweeper_WarmStart(&column->sweeper);
    for (int i = 0; i <= height; ++i) {
        CHECK_VEC3(column->velocities[i].linear, kept[i].linear, tolerance);
        CHECK_VEC3(column->velocities[i].angular, kept[i].angular, tolerance);
    }
}

#endif
