// Contact points where they are known: how many, where, with which gaps, and that their features
// stay.

#include <string.h>

#include "random_hulls.h"

#include "collision/boxes.h"
#include "collision/convex_pairs.h"
#include "collision/sort_contacts.h"

enum { maxContacts = 128 };

typedef struct Contacts {
    tpContactPoint points[maxContacts];
    int count;
} Contacts;

// Collides, and checks what holds for all contacts.
static Contacts collide(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                        double margin) {
    Contacts contacts;
    tpContactList list = { contacts.points, 0, maxContacts };
    assert_int_equal(tpCollide(a, poseA, b, poseB, margin, NULL, &list), tp_success);
    assert_true(list.count <= maxContacts);
    contacts.count = list.count;
    for (int i = 0; i < list.count; ++i) {
        const tpContactPoint* c = &contacts.points[i];
        CHECK_NEAR(tpLength(c->normal), 1.0, 1e-14);
        CHECK_VEC3(tpSub(c->pointA, c->pointB), tpScale(c->gap, c->normal), 1e-13);
        assert_true(c->gap <= margin);
        assert_true(i == 0 || c->feature > contacts.points[i - 1].feature);
    }
    return contacts;
}

static tpGeometry makeBox(double x, double y, double z) {
    tpGeometry g;
    assert_int_equal(tpMakeBox(&(tpBox){ { x, y, z } }, tpIdentityPose(), &g, NULL), tp_success);
    return g;
}

static tpGeometry makePlane(void) {
    tpGeometry g;
    tpPlane plane = { { 0.0, 0.0, 1.0 }, 0.0 };
    assert_int_equal(tpMakePlane(&plane, tpIdentityPose(), &g, NULL), tp_success);
    return g;
}

static tpGeometry makeCapsule(double radius, double length) {
    tpGeometry g;
    tpCapsule capsule = { radius, length, { 0.0, 0.0, 1.0 } };
    assert_int_equal(tpMakeCapsule(&capsule, tpIdentityPose(), &g, NULL), tp_success);
    return g;
}

static tpGeometry makeCylinder(double radius, double length) {
    tpGeometry g;
    tpCylinder cylinder = { radius, length, { 0.0, 0.0, 1.0 } };
    assert_int_equal(tpMakeCylinder(&cylinder, tpIdentityPose(), &g, NULL), tp_success);
    return g;
}

static tpGeometry makeCone(double radius, double length) {
    tpGeometry g;
    tpCone cone = { radius, length, { 0.0, 0.0, 1.0 } };
    assert_int_equal(tpMakeCone(&cone, tpIdentityPose(), &g, NULL), tp_success);
    return g;
}

static tpPose at(double x, double y, double z) {
    return tpMakePose(tpMakeVec3(x, y, z), tpIdentityQuat());
}

static tpPose turned(double x, double y, double z, tpVec3 axis, double degrees) {
    return tpMakePose(tpMakeVec3(x, y, z), tpQuatFromAxisAngle(axis, degrees * acos(-1.0) / 180.0));
}

static const tpVec3 xAxis = { 1.0, 0.0, 0.0 }, yAxis = { 0.0, 1.0, 0.0 }, zAxis = { 0.0, 0.0, 1.0 };

static void checkAllAt(const Contacts* c, int count, tpVec3 normal, double gap) {
    assert_int_equal(c->count, count);
    for (int i = 0; i < count; ++i) {
        CHECK_VEC3(c->points[i].normal, normal, 1e-13);
        CHECK_NEAR(c->points[i].gap, gap, 1e-13);
    }
}

// The area of the polygon that contacts span, seen along z.
static double areaOf(const Contacts* c) {
    double area = 0.0;
    // The hull of few points: sum over edges that have all others to their left.
    for (int i = 0; i < c->count; ++i) {
        for (int j = 0; j < c->count; ++j) {
            tpVec3 p = c->points[i].pointB, q = c->points[j].pointB;
            bool isEdge = i != j;
            for (int k = 0; k < c->count && isEdge; ++k) {
                tpVec3 r = c->points[k].pointB;
                double side = (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x);
                isEdge = k == i || k == j || side > 1e-12;
            }
            area += isEdge ? 0.5 * (p.x * q.y - q.x * p.y) : 0.0;
        }
    }
    return area;
}

static void boxOnPlane(void** state) {
    (void)state;
    tpGeometry box = makeBox(1.0, 2.0, 0.5), plane = makePlane();
    Contacts c = collide(&box, at(0.3, 0.4, 0.25), &plane, tpIdentityPose(), 0.01);
    checkAllAt(&c, 4, zAxis, 0.0);
    CHECK_NEAR(areaOf(&c), 2.0, 1e-12);
    c = collide(&box, at(0.3, 0.4, 0.2), &plane, tpIdentityPose(), 0.01);
    checkAllAt(&c, 4, zAxis, -0.05);
    c = collide(&box, at(0.3, 0.4, 0.27), &plane, tpIdentityPose(), 0.01);
    assert_int_equal(c.count, 0);
    // On an edge: two; on a corner: one.
    double half = 0.5 * sqrt(1.0 + 0.25);
    c = collide(&box, turned(0, 0, half, yAxis, atan2(1.0, 0.5) * 180.0 / acos(-1.0)), &plane,
                tpIdentityPose(), 0.01);
    checkAllAt(&c, 2, zAxis, 0.0);
    tpGeometry cube = makeBox(1.0, 1.0, 1.0);
    tpPose onCorner = tpMakePose(tpMakeVec3(0.0, 0.0, 0.5 * sqrt(3.0)),
                                 tpQuatBetween(tpNormalize(tpMakeVec3(1.0, 1.0, 1.0)), zAxis));
    c = collide(&cube, onCorner, &plane, tpIdentityPose(), 0.01);
    checkAllAt(&c, 1, zAxis, 0.0);
    // The other way round the normal turns.
    c = collide(&plane, tpIdentityPose(), &box, at(0.3, 0.4, 0.25), 0.01);
    checkAllAt(&c, 4, tpNeg(zAxis), 0.0);
    // Plates thinner than the margin do not show their far sides.
    tpGeometry plate = makeBox(1.0, 1.0, 0.001);
    c = collide(&plate, at(0.0, 0.0, 0.0005), &plane, tpIdentityPose(), 0.01);
    checkAllAt(&c, 4, zAxis, 0.0);
}

static void boxOnBox(void** state) {
    (void)state;
    tpGeometry box = makeBox(1.0, 1.0, 1.0);
    // Exactly aligned, in all heights from overlap to gap.
    for (int i = 0; i < 3; ++i) {
        double gap = 0.005 * (i - 1);
        Contacts c = collide(&box, at(0.0, 0.0, 1.0 + gap), &box, tpIdentityPose(), 0.01);
        checkAllAt(&c, 4, zAxis, gap);
        CHECK_NEAR(areaOf(&c), 1.0, 1e-12);
    }
    // Shifted: the shared rectangle. Turned by 45 degrees: the octagon.
    Contacts c = collide(&box, at(0.25, 0.5, 0.999), &box, tpIdentityPose(), 0.01);
    checkAllAt(&c, 4, zAxis, -0.001);
    CHECK_NEAR(areaOf(&c), 0.75 * 0.5, 1e-12);
    c = collide(&box, turned(0.0, 0.0, 0.999, zAxis, 45.0), &box, tpIdentityPose(), 0.01);
    checkAllAt(&c, 8, zAxis, -0.001);
    double corner = 0.5 * sqrt(2.0) - 0.5;
    CHECK_NEAR(areaOf(&c), 1.0 - 4.0 * corner * corner, 1e-12);
    // Standing over the edge on a corner region, tilted by a little: still a face contact.
    c = collide(&box, turned(0.9, 0.9, 0.9995, xAxis, 0.05), &box, tpIdentityPose(), 0.01);
    assert_int_equal(c.count, 4);
    CHECK_NEAR(areaOf(&c), 0.01, 1e-4);
}

static void edgesAndCorners(void** state) {
    (void)state;
    tpGeometry box = makeBox(1.0, 1.0, 1.0);
    double height = sqrt(2.0);
    // Two edges across each other: one point, whatever the gap.
    for (int i = -1; i <= 1; ++i) {
        Contacts c = collide(&box, turned(0.1, 0.05, height + 0.001 * i, xAxis, 45.0), &box,
                             turned(0.0, 0.0, 0.0, yAxis, 45.0), 0.01);
        checkAllAt(&c, 1, zAxis, 0.001 * i);
        CHECK_VEC3(c.points[0].pointB, tpMakeVec3(0.0, 0.05, 0.5 * height), 1e-12);
    }
    // Parallel edges: the ends of what they share.
    Contacts c = collide(&box, turned(0.3, 0.0, height + 0.001, xAxis, 45.0), &box,
                         turned(0.0, 0.0, 0.0, xAxis, 45.0), 0.01);
    checkAllAt(&c, 2, zAxis, 0.001);
    CHECK_NEAR(fabs(c.points[0].pointA.x - c.points[1].pointA.x), 0.7, 1e-12);
    // Corner to corner apart: along the line between them.
    c = collide(&box, at(1.003, 1.004, 1.0), &box, tpIdentityPose(), 0.01);
    checkAllAt(&c, 1, tpMakeVec3(0.6, 0.8, 0.0), 0.005);
    c = collide(&box, at(1.003, 1.004, 0.2), &box, tpIdentityPose(), 0.01);
    checkAllAt(&c, 2, tpMakeVec3(0.6, 0.8, 0.0), 0.005);
    // An edge on a face: two points.
    c = collide(&box, turned(0.0, 0.0, 0.5 + 0.5 * height, xAxis, 45.0), &box, tpIdentityPose(),
                0.01);
    checkAllAt(&c, 2, zAxis, 0.0);
}

static void capsules(void** state) {
    (void)state;
    tpGeometry pill = makeCapsule(0.1, 1.0), plane = makePlane(), box = makeBox(2.0, 0.6, 1.0);
    // Lying and standing on a plane.
    Contacts c = collide(&pill, turned(0.0, 0.0, 0.1, yAxis, 90.0), &plane, tpIdentityPose(), 0.01);
    checkAllAt(&c, 2, zAxis, 0.0);
    CHECK_NEAR(fabs(c.points[0].pointA.x - c.points[1].pointA.x), 1.0, 1e-12);
    c = collide(&pill, at(0.0, 0.0, 0.6), &plane, tpIdentityPose(), 0.01);
    checkAllAt(&c, 1, zAxis, 0.0);
    // On a box: along its length, and across it with both ends over the sides.
    c = collide(&pill, turned(0.0, 0.0, 0.599, yAxis, 90.0), &box, tpIdentityPose(), 0.01);
    checkAllAt(&c, 2, zAxis, -0.001);
    CHECK_NEAR(fabs(c.points[0].pointA.x - c.points[1].pointA.x), 1.0, 1e-12);
    c = collide(&pill, turned(0.0, 0.0, 0.6, xAxis, 90.0), &box, tpIdentityPose(), 0.01);
    checkAllAt(&c, 2, zAxis, 0.0);
    CHECK_NEAR(fabs(c.points[0].pointA.y - c.points[1].pointA.y), 0.6, 1e-12);
    // On each other: parallel, and crossed.
    c = collide(&pill, at(0.2, 0.0, 0.3), &pill, tpIdentityPose(), 0.01);
    checkAllAt(&c, 2, xAxis, 0.0);
    CHECK_NEAR(fabs(c.points[0].pointA.z - c.points[1].pointA.z), 0.7, 1e-12);
    c = collide(&pill, turned(0.0, 0.2, 0.3, yAxis, 90.0), &pill, tpIdentityPose(), 0.01);
    checkAllAt(&c, 1, yAxis, 0.0);
    // Crossing axes and one point in common: apart across both.
    c = collide(&pill, turned(0.0, 0.0, 0.0, yAxis, 90.0), &pill, tpIdentityPose(), 0.01);
    assert_int_equal(c.count, 1);
    CHECK_NEAR(c.points[0].gap, -0.2, 1e-14);
    CHECK_NEAR(fabs(c.points[0].normal.y), 1.0, 1e-14);
}

static void cylindersAndCones(void** state) {
    (void)state;
    tpGeometry can = makeCylinder(0.5, 1.0), plane = makePlane(), box = makeBox(4.0, 4.0, 1.0);
    tpGeometry hat = makeCone(0.5, 1.0), small = makeBox(0.1, 0.1, 0.1);
    // Standing: eight points of the rim; lying: two; tilted: the lowest.
    Contacts c = collide(&can, at(0.0, 0.0, 0.5), &plane, tpIdentityPose(), 0.01);
    checkAllAt(&c, 8, zAxis, 0.0);
    c = collide(&can, turned(0.0, 0.0, 0.5, yAxis, 90.0), &plane, tpIdentityPose(), 0.01);
    checkAllAt(&c, 2, zAxis, 0.0);
    c = collide(&can, turned(0.0, 0.0, 0.5 * (cos(0.5) + sin(0.5)), yAxis, 90.0 / acos(0.0) * 0.5),
                &plane, tpIdentityPose(), 0.01);
    checkAllAt(&c, 1, zAxis, 0.0);
    // The same on a box; over its edge the rim is cut.
    c = collide(&can, at(0.3, 0.4, 1.0), &box, tpIdentityPose(), 0.01);
    checkAllAt(&c, 8, zAxis, 0.0);
    c = collide(&can, turned(0.0, 0.3, 1.0, yAxis, 90.0), &box, tpIdentityPose(), 0.01);
    checkAllAt(&c, 2, zAxis, 0.0);
    c = collide(&can, at(2.0, 0.0, 1.0), &box, tpIdentityPose(), 0.01);
    assert_true(c.count >= 5);
    CHECK_NEAR(areaOf(&c), 0.5 * 8.0 * 0.5 * 0.25 * sin(acos(-1.0) / 4.0), 1e-2);
    // A small box on the cap, and one over its rim.
    c = collide(&small, at(0.1, 0.0, 0.55), &can, tpIdentityPose(), 0.01);
    checkAllAt(&c, 4, zAxis, 0.0);
    // One can on another.
    c = collide(&can, at(0.0, 0.0, 1.0), &can, tpIdentityPose(), 0.01);
    checkAllAt(&c, 8, zAxis, 0.0);
    c = collide(&can, at(0.5, 0.0, 1.0), &can, tpIdentityPose(), 0.01);
    assert_true(c.count >= 4);
    // Side by side: along a line.
    c = collide(&can, at(1.001, 0.0, 0.2), &can, tpIdentityPose(), 0.01);
    checkAllAt(&c, 2, xAxis, 0.001);
    CHECK_NEAR(fabs(c.points[0].pointA.z - c.points[1].pointA.z), 0.8, 1e-9);
    // Cones: on their base, on their side, on their tip.
    c = collide(&hat, at(0.0, 0.0, 0.5), &plane, tpIdentityPose(), 0.01);
    checkAllAt(&c, 8, zAxis, 0.0);
    double slope = atan2(0.5, 1.0);
    tpPose lying = turned(0.0, 0.0, 0.0, yAxis, (acos(0.0) + slope) * 90.0 / acos(0.0));
    tpVec3 tip = tpTransformPoint(lying, tpMakeVec3(0.0, 0.0, 0.5));
    lying.position.z = -tip.z;
    c = collide(&hat, lying, &plane, tpIdentityPose(), 0.01);
    checkAllAt(&c, 2, zAxis, 0.0);
    c = collide(&hat, turned(0.0, 0.0, 0.5, xAxis, 180.0), &plane, tpIdentityPose(), 0.01);
    checkAllAt(&c, 1, zAxis, 0.0);
}

// Small motions of a resting box change no feature, and every contact moves by no more than the
// box.
static tpVec3 cornerOf(const tpGeometry* box, tpPose pose, uint64_t vertex) {
    tpVec3 half = tpScale(0.5, box->box.size);
    return tpTransformPoint(pose, tpMakeVec3((vertex & 1) != 0 ? half.x : -half.x,
                                             (vertex & 2) != 0 ? half.y : -half.y,
                                             (vertex & 4) != 0 ? half.z : -half.z));
}

// A contact that names a vertex is at that vertex, whichever of two boxes it belongs to.
static void boxesNameTheirCorners(void** state) {
    (void)state;
    tpRandom random = { 6 };
    int counts[2] = { 0, 0 };
    for (int i = 0; i < 2000; ++i) {
        tpVec3 sizes = randomVec3(&random, 0.3, 1.2);
        tpGeometry a = makeBox(sizes.x, sizes.y, sizes.z), b = makeBox(1.0, 0.8, 0.6);
        tpPose poses[2];
        for (int k = 0; k < 2; ++k) {
            poses[k] = tpMakePose(randomVec3(&random, -0.3, 0.3), tpIdentityQuat());
            double quarters = floor(randomBetween(&random, 0.0, 4.0));
            tpVec3 axis = { i % 3 == 0, i % 3 == 1, i % 3 == 2 };
            tpQuat turn = tpQuatFromAxisAngle(axis, 1.5707963267948966 * quarters);
            tpVec3 tilt = randomVec3(&random, -1e-3, 1e-3);
            tilt.z = randomBetween(&random, -1.0, 1.0);
            poses[k].rotation = tpMulQQ(tpQuatExp(tilt), turn);
        }
        poses[0].position.z += 2.0;
        tpClosest closest;
        tpClosestPoints(&a, poses[0], &b, poses[1], NULL, &closest);
        poses[0].position = tpMulAdd(poses[0].position, 0.002 - closest.distance, closest.normal);
        Contacts c = collide(&a, poses[0], &b, poses[1], 0.01);
        for (int k = 0; k < c.count; ++k) {
            const tpContactPoint* p = &c.points[k];
            uint64_t kind = p->feature >> 62, first = p->feature >> 31 & 0x7fffffff;
            uint64_t second = p->feature & 0x7fffffff;
            if (kind == tp_vertexFace) {
                CHECK_VEC3(p->pointA, cornerOf(&a, poses[0], first), 1e-5);
                counts[0] += 1;
            } else if (kind == tp_faceVertex) {
                CHECK_VEC3(p->pointB, cornerOf(&b, poses[1], second), 1e-5);
                counts[1] += 1;
            }
        }
    }
    assert_true(counts[0] > 500 && counts[1] > 500);
}

static void featuresPersist(void** state) {
    (void)state;
    tpGeometry box = makeBox(1.0, 1.0, 1.0), floor = makeBox(10.0, 10.0, 1.0);
    tpRandom random = { 5 };
    tpPairCache cache = { { 0 } };
    tpContactPoint before[16], now[16];
    int countBefore = 0;
    for (int i = 0; i < 1000; ++i) {
        tpPose pose = at(0.2, 0.1, 1.0);
        pose.position = tpAdd(pose.position, randomVec3(&random, -1e-5, 1e-5));
        pose.rotation = tpQuatExp(randomVec3(&random, -1e-5, 1e-5));
        tpContactList list = { now, 0, 16 };
        tpCollide(&box, pose, &floor, tpIdentityPose(), 0.01, &cache, &list);
        assert_int_equal(list.count, 4);
        for (int k = 0; k < list.count && i > 0; ++k) {
            assert_int_equal(countBefore, list.count);
            assert_true(now[k].feature == before[k].feature);
            CHECK_VEC3(now[k].pointA, before[k].pointA, 1e-4);
        }
        countBefore = list.count;
        for (int k = 0; k < list.count; ++k) {
            before[k] = now[k];
        }
    }
}

// Boxes have functions of their own; as polyhedra they have the same contacts, with the same names.
static void boxesAgreeWithPolyhedra(void** state) {
    (void)state;
    tpRandom random = { 29 };
    int contactCount = 0, different = 0;
    for (int i = 0; i < 20000; ++i) {
        tpGeometry a = makeBox(randomBetween(&random, 0.3, 1.0), randomBetween(&random, 0.3, 1.0),
                               randomBetween(&random, 0.3, 1.0));
        tpGeometry b = makeBox(randomBetween(&random, 0.3, 2.0), randomBetween(&random, 0.3, 2.0),
                               randomBetween(&random, 0.3, 2.0));
        tpPair pair = { &a,
                        &b,
                        tpMakePose(randomVec3(&random, -0.8, 0.8), randomRotation(&random)),
                        tpMakePose(tpZeroVec3(), randomRotation(&random)),
                        0.02,
                        false,
                        NULL };
        if (i % 3 == 0) {
            pair.poseA.rotation = pair.poseB.rotation;
        }
        tpContactPoint points[2][32];
        tpContactList lists[2] = { { points[0], 0, 32 }, { points[1], 0, 32 } };
        tp_boxPair.collide(&pair, NULL, &lists[0]);
        tp_corePair.collide(&pair, NULL, &lists[1]);
        tpSortContacts(points[0], lists[0].count);
        tpSortContacts(points[1], lists[1].count);
        tpClosest closest;
        tpClosestCores(&pair, NULL, &closest);
        // Where two directions are equally good, the two may choose differently.
        bool isSame = lists[0].count == lists[1].count;
        for (int k = 0; k < lists[0].count && isSame; ++k) {
            isSame = points[0][k].feature == points[1][k].feature &&
                     tpDistanceBetween(points[0][k].pointA, points[1][k].pointA) < 1e-9 &&
                     fabs(points[0][k].gap - points[1][k].gap) < 1e-9;
        }
        different += !isSame;
        double least = INFINITY;
        for (int k = 0; k < lists[0].count; ++k) {
            least = fmin(least, points[0][k].gap);
        }
        assert_true((lists[0].count > 0) == (closest.distance <= pair.margin));
        if (lists[0].count > 0) {
            CHECK_NEAR(least, closest.distance, 1e-4 * fabs(closest.distance) + 1e-6);
        }
        contactCount += lists[0].count;
    }
    print_message("%d contacts, %d pairs of boxes differ\n", contactCount, different);
    assert_true(contactCount > 20000 && different < 200);
}

// How far two boxes are apart along a direction, by their corners.
static double apartAlong(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                         tpVec3 n) {
    double least[2] = { INFINITY, INFINITY }, most[2] = { -INFINITY, -INFINITY };
    for (int corner = 0; corner < 16; ++corner) {
        int which = corner >> 3;
        tpVec3 size = which == 0 ? a->box.size : b->box.size;
        tpVec3 p = tpMakeVec3(corner & 1 ? 0.5 * size.x : -0.5 * size.x,
                              corner & 2 ? 0.5 * size.y : -0.5 * size.y,
                              corner & 4 ? 0.5 * size.z : -0.5 * size.z);
        double height = tpDot(n, tpTransformPoint(which == 0 ? poseA : poseB, p));
        least[which] = fmin(least[which], height);
        most[which] = fmax(most[which], height);
    }
    return fmax(least[1] - most[0], least[0] - most[1]);
}

// Axes of eight pairs: the same bits at any width; the best face is that of the corners, and no
// cross of edges beats it that is not named.
static void boxAxesAreTheBest(void** state) {
    (void)state;
    tpRandom random = { 37 };
    int named = 0, compared = 0;
    for (int round = 0; round < 500; ++round) {
        tpGeometry a[tp_boxesAtOnce], b[tp_boxesAtOnce];
        tpPose poseA[tp_boxesAtOnce], poseB[tp_boxesAtOnce];
        tpBoxBatch plain, other;
        memset(&plain, 0, sizeof(plain));
        for (int k = 0; k < tp_boxesAtOnce; ++k) {
            tpVec3 sizes[2] = { randomVec3(&random, 0.3, 1.0), randomVec3(&random, 0.3, 2.0) };
            a[k] = makeBox(sizes[0].x, sizes[0].y, sizes[0].z);
            b[k] = makeBox(sizes[1].x, sizes[1].y, sizes[1].z);
            poseA[k] = tpMakePose(randomVec3(&random, -0.8, 0.8), randomRotation(&random));
            poseB[k] =
                tpMakePose(tpZeroVec3(), k % 3 == 0 ? poseA[k].rotation : randomRotation(&random));
            tpBoxBatch_Set(&plain, k, &a[k], poseA[k], &b[k], poseB[k]);
        }
        other = plain;
        assert_true(tpBoxBatch_FindAxesBy(&plain, 1));
        if (tpBoxBatch_FindAxesBy(&other, 4)) {
            assert_memory_equal(&plain, &other, sizeof(plain));
            ++compared;
        }
        for (int k = 0; k < tp_boxesAtOnce; ++k) {
            tpMat33 turns[2] = { tpMatFromQuat(poseA[k].rotation),
                                 tpMatFromQuat(poseB[k].rotation) };
            const tpVec3 axes[6] = { turns[0].cx, turns[0].cy, turns[0].cz,
                                     turns[1].cx, turns[1].cy, turns[1].cz };
            double best = -INFINITY;
            for (int i = 0; i < 6; ++i) {
                best = fmax(best, apartAlong(&a[k], poseA[k], &b[k], poseB[k], axes[i]));
            }
            double own = apartAlong(&a[k], poseA[k], &b[k], poseB[k], axes[(int)plain.face[k]]);
            CHECK_NEAR(own, best, 1e-12);
            CHECK_NEAR(plain.separation[k], best, 1e-12);
            for (int i = 0; i < 9; ++i) {
                tpVec3 cross = tpCross(axes[i / 3], axes[3 + i % 3]);
                bool isNamed = ((int)plain.edges[k] >> i & 1) != 0;
                named += isNamed;
                if (!isNamed && tpLength(cross) > 1e-3) {
                    double s = apartAlong(&a[k], poseA[k], &b[k], poseB[k], tpNormalize(cross));
                    CHECK_BELOW(s, best + 1e-9);
                }
            }
        }
    }
    print_message("%d batches compared, %d crosses named\n", compared, named);
    assert_true(named > 1000);
}

// The smallest gap of a list; infinite if it is empty.
static double leastGap(const tpContactList* list) {
    double least = INFINITY;
    for (int k = 0; k < list->count; ++k) {
        least = fmin(least, list->points[k].gap);
    }
    return least;
}

// In units of a power of two every digit of the contacts that a pair of boxes finds ahead stays.
static void checkUnitsOfLooking(const tpPair* pair, const tpContactList* list) {
    const double unit = 1024.0;
    tpVec3 a = tpScale(unit, pair->a->box.size), b = tpScale(unit, pair->b->box.size);
    tpGeometry largeA = makeBox(a.x, a.y, a.z), largeB = makeBox(b.x, b.y, b.z);
    tpPair large = *pair;
    large.a = &largeA;
    large.b = &largeB;
    large.poseA.position = tpScale(unit, pair->poseA.position);
    large.poseB.position = tpScale(unit, pair->poseB.position);
    large.margin = unit * pair->margin;
    tpContactPoint points[32];
    tpContactList found = { points, 0, 32 };
    tp_boxPair.collide(&large, NULL, &found);
    assert_int_equal(found.count, list->count);
    for (int i = 0; i < found.count; ++i) {
        assert_true(points[i].gap == unit * list->points[i].gap);
        CHECK_VEC3(points[i].normal, list->points[i].normal, 0.0);
    }
}

// A pair of boxes that overlap and looks ahead has the contacts it has otherwise, and more of them
// where edges are nearest: corners over a face, which overlap where the boxes do and nowhere else.
// Or it has other contacts over a face, at least half as deep as the boxes and not deeper.
// If they are apart it is asked again before they can meet: it may miss a contact that is still
// open, and makes none nearer.
static void boxesLookAhead(void** state) {
    (void)state;
    tpRandom random = { 31 };
    int more = 0, overlapping = 0, others = 0;
    for (int i = 0; i < 20000; ++i) {
        tpGeometry a = makeBox(0.8, 1.0, 0.9), b = makeBox(1.0, 1.0, 1.0);
        tpPair pair = { &a,
                        &b,
                        tpMakePose(randomVec3(&random, -1.2, 1.2), randomRotation(&random)),
                        tpMakePose(tpZeroVec3(), randomRotation(&random)),
                        0.1,
                        false,
                        NULL };
        tpContactPoint points[2][32];
        tpContactList lists[2] = { { points[0], 0, 32 }, { points[1], 0, 32 } };
        tp_boxPair.collide(&pair, NULL, &lists[0]);
        pair.looksAhead = true;
        tp_boxPair.collide(&pair, NULL, &lists[1]);
        assert_true(lists[1].count <= 32);
        checkUnitsOfLooking(&pair, &lists[1]);
        double least = leastGap(&lists[0]);
        if (least > 0.0) {
            assert_true(leastGap(&lists[1]) >= least - 1e-12);
            continue;
        }
        ++overlapping;
        bool isSame =
            lists[1].count >= lists[0].count &&
            memcmp(points[0], points[1], sizeof(tpContactPoint) * (size_t)lists[0].count) == 0;
        for (int k = isSame ? lists[0].count : 0; k < lists[1].count; ++k) {
            const tpContactPoint* c = &points[1][k];
            CHECK_BELOW(c->gap, pair.margin + 1e-12);
            CHECK_VEC3(c->pointA, tpMulAdd(c->pointB, c->gap, c->normal), 1e-12);
            more += isSame ? 1 : 0;
        }
        if (!isSame) {
            double other = leastGap(&lists[1]);
            assert_true(other >= least - 1e-9 && other <= 0.5 * least);
            ++others;
        }
    }
    print_message("%d overlap, %d have more contacts, %d others\n", overlapping, more, others);
    assert_true(overlapping > 5000 && more > 1000);
    assert_true(others > 0 && others < overlapping / 5);
}

// Shapes without contacts say how far apart they are at least: no less than the margin, no more
// than the truth, and all of it where the distance was found.
static void distancesBeyondTheMargin(void** state) {
    (void)state;
    tpRandom random = { 53 };
    tpGeometry shapes[] = { makeBox(0.8, 1.0, 0.6), makeCylinder(0.4, 0.9), makeCapsule(0.3, 0.7),
                            makeCone(0.5, 0.8) };
    int far = 0, beyond = 0;
    for (int i = 0; i < 4000; ++i) {
        const tpGeometry *a = &shapes[i % 4], *b = &shapes[i / 4 % 4];
        tpPose poseA = tpMakePose(randomVec3(&random, -2.0, 2.0), randomRotation(&random));
        tpPose poseB = tpMakePose(tpZeroVec3(), randomRotation(&random));
        tpContactPoint points[32];
        tpContactList list = { points, 0, 32 };
        tpClosest closest;
        tpOverFace over;
        double margin = 0.05;
        assert_int_equal(
            tpCollideShapes(a, poseA, b, poseB, margin, i % 2 == 0, NULL, &list, &over),
            tp_success);
        assert_int_equal(tpClosestShapes(a, poseA, b, poseB, NULL, &closest), tp_success);
        double apart = over.beyond;
        if (list.count == 0) {
            assert_true(apart >= margin && apart <= closest.distance + 1e-9);
            ++far;
            beyond += apart > margin + 0.5 * (closest.distance - margin) ? 1 : 0;
        }
    }
    print_message("%d apart, of %d more than half is known\n", far, beyond);
    assert_true(far > 2000 && beyond > far / 2);
}

// Whatever the pair, the nearest contact has the signed distance for its gap, and swapped bodies
// have as many contacts.
static void contactsAgreeWithDistance(void** state) {
    (void)state;
    tpRandom random = { 11 };
    int touching = 0;
    for (int i = 0; i < 3000; ++i) {
        tpGeometry a, b, unused[2];
        HullKind kinds[2] = { (HullKind)(i % hullKindCount), (HullKind)(i / 7 % hullKindCount) };
        if (!makeRandomHull(&random, kinds[0], 24, 1.0, &a, &unused[0])) {
            continue;
        }
        if (!makeRandomHull(&random, kinds[1], 24, 1.0, &b, &unused[1])) {
            tpReleaseGeometry(&a);
            tpReleaseGeometry(&unused[0]);
            continue;
        }
        tpPose poseA = tpMakePose(randomVec3(&random, -1.0, 1.0), randomRotation(&random));
        tpPose poseB = tpMakePose(randomVec3(&random, -1.0, 1.0), randomRotation(&random));
        tpClosest closest;
        tpClosestPoints(&a, poseA, &b, poseB, NULL, &closest);
        double margin = 0.05;
        // From where they are to just apart or slightly overlapping.
        double target = randomBetween(&random, -0.01, 0.04);
        poseA.position = tpMulAdd(poseA.position, target - closest.distance, closest.normal);
        tpClosestPoints(&a, poseA, &b, poseB, NULL, &closest);
        Contacts c = collide(&a, poseA, &b, poseB, margin);
        Contacts swapped = collide(&b, poseB, &a, poseA, margin);
        double least = INFINITY;
        for (int k = 0; k < c.count; ++k) {
            least = fmin(least, c.points[k].gap);
        }
        assert_true((c.count > 0) == (closest.distance <= margin));
        assert_int_equal(c.count > 0, swapped.count > 0);
        if (c.count > 0) {
            // A face within 0.6 degrees of the normal measures along its own.
            CHECK_NEAR(least, closest.distance, 1e-4 * fabs(closest.distance) + 1e-6);
            ++touching;
        }
        tpReleaseGeometry(&a);
        tpReleaseGeometry(&b);
        tpReleaseGeometry(&unused[0]);
        tpReleaseGeometry(&unused[1]);
    }
    assert_true(touching > 2000);
}

// Upright, over a regular polygon with so many corners at such a distance from its axis.
static tpGeometry makeRegularPrism(int sides, double radius, double height) {
    const tpAllocator allocator = tpDefaultAllocator();
    double corners[64][2];
    for (int i = 0; i < sides; ++i) {
        double angle = 2.0 * acos(-1.0) * i / sides;
        corners[i][0] = radius * cos(angle);
        corners[i][1] = radius * sin(angle);
    }
    tpGeometry g;
    assert_int_equal(tpMakePrism(&allocator, (const double(*)[2])corners, sides, height,
                                 tpIdentityPose(), &g, NULL),
                     tp_success);
    return g;
}

// Regular prisms on each other. Turned by half a side they share the regular polygon of twice as
// many sides about the same inner circle, a smaller one is shared as a whole, and squares cut what
// they cut of a fine one. Few corners and many go through different memory.
static void polygonsOfManySides(void** state) {
    (void)state;
    static const int sides[] = { 3, 8, 12, 13, 14, 15, 24, 40 };
    const double pi = acos(-1.0);
    for (size_t k = 0; k < sizeof(sides) / sizeof(sides[0]); ++k) {
        int n = sides[k];
        tpGeometry prism = makeRegularPrism(n, 1.0, 0.5), small = makeRegularPrism(n, 0.25, 0.5);
        tpGeometry box = makeBox(0.5, 0.5, 0.5);
        tpPose half = turned(0.3, 0.2, 0.499, zAxis, 180.0 / n);
        Contacts c = collide(&prism, half, &prism, at(0.3, 0.2, 0.0), 0.01);
        double inner = cos(pi / n);
        checkAllAt(&c, 2 * n, zAxis, -0.001);
        CHECK_NEAR(areaOf(&c), 2.0 * n * inner * inner * tan(0.5 * pi / n), 1e-12);
        double whole = 0.5 * n * 0.0625 * sin(2.0 * pi / n);
        for (int i = 0; i < 2; ++i) {
            const tpGeometry *upper = i == 0 ? &small : &prism, *lower = i == 0 ? &prism : &small;
            c = collide(upper, turned(0.05, 0.1, 0.499, zAxis, 7.0), lower, tpIdentityPose(), 0.01);
            checkAllAt(&c, n, zAxis, -0.001);
            CHECK_NEAR(areaOf(&c), whole, 1e-12);
        }
        if (n > 3) {
            c = collide(&box, at(0.1, 0.0, 0.499), &prism, tpIdentityPose(), 0.01);
            checkAllAt(&c, 4, zAxis, -0.001);
            CHECK_NEAR(areaOf(&c), 0.25, 1e-12);
        }
        tpReleaseGeometry(&prism);
        tpReleaseGeometry(&small);
    }
}

// A list that is too short says how long it should be.
static void shortListCounts(void** state) {
    (void)state;
    tpGeometry box = makeBox(1.0, 1.0, 1.0), plane = makePlane();
    tpContactPoint points[2];
    tpContactList list = { points, 0, 2 };
    tpCollide(&box, at(0.0, 0.0, 0.5), &plane, tpIdentityPose(), 0.0, NULL, &list);
    assert_int_equal(list.count, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxOnPlane),
        cmocka_unit_test(boxOnBox),
        cmocka_unit_test(edgesAndCorners),
        cmocka_unit_test(capsules),
        cmocka_unit_test(cylindersAndCones),
        cmocka_unit_test(featuresPersist),
        cmocka_unit_test(contactsAgreeWithDistance),
        cmocka_unit_test(boxesAgreeWithPolyhedra),
        cmocka_unit_test(boxAxesAreTheBest),
        cmocka_unit_test(boxesLookAhead),
        cmocka_unit_test(distancesBeyondTheMargin),
        cmocka_unit_test(polygonsOfManySides),
        cmocka_unit_test(shortListCounts),
        cmocka_unit_test(boxesNameTheirCorners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
