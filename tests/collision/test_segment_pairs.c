// Capsules and spheres: their contacts are those of the nearest points of their cores, and nothing
// is kept about a pair from one question to the next.

#include <string.h>

#include "collision/contact.h"
#include "random_shapes.h"
#include "support/check.h"

enum { mostPoints = 8 };

static tpGeometry makeCore(tpRandom* random, bool isCapsule) {
    tpGeometry out;
    double radius = randomBetween(random, 0.1, 0.5), length = randomBetween(random, 0.0, 2.0);
    assert_int_equal(isCapsule ? tpMakeCapsule(&(tpCapsule){ radius, length, { 0.0, 0.0, 1.0 } },
                                               tpIdentityPose(), &out, NULL)
                               : tpMakeSphere(&(tpSphere){ radius }, tpIdentityPose(), &out, NULL),
                     tp_success);
    return out;
}

// The distance of two segments by a search along the first one, from the convex distance of its
// points to the second one.
static double distanceOf(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB) {
    double halfA = a->type == tp_capsuleShape ? 0.5 * a->capsule.length : 0.0;
    double halfB = b->type == tp_capsuleShape ? 0.5 * b->capsule.length : 0.0;
    double low = -halfA, high = halfA, distance = INFINITY;
    tpVec3 z = tpMakeVec3(0.0, 0.0, 1.0), axis = tpRotate(poseA.rotation, z);
    for (int k = 0; k < 80; ++k) {
        double at[2] = { low + (high - low) / 3.0, high - (high - low) / 3.0 }, d[2];
        for (int i = 0; i < 2; ++i) {
            tpVec3 p = tpMulAdd(poseA.position, at[i], axis);
            tpVec3 own = tpUnrotate(poseB.rotation, tpSub(p, poseB.position));
            own.z -= fmin(fmax(own.z, -halfB), halfB);
            d[i] = tpLength(own);
            distance = fmin(distance, d[i]);
        }
        low = d[0] > d[1] ? at[0] : low;
        high = d[0] > d[1] ? high : at[1];
    }
    double radiusA = a->type == tp_capsuleShape ? a->capsule.radius : a->sphere.radius;
    double radiusB = b->type == tp_capsuleShape ? b->capsule.radius : b->sphere.radius;
    return distance - radiusA - radiusB;
}

static void contactsAreNearest(void** state) {
    (void)state;
    tpRandom random = { 5 };
    int touching = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        tpGeometry a = makeCore(&random, trial % 3 != 0), b = makeCore(&random, trial % 3 != 1);
        tpPose poseA = tpMakePose(randomVec3(&random, -1.0, 1.0), randomRotation(&random));
        tpPose poseB = tpMakePose(randomVec3(&random, -1.0, 1.0), randomRotation(&random));
        double distance = distanceOf(&a, poseA, &b, poseB), margin = 0.3;
        for (int ahead = 0; ahead < 2; ++ahead) {
            tpContactPoint points[mostPoints];
            tpContactList list = { points, 0, mostPoints };
            tpOverFace over;
            // What a pair cannot use is neither read nor written.
            tpPairCache cache, before;
            memset(&cache, 0x5a, sizeof(cache));
            before = cache;
            assert_int_equal(tpCollideShapes(&a, poseA, &b, poseB, margin, ahead == 1, &cache,
                                             &list, ahead == 1 ? &over : NULL),
                             tp_success);
            assert_memory_equal(&cache, &before, sizeof(cache));
            assert_int_equal(list.count > 0, distance <= margin);
            double least = INFINITY;
            for (int k = 0; k < list.count; ++k) {
                least = fmin(least, points[k].gap);
                CHECK_NEAR(tpDot(points[k].normal, tpSub(points[k].pointA, points[k].pointB)),
                           points[k].gap, 1e-12);
            }
            if (list.count > 0) {
                CHECK_NEAR(least, distance, 1e-4 * fabs(distance) + 1e-6);
                ++touching;
            } else if (ahead == 1) {
                CHECK_NEAR(over.beyond, distance, 1e-7);
            }
        }
    }
    assert_true(touching > 1500);
}

static void pairsForget(void** state) {
    (void)state;
    static const tpShapeType types[] = { tp_sphereShape, tp_capsuleShape };
    for (int k = 0; k < 4; ++k) {
        bool isSwapped;
        const tpPairClass* class = tpFindPairClass(types[k / 2], types[k % 2], &isSwapped);
        assert_non_null(class);
        assert_true(class->forgets);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contactsAreNearest),
        cmocka_unit_test(pairsForget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
