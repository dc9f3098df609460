// Overlaps that are taken back at the end of a step: bodies come apart about their common centre of
// mass, what lifts them is paid, and where nobody can pay everything stays as it was.

#include "steppers/late_overlaps.h"

#include "dynamics/energy_account.h"
#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "dynamics/step_budget.h"
#include "dynamics/tally.h"
#include "support/check.h"
#include "support/floor.h"
#include "tippe/joints.h"
#include "world/world.h"

static const double radius = 0.1, limit = 1e-5, depth = 1e-3;

static int addBall(tpWorld* world, tpVec3 place, double density) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    int body = world->system.bodyCount;
    tpBodyId id = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.density = density;
    tpCreateSphere(world, id, &shape, &(tpSphere){ radius }, NULL);
    return body;
}

static tpWorld* makeWorld(double gravity) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_anitescu;
    def.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    return tpCreateWorld(&def);
}

// What the step has cost, in parts of what it may.
static const double little = 0.1, hard = 0.5, all = 1.2;

// Settles the end of a step that has begun without overlaps, or with those that there are now.
static tpStepReport settle(tpWorld* world, double cost, bool wasApart, double lost, double rubbed) {
    tpSystem* system = &world->system;
    tpArena_Reset(&system->arena);
    tpStepBudget_Begin(system);
    for (int i = 0; i < 1000; ++i) { // a large piece lets the step end early
        tpStepBudget_Spend(system, 1e-3 * cost * tpStepBudget_Whole(system));
    }
    tpPose* starts = TP_SCRATCH(&system->arena, tpPose, system->bodyCount);
    for (int i = 0; i < system->bodyCount; ++i) {
        starts[i] = system->poses.data[i];
        starts[i].position.z += wasApart ? 1.0 * i : 0.0;
        starts[i].position.x += wasApart ? 1.0 * i : 0.0;
    }
    tpStepReport report = { .converged = true, .penetration = depth, .impactLoss = lost };
    report.frictionLoss = rubbed;
    report.limits.penetration = limit;
    report.limits.jointDrift = 1e-9;
    assert_true(tpLateOverlaps_Settle(system, starts, &report));
    return report;
}

// Two balls of unequal masses, without gravity.
static tpWorld* makePair(void) {
    tpWorld* world = makeWorld(0.0);
    addBall(world, tpMakeVec3(0.0, 0.0, 0.0), 1000.0);
    addBall(world, tpMakeVec3(0.0, 0.0, 2.0 * radius - depth), 3000.0);
    tpSystem_SetVelocity(&world->system, 0, tpMakeVec3(0.3, 0.1, 0.0), tpMakeVec3(1.0, 2.0, 3.0));
    return world;
}

static double gapOf(const tpWorld* world) {
    const tpPose* poses = world->system.poses.data;
    return tpDistanceBetween(poses[0].position, poses[1].position) - 2.0 * radius;
}

static void pairsComeApart(void** state) {
    (void)state;
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makePair();
        tpSystem* system = &world->system;
        tpVelocity before[2] = { system->velocities.data[0], system->velocities.data[1] };
        // A step that has cost all it may does so whatever it began with.
        tpStepReport report = settle(world, k == 0 ? hard : all, k < 2, 0.0, 0.0);
        assert_true(gapOf(world) >= -limit && gapOf(world) < limit);
        CHECK_NEAR(report.penetration, fmax(0.0, -gapOf(world)), 1e-12);
        tpVec3 centre =
            tpMulAdd(system->poses.data[0].position, 3.0, system->poses.data[1].position);
        CHECK_VEC3(centre, tpMakeVec3(0.0, 0.0, 3.0 * (2.0 * radius - depth)), 1e-12);
        for (int i = 0; i < 2; ++i) {
            CHECK_VEC3(system->velocities.data[i].linear, before[i].linear, 0.0);
            CHECK_VEC3(system->velocities.data[i].angular, before[i].angular, 0.0);
        }
        CHECK_NEAR(report.impactLoss, 0.0, 1e-15);
        tpDestroyWorld(world);
    }
}

// Steps that have cost little, contacts that give, what was as deep before and what is within the
// limit are left alone.
static void othersStay(void** state) {
    (void)state;
    for (int k = 0; k < 4; ++k) {
        tpWorld* world = makePair();
        world->system.gives = k == 1;
        if (k == 3) {
            world->system.poses.data[1].position.z = 2.0 * radius - 0.5 * limit;
        }
        double gap = gapOf(world);
        if (k == 3) {
            tpSystem* system = &world->system;
            tpArena_Reset(&system->arena);
            tpStepBudget_Begin(system);
            tpStepBudget_Spend(system, all * tpStepBudget_Whole(system));
            tpStepReport report = { .penetration = 0.5 * limit, .limits.penetration = limit };
            assert_true(tpLateOverlaps_Settle(system, system->poses.data, &report));
            CHECK_NEAR(report.penetration, 0.5 * limit, 0.0);
        } else {
            tpStepReport report = settle(world, k == 0 ? little : hard, k != 2, 0.0, 0.0);
            CHECK_NEAR(report.penetration, depth, 0.0);
        }
        CHECK_NEAR(gapOf(world), gap, 0.0);
        tpDestroyWorld(world);
    }
}

// Steps with a solve that has failed come apart whatever they have cost, and those that were hard
// in an earlier part.
static void failuresAndEarlierPartsCount(void** state) {
    (void)state;
    static const struct {
        double before; // the last part
        int failures;
        bool comesApart;
    } cases[] = { { 0.1, 1, true }, { 0.5, 0, true }, { 0.1, 0, false } };
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makePair();
        tpSystem* system = &world->system;
        tpArena_Reset(&system->arena);
        tpStepBudget_Begin(system);
        for (int i = 0; i < 1000; ++i) {
            tpStepBudget_Spend(system, 1e-3 * cases[k].before * tpStepBudget_Whole(system));
        }
        tpStepBudget_BeginPart(system, 0.4);
        tpPose starts[2] = { system->poses.data[0], system->poses.data[1] };
        starts[1].position.z += 1.0;
        tpStepReport report = { .converged = cases[k].failures == 0,
                                .failureCount = cases[k].failures,
                                .penetration = depth,
                                .limits = { .penetration = limit, .jointDrift = 1e-9 } };
        double gap = gapOf(world);
        assert_true(tpLateOverlaps_Settle(system, starts, &report));
        assert_true(cases[k].comesApart ? gapOf(world) >= -limit : gapOf(world) == gap);
        CHECK_NEAR(report.penetration, fmax(0.0, -gapOf(world)), 1e-12);
        tpDestroyWorld(world);
    }
}

// A ball in a floor under gravity. What lifts it is paid by what the step has lost, and by its own
// velocity; the account stays closed. If neither is enough it stays in the floor.
static void liftsArePaid(void** state) {
    (void)state;
    const double g = 9.81;
    const struct {
        double speed, lost; // by impacts or friction, in parts of the lift
        bool isLifted;
    } cases[] = {
        { 0.5, 0.0, true },  { 0.5, 0.4, true },  { 0.0, 3.0, true },
        { 0.0, 0.0, false }, { 0.0, 0.4, false },
    };
    for (size_t n = 0; n < 2 * sizeof(cases) / sizeof(cases[0]); ++n) {
        size_t k = n / 2;
        double rubbed = n % 2 == 0 ? 0.0 : 1.0;
        tpWorld* world = makeWorld(g);
        addMaterial(world, 0.3, 0.0);
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        int ball = addBall(world, tpMakeVec3(0.0, 0.0, radius - depth), 1000.0);
        tpSystem* system = &world->system;
        tpSystem_SetVelocity(system, ball, tpMakeVec3(cases[k].speed, 0.0, 0.0), tpZeroVec3());
        double lift = system->bodies.data[ball].mass * g * depth;
        double place = system->poses.data[ball].position.z;
        double before = tpSystem_Energy(system), lost = cases[k].lost * lift;
        tpStepReport report = settle(world, all, true, (1.0 - rubbed) * lost, rubbed * lost);
        double height = system->poses.data[ball].position.z - radius;
        double after = tpSystem_Energy(system);
        if (cases[k].isLifted) {
            assert_true(height >= -limit && height <= limit);
            CHECK_NEAR(report.penetration, fmax(0.0, -height), 1e-12);
        } else {
            CHECK_NEAR(system->poses.data[ball].position.z, place, 0.0);
            CHECK_NEAR(report.penetration, depth, 0.0);
            CHECK_NEAR(system->velocities.data[ball].linear.x, cases[k].speed, 0.0);
            CHECK_NEAR(report.impactLoss, (1.0 - rubbed) * lost, 0.0);
        }
        CHECK_NEAR(after + report.impactLoss + report.frictionLoss, before + lost, 1e-11 * before);
        assert_true(after <= before + lost * (1.0 + 1e-9));
        tpDestroyWorld(world);
    }
}

// A ball that a joint holds, in a free one: the joint stays closed, and the free one goes all the
// way.
static void jointsStayClosed(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.0);
    addBall(world, tpMakeVec3(0.0, 0.0, 0.0), 3000.0);
    addBall(world, tpMakeVec3(0.0, 0.0, 2.0 * radius - depth), 1000.0);
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_fixedJoint;
    def.bodyB = tpWorld_GetBody(world, 0);
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &def, NULL)));
    tpStepReport report = settle(world, all, true, 0.0, 0.0);
    tpSystem* system = &world->system;
    assert_true(gapOf(world) >= -limit && gapOf(world) < limit);
    CHECK_NEAR(report.penetration, fmax(0.0, -gapOf(world)), 1e-12);
    assert_true(tpJoints_PositionError(system, system->poses.data) <= 1e-10);
    CHECK_VEC3(system->poses.data[0].position, tpZeroVec3(), 1e-9);
    tpDestroyWorld(world);
}

// What the step has listed has the gaps that are there now.
static void listedGapsAreThoseOfNow(void** state) {
    (void)state;
    tpWorld* world = makePair();
    addBall(world, tpMakeVec3(9.0, 0.0, 0.0), 1000.0); // and a pair that nobody moves
    addBall(world, tpMakeVec3(9.0, 0.0, 2.0 * radius + 1e-6), 1000.0);
    tpSystem* system = &world->system;
    tpContact contacts[2] = {
        { .bodyA = 0, .bodyB = 1, .shapeA = 0, .shapeB = 1, .gap = -depth },
        { .bodyA = 2, .bodyB = 3, .shapeA = 2, .shapeB = 3, .gap = 1e-6 },
    };
    assert_true(TP_RESERVE(&system->allocator, system->contacts, 2));
    system->contacts.count = 2;
    for (int i = 0; i < 2; ++i) {
        contacts[i].normal = tpMakeVec3(0.0, 0.0, -1.0);
        system->contacts.data[i] = tpContactInfo_Make(&contacts[i]);
    }
    settle(world, all, true, 0.0, 0.0);
    assert_int_equal(system->contacts.count, 2);
    CHECK_NEAR(system->contacts.data[0].gap, gapOf(world), 1e-12);
    CHECK_NEAR(system->contacts.data[1].gap, 1e-6, 1e-12);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairsComeApart),
        cmocka_unit_test(othersStay),
        cmocka_unit_test(failuresAndEarlierPartsCount),
        cmocka_unit_test(liftsArePaid),
        cmocka_unit_test(jointsStayClosed),
        cmocka_unit_test(listedGapsAreThoseOfNow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
