// Places of contacts in the packs of a sweeper: contacts without torsion first, then those with it,
// each sort coloured by itself (colour.c).

#include <string.h>

#include "sweeps/colour.h"
#include "sweeps/sweeper.h"

typedef struct Colouring {
    tpSweeper* sweeper;
    const tpSweepContact* contacts;
    int contactCount;
    tpManifold* manifolds;
    int32_t* order; // of manifolds, by colour
    int manifoldCount;
} Colouring;

static bool isTorsional(const tpSweepContact* contact) {
    return contact->torsionArm > 0.0;
}

static bool isSameManifold(const tpSweepContact* a, const tpSweepContact* b) {
    return a->bodyA == b->bodyA && a->bodyB == b->bodyB && isTorsional(a) == isTorsional(b);
}

// Manifolds of one sort.
static void findManifolds(Colouring* c, bool torsional) {
    c->manifoldCount = 0;
    for (int i = 0; i < c->contactCount;) {
        const tpSweepContact* first = &c->contacts[i];
        int end = i + 1;
        while (end < c->contactCount && isSameManifold(first, &c->contacts[end])) {
            ++end;
        }
        if (isTorsional(first) == torsional) {
            const tpSweepBody* bodies = c->sweeper->bodies;
            bool movesA = bodies[first->bodyA].inverseMass > 0.0;
            bool movesB = bodies[first->bodyB].inverseMass > 0.0;
            c->manifolds[c->manifoldCount++] = (tpManifold){ i, end - i, movesA ? first->bodyA : -1,
                                                             movesB ? first->bodyB : -1, 0 };
        }
        i = end;
    }
}

// Up to eight manifolds side by side.
static void placeRun(Colouring* c, int first, int count) {
    tpSweeper* sweeper = c->sweeper;
    int packs = 0;
    for (int lane = 0; lane < count; ++lane) {
        int points = c->manifolds[c->order[first + lane]].count;
        packs = points > packs ? points : packs;
    }
    int32_t begin = sweeper->packCount * tp_packWidth;
    for (int k = 0; k < packs * tp_packWidth; ++k) {
        sweeper->order[begin + k] = -1;
    }
    for (int lane = 0; lane < count; ++lane) {
        const tpManifold* manifold = &c->manifolds[c->order[first + lane]];
        for (int k = 0; k < manifold->count; ++k) {
            int32_t place = begin + k * tp_packWidth + lane;
            sweeper->places[manifold->first + k] = place;
            sweeper->order[place] = manifold->first + k;
        }
    }
    sweeper->runs[sweeper->runCount++] = (tpPackRun){ sweeper->packCount, packs };
    sweeper->packCount += packs;
}

static void placeManifolds(Colouring* c) {
    tpSweeper* sweeper = c->sweeper;
    for (int m = 0; m < c->manifoldCount;) {
        int end = tpEndOfColour(c->manifolds, c->order, c->manifoldCount, m);
        sweeper->colours[sweeper->colourCount++] = sweeper->runCount;
        for (; m < end; m += tp_packWidth) {
            placeRun(c, m, end - m < tp_packWidth ? end - m : tp_packWidth);
        }
        m = end;
    }
    sweeper->colours[sweeper->colourCount] = sweeper->runCount;
}

bool tpSweeper_Colour(tpSweeper* sweeper, const tpSweepContact* contacts, int count,
                      tpArena* arena) {
    Colouring c = { sweeper, contacts, count, NULL, NULL, 0 };
    uint64_t* used = TP_SCRATCH(arena, uint64_t, sweeper->bodyCount);
    c.manifolds = TP_SCRATCH(arena, tpManifold, count);
    c.order = TP_SCRATCH(arena, int32_t, count);
    // No more runs than manifolds, no more colours than runs, of either sort.
    sweeper->runs = TP_SCRATCH(arena, tpPackRun, count);
    sweeper->colours = TP_SCRATCH(arena, int32_t, (size_t)count + 1);
    // A pack has a contact at least.
    sweeper->order = TP_SCRATCH(arena, int32_t, (size_t)count * tp_packWidth);
    sweeper->packCount = sweeper->runCount = sweeper->colourCount = 0;
    if (arena->failed) {
        return false;
    }
    for (int torsional = 0; torsional < 2; ++torsional) {
        int before = sweeper->packCount;
        findManifolds(&c, torsional == 1);
        if (sweeper->bodyCount > 0) {
            memset(used, 0, sizeof(uint64_t) * (size_t)sweeper->bodyCount);
        }
        tpColourManifolds(c.manifolds, c.manifoldCount, used, c.order);
        placeManifolds(&c);
        sweeper->torsionCount = sweeper->packCount - before;
    }
    return true;
}
