// Contacts of one configuration found again in another.
//
// The same features of the same shapes are the same contact. What is left of a pair is matched by place:
// where edges lie on edges, as in every wall of equal bricks, the least motion turns a corner on a face
// into an edge on an edge, and impulses would be lost with the name of the contact.

#include "steppers/bender_schmitt/matching.h"

// Contacts of a pair farther apart than this part of the pair's extent are not the same.
static const double nearPart = 0.25;

static int comparePairs(const tpContact* a, const tpContact* b) {
    if (a->shapeA != b->shapeA) {
        return a->shapeA < b->shapeA ? -1 : 1;
    }
    return a->shapeB < b->shapeB ? -1 : a->shapeB > b->shapeB ? 1 : 0;
}

static int endOfPair(const tpContact* list, int first, int count) {
    int end = first + 1;
    while (end < count && comparePairs(&list[end], &list[first]) == 0) {
        ++end;
    }
    return end;
}

typedef struct tpPairLists {
    const tpContact* old;
    const tpContact* new;
    int oldFirst, oldEnd, newFirst, newEnd;
    int* match;
    bool* isTaken; // of each old contact
} tpPairLists;

static void matchFeatures(const tpPairLists* pair) {
    int o = pair->oldFirst;
    for (int n = pair->newFirst; n < pair->newEnd; ++n) {
        while (o < pair->oldEnd && pair->old[o].feature < pair->new[n].feature) {
            ++o;
        }
        bool isSame =
            o < pair->oldEnd && pair->old[o].feature == pair->new[n].feature && !pair->isTaken[o];
        if (isSame) {
            pair->match[n] = o;
            pair->isTaken[o] = true;
        }
    }
}

static void matchPlaces(const tpPairLists* pair) {
    // The extent of the pair's contacts, squared.
    double extent = 0.0;
    for (int o = pair->oldFirst; o < pair->oldEnd; ++o) {
        tpVec3 way = tpSub(pair->old[o].pointA, pair->old[pair->oldFirst].pointA);
        extent = fmax(extent, tpLengthSquared(way));
    }
    for (int n = pair->newFirst; n < pair->newEnd; ++n) {
        if (pair->match[n] >= 0) {
            continue;
        }
        double nearest = nearPart * nearPart * extent;
        int found = -1;
        for (int o = pair->oldFirst; o < pair->oldEnd; ++o) {
            double distance = tpLengthSquared(tpSub(pair->new[n].pointA, pair->old[o].pointA));
            if (!pair->isTaken[o] && distance <= nearest) {
                nearest = distance;
                found = o;
            }
        }
        if (found >= 0) {
            pair->match[n] = found;
            pair->isTaken[found] = true;
        }
    }
}

int* tpMatchContacts(const tpContact* old, int oldCount, const tpContact* new, int newCount,
                     tpArena* arena) {
    int* match = TP_SCRATCH(arena, int, newCount);
    bool* isTaken = TP_SCRATCH_ZEROED(arena, bool, oldCount);
    if (match == NULL || isTaken == NULL) {
        return NULL;
    }
    for (int n = 0; n < newCount; ++n) {
        match[n] = -1;
    }
    int o = 0;
    for (int n = 0; n < newCount;) {
        int newEnd = endOfPair(new, n, newCount);
        while (o < oldCount && comparePairs(&old[o], &new[n]) < 0) {
            ++o;
        }
        if (o < oldCount && comparePairs(&old[o], &new[n]) == 0) {
            tpPairLists pair = {
                old, new, o, endOfPair(old, o, oldCount), n, newEnd, match, isTaken
            };
            matchFeatures(&pair);
            matchPlaces(&pair);
        }
        n = newEnd;
    }
    return match;
}
