// Surfaces for drawing: closed, seen from outside, with the volume of the shape and their corners
// on it.

#include "geometry/triangulate.h"

#include "geometry/shape.h"
#include "sample_shapes.h"
#include "support/failing_allocator.h"

static double volumeOf(const tpSurface* surface) {
    double volume = 0.0;
    for (int i = 0; i < surface->triangleCount; ++i) {
        const int32_t* t = surface->triangles[i];
        const tpVec3* v = surface->vertices;
        volume += tpDot(v[t[0]], tpCross(v[t[1]], v[t[2]])) / 6.0;
    }
    return volume;
}

static void hasTheVolumeOfTheShape(void** state) {
    (void)state;
    tpRandom random = { 31 };
    tpAllocator allocator = tpDefaultAllocator();
    for (int round = 0; round < 2; ++round) {
        for (size_t i = 0; i < sizeof(convexTypes) / sizeof(convexTypes[0]); ++i) {
            tpError error;
            tpGeometry geometry;
            tpSurface surface;
            tpMassProperties mass;
            assert_int_equal(randomShape(&allocator, &random, convexTypes[i], tpIdentityPose(),
                                         &geometry, &error),
                             tp_success);
            assert_int_equal(tpTriangulate(&geometry, &allocator, &surface), tp_success);
            assert_int_equal(tpGeometry_Mass(&geometry, 1.0, &mass, &error), tp_success);
            // Polyhedra exactly; of round shapes, a polyhedron inside that misses little.
            bool isFlat = convexTypes[i] == tp_prismShape || convexTypes[i] == tp_hullShape;
            double volume = volumeOf(&surface), missing = (mass.mass - volume) / mass.mass;
            if (missing < -1e-9 || missing > (isFlat ? 1e-9 : 0.02)) {
                fail_msg("%s: volume %g of %g", tpShapeTypeName(geometry.type), volume, mass.mass);
            }
            tpReleaseSurface(&surface);
            tpReleaseGeometry(&geometry);
        }
    }
}

static void heightFieldsAreTheirUpperSide(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    const double heights[6] = { 0.0, 0.1, 0.2, 0.3, 0.1, 0.0 };
    tpError error;
    tpGeometry field;
    tpSurface surface;
    assert_int_equal(
        tpMakeHeightField(&allocator, 3, 2, 0.5, 2.0, heights, tpIdentityPose(), &field, &error),
        tp_success);
    assert_int_equal(tpTriangulate(&field, &allocator, &surface), tp_success);
    assert_int_equal(surface.vertexCount, 6);
    assert_int_equal(surface.triangleCount, 4);
    double area = 0.0;
    for (int i = 0; i < surface.triangleCount; ++i) {
        const int32_t* t = surface.triangles[i];
        const tpVec3* v = surface.vertices;
        tpVec3 normal = tpCross(tpSub(v[t[1]], v[t[0]]), tpSub(v[t[2]], v[t[0]]));
        assert_true(normal.z > 0.0);
        area += 0.5 * normal.z;
    }
    assert_true(fabs(area - 2.0) < 1e-12);
    tpReleaseSurface(&surface);
    tpReleaseGeometry(&field);
}

static void planesHaveNone(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry plane;
    tpSurface surface;
    tpPlane half = { tpMakeVec3(0.0, 0.0, 1.0), 0.0 };
    assert_int_equal(tpMakePlane(&half, tpIdentityPose(), &plane, NULL), tp_success);
    assert_int_equal(tpTriangulate(&plane, &allocator, &surface), tp_unsupported);
}

static void survivesAnyFailedAllocation(void** state) {
    (void)state;
    tpGeometry ellipsoid;
    tpEllipsoid radii = { tpMakeVec3(1.0, 2.0, 3.0) };
    assert_int_equal(tpMakeEllipsoid(&radii, tpIdentityPose(), &ellipsoid, NULL), tp_success);
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    for (int n = 1;; ++n) {
        heap.requests = 0;
        heap.failAt = n;
        tpSurface surface;
        tpResult result = tpTriangulate(&ellipsoid, &allocator, &surface);
        if (result == tp_success) {
            tpReleaseSurface(&surface);
        } else {
            assert_int_equal(result, tp_outOfMemory);
        }
        assert_int_equal(heap.outstanding, 0);
        assert_int_equal(heap.bytes, 0);
        if (heap.requests < n) {
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hasTheVolumeOfTheShape),
        cmocka_unit_test(heightFieldsAreTheirUpperSide),
        cmocka_unit_test(planesHaveNone),
        cmocka_unit_test(survivesAnyFailedAllocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
