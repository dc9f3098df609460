// Bodies that get faster, or go farther in a step, than the last step has foreseen meet what is in
// their way all the same.

#include "support/floor.h"

static tpBodyId addBall(tpWorld* world, double speed) {
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.position = tpMakeVec3(0.0, 0.0, 1.0);
    bodyDef.velocity = tpMakeVec3(0.0, 0.0, -speed);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpBodyId ball = tpCreateBody(world, &bodyDef, NULL);
    tpCreateSphere(world, ball, &shapeDef, &(tpSphere){ .radius = 0.1 }, NULL);
    return ball;
}

// A force that begins to act within the run, without a call.
static void forcesThatBeginAreMet(void** state) {
    (void)state;
    tpWorld* world = worldWithFloor(tp_smallSteps, 0.5, 0.0);
    tpBodyId ball = addBall(world, 0.0);
    double h = 1.0 / 60.0, mass = tpBody_GetMass(world, ball).mass;
    tpForceDef def = tpDefaultForceDef();
    def.body = ball;
    def.force = tpMakeVec3(0.0, 0.0, -200.0 * mass / h);
    def.from = 2.5 * h;
    assert_true(tpForce_IsValid(world, tpCreateForce(world, &def, NULL)));
    for (int k = 0; k < 5; ++k) {
        tpWorld_Step(world, h);
        assert_true(tpBody_GetPosition(world, ball).z > 0.0);
    }
    tpDestroyWorld(world);
}

static void longerStepsAreMet(void** state) {
    (void)state;
    tpWorld* world = worldWithFloor(tp_smallSteps, 0.5, 0.0);
    tpBodyId ball = addBall(world, 30.0);
    for (int k = 0; k < 4; ++k) {
        tpWorld_Step(world, k < 3 ? 1.0 / 600.0 : 1.0 / 15.0);
        assert_true(tpBody_GetPosition(world, ball).z > 0.0);
    }
    tpDestroyWorld(world);
}

static void strongerGravityIsMet(void** state) {
    (void)state;
    tpWorld* world = worldWithFloor(tp_smallSteps, 0.5, 0.0);
    tpBodyId ball = addBall(world, 0.0);
    for (int k = 0; k < 5; ++k) {
        tpWorld_Step(world, 1.0 / 60.0);
        assert_true(tpBody_GetPosition(world, ball).z > 0.0);
        tpWorld_SetGravity(world, tpMakeVec3(0.0, 0.0, k < 2 ? -9.81 : -2e4));
    }
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(forcesThatBeginAreMet),
                                        cmocka_unit_test(longerStepsAreMet),
                                        cmocka_unit_test(strongerGravityIsMet) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
