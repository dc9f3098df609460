// Light sweeps before a solve: what they find solves the rows as the judge reads them.

#include "ball_cases.h"
#include "dynamics/light_start.h"

enum { columns = 30, layers = 5, contactCount = columns * layers };

// Columns of bodies that touch in points beside the line of their centres, so that each of them
// turns as it is pushed, and that slide along the floor.
static tpRows makeColumns(tpWorld* world, const tpContactLaw* law) {
    static tpContact contacts[contactCount];
    tpSystem* system = &world->system;
    tpRandom random = { 7 };
    int ground = addFloor(world);
    for (int i = 0; i < columns; ++i) {
        int below = ground;
        for (int k = 0; k < layers; ++k) {
            tpVec3 place = tpMakeVec3(i, 0.0, (2 * k + 1) * ballRadius);
            int ball = addBall(world, place, randomVec3(&random, -1.0, 1.0));
            tpContact* contact = &contacts[i * layers + k];
            *contact = makeContact(system, ball, below);
            contact->pointA = tpAdd(contact->pointA, randomVec3(&random, -0.1, 0.1));
            contact->pointB = tpAdd(contact->pointA, randomVec3(&random, -1e-3, 1e-3));
            below = ball;
        }
    }
    tpRows rows;
    assert_true(tpRows_Create(&rows, system, contactCount, 4 * contactCount));
    tpRows_SetMasses(&rows, system);
    for (int i = 0; i < contactCount; ++i) {
        tpRows_AddContact(&rows, system, system->poses.data, &contacts[i], i, law, 0.0);
        for (int k = 0; k < rows.dimensions[i]; ++k) {
            int row = rows.firstRows[i] + k;
            rows.q[row] = tpRows_RowVelocity(&rows, row, system->velocities.data, contacts[i].bodyA,
                                             contacts[i].bodyB);
            rows.impulse[row] = 0.0;
        }
    }
    return rows;
}

static double judge(const tpRows* rows) {
    tpAllocator allocator = tpDefaultAllocator();
    tpSolverMemory* memory = tpCreateSolverMemory(&allocator);
    tpFrictionBodies bodies;
    tpFrictionProblem problem = tpRows_Mechanism(rows, &bodies);
    tpFrictionResidual judged;
    assert_true(tpFriction_Judge(&problem, rows->impulse, rows->velocity, memory, &judged));
    tpDestroySolverMemory(memory);
    return judged.velocity;
}

// Friction with two semi-axes, that of the first contact with others: rows are scaled by them.
static void sweepsSolveRows(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpContactLaw law = makeLaw(0.4);
    law.ellipse[0] = 0.6;
    law.ellipse[1] = 1.3;
    tpRows rows = makeColumns(world, &law);
    assert_true(tpLightStart_Suits(&rows));
    double before = judge(&rows);
    tpLightStart start = { .goal = 1e-12, .work = 1e8 };
    assert_true(tpLightStart_Find(&start, &rows, &world->system.arena));
    double after = judge(&rows);
    print_message("%.2e to %.2e m/s, work %.1e\n", before, after, start.spent);
    assert_true(before > 1.0 && after < 1e-5 * before);
    assert_true(start.isSwept && start.spent > 0.0 && start.spent < 1e8);

    // From there nothing is swept any more, and without means nothing is done at all.
    double kept = rows.impulse[0];
    tpLightStart again = { .goal = 1e-12, .work = 1e8 };
    assert_true(tpLightStart_Find(&again, &rows, &world->system.arena));
    assert_true(again.isSwept && again.spent < start.spent && rows.impulse[0] == kept);
    tpLightStart poor = { .goal = 1e-12, .work = 1e4 };
    assert_true(tpLightStart_Find(&poor, &rows, &world->system.arena));
    assert_true(!poor.isSwept && poor.spent == 0.0);
    tpDestroyWorld(world);
}

// Whether a start is made, and whether it is good, is a matter of the problem's size: that of what
// bodies approach, not of what flies apart far away; and all speeds a thousand times as large, with
// what is asked for, make no difference.
static void sizesCount(void** state) {
    (void)state;
    double work[2];
    for (int k = 0; k < 2; ++k) {
        double unit = k == 0 ? 1.0 : 0x1p-10; // no rounding
        tpWorld* world = makeEmptyWorld();
        tpContactLaw law = makeLaw(0.4);
        tpRows rows = makeColumns(world, &law);
        for (int row = 0; row < rows.rowCount; ++row) {
            rows.q[row] *= unit;
        }
        tpLightStart start = { .goal = 1e-12 * unit, .work = 1e8 };
        assert_true(tpLightStart_Find(&start, &rows, &world->system.arena));
        assert_true(start.isSwept);
        work[k] = start.spent;
        double after = judge(&rows);

        // Contacts that part fast, and carry nothing, take no part: what is left of the others is
        // not small beside them. So there is nothing to sweep, and nothing is said to be solved
        // that is not.
        for (int i = 0; i < contactCount; ++i) {
            int first = rows.firstRows[i];
            for (int row = 0; row < 3; ++row) {
                rows.impulse[first + row] = 0.0;
                rows.q[first + row] = row == 0 ? 1e6 * unit : 0.0;
            }
        }
        int last = rows.firstRows[contactCount - 1];
        rows.q[last] = -1e-3 * unit;
        tpLightStart one = { .goal = 1e-12 * unit, .work = 1e8 };
        assert_true(tpLightStart_Find(&one, &rows, &world->system.arena));
        assert_true(one.spent > 0.0 && rows.impulse[last] > 0.0);
        assert_true(after < 1.0 && judge(&rows) < 1e-4 * unit * 1e-3 + 1e-12);
        tpDestroyWorld(world);
    }
    print_message("work %.3e and %.3e\n", work[0], work[1]);
    CHECK_NEAR(work[1], work[0], 1e-12 * work[0]);
}

static void othersDoNotSuit(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpContactLaw law = makeLaw(0.4);
    tpRows rows = makeColumns(world, &law);
    assert_true(tpLightStart_Suits(&rows));
    rows.compliance[5] = 1e-9;
    assert_true(!tpLightStart_Suits(&rows));
    rows.compliance[5] = 0.0;
    rows.infos[7].source = tp_jointSource;
    assert_true(!tpLightStart_Suits(&rows));
    rows.infos[7].source = tp_contactSource;
    rows.blockCount = 20; // as fast by the solver itself
    assert_true(!tpLightStart_Suits(&rows));
    tpDestroyWorld(world);

    world = makeEmptyWorld();
    law.arm = 0.01; // torsion: a fourth row
    rows = makeColumns(world, &law);
    assert_true(!tpLightStart_Suits(&rows));
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(sweepsSolveRows),
                                        cmocka_unit_test(sizesCount),
                                        cmocka_unit_test(othersDoNotSuit) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
