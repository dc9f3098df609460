// Forces for one step against closed forms, with every stepper; gravity scale, locked directions,
// targets, setters.

#include <string.h>

#include "support/check.h"
#include "support/floor.h"
#include "tippe/tippe.h"

static const double pi = 3.14159265358979323846;

static tpWorld* worldOf(tpStepperId stepper, double gravity) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    return tpCreateWorld(&def);
}

static tpBodyId addBody(tpWorld* world, tpVec3 position, tpMassProperties mass) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    def.hasMass = true;
    def.mass = mass;
    return tpCreateBody(world, &def, NULL);
}

static tpMassProperties massOf(double mass, double x, double y, double z) {
    return (tpMassProperties){ mass, tpZeroVec3(), tpDiagonal(tpMakeVec3(x, y, z)) };
}

// A constant force makes a parabola: exact for the steppers whose free flight is.
static void forcesMakeParabolas(void** state) {
    (void)state;
    for (int s = 0; s < tp_stepperCount; ++s) {
        if (!tpStepperIsAvailable((tpStepperId)s)) {
            continue;
        }
        tpWorld* world = worldOf((tpStepperId)s, 9.81);
        tpBodyId body = addBody(world, tpZeroVec3(), massOf(2.0, 0.1, 0.1, 0.1));
        for (int i = 0; i < 100; ++i) {
            tpBody_ApplyForce(world, body, tpMakeVec3(3.0, 0.0, 0.0), tp_worldFrame);
            tpBody_ApplyForce(world, body, tpMakeVec3(1.0, 0.0, 2.0), tp_worldFrame);
            tpWorld_Step(world, 0.01);
        }
        tpWorld_Step(world, 0.01); // without force
        CHECK_VEC3(tpBody_GetVelocity(world, body), tpMakeVec3(2.0, 0.0, 1.0 - 9.81 * 1.01), 1e-11);
        // Steppers of first order move by h v.
        double x = tpBody_GetPosition(world, body).x;
        CHECK_NEAR(x, 1.0 + 0.02, 0.5 * 2.0 * 0.01 + 1e-11);
        tpDestroyWorld(world);
    }
}

// A force on a point of a body about a fixed centre: spin and speed by their moments, with every
// stepper.
static void forcesAtPointsTurn(void** state) {
    (void)state;
    for (int s = 0; s < tp_stepperCount; ++s) {
        if (!tpStepperIsAvailable((tpStepperId)s)) {
            continue;
        }
        tpWorld* world = worldOf((tpStepperId)s, 0.0);
        tpBodyId body = addBody(world, tpMakeVec3(1.0, 0.0, 0.0), massOf(2.0, 0.5, 0.5, 0.5));
        // Body axes: the force turns with the body, its moment is constant.
        for (int i = 0; i < 50; ++i) {
            tpBody_ApplyForceAt(world, body, tpMakeVec3(0.0, 1.0, 0.0), tpMakeVec3(0.3, 0.0, 0.0),
                                tp_bodyFrame);
            tpBody_ApplyTorque(world, body, tpMakeVec3(0.0, 0.0, 0.2), tp_worldFrame);
            tpWorld_Step(world, 0.01);
        }
        CHECK_NEAR(tpBody_GetAngularVelocity(world, body).z, (0.3 + 0.2) / 0.5 * 0.5, 1e-10);
        tpDestroyWorld(world);
    }
}

// A world force on a point of a swinging body is a pendulum without gravity: the same motion as
// with a lasting force on it.
static void oneStepForcesAreThoseThatLast(void** state) {
    (void)state;
    for (int s = 0; s < tp_stepperCount; ++s) {
        if (!tpStepperIsAvailable((tpStepperId)s)) {
            continue;
        }
        tpWorld* worlds[2];
        tpBodyId bodies[2];
        for (int k = 0; k < 2; ++k) {
            worlds[k] = worldOf((tpStepperId)s, 0.0);
            assert_int_equal(tpWorld_SetOption(worlds[k], "accuracy", "1e-7", NULL), tp_success);
            bodies[k] = addBody(worlds[k], tpZeroVec3(), massOf(2.0, 0.3, 0.4, 0.5));
        }
        tpForceDef def = tpDefaultForceDef();
        def.body = bodies[0];
        def.force = tpMakeVec3(0.5, 1.0, -0.7);
        def.hasPoint = true;
        def.point = tpMakeVec3(0.2, 0.1, 0.4);
        tpCreateForce(worlds[0], &def, NULL);
        for (int i = 0; i < 100; ++i) {
            tpPose pose = tpBody_GetPose(worlds[1], bodies[1]);
            tpBody_ApplyForceAt(worlds[1], bodies[1], def.force, tpTransformPoint(pose, def.point),
                                tp_worldFrame);
            tpWorld_Step(worlds[0], 0.01);
            tpWorld_Step(worlds[1], 0.01);
        }
        // `auto` carries the lasting force over many steps and the other step by step: the two
        // agree to its accuracy.
        double tolerance = s == tp_auto ? 1e-6 : 1e-9;
        CHECK_VEC3(tpBody_GetPosition(worlds[1], bodies[1]),
                   tpBody_GetPosition(worlds[0], bodies[0]), tolerance);
        CHECK_VEC3(tpBody_GetAngularVelocity(worlds[1], bodies[1]),
                   tpBody_GetAngularVelocity(worlds[0], bodies[0]), tolerance);
        tpDestroyWorld(worlds[0]);
        tpDestroyWorld(worlds[1]);
    }
}

// A million calls in one step add up and cost nothing structural.
static void millionForcesAddUp(void** state) {
    (void)state;
    tpWorld* world = worldOf(tp_anitescu, 0.0);
    tpBodyId body = addBody(world, tpZeroVec3(), massOf(1.0, 1.0, 1.0, 1.0));
    uint64_t structure = tpWorld_GetStructure(world);
    for (int i = 0; i < 1000000; ++i) {
        tpBody_ApplyForceAt(world, body, tpMakeVec3(0.0, 1e-6, 0.0), tpMakeVec3(1.0, 0.0, 0.0),
                            tp_worldFrame);
    }
    tpWorld_Step(world, 0.01);
    CHECK_NEAR(tpBody_GetVelocity(world, body).y, 0.01, 1e-12);
    CHECK_NEAR(tpBody_GetAngularVelocity(world, body).z, 0.01, 1e-9);
    assert_true(tpWorld_GetStructure(world) == structure);
    tpDestroyWorld(world);
}

static void impulsesActAtOnce(void** state) {
    (void)state;
    tpWorld* world = worldOf(tp_anitescu, 9.81);
    tpBodyId body = addBody(world, tpZeroVec3(), massOf(2.0, 2.0, 3.0, 4.0));
    tpBody_SetPose(world, body,
                   tpMakePose(tpZeroVec3(), tpQuatFromAxisAngle(tpMakeVec3(0, 0, 1), 0.5 * pi)));
    tpBody_ApplyImpulse(world, body, tpMakeVec3(2.0, 0.0, 0.0), tp_bodyFrame);
    CHECK_VEC3(tpBody_GetVelocity(world, body), tpMakeVec3(0.0, 1.0, 0.0), 1e-15);
    tpBody_ApplyImpulseAt(world, body, tpMakeVec3(0.0, 4.0, 0.0), tpMakeVec3(1.0, 0.0, 0.0),
                          tp_worldFrame);
    CHECK_VEC3(tpBody_GetVelocity(world, body), tpMakeVec3(0.0, 3.0, 0.0), 1e-15);
    CHECK_VEC3(tpBody_GetAngularVelocity(world, body), tpMakeVec3(0.0, 0.0, 1.0), 1e-15);
    tpBody_ApplyAngularImpulse(world, body, tpMakeVec3(1.5, 0.0, 0.0), tp_worldFrame);
    CHECK_VEC3(tpBody_GetAngularVelocity(world, body), tpMakeVec3(0.5, 0.0, 1.0), 1e-15);
    CHECK_VEC3(tpBody_GetPointVelocity(world, body, tpMakeVec3(0.0, 0.0, 1.0)),
               tpMakeVec3(0.0, 2.5, 0.0), 1e-15);
    tpDestroyWorld(world);
}

static void gravityScales(void** state) {
    (void)state;
    for (int s = 0; s < tp_stepperCount; ++s) {
        if (!tpStepperIsAvailable((tpStepperId)s)) {
            continue;
        }
        tpWorld* world = worldOf((tpStepperId)s, 10.0);
        tpBodyId body = addBody(world, tpZeroVec3(), massOf(2.0, 0.1, 0.1, 0.1));
        tpBody_SetGravityScale(world, body, -0.5);
        double before = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
        for (int i = 0; i < 100; ++i) {
            tpWorld_Step(world, 0.01);
        }
        CHECK_NEAR(tpBody_GetVelocity(world, body).z, 5.0, 1e-11);
        double after = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
        CHECK_NEAR(after, before, 0.51); // first order: m g h v / 2
        tpDestroyWorld(world);
    }
}

// The centre keeps its locked coordinates, in flight and on an inclined floor; what is free falls.
static void lockedDirectionsDoNotMove(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_freeFlight,   tp_stewartTrinkle,     tp_anitescu,
                                            tp_mirtichCanny, tp_chakrabortyTrinkle, tp_penalty };
    for (int s = 0; s < 6; ++s) {
        tpWorld* world = worldOf(steppers[s], 9.81);
        tpBodyId body = addBody(world, tpMakeVec3(0.1, 0.2, 0.6), massOf(2.0, 0.02, 0.03, 0.04));
        tpShapeDef shape = tpDefaultShapeDef();
        tpCreateBox(world, body, &shape, &(tpBox){ { 0.4, 0.5, 0.6 } }, NULL);
        tpBody_SetVelocity(world, body, tpMakeVec3(1.0, 2.0, 0.0), tpMakeVec3(1.0, 2.0, 3.0));
        tpBody_SetLocked(world, body, tp_lockX | tp_lockTurnX | tp_lockTurnY);
        tpBodyDef floorDef = tpDefaultBodyDef();
        floorDef.kind = tp_fixedBody;
        tpBodyId floor = tpCreateBody(world, &floorDef, NULL);
        tpCreatePlane(world, floor, &shape, &(tpPlane){ { 0.3, 0.1, 1.0 }, 0.0 }, NULL);
        for (int i = 0; i < 100; ++i) {
            tpBody_ApplyForce(world, body, tpMakeVec3(5.0, 0.0, 0.0), tp_worldFrame);
            tpBody_ApplyTorque(world, body, tpMakeVec3(1.0, 1.0, 0.0), tp_worldFrame);
            tpWorld_Step(world, 0.01);
        }
        CHECK_NEAR(tpBody_GetPosition(world, body).x, 0.1, 1e-15);
        CHECK_NEAR(tpBody_GetVelocity(world, body).x, 0.0, 1e-15);
        tpVec3 w = tpBody_GetAngularVelocity(world, body);
        CHECK_NEAR(fabs(w.x) + fabs(w.y), 0.0, 1e-15);
        tpQuat q = tpBody_GetRotation(world, body);
        CHECK_NEAR(fabs(q.x) + fabs(q.y), 0.0, 1e-14);
        assert_true(fabs(tpBody_GetPosition(world, body).y - 0.2) > 0.1);
        tpDestroyWorld(world);
    }
}

// One axis locked: energy and the momentum about the free axes are kept, to the order of the step.
static void oneLockedAxisKeepsMomentum(void** state) {
    (void)state;
    double errors[2];
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = worldOf(tp_freeFlight, 0.0);
        tpBodyId body = addBody(world, tpZeroVec3(), massOf(1.0, 0.4, 0.6, 0.9));
        tpBody_SetLocked(world, body, tp_lockTurnX);
        tpBody_SetVelocity(world, body, tpZeroVec3(), tpMakeVec3(0.0, 1.0, 2.0));
        tpVec3 before = tpWorld_GetAngularMomentum(world, tpZeroVec3());
        double energy = tpWorld_GetKineticEnergy(world);
        int count = 100 << k;
        for (int i = 0; i < count; ++i) {
            tpWorld_Step(world, 2.0 / count);
        }
        tpVec3 after = tpWorld_GetAngularMomentum(world, tpZeroVec3());
        CHECK_NEAR(after.y, before.y, 1e-13);
        CHECK_NEAR(after.z, before.z, 1e-13);
        assert_true(tpBody_GetAngularVelocity(world, body).x == 0.0);
        errors[k] = fabs(tpWorld_GetKineticEnergy(world) - energy);
        tpDestroyWorld(world);
    }
    CHECK_BELOW(errors[0], 1e-3);
    CHECK_BELOW(errors[1], 0.3 * errors[0]);
}

// A kinematic body is where it was told to be, and carries what stands on it.
static void targetsAreReached(void** state) {
    (void)state;
    static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu, tp_benderSchmitt };
    for (int s = 0; s < 3; ++s) {
        tpWorld* world = worldOf(steppers[s], 9.81);
        tpMaterialDef rough = tpDefaultMaterialDef();
        rough.friction.staticCoefficient = rough.friction.dynamicCoefficient = 1.0;
        tpShapeDef shape = tpDefaultShapeDef();
        shape.material = tpCreateMaterial(world, &rough, NULL);
        tpBodyDef def = tpDefaultBodyDef();
        def.kind = tp_kinematicBody;
        tpBodyId lift = tpCreateBody(world, &def, NULL);
        tpCreateBox(world, lift, &shape, &(tpBox){ { 2.0, 2.0, 0.2 } }, NULL);
        def.kind = tp_dynamicBody;
        def.position = tpMakeVec3(0.0, 0.0, 0.35);
        tpBodyId box = tpCreateBody(world, &def, NULL);
        tpCreateBox(world, box, &shape, &(tpBox){ { 0.5, 0.5, 0.5 } }, NULL);
        double h = 0.01;
        for (int i = 1; i <= 100; ++i) {
            double t = i * h;
            tpVec3 to = tpMakeVec3(0.2 * t * t, 0.0, 0.1 * t * t);
            tpBody_SetTarget(world, lift, tpMakePose(to, tpIdentityQuat()));
            tpWorld_Step(world, h);
            CHECK_VEC3(tpBody_GetPosition(world, lift), to, 1e-15);
        }
        CHECK_VEC3(tpBody_GetPosition(world, box), tpMakeVec3(0.2, 0.0, 0.45), 0.01);
        tpVec3 stop = tpBody_GetPosition(world, lift);
        tpWorld_Step(world, h);
        CHECK_VEC3(tpBody_GetPosition(world, lift), stop, 0.0);
        CHECK_VEC3(tpBody_GetVelocity(world, lift), tpZeroVec3(), 0.0);
        tpDestroyWorld(world);
    }
}

// Everything a definition gives comes back, and what is set is used.
static void settersAreReadBack(void** state) {
    (void)state;
    tpWorld* world = worldOf(tp_anitescu, 9.81);
    tpMaterialDef material = tpDefaultMaterialDef();
    material.name = "ice";
    material.friction.dynamicCoefficient = material.friction.staticCoefficient = 0.02;
    tpMaterialId ice = tpCreateMaterial(world, &material, NULL);
    assert_int_equal(tpWorld_FindMaterial(world, "ice"), ice);
    assert_int_equal(tpWorld_FindMaterial(world, "lava"), -1);
    material.restitution = 0.5;
    assert_int_equal(tpMaterial_SetDef(world, ice, &material, NULL), tp_success);
    assert_true(tpMaterial_GetDef(world, ice).restitution == 0.5);

    int datum = 0;
    tpBodyDef def = tpDefaultBodyDef();
    def.name = "box";
    def.position = tpMakeVec3(1.0, 2.0, 3.0);
    def.velocity = tpMakeVec3(0.1, 0.2, 0.3);
    def.linearDamping = 0.5;
    def.gravityScale = 0.25;
    def.locked = tp_lockZ;
    def.userData = &datum;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.pose.position = tpMakeVec3(0.5, 0.0, 0.0);
    shapeDef.material = ice;
    shapeDef.group = 4;
    tpShapeId shape = tpCreateBox(world, body, &shapeDef, &(tpBox){ { 1.0, 1.0, 1.0 } }, NULL);
    tpBodyDef now = tpBody_GetDef(world, body);
    assert_string_equal(now.name, "box");
    CHECK_VEC3(now.position, def.position, 1e-15);
    assert_true(now.velocity.z == 0.0 && now.velocity.x == 0.1); // z is locked
    assert_true(now.linearDamping == 0.5 && now.gravityScale == 0.25 && now.locked == tp_lockZ);
    assert_ptr_equal(now.userData, &datum);
    assert_false(now.hasMass);
    CHECK_NEAR(now.mass.mass, 1000.0, 1e-9);
    tpShapeDef own = tpShape_GetDef(world, shape);
    assert_true(own.pose.position.x == 0.5 && own.group == 4 && own.material == ice);

    assert_int_equal(tpShape_SetDensity(world, shape, 10.0, NULL), tp_success);
    CHECK_NEAR(tpBody_GetMass(world, body).mass, 10.0, 1e-12);
    tpMassProperties mass = massOf(3.0, 1.0, 1.0, 1.0);
    assert_int_equal(tpBody_SetMass(world, body, &mass, NULL), tp_success);
    CHECK_VEC3(tpBody_GetPose(world, body).position, def.position, 1e-15); // the frame stays
    CHECK_VEC3(tpBody_GetPosition(world, body), def.position, 1e-15);      // the centre moved
    assert_int_equal(tpBody_SetMass(world, body, NULL, NULL), tp_success);
    CHECK_NEAR(tpBody_GetPosition(world, body).x, 1.5, 1e-15);
    tpBody_SetLocked(world, body, 0);
    assert_int_equal(tpBody_SetKind(world, body, tp_fixedBody, NULL), tp_success);
    tpWorld_Step(world, 0.01);
    CHECK_VEC3(tpBody_GetPose(world, body).position, def.position, 1e-15);
    assert_int_equal(tpBody_SetKind(world, body, tp_dynamicBody, NULL), tp_success);
    tpWorld_Step(world, 0.01);
    CHECK_NEAR(tpBody_GetVelocity(world, body).z, -0.25 * 9.81 * 0.01, 1e-3);

    tpForceDef force = tpDefaultForceDef();
    force.body = body;
    tpForceId pull = tpCreateForce(world, &force, NULL);
    force.force = tpMakeVec3(0.0, 7.0, 0.0);
    assert_int_equal(tpForce_SetDef(world, pull, &force, NULL), tp_success);
    assert_true(tpForce_GetDef(world, pull).force.y == 7.0);
    assert_int_equal(tpWorld_GetForceCount(world), 1);
    assert_int_equal(tpWorld_GetForce(world, 0).slot, pull.slot);
    tpDestroyWorld(world);
}

// A filter that is changed lets a box through the floor.
static void filtersChange(void** state) {
    (void)state;
    tpWorld* world = worldOf(tp_anitescu, 9.81);
    addMaterial(world, 0.5, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyId body = addBody(world, tpMakeVec3(0.0, 0.0, 0.5), massOf(1.0, 0.1, 0.1, 0.1));
    tpShapeDef def = tpDefaultShapeDef();
    tpShapeId shape = tpCreateSphere(world, body, &def, &(tpSphere){ 0.5 }, NULL);
    for (int i = 0; i < 10; ++i) {
        tpWorld_Step(world, 0.01);
    }
    CHECK_NEAR(tpBody_GetPosition(world, body).z, 0.5, 1e-9);
    tpShape_SetFilter(world, shape, 0, 0);
    for (int i = 0; i < 10; ++i) {
        tpWorld_Step(world, 0.01);
    }
    CHECK_NEAR(tpBody_GetPosition(world, body).z, 0.5 - 0.5 * 9.81 * 0.01, 1e-3);
    tpDestroyWorld(world);
}

// Two bodies that are told not to collide pass through each other; told otherwise, or made anew,
// they do not.
static void bodiesAreKeptFromColliding(void** state) {
    (void)state;
    for (int s = 0; s < tp_stepperCount; ++s) {
        if (!tpStepperIsAvailable((tpStepperId)s) || s == tp_freeFlight) {
            continue;
        }
        tpWorld* world = worldOf((tpStepperId)s, 0.0);
        addMaterial(world, 0.0, 0.0);
        tpShapeDef def = tpDefaultShapeDef();
        tpBodyId a = addBody(world, tpMakeVec3(0.0, 0.0, 0.0), massOf(1.0, 0.1, 0.1, 0.1));
        tpBodyId b = addBody(world, tpMakeVec3(1.5, 0.0, 0.0), massOf(1.0, 0.1, 0.1, 0.1));
        tpCreateSphere(world, a, &def, &(tpSphere){ 0.5 }, NULL);
        tpCreateSphere(world, b, &def, &(tpSphere){ 0.5 }, NULL);
        assert_true(tpBody_GetCollide(world, a, b));
        assert_int_equal(tpBody_SetCollide(world, b, a, false, NULL), tp_success);
        assert_int_equal(tpBody_SetCollide(world, a, b, false, NULL), tp_success); // twice is once
        assert_false(tpBody_GetCollide(world, a, b));
        tpBody_SetVelocity(world, a, tpMakeVec3(1.0, 0.0, 0.0), tpZeroVec3());
        for (int i = 0; i < 100; ++i) {
            tpWorld_Step(world, 0.01);
        }
        CHECK_NEAR(tpBody_GetVelocity(world, a).x, 1.0, 1e-12);
        CHECK_NEAR(tpBody_GetPosition(world, a).x, 1.0, 1e-9);
        // Back to where it was, and told to collide: now it pushes the other.
        tpBody_SetPose(world, a, tpIdentityPose());
        assert_int_equal(tpBody_SetCollide(world, a, b, true, NULL), tp_success);
        for (int i = 0; i < 100; ++i) {
            tpWorld_Step(world, 0.01);
        }
        assert_true(tpBody_GetVelocity(world, a).x < 0.9);
        tpError error = { 0 };
        assert_int_equal(tpBody_SetCollide(world, a, a, false, &error), tp_badInput);
        // A body that goes takes its exclusions along.
        assert_int_equal(tpBody_SetCollide(world, a, b, false, NULL), tp_success);
        tpDestroyBody(world, b);
        assert_int_equal(tpBody_SetCollide(world, a, b, false, &error), tp_badInput);
        tpBodyId c = addBody(world, tpMakeVec3(9.0, 0.0, 0.0), massOf(1.0, 0.1, 0.1, 0.1));
        assert_true(tpBody_GetCollide(world, a, c));
        tpDestroyWorld(world);
    }
}

// A box that is put to sleep sleeps after the next step, and a force wakes it.
static void bodiesSleepAndWakeWhenTold(void** state) {
    (void)state;
    tpWorld* world = worldOf(tp_smallSteps, 9.81);
    assert_int_equal(tpWorld_SetOption(world, "sleep", "true", NULL), tp_success);
    addMaterial(world, 0.5, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyId body = addBody(world, tpMakeVec3(0.0, 0.0, 0.25), massOf(1.0, 0.1, 0.1, 0.1));
    tpShapeDef def = tpDefaultShapeDef();
    def.material = 1;
    tpCreateBox(world, body, &def, &(tpBox){ { 0.5, 0.5, 0.5 } }, NULL);
    tpWorld_Step(world, 0.01);
    assert_false(tpBody_IsAsleep(world, body));
    tpBody_SetAwake(world, body, false);
    tpWorld_Step(world, 0.01);
    assert_true(tpBody_IsAsleep(world, body));
    tpWorld_Step(world, 0.01);
    assert_true(tpBody_IsAsleep(world, body));
    tpBody_ApplyForce(world, body, tpMakeVec3(20.0, 0.0, 0.0), tp_worldFrame);
    tpWorld_Step(world, 0.01);
    assert_false(tpBody_IsAsleep(world, body));
    CHECK_NEAR(tpBody_GetVelocity(world, body).x, (20.0 - 0.5 * 9.81) * 0.01, 1e-3);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forcesMakeParabolas),
        cmocka_unit_test(forcesAtPointsTurn),
        cmocka_unit_test(oneStepForcesAreThoseThatLast),
        cmocka_unit_test(millionForcesAddUp),
        cmocka_unit_test(impulsesActAtOnce),
        cmocka_unit_test(gravityScales),
        cmocka_unit_test(lockedDirectionsDoNotMove),
        cmocka_unit_test(oneLockedAxisKeepsMomentum),
        cmocka_unit_test(targetsAreReached),
        cmocka_unit_test(settersAreReadBack),
        cmocka_unit_test(filtersChange),
        cmocka_unit_test(bodiesAreKeptFromColliding),
        cmocka_unit_test(bodiesSleepAndWakeWhenTold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
