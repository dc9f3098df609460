// What moves and holds bodies arrives in the world: damping, forces, keyframes, joints.
//
// Motion is compared with closed forms; numbers of joints, which only some steppers use, with what
// the world keeps of them.

#include <string.h>

#include "full_scene.h"
#include "support/check.h"
#include "tippe/scene.h"
#include "world/world.h"

static tpWorld* build(const char* text, tpScene** scene) {
    tpWorld* world = NULL;
    tpError error;
    if (tpParseScene(text, strlen(text), "scene.json", NULL, scene, &error) != tp_success ||
        tpScene_CreateWorld(*scene, NULL, 1, &world, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    return world;
}

static void stepTo(tpWorld* world, double time, int count) {
    for (int i = 0; i < count; ++i) {
        assert_false(tpWorld_Step(world, time / count).undone);
    }
}

#define AROUND(inside)                                                                             \
    "{ \"tippe\": 1, \"simulation\": { \"stepper\": \"free-flight\", \"step\": 0.01, \"until\": "  \
    "1 "                                                                                           \
    "},\n" inside " }"
#define BALL "\"mass\": 2, \"inertia\": [1, 1, 1]"

static void dampBodies(void** state) {
    (void)state;
    tpScene* scene;
    tpWorld* world =
        build(AROUND("\"bodies\": [ { \"name\": \"a\", " BALL ", \"velocity\": [1, 0, 0], "
                     "\"angular_velocity\": [0, 0, 3], \"damping\": { \"linear\": 0.5, "
                     "\"angular\": 0.25 } } ]"),
              &scene);
    stepTo(world, 2.0, 2000);
    tpBodyId body = tpWorld_GetBody(world, 0);
    CHECK_NEAR(tpBody_GetVelocity(world, body).x, exp(-1.0), 1e-3);
    CHECK_NEAR(tpBody_GetAngularVelocity(world, body).z, 3.0 * exp(-0.5), 3e-3);
    tpDestroyWorld(world);
    tpDestroyScene(scene);
}

// A quarter turn about z: the body's x is the world's y.
static void pushBodies(void** state) {
    (void)state;
    tpScene* scene;
    tpWorld* world = build(
        AROUND("\"bodies\": [ { \"name\": \"a\", " BALL " },\n { \"name\": \"b\", " BALL
               ", \"rotation\": { \"axis\": [0, 0, 1], \"degrees\": 90 } },\n"
               "{ \"name\": \"c\", " BALL " }, { \"name\": \"d\", " BALL " } ],\n"
               "\"forces\": [ { \"body\": \"a\", \"force\": [4, 0, 0], \"from\": 0.25, \"to\": "
               "0.75 },\n { \"body\": \"b\", \"force\": [4, 0, 0], \"frame\": \"body\" },\n"
               "{ \"body\": \"c\", \"torque\": [0, 0, 0.5] },\n"
               "{ \"body\": \"d\", \"force\": [0, 1, 0], \"at\": [0.1, 0, 0], \"to\": 0.01 } ]"),
        &scene);
    stepTo(world, 1.0, 100);
    CHECK_VEC3(tpBody_GetVelocity(world, tpWorld_FindBody(world, "a")), tpMakeVec3(1.0, 0.0, 0.0),
               0.021); // half a second of 2 m/s^2, to a step
    CHECK_VEC3(tpBody_GetVelocity(world, tpWorld_FindBody(world, "b")), tpMakeVec3(0.0, 2.0, 0.0),
               1e-12);
    CHECK_VEC3(tpBody_GetAngularVelocity(world, tpWorld_FindBody(world, "c")),
               tpMakeVec3(0.0, 0.0, 0.5), 1e-12);
    CHECK_VEC3(tpBody_GetAngularVelocity(world, tpWorld_FindBody(world, "d")),
               tpMakeVec3(0.0, 0.0, 0.001), 1e-5);
    tpDestroyWorld(world);
    tpDestroyScene(scene);
}

static void followKeyframes(void** state) {
    (void)state;
    tpScene* scene;
    tpWorld* world = build(
        AROUND("\"bodies\": [ { \"name\": \"a\", \"kind\": \"kinematic\", \"position\": [0, 0, 7], "
               "\"keyframes\": [ { \"time\": 0 }, { \"time\": 1, \"position\": [0, 4, 7] },\n"
               "{ \"time\": 2, \"rotation\": { \"axis\": [0, 0, 1], \"degrees\": 90 } } ] },\n"
               "{ \"name\": \"b\", \"kind\": \"kinematic\", \"velocity\": [0, 2, 0] } ]"),
        &scene);
    stepTo(world, 0.5, 50);
    tpBodyId body = tpWorld_FindBody(world, "a");
    CHECK_VEC3(tpBody_GetPose(world, body).position, tpMakeVec3(0.0, 2.0, 7.0), 1e-12);
    CHECK_VEC3(tpBody_GetVelocity(world, body), tpMakeVec3(0.0, 4.0, 0.0), 1e-9);
    CHECK_VEC3(tpBody_GetPose(world, tpWorld_FindBody(world, "b")).position,
               tpMakeVec3(0.0, 1.0, 0.0), 1e-12);
    stepTo(world, 1.5, 150);
    CHECK_VEC3(tpBody_GetPose(world, body).position, tpMakeVec3(0.0, 0.0, 7.0), 1e-9);
    CHECK_NEAR(fabs(tpBody_GetRotation(world, body).z), sqrt(0.5), 1e-9);
    tpDestroyWorld(world);
    tpDestroyScene(scene);
}

static void keepAxes(void** state) {
    (void)state;
    tpScene* scene;
    tpWorld* world = build(plainScene, &scene);
    tpJointId shoulder = tpWorld_FindJoint(world, "shoulder");
    assert_int_equal(tpJoint_GetCoordinateCount(world, shoulder), 2);
    int lift = tpJoint_FindCoordinate(world, shoulder, "lift");
    assert_int_equal(tpJoint_FindCoordinate(world, shoulder, "1"), 1);
    tpAxisDef axis = tpJoint_GetAxis(world, shoulder, lift);
    CHECK_VEC3(axis.direction, tpMakeVec3(0.0, 1.0, 0.0), 1e-15);
    assert_true(axis.kind == tp_turnAxis && axis.coordinate.zero == 0.25);
    CHECK_NEAR(tpJoint_GetValue(world, shoulder, lift), 0.25, 1e-14);
    const tpServo* servo = &axis.coordinate.servo;
    assert_true(servo->target == 1.0 && servo->speed == 2.0 && servo->stiffness == 3.0 &&
                servo->damping == 4.0 && servo->effort == 5.0);
    assert_true(axis.coordinate.armature == 0.5 && axis.coordinate.damping == 0.6 &&
                axis.coordinate.friction == 0.7 && axis.coordinate.limits[1] == 2.0);
    axis = tpJoint_GetAxis(world, shoulder, 1);
    assert_true(axis.kind == tp_slideAxis && axis.coordinate.hasMotor && !axis.coordinate.hasServo);
    tpDestroyWorld(world);
    tpDestroyScene(scene);
}

static void keepJoints(void** state) {
    (void)state;
    tpScene* scene;
    tpWorld* world = build(fullScene, &scene);
    const tpJointDef* hinge = &world->system.joints.data[0].def;
    assert_int_equal(hinge->type, tp_revoluteJoint);
    const tpCoordinateDef* turn = &world->system.joints.data[0].coordinates[0].def;
    assert_true(turn->hasLimits && turn->limits[0] == -1.0 && turn->limits[1] == 1.5);
    assert_true(turn->hasMotor && turn->motor.speed == 3.0 && turn->motor.effort == 4.0);
    assert_true(turn->hasSpring && turn->spring.stiffness == 5.0 && turn->spring.damping == 6.0);
    assert_true(turn->spring.rest == 0.1 && turn->friction == 0.7 && hinge->collide);
    CHECK_VEC3(hinge->anchorA, tpMakeVec3(1.0, 2.0, 3.0), 0.0);
    CHECK_VEC3(hinge->anchorB, tpMakeVec3(1.0, 2.0, 3.0), 0.0);
    CHECK_VEC3(hinge->axis, tpMakeVec3(0.0, 0.0, 1.0), 1e-15);
    const tpJointDef* spring = &world->system.joints.data[1].def;
    const tpCoordinateDef* length = &world->system.joints.data[1].coordinates[0].def;
    assert_true(!length->hasLimits && !length->hasMotor && length->hasSpring && !spring->collide);
    CHECK_VEC3(spring->anchorA, tpMakeVec3(5.0, 3.0, 0.0), 0.0);
    CHECK_VEC3(spring->anchorB, tpMakeVec3(5.0, 1.0, 0.0), 0.0);
    // One anchor: the end on the world; the other end is the origin of the body.
    const tpJointDef* distance = &world->system.joints.data[2].def;
    CHECK_VEC3(distance->anchorA, tpMakeVec3(0.0, 0.0, 20.0), 0.0);
    CHECK_VEC3(distance->anchorB, tpMakeVec3(0.0, 0.0, 9.0), 0.0);
    const tpJointDef* gear = &world->system.joints.data[3].def;
    assert_true(gear->ratio == -2.0);
    CHECK_VEC3(gear->axis, tpMakeVec3(1.0, 0.0, 0.0), 0.0);
    CHECK_VEC3(gear->secondAxis, tpMakeVec3(0.0, 1.0, 0.0), 0.0);
    assert_true(world->system.joints.data[4].def.pitch == 0.01);
    tpDestroyWorld(world);
    tpDestroyScene(scene);
}

static void keepShapes(void** state) {
    (void)state;
    tpScene* scene;
    tpWorld* world = build(fullScene, &scene);
    tpShapeId ball = tpBody_GetShape(world, tpWorld_FindBody(world, "top"), 0);
    const tpShape* shape = &world->system.shapes.data[ball.slot - 1];
    assert_true(shape->group == 2 && shape->mask == 5);
    tpDestroyWorld(world);
    tpDestroyScene(scene);
}

// A spring of the file pulls: the period of a mass on it.
static void swingOnSpring(void** state) {
    (void)state;
    tpScene* scene;
    tpWorld* world =
        build(AROUND("\"bodies\": [ { \"name\": \"a\", " BALL ", \"position\": [3, 0, 0] } ],\n"
                     "\"joints\": [ { \"type\": \"spring\", \"bodies\": [null, \"a\"], "
                     "\"anchor\": [0, 0, 0], \"spring\": { \"stiffness\": 8, \"rest\": 2 "
                     "} } ]"),
              &scene);
    stepTo(world, 3.14159265358979323846 / 2.0, 4000); // half a period: w = sqrt(8 / 2) = 2
    CHECK_NEAR(tpBody_GetPosition(world, tpWorld_GetBody(world, 0)).x, 1.0, 1e-3);
    tpDestroyWorld(world);
    tpDestroyScene(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dampBodies),      cmocka_unit_test(pushBodies),
        cmocka_unit_test(followKeyframes), cmocka_unit_test(keepJoints),
        cmocka_unit_test(keepAxes),        cmocka_unit_test(keepShapes),
        cmocka_unit_test(swingOnSpring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
