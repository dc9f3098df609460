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

// One of the 24 turns that leave a cube as it is.
static tpQuat symmetryOfBox(int number) {
    const double quarter = acos(0.0);
    const tpVec3 axes[3] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 }, { 0.0, 0.0, 1.0 } };
    int face = number / 4;
    tpQuat up = face < 4 ? tpQuatFromAxisAngle(axes[0], face * quarter)
                         : tpQuatFromAxisAngle(axes[1], face == 4 ? quarter : -quarter);
    return tpMulQQ(up, tpQuatFromAxisAngle(axes[2], number % 4 * quarter));
}

// Edges that are moved along each other touch from where the later begins to where the earlier
// ends, whichever edges of the two boxes they are and whichever way these go.
static void edgesShareTheirOverlap(void** state) {
    (void)state;
    tpGeometry shapes[2] = { makeBox(), makePrism() };
    for (int n = 0; n < 4 * 24 * 24; ++n) {
        const tpGeometry *a = &shapes[n % 2], *b = &shapes[n / 2 % 2];
        tpPose left = leaning(0.3, 1.0, 0.0, 0.0), right = leaning(0.2, -1.0, 0.0, 0.0);
        double along = -0.8 + 1.6 * (n * 7 % 97) / 97.0;
        left.position.y += along;
        left.rotation = tpMulQQ(left.rotation, symmetryOfBox(n / 4 % 24));
        right.rotation = tpMulQQ(right.rotation, symmetryOfBox(n / 96));
        Contacts c = collide(a, left, b, right);
        assert_int_equal(c.count, 2);
        double y[2] = { c.points[0].pointA.y, c.points[1].pointA.y };
        CHECK_NEAR(fmin(y[0], y[1]), fmax(-0.5, along - 0.5), 1e-9);
        CHECK_NEAR(fmax(y[0], y[1]), fmin(0.5, along + 0.5), 1e-9);
        for (int k = 0; k < 2; ++k) {
            CHECK_NEAR(c.points[k].pointA.x, 0.0, 1e-9);
            CHECK_NEAR(c.points[k].pointA.z, 0.0, 1e-9);
            CHECK_NEAR(c.points[k].gap, 0.0, 1e-9);
        }
    }
    tpReleaseGeometry(&shapes[1]);
}

// Two boxes that lean to each other by any two angles, the one near the other's edge in any
// direction: the nearest contact is as near as the boxes are, exchanging the boxes turns the
// normals around and changes nothing else, and normals do not jump.
static void nearTheEdge(void** state) {
    (void)state;
    tpGeometry box = makeBox();
    const double rounding = tpEdgeRounding(0.5, 0.5);
    tpRandom random = { 61 };
    double worst = 0.0, jump = 0.0;
    for (int trial = 0; trial < 4000; ++trial) {
        double angles[2] = { randomBetween(&random, 0.05, 0.7), randomBetween(&random, 0.05, 0.7) };
        double x = rounding * randomBetween(&random, trial % 2 == 0 ? -3.0 : -12.0, 0.03);
        double z = rounding * randomBetween(&random, -6.0, 6.0);
        tpPose left = leaning(angles[0], -1.0, 0.0, 0.0);
        tpPose right = leaning(angles[1], 1.0, x, z);
        Contacts c = collide(&box, right, &box, left), swapped = collide(&box, left, &box, right);
        tpClosest closest;
        tpClosestPoints(&box, right, &box, left, NULL, &closest);
        if (closest.distance > 0.009) {
            continue; // beyond the margin
        }
        assert_true(c.count >= 2 && c.count == swapped.count);
        double least = INFINITY, other = INFINITY;
        for (int i = 0; i < c.count; ++i) {
            least = fmin(least, c.points[i].gap);
            other = fmin(other, swapped.points[i].gap);
        }
        worst = fmax(worst, fabs(least - closest.distance) / rounding);
        CHECK_NEAR(other, least, 1e-12);
        CHECK_VEC3(swapped.points[0].normal, tpNeg(c.points[0].normal), 1e-9);
        // The same with any of the twelve edges of a box.
        tpPose turned = right;
        turned.rotation = tpMulQQ(right.rotation, symmetryOfBox((int)(randomBits(&random) % 24)));
        Contacts same = collide(&box, turned, &box, left);
        assert_int_equal(same.count, c.count);
        CHECK_VEC3(same.points[0].normal, c.points[0].normal, 1e-9);
        turned = left;
        turned.rotation = tpMulQQ(left.rotation, symmetryOfBox((int)(randomBits(&random) % 24)));
        same = collide(&box, right, &box, turned);
        assert_int_equal(same.count, c.count);
        CHECK_VEC3(same.points[0].normal, c.points[0].normal, 1e-9);
        right.position.z += 1e-3 * rounding;
        Contacts next = collide(&box, right, &box, left);
        jump = fmax(jump, tpDistanceBetween(next.points[0].normal, c.points[0].normal));
    }
    print_message("gaps off by %.1e of the rounding, normals jump by %.1e\n", worst, jump);
    CHECK_BELOW(worst, 1e-11);
    CHECK_BELOW(jump, 0.01);
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

// Overlaps of faces -------------------------------------------------------------------------------

typedef struct Polygon {
    double x[16], y[16];
    int count;
} Polygon;

// What of a polygon is on the side n . p <= 1/2.
static Polygon cut(const Polygon* in, double nx, double ny) {
    Polygon out = { .count = 0 };
    for (int i = 0; i < in->count; ++i) {
        int j = (i + 1) % in->count;
        double s = nx * in->x[i] + ny * in->y[i] - 0.5, t = nx * in->x[j] + ny * in->y[j] - 0.5;
        if (s <= 0.0) {
            out.x[out.count] = in->x[i];
            out.y[out.count++] = in->y[i];
        }
        if ((s < 0.0 && t > 0.0) || (s > 0.0 && t < 0.0)) {
            out.x[out.count] = in->x[i] + s / (s - t) * (in->x[j] - in->x[i]);
            out.y[out.count++] = in->y[i] + s / (s - t) * (in->y[j] - in->y[i]);
        }
    }
    return out;
}

static double areaOf(const Polygon* p) {
    double twice = 0.0;
    for (int i = 0; i < p->count; ++i) {
        int j = (i + 1) % p->count;
        twice += p->x[i] * p->y[j] - p->x[j] * p->y[i];
    }
    return 0.5 * fabs(twice);
}

// Points of a convex polygon in any order, put around their middle.
static void putAround(Polygon* p) {
    double mx = 0.0, my = 0.0;
    for (int i = 0; i < p->count; ++i) {
        mx += p->x[i] / p->count;
        my += p->y[i] / p->count;
    }
    for (int i = 1; i < p->count; ++i) {
        for (int j = i; j > 0; --j) {
            double before = atan2(p->y[j - 1] - my, p->x[j - 1] - mx);
            if (before <= atan2(p->y[j] - my, p->x[j] - mx)) {
                break;
            }
            double x = p->x[j], y = p->y[j];
            p->x[j] = p->x[j - 1], p->y[j] = p->y[j - 1];
            p->x[j - 1] = x, p->y[j - 1] = y;
        }
    }
}

// A box on a box, turned by any part of a turn and moved by eighths, so that corners lie on edges
// and edges on each other: contacts are the corners of what the two squares share, each with a name
// of its own.
static void facesShareTheirOverlap(void** state) {
    (void)state;
    tpGeometry box = makeBox();
    for (int k = 0; k < 24 * 81; ++k) {
        double angle = acos(-1.0) / 12.0 * (k / 81), x = (k % 9) / 8.0, y = (k / 9 % 9) / 8.0 - 0.5;
        tpQuat turn = tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), angle);
        double c = cos(angle), s = sin(angle);
        Polygon square = { .count = 4 };
        for (int i = 0; i < 4; ++i) {
            double u = i == 0 || i == 3 ? 0.5 : -0.5, v = i < 2 ? 0.5 : -0.5;
            square.x[i] = x + c * u - s * v;
            square.y[i] = y + s * u + c * v;
        }
        Polygon shared = cut(&square, 1.0, 0.0);
        shared = cut(&shared, -1.0, 0.0);
        shared = cut(&shared, 0.0, 1.0);
        shared = cut(&shared, 0.0, -1.0);
        double area = areaOf(&shared);
        if (area < 1e-3) {
            continue;
        }
        for (int isSwapped = 0; isSwapped < 2; ++isSwapped) {
            tpPose above = tpMakePose(tpMakeVec3(x, y, 1.0), turn);
            Contacts found = isSwapped ? collide(&box, tpIdentityPose(), &box, above)
                                       : collide(&box, above, &box, tpIdentityPose());
            assert_in_range(found.count, 3, 8);
            Polygon p = { .count = found.count };
            for (int i = 0; i < found.count; ++i) {
                p.x[i] = found.points[i].pointA.x;
                p.y[i] = found.points[i].pointA.y;
                CHECK_NEAR(found.points[i].gap, 0.0, 1e-12);
                CHECK_NEAR(fabs(found.points[i].normal.z), 1.0, 1e-12);
                assert_true(i == 0 || found.points[i].feature > found.points[i - 1].feature);
            }
            putAround(&p);
            CHECK_NEAR(areaOf(&p), area, 1e-6);
        }
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
    assert_false(tpCollideEdges(&d, tpIdentityPose(), tpMakeVec3(0.0, 0.0, 1.0), 0.0,
                                tpDifference_Corner(&d, 0, 0), 0.1, &list));
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

// A wedge that stands on its sharp edge on a plane: no face of it looks down, but both ends of the
// edge touch as long as it is level to 1 in 50; a steeper one touches with its lower end alone.
static void wedgeOnAPlane(void** state) {
    (void)state;
    const double section[3][2] = { { 0.0, 0.0 }, { 0.05, 0.5 }, { -0.05, 0.5 } }, length = 0.2;
    const double tilts[7] = { 0.0, 0.004, -0.004, 0.0199, -0.0199, 0.021, -0.021 };
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry wedge, plane;
    tpMakePrism(&allocator, section, 3, length, tpIdentityPose(), &wedge, NULL);
    tpMakePlane(&(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, tpIdentityPose(), &plane, NULL);
    for (int k = 0; k < 28; ++k) {
        double tilt = tilts[k % 7], turn = 0.8 * (k / 7);
        // The section's second axis upwards, the edge along x, then tilted and turned.
        tpQuat upright = tpMulQQ(tpQuatExp(tpMakeVec3(0.0, 0.0, 1.5707963267948966)),
                                 tpQuatExp(tpMakeVec3(1.5707963267948966, 0.0, 0.0)));
        tpQuat leaning = tpMulQQ(tpQuatExp(tpMakeVec3(0.0, tilt, 0.0)), upright);
        tpPose pose = { tpMakeVec3(0.3, -0.2, 0.001 + 0.5 * length * sin(fabs(tilt))),
                        tpMulQQ(tpQuatExp(tpMakeVec3(0.0, 0.0, turn)), leaning) };
        Contacts c = collide(&wedge, pose, &plane, tpIdentityPose());
        bool isLevel = fabs(tilt) < 0.02;
        assert_int_equal(c.count, isLevel ? 2 : 1);
        double low = c.points[0].gap, high = c.points[c.count - 1].gap;
        CHECK_NEAR(fmin(low, high), 0.001, 1e-12);
        if (isLevel) {
            CHECK_NEAR(fmax(low, high), 0.001 + length * sin(fabs(tilt)), 1e-12);
            tpVec3 span = tpSub(c.points[1].pointA, c.points[0].pointA);
            CHECK_NEAR(tpLength(span), length, 1e-12);
        }
    }
    tpReleaseGeometry(&wedge);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(wedgeOnAPlane),
                                        cmocka_unit_test(middleOfTheArc),
                                        cmocka_unit_test(turnsIntoTheFace),
                                        cmocka_unit_test(edgesShareTheirOverlap),
                                        cmocka_unit_test(nearTheEdge),
                                        cmocka_unit_test(facesStayFaces),
                                        cmocka_unit_test(facesShareTheirOverlap),
                                        cmocka_unit_test(flatHullsHaveNone),
                                        cmocka_unit_test(edgesAcrossAreFinite) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
