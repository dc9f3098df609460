// Memory that small steps ask for per body in beds of equal bodies that rest on each other. It is
// counted, not measured: arrays with what they have in reserve, and the scratch of a step.

#include "steppers/small_steps/state.h"
#include "support/check.h"
#include "support/failing_allocator.h"
#include "tippe/world.h"
#include "world/world.h"

enum { side = 10, stepCount = 20 };

// Under the address sanitizer every piece of scratch has a guard, and the arena grows otherwise.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TIPPE_HAS_GUARDS
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define TIPPE_HAS_GUARDS
#endif
#ifdef TIPPE_HAS_GUARDS
static const double guards = 1.1;
#else
static const double guards = 1.0;
#endif

typedef enum Kind { balls, boxes, capsules } Kind;

static void addPit(tpWorld* world, Kind kind) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_fixedBody;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    double half = 0.5 * side + (kind == balls ? 0.0 : 2.0);
    const tpPlane planes[] = { { { 0.0, 0.0, 1.0 }, 0.0 },
                               { { 1.0, 0.0, 0.0 }, -half },
                               { { -1.0, 0.0, 0.0 }, -half },
                               { { 0.0, 1.0, 0.0 }, -half },
                               { { 0.0, -1.0, 0.0 }, -half } };
    for (int i = 0; i < 5; ++i) {
        tpCreatePlane(world, body, &shape, &planes[i], NULL);
    }
}

// Balls of 1 m that touch all their neighbours; boxes in layers, each on two of the layer below;
// capsules that lie along each other, side by side and in columns.
static void addBed(tpWorld* world, Kind kind) {
    double apart = kind == boxes ? 1.1 : 1.0, apartX = kind == capsules ? 1.4 : apart;
    for (int i = 0; i < side * side * side; ++i) {
        int layer = i / (side * side);
        double shift = kind != boxes || layer % 2 == 0 ? 0.0 : 0.5 * apart;
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(apartX * (i % side - 0.5 * (side - 1)) + shift,
                                  apart * (i / side % side - 0.5 * (side - 1)), 0.5 + layer);
        tpBodyId body = tpCreateBody(world, &def, NULL);
        tpShapeDef shape = tpDefaultShapeDef();
        shape.density = 1000.0;
        if (kind == balls) {
            tpCreateSphere(world, body, &shape, &(tpSphere){ 0.5 }, NULL);
        } else if (kind == capsules) {
            tpCreateCapsule(world, body, &shape, &(tpCapsule){ 0.5, 0.4, { 1.0, 0.0, 0.0 } }, NULL);
        } else {
            tpCreateBox(world, body, &shape, &(tpBox){ { 1.0, 1.0, 1.0 } }, NULL);
        }
    }
}

static double bytesPerBody(Kind kind) {
    tpFailingAllocator heap = { 0 };
    tpWorldDef def = tpDefaultWorldDef();
    def.allocator = tpMakeFailingAllocator(&heap);
    def.stepper = tp_smallSteps;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    addPit(world, kind);
    addBed(world, kind);
    int contacts = 0;
    for (int i = 0; i < stepCount; ++i) {
        contacts = tpWorld_Step(world, 1.0 / 60.0).contactCount;
    }
    double bodies = side * side * side, bytes = (double)heap.bytes / bodies;
    static const char* const names[] = { "balls", "boxes", "capsules" };
    print_message("%s: %.0f bytes per body, %.1f contacts\n", names[kind], bytes,
                  contacts / bodies);
    assert_true(contacts > 2 * bodies);
    tpDestroyWorld(world);
    assert_int_equal(heap.outstanding, 0);
    return bytes;
}

static void ballsNeedLittle(void** state) {
    (void)state;
    CHECK_BELOW(bytesPerBody(balls), guards * 4300.0);
}

static void boxesNeedLittle(void** state) {
    (void)state;
    CHECK_BELOW(bytesPerBody(boxes), guards * 5600.0);
}

// Nothing is kept about pairs of capsules but how far apart they are.
static void capsulesNeedLittle(void** state) {
    (void)state;
    CHECK_BELOW(bytesPerBody(capsules), guards * 5500.0);
}

static tpBodyId addOne(tpWorld* world, bool isBall, tpVec3 position) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    if (isBall) {
        tpCreateSphere(world, body, &shape, &(tpSphere){ 0.5 }, NULL);
    } else {
        tpCreateBox(world, body, &shape, &(tpBox){ { 1.0, 1.0, 1.0 } }, NULL);
    }
    return body;
}

// Memory is asked for as the bodies come: the first step of a large world, in which bodies are near
// each other and do not touch yet, needs little more.
static void firstStepAsksForLittle(void** state) {
    (void)state;
    for (int isBall = 0; isBall < 2; ++isBall) {
        enum { count = 1500, wide = 12 };
        tpFailingAllocator heap = { 0 };
        tpWorldDef def = tpDefaultWorldDef();
        def.allocator = tpMakeFailingAllocator(&heap);
        def.stepper = tp_smallSteps;
        tpWorld* world = tpCreateWorld(&def);
        for (int i = 0; i < count; ++i) {
            addOne(world, isBall != 0,
                   tpMakeVec3(1.1 * (i % wide), 1.1 * (i / wide % wide), 1.1 * (i / wide / wide)));
        }
        double before = (double)heap.bytes;
        tpWorld_Step(world, 1.0 / 60.0);
        double more = ((double)heap.bytes - before) / count;
        print_message("%s: %.0f bytes per body, %.0f more in the first step\n",
                      isBall ? "balls" : "boxes", before / count, more);
        CHECK_BELOW(more, 100.0);
        tpDestroyWorld(world);
        assert_int_equal(heap.outstanding, 0);
    }
}

// What is expected of the shapes that have come: one point of a ball, two manifolds of four of a
// box, nothing of what does not move or is gone; and each shape is counted once.
static void shapesLetExpect(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    tpWorld* world = tpCreateWorld(&def);
    tpSmallSteps* small = world->stepperState;
    addPit(world, balls);
    addOne(world, true, tpMakeVec3(0.0, 0.0, 1.0));
    addOne(world, false, tpMakeVec3(0.0, 0.0, 2.0));
    tpBodyId gone = addOne(world, false, tpMakeVec3(0.0, 0.0, 3.0));
    tpDestroyBody(world, gone);
    tpSystem* system = &world->system;
    int shapes = system->shapes.count;
    assert_int_equal(small->expected.shapes, 0); // small worlds expect nothing
    tpSmallSteps_Prepare(system, small, 0, 3);
    assert_int_equal(small->expected.shapes, shapes);
    assert_int_equal(small->expected.manifolds, 1 + 2);
    assert_int_equal(small->expected.points, 1 + 2 * 4);
    tpSmallSteps_Prepare(system, small, 0, 3);
    assert_int_equal(small->expected.points, 1 + 2 * 4);
    addOne(world, true, tpMakeVec3(0.0, 0.0, 9.0)); // takes the place of the one that is gone
    addOne(world, true, tpMakeVec3(0.0, 0.0, 11.0));
    tpSmallSteps_Prepare(system, small, 3, 5);
    assert_int_equal(small->expected.manifolds, 2 + 2);
    assert_int_equal(small->expected.points, 2 + 2 * 4);
    assert_true(small->numbers.capacity >= 5 && small->bodies.capacity >= 6);
    assert_true(small->fat.pairs.capacity >= 3 * 5 && small->pairs.capacity >= 3 * 5);
    assert_true(small->shapes.capacity >= 4);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ballsNeedLittle),    cmocka_unit_test(boxesNeedLittle),
        cmocka_unit_test(capsulesNeedLittle), cmocka_unit_test(firstStepAsksForLittle),
        cmocka_unit_test(shapesLetExpect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
