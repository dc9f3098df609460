// Hulls: every point inside every plane, topology closed, degenerate points refused or merged.

#include "geometry/hull.h"

#include <string.h>

#include "geometry/shape.h"
#include "sample_shapes.h"
#include "support/failing_allocator.h"

// Everything hull.h promises about the arrays.
static void checkTopology(const tpHull* hull) {
    assert_int_equal(hull->vertexCount - hull->edgeCount + hull->faceCount, 2);
    assert_int_equal(hull->faceFirst[hull->faceCount], 2 * hull->edgeCount);
    assert_int_equal(hull->neighborFirst[hull->vertexCount], 2 * hull->edgeCount);
    for (int32_t h = 0; h < 2 * hull->edgeCount; ++h) {
        const tpHalfEdge* edge = &hull->halfEdges[h];
        assert_int_equal(hull->halfEdges[edge->next].origin, tpHull_Target(hull, h));
        assert_int_equal(hull->halfEdges[edge->next].face, edge->face);
        assert_int_not_equal(hull->halfEdges[h ^ 1].face, edge->face);
    }
    for (int32_t f = 0; f < hull->faceCount; ++f) {
        int32_t h = hull->faceEdges[f], size = tpHull_FaceSize(hull, f);
        assert_true(size >= 3);
        for (int32_t k = 0; k < size; ++k) {
            assert_int_equal(hull->halfEdges[h].origin, hull->faceVertices[hull->faceFirst[f] + k]);
            h = hull->halfEdges[h].next;
        }
        assert_int_equal(h, hull->faceEdges[f]);
    }
    for (int32_t v = 0; v < hull->vertexCount; ++v) {
        int32_t h = hull->vertexEdges[v], first = hull->neighborFirst[v];
        int32_t valence = hull->neighborFirst[v + 1] - first;
        assert_true(valence >= 3);
        for (int32_t k = 0; k < valence; ++k) {
            assert_int_equal(hull->halfEdges[h].origin, v);
            assert_int_equal(hull->neighbors[first + k], tpHull_Target(hull, h));
            h = tpHull_NextAround(hull, h);
        }
        assert_int_equal(h, hull->vertexEdges[v]);
    }
}

static void checkPlanes(const tpHull* hull, const tpVec3* points, int count, double tolerance) {
    for (int32_t f = 0; f < hull->faceCount; ++f) {
        CHECK_NEAR(tpLength(hull->normals[f]), 1.0, 1e-14);
        for (int i = 0; i < count; ++i) {
            CHECK_BELOW(tpDot(hull->normals[f], points[i]) - hull->offsets[f], tolerance);
        }
        for (int32_t k = hull->faceFirst[f]; k < hull->faceFirst[f + 1]; ++k) {
            double height = tpDot(hull->normals[f], hull->vertices[hull->faceVertices[k]]);
            CHECK_NEAR(height, hull->offsets[f], tolerance);
        }
    }
}

// Random points of several kinds: in a ball, on a sphere, on a grid (many coplanar), with copies.
static int samplePoints(tpRandom* random, int kind, tpVec3* points) {
    int count = 8 + randomBelow(random, 150);
    for (int i = 0; i < count; ++i) {
        switch (kind) {
        case 0:
            points[i] = randomVec3(random, -1.0, 1.0);
            break;
        case 1:
            points[i] = randomUnit(random);
            break;
        case 2:
            points[i] =
                tpMakeVec3(randomBelow(random, 4), randomBelow(random, 4), randomBelow(random, 4));
            break;
        default:
            points[i] = i > 7 && randomBelow(random, 2) == 0 ? points[randomBelow(random, i)]
                                                             : randomVec3(random, -1.0, 1.0);
        }
    }
    if (kind == 2) { // the corners, so that the points are never flat
        for (int i = 0; i < 8; ++i) {
            points[i] = tpMakeVec3(i & 1 ? 3.0 : 0.0, i & 2 ? 3.0 : 0.0, i & 4 ? 3.0 : 0.0);
        }
    }
    return count;
}

static void randomHullsAreConvex(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 31 };
    for (int trial = 0; trial < 400; ++trial) {
        tpVec3 points[160];
        int count = samplePoints(&random, trial % 4, points);
        // Turned, moved and of very different sizes.
        tpPose pose = randomPose(&random, trial % 3 == 0 ? 100.0 : 1.0);
        double size = pow(10.0, randomBetween(&random, -4.0, 4.0));
        for (int i = 0; i < count; ++i) {
            points[i] = tpTransformPoint(pose, points[i]);
            points[i] = tpScale(size, points[i]);
        }
        tpHull* hull;
        tpError error = { 0 };
        if (tpHullFromPoints(&allocator, points, count, &hull, &error) != tp_success) {
            fail_msg("trial %d: %s", trial, error.message);
        }
        checkTopology(hull);
        checkPlanes(hull, points, count, 1e-11 * size * (1.0 + tpLength(pose.position)));
        if (trial % 4 == 2) { // a cube, whatever the points between its corners
            assert_int_equal(hull->vertexCount, 8);
            assert_int_equal(hull->faceCount, 6);
            CHECK_NEAR(hull->mass.mass, 27.0 * size * size * size, 1e-10 * size * size * size);
        }
        tpReleaseHull(hull);
    }
}

static void hullOfABoxIsTheBox(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpVec3 size = tpMakeVec3(1.0, 2.0, 3.0);
    tpBoxHull box;
    tpFillBoxHull(&box, size);
    checkTopology(&box.hull);
    checkPlanes(&box.hull, box.vertices, 8, 0.0 + 1e-300);
    tpHull* hull;
    assert_int_equal(tpHullFromPoints(&allocator, box.vertices, 8, &hull, NULL), tp_success);
    assert_int_equal(hull->vertexCount, 8);
    assert_int_equal(hull->faceCount, 6);
    CHECK_NEAR(hull->mass.mass, box.hull.mass.mass, 1e-14);
    CHECK_BELOW(matrixDistance(hull->mass.inertia, box.hull.mass.inertia), 1e-14);
    for (int i = 0; i < 6; ++i) {
        int32_t face = tpHull_SupportFace(hull, box.hull.normals[i]);
        CHECK_VEC3(hull->normals[face], box.hull.normals[i], 1e-15);
        CHECK_NEAR(hull->offsets[face], box.hull.offsets[i], 1e-15);
    }
    tpReleaseHull(hull);
}

// Climbing from any vertex finds as far a point as looking at all of them.
static void climbingFindsTheFarthest(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 32 };
    for (int trial = 0; trial < 20; ++trial) {
        tpGeometry geometry;
        assert_int_equal(
            randomHull(&allocator, &random, 40 + 18 * trial, tpIdentityPose(), &geometry, NULL),
            tp_success);
        const tpHull* hull = geometry.hull;
        for (int i = 0; i < 500; ++i) {
            tpVec3 direction = i % 10 == 0 ? hull->normals[randomBelow(&random, hull->faceCount)]
                                           : randomUnit(&random);
            double most = -HUGE_VAL;
            for (int32_t v = 0; v < hull->vertexCount; ++v) {
                most = fmax(most, tpDot(direction, hull->vertices[v]));
            }
            int32_t hint = i % 3 == 0 ? -1 : randomBelow(&random, hull->vertexCount);
            int32_t found = tpHull_Support(hull, direction, hint);
            CHECK_NEAR(tpDot(direction, hull->vertices[found]), most, 1e-15);
        }
        tpReleaseGeometry(&geometry);
    }
}

static void largeHullsAreMade(void** state) {
    (void)state;
    enum { count = 10002 }; // 20,000 triangles
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 33 };
    static tpVec3 points[count];
    for (int i = 0; i < count; ++i) {
        points[i] = randomUnit(&random);
    }
    tpHull* hull;
    assert_int_equal(tpHullFromPoints(&allocator, points, count, &hull, NULL), tp_success);
    checkTopology(hull);
    assert_int_equal(hull->vertexCount, count);
    assert_true(hull->faceCount >= 19990);
    tpReleaseHull(hull);
}

static void expectRefused(const tpVec3* points, int count, const char* words) {
    tpAllocator allocator = tpDefaultAllocator();
    tpHull* hull;
    tpError error = { 0 };
    assert_int_equal(tpHullFromPoints(&allocator, points, count, &hull, &error), tp_badInput);
    assert_null(hull);
    if (strstr(error.message, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
    }
}

static void flatPointsAreRefused(void** state) {
    (void)state;
    tpRandom random = { 34 };
    tpVec3 points[20];
    tpPose pose = randomPose(&random, 10.0);
    for (int i = 0; i < 20; ++i) {
        points[i] = tpMakeVec3(1.0, 2.0, 3.0);
    }
    expectRefused(points, 3, "at least 4");
    expectRefused(points, 20, "all the same");
    for (int i = 0; i < 20; ++i) {
        points[i] = tpTransformPoint(pose, tpMakeVec3(randomBetween(&random, -1.0, 1.0), 0.0, 0.0));
    }
    expectRefused(points, 20, "on one line");
    for (int i = 0; i < 20; ++i) {
        tpVec3 p = randomVec3(&random, -1.0, 1.0);
        points[i] = tpTransformPoint(pose, tpMakeVec3(p.x, p.y, 0.0));
    }
    expectRefused(points, 20, "in one plane");
    points[7].y = NAN;
    expectRefused(points, 20, "point 7 is not finite");
}

// Thin, but with a volume: a plate a millionth as thick as it is wide.
static void thinPlatesAreMade(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 35 };
    for (int trial = 0; trial < 50; ++trial) {
        tpVec3 points[8];
        tpPose pose = randomPose(&random, 1.0);
        for (int i = 0; i < 8; ++i) {
            points[i] = tpTransformPoint(
                pose, tpMakeVec3(i & 1 ? 1.0 : -1.0, i & 2 ? 1.0 : -1.0, i & 4 ? 1e-6 : -1e-6));
        }
        tpHull* hull;
        tpError error = { 0 };
        assert_int_equal(tpHullFromPoints(&allocator, points, 8, &hull, &error), tp_success);
        assert_int_equal(hull->vertexCount, 8);
        checkTopology(hull);
        CHECK_NEAR(hull->mass.mass, 8e-6, 1e-13);
        tpReleaseHull(hull);
    }
}

static void prismsAreHulls(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    // A rectangle, clockwise, with a point in the middle of a side.
    const double rectangle[5][2] = {
        { -1.0, -0.5 }, { -1.0, 0.5 }, { 1.0, 0.5 }, { 1.0, 0.0 }, { 1.0, -0.5 }
    };
    tpGeometry prism, box;
    assert_int_equal(tpMakePrism(&allocator, rectangle, 5, 4.0, tpIdentityPose(), &prism, NULL),
                     tp_success);
    tpMakeBox(&(tpBox){ { 2.0, 1.0, 4.0 } }, tpIdentityPose(), &box, NULL);
    assert_int_equal(prism.hull->vertexCount, 8);
    assert_int_equal(prism.hull->faceCount, 6);
    checkTopology(prism.hull);
    tpMassProperties a, b;
    tpGeometry_Mass(&prism, 3.0, &a, NULL);
    tpGeometry_Mass(&box, 3.0, &b, NULL);
    CHECK_NEAR(a.mass, b.mass, 1e-14);
    CHECK_BELOW(matrixDistance(a.inertia, b.inertia), 1e-13);
    tpReleaseGeometry(&prism);

    tpError error = { 0 };
    const double dented[4][2] = { { 0.0, 0.0 }, { 1.0, 0.0 }, { 0.1, 0.1 }, { 0.0, 1.0 } };
    assert_int_equal(tpMakePrism(&allocator, dented, 4, 1.0, tpIdentityPose(), &prism, &error),
                     tp_badInput);
    assert_non_null(strstr(error.message, "not convex at point 2"));
    double star[5][2];
    for (int i = 0; i < 5; ++i) {
        star[i][0] = cos(4.0 * 3.14159265358979323846 * i / 5.0);
        star[i][1] = sin(4.0 * 3.14159265358979323846 * i / 5.0);
    }
    assert_int_equal(
        tpMakePrism(&allocator, (const double(*)[2])star, 5, 1.0, tpIdentityPose(), &prism, &error),
        tp_badInput);
    assert_non_null(strstr(error.message, "crosses itself"));
    const double line[3][2] = { { 0.0, 0.0 }, { 1.0, 1.0 }, { 2.0, 2.0 } };
    assert_int_equal(tpMakePrism(&allocator, line, 3, 1.0, tpIdentityPose(), &prism, &error),
                     tp_badInput);
    assert_non_null(strstr(error.message, "one line"));
}

static void copiesShareAHull(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    tpRandom random = { 36 };
    tpGeometry first;
    assert_int_equal(randomHull(&allocator, &random, 30, tpIdentityPose(), &first, NULL),
                     tp_success);
    tpGeometry second = tpRetainGeometry(&first);
    assert_ptr_equal(first.hull, second.hull);
    tpReleaseGeometry(&first);
    assert_int_equal(heap.outstanding, 1);
    tpReleaseGeometry(&second);
    assert_int_equal(heap.outstanding, 0);
}

static void failingMemoryLeaksNothing(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    for (int n = 1;; ++n) {
        tpRandom random = { 37 };
        heap.requests = 0;
        heap.failAt = n;
        tpGeometry hull, prism;
        tpResult result = randomHull(&allocator, &random, 30, tpIdentityPose(), &hull, NULL);
        if (result == tp_success) {
            tpReleaseGeometry(&hull);
            result = randomPrism(&allocator, &random, tpIdentityPose(), &prism, NULL);
            if (result == tp_success) {
                tpReleaseGeometry(&prism);
            }
        }
        assert_true(result == tp_success || result == tp_outOfMemory);
        assert_int_equal(heap.outstanding, 0);
        assert_int_equal(heap.bytes, 0);
        if (heap.requests < n) {
            assert_int_equal(result, tp_success);
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(randomHullsAreConvex),
        cmocka_unit_test(hullOfABoxIsTheBox),
        cmocka_unit_test(climbingFindsTheFarthest),
        cmocka_unit_test(largeHullsAreMade),
        cmocka_unit_test(flatPointsAreRefused),
        cmocka_unit_test(thinPlatesAreMade),
        cmocka_unit_test(prismsAreHulls),
        cmocka_unit_test(copiesShareAHull),
        cmocka_unit_test(failingMemoryLeaksNothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
