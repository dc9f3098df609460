// Contacts of one configuration found again in another.
//
// The same features of the same shapes are the same contact. What is left of a pair is matched by
// place: where edges lie on edges, as in every wall of equal bricks, the least motion turns a
// corner on a face into an edge on an edge, and impulses would be lost with the name of the
// contact.

#include "dynamics/matching.h"

#include <string.h>

// Contacts of a pair farther apart than this part of the pair's extent are not the same.
static const double nearPart = 0.25;

static bool isSamePair(const tpContact* a, const tpContact* b) {
    return a->shapeA == b->shapeA && a->shapeB == b->shapeB;
}

static bool isPairBefore(const tpContact* a, const tpContact* b) {
    return a->shapeA != b->shapeA ? a->shapeA < b->shapeA : a->shapeB < b->shapeB;
}

// The end of a pair's contacts in a list, from a place where they would begin.
static int endOfPair(const tpContact* list, int begin, int count, const tpContact* pair) {
    while (begin < count && isSamePair(&list[begin], pair)) {
        ++begin;
    }
    return begin;
}

typedef struct tpPairLists {
    const tpContact* old;
    const tpContact* new;
    int oldFirst, oldEnd, newFirst, newEnd;
    int* match;    // of each new contact
    bool* isTaken; // of each old one
} tpPairLists;

static void matchFeatures(const tpPairLists* pair) {
    int o = pair->oldFirst;
    for (int n = pair->newFirst; n < pair->newEnd; ++n) {
        while (o < pair->oldEnd && pair->old[o].feature < pair->new[n].feature) {
            ++o;
        }
        if (o < pair->oldEnd && pair->old[o].feature == pair->new[n].feature && !pair->isTaken[o]) {
            pair->match[n] = o;
            pair->isTaken[o] = true;
        }
    }
}

// The old contact nearest to a new one, of those that are not taken and as near as `limit`, m^2;
// or -1.
static int nearestOld(const tpPairLists* pair, const tpContact* contact, double limit) {
    int found = -1;
    for (int o = pair->oldFirst; o < pair->oldEnd; ++o) {
        double distance = tpLengthSquared(tpSub(contact->pointA, pair->old[o].pointA));
        if (!pair->isTaken[o] && distance <= limit) {
            limit = distance;
            found = o;
        }
    }
    return found;
}

static void matchPlaces(const tpPairLists* pair) {
    // The extent of the pair's contacts, squared.
    double extent = 0.0;
    for (int o = pair->oldFirst; o < pair->oldEnd; ++o) {
        tpVec3 way = tpSub(pair->old[o].pointA, pair->old[pair->oldFirst].pointA);
        extent = fmax(extent, tpLengthSquared(way));
    }
    for (int n = pair->newFirst; n < pair->newEnd; ++n) {
        if (pair->match[n] < 0) {
            int found = nearestOld(pair, &pair->new[n], nearPart * nearPart * extent);
            pair->match[n] = found;
            if (found >= 0) {
                pair->isTaken[found] = true;
            }
        }
    }
}

int* tpMatchContacts(const tpContact* old, int oldCount, const tpContact* new, int newCount,
                     tpArena* arena) {
    int* match = TP_SCRATCH(arena, int, newCount);
    bool* isTaken = TP_SCRATCH_ZEROED(arena, bool, oldCount);
    if (arena->failed) {
        return NULL;
    }
    int o = 0, newEnd;
    for (int n = 0; n < newCount; n = newEnd) {
        newEnd = endOfPair(new, n, newCount, &new[n]);
        while (o < oldCount && isPairBefore(&old[o], &new[n])) {
            ++o;
        }
        memset(match + n, -1, sizeof(int) * (size_t)(newEnd - n));
        tpPairLists pair = { old, new,    o,     endOfPair(old, o, oldCount, &new[n]),
                             n,   newEnd, match, isTaken };
        matchFeatures(&pair);
        matchPlaces(&pair);
    }
    return match;
}
