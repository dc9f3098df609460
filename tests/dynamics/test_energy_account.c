// Where the energy of impulses goes: what is booked is what the bodies have lost.

#include "ball_cases.h"
#include "dynamics/energy_account.h"
#include "dynamics/forces.h"
#include "joint_rows.h"
#include "support/joint_worlds.h"

static void book(double vx, double normal, double along, tpStepReport* report, double* lost) {
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpMakeVec3(vx, 0.0, -3.0));
    tpContact contact = makeContact(system, ball, addFloor(world));
    tpRows rows = makeRows(system, &contact, 1, 0.5);
    tpVelocity before[2] = { system->velocities.data[0], system->velocities.data[1] };
    double energy = tpSystem_KineticEnergy(system);
    rows.impulse[0] = normal;
    rows.impulse[1] = along;
    rows.impulse[2] = 0.0;
    tpRows_ApplyImpulses(&rows, system->velocities.data);
    *lost = energy - tpSystem_KineticEnergy(system);
    *report = (tpStepReport){ 0 };
    tpRowVelocities velocities = { before, system->velocities.data, NULL, NULL };
    tpRows_AccountEnergy(&rows, &velocities, report);
    tpDestroyWorld(world);
}

static void testContact(void** state) {
    (void)state;
    tpStepReport report;
    double lost;
    // The approach is stopped: m v^2 / 2 goes in the impact.
    book(0.0, 3.0 * ballMass, 0.0, &report, &lost);
    CHECK_NEAR(report.impactLoss, 0.5 * ballMass * 9.0, 1e-13);
    CHECK_NEAR(report.frictionLoss, 0.0, 1e-15);
    // Reflected: nothing is lost.
    book(0.0, 6.0 * ballMass, 0.0, &report, &lost);
    CHECK_NEAR(report.impactLoss, 0.0, 1e-13);
    CHECK_NEAR(lost, 0.0, 1e-13);
    // Friction takes the impulse times the mean slip.
    double along = 1.0 / ballMass + ballRadius * ballRadius / ballMoment, push = -0.5;
    book(4.0, 3.0 * ballMass, push, &report, &lost);
    CHECK_NEAR(report.frictionLoss, -push * (4.0 + 0.5 * push * along), 1e-13);
    CHECK_NEAR(report.frictionLoss + report.impactLoss - report.externalWork, lost, 1e-12);
}

// What is exchanged with a kick is taken off at once, or afterwards.
static void testKick(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpMakeVec3(1.0, 0.0, -3.0));
    tpContact contact = makeContact(system, ball, addFloor(world));
    tpRows rows = makeRows(system, &contact, 1, 0.5);
    tpVelocity start[2] = { system->velocities.data[0], system->velocities.data[1] };
    tpVelocity kicked[2] = { start[0], start[1] };
    kicked[ball].linear = tpAdd(start[ball].linear, tpMakeVec3(0.2, 0.0, -0.5));
    kicked[ball].angular = tpMakeVec3(0.1, 0.3, -0.2);
    memcpy(system->velocities.data, kicked, sizeof(kicked));
    rows.impulse[0] = 2.0 * ballMass;
    rows.impulse[1] = -0.3;
    rows.impulse[2] = 0.1;
    tpRows_ApplyImpulses(&rows, system->velocities.data);
    tpRowVelocities velocities = { kicked, system->velocities.data, NULL, NULL };
    tpStepReport after = { 0 }, once = { 0 };
    tpRows_AccountEnergy(&rows, &velocities, &after);
    double whole = after.impactLoss;
    tpRows_AccountKick(&rows, start, kicked, 0.5, &after);
    const tpKick kick = { start, kicked, 0.5 };
    velocities.stroke = tpStrokeVelocities(system, &velocities, &kick, 1);
    assert_non_null(velocities.stroke);
    tpRows_AccountEnergy(&rows, &velocities, &once);
    CHECK_NEAR(once.impactLoss, after.impactLoss, 1e-13);
    CHECK_NEAR(once.frictionLoss, after.frictionLoss, 1e-13);
    // A kick of .5 m/s towards the floor, of which half is taken off.
    CHECK_NEAR(whole - after.impactLoss, 0.5 * 0.5 * rows.impulse[0], 1e-13);
    tpDestroyWorld(world);
}

// Joints of any role ------------------------------------------------------------------------------

// Two links that move anyhow on a hinge to each other and one to a post that moves as it is told,
// with any impulses along all rows.
typedef struct Linked {
    tpWorld* world;
    tpRows rows;
    tpVelocity before[3];
    double gained; // of kinetic energy by both links, J
} Linked;

static Linked link(tpRowRole role) {
    tpRandom random = { 5 };
    Linked l = { .world = worldOf(tp_anitescu, tpZeroVec3()) };
    tpBodyDef post = tpDefaultBodyDef();
    post.kind = tp_kinematicBody;
    post.velocity = tpMakeVec3(0.4, -0.3, 0.7);
    post.angularVelocity = tpMakeVec3(0.5, 0.6, -0.2);
    tpBodyId bodies[3] = { addBodyOf(l.world, &post) };
    for (int i = 1; i < 3; ++i) {
        bodies[i] =
            addBody(l.world, tpMakeVec3(0.3 * i, 0.1, 0.0), 1.5, tpMakeVec3(0.01, 0.02, 0.03));
        addHinge(l.world, bodies[i - 1], bodies[i], tpMakeVec3(0.3 * i - 0.2, 0.0, 0.0), axisZ);
        tpBody_SetVelocity(l.world, bodies[i], randomVec3(&random, -1.0, 1.0),
                           randomVec3(&random, -2.0, 2.0));
    }
    tpSystem* system = &l.world->system;
    l.rows = makeJointRows(system);
    memcpy(l.before, system->velocities.data, sizeof(l.before));
    for (int b = 0; b < l.rows.blockCount; ++b) {
        l.rows.infos[b].role = role;
        for (int k = l.rows.firstRows[b]; k < l.rows.firstRows[b] + l.rows.dimensions[b]; ++k) {
            l.rows.impulse[k] = randomBetween(&random, -0.3, 0.3);
        }
    }
    double energy = tpSystem_KineticEnergy(system);
    tpRows_ApplyImpulses(&l.rows, system->velocities.data);
    l.gained = tpSystem_KineticEnergy(system) - energy;
    return l;
}

// What the links gain comes from losses below zero, from the post, and from drives.
static void testRoles(void** state) {
    (void)state;
    static const tpRowRole roles[] = { tp_heldRole,  tp_limitRole,    tp_servoRole,
                                       tp_motorRole, tp_frictionRole, tp_damperRole };
    double given = 0.0;
    for (int k = 0; k < 6; ++k) {
        Linked l = link(roles[k]);
        bool isLoss = roles[k] == tp_heldRole || roles[k] == tp_limitRole;
        tpRowVelocities velocities = { l.before, l.world->system.velocities.data, NULL, NULL };
        for (int way = 0; way < 2; ++way) {
            tpStepReport report = { 0 };
            velocities.stroke =
                way == 0 ? NULL : tpStrokeVelocities(&l.world->system, &velocities, NULL, 0);
            tpRows_AccountEnergy(&l.rows, &velocities, &report);
            CHECK_NEAR(report.externalWork - report.impactLoss, l.gained, 1e-12);
            assert_true(report.frictionLoss == 0.0);
            given = k == 0 && way == 0 ? report.externalWork : given;
            if (isLoss) { // the post gives the same whatever the role
                CHECK_NEAR(report.externalWork, given, 1e-12);
            }
            assert_true(isLoss == (fabs(report.impactLoss) > 1e-6));
        }
        // A kick before: taken off at once, or afterwards.
        tpRandom random = { 8 };
        tpVelocity start[3];
        memcpy(start, l.before, sizeof(start));
        for (int i = 1; i < 3; ++i) {
            start[i].linear = tpAdd(start[i].linear, randomVec3(&random, -1.0, 1.0));
            start[i].angular = tpAdd(start[i].angular, randomVec3(&random, -1.0, 1.0));
        }
        const tpKick kick = { start, l.before, 0.5 };
        tpStepReport after = { 0 }, once = { 0 };
        velocities.stroke = NULL;
        tpRows_AccountEnergy(&l.rows, &velocities, &after);
        double plain = after.impactLoss;
        tpRows_AccountKick(&l.rows, start, l.before, 0.5, &after);
        velocities.stroke = tpStrokeVelocities(&l.world->system, &velocities, &kick, 1);
        tpRows_AccountEnergy(&l.rows, &velocities, &once);
        CHECK_NEAR(once.impactLoss, after.impactLoss, 1e-13);
        CHECK_NEAR(once.externalWork, after.externalWork, 1e-13);
        assert_true((fabs(after.impactLoss - plain) > 1e-6) == isLoss);
        tpDestroyWorld(l.world);
    }
    assert_true(fabs(given) > 1e-3);
}

// A rotor of inertia 1 / compliance that rows carry along: what the links lose it gains, but for
// what the impulse takes from both.
static void testRotors(void** state) {
    (void)state;
    Linked l = link(tp_rotorRole);
    tpRandom random = { 6 };
    double gained = 0.0;
    for (int k = 0; k < l.rows.rowCount; ++k) {
        double c = l.rows.compliance[k] = randomBetween(&random, 0.5, 3.0);
        double speed = l.rows.rotor[k] = randomBetween(&random, -2.0, 2.0);
        double after = speed - c * l.rows.impulse[k];
        gained += 0.5 * (after * after - speed * speed) / c;
    }
    tpStepReport report = { 0 };
    tpRowVelocities velocities = { l.before, l.world->system.velocities.data, NULL, NULL };
    tpRows_AccountEnergy(&l.rows, &velocities, &report);
    CHECK_NEAR(report.externalWork - report.impactLoss, l.gained + gained, 1e-12);
    tpDestroyWorld(l.world);
}

// Springs keep what they take; what their dampers take is gone. On the way of the drift, and of the
// mean velocity if there is none.
static void testSprings(void** state) {
    (void)state;
    for (int drifts = 0; drifts < 2; ++drifts) {
        Linked l = link(tp_springRole);
        tpSystem* system = &l.world->system;
        tpRandom random = { 7 };
        tpVelocity drift[3];
        tpStepReport plain = { 0 }, damped = { 0 };
        for (int i = 0; i < 3; ++i) {
            drift[i].linear = randomVec3(&random, -1.0, 1.0);
            drift[i].angular = randomVec3(&random, -1.0, 1.0);
        }
        tpRowVelocities velocities = { l.before, system->velocities.data, drifts ? drift : NULL,
                                       NULL };
        tpRows_AccountEnergy(&l.rows, &velocities, &plain);
        assert_true(plain.impactLoss == 0.0 && plain.frictionLoss == 0.0);
        double taken = 0.0;
        for (int b = 0; b < l.rows.blockCount; ++b) {
            int bodyA = l.rows.givenA[b], bodyB = l.rows.givenB[b];
            for (int k = l.rows.firstRows[b]; k < l.rows.firstRows[b] + l.rows.dimensions[b]; ++k) {
                l.rows.damping[k] = randomBetween(&random, 0.1, 0.5);
                l.rows.missed[k] = drifts ? randomBetween(&random, -0.2, 0.2) : 0.0;
                double u0 = tpRows_RowVelocity(&l.rows, k, l.before, bodyA, bodyB);
                double u1 = tpRows_RowVelocity(&l.rows, k, system->velocities.data, bodyA, bodyB);
                double way =
                    drifts ? tpRows_RowVelocity(&l.rows, k, drift, bodyA, bodyB) + l.rows.missed[k]
                           : 0.5 * (u0 + u1);
                taken += l.rows.damping[k] * (u1 + l.rows.missed[k]) * way;
            }
        }
        tpRows_AccountEnergy(&l.rows, &velocities, &damped);
        CHECK_NEAR(damped.externalWork - plain.externalWork, -taken, 1e-12);
        assert_true(damped.impactLoss == 0.0 && damped.frictionLoss == 0.0);
        tpDestroyWorld(l.world);
    }
}

static void testSlack(void** state) {
    (void)state;
    tpStepReport report = { 0 };
    tpAddDriveWork(2.0, &report);
    double given = tpStepReport_GetDriveSlack(&report);
    tpAddDriveWork(-0.5, &report);
    CHECK_NEAR(report.externalWork, 1.5, 1e-15);
    // What is given may be off by a fiftieth, what is taken by a half.
    CHECK_NEAR(given, 0.02 * 2.0, 1e-15);
    CHECK_NEAR(tpStepReport_GetDriveSlack(&report) - given, 0.5 * 0.5, 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testContact), cmocka_unit_test(testKick),   cmocka_unit_test(testSlack),
        cmocka_unit_test(testRoles),   cmocka_unit_test(testRotors), cmocka_unit_test(testSprings)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
