// Graph colouring of contacts, so that the sweep can go over many of them at once.
//
// The contacts of one pair of bodies are a manifold. Manifolds of one colour share no body that moves: in
// whatever order they are solved, by however many threads, the bits are the same. Eight of them, of about
// the same number of points, are a run of packs: the first pack has their first points, the second pack
// their second points, and the bodies' velocities are read and written once a run.
//
//     colour 0            colour 1
//     run 0    run 1      run 2         runs of a colour may be swept at once
//     | | | |  | |        | | |         packs: eight points each, swept one after the other
//
// Colours are taken greedily, in the collider's order, from a mask of 64 a body. What finds no free
// colour, at hubs with more neighbours, is a colour of its own each.

#include "steppers/bender_schmitt/sweep_colour.h"

#include <string.h>

enum { mostPoints = 16 };

typedef struct Colouring {
    tpSweeper* sweeper;
    const tpContact* contacts;
    const bool* isTorsional;
    int contactCount;
    tpManifold* manifolds;
    int32_t* order; // of manifolds, by colour
    int manifoldCount;
} Colouring;

// Manifolds of one sort.
static void findManifolds(Colouring* c, bool torsional) {
    c->manifoldCount = 0;
    for (int i = 0; i < c->contactCount;) {
        const tpContact* first = &c->contacts[i];
        int end = i + 1;
        while (end < c->contactCount && c->contacts[end].bodyA == first->bodyA &&
               c->contacts[end].bodyB == first->bodyB && c->isTorsional[end] == c->isTorsional[i]) {
            ++end;
        }
        if (c->isTorsional[i] == torsional) {
            const tpSweepBody* bodies = c->sweeper->bodies;
            bool movesA = bodies[first->bodyA].inverseMass > 0.0;
            bool movesB = bodies[first->bodyB].inverseMass > 0.0;
            c->manifolds[c->manifoldCount++] = (tpManifold){ i, end - i, movesA ? first->bodyA : -1,
                                                             movesB ? first->bodyB : -1, 0 };
        }
        i = end;
    }
}

static int lowestZero(uint64_t mask) {
    int place = 0;
    for (; mask & 1; mask >>= 1) {
        ++place;
    }
    return place;
}

static void chooseColours(tpManifold* manifolds, int count, uint64_t* used) {
    for (int m = 0; m < count; ++m) {
        tpManifold* manifold = &manifolds[m];
        int32_t a = manifold->bodyA, b = manifold->bodyB;
        uint64_t busy = (a >= 0 ? used[a] : 0) | (b >= 0 ? used[b] : 0);
        manifold->colour = busy == UINT64_MAX ? tp_maskColours : lowestZero(busy);
        uint64_t mine = manifold->colour < tp_maskColours ? UINT64_C(1) << manifold->colour : 0;
        if (a >= 0) {
            used[a] |= mine;
        }
        if (b >= 0) {
            used[b] |= mine;
        }
    }
}

static int bucketOf(const tpManifold* manifold) {
    int points = manifold->count < mostPoints ? manifold->count : mostPoints;
    return manifold->colour * mostPoints + mostPoints - points;
}

void tpColourManifolds(tpManifold* manifolds, int count, uint64_t* used, int32_t* order) {
    chooseColours(manifolds, count, used);
    // Within a colour those with more points first: a run wastes few places.
    int32_t starts[(tp_maskColours + 1) * mostPoints] = { 0 };
    for (int m = 0; m < count; ++m) {
        ++starts[bucketOf(&manifolds[m])];
    }
    int32_t sum = 0;
    for (int k = 0; k < (tp_maskColours + 1) * mostPoints; ++k) {
        int32_t size = starts[k];
        starts[k] = sum;
        sum += size;
    }
    for (int m = 0; m < count; ++m) {
        order[starts[bucketOf(&manifolds[m])]++] = m;
    }
}

int tpEndOfColour(const tpManifold* manifolds, const int32_t* order, int count, int first) {
    int colour = manifolds[order[first]].colour, end = first + 1;
    while (colour < tp_maskColours && end < count && manifolds[order[end]].colour == colour) {
        ++end;
    }
    return end;
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

bool tpSweeper_Colour(tpSweeper* sweeper, const tpContact* contacts, const bool* isTorsional,
                      int count, tpArena* arena) {
    Colouring c = { sweeper, contacts, isTorsional, count, NULL, NULL, 0 };
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
