// Rows of contacts: directions, responses, velocities, and what impulses do.

#include "ball_cases.h"

// A ball: 1/m along the normal, 1/m + r^2/I along the floor, nothing between the two.
static void testResponse(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(1.0, 2.0, ballRadius), tpMakeVec3(0.3, -0.4, -3.0));
    tpContact contact = makeContact(system, ball, addFloor(world));
    tpRows rows = makeRows(system, &contact, 1, 0.5);
    assert_int_equal(rows.dimensions[0], 3);
    double along = 1.0 / ballMass + ballRadius * ballRadius / ballMoment;
    CHECK_NEAR(tpRows_Response(&rows, 0, 0), 1.0 / ballMass, 1e-15);
    CHECK_NEAR(tpRows_Response(&rows, 0, 1), along, 1e-14);
    CHECK_NEAR(tpRows_Response(&rows, 0, 2), along, 1e-14);
    double W[TP_FRICTION_MAX_ROWS][TP_FRICTION_MAX_ROWS];
    tpRows_Coupling(&rows, 0, 0, W);
    CHECK_NEAR(W[0][1], 0.0, 1e-15);
    CHECK_NEAR(W[1][1], along, 1e-14);
    CHECK_NEAR(W[1][2], 0.0, 1e-15);
    // The velocities of the rows are those of the lowest point.
    CHECK_NEAR(rows.q[0], -3.0, 1e-15);
    CHECK_NEAR(rows.q[1], 0.3, 1e-15);
    CHECK_NEAR(rows.q[2], -0.4, 1e-15);
    tpDestroyWorld(world);
}

// Impulses change velocities by r/m and turn the ball by arm x r / I.
static void testImpulses(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpZeroVec3());
    tpContact contact = makeContact(system, ball, addFloor(world));
    tpRows rows = makeRows(system, &contact, 1, 0.5);
    rows.impulse[0] = 6.0;
    rows.impulse[1] = 0.2;
    rows.impulse[2] = -0.1;
    tpRows_ApplyImpulses(&rows, system->velocities.data);
    const tpVelocity* after = &system->velocities.data[ball];
    CHECK_VEC3(after->linear, tpMakeVec3(0.1, -0.05, 3.0), 1e-15);
    // (0, 0, -r) x (.2, -.1, 6) / I
    double factor = ballRadius / ballMoment;
    CHECK_VEC3(after->angular, tpMakeVec3(-0.1 * factor, -0.2 * factor, 0.0), 1e-14);
    // The rows see the same: u = W r.
    CHECK_NEAR(tpRows_RowVelocity(&rows, 1, system->velocities.data, ball, -1),
               0.2 * tpRows_Response(&rows, 0, 1), 1e-14);
    tpDestroyWorld(world);
}

// A kinematic body gives no impulse way, and its velocity counts on its own.
static void testKinematic(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpZeroVec3());
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_kinematicBody;
    def.velocity = tpMakeVec3(0.7, 0.0, 0.2);
    int belt = system->bodyCount;
    tpCreateBody(world, &def, NULL);
    tpContact contact = makeContact(system, ball, belt);
    tpRows rows = makeRows(system, &contact, 1, 0.5);
    assert_int_equal(rows.bodyA[0], ball);
    assert_int_equal(rows.bodyB[0], -1);
    assert_int_equal(rows.givenB[0], belt);
    CHECK_NEAR(tpRows_KinematicVelocity(&rows, 0, 0, system->velocities.data), -0.2, 1e-15);
    CHECK_NEAR(tpRows_KinematicVelocity(&rows, 0, 1, system->velocities.data), -0.7, 1e-15);
    CHECK_NEAR(tpRows_Response(&rows, 0, 0), 1.0 / ballMass, 1e-15);
    tpDestroyWorld(world);
}

// Rows by the laws that a contact has: sliding, spinning and rolling see the motions they are named
// after, with their scales.
static void testKinds(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpZeroVec3());
    tpContact contact = makeContact(system, ball, addFloor(world));
    system->velocities.data[ball] =
        (tpVelocity){ .linear = tpMakeVec3(0.3, -0.4, 0.5), .angular = tpMakeVec3(0.7, 1.1, 1.3) };
    for (int which = 0; which < 8; ++which) {
        tpContactLaw law = makeLaw(which & 1 ? 0.5 : 0.0);
        law.arm = which & 2 ? 0.02 : 0.0;
        law.rollingArm = which & 4 ? 0.03 : 0.0;
        law.ellipse[1] = 0.75;
        tpRows rows;
        assert_true(tpRows_Create(&rows, system, 1, 6));
        int block = tpRows_AddContact(&rows, system, system->poses.data, &contact, 7, &law, 0.25);
        bool isRough = which & 1;
        int torsions = isRough && which & 2 ? 1 : 0, rolls = isRough && which & 4 ? 2 : 0;
        assert_int_equal(rows.dimensions[block], isRough ? 3 + torsions + rolls : 1);
        assert_int_equal(rows.infos[block].index, 7);
        assert_true(rows.bias[0] == 0.25 && rows.mu[block] == law.mu);
        tpFrictionRows found = tpRows_FrictionRows(&rows, block);
        assert_int_equal(found.slidingCount, isRough ? 2 : 0);
        assert_int_equal(found.rollingCount, rolls);
        assert_int_equal(found.torsion, torsions ? 3 : 0);
        assert_int_equal(found.rolling, rolls ? 3 + torsions : 0);
        const double expected[6] = { 0.5, 0.3 - ballRadius * 1.1, -0.4 + ballRadius * 0.7 };
        for (int k = 0; k < (isRough ? 3 : 1); ++k) {
            CHECK_NEAR(tpRows_RowVelocity(&rows, k, system->velocities.data, ball, -1), expected[k],
                       1e-15);
        }
        if (isRough) {
            assert_true(rows.scale[0] == 1.0 && rows.scale[1] == 1.0 && rows.scale[2] == 0.75);
        }
        if (torsions) {
            CHECK_NEAR(tpRows_RowVelocity(&rows, 3, system->velocities.data, ball, -1), 1.3, 0.0);
            assert_true(rows.scale[3] == 0.02);
        }
        for (int k = 0; k < rolls; ++k) {
            int row = found.rolling + k;
            CHECK_NEAR(tpRows_RowVelocity(&rows, row, system->velocities.data, ball, -1),
                       k == 0 ? 0.7 : 1.1, 0.0);
            assert_true(rows.scale[row] == 0.03);
        }
    }
    tpDestroyWorld(world);
}

// Rows with terms of further bodies, every number another one.
static tpRows makeNumbered(tpSystem* system) {
    tpRows rows;
    assert_true(tpRows_Create(&rows, system, 3, 6));
    rows.termCapacity = 8;
    rows.terms = TP_SCRATCH(&system->arena, tpRowTerm, 8);
    for (int b = 0; b < 3; ++b) {
        tpBlockInfo info = { .source = tp_contactSource, .index = 10 + b };
        tpRows_AddBlock(&rows, system, info, tp_frictionCone, 1 + b, b % 2, -1);
        rows.mu[b] = 0.1 + b;
        for (int t = 0; t < b; ++t) { // 0, 1 and 2 terms
            tpWrench on = { tpMakeVec3(b, t, 1.0), tpMakeVec3(2.0, b, t) };
            tpRows_AddTerm(&rows, system, b, b, t, on);
        }
    }
    double number = 1.0;
    for (int i = 0; i < rows.rowCount; ++i) {
        double* all[] = { rows.scale, rows.compliance, rows.damping, rows.rotor,   rows.missed,
                          rows.bias,  rows.q,          rows.impulse, rows.velocity };
        for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); ++k) {
            all[k][i] = number++;
        }
        for (int k = 0; k < 6; ++k) {
            rows.jacobianA[6 * i + k] = number++;
            rows.jacobianB[6 * i + k] = number++;
        }
    }
    return rows;
}

static void checkTerms(const tpRows* rows, int row, const tpRows* from, int fromRow) {
    assert_int_equal(rows->termCounts[row], from->termCounts[fromRow]);
    for (int t = 0; t < rows->termCounts[row]; ++t) {
        const tpRowTerm* a = &rows->terms[rows->firstTerms[row] + t];
        const tpRowTerm* b = &from->terms[from->firstTerms[fromRow] + t];
        assert_int_equal(a->body, b->body);
        assert_int_equal(a->isDynamic, b->isDynamic);
        assert_memory_equal(a->jacobian, b->jacobian, sizeof(a->jacobian));
    }
}

// A term holds all of its wrench: three numbers of force, three of moment.
static void testTerms(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    addBall(world, tpMakeVec3(0.0, 0.0, 1.0), tpZeroVec3());
    int ball = addBall(world, tpMakeVec3(1.0, 0.0, 1.0), tpZeroVec3());
    int floor = addFloor(world);
    tpRows rows = makeNumbered(system);
    tpWrench on = { tpMakeVec3(1.5, 2.5, 3.5), tpMakeVec3(4.5, 5.5, 6.5) };
    tpRows_AddTerm(&rows, system, 2, 1, ball, on);
    tpRows_AddTerm(&rows, system, 2, 1, floor, on);
    int row = rows.firstRows[2] + 1;
    assert_int_equal(rows.termCounts[row], 2);
    const tpRowTerm* terms = &rows.terms[rows.firstTerms[row]];
    assert_true(terms[0].body == ball && terms[0].isDynamic);
    assert_true(terms[1].body == floor && !terms[1].isDynamic);
    for (int k = 0; k < 6; ++k) {
        assert_true(terms[0].jacobian[k] == k + 1.5 && terms[1].jacobian[k] == k + 1.5);
    }
    tpDestroyWorld(world);
}

// Blocks in another order are the same blocks.
static void testCopies(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    addBall(world, tpMakeVec3(0.0, 0.0, 1.0), tpZeroVec3());
    addBall(world, tpMakeVec3(1.0, 0.0, 1.0), tpZeroVec3());
    tpRows rows = makeNumbered(system), copy;
    assert_true(tpRows_Reserve(&copy, &system->arena, 6, 3, 6));
    copy.blockCount = copy.rowCount = copy.termCount = 0;
    int terms = 0;
    for (int c = 0; c < 3; ++c) {
        int b = 2 - c;
        tpRows_CopyBlock(&copy, &rows, b);
        terms += b;
        assert_int_equal(copy.termCount, terms);
        assert_int_equal(copy.infos[c].index, rows.infos[b].index);
        assert_int_equal(copy.dimensions[c], rows.dimensions[b]);
        assert_int_equal(copy.kinds[c], rows.kinds[b]);
        assert_true(copy.mu[c] == rows.mu[b]);
        assert_true(copy.bodyA[c] == rows.bodyA[b] && copy.bodyB[c] == rows.bodyB[b]);
        assert_true(copy.givenA[c] == rows.givenA[b] && copy.givenB[c] == rows.givenB[b]);
        for (int k = 0; k < rows.dimensions[b]; ++k) {
            int to = copy.firstRows[c] + k, from = rows.firstRows[b] + k;
            const double* old[] = { rows.scale, rows.compliance, rows.damping,
                                    rows.rotor, rows.missed,     rows.bias,
                                    rows.q,     rows.impulse,    rows.velocity };
            const double* new[] = { copy.scale, copy.compliance, copy.damping,
                                    copy.rotor, copy.missed,     copy.bias,
                                    copy.q,     copy.impulse,    copy.velocity };
            for (size_t n = 0; n < sizeof(old) / sizeof(old[0]); ++n) {
                assert_true(new[n][to] == old[n][from]);
            }
            assert_memory_equal(copy.jacobianA + 6 * to, rows.jacobianA + 6 * from, 48);
            assert_memory_equal(copy.jacobianB + 6 * to, rows.jacobianB + 6 * from, 48);
            checkTerms(&copy, to, &rows, from);
        }
    }
    assert_int_equal(copy.rowCount, rows.rowCount);
    // Terms alone, into rows that have terms of their own.
    tpRows other = makeNumbered(system);
    int last = rows.rowCount - 1, before = other.termCount;
    tpRows_CopyTerms(&other, 0, &rows, last);
    assert_int_equal(other.termCount, before + rows.termCounts[last]);
    checkTerms(&other, 0, &rows, last);
    checkTerms(&other, last, &rows, last);
    // Who is in a block: its two bodies, then those of the terms.
    int body;
    assert_true(tpRows_BodyAt(&rows, 2, 0, &body) && body == 0);
    assert_true(tpRows_BodyAt(&rows, 2, 1, &body) && body == -1);
    assert_true(tpRows_BodyAt(&rows, 2, 2, &body) && body == 0);
    assert_true(tpRows_BodyAt(&rows, 2, 3, &body) && body == 1);
    assert_false(tpRows_BodyAt(&rows, 2, 4, &body));
    assert_false(tpRows_BodyAt(&rows, 0, 2, &body));
    tpDestroyWorld(world);
}

// How far each of two contacts is from its law: 0 where it sticks in its cone or slides at its
// limit, the speed of the approach where nothing holds it.
static void testResidual(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    int ball = addBall(world, tpMakeVec3(0.0, 0.0, ballRadius), tpZeroVec3());
    int other = addBall(world, tpMakeVec3(1.0, 0.0, ballRadius), tpZeroVec3());
    int floor = addFloor(world);
    tpContact contacts[2] = { makeContact(system, ball, floor), makeContact(system, other, floor) };
    tpRows rows = makeRows(system, contacts, 2, 0.5);
    for (int b = 0; b < 2; ++b) {
        int first = rows.firstRows[b];
        rows.scale[first + 2] = 0.8;
        for (int k = 0; k < 3; ++k) {
            rows.impulse[first + k] = 7.0 + k; // beyond the cone
            rows.velocity[first + k] = 0.0;
        }
    }
    for (int b = 0; b < 2; ++b) {
        int first = rows.firstRows[b];
        assert_true(tpRows_ResidualSquared(&rows, b) > 1e-3);
        double* r = rows.impulse + first;
        double* u = rows.velocity + first;
        r[0] = 2.0, r[1] = 0.5, r[2] = 0.6; // 0.6 / 0.8 beside 0.5: inside
        CHECK_NEAR(tpRows_ResidualSquared(&rows, b), 0.0, 1e-30);
        // Sliding along the scaled direction (3, 4) / 5, against the friction.
        r[1] = -0.6, r[2] = -0.8 * 0.8;
        u[1] = 0.3, u[2] = 0.4 / 0.8;
        CHECK_NEAR(tpRows_ResidualSquared(&rows, b), 0.0, 1e-28);
        r[0] = r[1] = r[2] = u[1] = u[2] = 0.0;
        u[0] = -0.25;
        CHECK_NEAR(tpRows_ResidualSquared(&rows, b), 0.0625, 1e-15);
    }
    tpDestroyWorld(world);
}

// Slack is a gap over the step, in the unit of the scene.
static void testSlack(void** state) {
    (void)state;
    tpWorld* world = makeEmptyWorld();
    tpSystem* system = &world->system;
    addBall(world, tpMakeVec3(0.0, 0.0, 1.0), tpZeroVec3());
    tpRows rows, large;
    assert_true(tpRows_Create(&rows, system, 1, 1) && tpRows_Create(&large, system, 1, 1));
    system->units.length = 1.0;
    tpRows_AllowSlack(&rows, system, 0.01);
    system->units.length = 1024.0;
    tpRows_AllowSlack(&large, system, 0.02);
    assert_true(rows.h == 0.01 && large.h == 0.02 && rows.gapSlack > 0.0);
    CHECK_NEAR(large.gapSlack, 512.0 * rows.gapSlack, 1e-15);
    tpRows_AllowSlack(&large, system, 0.0);
    assert_true(large.gapSlack == 0.0);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testResponse),  cmocka_unit_test(testImpulses),
        cmocka_unit_test(testKinematic), cmocka_unit_test(testKinds),
        cmocka_unit_test(testCopies),    cmocka_unit_test(testTerms),
        cmocka_unit_test(testResidual),  cmocka_unit_test(testSlack)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
