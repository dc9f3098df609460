// Chains of turns and slides: the pose for displacements, and the displacements of a pose.

#include "dynamics/joint_chain.h"
#include "support/check.h"
#include "world/world.h"

static void testRoundTrip(void** state) {
    (void)state;
    tpWorldDef worldDef = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&worldDef);
    tpBodyDef def = tpDefaultBodyDef();
    tpJointDef joint = tpDefaultJointDef();
    const tpAxisDef axes[4] = { { .kind = tp_slideAxis, .direction = tpMakeVec3(1.0, 0.0, 0.0) },
                                { .kind = tp_turnAxis, .direction = tpMakeVec3(0.0, 0.0, 1.0) },
                                { .kind = tp_slideAxis, .direction = tpMakeVec3(0.0, 1.0, 0.0) },
                                { .kind = tp_turnAxis, .direction = tpMakeVec3(0.0, 1.0, 0.0) } };
    joint.type = tp_compoundJoint;
    joint.axes = axes;
    joint.axisCount = 4;
    joint.bodyA = tpCreateBody(world, &def, NULL);
    joint.bodyB = tpCreateBody(world, &def, NULL);
    tpError error;
    if (!tpJoint_IsValid(world, tpCreateJoint(world, &joint, &error))) {
        fail_msg("%s", error.message);
    }
    const tpJoint* made = &world->system.joints.data[0];
    const double q[4] = { 0.3, 0.7, -0.4, 0.5 };
    tpQuat rotation;
    tpVec3 span;
    tpChain_Pose(made, q, &rotation, &span);
    // Slide x by q0; turn about z by q1; slide along the turned y by q2; turn about the turned y.
    tpQuat z = tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), q[1]);
    tpQuat y = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), q[3]);
    tpVec3 way = tpAdd(tpMakeVec3(q[0], 0.0, 0.0), tpRotate(z, tpMakeVec3(0.0, q[2], 0.0)));
    CHECK_VEC3(span, way, 1e-15);
    CHECK_VEC3(tpQuatLog(tpMulQQ(tpConjugate(tpMulQQ(z, y)), rotation)), tpZeroVec3(), 1e-15);

    tpQuat a = tpQuatExp(tpMakeVec3(0.2, -0.9, 0.4));
    tpChain chain;
    tpChain_Place(made, a, tpMulQQ(a, rotation), tpRotate(a, span), &chain);
    assert_int_equal(chain.turnCount, 2);
    assert_int_equal(chain.slideCount, 2);
    CHECK_VEC3(chain.twist, tpZeroVec3(), 1e-13);
    CHECK_VEC3(chain.gap, tpZeroVec3(), 1e-13);
    for (int i = 0; i < 2; ++i) {
        CHECK_NEAR(chain.turns[i].value, q[chain.turns[i].coordinate], 1e-13);
        CHECK_NEAR(chain.slides[i].value, q[chain.slides[i].coordinate], 1e-13);
    }
    tpDestroyWorld(world);
}

// Chains of all numbers of turns and slides ---------------------------------------------------

typedef struct Linkage {
    tpWorld* world;
    tpJoint* joint;
    int count;
    double q[6];
} Linkage;

static tpVec3 randomUnit(tpRandom* random) {
    tpVec3 v;
    do {
        v = randomVec3(random, -1.0, 1.0);
    } while (tpLengthSquared(v) > 1.0 || tpLengthSquared(v) < 0.01);
    return tpNormalize(v);
}

// Directions that are far from dependent.
static void chooseDirections(tpRandom* random, tpVec3* directions, int count) {
    double volume;
    do {
        for (int i = 0; i < count; ++i) {
            directions[i] = randomUnit(random);
        }
        volume = count == 2   ? tpLength(tpCross(directions[0], directions[1]))
                 : count == 3 ? fabs(tpDot(directions[0], tpCross(directions[1], directions[2])))
                              : 1.0;
    } while (volume < 0.5);
}

static Linkage makeLinkage(tpRandom* random, int turnCount, int slideCount) {
    tpVec3 turns[3], slides[3];
    chooseDirections(random, turns, turnCount);
    chooseDirections(random, slides, slideCount);
    tpAxisDef axes[6];
    Linkage linkage = { .count = turnCount + slideCount };
    for (int i = 0, t = 0, s = 0; i < linkage.count; ++i) {
        bool isTurn = s == slideCount || (t < turnCount && randomBits(random) % 2 == 0);
        axes[i] = (tpAxisDef){ .kind = isTurn ? tp_turnAxis : tp_slideAxis,
                               .direction = isTurn ? turns[t++] : slides[s++] };
        // More than a turn or two; the one in the middle of three is told from its mirror image by
        // the last angle alone.
        linkage.q[i] = randomBetween(random, isTurn ? -9.0 : -2.0, isTurn ? 9.0 : 2.0);
    }
    tpWorldDef worldDef = tpDefaultWorldDef();
    linkage.world = tpCreateWorld(&worldDef);
    tpBodyDef body = tpDefaultBodyDef();
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_compoundJoint;
    def.axes = axes;
    def.axisCount = linkage.count;
    def.bodyA = tpCreateBody(linkage.world, &body, NULL);
    body.rotation = randomRotation(random);
    def.bodyB = tpCreateBody(linkage.world, &body, NULL);
    tpError error;
    if (!tpJoint_IsValid(linkage.world, tpCreateJoint(linkage.world, &def, &error))) {
        fail_msg("%s", error.message);
    }
    linkage.joint = &linkage.world->system.joints.data[0];
    for (int i = 0; i < linkage.count; ++i) {
        linkage.joint->coordinates[i].displacement = linkage.q[i] + randomBetween(random, -.1, .1);
    }
    return linkage;
}

// Where the turns and slides are determined: not near gimbal lock.
static bool isRegular(const tpChain* chain) {
    for (int i = 0; i < chain->turnCount; ++i) {
        if (tpLength(chain->turns[i].dual) > 4.0) {
            return false;
        }
    }
    for (int i = 0; i < chain->slideCount; ++i) {
        if (tpLength(chain->slides[i].dual) > 4.0) {
            return false;
        }
    }
    return true;
}

static void checkDuals(const tpChainAxis* axes, int count) {
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < count; ++j) {
            CHECK_NEAR(tpDot(axes[i].dual, axes[j].axis), i == j ? 1.0 : 0.0, 1e-12);
        }
    }
}

// What a small change of one displacement does to the pose.
static void checkRate(const Linkage* linkage, tpQuat a, const tpChainAxis* axis, bool isTurn) {
    const double step = 1e-6;
    tpQuat rotations[2];
    tpVec3 spans[2];
    for (int side = 0; side < 2; ++side) {
        double q[6];
        for (int i = 0; i < linkage->count; ++i) {
            q[i] = linkage->q[i] + (i == axis->coordinate ? (side == 0 ? -step : step) : 0.0);
        }
        tpChain_Pose(linkage->joint, q, &rotations[side], &spans[side]);
    }
    tpVec3 turn = tpQuatLog(tpMulQQ(rotations[1], tpConjugate(rotations[0])));
    tpVec3 turnRate = tpRotate(a, tpScale(0.5 / step, turn));
    tpVec3 slideRate = tpRotate(a, tpScale(0.5 / step, tpSub(spans[1], spans[0])));
    CHECK_VEC3(turnRate, isTurn ? axis->axis : tpZeroVec3(), 1e-8);
    CHECK_VEC3(slideRate, isTurn ? axis->lever : axis->axis, 1e-8);
}

// The displacements of any chain are found again from its pose, axes and levers are the rates of
// that pose, and duals tell them apart.
static void testAllChains(void** state) {
    (void)state;
    tpRandom random = { 23 };
    int done = 0;
    for (int trial = 0; trial < 15 * 40; ++trial) {
        int turnCount = (trial + 1) / 4 % 4, slideCount = (trial + 1) % 4;
        if (turnCount + slideCount == 0) {
            continue;
        }
        Linkage linkage = makeLinkage(&random, turnCount, slideCount);
        tpQuat a = randomRotation(&random), rotation;
        tpVec3 span;
        tpChain_Pose(linkage.joint, linkage.q, &rotation, &span);
        tpChain chain;
        tpChain_Place(linkage.joint, a, tpMulQQ(a, rotation), tpRotate(a, span), &chain);
        assert_int_equal(chain.turnCount, turnCount);
        assert_int_equal(chain.slideCount, slideCount);
        if (isRegular(&chain)) {
            done += 1;
            CHECK_VEC3(chain.twist, tpZeroVec3(), 1e-12);
            CHECK_VEC3(chain.gap, tpZeroVec3(), 1e-12);
            for (int i = 0; i < turnCount; ++i) {
                CHECK_NEAR(chain.turns[i].value, linkage.q[chain.turns[i].coordinate], 1e-11);
                checkRate(&linkage, a, &chain.turns[i], true);
            }
            for (int i = 0; i < slideCount; ++i) {
                CHECK_NEAR(chain.slides[i].value, linkage.q[chain.slides[i].coordinate], 1e-11);
                checkRate(&linkage, a, &chain.slides[i], false);
            }
            checkDuals(chain.turns, turnCount);
            checkDuals(chain.slides, slideCount);
        }
        tpDestroyWorld(linkage.world);
    }
    assert_true(done > 15 * 30);
}

// Off its course: turns and slides at what is found, and then twist and gap, lead to B.
static void testOffCourse(void** state) {
    (void)state;
    tpRandom random = { 29 };
    for (int trial = 0; trial < 15 * 20; ++trial) {
        int turnCount = (trial + 1) / 4 % 4, slideCount = (trial + 1) % 4;
        if (turnCount + slideCount == 0) {
            continue;
        }
        Linkage linkage = makeLinkage(&random, turnCount, slideCount);
        tpQuat a = randomRotation(&random), rotation, explained;
        tpVec3 span, way, off = randomVec3(&random, -0.3, 0.3);
        tpChain_Pose(linkage.joint, linkage.q, &rotation, &span);
        rotation = tpMulQQ(tpQuatExp(randomVec3(&random, -0.3, 0.3)), rotation);
        span = tpAdd(span, off);
        tpChain chain;
        tpChain_Place(linkage.joint, a, tpMulQQ(a, rotation), tpRotate(a, span), &chain);
        double found[6];
        for (int i = 0; i < turnCount; ++i) {
            found[chain.turns[i].coordinate] = chain.turns[i].value;
        }
        for (int i = 0; i < slideCount; ++i) {
            found[chain.slides[i].coordinate] = chain.slides[i].value;
            CHECK_NEAR(tpDot(chain.gap, chain.slides[i].axis), 0.0, 1e-12);
        }
        tpChain_Pose(linkage.joint, found, &explained, &way);
        CHECK_VEC3(tpUnrotate(a, chain.gap), tpSub(span, way), 1e-12);
        tpVec3 left = tpQuatLog(tpMulQQ(rotation, tpConjugate(explained)));
        double size = tpLength(left), chord = size > 0.0 ? 2.0 * sin(0.5 * size) / size : 1.0;
        CHECK_VEC3(tpUnrotate(a, chain.twist), tpScale(chord, left), 1e-12);
        if (turnCount == 1) { // the nearest turn leaves nothing along its own axis
            CHECK_NEAR(tpDot(chain.twist, chain.turns[0].axis), 0.0, 1e-12);
        }
        if (tpJoint_IsHinge(linkage.joint)) {
            tpQuat b = tpMulQQ(a, rotation);
            CHECK_VEC3(tpRotate(a, tpHinge_Twist(linkage.joint, a, b)), chain.twist, 1e-14);
            CHECK_NEAR(tpHinge_Value(linkage.joint, a, b), chain.turns[0].value, 1e-14);
        }
        tpDestroyWorld(linkage.world);
    }
}

// In gimbal lock the first angle stays where it was, and the last makes up for it.
static void testGimbalLock(void** state) {
    (void)state;
    tpRandom random = { 31 };
    for (int trial = 0; trial < 20; ++trial) {
        Linkage linkage = makeLinkage(&random, 3, 0);
        tpVec3 z = randomUnit(&random), y, x;
        tpMakeTangents(z, &x, &y);
        double first = randomBetween(&random, -3.0, 3.0), third = randomBetween(&random, -3.0, 3.0);
        const tpVec3 axes[3] = { z, y, z };
        const double last[3] = { first + 0.1, 0.0, third };
        for (int i = 0; i < 3; ++i) {
            linkage.joint->coordinates[i].axis = axes[i];
            linkage.joint->coordinates[i].displacement = last[i];
        }
        tpQuat rotation =
            tpMulQQ(tpQuatFromAxisAngle(z, first + third), linkage.joint->relativeRotation);
        tpChain chain;
        tpChain_Place(linkage.joint, tpIdentityQuat(), rotation, tpZeroVec3(), &chain);
        CHECK_NEAR(chain.turns[0].value, first + 0.1, 1e-9);
        CHECK_NEAR(chain.turns[1].value, 0.0, 1e-7);
        CHECK_NEAR(chain.turns[2].value, third - 0.1, 1e-7);
        tpDestroyWorld(linkage.world);
    }
}

// Three turns at right angles have two sets of angles for every pose, (a, b, c) and (a + pi,
// pi - b, c + pi), each up to whole turns: the one that is nearest to the last angles is taken, by
// the sum of the distances.
static void testNearestRoots(void** state) {
    (void)state;
    const double pi = 3.14159265358979323846;
    tpRandom random = { 32 };
    Linkage linkage = makeLinkage(&random, 3, 0);
    const tpVec3 axes[3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
    int compared = 0, others = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        double last[3], roots[2][3], sums[2] = { 0.0, 0.0 };
        tpQuat rotation = tpIdentityQuat();
        for (int i = 0; i < 3; ++i) {
            roots[0][i] = randomBetween(&random, -9.0, 9.0);
            last[i] = roots[0][i] + randomBetween(&random, -3.0, 3.0);
            roots[1][i] = i == 1 ? pi - roots[0][i] : roots[0][i] + pi;
            rotation = tpMulQQ(rotation, tpQuatFromAxisAngle(axes[i], roots[0][i]));
            linkage.joint->coordinates[i].axis = axes[i];
            linkage.joint->coordinates[i].displacement = last[i];
            for (int k = 0; k < 2; ++k) {
                roots[k][i] += 2.0 * pi * nearbyint((last[i] - roots[k][i]) / (2.0 * pi));
                sums[k] += fabs(roots[k][i] - last[i]);
            }
        }
        if (fabs(sums[0] - sums[1]) < 1e-3 || fabs(cos(roots[0][1])) < 1e-2) {
            continue;
        }
        tpChain chain;
        tpChain_Place(linkage.joint, tpIdentityQuat(),
                      tpMulQQ(rotation, linkage.joint->relativeRotation), tpZeroVec3(), &chain);
        int nearest = sums[0] < sums[1] ? 0 : 1;
        for (int i = 0; i < 3; ++i) {
            CHECK_NEAR(chain.turns[i].value, roots[nearest][i], 1e-9);
        }
        compared += 1;
        others += nearest;
    }
    assert_true(compared > 3000 && others > 300);
    tpDestroyWorld(linkage.world);
}

static void testIndependent(void** state) {
    (void)state;
    tpVec3 x = tpMakeVec3(1.0, 0.0, 0.0), y = tpMakeVec3(0.0, 1.0, 0.0);
    const tpVec3 apart[3] = { x, y, tpMakeVec3(0.6, 0.0, 0.8) };
    const tpVec3 flat[3] = { x, y, tpMakeVec3(0.6, 0.8, 0.0) };
    assert_true(tpAreIndependent(apart, 1) && tpAreIndependent(apart, 2));
    assert_true(tpAreIndependent(apart, 3));
    assert_false(tpAreIndependent(flat, 3));
    const tpVec3 same[2] = { x, tpNeg(x) };
    assert_false(tpAreIndependent(same, 2));
}

// The angle from a near one that is known, over several turns and with either sign of either
// quaternion; angles that are not near are not told.
static void testNearAngles(void** state) {
    (void)state;
    for (double known = -13.0; known < 13.0; known += 0.37) {
        for (double step = -0.4; step <= 0.4; step += 0.0125) {
            for (int signs = 0; signs < 4; ++signs) {
                double a = signs % 2 == 0 ? 1.0 : -1.0, b = signs / 2 == 0 ? 1.0 : -1.0;
                double angle = known + step, value;
                tpHalfTurn half = { a * sin(0.5 * angle), a * cos(0.5 * angle) };
                tpHalfTurn knownHalf = { b * sin(0.5 * known), b * cos(0.5 * known) };
                bool isNear = fabs(sin(0.5 * step)) < 0.05;
                assert_int_equal(tpHinge_ValueNear(half, knownHalf, known, &value), isNear);
                if (isNear) {
                    CHECK_NEAR(value, angle, 1e-14);
                }
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testNearestRoots), cmocka_unit_test(testRoundTrip),
        cmocka_unit_test(testAllChains),    cmocka_unit_test(testOffCourse),
        cmocka_unit_test(testGimbalLock),   cmocka_unit_test(testNearAngles),
        cmocka_unit_test(testIndependent)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
