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
        tpCutBlocks(bodies, count, blocks, order, firsts);
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

// Halves are those of a sort by place and number, whatever the places: many that are equal, all in
// one, one far away, and more than can be told apart.
static void halvesAreThoseOfASort(void** state) {
    (void)state;
    static tpBlockBody bodies[count], sorted[count];
    static int32_t order[count], firsts[3];
    tpRandom random = { 8 };
    for (int kind = 0; kind < 5; ++kind) {
        for (int n = 2; n <= count; n = 3 * n + 1) {
            for (int i = 0; i < n; ++i) {
                double x = kind == 0   ? randomBetween(&random, -4.0, 9.0)
                           : kind == 1 ? (double)(randomBits(&random) % 7)
                           : kind == 2 ? 3.0
                           : kind == 3 ? exp(-randomBetween(&random, 0.0, 40.0))
                                       : (i % 2 == 0 ? 1.7e308 : -1.7e308);
                bodies[i] = (tpBlockBody){ { 0.0, x, 0.0 }, (i * 7919) % n };
                sorted[i] = bodies[i];
            }
            for (int i = 1; i < n; ++i) {
                tpBlockBody body = sorted[i];
                int k = i;
                for (; k > 0 && (body.place[1] < sorted[k - 1].place[1] ||
                                 (body.place[1] == sorted[k - 1].place[1] &&
                                  body.body < sorted[k - 1].body));
                     --k) {
                    sorted[k] = sorted[k - 1];
                }
                sorted[k] = body;
            }
            tpCutBlocks(bodies, n, 2, order, firsts);
            assert_int_equal(firsts[1], n / 2);
            int64_t sums[2] = { 0, 0 };
            for (int i = 0; i < n / 2; ++i) {
                sums[0] += (int64_t)order[i] * order[i] + 1;
                sums[1] += (int64_t)sorted[i].body * sorted[i].body + 1;
            }
            assert_true(sums[0] == sums[1]);
        }
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
        cmocka_unit_test(halvesAreThoseOfASort),
        cmocka_unit_test(numbersGrowWithBodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
