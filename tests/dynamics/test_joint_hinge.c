// Rows of hinges: those that are written straight are those of the general way, and a solve of them
// tells what its impulses do to bodies.

#include "dynamics/joint_rows.h"
#include "dynamics/solve.h"
#include "support/check.h"
#include "tippe/joints.h"
#include "world/world.h"

enum { links = 4 };

static tpWorld* makeChain(void) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&worldDef);
    assert_non_null(world);
    tpBodyId last = { 0 };
    for (int i = 0; i < links; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(0.4 * i, 0.1 * i, -0.2 * i);
        def.hasMass = true;
        def.mass.mass = 1.0 + i;
        def.mass.inertia = tpDiagonal(tpMakeVec3(0.1, 0.2 + 0.01 * i, 0.25));
        tpBodyId body = tpCreateBody(world, &def, NULL);
        tpJointDef joint = tpDefaultJointDef();
        joint.type = tp_revoluteJoint;
        joint.bodyA = last; // the first hangs on the world
        joint.bodyB = body;
        joint.anchorA = joint.anchorB = tpMakeVec3(0.4 * i - 0.2, 0.1, -0.2 * i);
        joint.axis = tpNormalize(tpMakeVec3(0.3 * i, 0.6, 0.8 - 0.5 * i));
        tpCoordinateDef* law = &joint.coordinate;
        law->hasServo = i != 1;
        law->servo =
            (tpServo){ .stiffness = 50.0, .damping = 2.0, .target = 0.2, .effort = INFINITY };
        law->hasSpring = i == 1;
        law->spring.stiffness = 20.0;
        law->spring.damping = 1.0;
        law->hasLimits = i >= 2;
        law->limits[0] = -0.1;
        law->limits[1] = 0.05;
        law->damping = i == 3 ? 0.3 : 0.0;
        law->friction = i == 2 ? 0.4 : 0.0;
        law->armature = i != 2 ? 0.01 : 0.0;
        law->zero = 0.1 * i;
        assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, NULL)));
        last = body;
    }
    return world;
}

// Turns and moves all bodies, and gives them velocities.
static void disturb(tpSystem* system, double size) {
    for (int i = 0; i < system->bodyCount; ++i) {
        tpPose* pose = &system->poses.data[i];
        pose->position = tpMulAdd(pose->position, size * (i + 1), tpMakeVec3(1.0, -2.0, 0.5));
        tpVec3 turn = tpMakeVec3(10.0 * size * i, 5.0 * size, -8.0 * size);
        pose->rotation = tpMulQQ(tpQuatExp(turn), pose->rotation);
        system->velocities.data[i].linear = tpMakeVec3(0.3 * i, 1.0, -0.5);
        system->velocities.data[i].angular = tpMakeVec3(-0.7, 0.2 * i, 0.9);
    }
}

static tpRows makeRows(tpSystem* system) {
    tpRows rows;
    int blocks, count;
    tpJoints_Count(system, &blocks, &count);
    assert_true(tpRows_Create(&rows, system, blocks, count));
    tpRows_SetMasses(&rows, system);
    return rows;
}

static void checkSame(const tpRows* rows, const tpRows* general) {
    assert_int_equal(rows->blockCount, general->blockCount);
    assert_int_equal(rows->rowCount, general->rowCount);
    for (int b = 0; b < rows->blockCount; ++b) {
        assert_int_equal(rows->infos[b].role, general->infos[b].role);
        assert_int_equal(rows->infos[b].index, general->infos[b].index);
        assert_int_equal(rows->dimensions[b], general->dimensions[b]);
        assert_int_equal(rows->kinds[b], general->kinds[b]);
    }
    for (int k = 0; k < rows->rowCount; ++k) {
        double size = 1.0 + fabs(general->bias[k]);
        CHECK_NEAR(rows->bias[k], general->bias[k], 1e-13 * size);
        CHECK_NEAR(rows->compliance[k], general->compliance[k], 1e-15);
        CHECK_NEAR(rows->damping[k], general->damping[k], 1e-15);
        CHECK_NEAR(rows->rotor[k], general->rotor[k], 1e-14);
        for (int i = 6 * k; i < 6 * k + 6; ++i) {
            CHECK_NEAR(rows->jacobianA[i], general->jacobianA[i], 1e-14);
            CHECK_NEAR(rows->jacobianB[i], general->jacobianB[i], 1e-14);
        }
    }
}

// Open by some millimetres and degrees, with all laws, at the start and at poses that velocities
// have led to.
static void hingesAreWrittenAsOthersAre(void** state) {
    (void)state;
    tpWorld* world = makeChain();
    tpSystem* system = &world->system;
    tpJoints_Begin(system, 0.01);
    disturb(system, 0.004);
    static const tpLawRows laws[] = { tp_wholeLaws, tp_firstHalfLaws, tp_noLaws };
    for (int l = 0; l < 3; ++l) {
        for (int way = 0; way < 3; ++way) {
            const tpVelocity* linearised = way == 1 ? system->velocities.data : NULL;
            tpJointTreatment treatment = {
                0.01, way == 2 ? 0.0 : 0.8, linearised, 0.005, 0.5, false
            };
            tpRows rows = makeRows(system), general = makeRows(system);
            for (int i = 0; i < system->joints.count; ++i) {
                const tpJoint* joint = &system->joints.data[i];
                tpJointPlace place = tpJoint_Place(joint, system->poses.data);
                tpHinge_AddRows(&rows, system, i, system->poses.data, &treatment, laws[l]);
                tpJoint_AddHeldRows(&general, system, i, &place, &treatment);
                tpJoint_AddLaws(&general, system, i, 0, &place, &treatment, laws[l]);
            }
            checkSame(&rows, &general);
        }
    }
    tpDestroyWorld(world);
}

// What a solve tells of the velocities of bodies is what its impulses do to them.
static void solvesTellWhatTheyChange(void** state) {
    (void)state;
    tpWorld* world = makeChain();
    tpSystem* system = &world->system;
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    system->certificate = TP_USUAL_CERTIFICATE;
    tpJoints_Begin(system, 0.01);
    disturb(system, 0.0);
    tpRows rows = makeRows(system);
    tpJointTreatment treatment = { 0.01, 1.0, NULL, 0.01, 0.0, false };
    tpJoints_AddRows(&rows, system, system->poses.data, &treatment);
    for (int b = 0; b < rows.blockCount; ++b) {
        tpRows_ReadBlock(&rows, b, system->velocities.data, rows.q);
    }
    for (int k = 0; k < rows.rowCount; ++k) {
        rows.q[k] += rows.bias[k];
    }
    tpSolveSettings settings = { .cone = tp_circularCone, .directionCount = 8, .tolerance = 1e-12 };
    tpStepReport report = { .converged = true };
    assert_true(tpRows_Solve(&rows, system, memory, &settings, &report));
    assert_true(report.converged);
    assert_non_null(rows.solvedChange);
    tpVelocity told[links], done[links];
    double size = 0.0;
    for (int i = 0; i < links; ++i) {
        told[i] = done[i] = system->velocities.data[i];
    }
    tpRows_ApplySolved(&rows, told);
    tpRows_ApplyImpulses(&rows, done);
    for (int i = 0; i < links; ++i) {
        CHECK_NEAR(tpDistanceBetween(told[i].linear, done[i].linear), 0.0, 1e-13);
        CHECK_NEAR(tpDistanceBetween(told[i].angular, done[i].angular), 0.0, 1e-12);
        size += tpDistanceBetween(told[i].linear, system->velocities.data[i].linear);
    }
    assert_true(size > 0.1);
    tpDestroySolverMemory(memory);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hingesAreWrittenAsOthersAre),
        cmocka_unit_test(solvesTellWhatTheyChange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
