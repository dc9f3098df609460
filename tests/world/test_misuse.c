// Wrong arguments: each is told with its name, and changes nothing.

#include <limits.h>
#include <string.h>

#include "support/check.h"
#include "tippe/tippe.h"

static int toldCount;
static char toldFunction[64], toldArgument[64];

static void hear(const char* function, const char* argument, const char* message) {
    assert_true(strlen(message) > 0);
    toldCount += 1;
    snprintf(toldFunction, sizeof(toldFunction), "%s", function);
    snprintf(toldArgument, sizeof(toldArgument), "%s", argument);
}

// The call told once, of this argument, and the state is as it was.
#define CHECK_TOLD(call, function, argument)                                                       \
    do {                                                                                           \
        uint64_t before_ = tpWorld_HashState(world);                                               \
        toldCount = 0;                                                                             \
        (void)(call);                                                                              \
        assert_int_equal(toldCount, 1);                                                            \
        assert_string_equal(toldFunction, function);                                               \
        assert_string_equal(toldArgument, argument);                                               \
        assert_true(tpWorld_HashState(world) == before_);                                          \
    } while (0)
#define CHECK_TOLD_VOID(call, function, argument) CHECK_TOLD(((call), 0), function, argument)

typedef struct Setting {
    tpWorld* world;
    tpBodyId body, stale;
    tpShapeId shape;
} Setting;

static Setting set(void) {
    tpSetMisuseHook(hear);
    tpWorldDef def = tpDefaultWorldDef();
    Setting setting;
    setting.world = tpCreateWorld(&def);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    setting.stale = tpCreateBody(setting.world, &bodyDef, NULL);
    tpDestroyBody(setting.world, setting.stale);
    setting.body = tpCreateBody(setting.world, &bodyDef, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    setting.shape =
        tpCreateSphere(setting.world, setting.body, &shapeDef, &(tpSphere){ 0.5 }, NULL);
    return setting;
}

static void end(tpWorld* world) {
    tpDestroyWorld(world);
    tpSetMisuseHook(NULL);
}

static void staleIdsAreTold(void** state) {
    (void)state;
    Setting s = set();
    tpWorld* world = s.world;
    tpVec3 one = tpMakeVec3(1.0, 1.0, 1.0);
    CHECK_TOLD(tpBody_GetPosition(world, s.stale).x, "tpBody_GetPosition", "body");
    CHECK_TOLD(tpBody_GetName(world, s.stale), "tpBody_GetName", "body");
    CHECK_TOLD_VOID(tpDestroyBody(world, s.stale), "tpDestroyBody", "body");
    CHECK_TOLD_VOID(tpBody_SetVelocity(world, s.stale, one, one), "tpBody_SetVelocity", "body");
    CHECK_TOLD_VOID(tpBody_ApplyForce(world, s.stale, one, tp_worldFrame), "tpBody_ApplyForce",
                    "body");
    CHECK_TOLD_VOID(tpDestroyShape(world, (tpShapeId){ 7, 7 }), "tpDestroyShape", "shape");
    CHECK_TOLD(tpShape_GetDef(world, (tpShapeId){ 7, 7 }).density, "tpShape_GetDef", "shape");
    CHECK_TOLD_VOID(tpDestroyJoint(world, (tpJointId){ 1, 1 }), "tpDestroyJoint", "joint");
    CHECK_TOLD_VOID(tpDestroyForce(world, (tpForceId){ 1, 1 }), "tpDestroyForce", "force");
    end(world);
}

static void numbersThatAreNotFiniteAreTold(void** state) {
    (void)state;
    Setting s = set();
    tpWorld* world = s.world;
    tpVec3 bad = tpMakeVec3(0.0, NAN, 0.0), zero = tpZeroVec3();
    tpPose badPose = tpMakePose(bad, tpIdentityQuat());
    tpPose noTurn = tpMakePose(zero, (tpQuat){ 0 });
    CHECK_TOLD_VOID(tpBody_SetPose(world, s.body, badPose), "tpBody_SetPose", "pose");
    CHECK_TOLD_VOID(tpBody_SetPose(world, s.body, noTurn), "tpBody_SetPose", "pose");
    CHECK_TOLD_VOID(tpBody_SetVelocity(world, s.body, bad, zero), "tpBody_SetVelocity", "velocity");
    CHECK_TOLD_VOID(tpBody_SetVelocity(world, s.body, zero, bad), "tpBody_SetVelocity",
                    "angularVelocity");
    CHECK_TOLD_VOID(tpBody_SetDamping(world, s.body, -1.0, 0.0), "tpBody_SetDamping", "linear");
    CHECK_TOLD_VOID(tpBody_SetGravityScale(world, s.body, INFINITY), "tpBody_SetGravityScale",
                    "scale");
    CHECK_TOLD_VOID(tpBody_SetLocked(world, s.body, 64), "tpBody_SetLocked", "locked");
    CHECK_TOLD_VOID(tpBody_SetTarget(world, s.body, tpIdentityPose()), "tpBody_SetTarget", "body");
    CHECK_TOLD_VOID(tpBody_ApplyForceAt(world, s.body, zero, bad, tp_worldFrame),
                    "tpBody_ApplyForceAt", "point");
    CHECK_TOLD_VOID(tpBody_ApplyTorque(world, s.body, zero, (tpFrame)5), "tpBody_ApplyTorque",
                    "frame");
    CHECK_TOLD_VOID(tpBody_ApplyImpulse(world, s.body, bad, tp_bodyFrame), "tpBody_ApplyImpulse",
                    "impulse");
    CHECK_TOLD_VOID(tpWorld_SetGravity(world, bad), "tpWorld_SetGravity", "gravity");
    CHECK_VEC3(tpWorld_GetGravity(world), tpMakeVec3(0.0, 0.0, -9.81), 0.0);
    end(world);
}

static void stepsOfNoLengthAreTold(void** state) {
    (void)state;
    Setting s = set();
    tpWorld* world = s.world;
    const double lengths[] = { 0.0, -1.0, NAN, INFINITY };
    for (int i = 0; i < 4; ++i) {
        CHECK_TOLD(tpWorld_Step(world, lengths[i]).undone, "tpWorld_Step", "h");
    }
    assert_true(tpWorld_GetTime(world) == 0.0 && tpWorld_GetStepCount(world) == 0);
    assert_false(tpWorld_Step(world, 0.01).undone);
    end(world);
}

static void materialsOutOfRangeAreTold(void** state) {
    (void)state;
    Setting s = set();
    tpWorld* world = s.world;
    tpFriction friction = { .staticCoefficient = 5.0 };
    double restitution = 5.0;
    CHECK_TOLD_VOID(tpGetMaterialPair(world, -5, 1000000, &friction, &restitution),
                    "tpGetMaterialPair", "a");
    assert_true(friction.staticCoefficient == 0.0 && restitution == 0.0);
    CHECK_TOLD_VOID(tpShape_SetMaterial(world, s.shape, 3), "tpShape_SetMaterial", "material");
    assert_int_equal(tpShape_GetMaterial(world, s.shape), 0);
    end(world);
}

// Definitions that cannot be are bad input: a status and a message, nothing for the hook.
static void badDefinitionsAreRefused(void** state) {
    (void)state;
    Setting s = set();
    tpWorld* world = s.world;
    int count = tpWorld_GetBodyCount(world);
    toldCount = 0;
    tpError error = { 0 };
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = (tpBodyKind)77;
    assert_int_equal(tpCreateBody(world, &def, &error).slot, 0);
    assert_non_null(strstr(error.message, "kind"));
    def = tpDefaultBodyDef();
    def.kind = tp_kinematicBody;
    def.keyframeCount = -5;
    assert_int_equal(tpCreateBody(world, &def, &error).slot, 0);
    assert_non_null(strstr(error.message, "keyframeCount"));
    def = tpDefaultBodyDef();
    def.locked = 1000;
    assert_int_equal(tpCreateBody(world, &def, &error).slot, 0);
    assert_non_null(strstr(error.message, "locked"));
    tpShapeDef shapeDef = tpDefaultShapeDef();
    tpShapeId none = tpCreateSphere(world, s.body, &shapeDef, &(tpSphere){ -1.0 }, &error);
    assert_int_equal(none.slot, 0);
    assert_non_null(strstr(error.message, "radius"));
    tpMaterialDef material = tpDefaultMaterialDef();
    material.restitution = 2.0;
    assert_int_equal(tpCreateMaterial(world, &material, &error), -1);
    assert_non_null(strstr(error.message, "restitution"));
    tpMassProperties mass = { .mass = -1.0 };
    assert_int_equal(tpBody_SetMass(world, s.body, &mass, &error), tp_badInput);
    assert_int_equal(tpShape_SetDensity(world, s.shape, NAN, &error), tp_badInput);
    assert_non_null(strstr(error.message, "density"));
    assert_int_equal(tpWorld_GetBodyCount(world), count);
    assert_int_equal(toldCount, 0);
    end(world);
}

static void worldsNeedGoodDefinitions(void** state) {
    (void)state;
    tpSetMisuseHook(hear);
    tpWorldDef def = tpDefaultWorldDef();
    def.gravity.x = NAN;
    toldCount = 0;
    assert_null(tpCreateWorld(&def));
    assert_string_equal(toldArgument, "def->gravity");
    def = tpDefaultWorldDef();
    def.stepper = (tpStepperId)99;
    assert_null(tpCreateWorld(&def));
    assert_string_equal(toldArgument, "def->stepper");
    assert_int_equal(toldCount, 2);
    tpSetMisuseHook(NULL);
}

// Numbers that are finite but lead to states that are not.
static void statesStayFinite(void** state) {
    (void)state;
    Setting s = set();
    tpWorld* world = s.world;
    tpError error;
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_revoluteJoint;
    joint.bodyB = s.body;
    joint.anchorA = joint.anchorB = tpMakeVec3(100.0, 0.0, 0.0);
    joint.axis = tpMakeVec3(0.0, 0.0, 1.0);
    tpJointId hinge = tpCreateJoint(world, &joint, NULL);
    uint64_t before = tpWorld_HashState(world);
    double speed = 1e307;
    assert_int_equal(tpJoint_SetSpeed(world, hinge, 0, speed, &error), tp_badInput);
    assert_int_equal(tpWorld_WriteCoordinates(world, NULL, &speed, &error), tp_badInput);
    assert_true(strlen(error.message) > 0 && tpWorld_HashState(world) == before);
    // The centre of mass moves away from the axis of a fast turn.
    tpDestroyJoint(world, hinge);
    tpBody_SetVelocity(world, s.body, tpZeroVec3(), tpMakeVec3(0.0, 0.0, 1e300));
    tpMassProperties mass = tpBody_GetMass(world, s.body);
    before = tpWorld_HashState(world);
    mass.center = tpMakeVec3(1e12, 0.0, 0.0);
    assert_int_equal(tpBody_SetMass(world, s.body, &mass, &error), tp_badInput);
    assert_true(tpWorld_HashState(world) == before);
    CHECK_NEAR(tpBody_GetMass(world, s.body).center.x, 0.0, 0.0);
    // A shape so far away that the inertia is beyond all numbers.
    tpShapeDef shape = tpDefaultShapeDef();
    shape.pose.position = tpMakeVec3(1e300, 0.0, 0.0);
    assert_int_equal(tpCreateSphere(world, s.body, &shape, &(tpSphere){ 0.5 }, &error).slot, 0);
    assert_int_equal(tpBody_GetShapeCount(world, s.body), 1);
    assert_true(tpWorld_HashState(world) == before);
    end(world);
}

// Every list is asked for its first, its last and what is behind it.
static void indicesOutOfRangeAreTold(void** state) {
    (void)state;
    Setting s = set();
    tpWorld* world = s.world;
    tpJointDef jointDef = tpDefaultJointDef();
    jointDef.type = tp_revoluteJoint;
    jointDef.axis = tpMakeVec3(0.0, 0.0, 1.0);
    jointDef.bodyB = s.body;
    tpJointId joint = tpCreateJoint(world, &jointDef, NULL);
    const int indices[] = { -1, 1, INT_MIN, INT_MAX };
    for (int i = 0; i < 4; ++i) {
        int index = indices[i];
        CHECK_TOLD(tpWorld_GetBody(world, index).slot, "tpWorld_GetBody", "index");
        CHECK_TOLD(tpWorld_GetMoving(world, index).slot, "tpWorld_GetMoving", "index");
        CHECK_TOLD(tpBody_GetShape(world, s.body, index).slot, "tpBody_GetShape", "index");
        CHECK_TOLD(tpBody_GetVisual(world, s.body, index).geometry, "tpBody_GetVisual", "index");
        CHECK_TOLD(tpWorld_GetJoint(world, index).slot, "tpWorld_GetJoint", "index");
        CHECK_TOLD(tpWorld_GetForce(world, index).slot, "tpWorld_GetForce", "index");
        CHECK_TOLD(tpWorld_GetSensor(world, index).slot, "tpWorld_GetSensor", "index");
        CHECK_TOLD(tpWorld_GetCoupling(world, index).slot, "tpWorld_GetCoupling", "index");
    }
    toldCount = 0;
    assert_true(tpWorld_GetBody(world, 0).slot == s.body.slot);
    assert_true(tpWorld_GetJoint(world, 0).slot == joint.slot);
    assert_true(tpBody_GetShape(world, s.body, 0).slot == s.shape.slot);
    // What is not asked for may be NULL.
    tpVec3 force = tpMakeVec3(1.0, 1.0, 1.0);
    tpJoint_GetReaction(world, joint, NULL, NULL);
    tpJoint_GetReaction(world, joint, &force, NULL);
    CHECK_VEC3(force, tpZeroVec3(), 0.0);
    int coordinate = 7;
    assert_true(tpWorld_GetCoordinateAt(world, 0, NULL, &coordinate));
    assert_int_equal(coordinate, 0);
    assert_false(tpWorld_GetCoordinateAt(world, 1, NULL, NULL));
    assert_int_equal(toldCount, 0);
    CHECK_TOLD(tpShapeTypeName((tpShapeType)77)[0], "tpShapeTypeName", "type");
    CHECK_TOLD(tpShapeTypeName((tpShapeType)-1)[0], "tpShapeTypeName", "type");
    end(world);
}

static void queriesThatCannotBeAreTold(void** state) {
    (void)state;
    Setting s = set();
    tpWorld* world = s.world;
    tpVec3 bad = tpMakeVec3(INFINITY, 0.0, 0.0), one = tpMakeVec3(1.0, 1.0, 1.0);
    tpPose home = tpIdentityPose(), noTurn = tpMakePose(one, (tpQuat){ 0 });
    tpGeometry ball;
    assert_int_equal(tpMakeSphere(&(tpSphere){ 0.5 }, home, &ball, NULL), tp_success);
    tpShapeCastResult hit;
    tpBounds empty = { one, tpZeroVec3() };
    CHECK_TOLD(tpWorld_CastRay(world, bad, one, 1).isHit, "tpWorld_CastRay", "origin");
    CHECK_TOLD(tpWorld_CastRay(world, one, bad, 1).isHit, "tpWorld_CastRay", "translation");
    CHECK_TOLD_VOID(tpWorld_CastRayAtAll(world, one, one, 1, NULL, NULL), "tpWorld_CastRayAtAll",
                    "callback");
    CHECK_TOLD(tpWorld_CastShape(world, NULL, home, one, 0.1, 1, &hit), "tpWorld_CastShape",
               "geometry");
    CHECK_TOLD(tpWorld_CastShape(world, &ball, noTurn, one, 0.1, 1, &hit), "tpWorld_CastShape",
               "pose");
    CHECK_TOLD(tpWorld_CastShape(world, &ball, home, one, -0.1, 1, &hit), "tpWorld_CastShape",
               "tolerance");
    CHECK_TOLD(tpWorld_CastShape(world, &ball, home, one, 0.1, 1, NULL), "tpWorld_CastShape",
               "out");
    CHECK_TOLD(tpWorld_OverlapShape(world, &ball, home, 1, NULL, 5), "tpWorld_OverlapShape", "ids");
    CHECK_TOLD(tpWorld_OverlapBounds(world, empty, 1, NULL, 0), "tpWorld_OverlapBounds", "bounds");
    CHECK_TOLD(tpWorld_ClosestPoints(world, s.shape, s.shape, NULL), "tpWorld_ClosestPoints",
               "out");
    CHECK_TOLD(tpWorld_FindOverlaps(world, INFINITY, NULL, 0), "tpWorld_FindOverlaps", "depth");
    CHECK_TOLD(tpFriction_SolveOne(-1, NULL, NULL, 1.0, NULL), "tpFriction_SolveOne", "rows");
    CHECK_TOLD(tpFrictionSolver_Find(NULL), "tpFrictionSolver_Find", "name");
    CHECK_TOLD(tpLcpSolver_Find(NULL), "tpLcpSolver_Find", "name");
    end(world);
}

// NULL where there must be an object: each call tells of it once, and what it returns is nothing.
static void objectsThatAreNullAreTold(void** state) {
    (void)state;
    Setting s = set();
    tpWorld* world = s.world;
    tpBodyDef bodyDef = tpDefaultBodyDef();
    tpJointDef jointDef = tpDefaultJointDef();
    tpJointId joint = { 0, 0 };
    tpClosest closest;
    tpMassProperties mass;
    tpGeometry ball;
    assert_int_equal(tpMakeSphere(&(tpSphere){ 0.5 }, tpIdentityPose(), &ball, NULL), tp_success);
    CHECK_TOLD(tpWorld_Step(NULL, 0.01), "tpWorld_Step", "world");
    CHECK_TOLD(tpWorld_GetTime(NULL), "tpWorld_GetTime", "world");
    CHECK_TOLD(tpCreateBody(NULL, &bodyDef, NULL), "tpCreateBody", "world");
    CHECK_TOLD(tpBody_GetPosition(NULL, s.body), "tpBody_GetPosition", "world");
    CHECK_TOLD_VOID(tpBody_SetVelocity(NULL, s.body, tpZeroVec3(), tpZeroVec3()),
                    "tpBody_SetVelocity", "world");
    CHECK_TOLD_VOID(tpDestroyBody(NULL, s.body), "tpDestroyBody", "world");
    CHECK_TOLD(tpCreateJoint(NULL, &jointDef, NULL), "tpCreateJoint", "world");
    CHECK_TOLD(tpJoint_GetValue(NULL, joint, 0), "tpJoint_GetValue", "world");
    CHECK_TOLD(tpWorld_GetStructure(NULL), "tpWorld_GetStructure", "world");
    CHECK_TOLD(tpBatch_GetWorldCount(NULL), "tpBatch_GetWorldCount", "batch");
    CHECK_TOLD(tpMakeBox(NULL, tpIdentityPose(), &ball, NULL), "tpMakeBox", "box");
    CHECK_TOLD(tpGeometry_Mass(&ball, 1.0, NULL, NULL), "tpGeometry_Mass", "out");
    CHECK_TOLD(tpGeometry_Mass(NULL, 1.0, &mass, NULL), "tpGeometry_Mass", "geometry");
    CHECK_TOLD(tpClosestPoints(&ball, tpIdentityPose(), NULL, tpIdentityPose(), NULL, &closest),
               "tpClosestPoints", "b");
    assert_int_equal(
        tpClosestPoints(&ball, tpIdentityPose(), NULL, tpIdentityPose(), NULL, &closest),
        tp_badInput);
    assert_int_equal(tpWorld_Step(NULL, 0.01).contactCount, 0);
    // Nothing is released and destroyed as by free(NULL).
    toldCount = 0;
    tpReleaseGeometry(NULL);
    tpDestroyWorld(NULL);
    tpDestroyBatch(NULL);
    assert_int_equal(toldCount, 0);
    end(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(staleIdsAreTold),
        cmocka_unit_test(numbersThatAreNotFiniteAreTold),
        cmocka_unit_test(stepsOfNoLengthAreTold),
        cmocka_unit_test(materialsOutOfRangeAreTold),
        cmocka_unit_test(badDefinitionsAreRefused),
        cmocka_unit_test(worldsNeedGoodDefinitions),
        cmocka_unit_test(statesStayFinite),
        cmocka_unit_test(indicesOutOfRangeAreTold),
        cmocka_unit_test(queriesThatCannotBeAreTold),
        cmocka_unit_test(objectsThatAreNullAreTold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
