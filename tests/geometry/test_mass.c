// Mass properties: closed forms against integration along rays, invariance, and what is refused.

#include "geometry/mass.h"

#include <string.h>
#include <time.h>

#include "geometry/shape.h"
#include "sample_shapes.h"
#include "support/check.h"

// Moments about the body's origin: the integral of x x^T times density, which needs no centre.
static double relativeDifference(const tpMassProperties* a, const tpMassProperties* b) {
    double size = cbrt(fabs(a->mass));
    double mass = fabs(a->mass - b->mass) / fabs(a->mass);
    double center = tpDistanceBetween(a->center, b->center) / size;
    double inertia = matrixDistance(a->inertia, b->inertia) / (fabs(a->mass) * size * size);
    return fmax(mass, fmax(center, inertia));
}

static void closedFormsAgreeWithRays(void** state) {
    (void)state;
    tpRandom random = { 11 };
    tpAllocator allocator = tpDefaultAllocator();
    for (int i = 0; i < convexTypeCount; ++i) {
        tpShapeType type = convexTypes[i];
        if (type == tp_implicitShape || type == tp_intersectionShape || type == tp_hullShape ||
            type == tp_superellipsoidShape) {
            continue; // these are integrated along rays, or have a hundred kinks
        }
        tpGeometry geometry;
        tpError error = { 0 };
        assert_int_equal(
            randomShape(&allocator, &random, type, tpIdentityPose(), &geometry, &error),
            tp_success);
        geometry.pose = tpIdentityPose();
        double depth;
        tpVec3 interior = tpInteriorPoint(&geometry, &depth);
        assert_true(depth < 0.0);
        tpMassProperties exact, rays;
        assert_int_equal(tpGeometry_Mass(&geometry, 1.0, &exact, &error), tp_success);
        clock_t start = clock();
        assert_int_equal(tpIntegrateConvex(&geometry, interior, &rays, &error), tp_success);
        double difference = relativeDifference(&exact, &rays);
        print_message("%-16s %.2e  (%.3f s)\n", tpShapeTypeName(type), difference,
                      (double)(clock() - start) / CLOCKS_PER_SEC);
        CHECK_BELOW(difference, 1e-10);
        tpReleaseGeometry(&geometry);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(closedFormsAgreeWithRays) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
