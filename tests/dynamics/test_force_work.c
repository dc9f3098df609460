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

// Any force and torque at any point, all through the step: one that keeps its direction by the way
// of its point, one that turns with the body by what it is half way. Loads do the same as forces.
static void testAnyForce(void** state) {
    (void)state;
    tpRandom random = { 3 };
    for (int k = 0; k < 200; ++k) {
        Scene scene;
        makeScene(&scene);
        const tpSystem* system = &scene.world->system;
        scene.mean.linear = randomVec3(&random, -2.0, 2.0);
        scene.mean.angular = randomVec3(&random, -2.0, 2.0);
        scene.velocity.linear = randomVec3(&random, -2.0, 2.0);
        tpForceDef def = tpDefaultForceDef();
        def.body = scene.body;
        def.frame = k % 2 == 0 ? tp_worldFrame : tp_bodyFrame;
        def.force = randomVec3(&random, -5.0, 5.0);
        def.torque = randomVec3(&random, -5.0, 5.0);
        def.hasPoint = k % 4 < 2;
        def.point = randomVec3(&random, -1.0, 1.0);
        tpVec3 center = tpMakeVec3(0.1, 0.2, 0.3), point = def.hasPoint ? def.point : center;
        tpQuat half = tpQuatExp(tpScale(0.5 * h, scene.mean.angular));
        tpQuat middle = tpMulQQ(half, scene.start.rotation);
        tpVec3 turn = tpScale(h, scene.mean.angular), way = tpScale(h, scene.mean.linear);
        tpVec3 moment = tpAdd(def.torque, tpCross(tpSub(point, center), def.force));
        double exact = k % 2 == 0 ? tpDot(def.force, wayOf(&scene, point)) + tpDot(def.torque, turn)
                                  : tpDot(tpRotate(middle, def.force), way) +
                                        tpDot(tpRotate(middle, moment), turn);
        tpForceId force = tpCreateForce(scene.world, &def, NULL);
        CHECK_NEAR(tpSystem_ForceWork(system, &scene.ways, 0.0, h), exact, 1e-12);
        tpDestroyForce(scene.world, force);
        CHECK_NEAR(tpSystem_ForceWork(system, &scene.ways, 0.0, h), 0.0, 0.0);
        tpVec3 place =
            k % 2 == 0 ? tpTransformPoint(tpBody_GetPose(scene.world, scene.body), point) : point;
        tpBody_ApplyForceAt(scene.world, scene.body, def.force, place, def.frame);
        tpBody_ApplyTorque(scene.world, scene.body, def.torque, def.frame);
        CHECK_NEAR(tpSystem_ForceWork(system, &scene.ways, 0.0, h), exact, 1e-12);
        tpDestroyWorld(scene.world);
    }
}

// A force that acts in a part of the step does its impulse before the way and the one after it,
// each times the mean of the velocities around it. Gravity is a part of the second one.
static void testAnyWindow(void** state) {
    (void)state;
    tpRandom random = { 4 };
    for (int k = 0; k < 400; ++k) {
        Scene scene;
        makeScene(&scene);
        tpSystem* system = &scene.world->system;
        system->gravity = tpMakeVec3(0.5, -1.0, -9.0);
        scene.mean.linear = randomVec3(&random, -2.0, 2.0);
        scene.velocity.linear = randomVec3(&random, -2.0, 2.0);
        scene.velocity.angular = randomVec3(&random, -2.0, 2.0);
        double kick = k % 3 == 0 ? h : randomBetween(&random, 0.0, h), time = 7.0;
        scene.ways.kick = kick;
        double from = randomBetween(&random, -0.2, h), to = randomBetween(&random, 0.0, h + 0.2);
        tpForceDef def = tpDefaultForceDef();
        def.body = scene.body;
        def.force = randomVec3(&random, -5.0, 5.0);
        def.torque = randomVec3(&random, -5.0, 5.0);
        def.from = time + from;
        def.to = time + to;
        if (!tpForce_IsValid(scene.world, tpCreateForce(scene.world, &def, NULL))) {
            assert_true(to <= from);
            tpDestroyWorld(scene.world);
            continue;
        }
        double begin = fmax(from, 0.0), end = fmin(to, h);
        double before = fmax(0.0, fmin(end, kick) - begin), after = end - begin - before;
        tpVec3 last = tpMulAdd(scene.mean.linear, h - kick, system->gravity);
        last = tpMulAdd(last, 0.5 * after, def.force); // of 2 kg
        tpVec3 way = tpScale(0.5 * before, tpAdd(scene.velocity.linear, scene.mean.linear));
        way = tpMulAdd(way, 0.5 * after, tpAdd(scene.mean.linear, last));
        tpVec3 turn = tpScale(0.5 * before, tpAdd(scene.velocity.angular, scene.mean.angular));
        turn = tpMulAdd(turn, after, scene.mean.angular);
        double exact = tpDot(def.force, way) + tpDot(def.torque, turn);
        if (from <= 0.0 && to >= h) { // all through the step: by the way alone
            exact =
                h * (tpDot(def.force, scene.mean.linear) + tpDot(def.torque, scene.mean.angular));
        }
        CHECK_NEAR(tpSystem_ForceWork(system, &scene.ways, time, h), end > begin ? exact : 0.0,
                   1e-11);
        tpDestroyWorld(scene.world);
    }
}

// An effort on a hinge does its work on the body that moves freely, however the other one is moved;
// on two free bodies by the angle between them.
static void testEfforts(void** state) {
    (void)state;
    for (int k = 0; k < 6; ++k) {
        tpWorldDef def = tpDefaultWorldDef();
        tpWorld* world = tpCreateWorld(&def);
        tpBodyId bodies[2];
        bool isMoved = k < 4;
        for (int i = 0; i < 2; ++i) {
            tpBodyDef body = tpDefaultBodyDef();
            body.kind = isMoved && i == k % 2 ? tp_kinematicBody : tp_dynamicBody;
            body.hasMass = true;
            body.mass.mass = 2.0;
            body.mass.inertia = tpDiagonal(tpMakeVec3(1.0, 1.0, 1.0));
            bodies[i] = tpCreateBody(world, &body, NULL);
        }
        tpJointDef joint = tpDefaultJointDef();
        joint.type = k % 4 < 2 ? tp_revoluteJoint : tp_prismaticJoint;
        joint.bodyA = bodies[0];
        joint.bodyB = bodies[1];
        joint.axis = tpMakeVec3(0.0, 0.0, 1.0);
        tpJointId made = tpCreateJoint(world, &joint, NULL);
        tpPose starts[2] = { world->system.poses.data[0], world->system.poses.data[1] };
        tpVelocity means[2] = { { .linear = { 0.0, 0.0, 0.7 }, .angular = { 0.0, 0.0, 0.7 } },
                                { .linear = { 0.0, 0.0, -0.4 }, .angular = { 0.0, 0.0, -0.4 } } };
        tpWays ways = { starts, means, means, 0.5 * h };
        CHECK_NEAR(tpSystem_ForceWork(&world->system, &ways, 0.0, h), 0.0, 0.0);
        tpJoint_ApplyEffort(world, made, 0, 3.0);
        double rates[3] = { -0.4, -0.7, -1.1 };
        CHECK_NEAR(tpSystem_ForceWork(&world->system, &ways, 0.0, h),
                   3.0 * h * rates[isMoved ? k % 2 : 2], 1e-12);
        tpDestroyJoint(world, made);
        CHECK_NEAR(tpSystem_ForceWork(&world->system, &ways, 0.0, h), 0.0, 0.0);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testForces),    cmocka_unit_test(testBodyFrame),
        cmocka_unit_test(testWindow),    cmocka_unit_test(testAnyForce),
        cmocka_unit_test(testAnyWindow), cmocka_unit_test(testEfforts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
