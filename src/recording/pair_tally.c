#include "recording/pair_tally.h"

#include <limits.h>
#include <string.h>

void tpPairTally_Create(tpPairTally* tally, const tpAllocator* allocator) {
    memset(tally, 0, sizeof(*tally));
    tally->allocator = *allocator;
}

void tpPairTally_Destroy(tpPairTally* tally) {
    TP_FREE_ARRAY(&tally->allocator, tally->pairs);
}

void tpPairTally_Clear(tpPairTally* tally) {
    tally->pairs.count = 0;
}

static int addCounts(int a, int b) {
    return a > INT_MAX - b ? INT_MAX : a + b;
}

// The first place whose pair is not before the given one. Contacts come sorted by shapes, so that
// it is mostly the end, or near the last one.
static int findPlace(const tpPairTally* tally, int bodyA, int bodyB) {
    int low = 0, high = tally->pairs.count;
    while (low < high) {
        int middle = (low + high) / 2;
        const tpRecordedPair* pair = &tally->pairs.data[middle];
        if (pair->bodyA < bodyA || (pair->bodyA == bodyA && pair->bodyB < bodyB)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool tpPairTally_Add(tpPairTally* tally, const tpRecordedPair* pair) {
    int place = findPlace(tally, pair->bodyA, pair->bodyB);
    tpRecordedPair* known = place < tally->pairs.count ? &tally->pairs.data[place] : NULL;
    if (known != NULL && known->bodyA == pair->bodyA && known->bodyB == pair->bodyB) {
        known->impulse = tpAdd(known->impulse, pair->impulse);
        known->normalImpulse += pair->normalImpulse;
        known->collisionCount = addCounts(known->collisionCount, pair->collisionCount);
        known->microcollisionCount =
            addCounts(known->microcollisionCount, pair->microcollisionCount);
        known->energyLost += pair->energyLost;
        return true;
    }
    if (!TP_RESERVE(&tally->allocator, tally->pairs, tally->pairs.count + 1)) {
        return false;
    }
    known = tally->pairs.data + place;
    memmove(known + 1, known, (size_t)(tally->pairs.count - place) * sizeof(tpRecordedPair));
    *known = *pair;
    tally->pairs.count += 1;
    return true;
}

bool tpPairTally_AddStep(tpPairTally* tally, const tpRoster* roster, const tpWorld* world) {
    int count = 0;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    for (int i = 0; i < count; ++i) {
        const tpContactInfo* contact = &contacts[i];
        if (contact->normalImpulse == 0.0 && contact->collisionCount == 0) {
            continue;
        }
        tpVec3 impulse =
            tpMulAdd(contact->frictionImpulse, contact->normalImpulse, contact->normal);
        int bodyA = tpRoster_Find(roster, contact->bodyA);
        int bodyB = tpRoster_Find(roster, contact->bodyB);
        bool isTurned = bodyA > bodyB;
        tpRecordedPair pair = { .bodyA = isTurned ? bodyB : bodyA,
                                .bodyB = isTurned ? bodyA : bodyB,
                                .impulse = isTurned ? tpNeg(impulse) : impulse,
                                .normalImpulse = contact->normalImpulse,
                                .collisionCount = contact->collisionCount,
                                .microcollisionCount = contact->microcollisionCount,
                                .energyLost = contact->energyLost };
        if (!tpPairTally_Add(tally, &pair)) {
            return false;
        }
    }
    return true;
}
