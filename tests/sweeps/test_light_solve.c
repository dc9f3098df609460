// Rounds of light sweeps until a certificate is met.

#include "sweeps/light_solve.h"

#include "heap.h"

static Heap* makeResting(uint64_t seed, double friction) {
    Heap* heap = makeHeap(seed, false);
    memset(&heap->velocities[0], 0, sizeof(tpVelocity));
    for (int i = 0; i < heap->count; ++i) {
        int lane;
        tpContactPack* pack = tpSweeper_PackOf(&heap->sweeper, i, &lane);
        pack->bias[0][lane] = 0.05 * (i % 3);
        pack->muStatic[lane] = pack->muDynamic[lane] = friction;
    }
    return heap;
}

// The judge in double precision, who looks at all contacts, finds what the task says.
static void heapsAreSolved(void** state) {
    (void)state;
    static const double frictions[3] = { 0.0, 0.1, 0.5 };
    for (int k = 0; k < 3; ++k) {
        Heap* heap = makeResting(5, frictions[k]);
        tpVelocity* start = TP_SCRATCH(&heap->arena, tpVelocity, bodies);
        memcpy(start, heap->velocities, sizeof(tpVelocity) * bodies);
        double size = tpSweeper_FreeSpeed(&heap->sweeper);
        tpLightTask task = { .start = start, .goal = 1e-4 * size, .limit = 20000 };
        assert_true(tpLight_Solve(&heap->sweeper, &task, &heap->arena));
        tpSweepVerdict verdict = tpSweeper_Judge(&heap->sweeper);
        print_message("friction %g: %d sweeps, %g\n", frictions[k], task.sweeps, task.miss / size);
        assert_true(task.miss <= task.goal);
        CHECK_NEAR(verdict.velocity, task.miss, 1e-9 * size);
        assert_true(verdict.cone <= 1e-12);
        destroyHeap(heap);
    }
}

typedef struct Asked {
    int times;
    const tpLightSweeper* light;
} Asked;

static bool help(void* context, const tpLightSweeper* light) {
    Asked* asked = context;
    asked->times += 1;
    asked->light = light;
    return true;
}

// What single precision cannot reach stalls: help is asked for once, and sweeps come to an end.
static void stallsEnd(void** state) {
    (void)state;
    Heap* heap = makeResting(5, 0.1);
    tpVelocity* start = TP_SCRATCH(&heap->arena, tpVelocity, bodies);
    memcpy(start, heap->velocities, sizeof(tpVelocity) * bodies);
    Asked asked = { 0, NULL };
    tpLightTask task = {
        .start = start, .goal = 1e-14, .limit = 1000000, .help = help, .context = &asked
    };
    assert_true(tpLight_Solve(&heap->sweeper, &task, &heap->arena));
    print_message("%d sweeps, %g m/s\n", task.sweeps, task.miss);
    assert_true(task.miss > task.goal && task.sweeps < 100000);
    assert_int_equal(asked.times, 1);
    destroyHeap(heap);
}

// Somebody stops a solve that would take half a million sweeps.
static void stopsAreHeard(void** state) {
    (void)state;
    Heap* heap = makeResting(5, 0.1);
    tpVelocity* start = TP_SCRATCH(&heap->arena, tpVelocity, bodies);
    memcpy(start, heap->velocities, sizeof(tpVelocity) * bodies);
    volatile sig_atomic_t stop = 1;
    tpLightTask task = { .start = start, .goal = 1e-14, .limit = 1000000, .stop = &stop };
    assert_true(tpLight_Solve(&heap->sweeper, &task, &heap->arena));
    assert_true(task.sweeps <= 64 && task.miss > task.goal);
    destroyHeap(heap);
}

// A solve that has stalled and is good enough ends there, without help.
static void stallsThatAreGoodEnoughEndAtOnce(void** state) {
    (void)state;
    int sweeps[2];
    for (int k = 0; k < 2; ++k) {
        Heap* heap = makeResting(5, 0.1);
        tpVelocity* start = TP_SCRATCH(&heap->arena, tpVelocity, bodies);
        memcpy(start, heap->velocities, sizeof(tpVelocity) * bodies);
        double size = tpSweeper_FreeSpeed(&heap->sweeper);
        Asked asked = { 0, NULL };
        tpLightTask task = { .start = start,
                             .goal = 1e-14,
                             .enough = k == 0 ? 0.0 : 1e-4 * size,
                             .limit = 1000000,
                             .help = help,
                             .context = &asked };
        assert_true(tpLight_Solve(&heap->sweeper, &task, &heap->arena));
        assert_true(k == 0 || task.miss <= task.enough);
        assert_int_equal(asked.times, 1 - k);
        sweeps[k] = task.sweeps;
        destroyHeap(heap);
    }
    print_message("%d sweeps, %d if less is enough\n", sweeps[0], sweeps[1]);
    assert_true(2 * sweeps[1] < sweeps[0]);
}

// A solve that ends before its goal has the best impulses so far: more sweeps never leave more.
static void moreSweepsLeaveNoMore(void** state) {
    (void)state;
    double least = INFINITY;
    for (int limit = 64; limit <= 4096; limit += 64) {
        Heap* heap = makeResting(5, 0.5);
        tpVelocity* start = TP_SCRATCH(&heap->arena, tpVelocity, bodies);
        memcpy(start, heap->velocities, sizeof(tpVelocity) * bodies);
        tpLightTask task = { .start = start, .goal = 1e-14, .limit = limit };
        assert_true(tpLight_Solve(&heap->sweeper, &task, &heap->arena));
        assert_true(task.miss <= least);
        CHECK_NEAR(tpSweeper_Judge(&heap->sweeper).velocity, task.miss, 1e-9 * task.miss);
        least = task.miss;
        destroyHeap(heap);
    }
    print_message("%g m/s\n", least);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heapsAreSolved),        cmocka_unit_test(stallsEnd),
        cmocka_unit_test(stopsAreHeard),         cmocka_unit_test(stallsThatAreGoodEnoughEndAtOnce),
        cmocka_unit_test(moreSweepsLeaveNoMore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
