// Contacts of one configuration found again in another.
//
// The same features of the same shapes are the same contact. What is left of a pair is matched by
// place: where edges lie on edges, as in every wall of equal bricks, the least motion turns a
// corner on a face into an edge on an edge, and impulses would be lost with the name of the
// contact.

#include "dynamics/matching.h"

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
    bool isDone = true;
    for (int n = pair->newFirst; n < pair->newEnd; ++n) {
        isDone = isDone && pair->match[n] >= 0;
    }
    if (isDone) {
        return;
    }
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

bool tpMatching_Create(tpMatching* matching, const tpContact* old, int oldCount,
                       const tpContact* new, int newCount, tpArena* arena) {
    *matching = (tpMatching){ old, oldCount, new, newCount, NULL, NULL };
    matching->match = TP_SCRATCH(arena, int, newCount);
    matching->isTaken = TP_SCRATCH_ZEROED(arena, bool, oldCount);
    return matching->match != NULL && matching->isTaken != NULL;
}

// The first of the old contacts whose pair does not come before.
static int findPair(const tpMatching* matching, const tpContact* contact) {
    int low = 0, high = matching->oldCount;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (comparePairs(&matching->old[middle], contact) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// The first pair that begins at or after a place.
static int startOfPair(const tpMatching* matching, int place) {
    while (place > 0 && place < matching->newCount &&
           comparePairs(&matching->new[place - 1], &matching->new[place]) == 0) {
        ++place;
    }
    return place;
}

// The pair that begins at both places, where each of its new contacts has the feature of the old
// one in the same rank: at rest the rule. Returns how many they are; 0 if it is otherwise.
static int matchKept(const tpMatching* matching, int o, int n) {
    if (o >= matching->oldCount) {
        return 0;
    }
    const tpContact *old = matching->old + o, *new = matching->new + n;
    int oldCount = matching->oldCount - o, newCount = matching->newCount - n, count = 0;
    for (; count < newCount && comparePairs(&new[count], new) == 0; ++count) {
        bool isTwice = count > 0 && new[count].feature == new[count - 1].feature;
        if (isTwice || count >= oldCount || old[count].feature != new[count].feature ||
            comparePairs(&old[count], new) != 0) {
            return 0;
        }
        matching->match[n + count] = o + count;
    }
    return count;
}

tpRange tpMatching_Run(const tpMatching* matching, tpRange range) {
    const tpContact *old = matching->old, *new = matching->new;
    range = (tpRange){ startOfPair(matching, range.begin), startOfPair(matching, range.end) };
    int o = range.begin < range.end ? findPair(matching, &new[range.begin]) : 0;
    for (int n = range.begin; n < range.end;) {
        while (o < matching->oldCount && comparePairs(&old[o], &new[n]) < 0) {
            ++o;
        }
        int kept = matchKept(matching, o, n);
        if (kept > 0) {
            n += kept;
            o += kept;
            continue;
        }
        int newEnd = endOfPair(new, n, matching->newCount);
        for (int i = n; i < newEnd; ++i) {
            matching->match[i] = -1;
        }
        if (o < matching->oldCount && comparePairs(&old[o], &new[n]) == 0) {
            int oldEnd = endOfPair(old, o, matching->oldCount);
            tpPairLists pair = {
                old, new, o, oldEnd, n, newEnd, matching->match, matching->isTaken
            };
            matchFeatures(&pair);
            matchPlaces(&pair);
        }
        n = newEnd;
    }
    return range;
}

int* tpMatchContacts(const tpContact* old, int oldCount, const tpContact* new, int newCount,
                     tpArena* arena) {
    tpMatching matching;
    if (!tpMatching_Create(&matching, old, oldCount, new, newCount, arena)) {
        return NULL;
    }
    tpMatching_Run(&matching, (tpRange){ 0, newCount });
    return matching.match;
}
