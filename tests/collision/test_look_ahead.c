// Pairs that look ahead: contacts that the nearest features do not make, but the next step may.
//
// What is added must be true of the bodies: none is nearer than the distance, which all are held
// to, and its points belong to both bodies, so that nothing is met that is not there.

#include <string.h>

#include "collision/contact.h"
#include "collision/round_features.h"
#include "random_hulls.h"
#include "random_shapes.h"
#include "support/check.h"

enum { mostPoints = 64 };

typedef struct Manifold {
    tpContactPoint points[mostPoints];
    int count;
    tpOverFace over;
} Manifold;

static void collide(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                    double margin, bool looksAhead, Manifold* out) {
    tpPairCache cache;
    memset(&cache, 0, sizeof(cache));
    tpContactList list = { out->points, 0, mostPoints };
    assert_int_equal(tpCollideShapes(a, poseA, b, poseB, margin, looksAhead, &cache, &list,
                                     looksAhead ? &out->over : NULL),
                     tp_success);
    out->count = list.count;
    assert_true(out->count <= mostPoints);
}

static tpGeometry makeTube(bool isCapsule, double radius, double length) {
    tpGeometry out;
    tpError error;
    if (isCapsule) {
        tpMakeCapsule(&(tpCapsule){ radius, length, { 0.0, 0.0, 1.0 } }, tpIdentityPose(), &out,
                      &error);
    } else {
        tpMakeCylinder(&(tpCylinder){ radius, length, { 0.0, 0.0, 1.0 } }, tpIdentityPose(), &out,
                       &error);
    }
    return out;
}

// Two capsules along each other, the upper one tilted by up to 10 degrees: beside the end that is
// nearest, the other end has a contact with the gap of its ball, as a sphere there has it.
static void bothEndsOfCapsules(void** state) {
    (void)state;
    tpRandom random = { 31 };
    tpGeometry a = makeTube(true, 0.3, 0.8), b = makeTube(true, 0.25, 2.0), ball;
    tpError error;
    tpMakeSphere(&(tpSphere){ 0.3 }, tpIdentityPose(), &ball, &error);
    for (int trial = 0; trial < 200; ++trial) {
        double tilt = randomBetween(&random, 0.02, 0.17),
               aside = randomBetween(&random, -0.17, 0.17);
        // Along x; the nearer end is 1 mm off.
        tpQuat level = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), 1.5707963267948966);
        tpQuat turn = tpMulQQ(tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), aside),
                              tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), tilt));
        tpPose poseB = tpMakePose(tpZeroVec3(), level);
        tpPose poseA = tpMakePose(tpMakeVec3(randomBetween(&random, -0.3, 0.3), 0.0, 0.551),
                                  tpMulQQ(turn, level));
        poseA.position.z += 0.4 * sin(tilt);
        Manifold m;
        collide(&a, poseA, &b, poseB, 0.5, true, &m);
        assert_true(m.count >= 2);
        for (int k = -1; k <= 1; k += 2) {
            tpVec3 end = tpTransformPoint(poseA, tpMakeVec3(0.0, 0.0, 0.4 * k));
            tpClosest closest;
            assert_int_equal(tpClosestShapes(&ball, tpMakePose(end, tpIdentityQuat()), &b, poseB,
                                             NULL, &closest),
                             tp_success);
            double least = INFINITY;
            for (int i = 0; i < m.count; ++i) {
                least = fmin(least, fabs(m.points[i].gap - closest.distance));
            }
            CHECK_NEAR(least, 0.0, 1e-12);
        }
        // Nothing else of two capsules can meet.
        assert_true(m.over.beyond > 0.5);
        // Without looking ahead there is the nearest end alone.
        collide(&a, poseA, &b, poseB, 0.5, false, &m);
        assert_int_equal(m.count, 1);
    }
}

// The same of cylinders, tilted in the plane of both axes: rims have the gaps of a ruler on a
// line.
static void bothRimsOfCylinders(void** state) {
    (void)state;
    tpRandom random = { 32 };
    tpGeometry a = makeTube(false, 0.3, 0.8), b = makeTube(false, 0.25, 2.0);
    for (int trial = 0; trial < 200; ++trial) {
        double tilt = randomBetween(&random, 0.02, 0.17), gap = randomBetween(&random, -0.01, 0.01);
        tpQuat level = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), 1.5707963267948966);
        tpQuat turn = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), tilt);
        double high = 0.25 + gap + 0.4 * sin(tilt) + 0.3 * cos(tilt);
        tpPose poseA = tpMakePose(tpMakeVec3(randomBetween(&random, -0.3, 0.3), 0.0, high),
                                  tpMulQQ(turn, level));
        Manifold m;
        collide(&a, poseA, &b, tpMakePose(tpZeroVec3(), level), 0.5, true, &m);
        bool hasLow = false, hasHigh = false;
        for (int i = 0; i < m.count; ++i) {
            hasLow = hasLow || fabs(m.points[i].gap - gap) < 1e-9;
            hasHigh = hasHigh || fabs(m.points[i].gap - gap - 0.8 * sin(tilt)) < 1e-9;
        }
        assert_true(hasLow && hasHigh);
    }
}

// How far a point is outside of a shape, by a tiny ball there.
static double outsideOf(const tpGeometry* shape, tpPose pose, tpVec3 point) {
    tpGeometry dot;
    tpError error;
    tpClosest closest;
    tpMakeSphere(&(tpSphere){ 1e-9 }, tpIdentityPose(), &dot, &error);
    tpPose place = tpMakePose(point, tpIdentityQuat());
    assert_int_equal(tpClosestShapes(&dot, place, shape, pose, NULL, &closest), tp_success);
    return closest.distance;
}

typedef struct Shapes {
    tpGeometry a, b;
    tpPose poseA, poseB;
} Shapes;

// Draws in the same order with every compiler.
static tpPose randomPose(tpRandom* random, double reach) {
    tpVec3 place = randomVec3(random, -reach, reach);
    return tpMakePose(place, randomRotation(random));
}

static void makeShapes(tpRandom* random, int kind, Shapes* out) {
    tpGeometry* both[2] = { &out->a, &out->b };
    for (int k = 0; k < 2; ++k) {
        bool isTube = kind < 3;
        tpGeometry mirrored;
        if (isTube) {
            double radius = randomBetween(random, 0.2, 0.5);
            double length = randomBetween(random, 0.4, 1.2);
            *both[k] = makeTube(kind == 0 || (kind == 2 && k == 0), radius, length);
        } else {
            assert_true(makeRandomHull(random, kind == 3 ? roundHull : cloudHull, 8 + 4 * k, 0.6,
                                       both[k], &mirrored));
            tpReleaseGeometry(&mirrored);
        }
    }
    out->poseA = randomPose(random, 0.5);
    out->poseB = randomPose(random, 0.5);
    // Nearly along each other, half of the time.
    if (randomBits(random) % 2 == 0) {
        tpQuat little = tpQuatExp(randomVec3(random, -0.15, 0.15));
        out->poseB.rotation = tpNormalizeQuat(tpMulQQ(little, out->poseA.rotation));
    }
    // Brought to within a few millimetres of touching.
    tpClosest closest;
    for (int k = 0; k < 3; ++k) {
        tpClosestShapes(&out->a, out->poseA, &out->b, out->poseB, NULL, &closest);
        double by = randomBetween(random, -0.004, 0.004) - closest.distance;
        out->poseA.position = tpMulAdd(out->poseA.position, by, closest.normal);
    }
}

static double radiusOf(const tpGeometry* tube) {
    return tube->type == tp_capsuleShape ? tube->capsule.radius : tube->cylinder.radius;
}

// Contacts are no nearer than the distance, one of them is as near, and their points belong to the
// bodies. On round sides normals within a tenth of a radian are taken as one, which moves a point
// that far around them.
static void contactsAreTrue(void** state) {
    (void)state;
    tpRandom random = { 33 };
    int more = 0;
    for (int trial = 0; trial < 1000; ++trial) {
        Shapes s;
        makeShapes(&random, trial % 5, &s);
        tpClosest closest;
        tpResult result = tpClosestShapes(&s.a, s.poseA, &s.b, s.poseB, NULL, &closest);
        Manifold m, plain;
        collide(&s.a, s.poseA, &s.b, s.poseB, 0.05, true, &m);
        collide(&s.a, s.poseA, &s.b, s.poseB, 0.05, false, &plain);
        double least = INFINITY, slack = 1e-6;
        if (trial % 5 < 3) {
            double a = radiusOf(&s.a), b = radiusOf(&s.b), aside = 0.1 * (a + b);
            slack += 0.5 * aside * aside / fmin(a, b);
        }
        for (int i = 0; i < m.count && result == tp_success; ++i) {
            const tpContactPoint* p = &m.points[i];
            least = fmin(least, p->gap);
            assert_true(p->gap <= 0.05 && p->gap >= closest.distance - 2e-5);
            CHECK_NEAR(tpLength(p->normal), 1.0, 1e-9);
            CHECK_NEAR(tpDot(p->normal, tpSub(p->pointA, p->pointB)), p->gap, 1e-9);
            assert_true(outsideOf(&s.a, s.poseA, p->pointA) < slack);
            assert_true(outsideOf(&s.b, s.poseB, p->pointB) < slack);
        }
        if (result == tp_success) {
            CHECK_NEAR(least, closest.distance, 5e-5);
        }
        more += m.count > plain.count ? 1 : 0;
        tpReleaseGeometry(&s.a);
        tpReleaseGeometry(&s.b);
    }
    // It is not in vain.
    assert_true(more > 200);
}

static int compareGaps(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y;
}

static void sortedGaps(const Manifold* m, double* gaps) {
    for (int i = 0; i < m->count; ++i) {
        gaps[i] = m->points[i].gap;
    }
    qsort(gaps, (size_t)m->count, sizeof(double), compareGaps);
}

// The same contacts with the shapes exchanged, and with both moved together. Which end of an edge a
// hull is asked at is left open: in one of some hundred pairs the face there is another one.
static void contactsHaveNoSide(void** state) {
    (void)state;
    tpRandom random = { 34 };
    int odd[2] = { 0, 0 }; // tubes, hulls
    for (int trial = 0; trial < 500; ++trial) {
        Shapes s;
        makeShapes(&random, trial % 5, &s);
        tpPose by = randomPose(&random, 5.0);
        Manifold plain, other[2];
        collide(&s.a, s.poseA, &s.b, s.poseB, 0.05, true, &plain);
        collide(&s.b, s.poseB, &s.a, s.poseA, 0.05, true, &other[0]);
        collide(&s.a, tpComposePoses(by, s.poseA), &s.b, tpComposePoses(by, s.poseB), 0.05, true,
                &other[1]);
        double gaps[3][mostPoints];
        sortedGaps(&plain, gaps[0]);
        for (int k = 0; k < 2; ++k) {
            sortedGaps(&other[k], gaps[1 + k]);
            bool isSame = other[k].count == plain.count;
            for (int i = 0; i < plain.count && isSame; ++i) {
                isSame = fabs(gaps[1 + k][i] - gaps[0][i]) < 1e-6;
            }
            odd[trial % 5 < 3 ? 0 : 1] += isSame ? 0 : 1;
        }
        tpReleaseGeometry(&s.a);
        tpReleaseGeometry(&s.b);
    }
    assert_int_equal(odd[0], 0);
    assert_true(odd[1] <= 4); // of 400
}

// Tubes on tubes, boxes and hulls: a larger margin finds nothing more up to what is said to be
// beyond.
static void marginsLeaveOutWhatIsBeyond(void** state) {
    (void)state;
    tpRandom random = { 35 };
    int farther = 0, asked = 0;
    for (int trial = 0; trial < 600; ++trial) {
        Shapes s;
        makeShapes(&random, trial % 3, &s);
        if (trial % 2 == 0) {
            tpReleaseGeometry(&s.b);
            tpMakeBox(&(tpBox){ { 1.0, 0.8, 0.6 } }, tpIdentityPose(), &s.b, NULL);
            // A tube along a face, tilted a little.
            s.poseA.rotation = tpQuatExp(randomVec3(&random, -0.1, 0.1));
            s.poseA.rotation = tpMulQQ(s.poseA.rotation,
                                       tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0),
                                                           1.5707963267948966 * (trial % 4 / 2)));
            s.poseB = tpMakePose(tpMakeVec3(0.0, 0.0, -2.0), tpIdentityQuat());
            s.poseA.position = tpMakeVec3(0.0, 0.0, 0.0);
            tpClosest closest;
            tpClosestShapes(&s.a, s.poseA, &s.b, s.poseB, NULL, &closest);
            s.poseA.position = tpScale(0.001 - closest.distance, closest.normal);
        }
        Manifold m, more;
        collide(&s.a, s.poseA, &s.b, s.poseB, 0.02, true, &m);
        double beyond = fmin(m.over.beyond, 0.3);
        assert_true(m.count > 0 && beyond >= 0.02);
        collide(&s.a, s.poseA, &s.b, s.poseB, beyond - 1e-9, true, &more);
        assert_int_equal(more.count, m.count);
        farther += beyond > 0.04 ? 1 : 0;
        ++asked;
        tpReleaseGeometry(&s.a);
        tpReleaseGeometry(&s.b);
    }
    assert_true(farther > asked / 4);
}

// Features of the last answer, after a small motion: they say what the search over all features
// says, or nothing.
static void featuresAgreeWithTheSearch(void** state) {
    (void)state;
    tpRandom random = { 36 };
    int known = 0, asked = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        Shapes s;
        makeShapes(&random, 1 + trial % 2, &s);
        if (trial % 3 > 0) {
            tpGeometry mirrored;
            tpReleaseGeometry(&s.a);
            if (trial % 3 == 1) {
                tpMakeBox(&(tpBox){ { 1.0, 0.8, 0.6 } }, tpIdentityPose(), &s.a, NULL);
            } else {
                assert_true(makeRandomHull(&random, roundHull, 12, 0.6, &s.a, &mirrored));
                tpReleaseGeometry(&mirrored);
            }
        }
        tpClosest closest;
        tpPairCache cache;
        memset(&cache, 0, sizeof(cache));
        assert_int_equal(tpClosestShapes(&s.a, s.poseA, &s.b, s.poseB, &cache, &closest),
                         tp_success);
        double by = randomBetween(&random, -0.005, 0.02) - closest.distance;
        s.poseA.position = tpMulAdd(s.poseA.position, by, closest.normal);
        memset(&cache, 0, sizeof(cache));
        if (tpClosestShapes(&s.a, s.poseA, &s.b, s.poseB, &cache, &closest) == tp_success) {
            s.poseB.rotation = tpNormalizeQuat(
                tpMulQQ(tpQuatExp(randomVec3(&random, -0.03, 0.03)), s.poseB.rotation));
            tpPair pair = { &s.a, &s.b, s.poseA, s.poseB, 0.1, true, NULL };
            tpClosest other;
            tpResult result = tpClosestShapes(&s.a, s.poseA, &s.b, s.poseB, NULL, &closest);
            ++asked;
            // Which of two faces is left first is not asked here, only that neither is wrong.
            if (result == tp_success && tpClosestByFeatures(&pair, &cache, &other)) {
                ++known;
                if (closest.distance > 0.0) {
                    CHECK_NEAR(other.distance, closest.distance, 1e-9);
                    CHECK_NEAR(tpDot(other.normal, closest.normal), 1.0, 1e-9);
                } else {
                    assert_true(other.distance <= closest.distance + 1e-9);
                    CHECK_NEAR(gapAlong(&s.a, s.poseA, &s.b, s.poseB, other.normal), other.distance,
                               1e-9);
                }
                CHECK_NEAR(tpDot(other.normal, tpSub(other.pointA, other.pointB)), other.distance,
                           1e-9);
                assert_true(fabs(outsideOf(&s.a, s.poseA, other.pointA)) < 1e-7);
                assert_true(outsideOf(&s.b, s.poseB, other.pointB) < 1e-7);
            }
        }
        tpReleaseGeometry(&s.a);
        tpReleaseGeometry(&s.b);
    }
    // Two thirds are; the others meet in two faces, or have left their features.
    assert_true(known > 2 * asked / 3);
}

// A corner of a hull over the cap of a cylinder, or its rim over a face, is known from the last
// answer after a small motion: it is never looked for again.
static void flatPartsAreRemembered(void** state) {
    (void)state;
    tpRandom random = { 37 };
    int known = 0, asked = 0;
    for (int trial = 0; trial < 600; ++trial) {
        bool isCap = trial % 2 == 0;
        tpGeometry tube = makeTube(false, isCap ? 0.8 : 0.3, 0.6), box;
        double size = isCap ? 0.3 : 2.0;
        assert_int_equal(tpMakeBox(&(tpBox){ { size, size, size } }, tpIdentityPose(), &box, NULL),
                         tp_success);
        tpPose poseA = tpMakePose(tpMakeVec3(0.05, 0.02, isCap ? 1.0 : 1.8), tpIdentityQuat());
        poseA.rotation = tpQuatExp(randomVec3(&random, 0.15, 0.3));
        tpPose poseB = tpMakePose(tpZeroVec3(), tpIdentityQuat());
        tpClosest closest, other;
        tpPairCache cache = { { 0 } };
        // The box is A, as in the table of pairs.
        tpPose first = isCap ? poseA : poseB, second = isCap ? poseB : poseA;
        const tpGeometry *one = &box, *two = &tube;
        assert_int_equal(tpClosestShapes(one, first, two, second, &cache, &closest), tp_success);
        bool isFlat = fabs(closest.normal.z) > 1.0 - 1e-9 && closest.distance > 0.0;
        first.rotation = tpMulQQ(tpQuatExp(randomVec3(&random, -0.01, 0.01)), first.rotation);
        tpPair pair = { one, two, first, second, 2.0, true, NULL };
        assert_int_equal(tpClosestShapes(one, first, two, second, NULL, &closest), tp_success);
        if (isFlat) {
            ++asked;
            if (tpClosestByFeatures(&pair, &cache, &other)) {
                ++known;
                CHECK_NEAR(other.distance, closest.distance, 1e-9);
                CHECK_VEC3(other.normal, closest.normal, 1e-7);
            }
        }
    }
    print_message("%d of %d known\n", known, asked);
    assert_true(asked > 300 && known == asked);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bothEndsOfCapsules),
        cmocka_unit_test(bothRimsOfCylinders),
        cmocka_unit_test(contactsAreTrue),
        cmocka_unit_test(contactsHaveNoSide),
        cmocka_unit_test(marginsLeaveOutWhatIsBeyond),
        cmocka_unit_test(featuresAgreeWithTheSearch),
        cmocka_unit_test(flatPartsAreRemembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
