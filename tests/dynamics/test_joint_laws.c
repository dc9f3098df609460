// Laws of coordinates: limits, responses, energies of springs and armatures.

#include "joint_rows.h"
#include <string.h>

#include "ball_cases.h"
#include "dynamics/joint_laws.h"

// A rod of mass 2 on a hinge 1 m from its centre; moment about the hinge I + m.
static tpWorld* makeRod(double stiffness, double armature) {
    tpWorld* world = makeEmptyWorld();
    int rod = addBall(world, tpMakeVec3(1.0, 0.0, 0.0), tpZeroVec3());
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_revoluteJoint;
    joint.bodyB = tpWorld_GetBody(world, rod);
    joint.axis = tpMakeVec3(0.0, 1.0, 0.0);
    joint.coordinate.hasSpring = stiffness > 0.0;
    joint.coordinate.spring = (tpSpring){ stiffness, 0.0, 0.25 };
    joint.coordinate.armature = armature;
    tpCreateJoint(world, &joint, NULL);
    return world;
}

static void testLimits(void** state) {
    (void)state;
    const double limits[2] = { -0.5, 2.0 }, open[2] = { -INFINITY, 2.0 };
    assert_true(tpPastLimit(limits, 0.3) == 0.0 && tpPastLimit(limits, 2.0) == 0.0);
    CHECK_NEAR(tpPastLimit(limits, 2.5), 0.5, 1e-15);
    CHECK_NEAR(tpPastLimit(limits, -0.75), -0.25, 1e-15);
    assert_true(tpPastLimit(open, -1e9) == 0.0);
}

// The sides of the limits that rows on velocities hold, as bits: 1 for the lower, 2 for the upper.
static int heldSides(tpSystem* system, const tpJointTreatment* treatment) {
    int blocks, count, sides = 0;
    tpRows rows;
    tpJoints_Count(system, &blocks, &count);
    assert_true(tpRows_Create(&rows, system, blocks, count));
    tpRows_SetMasses(&rows, system);
    tpJoints_AddRows(&rows, system, system->poses.data, treatment);
    for (int b = 0; b < rows.blockCount; ++b) {
        sides |= rows.infos[b].role == tp_limitRole ? 1 << rows.infos[b].part : 0;
    }
    return sides;
}

// A drift meets limits to the tolerance of its solve. In the second half of the step a limit that
// pushed in the drift holds even if it has been left more room than a reached one may have. Without
// it what rests on the limit fell freely for half a step: the torso of a humanoid that rests on a
// coupling's limit had 7e-4 m/s in one step of fifteen.
static void limitsThatPushedAreReached(void** state) {
    (void)state;
    for (int isCoupling = 0; isCoupling < 2; ++isCoupling) {
        tpWorld* world = makeRod(0.0, 0.0);
        tpSystem* system = &world->system;
        const double limits[2] = { -1e-7, 1e-7 };
        double* effort = &system->joints.data[0].coordinates[0].limitEffort;
        if (isCoupling) {
            tpCouplingTerm term = { tpWorld_GetJoint(world, 0), 0, 1.0 };
            tpCouplingDef def = tpDefaultCouplingDef();
            def.terms = &term;
            def.termCount = 1;
            def.hasLimits = true;
            memcpy(def.limits, limits, sizeof(limits));
            assert_true(tpCreateCoupling(world, &def, NULL).generation != 0);
            effort = &system->couplings.data[0].limitEffort;
        } else {
            system->joints.data[0].coordinates[0].def.hasLimits = true;
            memcpy(system->joints.data[0].coordinates[0].def.limits, limits, sizeof(limits));
        }
        for (int sign = -1; sign <= 1; ++sign) {
            tpJointTreatment treatment = { 0.01, 0.0, NULL, 0.005, 0.0, false };
            *effort = sign;
            assert_int_equal(heldSides(system, &treatment), 0);
            treatment.isAfterDrift = true;
            int pushed = sign == 0 ? 0 : sign > 0 ? 1 : 2;
            assert_int_equal(heldSides(system, &treatment), pushed);
        }
        tpDestroyWorld(world);
    }
}

// A unit of impulse gives no more than the bodies' own masses allow: on the rod alone, about its
// centre of mass and with it along the arm, at least what the hinge leaves of it.
static void testResponse(void** state) {
    (void)state;
    tpWorld* world = makeRod(0.0, 0.0);
    tpSystem* system = &world->system;
    const tpJoint* joint = &system->joints.data[0];
    tpJointPlace place = tpJoint_Place(joint, system->poses.data);
    double response = tpCoordinate_Response(system, joint, &place, 0);
    double hinged = 1.0 / (ballMoment + ballMass);
    assert_true(response >= hinged * (1.0 - 1e-12) && response <= 1.0 / ballMoment * (1.0 + 1e-12));
    tpDestroyWorld(world);
}

// k (q - rest)^2 / 2 and a w^2 / 2.
static void testEnergies(void** state) {
    (void)state;
    tpWorld* world = makeRod(8.0, 0.5);
    tpSystem* system = &world->system;
    CHECK_NEAR(tpJoints_PotentialEnergy(system), 0.5 * 8.0 * 0.25 * 0.25, 1e-14);
    CHECK_NEAR(tpJoints_KineticEnergy(system), 0.0, 1e-15);
    system->velocities.data[0].angular = tpMakeVec3(0.0, 3.0, 0.0);
    system->velocities.data[0].linear = tpMakeVec3(0.0, 0.0, -3.0);
    CHECK_NEAR(tpJoints_KineticEnergy(system), 0.5 * 0.5 * 9.0, 1e-14);
    tpDestroyWorld(world);
}

// A soft law acts by halves, one that is stiff for the step by more before the drift.
static void testShare(void** state) {
    (void)state;
    CHECK_NEAR(tpLawShare(0.01, 1e-9, 0.0, 1.0), 0.5, 1e-6);
    double last = tpLawShare(0.01, 1.0, 0.0, 1.0);
    for (double k = 10.0; k < 1e9; k *= 10.0) {
        double share = tpLawShare(0.01, k, 0.0, 1.0);
        assert_true(share >= last - 1e-12 && share <= 1.0 + 1e-12);
        last = share;
    }
}

// Servos of one mechanism share alike, be it joined by joints or by a coupling alone.
static void testLevelShares(void** state) {
    (void)state;
    double shares[2][2];
    for (int isCoupled = 0; isCoupled < 2; ++isCoupled) {
        tpWorld* world = makeEmptyWorld();
        addBall(world, tpMakeVec3(0.0, 9.0, 0.0), tpZeroVec3()); // of no mechanism
        tpCouplingTerm terms[2];
        for (int i = 0; i < 2; ++i) {
            int rod = addBall(world, tpMakeVec3(1.0, 3.0 * i, 0.0), tpZeroVec3());
            tpJointDef def = tpDefaultJointDef();
            def.type = tp_revoluteJoint;
            def.bodyB = tpWorld_GetBody(world, rod);
            def.axis = tpMakeVec3(0.0, 1.0, 0.0);
            def.coordinate.hasServo = true;
            def.coordinate.servo.stiffness = i == 0 ? 1.0 : 1e7;
            terms[i] = (tpCouplingTerm){ tpCreateJoint(world, &def, NULL), 0, i == 0 ? 1.0 : -2.0 };
        }
        if (isCoupled) {
            tpCouplingDef def = tpDefaultCouplingDef();
            def.terms = terms;
            def.termCount = 2;
            def.hasValue = true;
            assert_true(tpCreateCoupling(world, &def, NULL).generation != 0);
        }
        tpJoints_BeginLaws(&world->system, 0.01);
        for (int i = 0; i < 2; ++i) {
            shares[isCoupled][i] = world->system.joints.data[i].coordinates[0].servoShare;
        }
        tpDestroyWorld(world);
    }
    assert_true(shares[0][0] < 0.6 && shares[0][1] > 0.9);
    assert_true(shares[1][0] == shares[1][1] && shares[1][1] >= shares[0][1]);
}

// Half before the drift, unless the fastest rate of the law, the root of x^2 = x d w + k w, turns
// the motion round within the step.
static void sharesFollowTheFastestRate(void** state) {
    (void)state;
    const double h = 0.02, stiffness[] = { 0.0, 3.0, 4e3, 7e6 }, damping[] = { 0.0, 0.5, 900.0 };
    const double responses[] = { 0.03, 1.0, 20.0 };
    int stiff = 0;
    for (int i = 0; i < 36; ++i) {
        double k = stiffness[i % 4], d = damping[i / 4 % 3], w = responses[i / 12];
        double share = tpLawShare(h, k, d, w), x = share > 0.5 ? 1.0 / (1.0 - share) / h : 2.0 / h;
        double over = x * x - x * d * w - k * w;
        if (share > 0.5) {
            CHECK_NEAR(over / (x * x), 0.0, 1e-12);
            stiff += 1;
        } else {
            assert_true(over >= 0.0); // the root is below 2 / h
        }
    }
    assert_true(stiff > 5 && stiff < 31);
}

enum { forestBodies = 14, forestJoints = 11 };

// A hinge between two bodies, or the world and one, with a servo of any stiffness or none.
static void addForestHinge(tpWorld* world, tpRandom* random, int a, int b) {
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_revoluteJoint;
    def.bodyB = tpWorld_GetBody(world, b);
    if (a >= 0) {
        def.bodyA = tpWorld_GetBody(world, a);
    }
    def.anchorA = def.anchorB = tpMakeVec3(3.0 * b + 1.0, 0.2, 0.1);
    def.axis = tpMakeVec3(0.0, 0.6, 0.8);
    def.coordinate.hasServo = randomBetween(random, 0.0, 1.0) < 0.7;
    def.coordinate.servo.stiffness = pow(10.0, randomBetween(random, 0.0, 8.0));
    def.coordinate.servo.damping = 0.3;
    assert_true(tpCreateJoint(world, &def, NULL).generation != 0);
}

// The largest share of a mechanism, found by telling neighbours again and again.
static void shareAround(const tpSystem* system, double h, double* largest) {
    for (int i = 0; i < system->bodyCount; ++i) {
        largest[i] = 0.5;
    }
    for (int round = 0; round < system->bodyCount; ++round) {
        for (int i = 0; i < system->joints.count; ++i) {
            const tpJoint* joint = &system->joints.data[i];
            tpJointPlace place = tpJoint_Place(joint, system->poses.data);
            const tpCoordinateDef* def = &joint->coordinates[0].def;
            double own = def->hasServo ? tpLawShare(h, def->servo.stiffness, def->servo.damping,
                                                    tpCoordinate_Response(system, joint, &place, 0))
                                       : 0.5;
            double* b = &largest[joint->bodyB];
            *b = fmax(*b, own);
            if (joint->bodyA >= 0) {
                double* a = &largest[joint->bodyA];
                *a = *b = fmax(*a, *b);
            }
        }
    }
}

// In forests of hinges every servo has the largest share of those that it hangs together with, and
// no more.
static void sharesOfForests(void** state) {
    (void)state;
    tpRandom random = { 7 };
    int different = 0;
    for (int n = 0; n < 40; ++n) {
        tpWorld* world = makeEmptyWorld();
        for (int i = 0; i < forestBodies; ++i) {
            addBall(world, tpMakeVec3(3.0 * i, 0.0, 0.0), tpZeroVec3());
        }
        for (int b = 1; b <= forestJoints; ++b) {
            int other = (int)randomBetween(&random, -3.0, b);
            addForestHinge(world, &random, other < 0 ? -1 : other, b);
        }
        double largest[forestBodies];
        const tpSystem* system = &world->system;
        tpJoints_BeginLaws(&world->system, 0.01);
        shareAround(system, 0.01, largest);
        for (int i = 0; i < system->joints.count; ++i) {
            const tpJoint* joint = &system->joints.data[i];
            if (joint->coordinates[0].def.hasServo) {
                CHECK_NEAR(joint->coordinates[0].servoShare, largest[joint->bodyB], 1e-12);
                different += fabs(largest[joint->bodyB] - largest[1]) > 1e-3;
            }
        }
        tpDestroyWorld(world);
    }
    assert_true(different > 100);
}

// The load of a motor's row is the most that it gives, whatever that is in the units of the scene:
// it moves the row of its load by its speed in these units, one, in front of the speed that the
// motor's impulse makes.
static void motorsHaveTheirLoad(void** state) {
    (void)state;
    for (int k = 0; k < 27; ++k) {
        tpWorld* world = makeEmptyWorld();
        int ball = addBall(world, tpMakeVec3(1.0, 0.0, 0.0), tpZeroVec3());
        tpJointDef def = tpDefaultJointDef();
        def.type = tp_revoluteJoint;
        def.bodyB = tpWorld_GetBody(world, ball);
        def.axis = tpMakeVec3(0.0, 1.0, 0.0);
        def.coordinate.hasMotor = true;
        def.coordinate.motor.speed = 3.0;
        def.coordinate.motor.effort = pow(10.0, k / 9 * 3.0 - 3.0);
        tpCreateJoint(world, &def, NULL);
        tpSystem* system = &world->system;
        double speed = system->units.speed = ldexp(1.0, 10 * (k % 3 - 1));
        double mass = system->units.mass = ldexp(1.0, 10 * (k / 3 % 3 - 1));
        tpRows rows = makeJointRows(system);
        int found = 0;
        for (int b = 0; b < rows.blockCount; ++b) {
            if (rows.infos[b].source == tp_boundedSource) {
                int first = rows.firstRows[b];
                double limit = 0.01 * def.coordinate.motor.effort, scale = rows.scale[first];
                double compliance = rows.compliance[first] * scale * scale * mass;
                double pushed = limit / (scale * mass * speed); // the motor's speed, in units
                CHECK_NEAR(compliance * (1.0 + pushed), 1.0, 1e-12);
                CHECK_NEAR(rows.bias[first] + limit * rows.compliance[first], 0.0,
                           1e-12 * limit * rows.compliance[first]);
                CHECK_NEAR(rows.impulse[first], limit, 1e-15 * limit);
                found += 1;
            }
        }
        assert_int_equal(found, 1);
        tpDestroyWorld(world);
    }
}

// A servo on a hinge is as stiff from either side: a light body and a heavy one, or the world.
static void sharesHaveNoSide(void** state) {
    (void)state;
    for (int k = 0; k < 8; ++k) {
        bool isWorld = k % 2 == 1;
        double shares[2], stiffness = pow(10.0, 1.0 + 0.5 * (k / 2));
        for (int order = 0; order < 2; ++order) {
            tpWorld* world = makeEmptyWorld();
            int light = addBall(world, tpMakeVec3(1.0, 0.0, 0.0), tpZeroVec3());
            int heavy = addBall(world, tpMakeVec3(2.0, 0.0, 0.0), tpZeroVec3());
            tpMassProperties mass = tpBody_GetMass(world, tpWorld_GetBody(world, heavy));
            mass.mass = 1e6;
            mass.inertia = tpDiagonal(tpMakeVec3(1e5, 1e5, 1e5));
            assert_true(tpSystem_SetMass(&world->system, heavy, &mass));
            tpJointDef def = tpDefaultJointDef();
            def.type = tp_revoluteJoint;
            tpBodyId other = isWorld ? (tpBodyId){ 0, 0 } : tpWorld_GetBody(world, heavy);
            def.bodyA = order == 0 ? other : tpWorld_GetBody(world, light);
            def.bodyB = order == 0 ? tpWorld_GetBody(world, light) : other;
            def.anchorA = def.anchorB = tpMakeVec3(1.0, 0.0, 0.0);
            def.axis = tpMakeVec3(0.0, 1.0, 0.0);
            def.coordinate.hasServo = true;
            def.coordinate.servo.stiffness = stiffness;
            tpCreateJoint(world, &def, NULL);
            tpJoints_BeginLaws(&world->system, 0.1);
            shares[order] = world->system.joints.data[0].coordinates[0].servoShare;
            tpDestroyWorld(world);
        }
        // h^2 k / I decides: the joint is at the middle of the light body.
        double expected = tpLawShare(0.1, stiffness, 0.0, 1.0 / ballMoment);
        CHECK_NEAR(shares[0], expected, 1e-4);
        CHECK_NEAR(shares[1], shares[0], 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(sharesOfForests),
                                        cmocka_unit_test(sharesHaveNoSide),
                                        cmocka_unit_test(motorsHaveTheirLoad),
                                        cmocka_unit_test(sharesFollowTheFastestRate),
                                        cmocka_unit_test(limitsThatPushedAreReached),
                                        cmocka_unit_test(testLimits),
                                        cmocka_unit_test(testResponse),
                                        cmocka_unit_test(testEnergies),
                                        cmocka_unit_test(testShare),
                                        cmocka_unit_test(testLevelShares) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
