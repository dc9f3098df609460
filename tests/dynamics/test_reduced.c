// Trees of hinges are solved in joint coordinates, everything else by rows (dynamics/reduced.h).
// Both have the same equations: a mechanism moves alike if bodies somewhere else are joined by
// hinges and if they are joined by cylinders, which lets the whole system have rows.

#include "support/floor.h"
#include "support/joint_worlds.h"
#include "tippe/complementarity.h"
#include "world/world.h"

enum { mostLinks = 12 };

typedef struct Mechanism {
    tpWorld* world;
    tpBodyId bodies[mostLinks];
    tpJointId joints[mostLinks];
    int bodyCount, jointCount;
} Mechanism;

typedef enum Base { freeBase, worldBase, movingBase } Base;

// Of the laws of joints; or that some joints are no hinges, and two are coupled.
typedef enum Kind { lawsKind, drivesKind, othersKind } Kind;

// Pairs of bodies far away that nothing moves, and their joints: hinges, or so many others that
// the whole system has rows.
static void addOthers(tpWorld* world, bool hasRows) {
    for (int k = 0; k < 12; ++k) {
        tpBodyId ids[2];
        tpVec3 places[2] = { { 900.0, 10.0 * k, 900.0 }, { 901.0, 10.0 * k, 900.0 } };
        for (int i = 0; i < 2; ++i) {
            tpBodyDef def = bodyAt(places[i], 1.0, tpMakeVec3(0.1, 0.1, 0.1));
            def.gravityScale = 0.0;
            ids[i] = addBodyOf(world, &def);
        }
        tpJointType type = hasRows ? tp_cylindricalJoint : tp_revoluteJoint;
        tpJointDef joint = jointOf(type, ids[0], ids[1], places[0], axisX);
        addJoint(world, &joint);
    }
}

static void setLaws(tpCoordinateDef* def, tpRandom* random, int number) {
    def->zero = randomBetween(random, -0.5, 0.5);
    switch (number % 5) {
    case 0:
        def->hasServo = true;
        def->servo.effort = INFINITY;
        def->servo.target = def->zero + randomBetween(random, -0.3, 0.3);
        def->servo.stiffness = 60.0;
        def->servo.damping = 3.0;
        def->armature = 0.02;
        break;
    case 1:
        def->hasSpring = true;
        def->spring.stiffness = 20.0;
        def->spring.damping = 0.4;
        def->spring.rest = def->zero + 0.2;
        break;
    case 2:
        def->damping = 0.5;
        def->armature = 0.05;
        break;
    case 3:
        def->hasLimits = true;
        def->limits[0] = def->zero - 0.2;
        def->limits[1] = def->zero + 0.2;
        break;
    default: // a servo that is stiff for the step
        def->hasServo = true;
        def->servo.effort = INFINITY;
        def->servo.target = def->zero;
        def->servo.stiffness = 1e5;
        def->servo.damping = 1e3;
        break;
    }
}

// Laws with bounds, of which some act within them and some at them.
static void setDrives(tpCoordinateDef* def, tpRandom* random, int number) {
    setLaws(def, random, number);
    def->hasServo = def->hasServo || number % 5 == 2;
    def->servo.target = def->zero + randomBetween(random, -0.3, 0.3);
    def->servo.stiffness = fmax(def->servo.stiffness, 20.0);
    def->servo.damping = fmax(def->servo.damping, 1.0);
    def->servo.effort = randomBetween(random, 0.5, 8.0);
    if (number % 4 == 1) {
        def->hasMotor = true;
        def->motor.speed = randomBetween(random, -1.0, 1.0);
        def->motor.effort = randomBetween(random, 0.2, 3.0);
    } else if (!def->hasLimits) {
        // Friction and a limit share a load in many ways.
        def->friction = randomBetween(random, 0.05, 2.0);
    }
}

// Every third joint is none of a tree.
static void setJoint(tpJointDef* joint, tpRandom* random, Kind kind, int number) {
    static const tpJointType types[] = { tp_prismaticJoint, tp_ballJoint, tp_fixedJoint };
    if (kind != othersKind || number % 3 != 1) {
        (kind == lawsKind ? setLaws : setDrives)(&joint->coordinate, random, number);
        return;
    }
    joint->type = types[number / 3 % 3];
    if (joint->type == tp_prismaticJoint) {
        joint->coordinate.hasSpring = true;
        joint->coordinate.spring.stiffness = 300.0;
        joint->coordinate.spring.damping = 5.0;
        // It comes to them: a slide that turns with its body passed them by 7e-5 m.
        joint->coordinate.hasLimits = true;
        joint->coordinate.limits[0] = -0.03;
        joint->coordinate.limits[1] = 0.03;
    }
}

// The sum of two coordinates stays what it is.
static void couple(const Mechanism* mechanism, int a, int b) {
    tpCouplingTerm terms[2] = { { mechanism->joints[a], 0, 1.0 },
                                { mechanism->joints[b], 0, -0.7 } };
    tpCouplingDef def = tpDefaultCouplingDef();
    def.hasValue = true;
    def.value = tpJoint_GetState(mechanism->world, terms[0].joint, 0).value -
                0.7 * tpJoint_GetState(mechanism->world, terms[1].joint, 0).value;
    def.terms = terms;
    def.termCount = 2;
    tpError error = { 0 };
    assert_true(
        tpCoupling_IsValid(mechanism->world, tpCreateCoupling(mechanism->world, &def, &error)));
}

static tpBodyId addBase(Mechanism* mechanism, Base base) {
    if (base == worldBase) {
        return theWorld;
    }
    tpBodyDef def = bodyAt(tpMakeVec3(0.0, 0.0, 1.2), 3.0, tpMakeVec3(0.05, 0.08, 0.11));
    def.kind = base == movingBase ? tp_kinematicBody : tp_dynamicBody;
    def.velocity = tpMakeVec3(0.3, -0.2, 0.0);
    def.angularVelocity = tpMakeVec3(0.5, 1.0, -0.7);
    return mechanism->bodies[mechanism->bodyCount++] = addBodyOf(mechanism->world, &def);
}

// A random tree of bodies with three different moments and a ball each, over a floor.
static Mechanism makeMechanism(uint64_t seed, Base base, Kind kind, bool hasRows) {
    tpRandom random = { seed };
    Mechanism mechanism = { .world = worldWithFloor(tp_anitescu, 0.6, 0.0) };
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.group = 2; // balls meet the floor and nothing else
    shape.mask = 1;
    tpBodyId first = addBase(&mechanism, base);
    tpVec3 places[mostLinks] = { { 0.0, 0.0, 1.2 } };
    for (int i = 1; i < mostLinks - 2; ++i) {
        int parent = base == worldBase && i == 1 ? 0 : (int)(randomBits(&random) % (unsigned)i);
        parent = base == worldBase && i > 1 && parent == 0 ? 1 : parent;
        tpVec3 way = randomVec3(&random, -0.3, 0.3);
        way.z = -fabs(way.z);
        places[i] = tpAdd(places[parent], way);
        tpBodyDef def = bodyAt(places[i], 1.0 + 0.1 * i, randomVec3(&random, 0.010, 0.018));
        tpBodyId body = addBodyOf(mechanism.world, &def);
        tpCreateSphere(mechanism.world, body, &shape, &(tpSphere){ .radius = 0.06 }, NULL);
        tpBodyId other = parent == 0 ? first : mechanism.bodies[parent - (base == worldBase)];
        tpVec3 axis = tpNormalize(randomVec3(&random, -1.0, 1.0));
        tpVec3 anchor = tpMulAdd(places[parent], 0.6, way);
        // Some joints go from the child to its parent.
        tpJointDef joint =
            i % 3 == 2 ? hingeOf(body, other, anchor, axis) : hingeOf(other, body, anchor, axis);
        setJoint(&joint, &random, kind, i);
        mechanism.joints[mechanism.jointCount++] = addJoint(mechanism.world, &joint);
        mechanism.bodies[mechanism.bodyCount++] = body;
    }
    if (kind == othersKind) {
        couple(&mechanism, 1, 4);
    }
    addOthers(mechanism.world, hasRows);
    return mechanism;
}

typedef struct Difference {
    double pose, velocity, reaction, effort, energy, residual;
    double work, iterations; // of all steps in joint coordinates
} Difference;

static void compareJoints(const Mechanism* a, const Mechanism* b, Difference* difference) {
    for (int i = 0; i < a->jointCount; ++i) {
        tpVec3 force[2], torque[2];
        tpJoint_GetReaction(a->world, a->joints[i], &force[0], &torque[0]);
        tpJoint_GetReaction(b->world, b->joints[i], &force[1], &torque[1]);
        double size = 1.0 + tpLength(force[1]) + tpLength(torque[1]);
        double off =
            tpDistanceBetween(force[0], force[1]) + tpDistanceBetween(torque[0], torque[1]);
        difference->reaction = fmax(difference->reaction, off / size);
        if (tpJoint_GetCoordinateCount(a->world, a->joints[i]) == 0) {
            continue;
        }
        tpCoordinateState left = tpJoint_GetState(a->world, a->joints[i], 0);
        tpCoordinateState right = tpJoint_GetState(b->world, b->joints[i], 0);
        size = 1.0 + fabs(right.effort) + fabs(right.limitEffort);
        off = fabs(left.effort - right.effort) + fabs(left.limitEffort - right.limitEffort);
        difference->effort = fmax(difference->effort, off / size);
    }
}

static void compare(const Mechanism* a, const Mechanism* b, Difference* difference) {
    for (int i = 0; i < a->bodyCount; ++i) {
        tpPose poseA = tpBody_GetPose(a->world, a->bodies[i]);
        tpPose poseB = tpBody_GetPose(b->world, b->bodies[i]);
        tpVec3 turn = tpQuatLog(tpMulQQ(poseA.rotation, tpConjugate(poseB.rotation)));
        double off = tpDistanceBetween(poseA.position, poseB.position) + tpLength(turn);
        difference->pose = fmax(difference->pose, off);
        off = tpDistanceBetween(tpBody_GetVelocity(a->world, a->bodies[i]),
                                tpBody_GetVelocity(b->world, b->bodies[i])) +
              tpDistanceBetween(tpBody_GetAngularVelocity(a->world, a->bodies[i]),
                                tpBody_GetAngularVelocity(b->world, b->bodies[i]));
        difference->velocity = fmax(difference->velocity, off);
    }
    compareJoints(a, b, difference);
}

static Difference stepBoth(const Mechanism* a, const Mechanism* b, int steps, int* contacts) {
    Difference difference = { 0 };
    for (int k = 0; k < steps; ++k) {
        tpStepReport left = tpWorld_Step(a->world, 0.005), right = tpWorld_Step(b->world, 0.005);
        assert_int_equal(left.failureCount, 0);
        assert_int_equal(left.contactCount, right.contactCount);
        *contacts += left.contactCount;
        double size = 1.0 + tpWorld_GetKineticEnergy(a->world);
        double off = fabs(left.externalWork - right.externalWork) +
                     fabs(left.frictionLoss - right.frictionLoss) +
                     fabs(left.impactLoss - right.impactLoss);
        difference.energy = fmax(difference.energy, off / size);
        difference.residual = fmax(difference.residual, left.residual);
        difference.work += a->world->system.solveWork;
        difference.iterations += left.iterationCount;
        CHECK_BELOW(left.jointDrift, fmax(1e-10, 2.0 * right.jointDrift));
        compare(a, b, &difference);
    }
    return difference;
}

static void worsen(Difference* worst, const Difference* difference) {
    worst->pose = fmax(worst->pose, difference->pose);
    worst->velocity = fmax(worst->velocity, difference->velocity);
    worst->reaction = fmax(worst->reaction, difference->reaction);
    worst->effort = fmax(worst->effort, difference->effort);
    worst->energy = fmax(worst->energy, difference->energy);
    worst->residual = fmax(worst->residual, difference->residual);
    worst->work += difference->work;
    worst->iterations += difference->iterations;
}

static void print(const char* name, const Difference* worst, int contacts) {
    print_message("%s: poses %.1e, velocities %.1e, reactions %.1e, efforts %.1e, account %.1e, "
                  "residual %.1e, %d contacts, %.0f iterations, work %.4e\n",
                  name, worst->pose, worst->velocity, worst->reaction, worst->effort, worst->energy,
                  worst->residual, contacts, worst->iterations, worst->work);
}

// Roundings grow while a mechanism falls over. Iterations and multiply-adds of all its solves are
// counted: a choice that is none, or factors that are not kept, show in them alone.
static void agree(Kind kind) {
    static const char* names[] = { "free", "on the world", "on a moving body" };
    static const double iterations[3][3] = { { 3729.0, 3049.0, 12515.0 },
                                             { 7265.0, 2387.0, 14692.0 },
                                             { 6241.0, 4371.0, 27409.0 } };
    static const double work[3][3] = { { 1.727e4, 946.7, 0.0 },
                                       { 1.4135e5, 3279.0, 5719.0 },
                                       { 1.576e7, 1.114e7, 1.052e7 } };
    const double more = kind == othersKind ? 1.5 : 1.1; // slides and couplings vary by 15 %
    for (int base = freeBase; base <= movingBase; ++base) {
        int contacts = 0;
        Difference worst = { 0 };
        for (uint64_t seed = 1; seed <= 6; ++seed) {
            Mechanism a = makeMechanism(seed, (Base)base, kind, false);
            Mechanism b = makeMechanism(seed, (Base)base, kind, true);
            Difference difference = stepBoth(&a, &b, 100, &contacts);
            worsen(&worst, &difference);
            tpDestroyWorld(a.world);
            tpDestroyWorld(b.world);
        }
        print(names[base], &worst, contacts);
        assert_true(base == movingBase || (kind != lawsKind && base == worldBase) || contacts > 20);
        // Rounds of a drift end at 1e-12 m, and what meets the floor grows it.
        CHECK_BELOW(worst.pose, base == freeBase ? 1e-9 : 1e-11);
        CHECK_BELOW(worst.velocity, 1e-7);
        CHECK_BELOW(worst.reaction, 1e-7);
        CHECK_BELOW(worst.effort, 1e-6);
        CHECK_BELOW(worst.energy, 1e-8);
        CHECK_BELOW(worst.residual, 1e-8);
        CHECK_BELOW(worst.iterations, more * iterations[kind][base]);
        CHECK_BELOW(0.5 * iterations[kind][base], worst.iterations);
        CHECK_BELOW(worst.work, more * work[kind][base] + 1.0);
    }
}

static void rowsAndCoordinatesAgree(void** state) {
    (void)state;
    agree(lawsKind);
}

static void drivesAgree(void** state) {
    (void)state;
    agree(drivesKind);
}

static void othersAgree(void** state) {
    (void)state;
    agree(othersKind);
}

// Two arms that hang from one body of the world close on a row of loose balls.
static Mechanism makeGrip(bool hasRows) {
    Mechanism mechanism = { .world = worldWithFloor(tp_anitescu, 0.5, 0.0) };
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    for (int side = -1; side <= 1; side += 2) {
        tpBodyId parent = theWorld;
        for (int k = 0; k < 2; ++k) {
            tpVec3 place = { 0.3 * side, 0.0, 0.85 - 0.4 * k };
            tpBodyDef def = bodyAt(place, 1.0, tpMakeVec3(0.02, 0.025, 0.01));
            tpBodyId body = addBodyOf(mechanism.world, &def);
            tpCreateCapsule(mechanism.world, body, &shape,
                            &(tpCapsule){ .radius = 0.05, .length = 0.25 }, NULL);
            tpVec3 anchor = { place.x, 0.0, place.z + 0.2 };
            tpJointDef joint = hingeOf(parent, body, anchor, axisY);
            joint.coordinate.hasServo = true;
            joint.coordinate.servo.target = 0.35 * side;
            joint.coordinate.servo.stiffness = 40.0;
            joint.coordinate.servo.damping = 4.0;
            mechanism.joints[mechanism.jointCount++] = addJoint(mechanism.world, &joint);
            mechanism.bodies[mechanism.bodyCount++] = parent = body;
        }
    }
    for (int i = -1; i <= 1; ++i) {
        tpBodyDef def = bodyAt(tpMakeVec3(0.11 * i, 0.0, 0.05), 0.3, tpMakeVec3(3e-4, 3e-4, 3e-4));
        tpBodyId ball = addBodyOf(mechanism.world, &def);
        tpCreateSphere(mechanism.world, ball, &shape, &(tpSphere){ .radius = 0.05 }, NULL);
        mechanism.bodies[mechanism.bodyCount++] = ball;
    }
    addOthers(mechanism.world, hasRows);
    return mechanism;
}

static void treesMeetLooseBodies(void** state) {
    (void)state;
    Mechanism a = makeGrip(false), b = makeGrip(true);
    int contacts = 0;
    Difference difference = stepBoth(&a, &b, 100, &contacts);
    print("grip", &difference, contacts);
    assert_true(contacts > 300);
    CHECK_BELOW(difference.pose, 1e-11);
    CHECK_BELOW(difference.velocity, 1e-10);
    CHECK_BELOW(difference.reaction, 1e-9);
    CHECK_BELOW(difference.energy, 1e-10);
    CHECK_BELOW(difference.residual, 1e-8);
    tpDestroyWorld(a.world);
    tpDestroyWorld(b.world);
}

// W of the problems that a step poses is made for whoever looks on, row by row; the solve has made
// its own. Impulses of the one are judged by the other.
typedef struct Seen {
    int count;
    double worst;
    tpSolverMemory* memory;
} Seen;

static void look(const tpPosedProblem* posed, void* context) {
    Seen* seen = context;
    double u[256];
    tpFrictionResidual judged;
    assert_true(tpFriction_RowCount(posed->problem) <= 256);
    assert_true(tpFriction_Judge(posed->problem, posed->impulse, u, seen->memory, &judged));
    seen->worst = fmax(seen->worst, judged.natural);
    // What is said is what is left, however much that is.
    CHECK_NEAR(posed->residual, judged.natural, 1e-11 + 1e-6 * judged.natural);
    seen->count += 1;
}

static void checkPosed(const Mechanism* mechanism) {
    Seen seen = { .memory = tpCreateSolverMemory(NULL) };
    tpWorld_SetProblemHook(mechanism->world, look, &seen);
    stepOn(mechanism->world, 0.005, 60);
    assert_true(seen.count > 100);
    CHECK_BELOW(seen.worst, 1e-8);
    tpDestroySolverMemory(seen.memory);
    tpDestroyWorld(mechanism->world);
}

static void posedProblemsAreSolved(void** state) {
    (void)state;
    Mechanism grip = makeGrip(false), driven = makeMechanism(2, freeBase, drivesKind, false),
              others = makeMechanism(4, worldBase, othersKind, false);
    checkPosed(&grip);
    checkPosed(&driven); // rows of drives are among them, though trees have solved these
    checkPosed(&others);
}

// Two balls on a hinge lie on the floor, and a ceiling comes down on them: nothing satisfies these
// contacts, and the residual is that of whoever looks at the impulses.
static tpStepReport pressBalls(double speed, Seen* seen) {
    Mechanism pressed = { .world = worldWithFloor(tp_anitescu, 0.5, 0.0) };
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpBodyId balls[2];
    for (int k = 0; k < 2; ++k) {
        tpBodyDef def = bodyAt(tpMakeVec3(0.3 * k, 0.0, 0.1), 1.0, tpMakeVec3(0.01, 0.012, 0.014));
        balls[k] = addBodyOf(pressed.world, &def);
        tpCreateSphere(pressed.world, balls[k], &shape, &(tpSphere){ .radius = 0.1 }, NULL);
    }
    tpJointDef joint = hingeOf(balls[0], balls[1], tpMakeVec3(0.15, 0.0, 0.1), axisY);
    addJoint(pressed.world, &joint);
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_kinematicBody;
    def.position = tpMakeVec3(0.15, 0.0, 0.25);
    def.velocity = tpMakeVec3(0.0, 0.0, -speed);
    tpBodyId ceiling = addBodyOf(pressed.world, &def);
    tpCreateBox(pressed.world, ceiling, &shape, &(tpBox){ { 2.0, 2.0, 0.1 } }, NULL);
    addOthers(pressed.world, false);
    tpWorld_SetProblemHook(pressed.world, look, seen);
    tpStepReport report = tpWorld_Step(pressed.world, 0.005);
    tpDestroyWorld(pressed.world);
    return report;
}

static void contradictionsAreTold(void** state) {
    (void)state;
    Seen seen = { .memory = tpCreateSolverMemory(NULL) };
    tpStepReport report = pressBalls(0.5, &seen);
    assert_true(seen.count > 0 && seen.worst > 0.01);
    assert_true(report.failureCount > 0 && report.residual > 0.01);
    // Little enough is shared by floor and ceiling: each gives way by half of it.
    for (int k = 0; k < 2; ++k) {
        double speed = k == 0 ? 1e-8 : 1e-7;
        report = pressBalls(speed, &seen);
        assert_int_equal(report.failureCount, 0);
        CHECK_NEAR(report.gapShift, 0.5 * 0.005 * speed, 1e-3 * 0.005 * speed);
    }
    tpDestroySolverMemory(seen.memory);
}

// What is remembered of joints is part of a snapshot: the same bits go on from it.
static void snapshotsGoOn(void** state) {
    (void)state;
    Mechanism a = makeMechanism(3, freeBase, false, false),
              b = makeMechanism(3, freeBase, false, false);
    stepOn(a.world, 0.005, 60);
    tpSnapshot* snapshot = tpWorld_Snapshot(a.world);
    assert_non_null(snapshot);
    assert_int_equal(tpWorld_Restore(b.world, snapshot, NULL), tp_success);
    for (int k = 0; k < 30; ++k) {
        tpStepReport left = tpWorld_Step(a.world, 0.005), right = tpWorld_Step(b.world, 0.005);
        assert_int_equal(left.solveCount, right.solveCount);
    }
    for (int i = 0; i < a.bodyCount; ++i) {
        tpPose poseA = tpBody_GetPose(a.world, a.bodies[i]);
        tpPose poseB = tpBody_GetPose(b.world, b.bodies[i]);
        assert_memory_equal(&poseA, &poseB, sizeof(tpPose));
    }
    tpDestroySnapshot(snapshot);
    tpDestroyWorld(a.world);
    tpDestroyWorld(b.world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rowsAndCoordinatesAgree),
        cmocka_unit_test(drivesAgree),
        cmocka_unit_test(othersAgree),
        cmocka_unit_test(treesMeetLooseBodies),
        cmocka_unit_test(posedProblemsAreSolved),
        cmocka_unit_test(contradictionsAreTold),
        cmocka_unit_test(snapshotsGoOn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
