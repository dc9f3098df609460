// Cuts of sets of boxes: two clusters are parted, and the cost of a cut is not beaten by others.

#include "geometry/area_split.h"

#include "geometry/shape.h"
#include "sample_shapes.h"

enum { count = 64 };

static double costOf(const int32_t* items, int32_t n, const tpBounds* bounds) {
    tpBounds all = bounds[items[0]];
    for (int32_t i = 1; i < n; ++i) {
        all = tpUniteBounds(all, bounds[items[i]]);
    }
    return n * tpHalfArea(&all);
}

static void clustersAreParted(void** state) {
    (void)state;
    tpRandom random = { 2 };
    tpBounds bounds[count];
    int32_t items[count];
    for (int axis = 0; axis < 3; ++axis) {
        for (int i = 0; i < count; ++i) {
            tpVec3 at = randomVec3(&random, 0.0, 1.0);
            double shift = i % 3 == 0 ? 5.0 : 0.0;
            *(axis == 0 ? &at.x : axis == 1 ? &at.y : &at.z) += shift;
            bounds[i] = (tpBounds){ at, tpAdd(at, tpMakeVec3(0.1, 0.1, 0.1)) };
            items[i] = i;
        }
        int32_t first = tpSplitByArea(items, count, (tpItemBounds){ bounds, sizeof bounds[0] });
        assert_int_equal(first, count - (count + 2) / 3);
        for (int i = 0; i < count; ++i) {
            assert_int_equal(items[i] % 3 == 0, i >= first);
        }
    }
}

// Against cuts at every item along each axis: bins may miss the best by a little, not by much.
static void cutsAreCheap(void** state) {
    (void)state;
    tpRandom random = { 9 };
    for (int trial = 0; trial < 50; ++trial) {
        tpBounds bounds[count];
        int32_t items[count];
        for (int i = 0; i < count; ++i) {
            tpVec3 at = randomVec3(&random, -1.0, 1.0), size = randomVec3(&random, 0.01, 0.3);
            bounds[i] = (tpBounds){ at, tpAdd(at, size) };
            items[i] = i;
        }
        int32_t first = tpSplitByArea(items, count, (tpItemBounds){ bounds, sizeof bounds[0] });
        double cost = costOf(items, first, bounds) + costOf(items + first, count - first, bounds);
        double halves = INFINITY;
        for (int k = 1; k < count; ++k) {
            int32_t order[count];
            for (int i = 0; i < count; ++i) {
                order[i] = i;
            }
            // The k items with the lowest x go first.
            for (int i = 0; i < k; ++i) {
                for (int j = i + 1; j < count; ++j) {
                    if (bounds[order[j]].lower.x < bounds[order[i]].lower.x) {
                        int32_t swap = order[i];
                        order[i] = order[j];
                        order[j] = swap;
                    }
                }
            }
            halves = fmin(halves, costOf(order, k, bounds) + costOf(order + k, count - k, bounds));
        }
        assert_true(cost < 1.35 * halves);
    }
}

static void equalCentersAreHalved(void** state) {
    (void)state;
    tpBounds bounds[5];
    int32_t items[5];
    for (int i = 0; i < 5; ++i) {
        double r = 1.0 + i;
        bounds[i] = (tpBounds){ { -r, -r, -r }, { r, r, r } };
        items[i] = i;
    }
    assert_int_equal(tpSplitByArea(items, 5, (tpItemBounds){ bounds, sizeof bounds[0] }), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(clustersAreParted),
                                        cmocka_unit_test(cutsAreCheap),
                                        cmocka_unit_test(equalCentersAreHalved) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
