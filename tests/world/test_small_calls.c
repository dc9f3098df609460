// Calls of the public interface that no other test makes: each does what its header says.

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "support/check.h"
#include "tippe/tippe.h"

static tpWorld* makeWorld(tpBodyId* ball, tpShapeId* shape) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_anitescu;
    worldDef.gravity = (tpVec3){ 0.0, 0.0, -9.81 };
    tpWorld* world = tpCreateWorld(&worldDef);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.name = "ball";
    *ball = tpCreateBody(world, &bodyDef, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    *shape = tpCreateSphere(world, *ball, &shapeDef, &(tpSphere){ .radius = 0.5 }, NULL);
    return world;
}

static void keepsUserData(void** state) {
    (void)state;
    tpBodyId ball;
    tpShapeId shape;
    tpWorld* world = makeWorld(&ball, &shape);
    int mine, other;
    tpBody_SetUserData(world, ball, &mine);
    tpShape_SetUserData(world, shape, &other);
    assert_ptr_equal(tpBody_GetUserData(world, ball), &mine);
    assert_ptr_equal(tpShape_GetUserData(world, shape), &other);
    assert_non_null(tpWorld_GetAllocator(world)->allocate);
    tpForceDef forceDef = tpDefaultForceDef();
    forceDef.body = ball;
    tpForceId force = tpCreateForce(world, &forceDef, NULL);
    assert_true(tpForce_IsValid(world, force));
    tpDestroyForce(world, force);
    assert_false(tpForce_IsValid(world, force));
    tpWorld_SetHitSpeed(world, 2.5);
    assert_true(tpWorld_GetHitSpeed(world) == 2.5);
    tpDestroyWorld(world);
}

static void findsOverlaps(void** state) {
    (void)state;
    tpBodyId ball;
    tpShapeId shape, found[4];
    tpWorld* world = makeWorld(&ball, &shape);
    tpGeometry probe;
    tpPose pose = { .rotation = { .w = 1.0 } };
    assert_int_equal(tpMakeSphere(&(tpSphere){ .radius = 0.2 }, pose, &probe, NULL), tp_success);
    pose.position.x = 0.69;
    assert_int_equal(tpWorld_OverlapShape(world, &probe, pose, UINT32_MAX, found, 4), 1);
    assert_true(found[0].slot == shape.slot);
    pose.position.x = 0.71;
    assert_int_equal(tpWorld_OverlapShape(world, &probe, pose, UINT32_MAX, found, 4), 0);
    tpDestroyWorld(world);
}

static void drivesAndMeasures(void** state) {
    (void)state;
    tpBodyId ball;
    tpShapeId shape;
    tpWorld* world = makeWorld(&ball, &shape);
    tpJointDef jointDef = tpDefaultJointDef();
    jointDef.name = "pin";
    jointDef.type = tp_revoluteJoint;
    jointDef.bodyB = ball;
    jointDef.axis = (tpVec3){ 0.0, 0.0, 1.0 };
    jointDef.coordinate.hasMotor = true;
    jointDef.coordinate.motor = (tpMotor){ 0.0, 1e6 };
    tpJointId pin = tpCreateJoint(world, &jointDef, NULL);
    tpSensorDef sensorDef = tpDefaultSensorDef();
    sensorDef.name = "angle";
    sensorDef.type = tp_jointStateSensor;
    sensorDef.joint = pin;
    tpSensorId sensor = tpCreateSensor(world, &sensorDef, NULL);
    tpJoint_SetMotorSpeed(world, pin, 0, 3.0);
    for (int i = 0; i < 10; ++i) {
        tpWorld_Step(world, 0.01);
    }
    double values[tp_mostSensorValues] = { 0.0 };
    assert_int_equal(tpWorld_GetSensorCount(world), 1);
    assert_true(tpWorld_GetSensor(world, 0).slot == sensor.slot);
    assert_string_equal(tpSensor_GetName(world, sensor), "angle");
    assert_int_equal(tpSensor_GetDef(world, sensor).type, tp_jointStateSensor);
    const char* columns[tp_mostSensorValues];
    assert_int_equal(tpSensorTypeColumns(tp_jointStateSensor, columns), 3);
    assert_string_equal(columns[1], "qd");
    tpWorld_ReadSensors(world, values);
    assert_float_equal(values[1], 3.0, 1e-9);
    assert_string_equal(tpEventKindName(tp_touchBegan), "touch_began");

    tpCouplingTerm term = { pin, 0, 1.0 };
    tpCouplingDef coupling = { .name = "c", .terms = &term, .termCount = 1, .hasLimits = true };
    coupling.limits[0] = -10.0;
    coupling.limits[1] = 10.0;
    tpCouplingId id = tpCreateCoupling(world, &coupling, NULL);
    assert_true(tpWorld_GetCoupling(world, 0).slot == id.slot);
    tpDestroyWorld(world);
}

static void saysWhatItLacks(void** state) {
    (void)state;
    tpBodyId ball;
    tpShapeId shape;
    tpWorld* world = makeWorld(&ball, &shape);
    assert_true((tpWorld_GetLacks(world) & tp_lacksRestitution) == 0);
    assert_true((tpStepperLacks(tp_penalty) & tp_lacksRestitution) != 0);
    for (int i = 0; i < tpOptionCount(); ++i) {
        const char* instead = tpStepperRefusesOption(tp_benderSchmitt, i);
        bool isSubsteps = strcmp(tpOption(i)->name, "substeps") == 0;
        assert_true(isSubsteps ? instead != NULL && strcmp(instead, "small-steps") == 0
                               : instead == NULL);
    }
    tpDestroyWorld(world);
}

static void tellsOfThings(void** state) {
    (void)state;
    tpBodyId ball;
    tpShapeId shape;
    tpWorld* world = makeWorld(&ball, &shape);
    tpStepperId id;
    assert_true(tpFindStepper("penalty", &id) && id == tp_penalty);
    assert_false(tpFindStepper("none", &id));
    assert_true(strlen(tpStepperSummary(tp_penalty)) > 10);
    for (int i = 0; i < tpOptionCount(); ++i) {
        if (strcmp(tpOption(i)->name, "stiffness") == 0) {
            assert_true(tpStepperUsesOption(tp_penalty, i));
            assert_false(tpStepperUsesOption(tp_anitescu, i));
        }
    }
    assert_true(tpShape_GetBody(world, shape).slot == ball.slot);
    assert_false(tpWorld_IsPlanar(world));
    int materials = tpWorld_GetMaterialCount(world);
    tpMaterialDef materialDef = tpDefaultMaterialDef();
    tpCreateMaterial(world, &materialDef, NULL);
    assert_int_equal(tpWorld_GetMaterialCount(world), materials + 1);
    tpGeometry sphere;
    tpPose pose = { .rotation = { .w = 1.0 } };
    assert_int_equal(tpMakeSphere(&(tpSphere){ .radius = 0.2 }, pose, &sphere, NULL), tp_success);
    assert_true(tpGeometry_IsConvex(&sphere));
    tpJointDef jointDef = tpDefaultJointDef();
    jointDef.bodyB = ball;
    jointDef.anchorA = jointDef.anchorB = (tpVec3){ 0.0, 0.0, 1.0 };
    tpJointId joint = tpCreateJoint(world, &jointDef, NULL);
    assert_true(tpJoint_GetDef(world, joint).anchorB.z == 1.0);
    tpDestroyWorld(world);
}

static int assertCount;

static bool noteAssert(const char* condition, const char* file, int line) {
    (void)condition, (void)file, (void)line;
    assertCount += 1;
    return false; // goes on
}

static void callsTheHook(void** state) {
    (void)state;
    tpSetAssertHook(noteAssert);
    TP_ASSERT(assertCount > 0);
    tpSetAssertHook(NULL);
    assert_int_equal(assertCount, 1);
}

// z = (4/3, 7/3) by every solver with its own default options; 0 <= x, x^2 - 4 >= 0 by Newton.
static bool square(const double* z, double* F, void* context) {
    (void)context;
    F[0] = z[0] * z[0] - 4.0;
    return true;
}

static bool slope(const double* z, double* values, void* context) {
    (void)context;
    values[0] = 2.0 * z[0];
    return true;
}

static void solvesByDefault(void** state) {
    (void)state;
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    const double M[4] = { 2.0, 1.0, 1.0, 2.0 }, q[2] = { -5.0, -6.0 };
    tpLcp lcp = { 2, tpDenseMatrix(2, 2, M), q, NULL };
    double z[2] = { 0.0, 0.0 };
    tpEnumerationOptions enumeration = tpDefaultEnumerationOptions();
    tpLaggedOptions lagged = tpDefaultLaggedOptions();
    tpLemkeTableauOptions tableau = tpDefaultLemkeTableauOptions();
    tpPrincipalPivotingOptions pivoting = tpDefaultPrincipalPivotingOptions();
    assert_true(lagged.tolerance > 0.0); // it is for friction's own LCPs
    for (int way = 0; way < 3; ++way) {
        z[0] = z[1] = 0.0;
        tpSolveStatus status =
            way == 0   ? tpLcp_SolveEnumeration(&lcp, &enumeration, memory, z, NULL)
            : way == 1 ? tpLcp_SolveLemkeTableau(&lcp, &tableau, memory, z, NULL)
                       : tpLcp_SolvePrincipalPivoting(&lcp, &pivoting, memory, z, NULL);
        assert_int_equal(status, tp_solved);
        assert_float_equal(z[0], 4.0 / 3.0, 1e-7);
        assert_float_equal(z[1], 7.0 / 3.0, 1e-7);
    }
    const double pattern[1] = { 0.0 };
    tpNcp ncp = { .n = 1, .scale = 1.0, .evaluate = square, .jacobian = slope };
    ncp.jacobianPattern = tpDenseMatrix(1, 1, pattern);
    tpNewtonOptions newton = tpDefaultNewtonOptions();
    z[0] = 5.0;
    assert_int_equal(tpNcp_SolveNewton(&ncp, &newton, memory, z, NULL), tp_solved);
    assert_float_equal(z[0], 2.0, 1e-7);
    const double wrong = 3.0, F = 5.0;
    double plain;
    assert_true(tpNcp_Residual(&ncp, &wrong, &F, 10.0, &plain) == 0.3 && plain == 3.0);
    assert_true(tpDefaultNcpOptions().tolerance == 1e-8);
    tpDestroySolverMemory(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keepsUserData),     cmocka_unit_test(findsOverlaps),
        cmocka_unit_test(drivesAndMeasures), cmocka_unit_test(saysWhatItLacks),
        cmocka_unit_test(tellsOfThings),     cmocka_unit_test(callsTheHook),
        cmocka_unit_test(solvesByDefault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
