// Overlaps that are taken back at the end of a step: bodies come apart about their common centre of
// mass, what lifts them is paid, and where nobody can pay everything stays as it was.

#include "steppers/late_overlaps.h"

#include <string.h>

#include "dynamics/contacts.h"
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

static void spend(tpSystem* system, double cost) {
    tpArena_Reset(&system->arena);
    tpStepBudget_Begin(system);
    for (int i = 0; i < 1000; ++i) { // a large piece lets the step end early
        tpStepBudget_Spend(system, 1e-3 * cost * tpStepBudget_Whole(system));
    }
}

// Settles the end of a step that has left bodies as deep as `deepest`.
static tpStepReport settleFrom(tpWorld* world, const tpPose* starts, double deepest, double lost,
                               double rubbed) {
    tpStepReport report = { .converged = true, .penetration = deepest, .impactLoss = lost };
    report.frictionLoss = rubbed;
    report.limits.penetration = limit;
    report.limits.jointDrift = 1e-9;
    assert_true(tpLateOverlaps_Settle(&world->system, starts, &report));
    return report;
}

// Of a step that has begun without overlaps, or with those that there are now.
static tpStepReport settle(tpWorld* world, double cost, bool wasApart, double lost, double rubbed) {
    tpSystem* system = &world->system;
    spend(system, cost);
    tpPose* starts = TP_SCRATCH(&system->arena, tpPose, system->bodyCount);
    for (int i = 0; i < system->bodyCount; ++i) {
        starts[i] = system->poses.data[i];
        starts[i].position.z += wasApart ? 1.0 * i : 0.0;
        starts[i].position.x += wasApart ? 1.0 * i : 0.0;
    }
    return settleFrom(world, starts, depth, lost, rubbed);
}

// Two balls of unequal masses, without gravity.
static tpWorld* makePair(void) {
    tpWorld* world = makeWorld(0.0);
    addBall(world, tpMakeVec3(0.0, 0.0, 0.0), 1000.0);
    addBall(world, tpMakeVec3(0.0, 0.0, 2.0 * radius - depth), 3000.0);
    tpSystem_SetVelocity(&world->system, 0, tpMakeVec3(0.3, 0.1, 0.0), tpMakeVec3(1.0, 2.0, 3.0));
    return world;
}

static double gapBetween(const tpWorld* world, int a, int b) {
    const tpPose* poses = world->system.poses.data;
    return tpDistanceBetween(poses[a].position, poses[b].position) - 2.0 * radius;
}

static double gapOf(const tpWorld* world) {
    return gapBetween(world, 0, 1);
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
        { 0.5, 0.0, true }, { 0.5, 0.4, true },  { 0.5, 3.0, true },
        { 0.0, 3.0, true }, { 0.0, 0.0, false }, { 0.0, 0.4, false },
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
        // What the step has lost pays alone if it can.
        double lifted = lift * (height + depth) / depth;
        assert_true(cases[k].lost < 1.0 || fabs(after - before - lifted) <= 1e-11 * before);
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

// What the step has listed has the gaps that are there now: of balls that have been moved and of
// those that have not, of one that was beside, and of one that is far away by now, of which nobody
// knows more than that it is no deeper than the deepest.
static void listedGapsAreThoseOfNow(void** state) {
    (void)state;
    tpWorld* world = makePair();
    addBall(world, tpMakeVec3(9.0, 0.0, 0.0), 1000.0); // and a pair that nobody moves
    addBall(world, tpMakeVec3(9.0, 0.0, 2.0 * radius + 1e-6), 1000.0);
    addBall(world, tpMakeVec3(2.0 * radius + 1e-6, 0.0, 0.0), 1e6);
    addBall(world, tpMakeVec3(-2.0 * radius - 1e-9, 0.0, 2.0 * radius - depth), 1e6); // not listed
    tpSystem* system = &world->system;
    static const int pairs[][2] = { { 0, 1 }, { 0, 3 }, { 0, 4 }, { 1, 2 }, { 2, 3 } };
    enum { count = 5 };
    static const double before[count] = { -depth, -0.5 * depth, 1e-6, 2e-4, 1e-6 };
    assert_true(TP_RESERVE(&system->allocator, system->contacts, count));
    system->contacts.count = count;
    double wide[6] = { 1e-5, 1e-5, 1e-5, 1e-5, 1e-5, 1e-5 };
    tpContact* found;
    int foundCount;
    tpSystem_FindContacts(system, system->poses.data, wide, &found, &foundCount);
    assert_int_equal(foundCount, 4);
    for (int i = 0; i < count; ++i) {
        int a = pairs[i][0], b = pairs[i][1];
        tpContact contact = found[0]; // with the feature that two balls touch with
        contact.bodyA = contact.shapeA = a;
        contact.bodyB = contact.shapeB = b;
        contact.gap = before[i];
        system->contacts.data[i] = tpContactInfo_Make(&contact);
    }
    tpStepReport report = settle(world, all, true, 0.0, 0.0);
    assert_int_equal(system->contacts.count, count);
    double deepest = 0.0;
    for (int i = 0; i < 6; ++i) {
        for (int k = 0; k < i; ++k) {
            deepest = fmax(deepest, -gapBetween(world, k, i));
        }
    }
    assert_true(deepest <= limit && gapBetween(world, 0, 4) > 2e-6);
    CHECK_NEAR(report.penetration, deepest, 1e-15);
    for (int i = 0; i < count; ++i) {
        bool isGone = i == 1 || i == 3;
        double gap =
            isGone ? fmax(before[i], -deepest) : gapBetween(world, pairs[i][0], pairs[i][1]);
        CHECK_NEAR(system->contacts.data[i].gap, gap, 1e-12);
    }
    tpDestroyWorld(world);
}

// A plank that is pushed at one end leaves what it lies on at the other: by its turn alone.
static void planksTurnAway(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.0);
    addMaterial(world, 0.0, 0.0);
    tpBodyDef def = tpDefaultBodyDef();
    addSolidBox(world, &def, tpMakeVec3(2.0, 0.2, 0.2), 100.0);
    addBall(world, tpMakeVec3(0.9, 0.0, 0.2 - depth), 1e6);
    addBall(world, tpMakeVec3(-0.9, 0.0, -0.2 - 1e-9), 1e6);
    tpSystem* system = &world->system;
    double wide[3] = { 0.01, 0.01, 0.01 };
    tpContact* found;
    int count;
    assert_int_equal(tpSystem_FindContacts(system, system->poses.data, wide, &found, &count), 0);
    assert_int_equal(count, 2);
    assert_true(TP_RESERVE(&system->allocator, system->contacts, 2));
    system->contacts.count = 2;
    for (int i = 0; i < 2; ++i) {
        system->contacts.data[i] = tpContactInfo_Make(&found[i]);
    }
    settle(world, all, true, 0.0, 0.0);
    tpSystem_ForgetFound(system);
    assert_int_equal(tpSystem_FindContacts(system, system->poses.data, wide, &found, &count), 0);
    assert_int_equal(count, 2);
    for (int i = 0; i < 2; ++i) {
        CHECK_NEAR(system->contacts.data[i].gap, found[i].gap, 1e-12);
    }
    // As a rod under an impulse at .9 of its half: 1 - 3 (.9)^2 of its centre's way, over
    // 1 + 3 (.9)^2 of it.
    CHECK_NEAR(found[1].gap - found[0].gap, depth * 1.43 / 3.43, 0.1 * depth);
    tpDestroyWorld(world);
}

// The deeper and the dearer, the less is tried: what is lost beyond a hundred limits is left alone
// once a step has cost half as much again as it may. Any other has some rounds of its own.
static void lostOverlapsStay(void** state) {
    (void)state;
    static const struct {
        double deepest, cost;
        bool isMoved;
    } cases[] = {
        { 90.0 * limit, 1.2, true },  { 110.0 * limit, 1.2, true },  { 90.0 * limit, 1.7, true },
        { 90.0 * limit, 40.0, true }, { 110.0 * limit, 1.7, false }, { 110.0 * limit, 40.0, false },
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); ++k) {
        tpWorld* world = makePair();
        tpSystem* system = &world->system;
        double gap = -cases[k].deepest;
        system->poses.data[1].position.z = 2.0 * radius + gap;
        spend(system, cases[k].cost);
        double before = tpStepBudget_Work(system);
        tpStepReport report = settleFrom(world, system->poses.data, -gap, 0.0, 0.0);
        double spent = tpStepBudget_Work(system) - before;
        if (cases[k].isMoved) {
            assert_true(gapOf(world) >= -limit && gapOf(world) < limit);
            CHECK_NEAR(report.penetration, fmax(0.0, -gapOf(world)), 1e-12);
            // A look before and one after each round: as a round of light sweeps each.
            assert_true(spent >= 2.0 * 5e3 && spent <= 4.0 * 5e3);
        } else {
            CHECK_NEAR(gapOf(world), gap, 1e-16);
            CHECK_NEAR(report.penetration, -gap, 0.0);
            assert_true(spent == 0.0);
        }
        tpDestroyWorld(world);
    }
}

// What was as deep at the start of a step that could afford its end stays; half as deep as may be
// left, or as deep in other bodies, it does not matter.
static void onlyDeepStartsCount(void** state) {
    (void)state;
    static const struct {
        double atStart;
        bool isMoved;
    } cases[] = { { 2.0, false }, { 0.5, true }, { -2.0, true } };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); ++k) {
        tpWorld* world = makePair();
        tpSystem* system = &world->system;
        spend(system, hard);
        tpPose starts[2] = { system->poses.data[0], system->poses.data[1] };
        starts[1].position.z = 2.0 * radius - cases[k].atStart * limit;
        settleFrom(world, starts, depth, 0.0, 0.0);
        assert_true((gapOf(world) >= -limit) == cases[k].isMoved);
        tpDestroyWorld(world);
    }
}

// Rows of balls come apart as a whole, in the rounds of a pair: whoever is pushed knows whom it
// will push, although that one is not touched yet.
static void neighboursGoAlong(void** state) {
    (void)state;
    enum { count = 4 };
    tpWorld* world = makeWorld(0.0);
    static const double gaps[count] = { 0.0, 0.1 * 1e-3, -1e-3, 0.1 * 1e-3 };
    double place = 0.0, before = 0.0, after = 0.0;
    for (int i = 0; i < count; ++i) {
        place += (i > 0 ? 2.0 * radius : 0.0) + gaps[i];
        before += place;
        addBall(world, tpMakeVec3(0.0, 0.0, place), 1000.0);
    }
    tpSystem* system = &world->system;
    spend(system, all);
    double work = tpStepBudget_Work(system);
    int queries = system->contactQueryCount;
    tpStepReport report = settleFrom(world, system->poses.data, depth, 0.0, 0.0);
    for (int i = 0; i < count; ++i) {
        after += system->poses.data[i].position.z;
        assert_true(i == 0 || gapBetween(world, i - 1, i) >= -limit);
    }
    CHECK_NEAR(after, before, 1e-12);
    assert_true(report.penetration <= limit);
    assert_true(tpStepBudget_Work(system) - work >= 2.0 * 5e3 * (count - 1));
    assert_int_equal(system->contactQueryCount - queries, 4); // before it twice, after it twice
    tpDestroyWorld(world);
}

// The work of getting a ball out of a floor on which others lie with such gaps.
static double workBeside(double gap) {
    tpWorld* world = makeWorld(0.0);
    addMaterial(world, 0.0, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    for (int i = 0; i < 20; ++i) {
        addBall(world, tpMakeVec3(i, 0.0, radius + (i == 7 ? -depth : gap)), 1000.0);
    }
    tpSystem* system = &world->system;
    spend(system, all);
    double work = tpStepBudget_Work(system);
    tpStepReport report = settleFrom(world, system->poses.data, depth, 0.0, 0.0);
    assert_true(report.penetration <= limit);
    work = tpStepBudget_Work(system) - work;
    tpDestroyWorld(world);
    return work;
}

// What lies on the same floor is no neighbour: nobody looks at it.
static void floorsHaveNoNeighbours(void** state) {
    (void)state;
    CHECK_NEAR(workBeside(0.1 * depth), workBeside(100.0 * depth), 0.0);
}

// Far below the height at which potential energies are zero: to go aside costs nothing.
static void lowPairsComeApart(void** state) {
    (void)state;
    tpWorld* world = makeWorld(9.81);
    addBall(world, tpMakeVec3(0.0, 0.0, -1000.0), 1000.0);
    addBall(world, tpMakeVec3(2.0 * radius - depth, 0.0, -1000.0), 3000.0);
    spend(&world->system, all);
    tpStepReport report = settleFrom(world, world->system.poses.data, depth, 0.0, 0.0);
    assert_true(report.penetration <= limit && gapOf(world) >= -limit && report.impactLoss == 0.0);
    tpDestroyWorld(world);
}

// A ball takes along what is fixed to it, about the common centre of mass of all three.
static void whatIsFixedGoesAlong(void** state) {
    (void)state;
    tpWorld* world = makePair();
    addBall(world, tpMakeVec3(0.37, 0.21, -0.43), 2000.0);
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_fixedJoint;
    def.bodyA = tpWorld_GetBody(world, 0);
    def.bodyB = tpWorld_GetBody(world, 2);
    def.anchorA = tpMakeVec3(0.37, 0.21, -0.43);
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &def, NULL)));
    tpSystem* system = &world->system;
    tpVec3 before = tpZeroVec3(), after = tpZeroVec3();
    static const double parts[3] = { 1.0, 3.0, 2.0 };
    for (int i = 0; i < 3; ++i) {
        before = tpMulAdd(before, parts[i], system->poses.data[i].position);
    }
    tpStepReport report = settle(world, all, true, 0.0, 0.0);
    for (int i = 0; i < 3; ++i) {
        after = tpMulAdd(after, parts[i], system->poses.data[i].position);
    }
    assert_true(report.penetration <= limit && gapOf(world) >= -limit);
    CHECK_VEC3(after, before, 1e-9);
    CHECK_BELOW(tpJoints_PositionError(system, system->poses.data), 1e-10);
    tpDestroyWorld(world);
}

// Between walls that leave it too little room a ball comes no deeper into either, and stays in the
// middle, where there is no better place.
static void squeezedBallsComeNoDeeper(void** state) {
    (void)state;
    static const double offs[] = { 1e-4, 0.0 };
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makeWorld(0.0);
        addMaterial(world, 0.0, 0.0);
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        tpBodyDef def = tpDefaultBodyDef();
        def.kind = tp_fixedBody;
        def.position = tpMakeVec3(0.0, 0.0, 2.0 * radius - 4e-4);
        tpShapeDef shape = tpDefaultShapeDef();
        tpPlane ceiling = { tpMakeVec3(0.0, 0.0, -1.0), 0.0 };
        tpCreatePlane(world, tpCreateBody(world, &def, NULL), &shape, &ceiling, NULL);
        double middle = radius - 2e-4, start = middle + offs[k];
        int ball = addBall(world, tpMakeVec3(0.0, 0.0, start), 1000.0);
        tpSystem* system = &world->system;
        spend(system, all);
        tpStepReport report = settleFrom(world, system->poses.data, 2e-4 + offs[k], 0.0, 0.0);
        double place = system->poses.data[ball].position.z;
        assert_true(k == 0 ? fabs(place - middle) < offs[0] : place == start);
        CHECK_NEAR(report.penetration, 2e-4 + fabs(place - middle), 1e-12);
        tpDestroyWorld(world);
    }
}

// Two balls that are held in each other by joints have no way apart; others, which are on no joint,
// have. Those that are held stay where they are and go as they went.
static void othersLeaveWhatIsHeld(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makePair();
        for (int i = 0; i < 2; ++i) {
            addBall(world, tpMakeVec3(5.0, 0.0, i * (2.0 * radius - 0.5 * depth)), 1000.0);
        }
        tpSystem* system = &world->system;
        int held = k == 0 ? 0 : 2; // of the deeper pair, or of the other one
        tpJointDef def = tpDefaultJointDef();
        def.type = tp_fixedJoint;
        for (int i = held; i < held + 2; ++i) {
            def.bodyB = tpWorld_GetBody(world, i);
            def.anchorA = def.anchorB = tpZeroVec3();
            assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &def, NULL)));
            tpSystem_SetVelocity(system, i, tpMakeVec3(0.0, 0.1 * i, 0.0), tpZeroVec3());
        }
        tpPose poses[4];
        tpVelocity velocities[4];
        memcpy(poses, system->poses.data, sizeof(poses));
        memcpy(velocities, system->velocities.data, sizeof(velocities));
        tpStepReport report = settle(world, all, true, 0.0, 0.0);
        for (int i = 0; i < 4; ++i) {
            bool isHeld = i == held || i == held + 1;
            double moved = tpDistanceBetween(system->poses.data[i].position, poses[i].position);
            assert_true(isHeld ? moved <= 1e-9 : moved > 1e-5);
            CHECK_VEC3(system->velocities.data[i].linear, velocities[i].linear, 0.0);
            CHECK_NEAR(system->bodies.data[i].inverseMass, 1.0 / system->bodies.data[i].mass, 0.0);
        }
        assert_true(gapBetween(world, 2 - held, 3 - held) >= -limit);
        assert_true(tpJoints_PositionError(system, system->poses.data) <= 1e-9);
        double deep = -gapBetween(world, held, held + 1);
        CHECK_NEAR(report.penetration, deep, 1e-9);
        CHECK_NEAR(report.impactLoss, 0.0, 0.0);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairsComeApart),
        cmocka_unit_test(othersStay),
        cmocka_unit_test(failuresAndEarlierPartsCount),
        cmocka_unit_test(liftsArePaid),
        cmocka_unit_test(jointsStayClosed),
        cmocka_unit_test(listedGapsAreThoseOfNow),
        cmocka_unit_test(planksTurnAway),
        cmocka_unit_test(lostOverlapsStay),
        cmocka_unit_test(onlyDeepStartsCount),
        cmocka_unit_test(neighboursGoAlong),
        cmocka_unit_test(floorsHaveNoNeighbours),
        cmocka_unit_test(lowPairsComeApart),
        cmocka_unit_test(whatIsFixedGoesAlong),
        cmocka_unit_test(squeezedBallsComeNoDeeper),
        cmocka_unit_test(othersLeaveWhatIsHeld),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
