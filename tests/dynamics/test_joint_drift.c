// The correction of joints that are apart, where limits take part.

#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "dynamics/step_budget.h"
#include "support/joint_worlds.h"
#include "world/world.h"

// Wheels on hinges about z, one beside the other, with upper limits.
static void addWheels(tpWorld* world, tpJointId* joints, const double* limits, int count) {
    for (int i = 0; i < count; ++i) {
        tpVec3 place = tpMakeVec3(i, 0.0, 0.0);
        double moment = i == 1 ? 0.05 : 0.5; // the second takes the most of what the sum lacks
        tpBodyId wheel = addBody(world, place, 1.0, tpMakeVec3(moment, moment, moment));
        tpJointDef def = hingeOf(theWorld, wheel, place, axisZ);
        def.coordinate.hasLimits = true;
        def.coordinate.limits[0] = -INFINITY;
        def.coordinate.limits[1] = limits[i];
        joints[i] = addJoint(world, &def);
    }
}

static void holdSum(tpWorld* world, const tpJointId* joints, int count, double value) {
    tpCouplingTerm terms[3];
    for (int i = 0; i < count; ++i) {
        terms[i] = (tpCouplingTerm){ joints[i], 0, 1.0 };
    }
    tpCouplingDef def = tpDefaultCouplingDef();
    def.terms = terms;
    def.termCount = count;
    def.hasValue = true;
    def.value = value;
    assert_true(tpCoupling_IsValid(world, tpCreateCoupling(world, &def, NULL)));
}

static void turnWheel(tpWorld* world, int index, double angle) {
    world->system.poses.data[index].rotation = tpQuatExp(tpMakeVec3(0.0, 0.0, angle));
}

static int correct(tpWorld* world, double tolerance, double* drift) {
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    tpStepBudget_Begin(&world->system);
    int rounds = tpJoints_Correct(&world->system, memory, tolerance);
    *drift = tpJoints_PositionError(&world->system, world->system.poses.data);
    tpDestroySolverMemory(memory);
    return rounds;
}

// A limit that a coupling of one term has, rather than the joint itself.
static void limitByCoupling(tpWorld* world, tpJointId joint, double limit) {
    tpCouplingTerm term = { joint, 0, 1.0 };
    tpCouplingDef def = tpDefaultCouplingDef();
    def.terms = &term;
    def.termCount = 1;
    def.hasValue = false;
    def.hasLimits = true;
    def.limits[0] = -INFINITY;
    def.limits[1] = limit;
    assert_true(tpCoupling_IsValid(world, tpCreateCoupling(world, &def, NULL)));
}

// Three wheels whose angles sum up to one: the first past or near its limit of .3, the second at
// its own of .4, the third far from one.
static tpWorld* threeWheels(double first, double third, bool areCoupled) {
    const double limits[3] = { 0.3, 0.4, 10.0 }, none[3] = { 10.0, 10.0, 10.0 };
    tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
    tpJointId joints[3];
    addWheels(world, joints, areCoupled ? none : limits, 3);
    for (int i = 0; areCoupled && i < 2; ++i) {
        limitByCoupling(world, joints[i], limits[i]);
    }
    holdSum(world, joints, 3, 1.0);
    turnWheel(world, 0, first);
    turnWheel(world, 1, 0.4);
    turnWheel(world, 2, third);
    return world;
}

// To bring the first wheel back from its limit the sum turns the second past its own, and the other
// way round: if a limit were forgotten as soon as it is met, errors would be halved by each round.
static void limitsThatPushEachOther(void** state) {
    (void)state;
    for (int n = 0; n < 20; ++n) { // rounding may keep a limit
        double past = 1e-5 * (1.0 + 0.37 * (n / 2));
        tpWorld* world = threeWheels(0.3 + past, 0.3 - 3.0 * past, n % 2 == 1);
        double drift;
        int rounds = correct(world, 1e-12, &drift);
        assert_in_range(rounds, 1, 4);
        assert_true(drift <= 1e-12);
        const tpPose* poses = world->system.poses.data;
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(2.0 * asin(poses[i].rotation.z), i == 1 ? 0.4 : 0.3, 1e-12);
        }
        tpDestroyWorld(world);
    }
}

// A round that pushes another wheel past its limit by more than what it mends is not the last one.
static void aWorseRoundIsNotTheLast(void** state) {
    (void)state;
    tpWorld* world = threeWheels(0.3 + 1e-9, 0.3 - 1e-9 - 9e-10, false);
    double drift;
    assert_true(correct(world, 1e-13, &drift) > 0);
    assert_true(drift <= 1e-13);
    tpDestroyWorld(world);
}

// Limits that leave the sum no way: as far apart as before at most.
static void noWayIsNotMadeWorse(void** state) {
    (void)state;
    const double limits[2] = { 0.3, 0.3 };
    tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
    tpJointId joints[2];
    addWheels(world, joints, limits, 2);
    holdSum(world, joints, 2, 0.6 + 2e-7);
    turnWheel(world, 0, 0.3 + 1e-7);
    turnWheel(world, 1, 0.3);
    double before = tpJoints_PositionError(&world->system, world->system.poses.data), drift;
    assert_int_equal(correct(world, 1e-12, &drift), -1);
    assert_true(drift <= before);
    tpDestroyWorld(world);
}

// How far joints are apart, by what has been done to them -----------------------------------------

// A joint about or along z, and which motions of its second body it holds: three ways, three turns.
// A rod along x holds one way.
typedef struct Held {
    tpJointType type;
    bool holds[6];
} Held;

static const Held heldByType[] = {
    { tp_ballJoint, { true, true, true, false, false, false } },
    { tp_revoluteJoint, { true, true, true, true, true, false } },
    { tp_fixedJoint, { true, true, true, true, true, true } },
    { tp_prismaticJoint, { true, true, false, true, true, true } },
    { tp_cylindricalJoint, { true, true, false, true, true, false } },
    { tp_planarJoint, { false, false, true, true, true, false } },
    { tp_distanceJoint, { true, false, false, false, false, false } },
};
enum { heldTypes = sizeof(heldByType) / sizeof(heldByType[0]) };

// To a body that stands anywhere, turned by no right angle; the second body's centre is its anchor.
static tpWorld* makePair(tpJointType type, bool isToWorld) {
    tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
    tpVec3 anchor = tpMakeVec3(0.3, 0.2, 0.1);
    tpBodyId first = theWorld;
    if (!isToWorld) {
        first = addBody(world, tpMakeVec3(-0.4, 0.7, 0.2), 3.0, tpMakeVec3(0.1, 0.3, 0.2));
    }
    tpBodyId second = addBody(world, anchor, 1.5, tpMakeVec3(0.1, 0.2, 0.25));
    tpJointDef def = jointOf(type, first, second, anchor, axisZ);
    if (type == tp_distanceJoint) {
        def.anchorA = tpSub(anchor, axisX);
    }
    addJoint(world, &def);
    return world;
}

static tpVec3 along(int k, double size) {
    return tpMakeVec3(k == 0 ? size : 0.0, k == 1 ? size : 0.0, k == 2 ? size : 0.0);
}

static void move(tpWorld* world, int body, int way, double size) {
    tpPose* pose = &world->system.poses.data[body];
    if (way < 3) {
        pose->position = tpAdd(pose->position, along(way, size));
    } else {
        pose->rotation = tpMulQQ(tpQuatExp(along(way - 3, size)), pose->rotation);
    }
}

// Ways count as they are, turns with the unit of length. What is held in two directions may be
// measured along others across the axis: then as no less than a half of it.
static void driftIsWhatWasMoved(void** state) {
    (void)state;
    static const double sizes[] = { 1e-6, -3e-6 }, units[] = { 1.0, 1024.0, 1.0 / 1024.0 };
    for (int n = 0; n < heldTypes * 2 * 6 * 2 * 3; ++n) {
        const Held* held = &heldByType[n % heldTypes];
        int way = n / heldTypes / 2 % 6, side = n / heldTypes / 12 % 2, u = n / heldTypes / 24;
        bool isToWorld = n / heldTypes % 2 == 0;
        tpWorld* world = makePair(held->type, isToWorld);
        tpSystem* system = &world->system;
        system->units.length = units[u];
        CHECK_BELOW(tpJoints_PositionError(system, system->poses.data), 1e-15 * (1.0 + units[u]));
        move(world, isToWorld ? 0 : 1, way, sizes[side]);
        double drift = tpJoints_PositionError(system, system->poses.data);
        double most = fabs(sizes[side]) * (way < 3 ? 1.0 : units[u]);
        bool isPoint = held->type == tp_ballJoint || held->type == tp_revoluteJoint;
        if (!held->holds[way]) {
            CHECK_BELOW(drift, 1e-5 * most + 1e-14 * (1.0 + units[u]));
        } else if (isPoint && way < 3) {
            CHECK_NEAR(drift, most, 1e-6 * most);
        } else {
            assert_true(drift > 0.5 * most && drift < (1.0 + 1e-5) * most);
        }
        CHECK_NEAR(tpJoint_PositionError(system, &system->joints.data[0], system->poses.data),
                   drift, 1e-15 * units[u]);
        bool isDone = false;
        CHECK_NEAR(tpJoints_End(system, &isDone), drift, 1e-15 * units[u]);
        isDone = true;
        assert_true(tpJoints_End(system, &isDone) == 0.0);
        tpDestroyWorld(world);
    }
}

// Past a limit, at either end, by a turn and by a slide.
static void driftIsWhatIsPastLimits(void** state) {
    (void)state;
    static const double values[] = { -0.1 - 2e-6, -0.1 + 1e-6, 0.0, 0.2 - 1e-6, 0.2 + 3e-6 };
    static const double past[] = { 2e-6, 0.0, 0.0, 0.0, 3e-6 };
    for (int n = 0; n < 5 * 2 * 2; ++n) {
        double unit = n / 10 == 0 ? 1.0 : 1024.0;
        bool isSlide = n / 5 % 2 == 1;
        tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
        tpBodyId body = addBody(world, tpZeroVec3(), 1.0, tpMakeVec3(0.1, 0.1, 0.1));
        tpJointDef def = jointOf(isSlide ? tp_prismaticJoint : tp_revoluteJoint, theWorld, body,
                                 tpZeroVec3(), axisZ);
        def.coordinate.hasLimits = true;
        def.coordinate.limits[0] = -0.1;
        def.coordinate.limits[1] = 0.2;
        addJoint(world, &def);
        tpSystem* system = &world->system;
        system->units.length = unit;
        move(world, 0, isSlide ? 2 : 5, values[n % 5]);
        CHECK_NEAR(tpJoints_PositionError(system, system->poses.data),
                   past[n % 5] * (isSlide ? 1.0 : unit), 1e-13 * unit);
        tpJoints_FollowAngles(system);
        CHECK_NEAR(system->joints.data[0].coordinates[0].displacement, values[n % 5], 1e-13);
        tpDestroyWorld(world);
    }
}

// In the plane nothing is held that no motion in it can change.
static void planesHoldWhatIsInThem(void** state) {
    (void)state;
    for (int n = 0; n < 12; ++n) {
        tpWorldDef worldDef = tpDefaultWorldDef();
        worldDef.planar = true;
        tpWorld* world = tpCreateWorld(&worldDef);
        tpBodyId body = addBody(world, tpZeroVec3(), 1.0, tpMakeVec3(0.1, 0.1, 0.1));
        tpJointDef def = jointOf(n % 2 == 0 ? tp_ballJoint : tp_revoluteJoint, theWorld, body,
                                 tpZeroVec3(), axisZ);
        addJoint(world, &def);
        int way = n / 2;
        move(world, 0, way, 1e-6);
        CHECK_NEAR(tpJoints_PositionError(&world->system, world->system.poses.data),
                   way < 2 ? 1e-6 : 0.0, 1e-13);
        tpDestroyWorld(world);
    }
}

// Many joints are measured in parts: whichever is apart is found. One that is gone says nothing.
static void anyOfManyIsFound(void** state) {
    (void)state;
    enum { many = 300 };
    tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
    tpJointId joints[many];
    static bool isDone[many];
    for (int i = 0; i < many; ++i) {
        tpVec3 place = tpMakeVec3(i, 0.0, 0.0);
        tpBodyId wheel = addBody(world, place, 1.0, tpMakeVec3(0.1, 0.1, 0.1));
        joints[i] = addHinge(world, theWorld, wheel, place, axisZ);
        turnWheel(world, i, 0.001 * i);
    }
    tpSystem* system = &world->system;
    for (int i = 0; i < many; i += 23) {
        move(world, i, 1, 1e-5 * (i + 1));
        CHECK_NEAR(tpJoints_PositionError(system, system->poses.data), 1e-5 * (i + 1), 1e-14);
        CHECK_NEAR(tpJoints_End(system, isDone), 1e-5 * (i + 1), 1e-14);
    }
    tpJoints_FollowAngles(system);
    for (int i = 0; i < many; ++i) {
        CHECK_NEAR(system->joints.data[i].coordinates[0].displacement, 0.001 * i, 1e-14);
    }
    int last = (many - 1) / 23 * 23;
    tpDestroyJoint(world, joints[last]);
    CHECK_NEAR(tpJoints_PositionError(system, system->poses.data), 1e-5 * (last - 23 + 1), 1e-14);
    tpDestroyWorld(world);
}

// Corrections close what is open, leave what is free, and move no common centre of mass; those of
// velocities leave none in what is held, and keep the momentum.
static void correctionsActBetweenTheTwo(void** state) {
    (void)state;
    static const double units[] = { 1.0, 1024.0, 1.0 / 1024.0 };
    for (int n = 0; n < heldTypes * 6 * 3; ++n) {
        const Held* held = &heldByType[n % heldTypes];
        int way = n / heldTypes % 6;
        tpWorld* world = makePair(held->type, false);
        tpSystem* system = &world->system;
        system->units.length = units[n / heldTypes / 6];
        move(world, 1, way, 1e-3);
        tpPose before[2] = { system->poses.data[0], system->poses.data[1] };
        double drift, tolerance = 1e-12 * fmax(1.0, system->units.length);
        int rounds = correct(world, tolerance, &drift);
        assert_true(drift <= tolerance && rounds >= 0);
        assert_true((rounds > 0) == held->holds[way] || held->type == tp_distanceJoint);
        tpVec3 shift = tpZeroVec3();
        for (int i = 0; i < 2; ++i) {
            tpVec3 moved = tpSub(system->poses.data[i].position, before[i].position);
            shift = tpMulAdd(shift, i == 0 ? 3.0 : 1.5, moved);
            assert_true(held->holds[way] || tpLength(moved) < 1e-5);
        }
        CHECK_BELOW(tpLength(shift), 1e-15);

        tpRandom random = { (uint64_t)n };
        for (int i = 0; i < 2; ++i) {
            system->velocities.data[i].linear = randomVec3(&random, -1.0, 1.0);
            system->velocities.data[i].angular = randomVec3(&random, -1.0, 1.0);
        }
        tpVec3 momentum = tpSystem_LinearMomentum(system);
        tpVec3 spin = tpSystem_AngularMomentum(system, tpZeroVec3());
        tpSolverMemory* memory = tpCreateSolverMemory(NULL);
        tpStepBudget_Begin(system);
        assert_true(tpJoints_CorrectVelocities(system, memory));
        tpDestroySolverMemory(memory);
        CHECK_VEC3(tpSystem_LinearMomentum(system), momentum, 1e-12);
        CHECK_VEC3(tpSystem_AngularMomentum(system, tpZeroVec3()), spin, 1e-11);
        // They move on for 1e-7 s, and joints are no farther apart.
        for (int i = 0; i < 2; ++i) {
            const tpVelocity* v = &system->velocities.data[i];
            tpPose* pose = &system->poses.data[i];
            pose->position = tpMulAdd(pose->position, 1e-7, v->linear);
            pose->rotation = tpMulQQ(tpQuatExp(tpScale(1e-7, v->angular)), pose->rotation);
        }
        CHECK_BELOW(tpJoints_PositionError(system, system->poses.data),
                    tolerance + 1e-12 * fmax(1.0, system->units.length));
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limitsThatPushEachOther), cmocka_unit_test(aWorseRoundIsNotTheLast),
        cmocka_unit_test(noWayIsNotMadeWorse),     cmocka_unit_test(driftIsWhatWasMoved),
        cmocka_unit_test(driftIsWhatIsPastLimits), cmocka_unit_test(planesHoldWhatIsInThem),
        cmocka_unit_test(anyOfManyIsFound),        cmocka_unit_test(correctionsActBetweenTheTwo),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
