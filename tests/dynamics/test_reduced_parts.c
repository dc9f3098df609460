// The parts of joint coordinates by themselves: rows that are eliminated, velocities that joints
// hold, how far they are apart.

#include "dynamics/joint_laws.h"
#include "dynamics/joint_rows.h"
#include "dynamics/joint_types.h"
#include "dynamics/reduced.h"
#include "joint_rows.h"
#include "support/joint_worlds.h"
#include "world/world.h"

// Rows that hold without any bound ----------------------------------------------------------------

enum { mostBlocks = 8, mostRows = 3 * mostBlocks };

typedef struct Problem {
    int dimensions[mostBlocks];
    unsigned char kinds[mostBlocks];
    double mu[mostBlocks], W[mostRows * mostRows], q[mostRows], r[mostRows];
    int blockCount, rowCount;
} Problem;

// W = J J' and q = J v; the last block may hold what the first one holds, the other way about.
static Problem randomProblem(tpRandom* random, bool hasTwin) {
    enum { freedoms = 30 };
    static double J[mostRows][freedoms];
    Problem p = { .blockCount = 3 + (int)(randomBits(random) % (mostBlocks - 2)) };
    double v[freedoms];
    for (int j = 0; j < freedoms; ++j) {
        v[j] = randomBetween(random, -1.0, 1.0);
    }
    for (int b = 0; b < p.blockCount; ++b) {
        bool isTwin = hasTwin && b == p.blockCount - 1;
        unsigned kind = (unsigned)(randomBits(random) % 3);
        p.dimensions[b] = isTwin ? p.dimensions[0] : kind == 1 ? 1 : 3;
        p.kinds[b] = kind == 0 || isTwin || (hasTwin && b == 0) ? tp_frictionFree
                     : kind == 1                                ? tp_frictionNonnegative
                                                                : tp_frictionCone;
        p.mu[b] = randomBetween(random, 0.1, 1.0);
        for (int k = 0; k < p.dimensions[b]; ++k, ++p.rowCount) {
            for (int j = 0; j < freedoms; ++j) {
                J[p.rowCount][j] = isTwin ? -2.0 * J[k][j] : randomBetween(random, -1.0, 1.0);
            }
        }
    }
    for (int i = 0; i < p.rowCount; ++i) {
        p.r[i] = randomBetween(random, -1.0, 1.0);
        for (int j = 0; j < freedoms; ++j) {
            p.q[i] += J[i][j] * v[j];
            for (int k = 0; k < p.rowCount; ++k) {
                p.W[i * p.rowCount + k] += J[i][j] * J[k][j];
            }
        }
    }
    return p;
}

// Whatever the others have for impulses, free rows stand still with what is put back, others move
// as the problem of the rest says. Of rows that say the same one acts.
static void testFreeRows(void** state) {
    (void)state;
    tpRandom random = { 81 };
    tpAllocator allocator = tpDefaultAllocator();
    tpArena arena;
    tpArena_Create(&arena, &allocator);
    for (int n = 0; n < 300; ++n) {
        bool hasTwin = n % 3 == 0;
        Problem p = randomProblem(&random, hasTwin);
        tpFrictionProblem problem = { .blockCount = p.blockCount,
                                      .dimensions = p.dimensions,
                                      .kinds = p.kinds,
                                      .mu = p.mu,
                                      .q = p.q };
        tpFreeRows free;
        assert_true(tpFreeRows_Eliminate(&free, &problem, p.W, p.r, &arena));
        int rest = free.problem.blockCount, blocks = 0, row = 0, inRest = 0;
        assert_int_equal(free.count + free.restCount, p.rowCount);
        for (int i = 0; i < free.restCount; ++i) {
            assert_true(free.shift[i] == 0.0);
            free.shift[i] = randomBetween(&random, -1.0, 1.0);
        }
        double r[mostRows], shift[mostRows] = { 0.0 }, u[mostRows], restU[mostRows];
        for (int b = 0; b < p.blockCount; row += p.dimensions[b++]) {
            if (p.kinds[b] == tp_frictionFree) {
                continue;
            }
            assert_true(blocks < rest && free.problem.kinds[blocks] == p.kinds[b]);
            assert_true(free.problem.dimensions[blocks] == p.dimensions[b]);
            assert_true(free.problem.mu[blocks++] == p.mu[b]);
            for (int k = 0; k < p.dimensions[b]; ++k, ++inRest) {
                assert_true(free.r[inRest] == p.r[row + k]);
                free.r[inRest] = randomBetween(&random, -1.0, 1.0);
            }
        }
        assert_int_equal(blocks, rest);
        tpFreeRows_PutBack(&free, r, shift);
        for (int i = 0; i < p.rowCount; ++i) {
            u[i] = p.q[i];
            for (int k = 0; k < p.rowCount; ++k) {
                u[i] += p.W[i * p.rowCount + k] * r[k];
            }
        }
        for (int i = 0; i < inRest; ++i) {
            restU[i] = free.problem.q[i];
            for (int k = 0; k < inRest; ++k) {
                restU[i] += free.W[i * inRest + k] * free.r[k];
            }
        }
        row = inRest = 0;
        for (int b = 0; b < p.blockCount; ++b) {
            bool isFree = p.kinds[b] == tp_frictionFree;
            for (int k = 0; k < p.dimensions[b]; ++k, ++row) {
                CHECK_NEAR(u[row], isFree ? 0.0 : restU[inRest], 1e-8);
                assert_true(shift[row] == (isFree ? 0.0 : free.shift[inRest]));
                assert_true(isFree || r[row] == free.r[inRest]);
                assert_true(!hasTwin || b < p.blockCount - 1 || r[row] == 0.0);
                inRest += isFree ? 0 : 1;
            }
        }
        tpArena_Reset(&arena);
    }
    tpArena_Destroy(&arena);
}

// Joints at random poses and velocities -----------------------------------------------------------

enum { linkCount = 5, keptContacts = 3 };

// A chain of hinges, some from the child to its parent, some with limits; from the world or free.
static tpWorld* makeChain(tpRandom* random, bool isFree) {
    tpWorld* world = worldOf(tp_anitescu, tpZeroVec3());
    tpBodyId last = theWorld;
    for (int i = 0; i < linkCount; ++i) {
        tpVec3 place = { 0.4 * i, 0.1 * (i % 2), 0.0 };
        tpBodyId body = addBody(world, place, 1.0, tpMakeVec3(0.02, 0.03, 0.04));
        if (i > 0 || !isFree) {
            tpVec3 axis = tpNormalize(randomVec3(random, -1.0, 1.0));
            tpVec3 anchor = tpAdd(place, tpMakeVec3(-0.2, 0.0, 0.1));
            tpJointDef joint = jointOf(tp_revoluteJoint, i % 2 == 0 ? body : last,
                                       i % 2 == 0 ? last : body, anchor, axis);
            joint.coordinate.hasLimits = i % 3 == 1;
            joint.coordinate.limits[0] = -0.005;
            joint.coordinate.limits[1] = 0.007;
            addJoint(world, &joint);
        }
        last = body;
    }
    return world;
}

// With room for some contacts.
static tpReduced* placeTrees(tpSystem* system, tpRows* rows) {
    int blocks, count;
    tpJoints_Count(system, &blocks, &count);
    tpJoints_Begin(system, 0.01);
    assert_true(tpRows_Create(rows, system, blocks + keptContacts, count + 3 * keptContacts));
    tpRows_SetMasses(rows, system);
    tpReduced* reduced = tpReduced_Create(system, 0.01);
    assert_non_null(reduced);
    tpJointTreatment treatment = { 0.01, 1.0, NULL, 0.01, 0.0, false };
    tpReduced_Place(reduced, rows, system->poses.data, &treatment, tp_firstHalf);
    return reduced;
}

// The largest speed of a row that holds, from the rows that joints have elsewhere.
static double heldSpeed(tpSystem* system, const tpVelocity* velocities) {
    double largest = 0.0;
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        tpJointPlace place = tpJoint_Place(joint, system->poses.data);
        tpJointRows rows = tpJoint_HeldRows(joint, &place);
        for (int k = 0; k < rows.rowCount; ++k) {
            largest = fmax(largest, fabs(tpJointRow_Speed(joint, &rows.rows[k], velocities)));
        }
    }
    return largest;
}

// One velocity after the other is given to one body: what a joint holds of it is told in full, and
// of several the largest. Turned about a joint's axis bodies move as it allows.
static void testHeldSpeeds(void** state) {
    (void)state;
    tpRandom random = { 82 };
    for (int n = 0; n < 100; ++n) {
        tpWorld* world = makeChain(&random, n % 2 == 0);
        tpSystem* system = &world->system;
        for (int i = 0; i < linkCount; ++i) {
            system->velocities.data[i] = (tpVelocity){ .linear = tpZeroVec3() };
        }
        tpRows rows;
        tpReduced* reduced = placeTrees(system, &rows);
        assert_true(tpReduced_HeldSpeed(reduced, system->velocities.data) == 0.0);
        for (int m = 0; m < 20; ++m) {
            tpVelocity velocities[linkCount] = { 0 };
            for (int i = 0; i < linkCount; ++i) {
                if (m % 4 == 0 || i == (m + n) % linkCount) {
                    velocities[i].linear = randomVec3(&random, -1.0, 1.0);
                    velocities[i].angular = randomVec3(&random, -2.0, 2.0);
                }
            }
            double told = tpReduced_HeldSpeed(reduced, velocities);
            CHECK_NEAR(told, heldSpeed(system, velocities), 1e-12);
        }
        // The last body about its joint.
        const tpJoint* joint = &system->joints.data[system->joints.count - 1];
        tpJointPlace place = tpJoint_Place(joint, system->poses.data);
        tpVelocity velocities[linkCount] = { 0 };
        tpVec3 anchor =
            tpTransformPoint(system->poses.data[linkCount - 1],
                             joint->bodyA == linkCount - 1 ? joint->anchorA : joint->anchorB);
        tpVec3 axis = tpJoint_CoordinateRow(joint, &place, 0).onB.angular;
        tpVec3 arm = tpSub(system->poses.data[linkCount - 1].position, anchor);
        velocities[linkCount - 1] = (tpVelocity){ .linear = tpCross(axis, arm), .angular = axis };
        CHECK_NEAR(tpReduced_HeldSpeed(reduced, velocities), 0.0, 1e-14);
        tpDestroyWorld(world);
    }
}

// Where bodies were placed, and where a drift has ended, joints are as far apart as they are by
// themselves.
static void testErrors(void** state) {
    (void)state;
    tpRandom random = { 83 };
    for (int n = 0; n < 200; ++n) {
        tpWorld* world = makeChain(&random, n % 2 == 0);
        tpSystem* system = &world->system;
        double unit = system->units.length = n % 4 < 2 ? 1.0 : 0.25;
        for (int half = 0; half < 2; ++half) {
            int moved = (int)(randomBits(&random) % linkCount);
            for (int i = 0; i < linkCount; ++i) {
                if (n % 3 == 0 || i == moved) {
                    tpPose* pose = &system->poses.data[i];
                    tpVec3 by = randomVec3(&random, -0.01, 0.01);
                    bool isTurn = randomBits(&random) % 2 == 0;
                    pose->position = isTurn ? pose->position : tpAdd(pose->position, by);
                    pose->rotation =
                        isTurn ? tpMulQQ(tpQuatExp(by), pose->rotation) : pose->rotation;
                }
            }
            tpRows rows;
            tpReduced* reduced = placeTrees(system, &rows);
            CHECK_NEAR(tpReduced_StartError(reduced),
                       tpJoints_PositionError(system, system->poses.data), 1e-14);
            tpReduced_Correct(reduced, system->poses.data);
            double told = tpReduced_FollowAngles(reduced), error = 0.0;
            for (int i = 0; i < system->joints.count; ++i) {
                const tpJoint* joint = &system->joints.data[i];
                tpPose a = tpPoseOrWorld(system->poses.data, joint->bodyA);
                tpPose b = tpPoseOrWorld(system->poses.data, joint->bodyB);
                tpVec3 gap =
                    tpSub(tpTransformPoint(b, joint->anchorB), tpTransformPoint(a, joint->anchorA));
                double value = tpHinge_Value(joint, a.rotation, b.rotation);
                error = fmax(error,
                             tpHinge_Drift(joint, gap, tpHinge_Twist(joint, a.rotation, b.rotation),
                                           value, unit));
                CHECK_NEAR(joint->coordinates[0].displacement, value, 1e-14);
            }
            CHECK_NEAR(told, error, 1e-14);
        }
        tpDestroyWorld(world);
    }
}

// Contacts of links with the world, on rows behind those of the trees; returns the first block.
static int addContacts(tpSystem* system, tpRows* rows, int floor, tpRandom* random) {
    int first = rows->blockCount;
    for (int i = 0; i < keptContacts; ++i) {
        tpContactLaw law = { .mu = 0.5, .muStatic = 0.5, .ellipse = { 1.0, 1.0 } };
        tpContact contact = { .bodyA = 1 + i, .bodyB = floor };
        contact.normal = tpMakeVec3(0.0, 0.0, 1.0);
        law.tangents[0] = tpMakeVec3(1.0, 0.0, 0.0);
        law.tangents[1] = tpMakeVec3(0.0, 1.0, 0.0);
        tpVec3 arm = randomVec3(random, -0.2, 0.2);
        contact.pointA = tpAdd(system->poses.data[1 + i].position, arm);
        contact.pointB = contact.pointA;
        tpRows_AddContact(rows, system, system->poses.data, &contact, i, &law, 0.0);
    }
    return first;
}

// By how much impulses miss the law of contact: u is W r and the velocities before, both anew.
static double missedBy(tpReduced* reduced, const tpRows* rows, const int* blocks, int count) {
    double W[9 * keptContacts * keptContacts], missed = 0.0;
    assert_true(tpReduced_FormMatrix(reduced, rows, blocks, count, &reduced->system->arena, W));
    for (int i = 0; i < count; ++i) {
        double u[3], r[3];
        for (int k = 0; k < 3; ++k) {
            int row = rows->firstRows[blocks[i]] + k;
            r[k] = rows->impulse[row] / rows->scale[row];
            u[k] = rows->scale[row] * rows->q[row];
            for (int j = 0; j < 3 * count; ++j) {
                int other = rows->firstRows[blocks[j / 3]] + j % 3;
                u[k] += W[(3 * i + k) * 3 * count + j] * rows->impulse[other] / rows->scale[other];
            }
        }
        double limit = rows->mu[blocks[i]] * r[0], slip = hypot(u[1], u[2]);
        missed = fmax(missed, fmax(-r[0], -u[0]));
        missed = fmax(missed, fmax(fabs(r[0] * u[0]), hypot(r[1], r[2]) - limit));
        missed = fmax(missed, fabs(limit * slip + r[1] * u[1] + r[2] * u[2]));
    }
    return missed;
}

// One problem after the other of two contacts out of three: what is kept of the one before is used
// for those that differ in their velocities alone, and for no others.
static void testKeptProblems(void** state) {
    (void)state;
    tpRandom random = { 84 };
    int solved = 0, asked = 0;
    for (int n = 0; n < 60; ++n) {
        tpWorld* world = makeChain(&random, n % 2 == 0);
        tpSystem* system = &world->system;
        tpBodyDef def = tpDefaultBodyDef();
        def.kind = tp_fixedBody;
        tpCreateBody(world, &def, NULL);
        tpRows rows;
        tpReduced* reduced = placeTrees(system, &rows);
        int first = addContacts(system, &rows, linkCount, &random);
        reduced->free = system->velocities.data;
        tpReduced_MoveFreely(reduced, &rows);
        int blocks[2] = { first, first + 1 };
        for (int m = 0; m < 24; ++m) {
            int change = (int)(randomBits(&random) % 4), block = blocks[m % 2];
            int row = rows.firstRows[block] + (int)(randomBits(&random) % 3);
            if (change == 1) {
                rows.mu[block] = randomBetween(&random, 0.1, 1.0);
            } else if (change == 2) {
                rows.jacobianA[6 * row + (int)(randomBits(&random) % 6)] *= 1.3;
            } else if (change == 3) {
                blocks[m % 2] = 3 * first + 3 - blocks[0] - blocks[1];
            }
            for (int k = 0; k < 3 * keptContacts; ++k) {
                double speed = randomBetween(&random, -0.2, 0.2) - (k % 3 == 0 ? 0.3 : 0.0);
                rows.q[rows.firstRows[first] + k] = speed;
            }
            int rounds = 0;
            ++asked;
            if (tpReduced_SolveByStates(reduced, &rows, blocks, 2, 1e-8, &rounds)) {
                CHECK_BELOW(missedBy(reduced, &rows, blocks, 2), 1e-6);
                ++solved;
            }
        }
        tpDestroyWorld(world);
    }
    print_message("%d of %d problems solved\n", solved, asked);
    assert_true(solved > asked / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testFreeRows),
        cmocka_unit_test(testHeldSpeeds),
        cmocka_unit_test(testErrors),
        cmocka_unit_test(testKeptProblems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
