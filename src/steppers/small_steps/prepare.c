// Memory of a large world, asked for and touched as its bodies come. The system gives a page when
// it is touched first, in as much time as several bodies take in a step: a pyramid of boxes waited
// for pages for a third of its first step.

#include "dynamics/collider_shapes.h"
#include "steppers/small_steps/state.h"

// What is expected of a shape: pairs of boxes, and manifolds with their points. Balls lie on each
// other by one point each, boxes stand on two others. If that is too little, steps ask for more.
enum { pairsPerShape = 3, boxManifolds = 2, boxPoints = 4 };

static void prepareBodies(tpSmallSteps* state, const tpAllocator* allocator, int begin, int end) {
    int last = end + 1; // nobody is one more
    (void)(TP_PREPARE(allocator, state->numbers, begin, end) &&
           TP_PREPARE(allocator, state->bodies, begin, last) &&
           TP_PREPARE(allocator, state->ways, begin, last) &&
           TP_PREPARE(allocator, state->motionMarks, begin, last));
}

static void preparePairs(tpSmallSteps* state, const tpAllocator* allocator, int begin, int end) {
    int first = pairsPerShape * begin, last = pairsPerShape * end;
    (void)(TP_PREPARE(allocator, state->fat.pairs, first, last) &&
           TP_PREPARE(allocator, state->pairs, first, last));
}

// Adds what the shapes that have come since the last call let expect.
static void expectShapes(const tpSystem* system, tpExpected* expected) {
    for (; expected->shapes < system->shapes.count; ++expected->shapes) {
        const tpShape* shape = &system->shapes.data[expected->shapes];
        if (!shape->isLive || !(system->bodies.data[shape->body].inverseMass > 0.0)) {
            continue;
        }
        bool isBall = shape->form->geometry.type == tp_sphereShape;
        expected->manifolds += isBall ? 1 : boxManifolds;
        expected->points += isBall ? 1 : boxManifolds * boxPoints;
    }
}

void tpSmallSteps_Prepare(tpSystem* system, void* state, int begin, int end) {
    tpSmallSteps* made = state;
    const tpAllocator* allocator = &system->allocator;
    // If memory runs out, a step will say so.
    (void)tpSystem_NeedCollider(system);
    prepareBodies(made, allocator, begin, end);
    tpFatPairs_Prepare(&made->fat, begin, end);
    preparePairs(made, allocator, begin, end);
    tpExpected before = made->expected;
    expectShapes(system, &made->expected);
    tpPackRoom room = { .bodies = { begin, end + 1 },
                        .manifolds = { before.manifolds, made->expected.manifolds },
                        .points = made->expected.points };
    tpPackStore_Prepare(&made->store, &room);
    (void)TP_PREPARE(allocator, made->shapes, before.manifolds, made->expected.manifolds);
}
