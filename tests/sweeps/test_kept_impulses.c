// The best impulses that a solve has come to.

#include "sweeps/kept_impulses.h"

#include "heap.h"

// Gives every lane numbers of its own.
static void setImpulses(tpSweeper* sweeper, double base) {
    for (int p = 0; p < sweeper->packCount; ++p) {
        for (int k = 0; k < 3 * tp_packWidth; ++k) {
            sweeper->packs[p].impulse[k / tp_packWidth][k % tp_packWidth] = base + 100.0 * p + k;
        }
    }
}

static void checkImpulses(const tpSweeper* sweeper, double base) {
    for (int p = 0; p < sweeper->packCount; ++p) {
        for (int k = 0; k < 3 * tp_packWidth; ++k) {
            double impulse = sweeper->packs[p].impulse[k / tp_packWidth][k % tp_packWidth];
            assert_true(impulse == base + 100.0 * p + k);
        }
    }
}

// Whatever comes after them, the impulses of the least residual come back; of equals, the first.
static void bestComeBack(void** state) {
    (void)state;
    Heap* heap = makeHeap(3, false);
    tpSweeper* sweeper = &heap->sweeper;
    tpKeptImpulses kept;
    assert_true(tpKeptImpulses_Create(&kept, sweeper, &heap->arena));
    assert_true(sweeper->packCount > 2);
    const double misses[6] = { 3.0, 1.0, 2.0, 0.5, 0.5, NAN };
    const int best[6] = { 0, 1, 1, 3, 3, 3 };
    for (int i = 0; i < 6; ++i) {
        setImpulses(sweeper, 0.25 * i);
        tpKeptImpulses_Keep(&kept, sweeper, misses[i]);
        tpKeptImpulses_TakeBack(&kept, sweeper);
        checkImpulses(sweeper, 0.25 * best[i]);
        assert_true(kept.miss == misses[best[i]]);
    }
    destroyHeap(heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bestComeBack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
