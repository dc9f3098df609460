// Leaps over sweeps that creep.

#include "heap.h"
#include "sweeps/light_leap.h"

static const double halfAngle = 0.02;

// A body falls at 1 m/s into a groove with steep walls: each carries 1 / (2 sin a) in the end, and
// a sweep gets nearer by the part sin^2(2 a).
static Heap* makeGroove(void) {
    tpAllocator allocator = tpDefaultAllocator();
    Heap* heap = tpAllocateZeroed(&allocator, sizeof(Heap));
    heap->allocator = allocator;
    tpArena_Create(&heap->arena, &heap->allocator);
    heap->velocities = TP_SCRATCH_ZEROED(&heap->arena, tpVelocity, bodies);
    assert_true(
        tpSweeper_Create(&heap->sweeper, &heap->arena, bodies, mostContacts, tpFriction_SolveOne));
    heap->sweeper.bodies[2].inverseMass = 1.0;
    heap->velocities[2].linear.z = -1.0;
    for (int k = 0; k < 2; ++k) {
        tpSweepContact* contact = &heap->contacts[heap->count++];
        contact->bodyA = 2;
        contact->bodyB = k;
        contact->normal = tpMakeVec3(k == 0 ? cos(halfAngle) : -cos(halfAngle), 0, sin(halfAngle));
        tpMakeTangents(contact->normal, &contact->tangents[0], &contact->tangents[1]);
    }
    prepare(heap);
    tpSweeper_FindSpeeds(&heap->sweeper);
    return heap;
}

static void sweep(tpLightSweeper* light, int count) {
    for (int k = 0; k < count; ++k) {
        tpLight_Sweep(light);
    }
}

static double loadOf(const tpLightSweeper* light, int contact) {
    int lane;
    tpLight_Store(light);
    return tpSweeper_PackOf(light->sweeper, contact, &lane)->impulse[0][lane];
}

// What takes thousands of sweeps takes a few leaps.
static void grooveIsLeaptTo(void** state) {
    (void)state;
    Heap* heap = makeGroove();
    tpLightSweeper light;
    tpLightLeap leap;
    double end = 0.5 / sin(halfAngle);
    assert_true(tpLight_Choose(&light, &heap->sweeper, INFINITY, 1.0, &heap->arena));
    assert_true(tpLightLeap_Create(&leap, &light, &heap->arena));
    tpLight_Load(&light);
    sweep(&light, 100);
    assert_true(loadOf(&light, 0) < 0.2 * end);
    for (int k = 0; k < 8; ++k) {
        sweep(&light, 4);
        tpLightLeap_Keep(&leap, &light);
        sweep(&light, 4);
        tpLightLeap_Keep(&leap, &light);
        sweep(&light, 4);
        assert_true(tpLightLeap_Take(&leap, &light) > (k == 0 ? 50.0 : -1.0));
    }
    CHECK_NEAR(loadOf(&light, 0), end, 0.02 * end);
    CHECK_NEAR(loadOf(&light, 1), end, 0.02 * end);
    destroyHeap(heap);
}

// Steps that are no equal ones say nothing about where they lead.
static void unequalStepsAreLeftAlone(void** state) {
    (void)state;
    Heap* heap = makeGroove();
    tpLightSweeper light;
    tpLightLeap leap;
    assert_true(tpLight_Choose(&light, &heap->sweeper, INFINITY, 1.0, &heap->arena));
    assert_true(tpLightLeap_Create(&leap, &light, &heap->arena));
    tpLight_Load(&light);
    tpLightLeap_Keep(&leap, &light);
    sweep(&light, 1);
    tpLightLeap_Keep(&leap, &light);
    light.impulses[0] += 0.01f;
    double load = loadOf(&light, 0);
    assert_true(tpLightLeap_Take(&leap, &light) == 0.0);
    assert_true(loadOf(&light, 0) == load);
    destroyHeap(heap);
}

// Steps that are equal for ever are followed until contacts leave their cones, and not outside.
static void leapsEndOnTheCone(void** state) {
    (void)state;
    Heap* heap = makeHeap(7, false);
    tpRandom random = { 5 };
    memset(&heap->velocities[0], 0, sizeof(tpVelocity));
    tpSweeper_FindSpeeds(&heap->sweeper);
    tpLightSweeper light;
    tpLightLeap leap;
    assert_true(tpLight_Choose(&light, &heap->sweeper, INFINITY, 0.9, &heap->arena));
    assert_true(tpLightLeap_Create(&leap, &light, &heap->arena));
    tpLight_Load(&light);
    sweep(&light, 50);
    // Each contact is unloaded at a pace of its own.
    float* step = TP_SCRATCH_ZEROED(&heap->arena, float, light.impulseCount);
    for (int place = 0; place < tp_lightWidth * light.packCount; ++place) {
        float part = (float)randomBetween(&random, -1e-2, -1e-3);
        ptrdiff_t first = 3 * tp_lightWidth * (ptrdiff_t)(place / tp_lightWidth);
        for (int k = 0; k < 3; ++k) {
            ptrdiff_t i = first + k * tp_lightWidth + place % tp_lightWidth;
            step[i] = part * light.impulses[i];
        }
    }
    for (int k = 0; k < 2; ++k) {
        tpLightLeap_Keep(&leap, &light);
        for (int i = 0; i < light.impulseCount; ++i) {
            light.impulses[i] += step[i];
        }
    }
    double steps = tpLightLeap_Take(&leap, &light);
    print_message("%g steps\n", steps);
    assert_true(steps >= 32.0 && steps <= 256.0);
    int touching = 0;
    for (int place = 0; place < tp_lightWidth * light.packCount; ++place) {
        int pack = place / tp_lightWidth, lane = place % tp_lightWidth;
        const float* r = light.impulses + 3 * tp_lightWidth * (ptrdiff_t)pack + lane;
        double force = hypot((double)r[tp_lightWidth], (double)r[2 * tp_lightWidth]);
        assert_true(r[0] >= 0.0f);
        assert_true(force <= light.packs[pack].muStatic[lane] * r[0] * (1.0 + 1e-5));
        touching += r[0] > 0.0f;
    }
    assert_true(touching > 100);
    destroyHeap(heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grooveIsLeaptTo),
        cmocka_unit_test(unequalStepsAreLeftAlone),
        cmocka_unit_test(leapsEndOnTheCone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
