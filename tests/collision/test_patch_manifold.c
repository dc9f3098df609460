// An outline laid over a facet has the corners of what both cover: points of the one inside the
// other, and where their borders cross. These are found anew here by following the border of the
// outline in small steps.

#include <string.h>

#include "base/constants.h"
#include "collision/patch_manifold.h"
#include "support/check.h"
#include "tippe/collision.h"

enum { mostPoints = 96 };

typedef struct Case {
    tpFacet facet;
    tpOutline outline;
    tpMat33 axes; // of the facet: cz is its normal
    double tilt;  // of the outline against the facet
} Case;

// Corners on an ellipse, counter-clockwise about z.
static int randomPolygon(tpRandom* random, double size, tpVec3* corners) {
    int count = 3 + (int)(randomBits(random) % 5);
    double start = randomBetween(random, 0.0, 6.0), stretch = randomBetween(random, 0.5, 1.5);
    for (int k = 0; k < count; ++k) {
        double angle = start + 6.283185307179586 * (k + randomBetween(random, 0.0, 0.6)) / count;
        corners[k] = tpMakeVec3(size * cos(angle), stretch * size * sin(angle), 0.0);
    }
    return count;
}

static void setRim(tpVec3 center, double radius, tpVec3 e, tpVec3 f, int count, tpVec3* points) {
    for (int k = 0; k < count; ++k) {
        double angle = 0.3 + 6.283185307179586 * k / count;
        points[k] = tpMulAdd(tpMulAdd(center, radius * cos(angle), e), radius * sin(angle), f);
    }
}

static void makeFacet(tpRandom* random, bool isDisc, Case* c) {
    tpVec3 n = tpNormalize(randomVec3(random, -1.0, 1.0)), t, o;
    tpMakeTangents(n, &t, &o);
    c->axes = (tpMat33){ t, o, n };
    c->facet.normal = n;
    c->facet.center = randomVec3(random, -2.0, 2.0);
    c->facet.radius = isDisc ? randomBetween(random, 0.5, 1.5) : 0.0;
    if (isDisc) {
        c->facet.count = 8;
        setRim(c->facet.center, c->facet.radius, t, o, 8, c->facet.corners);
    } else {
        c->facet.count = randomPolygon(random, 1.0, c->facet.corners);
    }
    for (int k = 0; k < c->facet.count; ++k) {
        if (!isDisc) {
            c->facet.corners[k] = tpAdd(c->facet.center, tpMulMV(c->axes, c->facet.corners[k]));
        }
        c->facet.ids[k] = 10 + k;
    }
}

typedef enum Kind { polygonKind, rimKind, segmentKind } Kind;

// Over the facet, seen from it the other way round, and a little tilted.
static void makeOutline(tpRandom* random, Kind kind, Case* c) {
    tpOutline* outline = &c->outline;
    memset(outline, 0, sizeof(*outline));
    tpVec3 shift = tpMakeVec3(randomBetween(random, -1.3, 1.3), randomBetween(random, -1.3, 1.3),
                              randomBetween(random, -0.1, 0.2));
    tpVec3 center = tpAdd(c->facet.center, tpMulMV(c->axes, shift));
    tpVec3 by = tpMakeVec3(randomBetween(random, -1.0, 1.0), randomBetween(random, -1.0, 1.0), 0.0);
    tpQuat turn = tpQuatExp(tpMulMV(c->axes, tpScale(c->tilt, by)));
    tpVec3 e = tpRotate(turn, c->axes.cx), f = tpRotate(turn, tpNeg(c->axes.cy));
    if (kind == rimKind) {
        outline->rimRadius = randomBetween(random, 0.3, 1.5);
        outline->rimCenter = center;
        outline->rimAxis = tpCross(e, f);
        outline->count = 8;
        setRim(center, outline->rimRadius, e, f, 8, outline->points);
    } else {
        outline->count = randomPolygon(random, randomBetween(random, 0.4, 1.4), outline->points);
        for (int k = 0; k < outline->count; ++k) {
            tpVec3 p = outline->points[k];
            outline->points[k] = tpMulAdd(tpMulAdd(center, p.x, e), p.y, f);
        }
        outline->isPolygon = kind == polygonKind;
        if (kind == segmentKind) {
            outline->radius = randomBetween(random, 0.0, 0.1);
            outline->count = 3;
            outline->segmentCount = 2;
            outline->segments[0][1] = 1;
            outline->segments[1][0] = 1;
            outline->segments[1][1] = 2;
        }
    }
    for (int k = 0; k < outline->count; ++k) {
        outline->ids[k] = 20 + k;
    }
}

// How far a point, seen along the normal, is outside of a side of the facet.
static double outside(const tpFacet* facet, int side, tpVec3 p) {
    tpVec3 from = tpSub(p, facet->center);
    from = tpMulAdd(from, -tpDot(from, facet->normal), facet->normal);
    if (facet->radius > 0.0) {
        return tpLength(from) - facet->radius;
    }
    tpVec3 corner = facet->corners[side], next = facet->corners[(side + 1) % facet->count];
    tpVec3 along = tpNormalize(tpSub(next, corner)), r = tpSub(p, corner);
    return -tpDot(facet->normal, tpCross(along, r));
}

static double outsideOfAll(const tpFacet* facet, tpVec3 p) {
    double most = -INFINITY;
    for (int k = 0; k < (facet->radius > 0.0 ? 1 : facet->count); ++k) {
        most = fmax(most, outside(facet, k, p));
    }
    return most;
}

// How far a point below the outline is outside of what it covers; a point of its plane is above it.
static double outsideOfOutline(const Case* c, tpVec3 p, tpVec3* above) {
    const tpOutline* outline = &c->outline;
    tpVec3 n = c->facet.normal, origin = outline->points[0];
    tpVec3 plane =
        tpNormalize(tpCross(tpSub(outline->points[1], origin), tpSub(outline->points[2], origin)));
    *above = tpMulAdd(p, tpDot(tpSub(origin, p), plane) / tpDot(n, plane), n);
    if (outline->rimRadius > 0.0) {
        return tpDistanceBetween(*above, outline->rimCenter) - outline->rimRadius;
    }
    double most = -INFINITY;
    for (int k = 0; k < outline->count; ++k) {
        tpVec3 corner = outline->points[k], next = outline->points[(k + 1) % outline->count];
        tpVec3 side = tpNormalize(tpSub(next, corner));
        most = fmax(most, -tpDot(plane, tpCross(side, tpSub(*above, corner))));
    }
    return most;
}

// A point of the border of the outline.
static tpVec3 borderPoint(const tpOutline* outline, int piece, double t) {
    if (outline->rimRadius > 0.0) {
        tpVec3 e, f, out[1];
        tpMakeTangents(outline->rimAxis, &e, &f);
        double angle = 6.283185307179586 * t;
        out[0] = tpMulAdd(outline->rimCenter, outline->rimRadius * cos(angle), e);
        return tpMulAdd(out[0], outline->rimRadius * sin(angle), f);
    }
    const tpVec3* p = outline->points;
    int from = outline->isPolygon ? piece : outline->segments[piece][0];
    int to = outline->isPolygon ? (piece + 1) % outline->count : outline->segments[piece][1];
    return tpMulAdd(p[from], t, tpSub(p[to], p[from]));
}

typedef struct Points {
    tpVec3 list[mostPoints];
    int count;
    double least; // distance from a border of what decides: below some, chance does
} Points;

static void addPoint(Points* points, tpVec3 p) {
    assert_true(points->count < mostPoints);
    points->list[points->count++] = p;
}

static void addCrossings(const Case* c, Points* expected) {
    const tpOutline* outline = &c->outline;
    int pieces = outline->rimRadius > 0.0 ? 1
                 : outline->isPolygon     ? outline->count
                                          : outline->segmentCount;
    int sides = c->facet.radius > 0.0 ? 1 : c->facet.count;
    // A straight line crosses a side once, a circle twice.
    int stepCount = outline->rimRadius > 0.0 ? 400 : sides == 1 ? 50 : 1;
    for (int piece = 0; piece < pieces; ++piece) {
        for (int side = 0; side < sides; ++side) {
            double last = outside(&c->facet, side, borderPoint(outline, piece, 0.0));
            for (int k = 1; k <= stepCount; ++k) {
                double low = (k - 1.0) / stepCount, high = (double)k / stepCount;
                double now = outside(&c->facet, side, borderPoint(outline, piece, high));
                bool isCrossing = (now > 0.0) != (last > 0.0), isRising = now > 0.0;
                last = now;
                for (int i = 0; isCrossing && i < 60; ++i) {
                    double middle = 0.5 * (low + high);
                    bool isOut =
                        outside(&c->facet, side, borderPoint(outline, piece, middle)) > 0.0;
                    *(isOut == isRising ? &high : &low) = middle;
                }
                tpVec3 p = borderPoint(outline, piece, low);
                double rest = -INFINITY;
                for (int i = 0; i < sides; ++i) {
                    rest = i == side ? rest : fmax(rest, outside(&c->facet, i, p));
                }
                if (isCrossing && rest < 0.0) {
                    addPoint(expected, p);
                }
                expected->least = isCrossing ? fmin(expected->least, fabs(rest)) : expected->least;
            }
        }
    }
}

// The corners of what both cover, at the height of the outline.
static Points cornersOf(const Case* c) {
    Points expected = { .least = INFINITY };
    const tpOutline* outline = &c->outline;
    for (int i = 0; i < outline->count; ++i) {
        double off = outsideOfAll(&c->facet, outline->points[i]);
        expected.least = fmin(expected.least, fabs(off));
        if (off < 0.0) {
            addPoint(&expected, outline->points[i]);
        }
    }
    addCrossings(c, &expected);
    for (int k = 0; outline->segmentCount == 0 && k < c->facet.count; ++k) {
        tpVec3 above;
        double off = outsideOfOutline(c, c->facet.corners[k], &above);
        expected.least = fmin(expected.least, fabs(off));
        if (off < 0.0) {
            addPoint(&expected, above);
        }
    }
    return expected;
}

static bool hasPoint(const Points* points, tpVec3 p, double tolerance) {
    for (int i = 0; i < points->count; ++i) {
        if (tpDistanceBetween(points->list[i], p) <= tolerance) {
            return true;
        }
    }
    return false;
}

// Contacts are at these corners, each as far from the facet as it is, and no others are.
static void compare(const Case* c, const Points* expected, bool isA, double margin,
                    double tolerance) {
    tpContactPoint room[mostPoints];
    tpContactList list = { .points = room, .capacity = mostPoints };
    tpLayOutline(&c->facet, &c->outline, isA, margin, &list);
    assert_in_range(list.count, 0, mostPoints);
    tpVec3 n = c->facet.normal;
    Points found = { .count = 0 };
    for (int i = 0; i < list.count; ++i) {
        const tpContactPoint* contact = &room[i];
        tpVec3 own = isA ? contact->pointA : contact->pointB;
        tpVec3 other = isA ? contact->pointB : contact->pointA;
        CHECK_NEAR(tpDistanceBetween(contact->normal, isA ? n : tpNeg(n)), 0.0, 1e-15);
        CHECK_NEAR(tpDot(n, tpSub(own, c->facet.center)), contact->gap, 1e-12);
        CHECK_NEAR(tpDistanceBetween(other, tpMulAdd(own, -contact->gap, n)), 0.0, 1e-12);
        assert_true(contact->gap <= margin);
        tpVec3 onLine = tpMulAdd(own, c->outline.radius, n);
        addPoint(&found, onLine);
        assert_true(hasPoint(expected, onLine, tolerance));
    }
    for (int i = 0; i < expected->count; ++i) {
        tpVec3 p = expected->list[i];
        double gap = tpDot(n, tpSub(p, c->facet.center)) - c->outline.radius;
        if (gap <= margin - tolerance) {
            assert_true(hasPoint(&found, p, tolerance));
        }
    }
}

static void testCorners(void** state) {
    (void)state;
    tpRandom random = { 91 };
    int total = 0, some = 0;
    for (int n = 0; n < 6 * 60; ++n) {
        static Case c;
        Kind kind = (Kind)(n % 3);
        bool isDisc = n % 2 == 0;
        // Of two discs that are tilted against each other the crossings are near the true ones.
        c.tilt = n / 6 % 3 == 0 ? 0.0 : 0.004;
        makeFacet(&random, isDisc, &c);
        makeOutline(&random, kind, &c);
        Points expected = cornersOf(&c);
        if (expected.least < 1e-4) {
            continue;
        }
        double tolerance = isDisc && kind == rimKind && c.tilt > 0.0 ? 1e-3 : 1e-8;
        compare(&c, &expected, n / 3 % 2 == 0, 1.0, tolerance);
        compare(&c, &expected, n / 3 % 2 == 1, 0.05, tolerance);
        total += 1;
        some += expected.count > 2;
    }
    print_message("%d cases, %d with three corners and more\n", total, some);
    assert_true(total > 300 && some > 150);
}

// Over a plane every point of an outline is.
static void testPlane(void** state) {
    (void)state;
    tpRandom random = { 92 };
    for (int n = 0; n < 60; ++n) {
        static Case c;
        c.tilt = 0.2;
        makeFacet(&random, true, &c);
        makeOutline(&random, (Kind)(n % 3), &c);
        c.facet.radius = INFINITY;
        c.facet.count = 0;
        Points expected = { .count = 0 };
        for (int i = 0; i < c.outline.count; ++i) {
            addPoint(&expected, c.outline.points[i]);
        }
        compare(&c, &expected, n % 2 == 0, 0.1, 1e-12);
    }
}

// Prisms on each other ----------------------------------------------------------------------------

// A prism of height 1 over a polygon of the plane z = 0, counter-clockwise, on the side `up`.
static tpGeometry makePrism(const tpVec3* polygon, int count, double up) {
    tpVec3 points[2 * 8];
    for (int k = 0; k < count; ++k) {
        points[2 * k] = polygon[k];
        points[2 * k + 1] = tpMakeVec3(polygon[k].x, polygon[k].y, up);
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry prism;
    assert_int_equal(tpMakeHull(&allocator, points, 2 * count, tpIdentityPose(), &prism, NULL),
                     tp_success);
    return prism;
}

static tpGeometry makeBoxOn(tpVec3 size, double up) {
    tpGeometry box;
    tpPose pose = tpMakePose(tpMakeVec3(0.0, 0.0, 0.5 * up), tpIdentityQuat());
    assert_int_equal(tpMakeBox(&(tpBox){ size }, pose, &box, NULL), tp_success);
    return box;
}

// A face of a body that stands on z = 0 or hangs below it: a rectangle is that of a box.
static tpGeometry makeStanding(tpRandom* random, bool isBox, double up, tpVec3* polygon,
                               int* count) {
    if (!isBox) {
        *count = randomPolygon(random, randomBetween(random, 0.6, 1.2), polygon);
        return makePrism(polygon, *count, up);
    }
    tpVec3 size = tpMakeVec3(randomBetween(random, 0.5, 2.0), randomBetween(random, 0.5, 2.0), 1.0);
    *count = 4;
    for (int k = 0; k < 4; ++k) {
        polygon[k] = tpMakeVec3(k == 0 || k == 3 ? -0.5 * size.x : 0.5 * size.x,
                                k < 2 ? -0.5 * size.y : 0.5 * size.y, 0.0);
    }
    return makeBoxOn(size, up);
}

// Bodies with flat faces that lie on each other touch in the corners of what the faces share, in
// either order, whichever way they are collided: boxes by their own, others as polyhedra.
static void testPrisms(void** state) {
    (void)state;
    tpRandom random = { 93 };
    int total = 0, others = 0, leaning = 0; // on an edge, which has a contact of its own
    for (int n = 0; n < 6000; ++n) {
        static Case c;
        memset(&c, 0, sizeof(c));
        c.tilt = n % 3 == 0 ? 0.0 : n % 3 == 1 ? 0.002 : 0.015;
        tpVec3 polygons[2][8];
        int counts[2];
        tpGeometry lower = makeStanding(&random, n % 2 == 0, -1.0, polygons[0], &counts[0]);
        tpGeometry upper = makeStanding(&random, n / 2 % 2 == 0, 1.0, polygons[1], &counts[1]);
        tpPose base = tpMakePose(randomVec3(&random, -2.0, 2.0), randomRotation(&random));
        double angle = n % 5 == 0 ? 0.0 : randomBetween(&random, -3.0, 3.0);
        tpVec3 shift =
            tpMakeVec3(randomBetween(&random, -1.0, 1.0), randomBetween(&random, -1.0, 1.0),
                       randomBetween(&random, -0.01, 0.03));
        tpQuat tilt =
            tpQuatExp(tpScale(c.tilt, tpMakeVec3(randomBetween(&random, -1.0, 1.0),
                                                 randomBetween(&random, -1.0, 1.0), 0.0)));
        tpQuat turn = tpMulQQ(tilt, tpQuatExp(tpMakeVec3(0.0, 0.0, angle)));
        tpPose top = tpMakePose(tpTransformPoint(base, shift), tpMulQQ(base.rotation, turn));
        c.facet = (tpFacet){ .normal = tpRotate(base.rotation, tpMakeVec3(0.0, 0.0, 1.0)),
                             .center = base.position,
                             .count = counts[0] };
        c.outline.count = counts[1];
        c.outline.isPolygon = true;
        for (int k = 0; k < counts[0]; ++k) {
            c.facet.corners[k] = tpTransformPoint(base, polygons[0][k]);
        }
        for (int k = 0; k < counts[1]; ++k) { // seen from below
            c.outline.points[k] = tpTransformPoint(top, polygons[1][counts[1] - 1 - k]);
        }
        Points expected = cornersOf(&c), found = { .count = 0 };
        tpContactPoint room[mostPoints];
        tpContactList list = { .points = room, .capacity = mostPoints };
        bool isA = n / 4 % 2 == 0;
        if (isA) {
            tpCollide(&upper, top, &lower, base, 0.15, NULL, &list);
        } else {
            tpCollide(&lower, base, &upper, top, 0.15, NULL, &list);
        }
        assert_in_range(list.count, 0, mostPoints);
        // Faces that share little touch along a side, and corners that hardly do at all.
        tpClosest closest;
        tpClosestPoints(&upper, top, &lower, base, NULL, &closest);
        tpVec3 under = tpRotate(top.rotation, tpMakeVec3(0.0, 0.0, 1.0));
        double cosine = fmax(tpDot(closest.normal, c.facet.normal), tpDot(closest.normal, under));
        bool isOnFace = cosine > TP_FACE_COSINE + 1e-6;
        if (expected.least < 0.02 || expected.count < 3 || !isOnFace) {
            others += expected.least >= 0.02 && expected.count >= 3;
            tpReleaseGeometry(&lower);
            tpReleaseGeometry(&upper);
            continue;
        }
        double tolerance = c.tilt > 0.0 ? 0.01 : 1e-9;
        for (int i = 0; i < list.count; ++i) {
            tpVec3 p = isA ? room[i].pointA : room[i].pointB;
            tpVec3 q = isA ? room[i].pointB : room[i].pointA;
            CHECK_NEAR(tpDot(room[i].normal, tpSub(room[i].pointA, room[i].pointB)), room[i].gap,
                       1e-12);
            CHECK_NEAR(tpDot(c.facet.normal, tpSub(q, base.position)), 0.0,
                       c.tilt > 0.0 ? 0.05 * c.tilt : 1e-12);
            assert_true(hasPoint(&expected, p, tolerance));
            addPoint(&found, p);
        }
        bool isWhole = true;
        for (int i = 0; i < expected.count; ++i) {
            isWhole = isWhole && hasPoint(&found, expected.list[i], tolerance);
        }
        leaning += isWhole ? 0 : 1;
        total += 1;
        tpReleaseGeometry(&lower);
        tpReleaseGeometry(&upper);
    }
    print_message("%d pairs on faces, %d others, %d lean on edges\n", total, others, leaning);
    assert_true(leaning <= 4);
    assert_true(total > 3000 && others < total / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testCorners),
        cmocka_unit_test(testPlane),
        cmocka_unit_test(testPrisms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
