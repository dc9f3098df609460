// A cylinder and corners or edges of a polyhedron: what is found from feature to feature is the
// distance that the general solver finds in double precision.

#include "collision/cylinder_features.h"

#include "collision/contact.h"
#include "collision/random_shapes.h"
#include "collision/smooth_distance.h"

enum { shapeTypes = 4 };

static tpGeometry makeOther(tpRandom* random, int type) {
    tpGeometry out;
    tpPose pose = tpIdentityPose();
    tpAllocator allocator = tpDefaultAllocator();
    if (type == 0) {
        tpBox box = { randomSizes(random, &ordinaryShapes) };
        assert_int_equal(tpMakeBox(&box, pose, &out, NULL), tp_success);
    } else if (type == 1) {
        tpCapsule capsule = { 0.3, randomSize(random, &ordinaryShapes), { 0.0, 0.0, 1.0 } };
        assert_int_equal(tpMakeCapsule(&capsule, pose, &out, NULL), tp_success);
    } else {
        tpVec3 points[20];
        int count = type == 2 ? 5 : 20;
        for (int k = 0; k < count; ++k) {
            points[k] = randomVec3(random, -1.0, 1.0);
        }
        assert_int_equal(tpMakeHull(&allocator, points, count, pose, &out, NULL), tp_success);
    }
    return out;
}

// The distance by features, from about the direction `normal` (from the other shape to the
// cylinder); the cylinder is at `pose`, the other shape at the origin.
static bool askFeatures(const tpGeometry* cylinder, tpPose pose, const tpGeometry* other,
                        tpVec3 normal, tpClosest* out) {
    tpCoreStorage storage;
    double radius;
    const tpHull* core = tpGeometry_Core(other, &storage, &radius);
    tpCylinderPlace place = { pose.position, tpRotate(pose.rotation, tpMakeVec3(0.0, 0.0, 1.0)),
                              0.5 * cylinder->cylinder.length, cylinder->cylinder.radius };
    if (!tpNearestToCylinder(core, &place, normal, 0.9, tpHull_Support(core, normal, 0), out)) {
        return false;
    }
    out->distance -= radius;
    return radius == 0.0 || out->distance > -radius;
}

static bool isFlatThere(const tpCurvature* curvature) {
    return curvature->along == 0.0 && curvature->across == 0.0;
}

// Pairs whose gap is within a few tenths of the cylinder's size, started from a direction that is
// off by up to a few tenths of a radian. Whatever is found is the distance.
static void testAgainstNewton(void** state) {
    (void)state;
    tpRandom random = { 4711 };
    int asked = 0, found = 0, overlaps = 0;
    for (int n = 0; n < 20000; ++n) {
        tpGeometry cylinder, other = makeOther(&random, n % shapeTypes);
        // One draw per statement: the order of others is the compiler's.
        tpCylinder def = { .axis = { 0.0, 0.0, 1.0 } };
        def.radius = randomSize(&random, &ordinaryShapes);
        def.length = randomSize(&random, &ordinaryShapes);
        assert_int_equal(tpMakeCylinder(&def, tpIdentityPose(), &cylinder, NULL), tp_success);
        tpVec3 position = randomVec3(&random, -1.0, 1.0);
        tpPose pose = tpMakePose(position, randomRotation(&random));
        tpSmoothResult exact;
        // Moved along the distance until the gap is what it is to be.
        double wanted = randomBetween(&random, -0.02, 0.3) * def.radius;
        for (int k = 0; k < 30; ++k) {
            assert_true(
                tpSmoothClosestShapes(&cylinder, pose, &other, tpIdentityPose(), NULL, &exact));
            pose.position = tpMulAdd(pose.position, wanted - exact.gap, exact.normal);
        }
        assert_true(tpSmoothClosestShapes(&cylinder, pose, &other, tpIdentityPose(), NULL, &exact));
        double off = exact.gap > 0.0 ? 0.3 : 0.1;
        tpVec3 start = tpNormalize(tpAdd(exact.normal, randomVec3(&random, -off, off)));
        tpClosest closest;
        bool isFlat = isFlatThere(&exact.curvatureA) || isFlatThere(&exact.curvatureB);
        bool isRight = exact.converged && fabs(exact.gap - wanted) < 1e-6;
        asked += isRight && !isFlat ? 1 : 0;
        if (isRight && askFeatures(&cylinder, pose, &other, start, &closest)) {
            found += isFlat ? 0 : 1;
            overlaps += exact.gap < 0.0 ? 1 : 0;
            double size = def.radius + def.length;
            CHECK_NEAR(closest.distance, exact.gap, 2e-9 * size);
            // The points are those of both bodies: the distance is between them.
            assert_true(tpLength(tpSub(closest.normal, exact.normal)) < 1e-4 || exact.gap > 0.0);
        }
        tpReleaseGeometry(&other);
    }
    // Most pairs that do not meet in a face or a cap are answered.
    print_message("%d asked, %d found, %d of them overlap\n", asked, found, overlaps);
    assert_true(asked > 8000 && found > 9 * asked / 10 && overlaps > 200);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testAgainstNewton),
    };
    return cmocka_run_group_tests_name("collision/cylinder_features", tests, NULL, NULL);
}
