// Edge on edge: the middle of the arc of directions that part two wedges, and what it turns into
// away from the edge.

#include "collision/edge_contacts.h"
#include "geometry/small_hull.h"
#include "support/check.h"

#include "tippe/collision.h"

enum { maxContacts = 16 };

typedef struct Contacts {
    tpContactPoint points[maxContacts];
    int count;
} Contacts;

static tpGeometry makeBox(void) {
    tpGeometry g;
    tpMakeBox(&(tpBox){ { 1.0, 1.0, 1.0 } }, tpIdentityPose(), &g, NULL);
    return g;
}

static tpGeometry makePrism(void) {
    double square[4][2] = { { 0.5, 0.5 }, { -0.5, 0.5 }, { -0.5, -0.5 }, { 0.5, -0.5 } };
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry g;
    tpMakePrism(&allocator, (const double(*)[2])square, 4, 1.0, tpIdentityPose(), &g, NULL);
    return g;
}

static Contacts collide(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB) {
    Contacts c;
    tpContactList list = { c.points, 0, maxContacts };
    assert_int_equal(tpCollide(a, poseA, b, poseB, 0.01, NULL, &list), tp_success);
    c.count = list.count;
    return c;
}

// The upper edges of two boxes that lean to each other by `angle`, their centres moved by `x`, `z`.
static tpPose leaning(double angle, double side, double x, double z) {
    tpVec3 edge = tpMakeVec3(-0.5 * side, 0.0, 0.5);
    tpQuat turn = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), -side * angle);
    tpVec3 position = tpNeg(tpRotate(turn, edge));
    return tpMakePose(tpAdd(position, tpMakeVec3(x, 0.0, z)), turn);
}

static void middleOfTheArc(void** state) {
    (void)state;
    tpGeometry shapes[2] = { makeBox(), makePrism() };
    for (int k = 0; k < 4; ++k) {
        const tpGeometry *a = &shapes[k % 2], *b = &shapes[k / 2];
        for (double angle = 0.05; angle < 0.7; angle += 0.1) {
            // Touching, overlapping and apart by rounding, in any direction: always horizontal.
            const double shifts[5][2] = {
                { 0.0, 0.0 }, { 1e-12, 0.0 }, { -1e-9, 1e-9 }, { 1e-13, -1e-12 }, { -1e-3, 0.0 }
            };
            for (int i = 0; i < 5; ++i) {
                Contacts c = collide(a, leaning(angle, 1.0, shifts[i][0], shifts[i][1]), b,
                                     leaning(angle, -1.0, 0.0, 0.0));
                assert_int_equal(c.count, 2);
                for (int n = 0; n < 2; ++n) {
                    CHECK_VEC3(c.points[n].normal, tpMakeVec3(1.0, 0.0, 0.0), 1e-6);
                    CHECK_NEAR(fabs(c.points[n].pointA.y), 0.5, 1e-9);
                }
            }
        }
    }
    tpReleaseGeometry(&shapes[1]);
}

// Up along the other box's face the normal turns from the middle to the face's, without a jump, and
// the gap stays that of the face.
static void turnsIntoTheFace(void** state) {
    (void)state;
    tpGeometry box = makeBox();
    const double angle = 0.3;
    tpPose right = leaning(angle, -1.0, 0.0, 0.0);
    tpVec3 face = tpRotate(right.rotation, tpMakeVec3(1.0, 0.0, 0.0));
    tpVec3 down = tpRotate(right.rotation, tpMakeVec3(0.0, 0.0, -1.0));
    tpVec3 last = tpMakeVec3(1.0, 0.0, 0.0);
    for (int i = 0; i <= 400; ++i) {
        tpVec3 shift = tpScale(1e-4 * i, down);
        Contacts c = collide(&box, leaning(angle, 1.0, shift.x, shift.z), &box, right);
        assert_true(c.count >= 2);
        double least = fmin(c.points[0].gap, c.points[1].gap);
        CHECK_NEAR(least, 0.0, 1e-12);
        CHECK_BELOW(tpDistanceBetween(c.points[0].normal, last), 0.01);
        last = c.points[0].normal;
    }
    CHECK_VEC3(last, face, 1e-12);
}

// Neighbours of a flat stack are left alone: four corners with the normal of the face.
static void facesStayFaces(void** state) {
    (void)state;
    tpGeometry box = makeBox();
    for (int i = 0; i < 3; ++i) {
        tpPose above = tpMakePose(tpMakeVec3(0.3 * i, 0.0, 1.0), tpIdentityQuat());
        Contacts c = collide(&box, above, &box, tpIdentityPose());
        assert_int_equal(c.count, 4);
        CHECK_VEC3(c.points[0].normal, tpMakeVec3(0.0, 0.0, 1.0), 0.0);
    }
}

// A triangle is flat: it has no rounding, and no edge contacts.
static void flatHullsHaveNone(void** state) {
    (void)state;
    CHECK_NEAR(tpEdgeRounding(0.0, 1.0), 0.0, 0.0);
    tpSmallHull triangle;
    const tpVec3 corners[3] = { { 0.0, 0.0, 0.0 }, { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 } };
    tpFillTriangle(&triangle, corners, tpMakeVec3(0.0, 0.0, 1.0));
    tpBoxHull box;
    tpFillBoxHull(&box, tpMakeVec3(1.0, 1.0, 1.0));
    tpDifference d =
        tpMakeDifference(&box.hull, tpMakePose(tpMakeVec3(0.0, 0.5, 0.5), tpIdentityQuat()),
                         &triangle.hull, tpIdentityPose());
    tpContactPoint points[4];
    tpContactList list = { points, 0, 4 };
    assert_false(tpCollideEdges(&d, tpIdentityPose(), tpMakeVec3(0.0, 0.0, 1.0), 0.0, 0.1, &list));
    assert_int_equal(list.count, 0);
}

// Points of two hulls, in sixteenths: an edge of the one lies across an edge of the other, at one
// place along it.
static const signed char acrossA[][3] = { { 0, 0, 0 },  { 0, 0, 40 },  { 0, 1, -121 }, { 0, 4, 2 },
                                          { 1, 0, 0 },  { 4, 0, 0 },   { 32, 0, 87 },  { 72, 4, 0 },
                                          { 87, 0, 1 }, { 87, 87, 87 } };
static const signed char acrossB[][3] = { { -1, -1, -1 }, { 0, -1, -1 }, { 0, 0, 0 },
                                          { 0, 0, 32 },   { 0, 32, 88 }, { 1, 1, 9 },
                                          { 32, 1, 1 },   { 88, 0, 4 },  { 88, 88, 88 } };

static tpGeometry makeHullOf(const signed char (*points)[3], int count) {
    tpVec3 places[64];
    for (int i = 0; i < count; ++i) {
        places[i] = tpMakeVec3(points[i][0] / 16.0, points[i][1] / 16.0, points[i][2] / 16.0);
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry g;
    assert_int_equal(tpMakeHull(&allocator, places, count, tpIdentityPose(), &g, NULL), tp_success);
    return g;
}

static void edgesAcrossAreFinite(void** state) {
    (void)state;
    tpGeometry a = makeHullOf(acrossA, (int)(sizeof(acrossA) / sizeof(acrossA[0])));
    tpGeometry b = makeHullOf(acrossB, (int)(sizeof(acrossB) / sizeof(acrossB[0])));
    tpPose pose = tpMakePose(tpMakeVec3(0 / 16.0, 0 / 16.0, 40 / 16.0),
                             tpNormalizeQuat(tpMakeQuat(0, 0, 0, 96)));
    Contacts c = collide(&a, pose, &b, tpIdentityPose());
    assert_true(c.count > 0);
    for (int i = 0; i < c.count; ++i) {
        assert_true(c.points[i].gap <= 0.01);
        assert_true(tpIsFiniteVec3(c.points[i].pointA) && tpIsFiniteVec3(c.points[i].pointB));
    }
    tpReleaseGeometry(&b);
    tpReleaseGeometry(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(middleOfTheArc),
                                        cmocka_unit_test(turnsIntoTheFace),
                                        cmocka_unit_test(facesStayFaces),
                                        cmocka_unit_test(flatHullsHaveNone),
                                        cmocka_unit_test(edgesAcrossAreFinite) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
