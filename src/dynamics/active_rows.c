#include "dynamics/active_rows.h"

#include <string.h>

// Contacts that would come to rest or open slower than this are taken for touching, in units of
// speed: between bodies that fall together it is rounding that tells who is approached.
static const double nearlyClosed = 1e-4;

// An approach slower than this is rounding, in units of speed.
static const double noApproach = 1e-13;

bool tpRows_IsActive(const tpRows* rows, int block) {
    int first = rows->firstRows[block];
    return rows->kinds[block] == tp_frictionFree || rows->impulse[first] > 0.0 ||
           rows->scale[first] * rows->q[first] < nearlyClosed * rows->speedUnit;
}

// The velocity of a row if the active blocks have changed those of bodies.
static double velocityOf(const tpActiveRows* active, const tpRows* whole, int block, int row) {
    return whole->q[row] + tpRows_RowVelocity(whole, row, active->changes, whole->bodyA[block],
                                              whole->bodyB[block]);
}

bool tpActiveRows_Choose(tpActiveRows* active, const tpRows* whole, tpArena* arena) {
    memset(active, 0, sizeof(*active));
    active->isActive = TP_SCRATCH(arena, bool, whole->blockCount);
    active->sources = TP_SCRATCH(arena, int, whole->blockCount);
    active->changes = TP_SCRATCH(arena, tpVelocity, whole->bodyCount);
    if (arena->failed || !tpRows_Reserve(&active->rows, arena, whole->componentCount,
                                         whole->blockCount, whole->rowCount)) {
        return false;
    }
    active->rows.speedUnit = whole->speedUnit;
    active->rows.lengthUnit = whole->lengthUnit;
    active->rows.massUnit = whole->massUnit;
    active->rows.gapSlack = whole->gapSlack;
    active->rows.h = whole->h;
    active->rows.bodyCount = whole->bodyCount;
    active->rows.inverseMass = whole->inverseMass;
    active->rows.terms = whole->terms;
    memset(active->changes, 0, sizeof(tpVelocity) * (size_t)whole->bodyCount);
    tpRows_ApplyImpulses(whole, active->changes);
    for (int b = 0; b < whole->blockCount; ++b) {
        int first = whole->firstRows[b];
        active->isActive[b] =
            tpRows_IsActive(whole, b) || whole->scale[first] * velocityOf(active, whole, b, first) <
                                             nearlyClosed * whole->speedUnit;
        active->activeCount += active->isActive[b];
    }
    return true;
}

void tpActiveRows_Gather(tpActiveRows* active, const tpRows* whole) {
    tpRows_Clear(&active->rows);
    for (int b = 0; b < whole->blockCount; ++b) {
        if (active->isActive[b]) {
            active->sources[active->rows.blockCount] = b;
            tpRows_CopyBlock(&active->rows, whole, b);
        }
    }
}

static void copyRows(double* to, int toFirst, const double* from, int fromFirst, int count) {
    for (int k = 0; k < count; ++k) {
        to[toFirst + k] = from[fromFirst + k];
    }
}

int tpActiveRows_Scatter(tpActiveRows* active, tpRows* whole) {
    const tpRows* rows = &active->rows;
    memset(active->changes, 0, sizeof(tpVelocity) * (size_t)whole->bodyCount);
    tpRows_ApplyImpulses(rows, active->changes);
    int block = 0, joined = 0;
    for (int b = 0; b < whole->blockCount; ++b) {
        int first = whole->firstRows[b], count = whole->dimensions[b];
        if (active->isActive[b]) {
            int from = rows->firstRows[block++];
            copyRows(whole->impulse, first, rows->impulse, from, count);
            copyRows(whole->velocity, first, rows->velocity, from, count);
            copyRows(whole->bias, first, rows->bias, from, count);
            copyRows(whole->q, first, rows->q, from, count);
            continue;
        }
        for (int k = first; k < first + count; ++k) {
            whole->impulse[k] = 0.0;
            whole->velocity[k] = velocityOf(active, whole, b, k);
        }
        if (whole->scale[first] * whole->velocity[first] < -noApproach * whole->speedUnit) {
            active->isActive[b] = true;
            joined += 1;
        }
    }
    active->activeCount += joined;
    return joined;
}

void tpActiveRows_TakeAll(tpActiveRows* active, const tpRows* whole) {
    memset(active->isActive, true, sizeof(bool) * (size_t)whole->blockCount);
    active->activeCount = whole->blockCount;
}
