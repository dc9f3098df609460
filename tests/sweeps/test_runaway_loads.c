// Loads that no weight and no impact has made.

#include "sweeps/runaway_loads.h"

#include "heap.h"

enum { boxes = 200 };

// A column of boxes that have fallen for a part of a step. The lowest one is light.
static Heap* makeColumn(double speed) {
    tpAllocator allocator = tpDefaultAllocator();
    Heap* heap = tpAllocateZeroed(&allocator, sizeof(Heap));
    heap->allocator = allocator;
    tpArena_Create(&heap->arena, &heap->allocator);
    heap->velocities = TP_SCRATCH_ZEROED(&heap->arena, tpVelocity, boxes);
    tpSweeper* sweeper = &heap->sweeper;
    assert_true(tpSweeper_Create(sweeper, &heap->arena, boxes, boxes, tpFriction_SolveOne));
    for (int i = 1; i < boxes; ++i) {
        sweeper->bodies[i].inverseMass = i == 1 ? 1e4 : 1.0;
        for (int k = 0; k < 6; ++k) {
            sweeper->bodies[i].inverseInertia[k] =
                k < 3 ? 6.0 * sweeper->bodies[i].inverseMass : 0.0;
        }
        heap->velocities[i].linear = tpMakeVec3(0.0, 0.0, -speed);
        tpSweepContact* contact = &heap->contacts[heap->count++];
        memset(contact, 0, sizeof(*contact));
        contact->bodyA = i;
        contact->bodyB = i - 1;
        contact->normal = tpMakeVec3(0.0, 0.0, 1.0);
        contact->armA = tpMakeVec3(0.0, 0.0, -0.5);
        contact->armB = tpMakeVec3(0.0, 0.0, 0.5);
        contact->muDynamic = contact->muStatic = 0.5;
        tpMakeTangents(contact->normal, &contact->tangents[0], &contact->tangents[1]);
    }
    prepare(heap);
    return heap;
}

static double* normalOf(Heap* heap, int contact) {
    int lane;
    tpContactPack* pack = tpSweeper_PackOf(&heap->sweeper, contact, &lane);
    return &pack->impulse[0][lane];
}

// Weights of a column stay, whatever the lightest body is; a wedge's millions go, alone, with the
// friction that hangs on them.
static void weightsStayRunawaysGo(void** state) {
    (void)state;
    const double speed = 0.08, wedge = 1e6;
    Heap* heap = makeColumn(speed);
    double size = tpSweeper_FreeSpeed(&heap->sweeper);
    for (int i = 0; i < heap->count; ++i) {
        *normalOf(heap, i) = speed * (boxes - 1 - i);
    }
    assert_int_equal(tpSweeper_DropRunawayLoads(&heap->sweeper, heap->velocities, size), 0);
    int lane;
    tpContactPack* pack = tpSweeper_PackOf(&heap->sweeper, 17, &lane);
    pack->impulse[0][lane] = wedge;
    pack->impulse[1][lane] = pack->impulse[2][lane] = -0.1 * wedge;
    assert_int_equal(tpSweeper_DropRunawayLoads(&heap->sweeper, heap->velocities, size), 1);
    for (int k = 0; k < 3; ++k) {
        assert_true(pack->impulse[k][lane] == 0.0);
    }
    for (int i = 0; i < heap->count; ++i) {
        assert_true(*normalOf(heap, i) == (i == 17 ? 0.0 : speed * (boxes - 1 - i)));
    }
    destroyHeap(heap);
}

// Where nothing moves but spins, or what is told to, their momentum counts as well.
static void spinsAndApproachesCount(void** state) {
    (void)state;
    Heap* heap = makeColumn(0.0);
    const double load = 3.0;
    *normalOf(heap, 0) = load;
    for (int i = 1; i < boxes; ++i) {
        heap->velocities[i].angular = tpMakeVec3(0.0, 0.0, 0.1);
    }
    assert_int_equal(tpSweeper_DropRunawayLoads(&heap->sweeper, heap->velocities, 0.0), 0);
    for (int i = 1; i < boxes; ++i) {
        heap->velocities[i].angular = tpMakeVec3(0.0, 0.0, 0.0);
    }
    assert_int_equal(tpSweeper_DropRunawayLoads(&heap->sweeper, heap->velocities, 1.0), 0);
    assert_true(*normalOf(heap, 0) == load);
    assert_int_equal(tpSweeper_DropRunawayLoads(&heap->sweeper, heap->velocities, 1e-3), 1);
    destroyHeap(heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weightsStayRunawaysGo),
        cmocka_unit_test(spinsAndApproachesCount),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
