// Colours of manifolds: two of one colour share no body that impulses move.

#include "support/check.h"
#include "sweeps/colour.h"

static void testColours(void** state) {
    (void)state;
    enum { bodies = 40, count = 300 };
    tpRandom random = { 11 };
    tpManifold manifolds[count];
    uint64_t used[bodies] = { 0 };
    int32_t order[count];
    for (int i = 0; i < count; ++i) {
        int a = (int)randomBetween(&random, 0.0, bodies),
            b = (int)randomBetween(&random, 0.0, bodies);
        manifolds[i] = (tpManifold){ .first = i, .count = 1, .bodyA = a, .bodyB = a == b ? -1 : b };
    }
    tpColourManifolds(manifolds, count, used, order);
    bool isListed[count] = { false };
    int last = -1, colours = 0;
    for (int begin = 0; begin < count;) {
        int end = tpEndOfColour(manifolds, order, count, begin);
        int colour = manifolds[order[begin]].colour;
        assert_true(end > begin && colour > last);
        last = colour;
        colours += 1;
        bool isTaken[bodies] = { false };
        for (int k = begin; k < end; ++k) {
            const tpManifold* manifold = &manifolds[order[k]];
            assert_int_equal(manifold->colour, colour);
            assert_false(isListed[order[k]]);
            isListed[order[k]] = true;
            const int sides[2] = { manifold->bodyA, manifold->bodyB };
            for (int side = 0; side < 2; ++side) {
                if (sides[side] >= 0 && colour < 63) { // the last colour is for what has none
                    assert_false(isTaken[sides[side]]);
                    isTaken[sides[side]] = true;
                }
            }
        }
        begin = end;
    }
    // No body has more than some 15 neighbours: a few dozen colours are enough, one is not.
    assert_true(colours >= 10 && colours < 60);
}

static void testLowest(void** state) {
    (void)state;
    assert_int_equal(tpLowestFreeColour(0), 0);
    assert_int_equal(tpLowestFreeColour(0x7), 3);
    assert_int_equal(tpLowestFreeColour(0xfd), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testColours),
                                        cmocka_unit_test(testLowest) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
