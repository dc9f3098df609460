// Pairs of shapes in small steps: they come and go during a run.

#include "steppers/small_steps/search.h"
#include "steppers/small_steps/state.h"
#include "support/floor.h"
#include "tippe/joints.h"
#include "world/world.h"

static bool isWithin(const tpBounds* bounds, tpVec3 p) {
    return p.x >= bounds->lower.x && p.y >= bounds->lower.y && p.z >= bounds->lower.z &&
           p.x <= bounds->upper.x && p.y <= bounds->upper.y && p.z <= bounds->upper.z;
}

// The box of a step holds all that the need of a pair expects of a body, wherever it is on its way,
// and nothing beside the way: what falls side by side does not meet.
static void boxesGoAlongTheWay(void** state) {
    (void)state;
    tpRandom random = { 7 };
    tpBounds own = { { -1.0, -2.0, -3.0 }, { 1.0, 2.0, 3.0 } };
    for (int trial = 0; trial < 500; ++trial) {
        tpVec3 ahead = randomVec3(&random, -2.0, 2.0);
        tpBodyWay way = { .ahead = { (float)ahead.x, (float)ahead.y, (float)ahead.z },
                          .turning = (float)randomBetween(&random, 0.0, 0.5) };
        way.margin = (float)(tpLength(ahead) + way.turning + 0.1);
        tpBounds box = tpSweepBounds(own, &way);
        double aside = way.turning + 0.125 * way.margin, part = randomBetween(&random, 0.0, 1.0);
        tpVec3 off = tpScale(aside * 0.999999, tpNormalize(randomVec3(&random, -1.0, 1.0)));
        tpVec3 lower = tpAdd(tpMulAdd(own.lower, part, ahead), off);
        assert_true(isWithin(&box, lower));
        assert_true(isWithin(&box, tpAdd(tpMulAdd(own.upper, part, ahead), off)));
        // Each axis is as long as that asks for.
        CHECK_NEAR(box.upper.x - box.lower.x, 2.0 + fabs(ahead.x) + 2.0 * aside, 1e-6);
        CHECK_NEAR(box.upper.y - box.lower.y, 4.0 + fabs(ahead.y) + 2.0 * aside, 1e-6);
        CHECK_NEAR(box.upper.z - box.lower.z, 6.0 + fabs(ahead.z) + 2.0 * aside, 1e-6);
    }
    // Never larger than bodies may move.
    tpBodyWay fast = { .turning = 1.0f, .margin = 1.0f };
    CHECK_NEAR(tpSweepBounds(own, &fast).upper.x, 2.0, 1e-12);
}

static tpBodyId addBox(tpWorld* world, double x, double z) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(x, 0.0, z);
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.density = 1.0;
    tpBox box = { { 1.0, 1.0, 1.0 } };
    tpCreateBox(world, body, &shape, &box, NULL);
    return body;
}

static int countBetween(const tpWorld* world, tpBodyId a, tpBodyId b) {
    int count, found = 0;
    const tpContactInfo* list = tpWorld_GetContacts(world, &count);
    for (int i = 0; i < count; ++i) {
        bool isSame = list[i].bodyA.slot == a.slot && list[i].bodyB.slot == b.slot;
        bool isTurned = list[i].bodyA.slot == b.slot && list[i].bodyB.slot == a.slot;
        found += isSame || isTurned ? 1 : 0;
    }
    return found;
}

static void run(tpWorld* world, int steps) {
    for (int i = 0; i < steps; ++i) {
        tpWorld_Step(world, 0.01);
    }
}

typedef struct Stack {
    tpWorld* world;
    tpBodyId lower, upper;
} Stack;

static Stack makeStack(void) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    Stack stack = { .world = tpCreateWorld(&def) };
    addMaterial(stack.world, 0.5, 0.0);
    addFloor(stack.world, tpMakeVec3(0.0, 0.0, 1.0));
    stack.lower = addBox(stack.world, 0.0, 0.5);
    stack.upper = addBox(stack.world, 0.0, 1.5);
    run(stack.world, 20);
    assert_int_equal(countBetween(stack.world, stack.lower, stack.upper), 4);
    return stack;
}

// Bodies that come and go elsewhere leave a stack as it is; one that comes above it is met.
static void newBodiesAreMet(void** state) {
    (void)state;
    Stack stack = makeStack();
    tpBodyId far = addBox(stack.world, 30.0, 0.5);
    run(stack.world, 1);
    assert_int_equal(countBetween(stack.world, stack.lower, stack.upper), 4);
    tpDestroyBody(stack.world, far);
    tpBodyId third = addBox(stack.world, 0.0, 2.5);
    run(stack.world, 60);
    assert_int_equal(countBetween(stack.world, stack.lower, stack.upper), 4);
    assert_int_equal(countBetween(stack.world, stack.upper, third), 4);
    CHECK_NEAR(tpBody_GetPosition(stack.world, third).z, 2.5, 0.01);
    // Another body takes the number of one that is gone, somewhere else.
    tpDestroyBody(stack.world, stack.upper);
    addBox(stack.world, 10.0, 0.5);
    run(stack.world, 80);
    assert_int_equal(countBetween(stack.world, stack.lower, third), 4);
    CHECK_NEAR(tpBody_GetPosition(stack.world, third).z, 1.5, 0.01);
    tpDestroyWorld(stack.world);
}

// Pairs that may not collide any more let go at once, and meet again once they may.
static void exclusionsAreFollowed(void** state) {
    (void)state;
    Stack stack = makeStack();
    tpBody_SetCollide(stack.world, stack.lower, stack.upper, false, NULL);
    run(stack.world, 10);
    assert_int_equal(countBetween(stack.world, stack.lower, stack.upper), 0);
    CHECK_NEAR(tpBody_GetVelocity(stack.world, stack.upper).z, -0.981, 0.02);
    tpBody_SetCollide(stack.world, stack.lower, stack.upper, true, NULL);
    run(stack.world, 1);
    assert_true(countBetween(stack.world, stack.lower, stack.upper) > 0);
    tpDestroyWorld(stack.world);

    // A joint keeps its bodies from colliding while it is there.
    stack = makeStack();
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_ballJoint;
    def.bodyA = stack.lower;
    def.bodyB = stack.upper;
    def.anchorA = def.anchorB = tpMakeVec3(0.0, 0.0, 1.0);
    def.collide = false;
    tpJointId joint = tpCreateJoint(stack.world, &def, NULL);
    run(stack.world, 2);
    assert_int_equal(countBetween(stack.world, stack.lower, stack.upper), 0);
    tpDestroyJoint(stack.world, joint);
    run(stack.world, 2);
    assert_int_equal(countBetween(stack.world, stack.lower, stack.upper), 4);
    tpDestroyWorld(stack.world);
}

static bool refuse(const tpWorld* world, tpShapeId a, tpShapeId b, void* context) {
    (void)world;
    (void)a;
    (void)b;
    return *(const bool*)context;
}

// A filter is asked for all pairs, also for those that touch already; without it they may again.
static void filtersAreAsked(void** state) {
    (void)state;
    Stack stack = makeStack();
    bool allows = false;
    tpWorld_SetShapeFilter(stack.world, refuse, &allows);
    run(stack.world, 1);
    assert_int_equal(countBetween(stack.world, stack.lower, stack.upper), 0);
    tpWorld_SetShapeFilter(stack.world, NULL, NULL);
    run(stack.world, 1);
    assert_int_equal(countBetween(stack.world, stack.lower, stack.upper), 4);
    tpDestroyWorld(stack.world);
}

// A box that lies on the floor is replaced by one half as high, in the same place of the list of
// shapes: it falls at once, and lies on that.
static void replacedShapesAreLookedUpAgain(void** state) {
    (void)state;
    tpWorld* world = worldWithFloor(tp_smallSteps, 0.5, 0.0);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.position.z = 0.5;
    bodyDef.hasMass = true;
    bodyDef.mass = (tpMassProperties){ 1.0, tpZeroVec3(), tpDiagonal(tpMakeVec3(0.1, 0.1, 0.1)) };
    tpBodyId body = tpCreateBody(world, &bodyDef, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    const tpBox high = { .size = { 1.0, 1.0, 1.0 } }, low = { .size = { 1.0, 1.0, 0.5 } };
    tpShapeId first = tpCreateBox(world, body, &shapeDef, &high, NULL);
    for (int k = 0; k < 20; ++k) {
        tpWorld_Step(world, 1.0 / 240.0);
    }
    CHECK_NEAR(tpBody_GetPosition(world, body).z, 0.5, 1e-4);
    tpDestroyShape(world, first);
    tpShapeId second = tpCreateBox(world, body, &shapeDef, &low, NULL);
    assert_int_equal(second.slot, first.slot);
    for (int k = 1; k <= 48; ++k) {
        tpWorld_Step(world, 1.0 / 240.0);
        double fall = 0.5 * 9.81 * (k / 240.0) * (k / 240.0);
        CHECK_NEAR(tpBody_GetPosition(world, body).z, 0.5 - fall, 1e-3);
    }
    for (int k = 0; k < 72; ++k) {
        tpWorld_Step(world, 1.0 / 240.0);
    }
    CHECK_NEAR(tpBody_GetPosition(world, body).z, 0.25, 1e-4);
    tpDestroyWorld(world);
}

// Points where the side of a cylinder or capsule crosses the edges of a bar are as far from level
// as it leans: a manifold that slides by d is off by d times that.
static void crossingsKnowTheirTilt(void** state) {
    (void)state;
    const double angles[] = { -8e-3, -4e-3, -1e-3, 1e-3, 4e-3, 8e-3 };
    for (size_t k = 0; k < 2 * sizeof(angles) / sizeof(angles[0]); ++k) {
        double angle = angles[k / 2], half = 0.1, radius = 0.05;
        tpWorldDef worldDef = tpDefaultWorldDef();
        worldDef.stepper = tp_smallSteps;
        worldDef.gravity = tpMakeVec3(0.0, 0.0, -1e-6);
        tpWorld* world = tpCreateWorld(&worldDef);
        tpShapeDef shape = tpDefaultShapeDef();
        tpBodyDef def = tpDefaultBodyDef();
        def.kind = tp_fixedBody;
        tpCreateBox(world, tpCreateBody(world, &def, NULL), &shape,
                    &(tpBox){ { 2.0 * half, 2.0, 0.2 } }, NULL);
        def = tpDefaultBodyDef();
        // Its lower end just touches one edge.
        def.position = tpMakeVec3(0.0, 0.0, 0.1 + radius + half * fabs(angle));
        def.rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), angle);
        tpBodyId body = tpCreateBody(world, &def, NULL);
        if (k % 2 == 0) {
            tpCreateCylinder(world, body, &shape, &(tpCylinder){ radius, 1.0, { 1.0, 0.0, 0.0 } },
                             NULL);
        } else {
            tpCreateCapsule(world, body, &shape, &(tpCapsule){ radius, 1.0, { 1.0, 0.0, 0.0 } },
                            NULL);
        }
        tpWorld_Step(world, 1e-3);
        const tpSmallSteps* small = world->stepperState;
        int count = 0;
        for (int r = 0; r < small->store.runs.count; ++r) {
            const tpSoftRun* run = &small->store.runs.data[r];
            for (int lane = 0; run->used >> lane != 0; ++lane) {
                if ((run->used >> lane & 1) != 0 && run->points[lane] >= 2) {
                    double tilt = (double)run->tilt[lane];
                    tilt -= tilt >= (double)tp_alongTilt ? (double)tp_alongTilt : 0.0;
                    CHECK_NEAR(tilt, fabs(angle), 0.01 * fabs(angle));
                    count += 1;
                }
            }
        }
        assert_int_equal(count, 1);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replacedShapesAreLookedUpAgain),
        cmocka_unit_test(boxesGoAlongTheWay),
        cmocka_unit_test(newBodiesAreMet),
        cmocka_unit_test(exclusionsAreFollowed),
        cmocka_unit_test(filtersAreAsked),
        cmocka_unit_test(crossingsKnowTheirTilt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
