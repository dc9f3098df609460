// Mechanisms that are trees against the same mechanisms solved by rows of all joints: a spring
// without stiffness between two bodies makes a loop of any tree, and pushes nothing.

#include "support/check.h"
#include "tippe/joints.h"

enum { bodies = 6, kinds = 8 };

static tpVec3 randomVec(tpRandom* random, double size) {
    double x = randomBetween(random, -size, size), y = randomBetween(random, -size, size);
    return tpMakeVec3(x, y, randomBetween(random, -size, size));
}

// Laws by number: each coordinate has one or two of them.
static tpCoordinateDef randomLaws(tpRandom* random, int number, bool isBall) {
    tpCoordinateDef def = tpDefaultCoordinateDef();
    double range = randomBetween(random, 0.02, 0.2);
    // The angle of a ball joint has no direction where these start.
    switch (isBall ? 4 + number % 4 : number % kinds) {
    case 0:
        def.hasLimits = true;
        def.limits[0] = -range;
        def.limits[1] = range;
        break;
    case 1:
        def.hasSpring = true;
        def.spring = (tpSpring){ 20.0, 0.1, 0.1 };
        break;
    case 2:
        def.hasServo = true;
        def.servo = (tpServo){ 0.2, 0.0, 300.0, 5.0, 15.0 };
        break;
    case 3:
        def.hasMotor = true;
        def.motor = (tpMotor){ 1.0, 4.0 };
        break;
    case 4:
        def.friction = 1.0;
        break;
    case 5:
        def.damping = 0.3;
        break;
    case 6:
        def.armature = 0.2;
        break;
    default:
        break;
    }
    return def;
}

static const tpJointType types[] = { tp_revoluteJoint,  tp_ballJoint,    tp_prismaticJoint,
                                     tp_universalJoint, tp_fixedJoint,   tp_cylindricalJoint,
                                     tp_planarJoint,    tp_screwJoint,   tp_compoundJoint,
                                     tp_revoluteJoint,  tp_revoluteJoint };
enum { typeCount = sizeof(types) / sizeof(types[0]) };

static tpBodyId addBody(tpWorld* world, tpRandom* random, tpVec3 place, bool isMoving) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    if (isMoving) {
        def.velocity = randomVec(random, 0.2);
        def.angularVelocity = randomVec(random, 0.5);
    }
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.density = 1000.0;
    shape.mask = 0;
    tpBox box = { tpAdd(tpMakeVec3(0.2, 0.2, 0.2),
                        tpScale(0.5, tpAbsVec3(randomVec(random, 0.2)))) };
    tpCreateBox(world, body, &shape, &box, NULL);
    return body;
}

// A random tree; its root is free or joined to the world.
static tpWorld* makeTree(uint64_t seed, tpJointType type, bool isMoving, bool isLoop) {
    tpRandom random = { seed };
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_smallSteps;
    worldDef.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&worldDef);
    tpBodyId list[bodies], ground = { 0 };
    for (int i = 0; i < bodies; ++i) {
        int parent = i > 0 ? (int)randomBetween(&random, 0.0, i) : -1;
        tpVec3 place = tpMakeVec3(0.5 * i, 0.3 * (i % 2), 0.2 * (i % 3));
        list[i] = addBody(world, &random, place, isMoving);
        tpJointDef def = tpDefaultJointDef();
        def.type = type;
        def.axis = tpNormalize(tpAdd(tpMakeVec3(0.3, 1.0, 0.0), randomVec(&random, 0.5)));
        def.secondAxis = tpNormalize(tpCross(def.axis, tpMakeVec3(0.0, 0.0, 1.0)));
        def.pitch = type == tp_screwJoint ? 0.1 : 0.0;
        def.anchorA = def.anchorB = tpAdd(place, randomVec(&random, 0.3));
        def.coordinate = randomLaws(&random, (int)seed + i, type == tp_ballJoint);
        tpAxisDef axes[3] = { { NULL, tp_turnAxis, { 1.0, 0.0, 0.0 }, def.coordinate },
                              { NULL, tp_slideAxis, { 0.6, 0.0, 0.8 }, tpDefaultCoordinateDef() },
                              { NULL, tp_turnAxis, { 0.0, 1.0, 0.0 }, tpDefaultCoordinateDef() } };
        axes[1].coordinate = randomLaws(&random, (int)seed + i + 2, false);
        if (type == tp_compoundJoint) {
            def.axes = axes;
            def.axisCount = 3;
        }
        tpBodyId other = parent >= 0 ? list[parent] : ground;
        bool isTurned = i % 2 == 1;
        def.bodyA = isTurned ? list[i] : other;
        def.bodyB = isTurned ? other : list[i];
        if (parent >= 0 || seed % 4 < 2) {
            tpError error = { 0 };
            assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &def, &error)));
        }
    }
    if (isLoop) {
        tpJointDef def = tpDefaultJointDef();
        def.type = tp_springJoint;
        def.bodyA = list[0];
        def.bodyB = list[bodies - 1];
        def.anchorB = tpMakeVec3(1.0, 1.0, 1.0);
        assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &def, NULL)));
    }
    return world;
}

static double distanceOf(tpVec3 a, tpVec3 b) {
    return tpLength(tpSub(a, b));
}

static void compareBodies(tpWorld* const worlds[2], double h) {
    for (int i = 0; i < tpWorld_GetBodyCount(worlds[0]); ++i) {
        tpBodyId body = tpWorld_GetBody(worlds[0], i);
        tpVec3 places[2], speeds[2], turns[2];
        for (int k = 0; k < 2; ++k) {
            places[k] = tpBody_GetPosition(worlds[k], body);
            speeds[k] = tpBody_GetVelocity(worlds[k], body);
            turns[k] = tpBody_GetAngularVelocity(worlds[k], body);
        }
        CHECK_BELOW(distanceOf(places[0], places[1]), 2e-5);
        CHECK_BELOW(h * distanceOf(speeds[0], speeds[1]), 2e-5);
        CHECK_BELOW(h * distanceOf(turns[0], turns[1]), 2e-5);
    }
}

static void compareJoints(tpWorld* const worlds[2]) {
    for (int i = 0; i < tpWorld_GetJointCount(worlds[0]); ++i) {
        tpJointId joint = tpWorld_GetJoint(worlds[0], i);
        tpVec3 forces[2], torques[2];
        for (int k = 0; k < 2; ++k) {
            tpJoint_GetReaction(worlds[k], joint, &forces[k], &torques[k]);
        }
        double size = 1.0 + tpLength(forces[1]) + tpLength(torques[1]);
        CHECK_BELOW(distanceOf(forces[0], forces[1]), 3e-2 * size);
        CHECK_BELOW(distanceOf(torques[0], torques[1]), 3e-2 * size);
        for (int k = 0; k < tpJoint_GetCoordinateCount(worlds[0], joint); ++k) {
            tpCoordinateState a = tpJoint_GetState(worlds[0], joint, k);
            tpCoordinateState b = tpJoint_GetState(worlds[1], joint, k);
            CHECK_NEAR(a.value, b.value, 3e-5);
            CHECK_NEAR(a.effort, b.effort, 3e-2 * size);
            CHECK_NEAR(a.limitEffort, b.limitEffort, 3e-2 * size);
        }
    }
}

// Rows hold by stiffness, to a millionth; axes hold exactly. The two ways agree to that.
static void treesMoveAsRowsDo(void** state) {
    (void)state;
    for (int n = 0; n < 2 * kinds * typeCount; ++n) {
        tpJointType type = types[n % typeCount];
        bool isMoving = n % 2 == 1;
        tpWorld* worlds[2] = { makeTree((uint64_t)n, type, isMoving, false),
                               makeTree((uint64_t)n, type, isMoving, true) };
        // Short: rows are written anew in each substep if bodies turn by 0.005 rad in a step, axes
        // are not.
        double h = isMoving ? 1.0 / 2000.0 : 1.0 / 400.0;
        for (int k = 0; k < 20; ++k) {
            tpWorld_Step(worlds[0], h);
            tpWorld_Step(worlds[1], h);
        }
        compareBodies(worlds, h);
        compareJoints(worlds);
        tpDestroyWorld(worlds[0]);
        tpDestroyWorld(worlds[1]);
    }
}

// Values of hinges go on from step to step. Bodies that a user puts elsewhere have others.
static void valuesFollowBodiesThatArePut(void** state) {
    (void)state;
    for (int n = 0; n < 2 * kinds; ++n) {
        tpWorld* worlds[2] = { makeTree((uint64_t)n, tp_revoluteJoint, false, false),
                               makeTree((uint64_t)n, tp_revoluteJoint, false, true) };
        tpPose starts[bodies];
        for (int i = 0; i < bodies; ++i) {
            starts[i] = tpBody_GetPose(worlds[0], tpWorld_GetBody(worlds[0], i));
        }
        for (int k = 0; k < 60; ++k) {
            // Back to where they began, at rest.
            for (int i = 0; k == 40 && i < 2 * bodies; ++i) {
                tpBodyId body = tpWorld_GetBody(worlds[i % 2], i / 2);
                tpBody_SetPose(worlds[i % 2], body, starts[i / 2]);
                tpBody_SetVelocity(worlds[i % 2], body, tpZeroVec3(), tpZeroVec3());
            }
            tpWorld_Step(worlds[0], 1.0 / 400.0);
            tpWorld_Step(worlds[1], 1.0 / 400.0);
        }
        compareBodies(worlds, 1.0 / 400.0);
        tpDestroyWorld(worlds[0]);
        tpDestroyWorld(worlds[1]);
    }
}

// A row of ball joints that sags until all of them are at their limits. The direction of a small
// angle turns as fast as the angle is small, and a whip takes an angle through zero and past the
// other side within a substep: both used to gain energy without bound.
static tpWorld* makeRow(int count, double limit) {
    tpWorldDef worldDef = tpDefaultWorldDef();
    worldDef.stepper = tp_smallSteps;
    worldDef.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&worldDef);
    tpBodyId last = { 0 };
    for (int i = 0; i < count; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.position = tpMakeVec3(0.2 * (i + 0.5), 0.0, 0.0);
        tpBodyId body = tpCreateBody(world, &def, NULL);
        tpShapeDef shape = tpDefaultShapeDef();
        shape.density = 1000.0;
        shape.mask = 0;
        tpBox box = { tpMakeVec3(0.09, 0.04, 0.04) };
        tpCreateBox(world, body, &shape, &box, NULL);
        tpJointDef joint = tpDefaultJointDef();
        joint.type = tp_ballJoint;
        joint.bodyA = last;
        joint.bodyB = body;
        joint.anchorA = joint.anchorB = tpMakeVec3(0.2 * i, 0.0, 0.0);
        joint.axis = tpMakeVec3(1.0, 0.0, 0.0);
        joint.coordinate.hasLimits = true;
        joint.coordinate.limits[0] = 0.0;
        joint.coordinate.limits[1] = limit;
        assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &joint, NULL)));
        last = body;
    }
    return world;
}

static void ballsRestAtTheirLimits(void** state) {
    (void)state;
    static const struct {
        int count;
        double limit, drift;
    } rows[] = { { 4, 0.02, 1e-4 },  { 4, 0.05, 1e-4 }, { 4, 0.2, 1e-4 },  { 10, 0.02, 1e-4 },
                 { 10, 0.05, 1e-4 }, { 10, 0.1, 1e-4 }, { 10, 0.2, 1e-4 }, { 20, 0.05, 0.05 } };
    for (int r = 0; r < (int)(sizeof(rows) / sizeof(rows[0])); ++r) {
        tpWorld* world = makeRow(rows[r].count, rows[r].limit);
        double drift = 0.0, most = 0.0;
        double start = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
        for (int i = 0; i < 240; ++i) {
            tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
            double energy = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
            most = fmax(most, energy - start);
            drift = fmax(drift, report.jointDrift);
        }
        CHECK_BELOW(most, 1e-9);
        CHECK_BELOW(drift, rows[r].drift);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(treesMoveAsRowsDo),
        cmocka_unit_test(valuesFollowBodiesThatArePut),
        cmocka_unit_test(ballsRestAtTheirLimits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
