// Hinges of a tree four at once: places are those of the joint's own functions, with the same bits
// on every width.

#include "steppers/small_steps/hinges.h"

#include <string.h>

#include "support/check.h"

enum { bodies = 6, links = 3 };

typedef struct Case {
    tpPose poses[bodies];
    tpCoordinate coordinates[links];
    tpJoint joints[links];
    tpHingePack pack;
    tpNodePlace nodes[links];
    tpAxisPlace axes[links];
    tpHingeRest rest;
} Case;

static tpVec3 anyVec(tpRandom* random) {
    return tpMakeVec3(randomBetween(random, -1.0, 1.0), randomBetween(random, -1.0, 1.0),
                      randomBetween(random, -1.0, 1.0));
}

static tpQuat anyTurn(tpRandom* random, double size) {
    return tpQuatExp(tpScale(size, anyVec(random)));
}

static void setLane(Case* test, int lane, int link) {
    const tpJoint* joint = &test->joints[link];
    const double *a = &joint->anchorA.x, *b = &joint->anchorB.x,
                 *axis = &test->coordinates[link].axis.x, *q = &joint->relativeRotation.w;
    for (int k = 0; k < 3; ++k) {
        test->pack.anchorA[k][lane] = a[k];
        test->pack.anchorB[k][lane] = b[k];
        test->pack.axis[k][lane] = axis[k];
    }
    for (int k = 0; k < 4; ++k) {
        test->pack.relative[k][lane] = q[k];
    }
    test->pack.sign[lane] = link % 2 == 0 ? 1.0 : -1.0;
    test->pack.bodyA[lane] = joint->bodyA;
    test->pack.bodyB[lane] = joint->bodyB;
    test->pack.node[lane] = test->pack.axisPlace[lane] = link;
}

// Joints that are off by a little; the values of the first two are known nearby.
static void openCase(Case* test, tpRandom* random) {
    memset(test, 0, sizeof(*test));
    for (int i = 0; i < links; ++i) {
        tpJoint* joint = &test->joints[i];
        tpPose *a = &test->poses[i], *b = &test->poses[links + i];
        *joint = (tpJoint){ .bodyA = i,
                            .bodyB = links + i,
                            .anchorA = anyVec(random),
                            .anchorB = anyVec(random),
                            .relativeRotation = anyTurn(random, 1.0),
                            .coordinates = &test->coordinates[i],
                            .coordinateCount = 1 };
        test->coordinates[i].axis = tpNormalize(anyVec(random));
        *a = tpMakePose(anyVec(random), anyTurn(random, 1.0));
        double angle = randomBetween(random, -2.0, 2.0);
        tpQuat turn = tpQuatExp(tpScale(angle, test->coordinates[i].axis));
        b->rotation = tpMulQQ(anyTurn(random, 1e-3),
                              tpMulQQ(a->rotation, tpMulQQ(turn, joint->relativeRotation)));
        b->rotation = tpNormalizeQuat(b->rotation);
        tpVec3 anchor = tpTransformPoint(*a, joint->anchorA);
        b->position =
            tpMulAdd(tpSub(anchor, tpRotate(b->rotation, joint->anchorB)), 1e-3, anyVec(random));
        double known = i < 2 ? angle + 0.02 : 0.0;
        test->axes[i].known = known;
        test->axes[i].knownHalf =
            i < 2 ? (tpHalfTurn){ sin(0.5 * known), cos(0.5 * known) } : (tpHalfTurn){ 0.0, 0.0 };
    }
    for (int lane = 0; lane < tp_hingePackWidth; ++lane) {
        setLane(test, lane, lane < links ? lane : 0);
    }
    test->pack.count = links;
    test->pack.asked = 7;
}

static void look(Case* test, int width, bool isWhole) {
    tpGetHingeKernels(width)->look(&test->pack, test->poses, isWhole, test->pack.asked, test->nodes,
                                   test->axes, &test->rest);
}

static void checkLink(const Case* test, int i) {
    const tpJoint* joint = &test->joints[i];
    const tpPose *a = &test->poses[i], *b = &test->poses[links + i];
    const tpNodePlace* node = &test->nodes[i];
    const tpAxisPlace* place = &test->axes[i];
    double sign = i % 2 == 0 ? 1.0 : -1.0;
    tpVec3 armA = tpRotate(a->rotation, joint->anchorA),
           armB = tpRotate(b->rotation, joint->anchorB);
    tpVec3 own = i % 2 == 0 ? armB : armA, other = i % 2 == 0 ? armA : armB, twist;
    tpHalfTurn half = tpHinge_Split(joint, a->rotation, b->rotation, &twist);
    twist = tpRotate(a->rotation, twist);
    tpVec3 gap = tpSub(tpAdd(b->position, armB), tpAdd(a->position, armA));
    tpVec3 axis = tpHinge_Axis(joint, a->rotation);
    tpVec3 jump = tpSub(gap, tpCross(twist, own)), arm = tpSub(other, own);
    assert_memory_equal(&node->own, &own, sizeof(own));
    assert_memory_equal(&node->arm, &arm, sizeof(arm));
    tpVec3 along = tpScale(sign, tpCross(own, axis)), about = tpScale(sign, axis);
    assert_memory_equal(place->motion, &along, sizeof(along));
    assert_memory_equal(place->motion + 3, &about, sizeof(about));
    assert_memory_equal(place->reading + 3, &about, sizeof(about));
    jump = tpScale(-sign, jump);
    twist = tpScale(-sign, twist);
    assert_memory_equal(node->jump, &jump, sizeof(jump));
    assert_memory_equal(node->jump + 3, &twist, sizeof(twist));
    double gaps = tpLength(gap), twists = tpLength(twist);
    assert_true(node->error == (gaps > twists ? gaps : twists));
    double value = 0.0;
    if (tpHinge_ValueNear(half, place->knownHalf, place->known, &value)) {
        assert_true(place->value == value && (test->rest.lanes >> i & 1) == 0);
    } else {
        assert_true((test->rest.lanes >> i & 1) == 1);
        assert_true(test->rest.sines[i] == half.sine && test->rest.cosines[i] == half.cosine);
    }
}

static void placesAreThoseOfTheJoint(void** state) {
    (void)state;
    tpRandom random = { 5 };
    static Case test, other;
    for (int trial = 0; trial < 200; ++trial) {
        openCase(&test, &random);
        other = test;
        look(&test, 1, true);
        assert_int_equal(test.rest.lanes, 4);
        for (int i = 0; i < links; ++i) {
            checkLink(&test, i);
        }
        look(&other, 4, true);
        for (int i = 0; i < links; ++i) {
            assert_memory_equal(&test.nodes[i], &other.nodes[i], sizeof(test.nodes[i]));
            assert_memory_equal(&test.axes[i], &other.axes[i], sizeof(test.axes[i]));
        }
    }
}

// Another look leaves what is off, and sees how bodies have moved.
static void anotherLookLeavesErrors(void** state) {
    (void)state;
    tpRandom random = { 6 };
    static Case test, first;
    for (int width = 1; width <= 4; width += 3) {
        openCase(&test, &random);
        look(&test, width, true);
        first = test;
        for (int i = 0; i < bodies; ++i) {
            test.poses[i].rotation = tpMulQQ(anyTurn(&random, 0.01), test.poses[i].rotation);
        }
        look(&test, width, false);
        Case whole = test;
        look(&whole, width, true);
        for (int i = 0; i < links; ++i) {
            const tpNodePlace *kept = &test.nodes[i], *before = &first.nodes[i];
            assert_memory_equal(kept->jump, before->jump, sizeof(kept->jump));
            assert_true(kept->error == before->error);
            assert_memory_equal(&kept->arm, &whole.nodes[i].arm, sizeof(kept->arm));
            assert_memory_equal(&kept->own, &whole.nodes[i].own, sizeof(kept->own));
            assert_true(memcmp(&kept->own, &before->own, sizeof(kept->own)) != 0);
            assert_memory_equal(test.axes[i].motion, whole.axes[i].motion,
                                sizeof(whole.axes[i].motion));
        }
    }
}

// Velocities that joints do not allow: links get those of their parents, a rate about their axis,
// and something across it, which is found again.
static void slipsAreWhatJointsDoNotAllow(void** state) {
    (void)state;
    tpRandom random = { 7 };
    static Case test;
    enum { size = 6 * (links + links) }; // parents come behind the links
    for (int trial = 0; trial < 100; ++trial) {
        double velocities[size], across[6 * links], jumps[2][6 * links];
        openCase(&test, &random);
        look(&test, 1, true);
        for (int lane = 0; lane < tp_hingePackWidth; ++lane) {
            test.pack.parent[lane] = links + test.pack.node[lane];
        }
        for (int k = 6 * links; k < size; ++k) {
            velocities[k] = randomBetween(&random, -1.0, 1.0);
        }
        for (int i = 0; i < links; ++i) {
            const double *s = test.axes[i].motion, *u = &velocities[6 * (links + i)];
            tpVec3 turning = tpMakeVec3(u[3], u[4], u[5]);
            tpVec3 axis = tpMakeVec3(s[3], s[4], s[5]), slip = anyVec(&random);
            tpVec3 twist = tpCross(axis, anyVec(&random));
            tpVec3 linear =
                tpAdd(tpMakeVec3(u[0], u[1], u[2]), tpCross(turning, test.nodes[i].arm));
            const double parent[6] = { linear.x, linear.y, linear.z, u[3], u[4], u[5] };
            const double off[6] = { slip.x, slip.y, slip.z, twist.x, twist.y, twist.z };
            double rate = randomBetween(&random, -2.0, 2.0);
            for (int k = 0; k < 6; ++k) {
                across[6 * i + k] = off[k];
                velocities[6 * i + k] = parent[k] + rate * s[k] + off[k];
            }
        }
        for (int w = 0; w < 2; ++w) {
            tpGetHingeKernels(w == 0 ? 1 : 4)
                ->slip(&test.pack, velocities, test.nodes, test.axes, jumps[w]);
        }
        assert_memory_equal(jumps[0], jumps[1], sizeof(jumps[0]));
        for (int k = 0; k < 6 * links; ++k) {
            CHECK_NEAR(jumps[0][k], -across[k], 1e-14);
        }
    }
}

// Links ahead are where a look finds them once their bodies have turned that far.
static void linksAheadAreWhereBodiesTurn(void** state) {
    (void)state;
    tpRandom random = { 8 };
    static Case test, later;
    const double time = 1e-3;
    for (int trial = 0; trial < 100; ++trial) {
        tpJointNode nodes[2][links];
        tpJointAxis axes[2][links];
        tpVelocity velocities[bodies];
        int32_t numbers[links + links];
        memset(nodes, 0, sizeof(nodes));
        memset(axes, 0, sizeof(axes));
        memset(velocities, 0, sizeof(velocities));
        openCase(&test, &random);
        // Nodes are the links' own bodies, then their parents.
        for (int i = 0; i < links; ++i) {
            numbers[i] = i % 2 == 0 ? links + i : i;
            numbers[links + i] = i % 2 == 0 ? i : links + i;
            nodes[0][i].axis = nodes[1][i].axis = i;
        }
        for (int lane = 0; lane < tp_hingePackWidth; ++lane) {
            test.pack.parent[lane] = links + test.pack.node[lane];
        }
        look(&test, 1, true);
        later = test;
        for (int i = 0; i < bodies; ++i) {
            velocities[i].angular = tpScale(5.0, anyVec(&random));
            tpQuat turn = tpQuatExp(tpScale(time, velocities[i].angular));
            later.poses[i].rotation = tpMulQQ(turn, later.poses[i].rotation);
        }
        look(&later, 1, true);
        for (int w = 0; w < 2; ++w) {
            tpJointTree tree = { .nodeCount = links, .nodes = nodes[w], .axes = axes[w] };
            tpGetHingeKernels(w == 0 ? 1 : 4)
                ->takeAhead(&test.pack, velocities, numbers, time, test.nodes, test.axes, &tree);
        }
        assert_memory_equal(nodes[0], nodes[1], sizeof(nodes[0]));
        assert_memory_equal(axes[0], axes[1], sizeof(axes[0]));
        for (int i = 0; i < links; ++i) {
            const double *arm = &later.nodes[i].arm.x, *motion = later.axes[i].motion;
            for (int k = 0; k < 6; ++k) {
                // To the third order of 0.01 rad.
                CHECK_NEAR(axes[0][i].motion[k], motion[k], 1e-6);
                CHECK_NEAR(nodes[0][i].arm[k % 3], arm[k % 3], 1e-6);
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placesAreThoseOfTheJoint),
        cmocka_unit_test(anotherLookLeavesErrors),
        cmocka_unit_test(slipsAreWhatJointsDoNotAllow),
        cmocka_unit_test(linksAheadAreWhereBodiesTurn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
