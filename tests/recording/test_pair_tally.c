// Sums by pairs of bodies: against a table of all pairs, and in order, whatever the order in which
// they come.

#include "recording/pair_tally.h"

#include <limits.h>
#include <string.h>

#include "support/check.h"

enum { bodies = 7 };

static tpRecordedPair makePair(tpRandom* random) {
    tpRecordedPair pair = { .bodyA = (int)(randomBits(random) % bodies) - 1 };
    pair.bodyB = (int)(randomBits(random) % bodies) - 1;
    pair.impulse = randomVec3(random, -1.0, 1.0);
    pair.normalImpulse = randomBetween(random, 0.0, 1.0);
    pair.collisionCount = (int)(randomBits(random) % 5);
    pair.microcollisionCount = (int)(randomBits(random) % 9);
    pair.energyLost = randomBetween(random, -1.0, 1.0);
    return pair;
}

static void sumsAreByPair(void** state) {
    (void)state;
    tpRandom random = { 31 };
    tpAllocator allocator = tpDefaultAllocator();
    tpPairTally tally;
    tpPairTally_Create(&tally, &allocator);
    for (int round = 0; round < 30; ++round) {
        tpRecordedPair sums[bodies][bodies];
        bool isThere[bodies][bodies];
        int count = round, distinct = 0; // none, one, few and nearly all pairs
        memset(sums, 0, sizeof(sums));
        memset(isThere, 0, sizeof(isThere));
        tpPairTally_Clear(&tally);
        for (int i = 0; i < count * count / 4; ++i) {
            tpRecordedPair pair = makePair(&random);
            tpRecordedPair* sum = &sums[pair.bodyA + 1][pair.bodyB + 1];
            distinct += isThere[pair.bodyA + 1][pair.bodyB + 1] ? 0 : 1;
            isThere[pair.bodyA + 1][pair.bodyB + 1] = true;
            sum->impulse = tpAdd(sum->impulse, pair.impulse);
            sum->normalImpulse += pair.normalImpulse;
            sum->collisionCount += pair.collisionCount;
            sum->microcollisionCount += pair.microcollisionCount;
            sum->energyLost += pair.energyLost;
            assert_true(tpPairTally_Add(&tally, &pair));
        }
        assert_int_equal(tally.pairs.count, distinct);
        int place = 0;
        for (int a = 0; a < bodies; ++a) {
            for (int b = 0; b < bodies; ++b) {
                if (isThere[a][b]) {
                    const tpRecordedPair *found = &tally.pairs.data[place++], *sum = &sums[a][b];
                    assert_int_equal(found->bodyA, a - 1);
                    assert_int_equal(found->bodyB, b - 1);
                    CHECK_VEC3(found->impulse, sum->impulse, 1e-14);
                    CHECK_NEAR(found->normalImpulse, sum->normalImpulse, 1e-14);
                    assert_int_equal(found->collisionCount, sum->collisionCount);
                    assert_int_equal(found->microcollisionCount, sum->microcollisionCount);
                    CHECK_NEAR(found->energyLost, sum->energyLost, 1e-14);
                }
            }
        }
    }
    tpPairTally_Destroy(&tally);
}

// Counts that whole numbers cannot hold stay at the largest.
static void countsEnd(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpPairTally tally;
    tpPairTally_Create(&tally, &allocator);
    tpRecordedPair pair = { .bodyA = 1, .bodyB = 2, .collisionCount = INT_MAX - 3 };
    pair.microcollisionCount = INT_MAX - 4;
    tpPairTally_Add(&tally, &pair);
    pair.collisionCount = 3;
    pair.microcollisionCount = 5;
    tpPairTally_Add(&tally, &pair);
    assert_int_equal(tally.pairs.data[0].collisionCount, INT_MAX);
    assert_int_equal(tally.pairs.data[0].microcollisionCount, INT_MAX);
    tpPairTally_Add(&tally, &pair);
    assert_int_equal(tally.pairs.data[0].collisionCount, INT_MAX);
    tpPairTally_Destroy(&tally);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(sumsAreByPair),
                                        cmocka_unit_test(countsEnd) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
