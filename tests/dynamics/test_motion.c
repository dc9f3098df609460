// Bodies that nothing touches, and kinematic bodies.

#include "ball_cases.h"
#include "dynamics/motion.h"

// A free ball goes straight and turns evenly.
static void testDrift(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(1.0, 2.0, 3.0), tpMakeVec3(4.0, -5.0, 6.0));
    int ground = addFloor(world);
    system->velocities.data[ball].angular = tpMakeVec3(0.0, 0.6, 0.8);
    tpSystem_Drift(system, 0.5);
    CHECK_VEC3(system->poses.data[ball].position, tpMakeVec3(3.0, -0.5, 6.0), 1e-15);
    tpVec3 turn = tpQuatLog(system->poses.data[ball].rotation);
    CHECK_VEC3(turn, tpMakeVec3(0.0, 0.3, 0.4), 1e-14);
    CHECK_VEC3(system->poses.data[ground].position, tpZeroVec3(), 0.0);
    tpDestroyWorld(world);
}

// Between keyframes places go straight and rotations about one axis; before and after they stay.
static void testKeyframes(void** state) {
    (void)state;
    const double pi = acos(-1.0);
    tpQuat quarter = tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), pi / 2.0);
    const tpKeyframe frames[3] = {
        { 1.0, tpMakePose(tpMakeVec3(0.0, 0.0, 0.0), tpIdentityQuat()) },
        { 3.0, tpMakePose(tpMakeVec3(4.0, 0.0, 2.0), quarter) },
        { 4.0, tpMakePose(tpMakeVec3(4.0, 1.0, 2.0), quarter) },
    };
    tpPose pose = tpKeyframes_PoseAt(frames, 3, 1.5);
    CHECK_VEC3(pose.position, tpMakeVec3(1.0, 0.0, 0.5), 1e-15);
    CHECK_VEC3(tpQuatLog(pose.rotation), tpMakeVec3(0.0, 0.0, pi / 8.0), 1e-14);
    CHECK_VEC3(tpKeyframes_PoseAt(frames, 3, 3.5).position, tpMakeVec3(4.0, 0.5, 2.0), 1e-15);
    CHECK_VEC3(tpKeyframes_PoseAt(frames, 3, 0.0).position, tpZeroVec3(), 0.0);
    CHECK_VEC3(tpKeyframes_PoseAt(frames, 3, 9.0).position, tpMakeVec3(4.0, 1.0, 2.0), 0.0);
}

// The pose and the next keyframe at any time, at keyframes too, against a search of all of them.
static void testManyKeyframes(void** state) {
    (void)state;
    tpRandom random = { 21 };
    for (int count = 1; count <= 33; ++count) {
        tpKeyframe frames[33];
        for (int i = 0; i < count; ++i) {
            double since = i > 0 ? frames[i - 1].time : -2.0;
            frames[i].time = since + randomBetween(&random, 0.1, 1.0);
            frames[i].pose.position = randomVec3(&random, -1.0, 1.0);
            frames[i].pose.rotation = randomRotation(&random);
        }
        for (int k = 0; k < 4 * count; ++k) {
            double time = k < count ? frames[k].time
                                    : randomBetween(&random, -3.0, frames[count - 1].time + 1.0);
            int after = 0;
            while (after < count && frames[after].time <= time) {
                ++after;
            }
            double next = after < count ? frames[after].time : INFINITY;
            assert_true(tpKeyframes_NextTime(frames, count, time) == next);
            const tpKeyframe* from = &frames[after > 0 ? after - 1 : 0];
            const tpKeyframe* to = &frames[after < count ? after : count - 1];
            double span = to->time - from->time;
            double part = from == to ? 0.0 : (time - from->time) / span;
            tpVec3 way = tpSub(to->pose.position, from->pose.position);
            tpPose pose = tpKeyframes_PoseAt(frames, count, time);
            CHECK_VEC3(pose.position, tpMulAdd(from->pose.position, part, way), 1e-14);
            // Turned by a part of the whole turn: both lie on one axis.
            tpQuat whole = tpMulQQ(to->pose.rotation, tpConjugate(from->pose.rotation));
            tpVec3 turn = tpQuatLog(tpMulQQ(pose.rotation, tpConjugate(from->pose.rotation)));
            CHECK_VEC3(turn, tpScale(part, tpQuatLog(whole)), 1e-12);
        }
    }
}

// The velocities given to a kinematic body carry it to where the keyframes want it.
static void testAim(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    tpQuat turned = tpQuatFromAxisAngle(tpMakeVec3(1.0, 0.0, 0.0), 0.4);
    const tpKeyframe frames[2] = { { 0.0, tpMakePose(tpZeroVec3(), tpIdentityQuat()) },
                                   { 2.0, tpMakePose(tpMakeVec3(1.0, 2.0, 3.0), turned) } };
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_kinematicBody;
    def.keyframes = frames;
    def.keyframeCount = 2;
    tpCreateBody(world, &def, NULL);
    tpSystem_AimKinematic(system, 0.0, 0.5);
    CHECK_VEC3(system->velocities.data[0].linear, tpMakeVec3(0.5, 1.0, 1.5), 1e-14);
    CHECK_VEC3(system->velocities.data[0].angular, tpMakeVec3(0.2, 0.0, 0.0), 1e-14);
    tpSystem_MoveKinematic(system, 0.0, 0.5);
    CHECK_VEC3(system->poses.data[0].position, tpMakeVec3(0.25, 0.5, 0.75), 1e-15);
    tpDestroyWorld(world);
}

// Ideal joints and gravity can be gone back; friction, a damped body or a servo on a sum of
// coordinates cannot.
static void testReversible(void** state) {
    (void)state;
    for (int kind = 0; kind < 4; ++kind) {
        tpWorld* world = makeEmptyWorld();
        tpBodyDef def = tpDefaultBodyDef();
        def.hasMass = true;
        def.mass.mass = 1.0;
        def.mass.inertia = tpDiagonal(tpMakeVec3(0.1, 0.1, 0.1));
        def.linearDamping = kind == 2 ? 0.5 : 0.0;
        tpJointDef joint = tpDefaultJointDef();
        joint.type = tp_revoluteJoint;
        joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
        joint.anchorA = joint.anchorB = tpMakeVec3(1.0, 0.0, 0.0);
        joint.coordinate.friction = kind == 1 ? 2.0 : 0.0;
        joint.bodyB = tpCreateBody(world, &def, NULL);
        tpCouplingTerm term = { tpCreateJoint(world, &joint, NULL), 0, 1.0 };
        tpCouplingDef coupling = tpDefaultCouplingDef();
        coupling.terms = &term;
        coupling.termCount = 1;
        coupling.hasServo = true;
        coupling.servo.stiffness = 10.0;
        if (kind == 3) {
            assert_true(tpCoupling_IsValid(world, tpCreateCoupling(world, &coupling, NULL)));
        }
        assert_int_equal(tpSystem_IsReversible(&world->system), kind == 0);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(testDrift),
                                        cmocka_unit_test(testKeyframes),
                                        cmocka_unit_test(testManyKeyframes),
                                        cmocka_unit_test(testAim),
                                        cmocka_unit_test(testReversible) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
