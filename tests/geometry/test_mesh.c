// Meshes: the sphere in the limit, closed surfaces only, edges told apart, and the tree against a
// scan.

#include "geometry/mesh.h"

#include <string.h>

#include "geometry/shape.h"
#include "sample_shapes.h"
#include "support/failing_allocator.h"
#include "tippe/tippe.h"

static const double pi = 3.14159265358979323846;

// An icosahedron whose triangles have been divided in four some times, on the unit sphere.
typedef struct Icosphere {
    tpVec3 vertices[2562];
    int32_t triangles[5120][3];
    int vertexCount, triangleCount;
} Icosphere;

static int32_t midpoint(Icosphere* s, int32_t a, int32_t b) {
    tpVec3 m = tpNormalize(tpAdd(s->vertices[a], s->vertices[b]));
    for (int i = 0; i < s->vertexCount; ++i) {
        if (tpDistanceBetween(s->vertices[i], m) < 1e-12) {
            return i;
        }
    }
    s->vertices[s->vertexCount] = m;
    return s->vertexCount++;
}

static void makeIcosphere(Icosphere* s, int levels) {
    static const int32_t faces[20][3] = { { 0, 11, 5 },  { 0, 5, 1 },  { 0, 1, 7 },  { 0, 7, 10 },
                                          { 0, 10, 11 }, { 1, 5, 9 },  { 5, 11, 4 }, { 11, 10, 2 },
                                          { 10, 7, 6 },  { 7, 1, 8 },  { 3, 9, 4 },  { 3, 4, 2 },
                                          { 3, 2, 6 },   { 3, 6, 8 },  { 3, 8, 9 },  { 4, 9, 5 },
                                          { 2, 4, 11 },  { 6, 2, 10 }, { 8, 6, 7 },  { 9, 8, 1 } };
    double t = 0.5 * (1.0 + sqrt(5.0));
    const tpVec3 corners[12] = { { -1, t, 0 }, { 1, t, 0 }, { -1, -t, 0 }, { 1, -t, 0 },
                                 { 0, -1, t }, { 0, 1, t }, { 0, -1, -t }, { 0, 1, -t },
                                 { t, 0, -1 }, { t, 0, 1 }, { -t, 0, -1 }, { -t, 0, 1 } };
    for (int i = 0; i < 12; ++i) {
        s->vertices[i] = tpNormalize(corners[i]);
    }
    s->vertexCount = 12;
    s->triangleCount = 20;
    memcpy(s->triangles, faces, sizeof(faces));
    for (int level = 0; level < levels; ++level) {
        int count = s->triangleCount;
        for (int i = 0; i < count; ++i) {
            int32_t a = s->triangles[i][0], b = s->triangles[i][1], c = s->triangles[i][2];
            int32_t ab = midpoint(s, a, b), bc = midpoint(s, b, c), ca = midpoint(s, c, a);
            const int32_t parts[4][3] = {
                { ab, bc, ca }, { a, ab, ca }, { b, bc, ab }, { c, ca, bc }
            };
            memcpy(s->triangles[i], parts[0], sizeof(parts[0]));
            memcpy(s->triangles[s->triangleCount], parts[1], 3 * sizeof(parts[0]));
            s->triangleCount += 3;
        }
    }
}

static tpResult makeMesh(const tpAllocator* allocator, const Icosphere* s, tpGeometry* out,
                         tpError* error) {
    return tpMakeMesh(allocator, s->vertices, s->vertexCount, (const int32_t(*)[3])s->triangles,
                      s->triangleCount, tpIdentityPose(), out, error);
}

// Halving the triangles quarters the error of volume and inertia.
static void spheresConvergeAtSecondOrder(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    static Icosphere sphere;
    double last[2] = { 0.0, 0.0 };
    for (int level = 0; level <= 4; ++level) {
        makeIcosphere(&sphere, level);
        tpGeometry mesh;
        assert_int_equal(makeMesh(&allocator, &sphere, &mesh, NULL), tp_success);
        tpMassProperties properties;
        assert_int_equal(tpGeometry_Mass(&mesh, 1.0, &properties, NULL), tp_success);
        double errors[2] = { 4.0 / 3.0 * pi - properties.mass,
                             8.0 / 15.0 * pi - properties.inertia.cx.x };
        CHECK_VEC3(properties.center, tpZeroVec3(), 1e-14);
        CHECK_NEAR(properties.inertia.cy.y, properties.inertia.cx.x, 1e-13);
        for (int k = 0; k < 2 && level > 2; ++k) {
            CHECK_NEAR(log2(last[k] / errors[k]), 2.0, 0.1);
        }
        last[0] = errors[0];
        last[1] = errors[1];
        // All edges of a convex body are convex.
        for (int i = 0; i < sphere.triangleCount; ++i) {
            for (int k = 0; k < 3; ++k) {
                assert_int_equal(mesh.mesh->edges[i][k], tp_convexEdge);
            }
        }
        tpReleaseGeometry(&mesh);
    }
}

static const tpVec3 cubeVertices[8] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 1, 1, 0 },
                                        { 0, 0, 1 }, { 1, 0, 1 }, { 0, 1, 1 }, { 1, 1, 1 } };
static const int32_t cubeTriangles[12][3] = { { 0, 2, 1 }, { 1, 2, 3 }, { 4, 5, 6 }, { 5, 7, 6 },
                                              { 0, 1, 4 }, { 1, 5, 4 }, { 2, 6, 3 }, { 3, 6, 7 },
                                              { 0, 4, 2 }, { 2, 4, 6 }, { 1, 3, 5 }, { 3, 7, 5 } };

static void expectRefused(const int32_t (*triangles)[3], int count, const char* words) {
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry mesh;
    tpError error = { 0 };
    assert_int_equal(
        tpMakeMesh(&allocator, cubeVertices, 8, triangles, count, tpIdentityPose(), &mesh, &error),
        tp_badInput);
    if (strstr(error.message, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
    }
}

static void badSurfacesAreRefused(void** state) {
    (void)state;
    int32_t t[13][3];
    memcpy(t, cubeTriangles, sizeof(cubeTriangles));
    expectRefused((const int32_t(*)[3])t, 11, "the surface is open");
    expectRefused((const int32_t(*)[3])t, 11, "from vertex"); // names the edge
    for (int i = 0; i < 12; ++i) {
        t[i][1] = cubeTriangles[i][2];
        t[i][2] = cubeTriangles[i][1];
    }
    expectRefused((const int32_t(*)[3])t, 12, "inside out");
    memcpy(t, cubeTriangles, sizeof(cubeTriangles));
    t[3][0] = 7;
    t[3][1] = 5;
    expectRefused((const int32_t(*)[3])t, 12, "turned over");
    memcpy(t, cubeTriangles, sizeof(cubeTriangles));
    memcpy(t[12], cubeTriangles[0], sizeof(t[0]));
    expectRefused((const int32_t(*)[3])t, 13, "run twice");
    memcpy(t, cubeTriangles, sizeof(cubeTriangles));
    t[5][1] = 8;
    expectRefused((const int32_t(*)[3])t, 12, "uses vertex 8");
    t[5][1] = t[5][0];
    expectRefused((const int32_t(*)[3])t, 12, "same vertex twice");
    expectRefused((const int32_t(*)[3])t, 3, "at least 4");
}

// Two cubes in one mesh, the second scaled about the middle of the first, moved, and perhaps turned
// over.
static tpResult makeTwoCubes(double scale, double shift, bool turned, double* volume,
                             tpError* error) {
    tpAllocator allocator = tpDefaultAllocator();
    tpVec3 vertices[16];
    int32_t t[24][3];
    memcpy(t, cubeTriangles, sizeof(cubeTriangles));
    for (int i = 0; i < 8; ++i) {
        tpVec3 middle = tpMakeVec3(0.5, 0.5, 0.5);
        vertices[i] = cubeVertices[i];
        vertices[8 + i] = tpMulAdd(middle, scale, tpSub(cubeVertices[i], middle));
        vertices[8 + i].x += shift;
    }
    for (int i = 0; i < 12; ++i) {
        t[12 + i][0] = 8 + cubeTriangles[i][0];
        t[12 + i][1] = 8 + cubeTriangles[i][turned ? 2 : 1];
        t[12 + i][2] = 8 + cubeTriangles[i][turned ? 1 : 2];
    }
    tpGeometry mesh;
    tpResult result = tpMakeMesh(&allocator, vertices, 16, (const int32_t(*)[3])t, 24,
                                 tpIdentityPose(), &mesh, error);
    if (result == tp_success) {
        *volume = mesh.mesh->mass.mass;
        tpReleaseGeometry(&mesh);
    }
    return result;
}

static void cavitiesAreNoMistakes(void** state) {
    (void)state;
    double volume;
    tpError error = { 0 };
    assert_int_equal(makeTwoCubes(0.5, 0.0, true, &volume, &error), tp_success);
    CHECK_NEAR(volume, 1.0 - 0.125, 1e-14);
    assert_int_equal(makeTwoCubes(0.5, 3.0, false, &volume, &error), tp_success);
    CHECK_NEAR(volume, 1.0 + 0.125, 1e-14);
    // Beside the other, a part that is turned over is a mistake, though the sum is positive.
    assert_int_equal(makeTwoCubes(0.5, 3.0, true, &volume, &error), tp_badInput);
    assert_non_null(strstr(error.message, "inside out: the part with triangle 12"));
}

// Triangles of one face meet flat, those of different faces convex; a notch has concave edges.
static void edgesAreToldApart(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry cube;
    assert_int_equal(
        tpMakeMesh(&allocator, cubeVertices, 8, cubeTriangles, 12, tpIdentityPose(), &cube, NULL),
        tp_success);
    int kinds[3] = { 0 };
    for (int i = 0; i < 12; ++i) {
        tpTriangle triangle = tpGetTriangle(&cube, i);
        for (int k = 0; k < 3; ++k) {
            ++kinds[triangle.edges[k]];
            tpTriangle neighbor = tpGetTriangle(&cube, triangle.neighbors[k]);
            bool same = tpDot(triangle.normal, neighbor.normal) > 0.5;
            assert_int_equal(triangle.edges[k], same ? tp_flatEdge : tp_convexEdge);
        }
    }
    assert_int_equal(kinds[tp_convexEdge], 24);
    assert_int_equal(kinds[tp_flatEdge], 12);
    tpReleaseGeometry(&cube);
    // An L: a cube with a step. Eight triangles on its two L-shaped sides, twelve around.
    const double outline[6][2] = { { 0, 0 }, { 2, 0 }, { 2, 1 }, { 1, 1 }, { 1, 2 }, { 0, 2 } };
    tpVec3 vertices[12];
    int32_t t[20][3];
    const int32_t cap[4][3] = { { 0, 1, 3 }, { 1, 2, 3 }, { 0, 3, 5 }, { 3, 4, 5 } };
    for (int i = 0; i < 6; ++i) {
        vertices[i] = tpMakeVec3(outline[i][0], outline[i][1], 0.0);
        vertices[6 + i] = tpMakeVec3(outline[i][0], outline[i][1], 1.0);
        int j = (i + 1) % 6;
        const int32_t side[2][3] = { { i, j, 6 + i }, { j, 6 + j, 6 + i } };
        memcpy(t[8 + 2 * i], side, sizeof(side));
    }
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 3; ++k) {
            t[i][k] = cap[i][2 - k];
            t[4 + i][k] = 6 + cap[i][k];
        }
    }
    tpGeometry corner;
    tpError error = { 0 };
    assert_int_equal(tpMakeMesh(&allocator, vertices, 12, (const int32_t(*)[3])t, 20,
                                tpIdentityPose(), &corner, &error),
                     tp_success);
    int concave = 0;
    for (int i = 0; i < 20; ++i) {
        tpTriangle triangle = tpGetTriangle(&corner, i);
        for (int k = 0; k < 3; ++k) {
            if (triangle.edges[k] == tp_concaveEdge) {
                ++concave;
                tpVec3 a = triangle.corners[k], b = triangle.corners[(k + 1) % 3];
                CHECK_NEAR(a.x + a.y + b.x + b.y, 4.0, 0.0); // both at the inner corner (1, 1)
            }
        }
    }
    assert_int_equal(concave, 2);
    CHECK_NEAR(corner.mesh->mass.mass, 3.0, 1e-14);
    tpReleaseGeometry(&corner);
}

// Everything the tree finds is what a scan finds.
static void treeAgreesWithScan(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    static Icosphere sphere;
    makeIcosphere(&sphere, 3);
    tpRandom random = { 41 };
    tpGeometry mesh;
    assert_int_equal(makeMesh(&allocator, &sphere, &mesh, NULL), tp_success);
    for (int trial = 0; trial < 300; ++trial) {
        tpVec3 c = randomVec3(&random, -1.2, 1.2), h = tpScale(0.3, randomSizes(&random));
        tpBounds box = { tpSub(c, h), tpAdd(c, h) };
        bool found[1280] = { false };
        int count = 0;
        tpTriangleQuery query = tpQueryTriangles(&mesh, box);
        for (int32_t t = tpNextTriangle(&query); t >= 0; t = tpNextTriangle(&query)) {
            assert_false(found[t]);
            found[t] = true;
            ++count;
        }
        for (int i = 0; i < sphere.triangleCount; ++i) {
            tpTriangle t = tpGetTriangle(&mesh, i);
            tpBounds own = { tpMinVec3(t.corners[0], tpMinVec3(t.corners[1], t.corners[2])),
                             tpMaxVec3(t.corners[0], tpMaxVec3(t.corners[1], t.corners[2])) };
            assert_int_equal(tpBoundsOverlap(&own, &box), found[i]);
            count -= found[i];
        }
        assert_int_equal(count, 0);
        // Rays.
        tpVec3 origin = tpScale(3.0, randomUnit(&random));
        tpVec3 direction = tpSub(randomVec3(&random, -1.0, 1.0), origin);
        double nearest = HUGE_VAL, t;
        for (int i = 0; i < sphere.triangleCount; ++i) {
            tpTriangle triangle = tpGetTriangle(&mesh, i);
            if (tpCastRayAtTriangle(triangle.corners, origin, direction, 10.0, &t)) {
                nearest = fmin(nearest, t);
            }
        }
        tpRayHit hit;
        bool struck = tpGeometry_CastRay(&mesh, tpIdentityPose(), origin, direction, 10.0, &hit);
        assert_int_equal(struck, nearest < HUGE_VAL);
        if (struck) {
            CHECK_NEAR(hit.t, nearest, 0.0);
            assert_true(tpDot(hit.normal, direction) < 0.0);
        }
        assert_true(tpGeometry_CastRay(&mesh, tpIdentityPose(), randomVec3(&random, -0.5, 0.5),
                                       direction, 1e-3, &hit));
        assert_true(hit.startsInside);
    }
    tpReleaseGeometry(&mesh);
}

// Rays through vertices and edges find something every time.
static void raysDoNotSlipThrough(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    static Icosphere sphere;
    makeIcosphere(&sphere, 2);
    tpRandom random = { 42 };
    tpGeometry mesh;
    assert_int_equal(makeMesh(&allocator, &sphere, &mesh, NULL), tp_success);
    for (int i = 0; i < sphere.triangleCount; ++i) {
        const int32_t* t = sphere.triangles[i];
        double u = randomBetween(&random, 0.0, 1.0);
        tpVec3 onEdge =
            tpAdd(tpScale(u, sphere.vertices[t[0]]), tpScale(1.0 - u, sphere.vertices[t[1]]));
        tpVec3 origin = tpMulAdd(tpScale(3.0, onEdge), 0.5, randomUnit(&random));
        tpRayHit hit;
        assert_true(
            tpGeometry_CastRay(&mesh, tpIdentityPose(), origin, tpSub(onEdge, origin), 2.0, &hit));
        CHECK_NEAR(hit.t, 1.0, 1e-12);
        assert_true(tpGeometry_CastRay(&mesh, tpIdentityPose(), origin,
                                       tpSub(sphere.vertices[t[2]], origin), 2.0, &hit));
    }
    tpReleaseGeometry(&mesh);
}

static void failingMemoryLeaksNothing(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    for (int n = 1;; ++n) {
        heap.requests = 0;
        heap.failAt = n;
        tpGeometry mesh;
        tpResult result = tpMakeMesh(&allocator, cubeVertices, 8, cubeTriangles, 12,
                                     tpIdentityPose(), &mesh, NULL);
        if (result == tp_success) {
            tpReleaseGeometry(&mesh);
        } else {
            assert_int_equal(result, tp_outOfMemory);
        }
        assert_int_equal(heap.outstanding, 0);
        assert_int_equal(heap.bytes, 0);
        if (heap.requests < n) {
            assert_int_equal(result, tp_success);
            break;
        }
    }
}

// What is only seen may be open, turned over and degenerate; it is no shape that touches.
static void openSurfacesAreOnlySeen(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    static const int32_t triangles[3][3] = { { 0, 2, 1 }, { 0, 2, 1 }, { 4, 4, 5 } };
    tpGeometry surface;
    assert_int_equal(tpMakeOpenSurface(&allocator, cubeVertices, 8, triangles, 3, tpIdentityPose(),
                                       &surface, NULL),
                     tp_success);
    tpWorldDef worldDef = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&worldDef);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.kind = tp_fixedBody;
    tpBodyId body = tpCreateBody(world, &bodyDef, NULL);
    tpShapeDef def = tpDefaultShapeDef();
    tpError error = { 0 };
    assert_false(tpShape_IsValid(world, tpCreateShape(world, body, &def, &surface, &error)));
    assert_non_null(strstr(error.message, "only be seen"));
    assert_int_equal(tpBody_AddVisual(world, body, &surface, NULL, NULL), tp_success);
    tpReleaseGeometry(&surface);
    tpDestroyWorld(world);
    static const int32_t wrong[1][3] = { { 0, 2, 8 } };
    assert_int_equal(
        tpMakeOpenSurface(&allocator, cubeVertices, 8, wrong, 1, tpIdentityPose(), &surface, NULL),
        tp_badInput);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spheresConvergeAtSecondOrder),
        cmocka_unit_test(badSurfacesAreRefused),
        cmocka_unit_test(edgesAreToldApart),
        cmocka_unit_test(treeAgreesWithScan),
        cmocka_unit_test(raysDoNotSlipThrough),
        cmocka_unit_test(failingMemoryLeaksNothing),
        cmocka_unit_test(cavitiesAreNoMistakes),
        cmocka_unit_test(openSurfacesAreOnlySeen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
