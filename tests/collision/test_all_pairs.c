// Every pair of types of shapes in random positions: what holds for all of them.
//
// Distances do not depend on the order of the bodies, points and normal fit the distance, the
// nearest contact has the distance for its gap, and there are contacts exactly when the distance is
// within the margin.

#include "random_hulls.h"

#include "tippe/collision.h"

enum { shapeCount = 14, maxContacts = 512, triesPerPair = 60 };

static void makeShapes(tpGeometry shapes[shapeCount]) {
    tpAllocator allocator = tpDefaultAllocator();
    tpPose id = tpIdentityPose();
    tpVec3 z = { 0.0, 0.0, 1.0 };
    double polygon[5][2] = {
        { 0.5, 0.0 }, { 0.2, 0.5 }, { -0.4, 0.3 }, { -0.4, -0.3 }, { 0.2, -0.5 }
    };
    tpRandom random = { 4 };
    tpGeometry mirrored;
    tpResult r = tpMakeSphere(&(tpSphere){ 0.5 }, id, &shapes[0], NULL);
    r |= tpMakeBox(&(tpBox){ { 1.0, 0.7, 0.5 } }, id, &shapes[1], NULL);
    r |= tpMakeCapsule(&(tpCapsule){ 0.3, 0.8, z }, id, &shapes[2], NULL);
    r |= tpMakeCylinder(&(tpCylinder){ 0.4, 0.9, z }, id, &shapes[3], NULL);
    r |= tpMakeCone(&(tpCone){ 0.5, 0.9, z }, id, &shapes[4], NULL);
    r |= tpMakePrism(&allocator, (const double(*)[2])polygon, 5, 0.6, id, &shapes[5], NULL);
    r |= tpMakeEllipsoid(&(tpEllipsoid){ { 0.5, 0.4, 0.7 } }, id, &shapes[6], NULL);
    r |= tpMakeSuperellipsoid(&(tpSuperellipsoid){ { 0.5, 0.4, 0.6 }, { 0.6, 0.8 } }, id,
                              &shapes[7], NULL);
    assert_true(makeRandomHull(&random, roundHull, 24, 0.6, &shapes[8], &mirrored));
    tpReleaseGeometry(&mirrored);
    // A tetrahedron as a mesh.
    tpVec3 corners[4] = {
        { 0.6, 0.6, 0.6 }, { 0.6, -0.6, -0.6 }, { -0.6, 0.6, -0.6 }, { -0.6, -0.6, 0.6 }
    };
    int32_t triangles[4][3] = { { 0, 1, 2 }, { 0, 3, 1 }, { 0, 2, 3 }, { 1, 3, 2 } };
    r |=
        tpMakeMesh(&allocator, corners, 4, (const int32_t(*)[3])triangles, 4, id, &shapes[9], NULL);
    double heights[81];
    for (int i = 0; i < 81; ++i) {
        heights[i] = 0.05 * sin(1.3 * i) - 0.1;
    }
    r |= tpMakeHeightField(&allocator, 9, 9, 0.5, 0.5, heights, id, &shapes[10], NULL);
    r |= tpMakePlane(&(tpPlane){ { 0.1, 0.2, 1.0 }, 0.1 }, id, &shapes[11], NULL);
    tpGeometry parts[2];
    tpPose shifted = id;
    shifted.position.x = 0.3;
    tpMakeBox(&(tpBox){ { 1.0, 1.0, 1.0 } }, id, &parts[0], NULL);
    tpMakeSphere(&(tpSphere){ 0.6 }, shifted, &parts[1], NULL);
    r |= tpMakeIntersection(&allocator, parts, 2, id, &shapes[12], NULL);
    r |= tpMakeRoundedBox(&(tpRoundedBox){ { 0.9, 0.6, 0.7 }, 0.15 }, id, &shapes[13], NULL);
    assert_int_equal(r, tp_success);
}

static bool isSurface(const tpGeometry* g) {
    return g->type == tp_meshShape || g->type == tp_heightFieldShape;
}

typedef struct Try {
    const tpGeometry *a, *b;
    tpPose poseA, poseB;
    tpClosest closest;
} Try;

static void checkClosest(const Try* t) {
    const tpClosest* c = &t->closest;
    CHECK_NEAR(tpLength(c->normal), 1.0, 1e-12);
    CHECK_VEC3(tpSub(c->pointA, c->pointB), tpScale(c->distance, c->normal), 1e-9);
    tpClosest swapped;
    tpResult result = tpClosestPoints(t->b, t->poseB, t->a, t->poseA, NULL, &swapped);
    assert_true(result == tp_success || result == tp_notSolved);
    if (!isSurface(t->a) && !isSurface(t->b)) {
        CHECK_NEAR(swapped.distance, c->distance, 1e-9);
    }
}

static int checkContacts(const Try* t) {
    static tpContactPoint points[maxContacts];
    double margin = 0.03;
    tpContactList list = { points, 0, maxContacts };
    assert_int_equal(tpCollide(t->a, t->poseA, t->b, t->poseB, margin, NULL, &list), tp_success);
    assert_true(list.count <= maxContacts);
    double least = INFINITY;
    for (int i = 0; i < list.count; ++i) {
        const tpContactPoint* p = &points[i];
        CHECK_NEAR(tpLength(p->normal), 1.0, 1e-12);
        CHECK_VEC3(tpSub(p->pointA, p->pointB), tpScale(p->gap, p->normal), 1e-9);
        assert_true(i == 0 || p->feature > points[i - 1].feature);
        assert_true(p->gap <= margin + 1e-12);
        least = fmin(least, p->gap);
    }
    if (fabs(t->closest.distance - margin) > 1e-6) {
        if ((list.count > 0) != (t->closest.distance <= margin)) {
            fail_msg("%s and %s at distance %g: %d contacts", tpShapeTypeName(t->a->type),
                     tpShapeTypeName(t->b->type), t->closest.distance, list.count);
        }
    }
    if (list.count > 0 && fabs(least - t->closest.distance) > 1e-3 * fabs(least) + 1e-6) {
        fail_msg("%s and %s at distance %.12g: nearest contact at %.12g",
                 tpShapeTypeName(t->a->type), tpShapeTypeName(t->b->type), t->closest.distance,
                 least);
    }
    return list.count;
}

static void holdsForAllPairs(void** state) {
    (void)state;
    tpGeometry shapes[shapeCount];
    makeShapes(shapes);
    tpRandom random = { 8 };
    int touching = 0, pairs = 0;
    for (int i = 0; i < shapeCount; ++i) {
        for (int j = 0; j < shapeCount; ++j) {
            for (int k = 0; k < triesPerPair; ++k) {
                Try t = {
                    &shapes[i], &shapes[j], tpIdentityPose(), tpIdentityPose(), { .distance = 0.0 }
                };
                t.poseA.position = randomVec3(&random, -1.0, 1.0);
                t.poseA.rotation = randomRotation(&random);
                t.poseB.position = randomVec3(&random, -0.3, 0.3);
                t.poseB.rotation = j == 10 || j == 11 ? tpIdentityQuat() : randomRotation(&random);
                if (i == 10 || i == 11) {
                    t.poseA.rotation = tpIdentityQuat();
                }
                tpResult result = tpClosestPoints(t.a, t.poseA, t.b, t.poseB, NULL, &t.closest);
                bool bothOpen = (i == 10 || i == 11) && (j == 10 || j == 11);
                assert_int_equal(result == tp_unsupported, bothOpen);
                if (bothOpen) {
                    break;
                }
                // From there to a little apart or overlapping.
                double target = randomBetween(&random, -0.01, 0.05);
                t.poseA.position =
                    tpMulAdd(t.poseA.position, target - t.closest.distance, t.closest.normal);
                result = tpClosestPoints(t.a, t.poseA, t.b, t.poseB, NULL, &t.closest);
                if (result == tp_notSolved) {
                    continue;
                }
                checkClosest(&t);
                touching += checkContacts(&t) > 0;
                ++pairs;
            }
        }
    }
    print_message("%d pairs, %d with contacts\n", pairs, touching);
    assert_true(pairs > 9000 && touching > pairs / 3);
    for (int i = 0; i < shapeCount; ++i) {
        tpReleaseGeometry(&shapes[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(holdsForAllPairs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
