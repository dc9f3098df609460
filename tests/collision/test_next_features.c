// What a pair says of the features that have no contact, against all corners of both shapes.

#include "collision/next_features.h"

#include "collision/random_shapes.h"

enum { typeCount = 4 };
static const tpShapeType types[typeCount] = { tp_sphereShape, tp_capsuleShape, tp_boxShape,
                                              tp_prismShape };

typedef struct Corners {
    const tpHull* core;
    tpCoreStorage storage;
    double radius, lowest; // along `towards`
    tpPose pose;
    tpVec3 towards;
} Corners;

static double heightOf(const Corners* c, int i) {
    return -tpDot(c->towards, tpTransformPoint(c->pose, c->core->vertices[i]));
}

static void openCorners(const tpGeometry* geometry, tpPose pose, tpVec3 towards, Corners* c) {
    c->core = tpGeometry_Core(geometry, &c->storage, &c->radius);
    assert_non_null(c->core);
    c->pose = pose;
    c->towards = towards;
    c->lowest = INFINITY;
    for (int i = 0; i < c->core->vertexCount; ++i) {
        c->lowest = fmin(c->lowest, heightOf(c, i));
    }
}

// Two corners are `gap` and how much higher both are than the lowest ones apart along the normal.
// All pairs of corners but those of the lowest features are beyond what was said, and it is said as
// exactly as one of them is.
static void checkCorners(const Corners* a, const Corners* b, double gap, double beyond) {
    double least = INFINITY;
    for (int i = 0; i < a->core->vertexCount; ++i) {
        for (int k = 0; k < b->core->vertexCount; ++k) {
            double upA = heightOf(a, i) - a->lowest, upB = heightOf(b, k) - b->lowest;
            if (upA > 1e-4 || upB > 1e-4) {
                least = fmin(least, gap + upA + upB);
            }
        }
    }
    if (isinf(least)) {
        return; // a ball, or a level line across another
    }
    CHECK_BELOW(beyond, fmax(least, gap) + 1e-5);
    // A corner within 1e-4 of the lowest may be one of its own.
    assert_true(beyond > least - 2e-4 || beyond < gap + 2e-4);
}

// A ball over a face: all corners of the other shape are below the plane, and within the room below
// the ball is the face.
static void checkPlane(const tpOverFace* over, const tpGeometry* flat, tpPose pose,
                       const tpContactPoint* point, tpVec3 up) {
    Corners c;
    openCorners(flat, pose, up, &c);
    tpVec3 on = over->isA ? point->pointA : point->pointB, t, o;
    CHECK_NEAR(-c.lowest + c.radius, tpDot(up, on), 1e-6);
    assert_true(isinf(over->beyond));
    tpMakeTangents(up, &t, &o);
    for (int k = 0; k < 16; ++k) {
        double angle = 0.4 * k, room = 0.999 * over->room;
        tpVec3 aside = tpAdd(tpScale(room * cos(angle), t), tpScale(room * sin(angle), o));
        tpVec3 inside = tpUntransformPoint(pose, tpSub(tpAdd(on, aside), tpScale(1e-6, up)));
        for (int f = 0; f < c.core->faceCount; ++f) {
            CHECK_BELOW(tpDot(c.core->normals[f], inside), c.core->offsets[f] + 1e-6);
        }
    }
}

static void testNextFeatures(void** state) {
    (void)state;
    tpRandom random = { 99 };
    int edges = 0, planes = 0, planesOf[typeCount][typeCount] = { { 0 } };
    for (int n = 0; n < 20000; ++n) {
        tpGeometry a = randomShape(&random, types[n % typeCount], &ordinaryShapes);
        tpGeometry b = randomShape(&random, types[n / typeCount % typeCount], &ordinaryShapes);
        tpPose poseA = tpMakePose(randomVec3(&random, -1.0, 1.0), randomRotation(&random));
        tpPose poseB = tpMakePose(randomVec3(&random, -1.0, 1.0), randomRotation(&random));
        tpClosest closest;
        tpClosestShapes(&a, poseA, &b, poseB, NULL, &closest);
        double gap = randomBetween(&random, 0.001, 0.05);
        poseA.position = tpMulAdd(poseA.position, gap - closest.distance, closest.normal);
        tpContactPoint points[64];
        tpContactList list = { points, 0, 64 };
        tpOverFace over;
        tpPairCache cache = { { 0 } };
        tpCollideShapes(&a, poseA, &b, poseB, 0.06, false, &cache, &list, &over);
        if (list.count == 1 && over.isPlane && over.room > 0.0) {
            tpVec3 up = over.isA ? tpNeg(points[0].normal) : points[0].normal;
            checkPlane(&over, over.isA ? &a : &b, over.isA ? poseA : poseB, &points[0], up);
            planes += 1;
            planesOf[n % typeCount][n / typeCount % typeCount] += 1;
        } else if (list.count == 1 && over.isAlong && !over.isPlane) {
            Corners ofA, ofB;
            openCorners(&a, poseA, tpNeg(points[0].normal), &ofA);
            openCorners(&b, poseB, points[0].normal, &ofB);
            checkCorners(&ofA, &ofB, points[0].gap, over.beyond);
            edges += 1;
        }
        tpReleaseGeometry(&a);
        tpReleaseGeometry(&b);
    }
    print_message("%d of edges and corners, %d of balls over faces\n", edges, planes);
    assert_true(edges > 2000 && planes > 200);
    // Balls, whichever comes first, over boxes and over prisms.
    for (int k = 2; k < typeCount; ++k) {
        print_message("over a %s: %d and %d\n", tpShapeTypeName(types[k]), planesOf[0][k],
                      planesOf[k][0]);
        assert_true(planesOf[0][k] > 20 && planesOf[k][0] > 20);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testNextFeatures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
