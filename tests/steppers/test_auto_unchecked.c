// What steps that nobody checks add to the estimates of errors, and which motions are as good as
// exact without a check.

#include "steppers/auto/unchecked.h"

#include "auto_balls.h"
#include "dynamics/certificate.h"
#include "dynamics/forces.h"

static const double h = 0.01, radius = 0.1; // that of balls in auto_balls.h

// Three balls in the air far from each other: numbers 1 to 3. The first two are what `run` carries.
static tpWorld* makeRun(tpGroups* groups, tpGroupRun* run, tpMethod method, double apart) {
    tpWorld* world = makeFloorWorld(h);
    addBall(world, tpMakeVec3(0.0, 0.0, 5.0), tpZeroVec3());
    addBall(world, tpMakeVec3(apart, 0.0, 5.0), tpZeroVec3());
    addBall(world, tpMakeVec3(0.0, 9.0, 5.0), tpZeroVec3());
    assert_true(tpGroups_Find(groups, &world->system, h, true));
    *run = (tpGroupRun){
        .system = &world->system, .groups = groups, .group = groups->ofBody[1], .method = method
    };
    return world;
}

// Whose group is who.
static void separate(const tpGroups* groups) {
    groups->ofBody[1] = groups->ofBody[2] = 0;
    groups->ofBody[3] = 1;
}

// Errors grow by the rates of the last check, but rates of positions and errors of velocities are
// no more than twice the fastest speed of the group; those of other groups stay.
static void errorsGrowByRates(void** state) {
    (void)state;
    static const struct {
        double speed, positionRate, speedRate, speedError;
    } cases[] = {
        { 4.0, 0.5, 3.0, 0.2 },                           // by the rates
        { 4.0, 50.0, 3.0, 0.2 },                          // a rate beyond what moves
        { 4.0, 0.5, 1e4, 0.2 },  { 4.0, 0.5, 3.0, 11.0 }, // an error that was larger before stays
        { 0.0, 50.0, 1e4, 0.0 },                          // at rest: what gravity makes of it
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); ++k) {
        for (int fast = 1; fast <= 2; ++fast) {
            tpGroups groups;
            tpGroupRun run;
            tpWorld* world = makeRun(&groups, &run, tp_pileMethod, 0.3);
            separate(&groups);
            run.group = 0;
            double positions[4] = { 1.0, 2.0, 3.0, 4.0 }, speeds[4];
            run.positionErrors = positions;
            run.speedErrors = speeds;
            run.pace.positionRate = cases[k].positionRate;
            run.pace.speedRate = cases[k].speedRate;
            for (int i = 0; i < 4; ++i) {
                speeds[i] = cases[k].speedError;
            }
            tpSystem_SetVelocity(&world->system, fast, tpMakeVec3(0.0, -cases[k].speed, 0.0),
                                 tpZeroVec3());
            tpSystem_SetVelocity(&world->system, 3, tpMakeVec3(100.0, 0.0, 0.0), tpZeroVec3());
            tpGroupRun_GrowErrors(&run, h);
            double most = 2.0 * (cases[k].speed > 0.0 ? cases[k].speed : 9.81 * h);
            double rate = fmin(cases[k].positionRate, most), before = cases[k].speedError;
            double after = fmin(before + h * cases[k].speedRate, most);
            for (int i = 0; i < 4; ++i) {
                bool isOwn = i == 1 || i == 2;
                CHECK_NEAR(positions[i], 1.0 + i + (isOwn ? h * (before + rate) : 0.0), 1e-14);
                CHECK_NEAR(speeds[i], isOwn && after > before ? after : before, 1e-14);
            }
            tpDestroyWorld(world);
        }
    }
}

// Nobody knows the way: half of the change of velocities, spins at the size of the body.
static void unknownWaysCount(void** state) {
    (void)state;
    tpGroups groups;
    tpGroupRun run;
    tpWorld* world = makeRun(&groups, &run, tp_pileMethod, 0.3);
    separate(&groups);
    run.group = 0;
    double positions[4] = { 1.0, 2.0, 3.0, 4.0 };
    run.positionErrors = positions;
    tpVelocity starts[4] = { 0 };
    starts[1].linear = tpMakeVec3(1.0, 2.0, 0.0);
    starts[2].angular = tpMakeVec3(0.0, 0.0, 5.0);
    tpSystem_SetVelocity(&world->system, 1, tpMakeVec3(1.0, -1.0, 4.0), tpZeroVec3());
    tpSystem_SetVelocity(&world->system, 2, tpZeroVec3(), tpMakeVec3(0.0, 0.0, -2.0));
    tpSystem_SetVelocity(&world->system, 3, tpMakeVec3(9.0, 0.0, 0.0), tpZeroVec3());
    tpGroupRun_AddUnknown(&run, starts, h);
    double size = world->system.bodies.data[2].size;
    assert_true(size >= 0.5 * radius && size <= 2.0 * radius);
    CHECK_NEAR(positions[0], 1.0, 0.0);
    CHECK_NEAR(positions[1], 2.0 + 0.5 * h * 5.0, 1e-15); // 3, 4, 5
    CHECK_NEAR(positions[2], 3.0 + 0.5 * h * 7.0 * size, 1e-15);
    CHECK_NEAR(positions[3], 4.0, 0.0);
    tpDestroyWorld(world);
}

// Flights are exact if only gravity acts; impacts are located by two methods, unless contacts give.
static void flightsMayBeExact(void** state) {
    (void)state;
    tpGroups groups;
    tpGroupRun run;
    tpWorld* world = makeRun(&groups, &run, tp_pileMethod, 0.3);
    tpSystem* system = &world->system;
    assert_true(tpGroupRun_FliesFreely(&run) && tpGroupRun_AreBalls(&run));
    for (int method = 0; method < tp_methodCount; ++method) {
        run.method = (tpMethod)method;
        bool locates = method == tp_pileMethod || method == tp_eventMethod;
        assert_true(tpGroupRun_Locates(&run) == locates);
        assert_true(tpGroupRun_MayBeExact(&run) == locates);
    }
    run.method = tp_pileMethod;
    run.pace.pushing = 2;
    assert_false(tpGroupRun_MayBeExact(&run));
    run.pace.pushing = 0;
    system->gives = true;
    assert_false(tpGroupRun_Locates(&run));
    system->gives = false;
    groups.ofBody[1] = groups.ofBody[2] = run.group;
    groups.ofBody[3] = run.group + 1;
    system->bodies.data[3].locked = 1; // of another group
    assert_true(tpGroupRun_FliesFreely(&run));
    system->bodies.data[2].locked = 1;
    assert_false(tpGroupRun_FliesFreely(&run));
    system->bodies.data[2].locked = 0;
    system->hasLoads = true;
    assert_false(tpGroupRun_FliesFreely(&run));
    system->hasLoads = false;

    tpForceDef force = tpDefaultForceDef();
    force.body = tpWorld_GetBody(world, 2);
    force.force = tpMakeVec3(1.0, 0.0, 0.0);
    tpCreateForce(world, &force, NULL);
    assert_true(tpGroups_Find(&groups, system, h, true));
    run.group = groups.ofBody[2];
    assert_false(tpGroupRun_FliesFreely(&run));
    tpDestroyWorld(world);
}

// The last check speaks for so many steps as it was good for; flights whose moments were as good as
// exact need none.
static void checksSpeakForSteps(void** state) {
    (void)state;
    tpGroups groups;
    tpGroupRun run;
    tpWorld* world = makeRun(&groups, &run, tp_pileMethod, 0.3);
    run.pace.knowsPushing = true;
    run.pace.pushing = 2;
    run.pace.trust = 31;
    run.pace.checkedError = 1e-6;
    assert_true(tpPace_IsTrusted(&run.pace));
    for (run.pace.uncheckedCount = 0; run.pace.uncheckedCount < 34; ++run.pace.uncheckedCount) {
        assert_true(tpGroupRun_NeedsCheck(&run) == (run.pace.uncheckedCount >= 31));
    }
    run.pace.pushing = 0; // it flies
    assert_true(tpGroupRun_NeedsCheck(&run));
    run.pace.momentTrust = 3;
    for (run.pace.momentCount = 0; run.pace.momentCount < 5; ++run.pace.momentCount) {
        assert_true(tpGroupRun_NeedsCheck(&run) == (run.pace.momentCount >= 3));
    }
    run.pace.momentCount = 0;
    run.pace.knowsPushing = false;
    assert_true(tpGroupRun_NeedsCheck(&run));
    run.pace.knowsPushing = true;
    run.method = tp_standardMethod;
    assert_true(tpGroupRun_NeedsCheck(&run));
    tpDestroyWorld(world);
}

// A run that was not accurate is bad if it has gained more than a certificate allows, by what is
// not work; one that was accurate is what its checks say.
static void gainsMakeRunsBad(void** state) {
    (void)state;
    static const double speeds[] = { 0.0, 0.01, 1.0, 8.0 };
    for (int k = 0; k < 16; ++k) {
        tpGroups groups;
        tpGroupRun run;
        tpWorld* world = makeRun(&groups, &run, tp_pileMethod, 0.3);
        tpSystem* system = &world->system;
        tpStepReport report = { 0 };
        tpKept before;
        double kinetic, potential, kineticAfter;
        assert_true(tpCertificate_Begin(system, 1e-8, &report));
        assert_true(tpKept_Take(&before, system, NULL, NULL));
        tpSystem_FindEnergies(system, &kinetic, &potential);
        run.hasMemory = true;
        run.isAccurate = k % 2 == 0;
        tpSystem_SetVelocity(system, 1, tpMakeVec3(speeds[k / 4], 0.0, 0.0), tpZeroVec3());
        tpSystem_FindEnergies(system, &kineticAfter, &potential);
        double gain = kineticAfter - kinetic;
        run.taken.report.externalWork = k % 4 < 2 ? 0.0 : gain; // a motor did it
        report = run.taken.report;
        report.kineticBefore = kinetic;
        report.kineticAfter = kineticAfter;
        report.potentialBefore = report.potentialAfter = potential;
        bool isGain = k % 4 < 2 && gain > tpCertificate_EnergyLimit(system, &report);
        tpGroupRun_JudgeEnergy(&run, &before, kinetic, potential);
        assert_int_equal(run.taken.isBad, isGain && !run.isAccurate);
        assert_true(isGain == (k % 4 < 2 && k / 4 > 1));
        tpDestroyWorld(world);
    }
}

// Flights are exact, and each bounce of a ball adds what it is located to: 1e-8 of the length of
// the scene, of which a thousandth is asked for.
static void bouncesAreLocated(void** state) {
    (void)state;
    tpWorld* world = makeFloorWorld(h);
    world->system.materials.data[1].restitution = 0.8;
    addBall(world, tpMakeVec3(0.0, 0.0, 0.5), tpZeroVec3());
    int bounces = 0;
    for (int k = 0; k < 120; ++k) {
        double before = world->system.velocities.data[1].linear.z;
        tpStepReport report = tpWorld_Step(world, h);
        bounces += world->system.velocities.data[1].linear.z > before ? 1 : 0;
        CHECK_NEAR(report.errorEstimate, bounces * 1e-5 * report.errorAsked, 1e-12);
    }
    assert_int_equal(bounces, 3);
    tpDestroyWorld(world);
}

// Nobody can follow a crowd: each step adds half of the changes of velocities.
static void crowdsAreUnsure(void** state) {
    (void)state;
    enum { balls = 30 };
    tpWorld* world = makeFloorWorld(h);
    for (int i = 0; i < balls; ++i) {
        addBall(world, tpMakeVec3(2.0 * radius * i, 0.0, radius),
                tpMakeVec3(i == 0 ? 1.0 : 0.0, 0.0, 0.0));
    }
    const tpSystem* system = &world->system;
    double sums[balls + 1] = { 0.0 };
    for (int k = 0; k < 6; ++k) {
        tpVelocity before[balls + 1];
        for (int i = 1; i <= balls; ++i) {
            if (k == 3 && i == 7) { // something pushes from aside
                tpSystem_SetVelocity(&world->system, i, tpMakeVec3(0.0, 0.5, 0.0), tpZeroVec3());
            }
            before[i] = system->velocities.data[i];
        }
        tpStepReport report = tpWorld_Step(world, h);
        double most = 0.0;
        for (int i = 1; i <= balls; ++i) {
            const tpVelocity *first = &before[i], *last = &system->velocities.data[i];
            double spun = tpDistanceBetween(first->angular, last->angular);
            sums[i] += 0.5 * h *
                       (tpDistanceBetween(first->linear, last->linear) +
                        system->bodies.data[i].size * spun);
            most = fmax(most, sums[i]);
        }
        assert_true(most > 1e-3);
        CHECK_NEAR(report.errorEstimate, most, 1e-10);
    }
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errorsGrowByRates),   cmocka_unit_test(unknownWaysCount),
        cmocka_unit_test(flightsMayBeExact),   cmocka_unit_test(gainsMakeRunsBad),
        cmocka_unit_test(checksSpeakForSteps), cmocka_unit_test(bouncesAreLocated),
        cmocka_unit_test(crowdsAreUnsure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
