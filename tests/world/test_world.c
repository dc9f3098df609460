// The public object: ids, snapshots, failing memory, forces and free motion.

#include "tippe/joints.h"

#include <string.h>

#include "support/check.h"
#include "support/failing_allocator.h"

static tpBodyId addBall(tpWorld* world, tpVec3 position, double radius) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    tpSphere sphere = { radius };
    tpCreateSphere(world, body, &shapeDef, &sphere, NULL);
    return body;
}

static void addFloor(tpWorld* world, tpMaterialId material) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_fixedBody;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = material;
    tpPlane plane = { { 0.0, 0.0, 1.0 }, 0.0 };
    tpCreatePlane(world, body, &shapeDef, &plane, NULL);
}

static tpBodyId addBox(tpWorld* world, tpVec3 position, tpVec3 size, tpMaterialId material) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = material;
    tpBox box = { size };
    tpCreateBox(world, body, &shapeDef, &box, NULL);
    return body;
}

// Ids -------------------------------------------------------------------------------------------

static void staleIdsAreRecognised(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpBodyId first = addBall(world, tpZeroVec3(), 0.1);
    tpShapeId shape = tpBody_GetShape(world, first, 0);
    assert_true(tpBody_IsValid(world, first));
    assert_true(tpShape_IsValid(world, shape));
    tpDestroyBody(world, first);
    assert_false(tpBody_IsValid(world, first));
    assert_false(tpShape_IsValid(world, shape));
    tpBodyId second = addBall(world, tpZeroVec3(), 0.1);
    assert_int_equal(second.slot, first.slot); // the slot is used again
    assert_int_not_equal(second.generation, first.generation);
    assert_false(tpBody_IsValid(world, first));
    tpBodyId none = { 0, 0 };
    assert_false(tpBody_IsValid(world, none));
    tpDestroyWorld(world);
}

static void millionsComeAndGo(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpWorldDef def = tpDefaultWorldDef();
    def.allocator = tpMakeFailingAllocator(&heap);
    tpWorld* world = tpCreateWorld(&def);
    tpRandom random = { 3 };
    tpBodyId alive[64];
    int count = 0;
    for (int i = 0; i < 1000000; ++i) {
        if (count < 64 && (count == 0 || (randomBits(&random) & 1))) {
            tpBodyDef bodyDef = tpDefaultBodyDef();
            alive[count++] = tpCreateBody(world, &bodyDef, NULL);
        } else {
            int index = (int)(randomBits(&random) % (uint64_t)count);
            tpDestroyBody(world, alive[index]);
            assert_false(tpBody_IsValid(world, alive[index]));
            alive[index] = alive[--count];
        }
    }
    assert_int_equal(tpWorld_GetBodyCount(world), count);
    for (int i = 0; i < count; ++i) {
        assert_true(tpBody_IsValid(world, alive[i]));
    }
    tpDestroyWorld(world);
    assert_int_equal(heap.outstanding, 0);
    assert_int_equal(heap.bytes, 0);
}

// Snapshots -------------------------------------------------------------------------------------

static tpWorld* makeTumblingPile(tpStepperId stepper) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    tpWorld* world = tpCreateWorld(&def);
    assert_int_equal(tpWorld_SetOption(world, "impact_law", "newton", NULL), tp_success);
    tpMaterialDef materialDef = tpDefaultMaterialDef();
    materialDef.friction.staticCoefficient = materialDef.friction.dynamicCoefficient = 0.4;
    materialDef.restitution = 0.3;
    tpMaterialId material = tpCreateMaterial(world, &materialDef, NULL);
    addFloor(world, material);
    tpRandom random = { 11 };
    for (int i = 0; i < 5; ++i) {
        tpVec3 place = tpMakeVec3(0.1 * i, 0.03 * (i % 3), 0.5 + 0.6 * i);
        tpBodyId box = addBox(world, place, tpMakeVec3(0.5, 0.4, 0.3), material);
        tpBody_SetPose(world, box, tpMakePose(place, randomRotation(&random)));
        tpBody_SetVelocity(world, box, tpZeroVec3(), randomVec3(&random, -3.0, 3.0));
    }
    return world;
}

static const tpStepperId steppers[] = {
    tp_freeFlight,         tp_stewartTrinkle, tp_anitescu,   tp_mirtichCanny, tp_benderSchmitt,
    tp_chakrabortyTrinkle, tp_penalty,        tp_smallSteps, tp_auto,
};
enum { stepperCount = sizeof(steppers) / sizeof(steppers[0]) };

// Piles are no work for `auto`, whose last place this is: tests/steppers/test_auto.c has its
// snapshots.
enum { pileCount = stepperCount - 1 };

static void snapshotsContinueBitForBit(void** state) {
    (void)state;
    for (int s = 0; s < pileCount; ++s) {
        tpWorld* world = makeTumblingPile(steppers[s]);
        for (int i = 0; i < 15; ++i) {
            tpWorld_Step(world, 1.0 / 50.0);
        }
        tpSnapshot* snapshot = tpWorld_Snapshot(world);
        assert_non_null(snapshot);
        for (int i = 0; i < 15; ++i) {
            tpWorld_Step(world, 1.0 / 50.0);
        }
        uint64_t hash = tpWorld_HashState(world);
        double time = tpWorld_GetTime(world);
        assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_success);
        for (int i = 0; i < 15; ++i) {
            tpWorld_Step(world, 1.0 / 50.0);
        }
        assert_true(tpWorld_HashState(world) == hash);
        assert_true(tpWorld_GetTime(world) == time);

        // Another set of bodies is refused, and nothing changes.
        addBall(world, tpMakeVec3(5.0, 5.0, 5.0), 0.1);
        hash = tpWorld_HashState(world);
        assert_int_equal(tpWorld_Restore(world, snapshot, NULL), tp_badInput);
        assert_true(tpWorld_HashState(world) == hash);
        tpDestroySnapshot(snapshot);
        tpDestroyWorld(world);
    }
}

static void sameSceneGivesSameBits(void** state) {
    (void)state;
    for (int s = 0; s < pileCount; ++s) {
        uint64_t hashes[2];
        for (int k = 0; k < 2; ++k) {
            tpWorld* world = makeTumblingPile(steppers[s]);
            for (int i = 0; i < 25; ++i) {
                tpWorld_Step(world, 1.0 / 50.0);
            }
            hashes[k] = tpWorld_HashState(world);
            tpDestroyWorld(world);
        }
        assert_true(hashes[0] == hashes[1]);
    }
}

// Failing memory --------------------------------------------------------------------------------

static void buildAndStep(const tpAllocator* allocator, tpStepperId stepper) {
    tpWorldDef def = tpDefaultWorldDef();
    def.allocator = *allocator;
    def.stepper = stepper;
    tpWorld* world = tpCreateWorld(&def);
    if (world == NULL) {
        return;
    }
    // Every way through a step: friction, joints, forces, a collision with restitution.
    tpWorld_SetOption(world, "impact_law", "poisson", NULL);
    tpMaterialDef materialDef = tpDefaultMaterialDef();
    materialDef.friction.staticCoefficient = materialDef.friction.dynamicCoefficient = 0.4;
    materialDef.restitution = 0.5;
    tpMaterialId material = tpCreateMaterial(world, &materialDef, NULL);
    addFloor(world, material);
    tpBodyId a = addBox(world, tpMakeVec3(0.0, 0.0, 0.5), tpMakeVec3(1.0, 1.0, 1.0), material);
    tpBodyId b = addBall(world, tpMakeVec3(0.1, 0.0, 1.5), 0.5);
    tpBodyId c = addBox(world, tpMakeVec3(3.0, 0.0, 0.12), tpMakeVec3(0.2, 0.2, 0.2), material);
    if (tpBody_IsValid(world, c)) {
        tpBody_SetVelocity(world, c, tpMakeVec3(1.0, 0.0, -2.0), tpMakeVec3(0.0, 1.0, 0.0));
    }
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_distanceJoint;
    joint.bodyA = a;
    joint.bodyB = b;
    if (tpBody_IsValid(world, a) && tpBody_IsValid(world, b)) {
        joint.anchorA = tpBody_GetPosition(world, a);
        joint.anchorB = tpBody_GetPosition(world, b);
        tpCreateJoint(world, &joint, NULL);
        tpForceDef force = tpDefaultForceDef();
        force.body = a;
        force.force = tpMakeVec3(1.0, 0.0, 0.0);
        tpCreateForce(world, &force, NULL);
    }
    for (int i = 0; i < 3; ++i) {
        tpStepReport report = tpWorld_Step(world, 0.01);
        assert_true(isfinite(report.kineticAfter));
    }
    tpSnapshot* snapshot = tpWorld_Snapshot(world);
    if (snapshot != NULL) {
        tpWorld_Restore(world, snapshot, NULL);
        tpDestroySnapshot(snapshot);
    }
    tpDestroyWorld(world);
}

// Every allocation fails once: nothing crashes, nothing leaks, numbers stay finite.
static void everyAllocationMayFail(void** state) {
    (void)state;
    for (int s = 0; s < stepperCount; ++s) {
        bool hasFailed = true;
        for (int n = 1; hasFailed && n < 100000; ++n) {
            tpFailingAllocator heap = { 0 };
            heap.failAt = n;
            tpAllocator allocator = tpMakeFailingAllocator(&heap);
            buildAndStep(&allocator, steppers[s]);
            hasFailed = heap.requests >= n;
            assert_int_equal(heap.outstanding, 0);
            assert_int_equal(heap.bytes, 0);
        }
        assert_false(hasFailed); // the last run had all it asked for
    }
}

// Motion ----------------------------------------------------------------------------------------

static void freeFallIsExact(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpBodyId ball = addBall(world, tpMakeVec3(0.0, 0.0, 10.0), 0.1);
    tpBody_SetVelocity(world, ball, tpMakeVec3(1.0, 2.0, 3.0), tpZeroVec3());
    for (int k = 1; k <= 100; ++k) {
        tpWorld_Step(world, 0.01);
        double t = 0.01 * k;
        tpVec3 exact = tpMakeVec3(t, 2.0 * t, 10.0 + 3.0 * t - 0.5 * 9.81 * t * t);
        CHECK_VEC3(tpBody_GetPosition(world, ball), exact, 1e-13);
    }
    CHECK_NEAR(tpWorld_GetTime(world), 1.0, 0.0);
    tpDestroyWorld(world);
}

// A force in a window that begins and ends inside steps gives exactly its impulse.
static void forceWindowsAreExact(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.gravity = tpZeroVec3();
    tpWorld* world = tpCreateWorld(&def);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.hasMass = true;
    bodyDef.mass.mass = 2.0;
    bodyDef.mass.inertia = tpDiagonal(tpMakeVec3(1.0, 2.0, 2.5));
    tpBodyId body = tpCreateBody(world, &bodyDef, NULL);
    tpForceDef force = tpDefaultForceDef();
    force.body = body;
    force.force = tpMakeVec3(4.0, 0.0, 0.0);
    force.from = 0.013;
    force.to = 0.427;
    tpCreateForce(world, &force, NULL);
    double work = 0.0;
    for (int k = 0; k < 60; ++k) {
        work += tpWorld_Step(world, 0.01).externalWork;
    }
    double speed = 4.0 * (0.427 - 0.013) / 2.0;
    CHECK_NEAR(tpBody_GetVelocity(world, body).x, speed, 1e-14);
    CHECK_NEAR(work, 0.5 * 2.0 * speed * speed, 1e-13);
    tpDestroyWorld(world);
}

// A spring swings at sqrt(k (1/m1 + 1/m2)), second order in h, and its energy stays.
static void springsSwing(void** state) {
    (void)state;
    double errors[2];
    for (int level = 0; level < 2; ++level) {
        tpWorldDef def = tpDefaultWorldDef();
        def.gravity = tpZeroVec3();
        tpWorld* world = tpCreateWorld(&def);
        tpBodyId bodies[2];
        for (int i = 0; i < 2; ++i) {
            tpBodyDef bodyDef = tpDefaultBodyDef();
            bodyDef.hasMass = true;
            bodyDef.mass.mass = 1.0 + i;
            bodyDef.mass.inertia = tpIdentityMat33();
            bodyDef.position = tpMakeVec3(1.2 * i, 0.0, 0.0);
            bodies[i] = tpCreateBody(world, &bodyDef, NULL);
        }
        tpJointDef spring = tpDefaultJointDef();
        spring.type = tp_springJoint;
        spring.bodyA = bodies[0];
        spring.bodyB = bodies[1];
        spring.anchorB = tpMakeVec3(1.2, 0.0, 0.0);
        spring.coordinate.spring.stiffness = 50.0;
        spring.coordinate.spring.rest = 1.0;
        assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &spring, NULL)));
        int steps = level == 0 ? 200 : 400;
        double omega = sqrt(50.0 * 1.5);
        for (int k = 0; k < steps; ++k) {
            tpWorld_Step(world, 2.0 / steps);
        }
        double length =
            tpBody_GetPosition(world, bodies[1]).x - tpBody_GetPosition(world, bodies[0]).x;
        errors[level] = fabs(length - (1.0 + 0.2 * cos(2.0 * omega)));
        tpDestroyWorld(world);
    }
    CHECK_BELOW(errors[1], 1e-3);
    CHECK_BELOW(errors[1], errors[0] / 3.5);
}

static void dampingDecaysExactly(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.gravity = tpZeroVec3();
    tpWorld* world = tpCreateWorld(&def);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.hasMass = true;
    bodyDef.mass.mass = 1.0;
    bodyDef.mass.inertia = tpIdentityMat33();
    bodyDef.velocity = tpMakeVec3(1.0, 0.0, 0.0);
    bodyDef.angularVelocity = tpMakeVec3(0.0, 2.0, 0.0);
    bodyDef.linearDamping = 0.7;
    bodyDef.angularDamping = 1.3;
    tpBodyId body = tpCreateBody(world, &bodyDef, NULL);
    for (int k = 0; k < 100; ++k) {
        tpWorld_Step(world, 0.02);
    }
    CHECK_NEAR(tpBody_GetVelocity(world, body).x, exp(-0.7 * 2.0), 1e-14);
    CHECK_NEAR(tpBody_GetAngularVelocity(world, body).y, 2.0 * exp(-1.3 * 2.0), 1e-14);
    tpDestroyWorld(world);
}

static void keyframesAreFollowed(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    const tpKeyframe keyframes[3] = {
        { 0.0, { { 0.0, 0.0, 0.0 }, { 1.0, 0.0, 0.0, 0.0 } } },
        { 1.0, { { 2.0, 0.0, 0.0 }, { sqrt(0.5), 0.0, 0.0, sqrt(0.5) } } },
        { 2.0, { { 2.0, 4.0, 0.0 }, { sqrt(0.5), 0.0, 0.0, sqrt(0.5) } } },
    };
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.kind = tp_kinematicBody;
    bodyDef.keyframes = keyframes;
    bodyDef.keyframeCount = 3;
    tpBodyId body = tpCreateBody(world, &bodyDef, NULL);
    for (int k = 0; k < 50; ++k) {
        tpWorld_Step(world, 0.01);
    }
    CHECK_VEC3(tpBody_GetPosition(world, body), tpMakeVec3(1.0, 0.0, 0.0), 1e-12);
    CHECK_VEC3(tpBody_GetVelocity(world, body), tpMakeVec3(2.0, 0.0, 0.0), 1e-9);
    CHECK_NEAR(tpBody_GetAngularVelocity(world, body).z, acos(-1.0) / 2.0, 1e-9);
    for (int k = 0; k < 250; ++k) {
        tpWorld_Step(world, 0.01);
    }
    CHECK_VEC3(tpBody_GetPosition(world, body), tpMakeVec3(2.0, 4.0, 0.0), 1e-12);
    CHECK_VEC3(tpBody_GetVelocity(world, body), tpZeroVec3(), 1e-12);
    tpDestroyWorld(world);
}

// A belt moves at its velocity whatever lies on it, and carries it along: v^2 / (2 mu g) behind.
static void beltsCarry(void** state) {
    (void)state;
    for (int s = 0; s < tp_stepperCount; ++s) {
        if (!tpStepperIsAvailable((tpStepperId)s)) {
            continue;
        }
        tpWorldDef def = tpDefaultWorldDef();
        def.stepper = (tpStepperId)s;
        tpWorld* world = tpCreateWorld(&def);
        tpMaterialDef materialDef = tpDefaultMaterialDef();
        materialDef.friction.staticCoefficient = materialDef.friction.dynamicCoefficient = 0.5;
        tpMaterialId material = tpCreateMaterial(world, &materialDef, NULL);
        tpBodyDef beltDef = tpDefaultBodyDef();
        beltDef.kind = tp_kinematicBody;
        beltDef.velocity = tpMakeVec3(1.0, 0.0, 0.0);
        tpBodyId belt = tpCreateBody(world, &beltDef, NULL);
        tpShapeDef shapeDef = tpDefaultShapeDef();
        shapeDef.material = material;
        tpBox slab = { { 6.0, 2.0, 0.2 } };
        tpCreateBox(world, belt, &shapeDef, &slab, NULL);
        tpBodyDef wheelDef = tpDefaultBodyDef();
        wheelDef.kind = tp_kinematicBody;
        wheelDef.angularVelocity = tpMakeVec3(0.0, 0.0, 2.0);
        tpBodyId wheel = tpCreateBody(world, &wheelDef, NULL);
        tpBodyId box =
            addBox(world, tpMakeVec3(0.0, 0.0, 0.15), tpMakeVec3(0.2, 0.2, 0.1), material);
        for (int k = 0; k < 100; ++k) {
            tpWorld_Step(world, 0.01);
        }
        CHECK_VEC3(tpBody_GetPosition(world, belt), tpMakeVec3(1.0, 0.0, 0.0), 1e-12);
        CHECK_NEAR(tpQuatLog(tpBody_GetRotation(world, wheel)).z, 2.0, 1e-12);
        if (s != tp_freeFlight) {
            double behind = 1.0 / (2.0 * 0.5 * 9.81);
            CHECK_NEAR(tpBody_GetVelocity(world, box).x, 1.0, 1e-8);
            CHECK_NEAR(tpBody_GetPosition(world, box).x, 1.0 - behind, 0.006);
        }
        tpDestroyWorld(world);
    }
}

static void planarWorldsStayInThePlane(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    def.planar = true;
    def.gravity = tpMakeVec3(0.0, -9.81, 3.0);
    tpWorld* world = tpCreateWorld(&def);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.velocity = tpMakeVec3(1.0, 1.0, 1.0);
    bodyDef.angularVelocity = tpMakeVec3(1.0, 1.0, 1.0);
    tpBodyId body = tpCreateBody(world, &bodyDef, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    tpBox box = { { 1.0, 2.0, 3.0 } };
    tpCreateBox(world, body, &shapeDef, &box, NULL);
    for (int k = 0; k < 100; ++k) {
        tpWorld_Step(world, 0.01);
    }
    assert_true(tpBody_GetPosition(world, body).z == 0.0);
    tpQuat q = tpBody_GetRotation(world, body);
    assert_true(q.x == 0.0 && q.y == 0.0);
    CHECK_NEAR(2.0 * atan2(q.z, q.w), 1.0, 1e-13);
    tpDestroyWorld(world);
}

// A number that is not finite never reaches the user.
static void stepsThatOverflowAreUndone(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpBodyId ball = addBall(world, tpZeroVec3(), 0.1);
    tpForceDef force = tpDefaultForceDef();
    force.body = ball;
    force.force = tpMakeVec3(1e308, 1e308, 0.0);
    tpCreateForce(world, &force, NULL);
    tpBody_SetVelocity(world, ball, tpMakeVec3(1e308, 0.0, 0.0), tpZeroVec3());
    uint64_t hash = tpWorld_HashState(world);
    tpStepReport report = tpWorld_Step(world, 1e3);
    assert_true(report.undone);
    assert_false(report.converged);
    assert_true(report.noteCount > 0);
    assert_true(tpWorld_HashState(world) == hash);
    assert_true(tpWorld_GetTime(world) == 0.0);
    tpDestroyWorld(world);
}

// Nor an energy that is not: such a step says so instead of certifying it.
static void energiesThatOverflowAreUndone(void** state) {
    (void)state;
    for (int stepper = 0; stepper < tp_stepperCount; ++stepper) {
        if (!tpStepperIsAvailable((tpStepperId)stepper)) {
            continue;
        }
        tpWorldDef def = tpDefaultWorldDef();
        def.stepper = (tpStepperId)stepper;
        tpWorld* world = tpCreateWorld(&def);
        tpBodyId ball = addBall(world, tpZeroVec3(), 0.1);
        tpBody_SetVelocity(world, ball, tpMakeVec3(1e300, 0.0, 0.0), tpZeroVec3());
        tpStepReport report = tpWorld_Step(world, 0.01);
        assert_true(report.undone && !report.converged);
        assert_string_equal(report.notes[0], "the energy is beyond what numbers can hold");
        assert_true(tpWorld_GetTime(world) == 0.0);
        tpDestroyWorld(world);
    }
}

// A body with a given mass that gets its shapes one by one is the same as one that got them
// otherwise.
static void shapesAddUp(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpBodyDef body = tpDefaultBodyDef();
    body.hasMass = true;
    body.mass.mass = 2.0;
    body.mass.inertia = tpDiagonal(tpMakeVec3(1.0, 1.0, 1.0));
    tpBodyId first = tpCreateBody(world, &body, NULL), second = tpCreateBody(world, &body, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    tpShapeId shapes[6];
    for (int i = 0; i < 6; ++i) { // in turns, so that neither list ends where the last shape went
        shape.pose.position = tpMakeVec3(i / 2, 0.0, 0.0);
        shapes[i] = tpCreateSphere(world, i % 2 == 0 ? first : second, &shape,
                                   &(tpSphere){ .radius = 0.25 }, NULL);
    }
    for (int i = 0; i < 6; ++i) {
        tpShapeId there = tpBody_GetShape(world, i % 2 == 0 ? first : second, i / 2);
        assert_true(there.slot == shapes[i].slot && there.generation == shapes[i].generation);
    }
    tpDestroyShape(world, shapes[5]); // the last one created
    shape.pose.position = tpMakeVec3(7.0, 0.0, 0.0);
    tpShapeId next = tpCreateSphere(world, second, &shape, &(tpSphere){ .radius = 0.25 }, NULL);
    assert_int_equal(tpBody_GetShapeCount(world, second), 3);
    assert_true(tpBody_GetShape(world, second, 2).slot == next.slot);
    assert_true(tpBody_GetShape(world, second, 1).slot == shapes[3].slot);
    tpDestroyWorld(world);
}

static void materialsMix(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpMaterialDef a = tpDefaultMaterialDef(), b = tpDefaultMaterialDef();
    a.friction.staticCoefficient = 0.9;
    a.friction.dynamicCoefficient = 0.4;
    a.restitution = 0.2;
    b.friction.staticCoefficient = 0.4;
    b.friction.dynamicCoefficient = 0.1;
    b.restitution = 0.5;
    tpMaterialId first = tpCreateMaterial(world, &a, NULL),
                 second = tpCreateMaterial(world, &b, NULL);
    tpFriction friction;
    double restitution;
    tpGetMaterialPair(world, first, second, &friction, &restitution);
    CHECK_NEAR(friction.staticCoefficient, 0.6, 1e-15);
    CHECK_NEAR(friction.dynamicCoefficient, 0.2, 1e-15);
    CHECK_NEAR(restitution, 0.5, 0.0);
    tpPairDef pair;
    memset(&pair, 0, sizeof(pair));
    pair.materials[0] = second;
    pair.materials[1] = first;
    pair.hasRestitution = true;
    pair.restitution = 0.1;
    assert_int_equal(tpSetMaterialPair(world, &pair, NULL), tp_success);
    pair.restitution = 0.7; // set again: replaced
    assert_int_equal(tpSetMaterialPair(world, &pair, NULL), tp_success);
    tpGetMaterialPair(world, first, second, &friction, &restitution);
    CHECK_NEAR(restitution, 0.7, 0.0);
    CHECK_NEAR(friction.dynamicCoefficient, 0.2, 1e-15);
    tpDestroyWorld(world);
}

static void badDefinitionsAreRefused(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpError error;
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.position.x = NAN;
    assert_int_equal(tpCreateBody(world, &bodyDef, &error).slot, 0);
    assert_int_equal(error.result, tp_badInput);
    bodyDef = tpDefaultBodyDef();
    bodyDef.hasMass = true;
    bodyDef.mass.mass = 1.0;
    bodyDef.mass.inertia =
        tpDiagonal(tpMakeVec3(1.0, 1.0, 2.1)); // violates the triangle inequality
    assert_int_equal(tpCreateBody(world, &bodyDef, &error).slot, 0);
    assert_non_null(strstr(error.message, "triangle"));
    bodyDef.mass.inertia = tpDiagonal(tpMakeVec3(1.0, 1.0, 2.0)); // a flat body is legal
    assert_int_not_equal(tpCreateBody(world, &bodyDef, &error).slot, 0);
    assert_int_equal(tpWorld_SetOption(world, "gama", "1", &error), tp_badInput);
    assert_non_null(strstr(error.message, "gamma"));
    assert_int_equal(tpWorld_SetOption(world, "cone", "square", &error), tp_badInput);
    assert_int_equal(tpWorld_SetOption(world, "gamma", "2", &error), tp_badInput);
    assert_int_equal(tpWorld_SetOption(world, "gamma", "0.5", &error), tp_success);
    CHECK_NEAR(tpWorld_GetOption(world, "gamma"), 0.5, 0.0);
    assert_int_equal(tpWorld_GetBodyCount(world), 1);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(staleIdsAreRecognised),
        cmocka_unit_test(millionsComeAndGo),
        cmocka_unit_test(snapshotsContinueBitForBit),
        cmocka_unit_test(sameSceneGivesSameBits),
        cmocka_unit_test(everyAllocationMayFail),
        cmocka_unit_test(freeFallIsExact),
        cmocka_unit_test(forceWindowsAreExact),
        cmocka_unit_test(springsSwing),
        cmocka_unit_test(dampingDecaysExactly),
        cmocka_unit_test(keyframesAreFollowed),
        cmocka_unit_test(beltsCarry),
        cmocka_unit_test(planarWorldsStayInThePlane),
        cmocka_unit_test(stepsThatOverflowAreUndone),
        cmocka_unit_test(energiesThatOverflowAreUndone),
        cmocka_unit_test(shapesAddUp),
        cmocka_unit_test(materialsMix),
        cmocka_unit_test(badDefinitionsAreRefused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
