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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placesAreThoseOfTheJoint),
        cmocka_unit_test(anotherLookLeavesErrors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
