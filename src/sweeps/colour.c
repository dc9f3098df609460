// Graph colouring of contacts, so that the sweep can go over many of them at once.
//
// The contacts of one pair of bodies are a manifold. Manifolds of one colour share no body that
// moves: in whatever order they are solved, by however many threads, the bits are the same. Eight
// of them, of about the same number of points, are a run of packs: the first pack has their first
// points, the second pack their second points, and the bodies' velocities are read and written once
// a run.
//
//     colour 0            colour 1
//     run 0    run 1      run 2         runs of a colour may be swept at once
//     | | | |  | |        | | |         packs: eight points each, swept one after the other
//
// Colours are taken greedily, in the collider's order, from a mask of 64 a body. What finds no free
// colour, at hubs with more neighbours, is a colour of its own each.

#include "sweeps/colour.h"

#include <string.h>

enum { mostPoints = 16 };

// Returns the largest colour.
static int chooseColours(tpManifold* manifolds, int count, uint64_t* used) {
    int largest = 0;
    for (int m = 0; m < count; ++m) {
        tpManifold* manifold = &manifolds[m];
        int32_t a = manifold->bodyA, b = manifold->bodyB;
        uint64_t busy = (a >= 0 ? used[a] : 0) | (b >= 0 ? used[b] : 0);
        manifold->colour = busy == UINT64_MAX ? tp_maskColours : tpLowestFreeColour(busy);
        uint64_t mine = manifold->colour < tp_maskColours ? UINT64_C(1) << manifold->colour : 0;
        if (a >= 0) {
            used[a] |= mine;
        }
        if (b >= 0) {
            used[b] |= mine;
        }
        largest = manifold->colour > largest ? manifold->colour : largest;
    }
    return largest;
}

static int bucketOf(const tpManifold* manifold) {
    int points = manifold->count < mostPoints ? manifold->count : mostPoints;
    return manifold->colour * mostPoints + mostPoints - points;
}

void tpColourManifolds(tpManifold* manifolds, int count, uint64_t* used, int32_t* order) {
    // Within a colour those with more points first: a run wastes few places. Small scenes have few
    // colours, and the buckets of others are not looked at.
    int32_t starts[(tp_maskColours + 1) * mostPoints];
    int buckets = (chooseColours(manifolds, count, used) + 1) * mostPoints;
    memset(starts, 0, sizeof(int32_t) * (size_t)buckets);
    for (int m = 0; m < count; ++m) {
        ++starts[bucketOf(&manifolds[m])];
    }
    int32_t sum = 0;
    for (int k = 0; k < buckets; ++k) {
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
