// Work of forces and loads on a body whose way is known: force times the way of the point, torque
// times the angle.

#include "dynamics/force_work.h"
#include "support/check.h"
#include "world/world.h"

static const double h = 0.5;

typedef struct Scene {
    tpWorld* world;
    tpBodyId body;
    tpPose start;
    tpVelocity velocity, mean;
    tpWays ways;
} Scene;

// A body that moves by (1, 2, 3) m/s and turns about z by 1.2 rad/s from a turned start; its
// velocity does not change.
static void makeScene(Scene* scene) {
    tpWorldDef def = tpDefaultWorldDef();
    def.gravity = tpZeroVec3();
    scene->world = tpCreateWorld(&def);
    tpBodyDef body = tpDefaultBodyDef();
    body.hasMass = true;
    body.mass.mass = 2.0;
    body.mass.center = tpMakeVec3(0.1, 0.2, 0.3);
    body.mass.inertia = tpDiagonal(tpMakeVec3(1.0, 1.0, 1.0));
    body.rotation = tpQuatExp(tpMakeVec3(0.3, -0.2, 0.5));
    scene->body = tpCreateBody(scene->world, &body, NULL);
    scene->start = scene->world->system.poses.data[0];
    scene->mean = (tpVelocity){ .linear = { 1.0, 2.0, 3.0 }, .angular = { 0.0, 0.0, 1.2 } };
    scene->velocity = scene->mean;
    scene->ways = (tpWays){ &scene->start, &scene->velocity, &scene->mean, 0.5 * h };
}

// Where a point of the body goes in the step.
static tpVec3 wayOf(const Scene* scene, tpVec3 point) {
    tpVec3 arm = tpSub(point, tpMakeVec3(0.1, 0.2, 0.3));
    tpQuat end = tpMulQQ(tpQuatExp(tpScale(h, scene->mean.angular)), scene->start.rotation);
    tpVec3 swing = tpSub(tpRotate(end, arm), tpRotate(scene->start.rotation, arm));
    return tpAdd(tpScale(h, scene->mean.linear), swing);
}

static void testForces(void** state) {
    (void)state;
    Scene scene;
    makeScene(&scene);
    const tpSystem* system = &scene.world->system;
    tpForceDef def = tpDefaultForceDef();
    def.body = scene.body;
    def.force = tpMakeVec3(4.0, -5.0, 6.0);
    def.torque = tpMakeVec3(0.5, 0.25, 2.0);
    def.hasPoint = true;
    def.point = tpMakeVec3(0.7, -0.1, 0.4);
    tpForceId force = tpCreateForce(scene.world, &def, NULL);
    double exact = tpDot(def.force, wayOf(&scene, def.point)) + 2.0 * 1.2 * h;
    CHECK_NEAR(tpSystem_ForceWork(system, &scene.ways, 0.0, h), exact, 1e-13);
    // Applied for the step it does the same.
    tpDestroyForce(scene.world, force);
    tpVec3 point = tpTransformPoint(tpBody_GetPose(scene.world, scene.body), def.point);
    tpBody_ApplyForceAt(scene.world, scene.body, def.force, point, tp_worldFrame);
    tpBody_ApplyTorque(scene.world, scene.body, def.torque, tp_worldFrame);
    CHECK_NEAR(tpSystem_ForceWork(system, &scene.ways, 0.0, h), exact, 1e-13);
    tpDestroyWorld(scene.world);
}

// A torque that turns with the body about the axis of its turn.
static void testBodyFrame(void** state) {
    (void)state;
    Scene scene;
    makeScene(&scene);
    tpForceDef def = tpDefaultForceDef();
    def.body = scene.body;
    def.frame = tp_bodyFrame;
    def.torque = tpUnrotate(scene.start.rotation, tpMakeVec3(0.0, 0.0, 3.0));
    tpCreateForce(scene.world, &def, NULL);
    CHECK_NEAR(tpSystem_ForceWork(&scene.world->system, &scene.ways, 0.0, h), 3.0 * 1.2 * h, 1e-13);
    tpDestroyWorld(scene.world);
}

// A force that acts in a part of the step only, at constant velocity.
static void testWindow(void** state) {
    (void)state;
    Scene scene;
    makeScene(&scene);
    scene.mean.angular = scene.velocity.angular = tpZeroVec3();
    tpForceDef def = tpDefaultForceDef();
    def.body = scene.body;
    def.force = tpMakeVec3(0.0, 5.0, 0.0);
    def.from = 7.05;
    def.to = 7.2;
    tpCreateForce(scene.world, &def, NULL);
    const tpSystem* system = &scene.world->system;
    CHECK_NEAR(tpSystem_ForceWork(system, &scene.ways, 7.0, h), 5.0 * 2.0 * 0.15, 1e-12);
    CHECK_NEAR(tpSystem_ForceWork(system, &scene.ways, 7.5, h), 0.0, 0.0);
    CHECK_NEAR(tpSystem_ForceWork(system, &scene.ways, 6.5, h), 0.0, 0.0);
    tpDestroyWorld(scene.world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testForces),
        cmocka_unit_test(testBodyFrame),
        cmocka_unit_test(testWindow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
