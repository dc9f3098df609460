// Every pair of types of shapes in random positions: what holds for all of them.
//
// Distances do not depend on the order of the bodies, points and normal fit the distance, the
// nearest contact has the distance for its gap, and there are contacts exactly when the distance is
// within the margin.

#include "all_shapes.h"

#include "tippe/collision.h"

enum { maxContacts = 512, triesPerPair = 60 };

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
    makeAllShapes(1.0, shapes);
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
                t.poseB.rotation = j == heightFieldKind || j == planeKind ? tpIdentityQuat()
                                                                          : randomRotation(&random);
                if (i == heightFieldKind || i == planeKind) {
                    t.poseA.rotation = tpIdentityQuat();
                }
                tpResult result = tpClosestPoints(t.a, t.poseA, t.b, t.poseB, NULL, &t.closest);
                bool bothOpen = (i == heightFieldKind || i == planeKind) &&
                                (j == heightFieldKind || j == planeKind);
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
    releaseAllShapes(shapes);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(holdsForAllPairs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
