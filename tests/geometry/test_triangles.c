// Triangles of surfaces: nearest points against sampling, inside against distance, seen from
// behind.

#include "geometry/triangles.h"

#include "geometry/mesh.h"
#include "geometry/shape.h"
#include "sample_shapes.h"

// A surface of an octahedron whose faces are cut into smaller ones and bent outwards: closed, not
// round.
static tpGeometry makeBall(int cuts) {
    enum { most = 8 * 4 * 4 * 4 * 4 };
    static tpVec3 corners[most][3];
    static tpVec3 vertices[3 * most];
    static int32_t triangles[most][3];
    int count = 0;
    for (int i = 0; i < 8; ++i) {
        tpVec3 x = tpMakeVec3(i & 1 ? 1.0 : -1.0, 0.0, 0.0);
        tpVec3 y = tpMakeVec3(0.0, i & 2 ? 1.0 : -1.0, 0.0);
        tpVec3 z = tpMakeVec3(0.0, 0.0, i & 4 ? 1.3 : -0.8);
        bool isRight = tpDot(tpCross(x, y), z) > 0.0;
        corners[count][0] = x;
        corners[count][1] = isRight ? y : z;
        corners[count++][2] = isRight ? z : y;
    }
    for (int c = 0; c < cuts; ++c) {
        for (int i = 0, n = count; i < n; ++i) {
            tpVec3 a = corners[i][0], b = corners[i][1], d = corners[i][2], m[3];
            m[0] = tpScale(0.55, tpAdd(a, b));
            m[1] = tpScale(0.55, tpAdd(b, d));
            m[2] = tpScale(0.55, tpAdd(d, a));
            tpVec3 pieces[4][3] = {
                { a, m[0], m[2] }, { m[0], b, m[1] }, { m[2], m[1], d }, { m[0], m[1], m[2] }
            };
            for (int k = 0; k < 4; ++k) {
                int place = k == 0 ? i : count++;
                corners[place][0] = pieces[k][0];
                corners[place][1] = pieces[k][1];
                corners[place][2] = pieces[k][2];
            }
        }
    }
    int vertexCount = 0;
    for (int i = 0; i < 3 * count; ++i) {
        int v = 0;
        while (v < vertexCount && tpDistanceBetween(vertices[v], corners[i / 3][i % 3]) > 1e-12) {
            ++v;
        }
        vertices[v] = corners[i / 3][i % 3];
        vertexCount = v == vertexCount ? v + 1 : vertexCount;
        triangles[i / 3][i % 3] = v;
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry mesh;
    tpError error;
    if (tpMakeMesh(&allocator, vertices, vertexCount, (const int32_t(*)[3])triangles, count,
                   tpIdentityPose(), &mesh, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    return mesh;
}

static tpGeometry makeField(void) {
    double heights[121];
    for (int i = 0; i < 121; ++i) {
        heights[i] = 0.2 * sin(1.7 * i);
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry field;
    tpMakeHeightField(&allocator, 11, 11, 0.3, 0.2, heights, tpIdentityPose(), &field, NULL);
    return field;
}

static void nearestAgreesWithScan(void** state) {
    (void)state;
    tpGeometry surfaces[2] = { makeBall(3), makeField() };
    tpRandom random = { 5 };
    for (int i = 0; i < 400; ++i) {
        const tpGeometry* surface = &surfaces[i % 2];
        tpVec3 p = randomVec3(&random, -2.0, 2.0), q;
        double least = INFINITY;
        for (int32_t t = 0; t < tpTriangleCount(surface); ++t) {
            double weights[3];
            tpTriangle triangle = tpGetTriangle(surface, t);
            tpVec3 on = tpNearestOnTriangle(triangle.corners, p, weights);
            CHECK_NEAR(weights[0] + weights[1] + weights[2], 1.0, 1e-12);
            least = fmin(least, tpDistanceBetween(on, p));
        }
        assert_true(tpNearestTriangle(surface, p, INFINITY, &q) >= 0);
        CHECK_NEAR(tpDistanceBetween(p, q), least, 1e-12);
        assert_int_equal(tpNearestTriangle(surface, p, 0.99 * least, &q), -1);
    }
    tpReleaseGeometry(&surfaces[0]);
    tpReleaseGeometry(&surfaces[1]);
}

// The nearest point of a triangle is not beaten by others of it.
static void nearestOnTriangleIsNearest(void** state) {
    (void)state;
    tpRandom random = { 6 };
    for (int i = 0; i < 500; ++i) {
        tpVec3 c[3] = { randomVec3(&random, -1.0, 1.0), randomVec3(&random, -1.0, 1.0),
                        randomVec3(&random, -1.0, 1.0) };
        tpVec3 p = randomVec3(&random, -2.0, 2.0);
        double weights[3];
        tpVec3 q = tpNearestOnTriangle(c, p, weights), sum = tpZeroVec3();
        for (int k = 0; k < 3; ++k) {
            assert_true(weights[k] >= 0.0);
            sum = tpMulAdd(sum, weights[k], c[k]);
        }
        CHECK_VEC3(sum, q, 1e-12);
        for (int n = 0; n < 40; ++n) {
            double u = randomBetween(&random, 0.0, 1.0), v = randomBetween(&random, 0.0, 1.0 - u);
            tpVec3 other =
                tpAdd(tpScale(1.0 - u - v, c[0]), tpAdd(tpScale(u, c[1]), tpScale(v, c[2])));
            assert_true(tpDistanceBetween(p, other) >= tpDistanceBetween(p, q) - 1e-12);
        }
    }
}

// Inside: in front of no face at the nearest point.
static void insideIsBehindTheNearest(void** state) {
    (void)state;
    tpGeometry ball = makeBall(3);
    tpRandom random = { 7 };
    int inside = 0;
    for (int i = 0; i < 2000; ++i) {
        tpVec3 p = randomVec3(&random, -1.6, 1.6), q;
        int32_t t = tpNearestTriangle(&ball, p, INFINITY, &q);
        tpVec3 way = tpSub(p, q);
        double height = tpDot(ball.mesh->normals[t], way);
        // Beside an edge both faces must agree.
        if (fabs(height) > 0.9 * tpLength(way)) {
            assert_int_equal(tpIsInsideSurface(&ball, p), height < 0.0);
        }
        inside += tpIsInsideSurface(&ball, p);
    }
    assert_true(inside > 100 && inside < 1900);
    tpReleaseGeometry(&ball);
}

static void flippedTwiceIsTheSame(void** state) {
    (void)state;
    tpGeometry field = makeField();
    for (int32_t i = 0; i < tpTriangleCount(&field); ++i) {
        tpTriangle t = tpGetTriangle(&field, i), flipped = tpFlipTriangle(&t);
        tpVec3 cross = tpCross(tpSub(flipped.corners[1], flipped.corners[0]),
                               tpSub(flipped.corners[2], flipped.corners[0]));
        assert_true(tpDot(cross, flipped.normal) > 0.0);
        for (int k = 0; k < 3; ++k) {
            // The same edge by its two ends, with the other bend.
            int32_t from = flipped.vertices[k], to = flipped.vertices[(k + 1) % 3];
            int edge = 0;
            while (t.vertices[(edge + 1) % 3] != from || t.vertices[edge] != to) {
                ++edge;
            }
            assert_int_equal(flipped.neighbors[k], t.neighbors[edge]);
            assert_int_equal(flipped.edges[k] == tp_convexEdge, t.edges[edge] == tp_concaveEdge);
        }
        tpTriangle back = tpFlipTriangle(&flipped);
        assert_memory_equal(back.vertices, t.vertices, sizeof t.vertices);
        assert_memory_equal(back.edges, t.edges, sizeof t.edges);
    }
    tpReleaseGeometry(&field);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearestAgreesWithScan),
        cmocka_unit_test(nearestOnTriangleIsNearest),
        cmocka_unit_test(insideIsBehindTheNearest),
        cmocka_unit_test(flippedTwiceIsTheSame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
