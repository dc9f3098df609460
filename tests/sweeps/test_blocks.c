// Blocks of neighbours: as many bodies each, and compact.

#include "sweeps/blocks.h"

#include <string.h>

#include "support/check.h"

enum { side = 16, count = side * side * side };

static void blocksAreCompact(void** state) {
    (void)state;
    static tpVec3 positions[count];
    static tpBlockBody bodies[count];
    static int32_t order[count], firsts[65];
    static bool isSeen[count];
    tpRandom random = { 3 };
    for (int i = 0; i < count; ++i) {
        // A grid in some order.
        int k = (i * 1237) % count;
        positions[i] = tpAdd(tpMakeVec3(k % side, k / side % side, k / side / side),
                             randomVec3(&random, -0.1, 0.1));
    }
    for (int blocks = 1; blocks <= 64; blocks *= 4) {
        for (int i = 0; i < count; ++i) {
            tpVec3 p = positions[i];
            bodies[i] = (tpBlockBody){ { p.x, p.y, p.z }, i };
        }
        tpCutBlocks(bodies, count, blocks, firsts);
        for (int i = 0; i < count; ++i) {
            order[i] = bodies[i].body;
        }
        assert_int_equal(firsts[0], 0);
        assert_int_equal(firsts[blocks], count);
        memset(isSeen, 0, sizeof(isSeen));
        double sides = 0.0;
        for (int b = 0; b < blocks; ++b) {
            assert_int_equal(firsts[b + 1] - firsts[b], count / blocks);
            tpVec3 lower = positions[order[firsts[b]]], upper = lower;
            for (int k = firsts[b]; k < firsts[b + 1]; ++k) {
                assert_true(k == firsts[b] || order[k] > order[k - 1]);
                assert_false(isSeen[order[k]]);
                isSeen[order[k]] = true;
                lower = tpMinVec3(lower, positions[order[k]]);
                upper = tpMaxVec3(upper, positions[order[k]]);
            }
            tpVec3 d = tpSub(upper, lower);
            sides += d.x + d.y + d.z;
        }
        // No longer on any side than a cube of so many bodies is by more than a few.
        CHECK_BELOW(sides / blocks, 3.0 * (side / cbrt(blocks) + 1.0));
    }
}

static void numbersGrowWithBodies(void** state) {
    (void)state;
    assert_int_equal(tpBlockCountFor(0), 1);
    assert_int_equal(tpBlockCountFor(300), 1);
    int last = 1;
    for (int n = 1; n < 2000000; n *= 2) {
        int blocks = tpBlockCountFor(n);
        assert_true(blocks >= 1 && blocks >= last / 2);
        last = blocks;
    }
    assert_true(tpBlockCountFor(10000) >= 16);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocksAreCompact),
        cmocka_unit_test(numbersGrowWithBodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
