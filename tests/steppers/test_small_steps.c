// Steps in parts, for real time: fewer digits, the same laws.

#include "support/check.h"
#include "support/failing_allocator.h"
#include "tippe/world.h"

static tpWorld* makeWorld(int threads, double friction, double restitution, const char* parts) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.threadCount = threads;
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = friction;
    material.restitution = restitution;
    assert_int_equal(tpCreateMaterial(world, &material, NULL), 1);
    assert_int_equal(tpWorld_SetOption(world, "substeps", parts, NULL), tp_success);
    return world;
}

static void addFloor(tpWorld* world, tpVec3 normal) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_fixedBody;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpPlane plane = { normal, 0.0 };
    tpCreatePlane(world, tpCreateBody(world, &def, NULL), &shape, &plane, NULL);
}

static tpBodyId addBox(tpWorld* world, tpVec3 place, tpQuat rotation) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.rotation = rotation;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.density = 1.0;
    tpBox box = { { 1.0, 1.0, 1.0 } };
    tpCreateBox(world, body, &shape, &box, NULL);
    return body;
}

static tpBodyId addBall(tpWorld* world, tpVec3 place, tpVec3 velocity) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    def.velocity = velocity;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.density = 1.0;
    tpSphere ball = { 0.5 };
    tpCreateSphere(world, body, &shape, &ball, NULL);
    return body;
}

// A wall of bricks, twelve rows of forty: enough for threads to be woken.
static tpWorld* makeWall(int threads) {
    tpWorld* world = makeWorld(threads, 0.5, 0.0, "4");
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    for (int row = 0; row < 12; ++row) {
        for (int k = 0; k < 40; ++k) {
            addBox(world, tpMakeVec3(1.02 * k + 0.5 * (row % 2), 0.0, row + 0.5), tpIdentityQuat());
        }
    }
    addBall(world, tpMakeVec3(8.0, -3.0, 6.0), tpMakeVec3(0.0, 20.0, 0.0));
    return world;
}

static void threadsGiveTheSameBits(void** state) {
    (void)state;
    uint64_t hashes[3];
    for (int threads = 1; threads <= 3; ++threads) {
        tpWorld* world = makeWall(threads);
        for (int i = 0; i < 40; ++i) {
            tpWorld_Step(world, 1.0 / 60.0);
        }
        hashes[threads - 1] = tpWorld_HashState(world);
        tpDestroyWorld(world);
    }
    assert_true(hashes[0] == hashes[1]);
    assert_true(hashes[0] == hashes[2]);
}

// The same for enough bodies to be swept in blocks, and for a tree that is built by all threads.
static void blocksGiveTheSameBits(void** state) {
    (void)state;
    enum { side = 14 };
    uint64_t hashes[3];
    int contacts[3];
    for (int threads = 1; threads <= 3; ++threads) {
        tpWorld* world = makeWorld(threads, 0.5, 0.2, "3");
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        tpRandom random = { 5 };
        for (int i = 0; i < side * side * side; ++i) {
            tpVec3 place = tpMakeVec3(i % side, i / side % side, 0.5 + i / (side * side));
            place = tpMulAdd(randomVec3(&random, -1e-3, 1e-3), 1.002, place);
            addBall(world, place, randomVec3(&random, -1.0, 1.0));
        }
        for (int i = 0; i < 6; ++i) {
            contacts[threads - 1] = tpWorld_Step(world, 1.0 / 120.0).contactCount;
        }
        hashes[threads - 1] = tpWorld_HashState(world);
        tpDestroyWorld(world);
    }
    assert_true(contacts[0] > 1000);
    for (int k = 1; k < 3; ++k) {
        assert_true(hashes[0] == hashes[k]);
        assert_int_equal(contacts[0], contacts[k]);
    }
}

// A platter that sinks and turns under all blocks: each sees it where it is in the block's own
// substep, however far other threads are.
static void driftingFloorsGiveTheSameBits(void** state) {
    (void)state;
    enum { side = 26, steps = 8 };
    uint64_t hashes[3];
    for (int threads = 1; threads <= 3; ++threads) {
        tpWorld* world = makeWorld(threads, 0.5, 0.0, "4");
        tpBodyDef def = tpDefaultBodyDef();
        def.kind = tp_kinematicBody;
        def.position = tpMakeVec3(0.0, 0.0, -0.5);
        def.velocity = tpMakeVec3(0.3, 0.0, -0.2);
        def.angularVelocity = tpMakeVec3(0.0, 0.05, 0.8);
        tpShapeDef shape = tpDefaultShapeDef();
        tpBox platter = { { 60.0, 60.0, 1.0 } };
        tpCreateBox(world, tpCreateBody(world, &def, NULL), &shape, &platter, NULL);
        for (int i = 0; i < side * side; ++i) {
            tpVec3 place =
                tpMakeVec3(1.02 * (i % side - side / 2), 1.02 * (i / side - side / 2), 0.5);
            addBall(world, place, tpMakeVec3(0.0, 0.0, -0.3));
        }
        int contacts = 0;
        for (int i = 0; i < steps; ++i) {
            contacts = tpWorld_Step(world, 1.0 / 60.0).contactCount;
        }
        assert_true(contacts > 300);
        hashes[threads - 1] = tpWorld_HashState(world);
        tpDestroyWorld(world);
    }
    assert_true(hashes[0] == hashes[1]);
    assert_true(hashes[0] == hashes[2]);
}

static void snapshotsContinueBitForBit(void** state) {
    (void)state;
    tpWorld* world = makeWall(1);
    for (int i = 0; i < 20; ++i) {
        tpWorld_Step(world, 1.0 / 60.0);
    }
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    uint64_t hashes[2];
    for (int run = 0; run < 2; ++run) {
        assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
        for (int i = 0; i < 20; ++i) {
            tpWorld_Step(world, 1.0 / 60.0);
        }
        hashes[run] = tpWorld_HashState(world);
    }
    assert_true(hashes[0] == hashes[1]);
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(world);
}

// The list of contacts is made when it is asked for: it has as many as the report says, stays the
// same, outlives the stepper, and goes with a body.
static void contactsAreListedOnDemand(void** state) {
    (void)state;
    tpWorld* world = makeWall(1);
    for (int i = 0; i < 30; ++i) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
        int count = 0, again = 0;
        if (i % 7 == 0 || i == 29) {
            const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
            assert_int_equal(count, report.contactCount);
            assert_true(count > 1000);
            double load = contacts[count / 2].normalImpulse;
            assert_ptr_equal(tpWorld_GetContacts(world, &again), contacts);
            assert_int_equal(again, count);
            assert_true(contacts[count / 2].normalImpulse == load);
            for (int k = 0; k < count; ++k) {
                assert_true(tpBody_IsValid(world, contacts[k].bodyA));
                bool carries = contacts[k].normalImpulse > 0.0;
                assert_true(carries == (contacts[k].state != tp_separated));
                assert_true(carries || contacts[k].gap <= 1e-6);
            }
        }
    }
    int count;
    int promised = tpWorld_Step(world, 1.0 / 60.0).contactCount;
    assert_int_equal(tpWorld_SetStepper(world, tp_anitescu), tp_success);
    tpWorld_GetContacts(world, &count);
    assert_int_equal(count, promised);
    assert_int_equal(tpWorld_SetStepper(world, tp_smallSteps), tp_success);
    tpWorld_Step(world, 1.0 / 60.0);
    tpDestroyBody(world, tpWorld_GetBody(world, 5));
    tpWorld_GetContacts(world, &count);
    assert_int_equal(count, 0);
    tpDestroyWorld(world);
}

// How far the top of a stack of boxes has sunk after ten seconds; what the floor carries is its
// weight.
static double sinkOfStack(int boxes, const char* parts) {
    tpWorld* world = makeWorld(1, 0.5, 0.0, parts);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyId top = { 0, 0 };
    for (int i = 0; i < boxes; ++i) {
        top = addBox(world, tpMakeVec3(0.0, 0.0, i + 0.5), tpIdentityQuat());
    }
    for (int i = 0; i < 600; ++i) {
        tpWorld_Step(world, 1.0 / 60.0);
    }
    tpVec3 place = tpBody_GetPosition(world, top);
    CHECK_BELOW(fabs(place.x) + fabs(place.y), 5e-3);
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    double weight = 0.0;
    for (int i = 0; i < count; ++i) {
        // The floor is the first body.
        bool isFloor = contacts[i].bodyA.slot == 1 || contacts[i].bodyB.slot == 1;
        weight += isFloor ? contacts[i].normalImpulse : 0.0;
    }
    CHECK_NEAR(weight * 60.0, boxes * 9.81, 0.001 * boxes * 9.81);
    tpDestroyWorld(world);
    return boxes - 0.5 - place.z;
}

// A stack stands on soft contacts, whose overlap is the square of the part's length times the load.
static void stacksStand(void** state) {
    (void)state;
    double four = sinkOfStack(10, "4"), eight = sinkOfStack(10, "8");
    CHECK_BELOW(four, 0.03);
    CHECK_NEAR(eight / four, 0.25, 0.03);
}

// On a slope a block holds below the angle of friction and slides with g (sin - mu cos) above it.
static void blocksOnSlopes(void** state) {
    (void)state;
    double angle = 20.0 * 3.14159265358979323846 / 180.0;
    double mus[2] = { 0.5, 0.2 };
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makeWorld(1, mus[k], 0.0, "4");
        tpVec3 normal = tpMakeVec3(sin(angle), 0.0, cos(angle));
        tpVec3 down = tpMakeVec3(cos(angle), 0.0, -sin(angle));
        addFloor(world, normal);
        tpQuat tilt = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), angle);
        tpBodyId block = addBox(world, tpScale(0.5, normal), tilt);
        tpVec3 start = tpBody_GetPosition(world, block);
        double way = 0.0, before = 0.0;
        for (int i = 0; i < 120; ++i) {
            tpWorld_Step(world, 1.0 / 60.0);
            before = i == 60 ? way : before;
            way = tpDot(down, tpSub(tpBody_GetPosition(world, block), start));
        }
        double slope = 9.81 * (sin(angle) - mus[k] * cos(angle));
        if (slope > 0.0) {
            CHECK_NEAR(way, 0.5 * slope * 4.0, 0.02);
        } else {
            // It has settled on its springs in the first second.
            CHECK_NEAR(way - before, 0.0, 1e-6);
        }
        tpDestroyWorld(world);
    }
}

// A heap of boxes that have landed on each other, in memory that may run out.
static tpWorld* makeHeap(const tpAllocator* allocator) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.allocator = *allocator;
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = 0.5;
    assert_int_equal(tpCreateMaterial(world, &material, NULL), 1);
    assert_int_equal(tpWorld_SetOption(world, "substeps", "4", NULL), tp_success);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    for (int i = 0; i < 12; ++i) {
        tpVec3 place = tpMakeVec3(0.6 * (i % 3), 0.3 * (i % 2), 0.5 + 1.01 * (i / 3));
        addBox(world, place, tpIdentityQuat());
    }
    return world;
}

// A step that finds no memory is undone and says so; the next one goes on.
static void missingMemoryUndoesTheStep(void** state) {
    (void)state;
    for (int n = 1;; ++n) {
        tpFailingAllocator heap = { 0 };
        tpAllocator allocator = tpMakeFailingAllocator(&heap);
        tpWorld* world = makeHeap(&allocator);
        heap.requests = 0;
        heap.failAt = n;
        int undone = 0, count;
        for (int i = 0; i < 5; ++i) {
            uint64_t before = tpWorld_HashState(world);
            tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
            undone += report.undone;
            assert_true(!report.undone || tpWorld_HashState(world) == before);
            tpWorld_GetContacts(world, &count);
        }
        bool isDone = heap.requests < n;
        assert_true(undone <= 1 && (!isDone || undone == 0));
        assert_true(tpWorld_GetStepCount(world) == 5 - undone);
        tpDestroyWorld(world);
        assert_int_equal(heap.outstanding, 0);
        if (isDone) {
            assert_true(n > 10);
            break;
        }
    }
}

// Once warm, steps and lists of contacts ask for no memory.
static void warmStepsAllocateNothing(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    tpWorld* world = makeHeap(&allocator);
    for (int i = 0; i < 160; ++i) {
        heap.requests = i < 100 ? 0 : (long long)heap.requests;
        int count;
        tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
        tpWorld_GetContacts(world, &count);
        assert_int_equal(count, report.contactCount);
    }
    assert_int_equal(heap.requests, 0);
    tpDestroyWorld(world);
    assert_int_equal(heap.outstanding, 0);
}

// In real time a solve that is not at its tolerance has ended on its budget, not failed; a lone
// ball's gets there.
static void endsOnBudgetsAreNoFailures(void** state) {
    (void)state;
    for (int balls = 1; balls <= 12; balls += 11) {
        tpWorld* world = makeWorld(1, 0.5, 0.0, "4");
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        for (int i = 0; i < balls; ++i) {
            addBall(world, tpMakeVec3(0.0, 0.0, i + 0.5), tpZeroVec3());
        }
        tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
        for (int i = 0; i < 10; ++i) {
            report = tpWorld_Step(world, 1.0 / 60.0);
            assert_int_equal(report.failureCount, 0);
            assert_int_equal(tpStepReport_GetFigure(&report, "budget_ends"),
                             report.converged ? 0 : 1);
        }
        assert_true(report.converged == (balls == 1));
        assert_true(balls == 1 || report.residual > 1e-6);
        tpDestroyWorld(world);
    }
}

// Two balls: momentum is kept to rounding, and they part with e times the speed they met with.
static void ballsBounce(void** state) {
    (void)state;
    tpWorld* world = makeWorld(1, 0.3, 0.5, "4");
    tpWorld_SetGravity(world, tpZeroVec3());
    tpBodyId a = addBall(world, tpMakeVec3(-1.0, 0.0, 0.0), tpMakeVec3(2.0, 0.0, 0.0));
    tpBodyId b = addBall(world, tpMakeVec3(1.0, 0.0, 0.0), tpMakeVec3(-1.0, 0.0, 0.0));
    tpVec3 before = tpWorld_GetLinearMomentum(world);
    for (int i = 0; i < 60; ++i) {
        tpWorld_Step(world, 1.0 / 60.0);
    }
    double parting = tpBody_GetVelocity(world, b).x - tpBody_GetVelocity(world, a).x;
    CHECK_NEAR(parting, 1.5, 1e-9);
    CHECK_VEC3(tpWorld_GetLinearMomentum(world), before, 1e-12);
    tpDestroyWorld(world);
}

// What does not meet in a step does not bounce in it, however near its margins bring it.
static void bouncesWaitForTheMeeting(void** state) {
    (void)state;
    tpWorld* world = makeWorld(1, 0.0, 0.5, "4");
    tpWorld_SetGravity(world, tpZeroVec3());
    tpBodyId upper = addBall(world, tpMakeVec3(0.0, 0.0, 1.15), tpMakeVec3(0.0, 0.0, -12.0));
    tpBodyId lower = addBall(world, tpZeroVec3(), tpMakeVec3(0.0, 0.0, -6.0));
    tpWorld_Step(world, 1.0 / 60.0);
    CHECK_NEAR(tpBody_GetVelocity(world, upper).z, -12.0, 1e-12);
    tpWorld_Step(world, 1.0 / 60.0);
    double parting = tpBody_GetVelocity(world, upper).z - tpBody_GetVelocity(world, lower).z;
    CHECK_NEAR(parting, 3.0, 1e-9);
    tpDestroyWorld(world);
}

// A body that tumbles freely keeps momentum and energy to rounding.
static void tumbleFreely(double speed) {
    tpWorld* world = makeWorld(1, 0.0, 0.0, "4");
    tpWorld_SetGravity(world, tpZeroVec3());
    tpBodyDef def = tpDefaultBodyDef();
    def.hasMass = true;
    def.mass.mass = 1.0;
    def.mass.inertia = tpDiagonal(tpMakeVec3(0.02, 0.035, 0.05));
    def.angularVelocity = tpScale(speed, tpMakeVec3(2.0, 9.0, 1.0));
    tpCreateBody(world, &def, NULL);
    tpVec3 momentum = tpWorld_GetAngularMomentum(world, tpZeroVec3());
    double energy = tpWorld_GetKineticEnergy(world);
    for (int i = 0; i < 240; ++i) {
        tpWorld_Step(world, 1.0 / 60.0);
    }
    CHECK_VEC3(tpWorld_GetAngularMomentum(world, tpZeroVec3()), momentum,
               1e-12 * tpLength(momentum));
    CHECK_NEAR(tpWorld_GetKineticEnergy(world), energy, 1e-12 * energy);
    tpDestroyWorld(world);
}

static void freeRotationIsExact(void** state) {
    (void)state;
    tumbleFreely(1.0);
    // So slowly that contacts would leave the flight out.
    tumbleFreely(5e-6);
}

// A flat box on a floor without friction goes on turning, fast or slowly.
static void boxesTurnOnTheSpot(void** state) {
    (void)state;
    static const double speeds[] = { 1e-5, 5e-5, 7e-5, 0.1 };
    for (int k = 0; k < 4; ++k) {
        tpWorld* world = makeWorld(1, 0.0, 0.0, "4");
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(0.0, 0.0, 0.1);
        def.angularVelocity = tpMakeVec3(0.0, 0.0, speeds[k]);
        tpBodyId body = tpCreateBody(world, &def, NULL);
        tpShapeDef shape = tpDefaultShapeDef();
        shape.material = 1;
        tpCreateBox(world, body, &shape, &(tpBox){ { 0.3, 0.5, 0.2 } }, NULL);
        for (int i = 0; i < 300; ++i) {
            tpWorld_Step(world, 1.0 / 60.0);
        }
        CHECK_NEAR(tpBody_GetAngularVelocity(world, body).z, speeds[k], 2e-10);
        CHECK_NEAR(tpQuatLog(tpBody_GetRotation(world, body)).z, 5.0 * speeds[k], 2e-8);
        tpDestroyWorld(world);
    }
}

// Forces without friction from a level floor have no moment about the vertical, however the body
// turns on it.
static void spinOnAFloorIsKept(void** state) {
    (void)state;
    static const char* const substeps[] = { "4", "16" };
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makeWorld(1, 0.0, 0.0, substeps[k]);
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(0.0, 0.0, 0.03331793852516995);
        def.rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), 1.2);
        def.angularVelocity = tpMakeVec3(0.0, 0.0, 60.0);
        tpBodyId body = tpCreateBody(world, &def, NULL);
        tpShapeDef shape = tpDefaultShapeDef();
        shape.material = 1;
        tpEllipsoid egg = { { 0.03, 0.03, 0.05 } };
        tpGeometry geometry;
        assert_int_equal(tpMakeEllipsoid(&egg, tpIdentityPose(), &geometry, NULL), tp_success);
        tpCreateShape(world, body, &shape, &geometry, NULL);
        double spin = tpWorld_GetAngularMomentum(world, tpBody_GetPosition(world, body)).z;
        int touched = 0;
        for (int i = 0; i < 240; ++i) {
            touched += tpWorld_Step(world, 1.0 / 240.0).contactCount;
        }
        assert_true(touched > 200);
        double left = tpWorld_GetAngularMomentum(world, tpBody_GetPosition(world, body)).z;
        CHECK_NEAR(left, spin, 1e-11 * spin);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threadsGiveTheSameBits),
        cmocka_unit_test(blocksGiveTheSameBits),
        cmocka_unit_test(driftingFloorsGiveTheSameBits),
        cmocka_unit_test(snapshotsContinueBitForBit),
        cmocka_unit_test(contactsAreListedOnDemand),
        cmocka_unit_test(stacksStand),
        cmocka_unit_test(blocksOnSlopes),
        cmocka_unit_test(missingMemoryUndoesTheStep),
        cmocka_unit_test(warmStepsAllocateNothing),
        cmocka_unit_test(endsOnBudgetsAreNoFailures),
        cmocka_unit_test(ballsBounce),
        cmocka_unit_test(bouncesWaitForTheMeeting),
        cmocka_unit_test(freeRotationIsExact),
        cmocka_unit_test(boxesTurnOnTheSpot),
        cmocka_unit_test(spinOnAFloorIsKept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
