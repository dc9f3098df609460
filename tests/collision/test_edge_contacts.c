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

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(middleOfTheArc),
                                        cmocka_unit_test(turnsIntoTheFace),
                                        cmocka_unit_test(facesStayFaces),
                                        cmocka_unit_test(flatHullsHaveNone) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
