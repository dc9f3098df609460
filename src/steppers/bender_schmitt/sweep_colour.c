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

enum { maskColours = 64, mostPoints = 16 };

typedef struct Manifold {
    int32_t first, count; // contacts
    int32_t colour;
} Manifold;

typedef struct Colouring {
    tpSweeper* sweeper;
    const tpContact* contacts;
    const bool* isTorsional;
    int contactCount;
    uint64_t* used; // of each body: colours it has
    Manifold* manifolds;
    int32_t* order; // of manifolds
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
            c->manifolds[c->manifoldCount++] = (Manifold){ i, end - i, 0 };
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

static void chooseColours(Colouring* c) {
    const tpSweepBody* bodies = c->sweeper->bodies;
    memset(c->used, 0, sizeof(uint64_t) * (size_t)c->sweeper->bodyCount);
    for (int m = 0; m < c->manifoldCount; ++m) {
        Manifold* manifold = &c->manifolds[m];
        int32_t a = c->contacts[manifold->first].bodyA, b = c->contacts[manifold->first].bodyB;
        bool movesA = bodies[a].inverseMass > 0.0, movesB = bodies[b].inverseMass > 0.0;
        uint64_t busy = (movesA ? c->used[a] : 0) | (movesB ? c->used[b] : 0);
        manifold->colour = busy == UINT64_MAX ? maskColours : lowestZero(busy);
        if (manifold->colour < maskColours) {
            uint64_t mine = UINT64_C(1) << manifold->colour;
            c->used[a] |= movesA ? mine : 0;
            c->used[b] |= movesB ? mine : 0;
        }
    }
}

static int bucketOf(const Manifold* manifold) {
    int points = manifold->count < mostPoints ? manifold->count : mostPoints;
    return manifold->colour * mostPoints + mostPoints - points;
}

// By colour, and within a colour those with more points first: a run wastes few places.
static void orderManifolds(Colouring* c) {
    int32_t starts[(maskColours + 1) * mostPoints] = { 0 };
    for (int m = 0; m < c->manifoldCount; ++m) {
        ++starts[bucketOf(&c->manifolds[m])];
    }
    int32_t sum = 0;
    for (int k = 0; k < (maskColours + 1) * mostPoints; ++k) {
        int32_t size = starts[k];
        starts[k] = sum;
        sum += size;
    }
    for (int m = 0; m < c->manifoldCount; ++m) {
        c->order[starts[bucketOf(&c->manifolds[m])]++] = m;
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
        const Manifold* manifold = &c->manifolds[c->order[first + lane]];
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
        int colour = c->manifolds[c->order[m]].colour, end = m + 1;
        while (colour < maskColours && end < c->manifoldCount &&
               c->manifolds[c->order[end]].colour == colour) {
            ++end;
        }
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
    Colouring c = { sweeper, contacts, isTorsional, count, NULL, NULL, NULL, 0 };
    c.used = TP_SCRATCH(arena, uint64_t, sweeper->bodyCount);
    c.manifolds = TP_SCRATCH(arena, Manifold, count);
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
        chooseColours(&c);
        orderManifolds(&c);
        placeManifolds(&c);
        sweeper->torsionCount = sweeper->packCount - before;
    }
    return true;
}
