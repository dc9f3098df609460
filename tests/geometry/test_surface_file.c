// OBJ and STL: what is read, and where errors are said to be.

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample_shapes.h"
#include "support/failing_allocator.h"

// A file with this text, removed again by the next call.
static char path[64];

static const char* writeFile(const char* ending, const void* bytes, size_t length) {
    if (path[0] != '\0') {
        remove(path);
    }
    snprintf(path, sizeof(path), "/tmp/tippe-surface-%ld%s", (long)getpid(), ending);
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
    return path;
}

static int removeFile(void** state) {
    (void)state;
    return path[0] != '\0' ? remove(path) : 0;
}

static tpSurface readText(const char* ending, const char* text) {
    tpAllocator allocator = tpDefaultAllocator();
    tpSurface surface;
    tpError error = { 0 };
    if (tpReadSurface(&allocator, writeFile(ending, text, strlen(text)), &surface, &error) !=
        tp_success) {
        fail_msg("%s", error.message);
    }
    return surface;
}

static void expectError(const char* ending, const char* text, const char* words) {
    tpAllocator allocator = tpDefaultAllocator();
    tpSurface surface;
    tpError error = { 0 };
    const char* name = writeFile(ending, text, strlen(text));
    assert_int_equal(tpReadSurface(&allocator, name, &surface, &error), tp_badInput);
    assert_int_equal(strncmp(error.message, name, strlen(name)), 0);
    if (strstr(error.message, words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", error.message, words);
    }
}

static const char cubeObj[] = "# a cube of quads\n"
                              "mtllib none.mtl\n"
                              "o cube\n"
                              "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0 1.0\n"
                              "v 0 0 1\r\nv 1e0 0 1\nv 0 1 1\nv 1 1 1\n"
                              "vn 0 0 1\nvt 0 0\n"
                              "usemtl red\ns off\n"
                              "f 1/1/1 3/1/1 4/1/1 2/1/1\n"
                              "f 5//1 6//1 8//1 7//1\n"
                              "f 1 2 6 5\n"
                              "f -6 -2 \\\n -1 -5 # the last four\n"
                              "f 1 5 7 3\n"
                              "f 2 4 8 6\n";

static void objGivesACube(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpSurface s = readText(".obj", cubeObj);
    assert_int_equal(s.vertexCount, 8);
    assert_int_equal(s.triangleCount, 12);
    tpGeometry mesh;
    tpError error = { 0 };
    if (tpMakeMesh(&allocator, s.vertices, s.vertexCount, (const int32_t(*)[3])s.triangles,
                   s.triangleCount, tpIdentityPose(), &mesh, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    tpMassProperties properties;
    tpGeometry_Mass(&mesh, 1.0, &properties, NULL);
    CHECK_NEAR(properties.mass, 1.0, 1e-15);
    tpReleaseGeometry(&mesh);
    tpReleaseSurface(&s);
}

// A polygon with a dent is cut into triangles that cover it, no more: areas add up, none is
// reversed.
// A prism over a polygon of n corners, whose distance from the axis is r1 and r2 in turns.
static tpSurface readStar(int n, double r1, double r2) {
    char* text = malloc((size_t)n * 120 + 1000);
    char* at = text;
    for (int i = 0; i < n; ++i) {
        double r = i % 2 == 0 ? r1 : r2, angle = 2.0 * 3.14159265358979323846 * i / n;
        at += sprintf(at, "v %.17g %.17g 0\n", r * cos(angle), r * sin(angle));
    }
    at += sprintf(at, "f");
    for (int i = 0; i < n; ++i) {
        at += sprintf(at, " %d", i + 1);
    }
    sprintf(at, "\n");
    tpSurface surface = readText(".obj", text);
    free(text);
    return surface;
}

// Polygons of thousands of corners, convex and not, take a moment: ctest would give up on what
// takes the cube of their number.
static void largePolygonsAreTriangulated(void** state) {
    (void)state;
    static const int counts[] = { 12, 2000, 20000 };
    for (int k = 0; k < 6; ++k) {
        int n = counts[k % 3];
        double r1 = 1.0, r2 = k < 3 ? 1.0 : 0.5, area = 0.0;
        tpSurface s = readStar(n, r1, r2);
        assert_int_equal(s.triangleCount, n - 2);
        for (int i = 0; i < s.triangleCount; ++i) {
            const int32_t* t = s.triangles[i];
            tpVec3 normal = tpCross(tpSub(s.vertices[t[1]], s.vertices[t[0]]),
                                    tpSub(s.vertices[t[2]], s.vertices[t[0]]));
            assert_true(normal.z > 0.0);
            area += 0.5 * normal.z;
        }
        CHECK_NEAR(area, 0.5 * n * r1 * r2 * sin(2.0 * 3.14159265358979323846 / n), 1e-10);
        tpReleaseSurface(&s);
    }
    char* text = malloc(400000);
    char* at = text + sprintf(text, "v 0 0 0\nf");
    for (int i = 0; i < 50001; ++i) {
        at += sprintf(at, " 1");
    }
    expectError(".obj", text, ":2:2: a face of 50001 corners; the most is 50000");
    free(text);
}

// A pentagram bends to the left everywhere and is not convex.
static void starsAreNotFans(void** state) {
    (void)state;
    tpSurface s = readText(".obj", "v 0 1 0\nv -0.588 -0.809 0\nv 0.951 0.309 0\n"
                                   "v -0.951 0.309 0\nv 0.588 -0.809 0\nf 1 2 3 4 5\n");
    assert_int_equal(s.triangleCount, 3);
    tpReleaseSurface(&s);
}

static void dentedPolygonsAreTriangulated(void** state) {
    (void)state;
    tpSurface s = readText(".obj", "v 0 0 0\nv 4 0 0\nv 4 3 0\nv 2 1 0\nv 0 3 0\nv 0 1 0\n"
                                   "f 1 2 3 4 5 6\n");
    assert_int_equal(s.triangleCount, 4);
    double area = 0.0;
    for (int i = 0; i < s.triangleCount; ++i) {
        const int32_t* t = s.triangles[i];
        tpVec3 n = tpCross(tpSub(s.vertices[t[1]], s.vertices[t[0]]),
                           tpSub(s.vertices[t[2]], s.vertices[t[0]]));
        assert_true(n.z > 0.0);
        area += 0.5 * n.z;
    }
    CHECK_NEAR(area, 8.0, 1e-15);
    tpReleaseSurface(&s);
}

static void objErrorsNameTheirPlace(void** state) {
    (void)state;
    expectError(".obj", "v 0 0 0\nv 1 zero 0\n", ":2:5: expected a number");
    expectError(".obj", "v 0 0\n", ":1:6: expected a number, found the end of the line");
    expectError(".obj", "v 0 0 inf\n", ":1:7: expected a finite number");
    expectError(".obj", "v 0 0 0\nf 1 2 3\n", ":2:5: vertex 2 is not there");
    expectError(".obj", "v 0 0 0\nf 1 -2 3\n", ":2:5: vertex -2 is not there");
    expectError(".obj", "v 0 0 0\n\n f 1 0 1\n", ":3:6: vertex 0 is not there");
    expectError(".obj", "v 0 0 0\nf 1 1\n", "a face needs at least 3 vertices");
    expectError(".obj", "v 0 0 0\nf 1 1 1x\n", ":2:7: expected the number of a vertex");
    expectError(".obj", "v 0 0 0\ncurv2 1 2\n", ":2:1: expected v, f");
    expectError(".obj", "# nothing\n", "no vertices");
    expectError(".obj", "", "no vertices");
}

static void stlErrorsNameTheirPlace(void** state) {
    (void)state;
    expectError(".stl", "liquid x\n", ":1:1: expected \"solid\"");
    expectError(".stl", "solid x\n facet norm 0 0 1\n", ":2:8: expected \"normal\"");
    expectError(".stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 a\n",
                ":4:12: expected a number");
    expectError(".stl", "solid x\n", "expected \"endsolid\"");
    expectError(".stl", "solid x\nendsolid x\n", "no vertices");
    expectError(".stl", "solid x\nendsolid x\nfacet", ":3:1: expected \"solid\"");
}

static const tpVec3 corners[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
static const int faces[4][3] = { { 0, 2, 1 }, { 0, 1, 3 }, { 0, 3, 2 }, { 1, 2, 3 } };

static void checkTetrahedron(tpSurface* s) {
    tpAllocator allocator = tpDefaultAllocator();
    assert_int_equal(s->vertexCount, 4);
    assert_int_equal(s->triangleCount, 4);
    tpGeometry mesh;
    assert_int_equal(tpMakeMesh(&allocator, s->vertices, s->vertexCount,
                                (const int32_t(*)[3])s->triangles, s->triangleCount,
                                tpIdentityPose(), &mesh, NULL),
                     tp_success);
    tpMassProperties properties;
    tpGeometry_Mass(&mesh, 1.0, &properties, NULL);
    CHECK_NEAR(properties.mass, 1.0 / 6.0, 1e-15);
    tpReleaseGeometry(&mesh);
    tpReleaseSurface(s);
}

static void textStlIsWelded(void** state) {
    (void)state;
    char text[2048] = "solid tetra hedron\n";
    for (int i = 0; i < 4; ++i) {
        char* end = text + strlen(text);
        const tpVec3 *a = &corners[faces[i][0]], *b = &corners[faces[i][1]],
                     *c = &corners[faces[i][2]];
        snprintf(
            end, sizeof(text) - strlen(text),
            "  FACET NORMAL nan 0 0\n   outer loop\n    vertex %g %g %g\n    vertex %g %g -%g\n"
            "    vertex %g %g %g\n   endloop\n  endfacet\n",
            a->x, a->y, a->z, b->x, b->y, -b->z, c->x, c->y, c->z);
    }
    // "-0" above: 0 and -0 are the same corner; "--1" cannot appear since only z of 0 is negated.
    for (char* minus = strstr(text, "--"); minus != NULL; minus = strstr(text, "--")) {
        memmove(minus, minus + 2, strlen(minus + 2) + 1);
    }
    strcat(text, "endsolid tetra hedron\n");
    tpSurface s = readText(".STL", text);
    checkTetrahedron(&s);
}

static size_t binaryStl(unsigned char* bytes) {
    memset(bytes, 0, 84 + 4 * 50);
    memcpy(bytes, "solid but binary", 16);
    bytes[80] = 4;
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 3; ++k) {
            tpVec3 p = corners[faces[i][k]];
            float xyz[3] = { (float)p.x, (float)p.y, (float)p.z };
            memcpy(bytes + 84 + 50 * i + 12 + 12 * k, xyz, sizeof(xyz));
        }
    }
    return 84 + 4 * 50;
}

static void binaryStlIsRead(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    unsigned char bytes[84 + 4 * 50];
    size_t length = binaryStl(bytes);
    tpSurface s;
    assert_int_equal(tpReadSurface(&allocator, writeFile(".stl", bytes, length), &s, NULL),
                     tp_success);
    checkTetrahedron(&s);
    memset(bytes + 84 + 50 + 12, 0xff, 4);
    tpError error;
    assert_int_equal(tpReadSurface(&allocator, writeFile(".stl", bytes, length), &s, &error),
                     tp_badInput);
    assert_non_null(strstr(error.message, "corner 0 of triangle 1"));
}

static void missingFilesAreNamed(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpSurface s;
    tpError error;
    assert_int_equal(tpReadSurface(&allocator, "/nowhere/at all.obj", &s, &error), tp_ioError);
    assert_non_null(strstr(error.message, "/nowhere/at all.obj: cannot be opened"));
    assert_int_equal(tpReadSurface(&allocator, "body.ply", &s, &error), tp_badInput);
    assert_non_null(strstr(error.message, ".obj or .stl"));
}

// Random bytes and cut or changed files never crash; they are read or refused.
static void brokenFilesAreRefused(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 61 };
    for (int trial = 0; trial < 500; ++trial) {
        char text[sizeof(cubeObj)];
        memcpy(text, cubeObj, sizeof(text));
        size_t length = (size_t)randomBelow(&random, (int)sizeof(text) - 1);
        for (int k = 0; k < 4; ++k) {
            text[randomBelow(&random, (int)sizeof(text) - 1)] = (char)randomBits(&random);
        }
        tpSurface s;
        tpError error;
        tpResult result = tpReadSurface(
            &allocator, writeFile(trial % 3 == 0 ? ".stl" : ".obj", text, length), &s, &error);
        if (result == tp_success) {
            for (int i = 0; i < s.triangleCount; ++i) {
                for (int k = 0; k < 3; ++k) {
                    assert_in_range(s.triangles[i][k], 0, s.vertexCount - 1);
                }
            }
            tpReleaseSurface(&s);
        } else {
            assert_int_equal(result, tp_badInput);
        }
    }
}

static void failingMemoryLeaksNothing(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    unsigned char bytes[84 + 4 * 50];
    size_t length = binaryStl(bytes);
    for (int kind = 0; kind < 2; ++kind) {
        const char* name = kind == 0 ? writeFile(".stl", bytes, length)
                                     : writeFile(".obj", cubeObj, sizeof(cubeObj) - 1);
        for (int n = 1;; ++n) {
            heap.requests = 0;
            heap.failAt = n;
            tpSurface s;
            tpResult result = tpReadSurface(&allocator, name, &s, NULL);
            if (result == tp_success) {
                tpReleaseSurface(&s);
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
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objGivesACube),
        cmocka_unit_test(dentedPolygonsAreTriangulated),
        cmocka_unit_test(largePolygonsAreTriangulated),
        cmocka_unit_test(starsAreNotFans),
        cmocka_unit_test(objErrorsNameTheirPlace),
        cmocka_unit_test(stlErrorsNameTheirPlace),
        cmocka_unit_test(textStlIsWelded),
        cmocka_unit_test(binaryStlIsRead),
        cmocka_unit_test(missingFilesAreNamed),
        cmocka_unit_test(brokenFilesAreRefused),
        cmocka_unit_test(failingMemoryLeaksNothing),
    };
    return cmocka_run_group_tests(tests, NULL, removeFile);
}
