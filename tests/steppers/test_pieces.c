// Fast bodies and thin ones: no stepper lets a bullet through a plate, and what the pieces of such
// a step report adds up.

#include "support/floor.h"

static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu, tp_chakrabortyTrinkle,
                                        tp_benderSchmitt, tp_mirtichCanny };
enum { stepperCount = sizeof(steppers) / sizeof(steppers[0]) };

static tpWorld* makeWorld(tpStepperId stepper) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpZeroVec3();
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, 0.3, 0.0);
    return world;
}

static tpBodyId addBody(tpWorld* world, tpBodyKind kind, tpVec3 position, tpVec3 velocity,
                        const tpGeometry* geometry) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = kind;
    def.position = position;
    def.velocity = velocity;
    def.angularVelocity = kind == tp_dynamicBody ? tpMakeVec3(9.0, -7.0, 5.0) : tpZeroVec3();
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    shapeDef.density = 1000.0;
    tpCreateShape(world, body, &shapeDef, geometry, NULL);
    return body;
}

static void makePlate(int kind, tpGeometry* out) {
    tpAllocator allocator = tpDefaultAllocator();
    double square[4][2] = { { 0.5, 0.5 }, { -0.5, 0.5 }, { -0.5, -0.5 }, { 0.5, -0.5 } };
    if (kind == 0) {
        tpMakeBox(&(tpBox){ { 1.0, 1.0, 0.001 } }, tpIdentityPose(), out, NULL);
    } else if (kind == 1) {
        tpMakeCylinder(&(tpCylinder){ 0.5, 0.001, { 0.0, 0.0, 1.0 } }, tpIdentityPose(), out, NULL);
    } else {
        tpMakePrism(&allocator, (const double(*)[2])square, 4, 0.001, tpIdentityPose(), out, NULL);
    }
}

static void makeBullet(int kind, tpGeometry* out) {
    if (kind == 0) {
        tpMakeSphere(&(tpSphere){ 0.004 }, tpIdentityPose(), out, NULL);
    } else if (kind == 1) {
        tpMakeCapsule(&(tpCapsule){ 0.004, 0.01, { 0.0, 0.0, 1.0 } }, tpIdentityPose(), out, NULL);
    } else {
        tpMakeBox(&(tpBox){ { 0.02, 0.015, 0.01 } }, tpIdentityPose(), out, NULL);
    }
}

static void platesStopBullets(void** state) {
    (void)state;
    for (int s = 0; s < stepperCount; ++s) {
        for (int k = 0; k < 9; ++k) {
            tpWorld* world = makeWorld(steppers[s]);
            tpGeometry plate, bullet;
            makePlate(k % 3, &plate);
            makeBullet(k / 3, &bullet);
            addBody(world, tp_fixedBody, tpZeroVec3(), tpZeroVec3(), &plate);
            tpBodyId body = addBody(world, tp_dynamicBody, tpMakeVec3(0.05, 0.03, 1.1 + 0.3 * k),
                                    tpMakeVec3(20.0, 10.0, -500.0), &bullet);
            for (int i = 0; i < 8; ++i) {
                tpWorld_Step(world, 1.0 / 240.0);
            }
            double z = tpBody_GetPosition(world, body).z;
            if (!(z > 0.0)) {
                fail_msg("%s: bullet %d passes plate %d and is at %g", tpStepperName(steppers[s]),
                         k / 3, k % 3, z);
            }
            tpReleaseGeometry(&plate);
            tpDestroyWorld(world);
        }
    }
}

// The impulse of the listed contacts is the change of momentum of the bullet, and energy lost is
// told.
static void piecesAddUp(void** state) {
    (void)state;
    for (int s = 0; s < 3; ++s) {
        tpWorld* world = makeWorld(steppers[s]);
        tpGeometry plate, bullet;
        makePlate(0, &plate);
        makeBullet(0, &bullet);
        addBody(world, tp_fixedBody, tpZeroVec3(), tpZeroVec3(), &plate);
        tpBodyId body = addBody(world, tp_dynamicBody, tpMakeVec3(0.0, 0.0, 1.0),
                                tpMakeVec3(20.0, 10.0, -500.0), &bullet);
        double mass = tpBody_GetMass(world, body).mass;
        tpVec3 before = tpBody_GetVelocity(world, body);
        tpStepReport report = tpWorld_Step(world, 1.0 / 240.0);
        tpVec3 change = tpScale(mass, tpSub(tpBody_GetVelocity(world, body), before));
        int count;
        const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
        tpVec3 sum = tpZeroVec3();
        for (int i = 0; i < count; ++i) {
            // The plate is body A: impulses on it are those against the bullet.
            tpVec3 impulse = tpAdd(tpScale(contacts[i].normalImpulse, contacts[i].normal),
                                   contacts[i].frictionImpulse);
            bool isOnBullet = contacts[i].bodyA.slot == body.slot;
            sum = tpMulAdd(sum, isOnBullet ? 1.0 : -1.0, impulse);
        }
        CHECK_VEC3(sum, change, 1e-9 * tpLength(change));
        assert_true(report.substepCount > 1);
        double lost = report.kineticBefore - report.kineticAfter;
        CHECK_NEAR(report.impactLoss + report.frictionLoss, lost, 1e-6 * lost);
        tpDestroyWorld(world);
    }
}

// A kinematic body with a target is there at the end of a step in pieces.
static void targetsAreReached(void** state) {
    (void)state;
    tpWorld* world = makeWorld(tp_anitescu);
    tpGeometry plate, bullet;
    makePlate(0, &plate);
    makeBullet(0, &bullet);
    tpBodyId moved = addBody(world, tp_kinematicBody, tpZeroVec3(), tpZeroVec3(), &plate);
    tpBodyId body = addBody(world, tp_dynamicBody, tpMakeVec3(0.0, 0.0, 1.0),
                            tpMakeVec3(0.0, 0.0, -500.0), &bullet);
    tpPose target = tpMakePose(tpMakeVec3(0.01, 0.0, 0.02), tpIdentityQuat());
    tpBody_SetTarget(world, moved, target);
    tpStepReport report = tpWorld_Step(world, 1.0 / 240.0);
    assert_true(report.substepCount > 1);
    CHECK_VEC3(tpBody_GetPosition(world, moved), target.position, 1e-12);
    assert_true(tpBody_GetPosition(world, body).z > 0.02);
    tpDestroyWorld(world);
}

// Ordinary steps are left alone. (anitescu has parts of its own.)
static void slowBodiesAreNotCut(void** state) {
    (void)state;
    tpWorld* world = makeWorld(tp_stewartTrinkle);
    tpGeometry plate, bullet;
    makePlate(0, &plate);
    makeBullet(2, &bullet);
    addBody(world, tp_fixedBody, tpZeroVec3(), tpZeroVec3(), &plate);
    addBody(world, tp_dynamicBody, tpMakeVec3(0.0, 0.0, 0.02), tpMakeVec3(0.1, 0.0, -0.5), &bullet);
    for (int i = 0; i < 20; ++i) {
        assert_int_equal(tpWorld_Step(world, 1.0 / 240.0).substepCount, 1);
    }
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(platesStopBullets),
                                        cmocka_unit_test(piecesAddUp),
                                        cmocka_unit_test(targetsAreReached),
                                        cmocka_unit_test(slowBodiesAreNotCut) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
