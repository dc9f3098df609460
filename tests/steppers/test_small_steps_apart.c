// Pairs of shapes in small steps: how far apart they are, and how near they may come.

#include "collision/box_axes.h"
#include "collision/contact.h"
#include "collision/over_face.h"
#include "geometry/shape.h"
#include "steppers/small_steps/apart.h"
#include "support/check.h"

// The need of a pair is the relative way of the centres, both turns and an eighth of the margins,
// but no more than the margins, beyond which bodies are never allowed to go.
static void needsOfPairs(void** state) {
    (void)state;
    tpBodyWay a = { .ahead = { 0.3f, 0.0f, 0.0f }, .turning = 0.125f, .margin = 4.0f };
    tpBodyWay b = { .ahead = { 0.0f, 0.0f, 0.4f }, .turning = 0.25f, .margin = 4.0f };
    CHECK_NEAR(tpPairNeed(&a, &b), 0.5 + 0.375 + 1.0, 1e-7);
    CHECK_NEAR(tpPairNeed(&b, &a), 0.5 + 0.375 + 1.0, 1e-7);
    // Bodies that move together need their turns alone.
    tpBodyWay c = a;
    CHECK_NEAR(tpPairNeed(&a, &c), 0.25 + 1.0, 1e-7);
    a.margin = b.margin = 0.25f;
    CHECK_NEAR(tpPairNeed(&a, &b), 0.5, 1e-7);
    tpAnswer answer = { .count = tp_mostPoints + 5 };
    assert_int_equal(tpAnswer_PointCount(&answer), tp_mostPoints);
    answer.count = 3;
    assert_int_equal(tpAnswer_PointCount(&answer), 3);
}

// Only what comes nearer along the direction counts: not what goes aside, nor what parts.
static void needsAlongADirection(void** state) {
    (void)state;
    tpBodyWay a = { .ahead = { 0.3f, 0.0f, -0.4f }, .turning = 0.125f, .margin = 4.0f };
    tpBodyWay b = { .turning = 0.25f, .margin = 4.0f };
    CHECK_NEAR(tpPairNeedAlong(&a, &b, tpMakeVec3(0.0, 0.0, 1.0)), 0.4 + 0.375 + 1.0, 1e-7);
    CHECK_NEAR(tpPairNeedAlong(&b, &a, tpMakeVec3(0.0, 0.0, -1.0)), 0.4 + 0.375 + 1.0, 1e-7);
    CHECK_NEAR(tpPairNeedAlong(&a, &b, tpMakeVec3(1.0, 0.0, 0.0)), 0.375 + 1.0, 1e-7);
    CHECK_NEAR(tpPairNeedAlong(&a, &b, tpMakeVec3(0.0, 1.0, 0.0)), 0.375 + 1.0, 1e-7);
    a.margin = b.margin = 0.25f;
    CHECK_NEAR(tpPairNeedAlong(&a, &b, tpMakeVec3(0.0, 0.0, 1.0)), 0.5, 1e-7);
}

// A shape of one of four kinds, and the reach of a body that it is alone.
static tpGeometry makeShape(int kind, double* reach) {
    tpPose pose = tpMakePose(tpZeroVec3(), tpIdentityQuat());
    tpBox box = { { 0.3, 0.5, 0.8 } };
    tpCapsule capsule = { 0.3, 0.9, { 0.0, 0.0, 1.0 } };
    tpCylinder cylinder = { 0.4, 0.7, { 0.0, 0.0, 1.0 } };
    tpSphere ball = { 0.6 };
    tpGeometry shape;
    assert_int_equal(kind == 0   ? tpMakeBox(&box, pose, &shape, NULL)
                     : kind == 1 ? tpMakeCapsule(&capsule, pose, &shape, NULL)
                     : kind == 2 ? tpMakeCylinder(&cylinder, pose, &shape, NULL)
                                 : tpMakeSphere(&ball, pose, &shape, NULL),
                     tp_success);
    *reach = tpGeometry_RadiusAbout(&shape, tpZeroVec3());
    return shape;
}

// Moves a body by a little, and says how.
static tpPose moveBody(tpRandom* random, tpPose pose, double reach, tpBodyWay* way) {
    tpVec3 moved = randomVec3(random, -0.05, 0.05), turn = randomVec3(random, -0.1, 0.1);
    turn = tpScale(randomBetween(random, 0.0, 1.0) < 0.5 ? 1.0 : 0.0, turn);
    *way = (tpBodyWay){ .moved = { (float)moved.x, (float)moved.y, (float)moved.z },
                        .turned = (float)(tpLength(turn) * reach) };
    return tpMakePose(tpAdd(pose.position, moved),
                      tpNormalizeQuat(tpMulQQ(tpQuatExp(turn), pose.rotation)));
}

// What a pair knows of its slack stays below how far apart the shapes are along the direction,
// however their bodies move; and it grows where they part, without turning, by all of that.
static void slackIsABound(void** state) {
    (void)state;
    tpRandom random = { 11 };
    double tightest = INFINITY;
    for (int trial = 0; trial < 2000; ++trial) {
        double reachA, reachB;
        tpGeometry a = makeShape(trial % 4, &reachA), b = makeShape(trial / 4 % 4, &reachB);
        tpPose poseA = tpMakePose(randomVec3(&random, -2.0, 2.0), randomRotation(&random));
        tpPose poseB = tpMakePose(randomVec3(&random, -2.0, 2.0), randomRotation(&random));
        tpVec3 along = tpNormalize(randomVec3(&random, -1.0, 1.0));
        double apart = tpSeparationAlong(&a, poseA, &b, poseB, along);
        tpPairState pair = tpMakeApart(apart, along);
        for (int step = 0; step < 5; ++step) {
            tpBodyWay wayA, wayB;
            poseA = moveBody(&random, poseA, reachA, &wayA);
            poseB = moveBody(&random, poseB, reachB, &wayB);
            bool staysApart = tpStaysApart(&pair, &wayA, &wayB);
            assert_true(staysApart == (pair.slack > 0.0f));
            double now = tpSeparationAlong(&a, poseA, &b, poseB, along);
            assert_true(pair.slack <= now + 1e-6);
            tightest = fmin(tightest, now - pair.slack);
        }
    }
    // A bound that is never reached would say little.
    assert_true(tightest < 0.05);
    tpPairState pair = tpMakeApart(1.0, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyWay up = { .moved = { 0.0f, 0.0f, 0.5f } }, still = { .turned = 0.0f };
    assert_true(tpStaysApart(&pair, &up, &still));
    CHECK_NEAR(pair.slack, 1.5, 0.5 * 2e-3 + 1e-5);
    tpPairState distance = tpMakeApart(1.0, tpZeroVec3());
    assert_true(tpStaysApart(&distance, &up, &still));
    CHECK_NEAR(distance.slack, 0.5, 1e-5);
}

static tpBodyWay spinningWay(tpVec3 turn, double reach) {
    return (tpBodyWay){ .turning = (float)(tpLength(turn) * reach),
                        .margin = 10.0f,
                        .spin = tpPackDirection(tpNormalize(turn)) };
}

// How far a turn brings points of a shape nearer along a direction: never farther than the bound
// says, which is all of the turning across it and next to nothing about it.
static void turningIsBounded(void** state) {
    (void)state;
    tpRandom random = { 23 };
    double tightest = INFINITY;
    tpPose apart = tpMakePose(tpMakeVec3(0.0, 0.0, -9.0), tpIdentityQuat());
    double reachB;
    tpGeometry b = makeShape(3, &reachB);
    for (int trial = 0; trial < 4000; ++trial) {
        double reach;
        tpGeometry a = makeShape(trial % 4, &reach);
        tpPose before = tpMakePose(tpZeroVec3(), randomRotation(&random)), after = before;
        tpVec3 turn = randomVec3(&random, -0.8, 0.8);
        tpVec3 along = tpNormalize(randomVec3(&random, -1.0, 1.0));
        after.rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(turn), before.rotation));
        tpBodyWay way = spinningWay(turn, reach);
        double bound = tpTurningAlong(&way, along);
        double nearer = tpSeparationAlong(&a, before, &b, apart, along) -
                        tpSeparationAlong(&a, after, &b, apart, along);
        assert_true(nearer <= bound + 1e-7);
        tightest = fmin(tightest, bound - nearer);
    }
    assert_true(tightest < 0.05);
    tpVec3 up = tpMakeVec3(0.0, 0.0, 1.0);
    tpBodyWay about = spinningWay(tpScale(0.5, up), 2.0), across = about, none = about;
    across.spin = tpPackDirection(tpMakeVec3(0.6, 0.8, 0.0));
    none.spin = 0;
    assert_true(tpTurningAlong(&about, up) < 0.01);
    CHECK_NEAR(tpTurningAlong(&across, up), 1.0, 1e-6);
    CHECK_NEAR(tpTurningAlong(&none, up), 1.0, 1e-6);
    tpBodyWay still = { .margin = 0.0f };
    CHECK_NEAR(tpPairNeedAlong(&about, &still, up), 1.25, 0.01);
    CHECK_NEAR(tpPairNeedAlong(&across, &still, up), 2.25, 1e-6);
}

// Two bodies with a shape each, as much of a system as tpFindApart looks at.
typedef struct Two {
    tpSystem system;
    tpShape shapes[2];
    tpShapeForm forms[2];
    tpBody bodies[2];
    tpPose poses[2];
} Two;

static void makeTwo(Two* two, tpGeometry a, tpGeometry b) {
    memset(two, 0, sizeof(*two));
    two->forms[0].geometry = a;
    two->forms[1].geometry = b;
    for (int i = 0; i < 2; ++i) {
        two->shapes[i].body = i;
        two->shapes[i].form = &two->forms[i];
    }
    two->system.shapes.data = two->shapes;
    two->system.bodies.data = two->bodies;
    two->system.poses.data = two->poses;
}

static double separationNow(const Two* two, tpVec3 along) {
    return tpSeparationAlong(&two->forms[0].geometry, two->poses[0], &two->forms[1].geometry,
                             two->poses[1], along);
}

// Two plates that tumble together are known to be apart along a face of one of them at any time,
// and along a direction that stays where it was only at first.
static void facesKeepApart(void** state) {
    (void)state;
    tpGeometry a, b;
    tpPose own = tpMakePose(tpZeroVec3(), tpIdentityQuat());
    assert_int_equal(tpMakeBox(&(tpBox){ { 1.0, 1.0, 0.1 } }, own, &a, NULL), tp_success);
    assert_int_equal(tpMakeBox(&(tpBox){ { 0.9, 0.9, 0.1 } }, own, &b, NULL), tp_success);
    Two two;
    makeTwo(&two, a, b);
    tpShapePair shapes = { 0, 1 };
    tpBodyWay still = { .margin = 0.01f };
    tpVec3 up = tpMakeVec3(0.0, 0.0, 1.0);
    tpPairState pair = tpMakeApart(0.05, up), other = pair;
    int followed = 0;
    for (int k = 0; k < 40; ++k) {
        tpQuat turned = tpQuatExp(tpScale(0.1 * k, tpNormalize(tpMakeVec3(3.0, 1.0, 2.0))));
        two.poses[0] = tpMakePose(tpRotate(turned, tpScale(0.15, up)), turned);
        two.poses[1] = tpMakePose(tpZeroVec3(), turned);
        followed += tpFindApart(&two.system, shapes, &still, &still, &other);
        tpBoxesApart boxes = { shapes, &still, &still, &pair, false };
        tpFindBoxesApart(&two.system, &boxes, 1);
        assert_true(boxes.isApart);
        CHECK_NEAR(pair.slack, 0.05, 1e-6);
        CHECK_NEAR(tpDot(tpUnpackDirection(pair.along), tpRotate(turned, up)), 1.0, 5e-3);
    }
    assert_int_equal(followed, 1);
    // Nobody knows a direction.
    tpPairState distance = tpMakeApart(0.05, tpZeroVec3());
    assert_false(tpFindApart(&two.system, shapes, &still, &still, &distance));
    // Not far enough for what the next step may need, and not at all.
    for (int k = 0; k < 2; ++k) {
        tpBodyWay falling = { .ahead = { 0.0f, 0.0f, -0.06f }, .margin = 0.07f };
        two.poses[0] = tpMakePose(tpScale(k == 0 ? 0.15 : 0.09, up), tpIdentityQuat());
        two.poses[1] = tpMakePose(tpZeroVec3(), tpIdentityQuat());
        tpPairState before = pair;
        tpBoxesApart boxes = { shapes, k == 0 ? &falling : &still, &still, &pair, true };
        tpFindBoxesApart(&two.system, &boxes, 1);
        assert_false(boxes.isApart);
        assert_memory_equal(&pair, &before, sizeof(pair));
    }
}

// Several pairs are told apart together as one by one, and from any direction the separation is
// that of the best face.
static void boxesAreToldApartTogether(void** state) {
    (void)state;
    tpRandom random = { 11 };
    int apart = 0;
    for (int round = 0; round < 200; ++round) {
        Two two[tp_boxesAtOnce];
        tpPairState pairs[tp_boxesAtOnce];
        tpBodyWay still = { .margin = 0.0f };
        int count = 1 + round % tp_boxesAtOnce;
        tpSystem all;
        tpShape shapes[2 * tp_boxesAtOnce];
        tpBody bodies[2 * tp_boxesAtOnce];
        tpPose poses[2 * tp_boxesAtOnce];
        memset(&all, 0, sizeof(all));
        tpBoxesApart list[tp_boxesAtOnce];
        for (int k = 0; k < count; ++k) {
            double reach;
            tpGeometry boxes[2] = { makeShape(0, &reach), makeShape(0, &reach) };
            makeTwo(&two[k], boxes[0], boxes[1]);
            for (int i = 0; i < 2; ++i) {
                two[k].poses[i] =
                    tpMakePose(randomVec3(&random, -0.6, 0.6), randomRotation(&random));
                shapes[2 * k + i] = two[k].shapes[i];
                shapes[2 * k + i].body = 2 * k + i;
                bodies[2 * k + i] = two[k].bodies[i];
                poses[2 * k + i] = two[k].poses[i];
            }
            pairs[k] = tpMakeApart(0.0, tpZeroVec3());
            list[k] = (tpBoxesApart){ { 2 * k, 2 * k + 1 }, &still, &still, &pairs[k], false };
        }
        all.shapes.data = shapes;
        all.bodies.data = bodies;
        all.poses.data = poses;
        tpFindBoxesApart(&all, list, count);
        for (int k = 0; k < count; ++k) {
            double best = -INFINITY;
            for (int face = 0; face < 12; ++face) {
                double sign = face % 2 == 0 ? 1.0 : -1.0;
                tpVec3 unit = { face / 2 % 3 == 0 ? sign : 0.0, face / 2 % 3 == 1 ? sign : 0.0,
                                face / 2 % 3 == 2 ? sign : 0.0 };
                best = fmax(
                    best, separationNow(&two[k], tpRotate(two[k].poses[face / 6].rotation, unit)));
            }
            assert_int_equal(list[k].isApart, best > 0.0);
            if (list[k].isApart) {
                CHECK_NEAR(pairs[k].slack, best, 1e-6);
                apart += 1;
            }
        }
    }
    assert_true(apart > 200);
}

// Shapes without contacts within a margin say along which direction they are how far apart, the
// right way round, and they are as far apart along it.
static void shapesSayWhereTheyAreApart(void** state) {
    (void)state;
    tpRandom random = { 23 };
    int said[5] = { 0 };
    tpAllocator allocator = tpDefaultAllocator();
    tpVec3 corners[12];
    for (int k = 0; k < 12; ++k) {
        corners[k] = tpScale(0.6, tpNormalize(randomVec3(&random, -1.0, 1.0)));
    }
    tpGeometry stone;
    assert_int_equal(tpMakeHull(&allocator, corners, 12, tpMakePose(tpZeroVec3(), tpIdentityQuat()),
                                &stone, NULL),
                     tp_success);
    for (int trial = 0; trial < 5000; ++trial) {
        tpGeometry shapes[2];
        tpPose poses[2];
        int kinds[2] = { trial % 5, trial / 5 % 5 };
        for (int k = 0; k < 2; ++k) {
            double reach;
            shapes[k] = kinds[k] == 4 ? stone : makeShape(kinds[k], &reach);
            poses[k] = tpMakePose(randomVec3(&random, -1.0, 1.0), randomRotation(&random));
        }
        if (kinds[0] == kinds[1] && (kinds[0] == 0 || kinds[0] == 3)) {
            continue; // boxes and balls have their own ways
        }
        tpContactPoint points[64];
        tpContactList out = { points, 0, 64 };
        tpPairCache cache;
        memset(&cache, 0, sizeof(cache));
        tpOverFace over;
        double margin = 0.05;
        assert_int_equal(tpCollideShapes(&shapes[0], poses[0], &shapes[1], poses[1], margin, true,
                                         &cache, &out, &over),
                         tp_success);
        if (out.count > 0) {
            continue;
        }
        assert_true(over.beyond >= margin);
        CHECK_NEAR(tpLength(over.away), 1.0, 1e-9);
        double apart = tpSeparationAlong(&shapes[0], poses[0], &shapes[1], poses[1], over.away);
        assert_true(apart >= over.beyond - 1e-6);
        said[kinds[0]] += 1;
        said[kinds[1]] += 1;
    }
    for (int k = 0; k < 5; ++k) {
        assert_true(said[k] > 200);
    }
    tpReleaseGeometry(&stone);
}

// Two balls are as far apart as their centres, less the radii, along the line between these; if
// that is less than the next step may need, or if they overlap, nothing is known of them.
static void ballsAreToldApart(void** state) {
    (void)state;
    tpPose own = tpMakePose(tpMakeVec3(0.0, 0.5, 0.0), tpIdentityQuat());
    tpPose central = tpMakePose(tpZeroVec3(), tpIdentityQuat());
    tpGeometry a, b;
    assert_int_equal(tpMakeSphere(&(tpSphere){ 0.25 }, own, &a, NULL), tp_success);
    assert_int_equal(tpMakeSphere(&(tpSphere){ 0.5 }, central, &b, NULL), tp_success);
    Two two;
    makeTwo(&two, a, b);
    // Half a turn about z: the ball of the first body stands below its centre.
    two.poses[0] = tpMakePose(tpMakeVec3(0.0, 1.5, 2.0), (tpQuat){ 0.0, 0.0, 0.0, 1.0 });
    two.poses[1] = tpMakePose(tpMakeVec3(0.0, 1.0, 0.0), tpIdentityQuat());
    tpBodyWay still = { .margin = 0.0f };
    tpBodyWay falling = { .ahead = { 0.0f, 0.0f, -1.3f }, .margin = 1.3f };
    tpBodyWay rising = { .ahead = { 0.0f, 0.0f, 1.3f }, .margin = 1.3f };
    tpPairState pair = tpMakeApart(0.0, tpZeroVec3()), before = pair;
    tpShapePair shapes = { 0, 1 };
    assert_false(tpFindBallsApart(&two.system, shapes, &falling, &still, &pair));
    assert_memory_equal(&pair, &before, sizeof(pair));
    assert_true(tpFindBallsApart(&two.system, shapes, &rising, &still, &pair));
    CHECK_NEAR(pair.slack, 2.0 - 0.75, 1e-7);
    CHECK_NEAR(tpUnpackDirection(pair.along).z, 1.0, 2e-3);
    assert_true(tpFindBallsApart(&two.system, shapes, &still, &still, &pair));
    CHECK_NEAR(pair.slack, 2.0 - 0.75, 1e-7);
    assert_int_equal(pair.along, 0);
    two.poses[0].position.z = 0.7;
    before = pair;
    assert_false(tpFindBallsApart(&two.system, shapes, &rising, &still, &pair));
    assert_memory_equal(&pair, &before, sizeof(pair));
}

// What is found apart is as far apart as it says, and stays so through the next step at the speeds
// that bodies have, whatever they are; a plane is left by its normal.
static void foundApartStaysApart(void** state) {
    (void)state;
    tpRandom random = { 5 };
    tpGeometry plane;
    assert_int_equal(tpMakePlane(&(tpPlane){ { 0.0, 0.6, 0.8 }, -0.3 },
                                 tpMakePose(tpZeroVec3(), tpIdentityQuat()), &plane, NULL),
                     tp_success);
    int found = 0, foundPlanes = 0;
    for (int trial = 0; trial < 6000; ++trial) {
        double reach[2] = { 0.0, 0.0 };
        Two two;
        int planeAt = trial % 3;
        tpGeometry a = planeAt == 0 ? plane : makeShape(trial / 3 % 4, &reach[0]);
        tpGeometry b = planeAt == 1 ? plane : makeShape(trial / 12 % 4, &reach[1]);
        makeTwo(&two, a, b);
        tpBodyWay ways[2];
        tpVec3 ahead[2], turn[2];
        for (int i = 0; i < 2; ++i) {
            bool isPlane = planeAt == i;
            two.poses[i] = tpMakePose(randomVec3(&random, -1.5, 1.5), randomRotation(&random));
            ahead[i] = isPlane ? tpZeroVec3() : randomVec3(&random, -0.3, 0.3);
            turn[i] = isPlane ? tpZeroVec3() : randomVec3(&random, -0.3, 0.3);
            ways[i] = spinningWay(isPlane ? tpMakeVec3(0.0, 0.0, 1e-9) : turn[i], reach[i]);
            ways[i].ahead[0] = (float)ahead[i].x;
            ways[i].ahead[1] = (float)ahead[i].y;
            ways[i].ahead[2] = (float)ahead[i].z;
            ways[i].margin = (float)(tpLength(ahead[i]) + ways[i].turning);
        }
        tpPairState pair = tpMakeApart(0.0, tpNormalize(randomVec3(&random, -1.0, 1.0)));
        if (!tpFindApart(&two.system, (tpShapePair){ 0, 1 }, &ways[0], &ways[1], &pair)) {
            continue;
        }
        found += 1;
        foundPlanes += planeAt < 2;
        tpVec3 along = tpNormalize(tpUnpackDirection(pair.along));
        if (planeAt < 2) {
            tpVec3 normal = tpRotate(two.poses[planeAt].rotation, plane.plane.normal);
            assert_true(fabs(tpDot(normal, along)) > 1.0 - 1e-5);
            along = planeAt == 0 ? tpNeg(normal) : normal;
        }
        CHECK_NEAR(pair.slack, separationNow(&two, along), 0.02);
        for (int i = 0; i < 2; ++i) {
            two.poses[i].position = tpAdd(two.poses[i].position, ahead[i]);
            two.poses[i].rotation =
                tpNormalizeQuat(tpMulQQ(tpQuatExp(turn[i]), two.poses[i].rotation));
        }
        assert_true(separationNow(&two, along) > -1e-6);
    }
    assert_true(found > 300);
    assert_true(foundPlanes > 100);
}

// Shapes are as far apart along a direction as their corners and surfaces are.
static void separationsOfShapes(void** state) {
    (void)state;
    double reach;
    tpGeometry box = makeShape(0, &reach), ball = makeShape(3, &reach);
    tpQuat quarter = tpQuatExp(tpMakeVec3(0.0, 0.5 * 3.14159265358979, 0.0));
    tpPose low = tpMakePose(tpMakeVec3(0.0, 0.0, 1.0), quarter);
    tpPose high = tpMakePose(tpMakeVec3(5.0, 0.0, 3.0), tpIdentityQuat());
    tpVec3 up = tpMakeVec3(0.0, 0.0, 1.0), aside = tpMakeVec3(1.0, 0.0, 0.0);
    double half = box.box.size.x * 0.5, length = box.box.size.z * 0.5;
    CHECK_NEAR(tpSeparationAlong(&ball, high, &box, low, up), 2.0 - 0.6 - half, 1e-12);
    CHECK_NEAR(tpSeparationAlong(&ball, high, &box, low, aside), 5.0 - 0.6 - length, 1e-12);
    CHECK_NEAR(tpSeparationAlong(&box, low, &ball, high, up), -2.0 - 0.6 - half, 1e-12);
}

// Where a shape that ends at a pose was, a part of the step before.
static tpPose poseBefore(tpPose end, const tpBodyShift* shift, double part) {
    tpQuat back = tpQuatExp(tpScale(-part, shift->turn));
    tpVec3 center = tpMulAdd(shift->center, -part, shift->shift);
    return tpMakePose(tpAdd(center, tpRotate(back, tpSub(end.position, shift->center))),
                      tpNormalizeQuat(tpMulQQ(back, end.rotation)));
}

// What is said about a whole step from its end holds on the way, and is no less than what the arcs
// of turning explain. A capsule and a ball that spin about their axes have none.
static void waysAreBounded(void** state) {
    (void)state;
    tpRandom random = { 31 };
    for (int trial = 0; trial < 4000; ++trial) {
        double reach[2], least = INFINITY, bend = 0.0;
        tpGeometry shapes[2] = { makeShape(trial % 4, &reach[0]),
                                 makeShape(trial / 4 % 4, &reach[1]) };
        tpPose ends[2];
        tpBodyShift shifts[2];
        bool spins = trial % 3 == 0;
        for (int k = 0; k < 2; ++k) {
            ends[k] = tpMakePose(randomVec3(&random, -1.0, 1.0), randomRotation(&random));
            tpVec3 off = trial % 2 == 0 || spins ? tpZeroVec3() : randomVec3(&random, -0.2, 0.2);
            tpVec3 axis = tpRotate(ends[k].rotation, tpMakeVec3(0.0, 0.0, 1.0));
            tpVec3 turn = spins ? tpScale(2.5, axis) : randomVec3(&random, -0.4, 0.4);
            shifts[k] = (tpBodyShift){ tpAdd(ends[k].position, off), randomVec3(&random, -0.5, 0.5),
                                       turn, reach[k] + tpLength(off) };
            bool isRound = shapes[k].type == tp_capsuleShape || shapes[k].type == tp_sphereShape;
            double radius = spins && isRound ? 0.0 : shifts[k].reach;
            bend += radius * tpLengthSquared(turn) / 8.0;
        }
        tpVec3 along = tpNormalize(randomVec3(&random, -1.0, 1.0));
        double bound = tpLeastSeparationAlong(&shapes[0], ends[0], &shifts[0], &shapes[1], ends[1],
                                              &shifts[1], along);
        for (int k = 0; k <= 20; ++k) {
            tpPose a = poseBefore(ends[0], &shifts[0], k / 20.0);
            tpPose b = poseBefore(ends[1], &shifts[1], k / 20.0);
            double apart = tpSeparationAlong(&shapes[0], a, &shapes[1], b, along);
            assert_true(bound <= apart + 1e-12);
            least = k % 20 == 0 ? fmin(least, apart) : least;
        }
        assert_true(bound >= least - bend - 1e-12);
    }
    double reach;
    tpGeometry box = makeShape(0, &reach);
    tpPose here = tpMakePose(tpZeroVec3(), tpIdentityQuat());
    tpBodyShift far = { .turn = tpMakeVec3(4.0, 0.0, 0.0), .reach = reach },
                still = { .reach = 1.0 };
    tpVec3 up = tpMakeVec3(0.0, 0.0, 1.0);
    assert_true(isinf(tpLeastSeparationAlong(&box, here, &far, &box, here, &still, up)));
    // A plane is asked along its own normal.
    tpGeometry plane;
    assert_int_equal(tpMakePlane(&(tpPlane){ .normal = up }, here, &plane, NULL), tp_success);
    still.reach = INFINITY;
    tpBodyShift down = { .shift = tpMakeVec3(0.0, 0.0, -0.5), .reach = reach };
    tpVec3 nearlyUp = tpNormalize(tpMakeVec3(1e-7, 0.0, 1.0));
    CHECK_NEAR(tpLeastSeparationAlong(&box, here, &down, &plane, here, &still, nearlyUp), -0.4,
               1e-12);
    CHECK_NEAR(tpLeastSeparationAlong(&plane, here, &still, &box, here, &down, tpNeg(nearlyUp)),
               -0.4, 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(needsOfPairs),         cmocka_unit_test(needsAlongADirection),
        cmocka_unit_test(slackIsABound),        cmocka_unit_test(turningIsBounded),
        cmocka_unit_test(facesKeepApart),       cmocka_unit_test(shapesSayWhereTheyAreApart),
        cmocka_unit_test(ballsAreToldApart),    cmocka_unit_test(boxesAreToldApartTogether),
        cmocka_unit_test(foundApartStaysApart), cmocka_unit_test(separationsOfShapes),
        cmocka_unit_test(waysAreBounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
