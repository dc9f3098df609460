// Contacts with triangle meshes and height fields: as they are, and without bumps.

#include "random_hulls.h"

#include "geometry/mesh.h"
#include "tippe/collision.h"

#include <stdlib.h>

enum { maxContacts = 512 };

typedef struct Contacts {
    tpContactPoint points[maxContacts];
    int count;
} Contacts;

static Contacts collide(const tpGeometry* a, tpPose poseA, const tpGeometry* b, tpPose poseB,
                        double margin) {
    static Contacts contacts;
    tpContactList list = { contacts.points, 0, maxContacts };
    assert_int_equal(tpCollide(a, poseA, b, poseB, margin, NULL, &list), tp_success);
    assert_true(list.count <= maxContacts);
    contacts.count = list.count;
    for (int i = 0; i < list.count; ++i) {
        const tpContactPoint* c = &contacts.points[i];
        CHECK_NEAR(tpLength(c->normal), 1.0, 1e-13);
        CHECK_VEC3(tpSub(c->pointA, c->pointB), tpScale(c->gap, c->normal), 1e-12);
        assert_true(c->gap <= margin + 1e-15);
        assert_true(i == 0 || c->feature > contacts.points[i - 1].feature);
    }
    return contacts;
}

static tpPose at(double x, double y, double z) {
    return tpMakePose(tpMakeVec3(x, y, z), tpIdentityQuat());
}

// Tests run with convex blocks, which collide as their hulls, and again, with this initial state,
// by their triangles.
static bool withTriangles = true;

static bool byTriangles(void** state) {
    return *state != NULL;
}

// A block from -size/2 to size/2, its faces divided into n by n cells of two triangles.
static tpGeometry makeBlock(tpVec3 size, int n, bool hasNoHull) {
    tpVec3* vertices = malloc(sizeof(tpVec3) * (size_t)(6 * (n + 1) * (n + 1)));
    int32_t(*triangles)[3] = malloc(sizeof(int32_t) * 3 * (size_t)(12 * n * n));
    // Points of the surface are numbered by their place in the grid of (n + 1)^3 points.
    int32_t* numbers = malloc(sizeof(int32_t) * (size_t)((n + 1) * (n + 1) * (n + 1)));
    int vertexCount = 0, triangleCount = 0;
    for (int i = 0; i < (n + 1) * (n + 1) * (n + 1); ++i) {
        int x = i % (n + 1), y = i / (n + 1) % (n + 1), z = i / ((n + 1) * (n + 1));
        bool isSurface = x % n == 0 || y % n == 0 || z % n == 0;
        numbers[i] = isSurface ? vertexCount : -1;
        if (isSurface) {
            vertices[vertexCount++] =
                tpMakeVec3(((double)x / n - 0.5) * size.x, ((double)y / n - 0.5) * size.y,
                           ((double)z / n - 0.5) * size.z);
        }
    }
    static const int axes[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 2, 0 },
                                    { 1, 0, 2 }, { 2, 0, 1 }, { 2, 1, 0 } };
    for (int f = 0; f < 6; ++f) {
        for (int i = 0; i < n * n; ++i) {
            int32_t corner[4];
            for (int k = 0; k < 4; ++k) {
                int p[3];
                p[axes[f][0]] = f % 2 == 0 ? n : 0;
                p[axes[f][1]] = i % n + (k == 1 || k == 2);
                p[axes[f][2]] = i / n + (k >= 2);
                corner[k] = numbers[p[0] + (n + 1) * (p[1] + (n + 1) * p[2])];
            }
            int32_t* t = triangles[triangleCount++];
            t[0] = corner[0], t[1] = corner[1], t[2] = corner[2];
            t = triangles[triangleCount++];
            t[0] = corner[0], t[1] = corner[2], t[2] = corner[3];
        }
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry mesh;
    tpError error = { 0 };
    if (tpMakeMesh(&allocator, vertices, vertexCount, (const int32_t(*)[3])triangles, triangleCount,
                   tpIdentityPose(), &mesh, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    free(vertices);
    free(triangles);
    free(numbers);
    if (hasNoHull) {
        tpForgetMeshHull(mesh.mesh);
    }
    return mesh;
}

static tpGeometry makeFlatField(int n, double width) {
    double* heights = calloc((size_t)(n * n), sizeof(double));
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry field;
    assert_int_equal(tpMakeHeightField(&allocator, n, n, width / (n - 1), width / (n - 1), heights,
                                       tpIdentityPose(), &field, NULL),
                     tp_success);
    free(heights);
    return field;
}

static tpGeometry makeBox(double x, double y, double z) {
    tpGeometry g;
    assert_int_equal(tpMakeBox(&(tpBox){ { x, y, z } }, tpIdentityPose(), &g, NULL), tp_success);
    return g;
}

// Every shape on a flat surface of many triangles has the contacts it would have on one large face:
// as many, all with the same normal and gap, wherever it lies and however it is turned.
static void slidesWithoutBumps(void** state) {
    (void)state;
    tpGeometry surfaces[3] = { makeBlock(tpMakeVec3(4.0, 4.0, 1.0), 16, true),
                               makeFlatField(33, 4.0),
                               makeBlock(tpMakeVec3(4.0, 4.0, 1.0), 16, false) };
    double tops[3] = { 0.5, 0.0, 0.5 };
    struct {
        tpGeometry shape;
        double height;
        int contacts;
    } shapes[5];

    shapes[0].shape = makeBox(0.7, 0.5, 0.4), shapes[0].height = 0.2, shapes[0].contacts = 4;
    tpMakeSphere(&(tpSphere){ 0.3 }, tpIdentityPose(), &shapes[1].shape, NULL);
    shapes[1].height = 0.3, shapes[1].contacts = 1;
    tpMakeCapsule(&(tpCapsule){ 0.1, 0.8, { 1.0, 0.3, 0.0 } }, tpIdentityPose(), &shapes[2].shape,
                  NULL);
    shapes[2].height = 0.1, shapes[2].contacts = 2;
    tpMakeCylinder(&(tpCylinder){ 0.3, 0.4, { 0.0, 0.0, 1.0 } }, tpIdentityPose(), &shapes[3].shape,
                   NULL);
    shapes[3].height = 0.2, shapes[3].contacts = 8;
    double triangle[3][2] = { { 0.0, 0.0 }, { 0.5, 0.1 }, { 0.2, 0.6 } };
    tpAllocator allocator = tpDefaultAllocator();
    tpMakePrism(&allocator, (const double(*)[2])triangle, 3, 0.3, tpIdentityPose(),
                &shapes[4].shape, NULL);
    shapes[4].height = 0.15, shapes[4].contacts = 3;

    tpRandom random = { 3 };
    for (int i = 0; i < 3000; ++i) {
        int s = i % 3, k = i / 3 % 5;
        static const double gaps[4] = { 0.0, 1e-3, -1e-3, -1e-9 };
        double gap = gaps[i / 15 % 4];
        tpPose pose = at(randomBetween(&random, -1.2, 1.2), randomBetween(&random, -1.2, 1.2),
                         tops[s] + shapes[k].height + gap);
        // Some exactly on the lines of the grid.
        if (i % 7 < 2) {
            pose.position.x = 0.125 * floor(8.0 * pose.position.x);
            pose.position.y = 0.125 * floor(8.0 * pose.position.y);
        } else {
            pose.rotation =
                tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), randomBetween(&random, 0.0, 6.28));
        }
        Contacts c = collide(&shapes[k].shape, pose, &surfaces[s], tpIdentityPose(), 0.01);
        if (c.count != shapes[k].contacts) {
            fail_msg("shape %d on surface %d, gap %g: %d contacts instead of %d (try %d)", k, s,
                     gap, c.count, shapes[k].contacts, i);
        }
        for (int j = 0; j < c.count; ++j) {
            CHECK_VEC3(c.points[j].normal, tpMakeVec3(0.0, 0.0, 1.0), 1e-12);
            CHECK_NEAR(c.points[j].gap, gap, 1e-12);
        }
    }
    for (int k = 0; k < 5; ++k) {
        tpReleaseGeometry(&shapes[k].shape);
    }
    for (int s = 0; s < 3; ++s) {
        tpReleaseGeometry(&surfaces[s]);
    }
}

// The faces of a hull as fans of triangles.
static tpGeometry makeFans(const tpHull* hull) {
    enum { maxFans = 2048 };
    static int32_t triangles[maxFans][3];
    int count = 0;
    for (int f = 0; f < hull->faceCount; ++f) {
        const int32_t* v = hull->faceVertices + hull->faceFirst[f];
        for (int k = 1; k + 1 < tpHull_FaceSize(hull, f); ++k, ++count) {
            assert_true(count < maxFans);
            triangles[count][0] = v[0];
            triangles[count][1] = v[k];
            triangles[count][2] = v[k + 1];
        }
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry mesh;
    assert_int_equal(tpMakeMesh(&allocator, hull->vertices, hull->vertexCount,
                                (const int32_t(*)[3])triangles, count, tpIdentityPose(), &mesh,
                                NULL),
                     tp_success);
    return mesh;
}

// Bodies of many corners on a floor of many triangles: most triangles are
// found to be far by a plane between. The contacts are those of corners within the margin, the
// lowest one among them, and none lies elsewhere.
static void manyCornersOnManyTriangles(void** state) {
    (void)state;
    tpRandom random = { 41 };
    tpGeometry hull, unused, floor = makeBlock(tpMakeVec3(4.0, 4.0, 1.0), 16, true);
    assert_true(makeRandomHull(&random, roundHull, 600, 0.7, &hull, &unused));
    tpGeometry ball = makeFans(hull.hull);
    for (int i = 0; i < 200; ++i) {
        tpPose pose = { randomVec3(&random, -1.0, 1.0), randomRotation(&random) };
        double lowest = -hullSupport(hull.hull, tpMakePose(tpZeroVec3(), pose.rotation),
                                     tpMakeVec3(0.0, 0.0, -1.0));
        double gap = randomBetween(&random, -0.01, 0.009);
        pose.position.z = 0.5 - lowest + gap;
        Contacts c = collide(&ball, pose, &floor, tpIdentityPose(), 0.01);
        double least = INFINITY;
        for (int k = 0; k < c.count; ++k) {
            CHECK_VEC3(c.points[k].normal, tpMakeVec3(0.0, 0.0, 1.0), 1e-12);
            CHECK_NEAR(c.points[k].pointB.z, 0.5, 1e-12);
            least = fmin(least, c.points[k].gap);
        }
        CHECK_NEAR(least, gap, 1e-12);
    }
    tpReleaseGeometry(&hull);
    tpReleaseGeometry(&unused);
    tpReleaseGeometry(&ball);
    tpReleaseGeometry(&floor);
}

// A convex body as a mesh is at the same distance as it is as a hull.
static void agreesWithHulls(void** state) {
    (void)state;
    tpRandom random = { 17 };
    int touching = 0;
    for (int i = 0; i < 1000; ++i) {
        tpGeometry a, b, mesh, unused;
        assert_true(makeRandomHull(&random, roundHull, 30, 1.0, &a, &unused));
        tpReleaseGeometry(&unused);
        assert_true(makeRandomHull(&random, cloudHull, 30, 1.0, &b, &unused));
        tpReleaseGeometry(&unused);
        mesh = makeFans(b.hull);
        tpPose poseA = { tpScale(3.0, randomDirection(&random)), tpIdentityQuat() };
        poseA.rotation = randomRotation(&random);
        tpPose poseB = tpMakePose(tpZeroVec3(), randomRotation(&random));
        tpClosest expected, actual;
        tpClosestPoints(&a, poseA, &b, poseB, NULL, &expected);
        tpClosestPoints(&a, poseA, &mesh, poseB, NULL, &actual);
        CHECK_NEAR(actual.distance, expected.distance, 1e-12);
        CHECK_VEC3(actual.normal, expected.normal, 1e-9);
        // Near and just overlapping: the nearest contact tells the same.
        double target = randomBetween(&random, -0.003, 0.02);
        poseA.position = tpMulAdd(poseA.position, target - expected.distance, expected.normal);
        tpClosestPoints(&a, poseA, &b, poseB, NULL, &expected);
        Contacts c = collide(&a, poseA, &mesh, poseB, 0.03);
        double least = INFINITY;
        for (int k = 0; k < c.count; ++k) {
            least = fmin(least, c.points[k].gap);
            // No contact pushes back into the body.
            assert_true(tpDot(c.points[k].normal, expected.normal) > 0.5);
        }
        assert_true(c.count > 0);
        if (target > 0.0) {
            CHECK_NEAR(least, expected.distance, 1e-5);
        } else {
            // Across a sharp edge the direction is that of a pair pulled apart: nearly the best
            // one.
            CHECK_NEAR(least, expected.distance, 0.1 * fabs(expected.distance) + 1e-6);
        }
        ++touching;
        tpReleaseGeometry(&a);
        tpReleaseGeometry(&b);
        tpReleaseGeometry(&mesh);
    }
    assert_int_equal(touching, 1000);
}

// A ball over a ridge: pushed by the ridge between the normals of its sides, by a side elsewhere.
static void ridgesPushBetweenTheirSides(void** state) {
    tpGeometry block = makeBlock(tpMakeVec3(1.0, 1.0, 1.0), 3, byTriangles(state)), ball;
    tpMakeSphere(&(tpSphere){ 0.1 }, tpIdentityPose(), &ball, NULL);
    for (int degrees = 0; degrees <= 90; degrees += 5) {
        double angle = degrees * acos(-1.0) / 180.0;
        tpVec3 n = tpMakeVec3(sin(angle), 0.0, cos(angle));
        tpVec3 center = tpMulAdd(tpMakeVec3(0.5, 0.1, 0.5), 0.1, n);
        Contacts c =
            collide(&ball, tpMakePose(center, tpIdentityQuat()), &block, tpIdentityPose(), 0.01);
        assert_int_equal(c.count, 1);
        CHECK_VEC3(c.points[0].normal, n, 1e-9);
        CHECK_NEAR(c.points[0].gap, 0.0, 1e-12);
    }
    // A corner likewise.
    tpVec3 n = tpNormalize(tpMakeVec3(1.0, 2.0, 3.0));
    tpVec3 center = tpMulAdd(tpMakeVec3(0.5, 0.5, 0.5), 0.1, n);
    Contacts c =
        collide(&ball, tpMakePose(center, tpIdentityQuat()), &block, tpIdentityPose(), 0.01);
    assert_int_equal(c.count, 1);
    CHECK_VEC3(c.points[0].normal, n, 1e-9);
    tpReleaseGeometry(&block);
}

// An L-shaped body: a box in its corner feels floor and wall, and nothing of its convex hull.
static void valleysPushWithBothSides(void** state) {
    (void)state;
    // The outline of the L in x-z, extruded along y.
    static const double outline[6][2] = {
        { 0, 0 }, { 2, 0 }, { 2, 1 }, { 1, 1 }, { 1, 2 }, { 0, 2 }
    };
    tpVec3 vertices[12];
    for (int i = 0; i < 12; ++i) {
        vertices[i] = tpMakeVec3(outline[i % 6][0], i < 6 ? -1.0 : 1.0, outline[i % 6][1]);
    }
    static const int32_t cap[4][3] = { { 0, 1, 2 }, { 0, 2, 3 }, { 0, 3, 4 }, { 0, 4, 5 } };
    int32_t triangles[20][3];
    int count = 0;
    for (int i = 0; i < 4; ++i, count += 2) {
        for (int k = 0; k < 3; ++k) {
            triangles[count][k] = cap[i][k];
            triangles[count + 1][k] = 6 + cap[i][2 - k];
        }
    }
    for (int i = 0; i < 6; ++i, count += 2) {
        int32_t a = i, b = (i + 1) % 6, c = b + 6, d = a + 6;
        const int32_t quad[2][3] = { { a, d, c }, { a, c, b } };
        for (int k = 0; k < 6; ++k) {
            triangles[count + k / 3][k % 3] = quad[k / 3][k % 3];
        }
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry mesh, box = makeBox(0.4, 0.4, 0.4);
    tpError error = { 0 };
    if (tpMakeMesh(&allocator, vertices, 12, (const int32_t(*)[3])triangles, count,
                   tpIdentityPose(), &mesh, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    // Free in the hollow, though inside the hull.
    Contacts c = collide(&box, at(1.3, 0.0, 1.4), &mesh, tpIdentityPose(), 0.01);
    assert_int_equal(c.count, 0);
    c = collide(&box, at(1.2001, 0.0, 1.1999), &mesh, tpIdentityPose(), 0.01);
    int floors = 0, walls = 0;
    for (int i = 0; i < c.count; ++i) {
        if (c.points[i].normal.z > 0.999999) {
            CHECK_NEAR(c.points[i].gap, -1e-4, 1e-12);
            ++floors;
        } else {
            CHECK_VEC3(c.points[i].normal, tpMakeVec3(1.0, 0.0, 0.0), 1e-12);
            CHECK_NEAR(c.points[i].gap, 1e-4, 1e-12);
            ++walls;
        }
    }
    assert_true(floors == 4 && walls >= 2);
    tpReleaseGeometry(&mesh);
}

// A box deep in one large triangle of a block touches it with its four corners, and tilted boxes,
// beside its rim as well, touch nowhere twice.
static void boxesTouchOnce(void** state) {
    tpGeometry floor = makeBlock(tpMakeVec3(4.0, 4.0, 1.0), 1, byTriangles(state));
    tpGeometry boxes[2] = { makeBox(0.2, 0.2, 0.2), makeBox(1.0, 0.1, 0.3) };
    for (int i = 0; i < 12; ++i) {
        double deep = 0.0099 * i;
        Contacts c = collide(&boxes[0], at(0.9, -0.8, 0.6 - deep), &floor, tpIdentityPose(), 0.01);
        assert_int_equal(c.count, 4);
        for (int k = 0; k < c.count; ++k) {
            CHECK_VEC3(c.points[k].normal, tpMakeVec3(0.0, 0.0, 1.0), 1e-12);
            CHECK_NEAR(c.points[k].gap, -deep, 1e-12);
        }
    }
    for (int i = 0; i < 2 * 8 * 4; ++i) {
        tpPose pose = at(0.9 + 0.17 * (i / 2 % 8), 0.37, 0.62 - 0.03 * (i / 16));
        pose.rotation = tpQuatFromAxisAngle(tpMakeVec3(1.0, 1.0, 0.0), 0.3);
        Contacts c = collide(&boxes[i % 2], pose, &floor, tpIdentityPose(), 0.01);
        for (int k = 0; k < c.count; ++k) {
            for (int j = 0; j < k; ++j) {
                assert_true(tpLength(tpSub(c.points[k].pointA, c.points[j].pointA)) > 1e-6);
            }
        }
    }
    tpReleaseGeometry(&floor);
}

// Meshes on meshes, on planes and on height fields, one of them moving and turned.
static void meshesMeetMeshes(void** state) {
    tpGeometry cube = makeBlock(tpMakeVec3(0.6, 0.6, 0.6), 2, byTriangles(state));
    tpGeometry floor = makeBlock(tpMakeVec3(4.0, 4.0, 1.0), 8, byTriangles(state)),
               field = makeFlatField(17, 4.0);
    tpGeometry plane;
    tpMakePlane(&(tpPlane){ { 0.0, 0.0, 1.0 }, 0.5 }, tpIdentityPose(), &plane, NULL);
    tpRandom random = { 23 };
    for (int i = 0; i < 300; ++i) {
        static const double gaps[3] = { 0.0, 2e-3, -2e-3 };
        double gap = gaps[i / 3 % 3];
        const tpGeometry* under = i % 3 == 0 ? &floor : i % 3 == 1 ? &field : &plane;
        double top = i % 3 == 1 ? 0.0 : 0.5;
        tpPose pose = at(randomBetween(&random, -1.2, 1.2), randomBetween(&random, -1.2, 1.2),
                         top + 0.3 + gap);
        pose.rotation =
            tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), randomBetween(&random, 0.0, 6.28));
        Contacts c = collide(&cube, pose, under, tpIdentityPose(), 0.01);
        // The four corners, and the middles of the edges between them where the mesh has vertices.
        assert_true(c.count >= 4 && c.count <= 8);
        int corners = 0;
        for (int k = 0; k < c.count; ++k) {
            CHECK_VEC3(c.points[k].normal, tpMakeVec3(0.0, 0.0, 1.0), 1e-12);
            CHECK_NEAR(c.points[k].gap, gap, 1e-12);
            tpVec3 local = tpUntransformPoint(pose, c.points[k].pointA);
            corners += fabs(local.x) > 0.299 && fabs(local.y) > 0.299;
        }
        assert_int_equal(corners, 4);
        tpClosest closest;
        assert_int_equal(tpClosestPoints(&cube, pose, under, tpIdentityPose(), NULL, &closest),
                         tp_success);
        CHECK_NEAR(closest.distance, gap, 1e-12);
    }
    // On a plate, within rounding of touching: its sides do not count.
    tpGeometry plate = makeBlock(tpMakeVec3(4.0, 4.0, 0.02), 4, byTriangles(state));
    for (int i = 0; i < 40; ++i) {
        double gap = (i % 2 == 0 ? 1.0 : -1.0) * pow(10.0, -0.5 * (i / 2) - 7.0);
        Contacts c = collide(&cube, at(0.11, 0.07, 0.31 + gap), &plate, tpIdentityPose(), 0.01);
        assert_true(c.count >= 4 && c.count <= 8);
        for (int k = 0; k < c.count; ++k) {
            CHECK_VEC3(c.points[k].normal, tpMakeVec3(0.0, 0.0, 1.0), 1e-12);
            CHECK_NEAR(c.points[k].gap, gap, 1e-15);
        }
        c = collide(&cube, at(0.11, 0.07, 0.31 + gap), &plate, tpIdentityPose(), 0.0);
        for (int k = 0; k < c.count; ++k) { // none, or those that touch
            CHECK_VEC3(c.points[k].normal, tpMakeVec3(0.0, 0.0, 1.0), 1e-12);
        }
        assert_true(fabs(gap) < 1e-15 || (c.count > 0) == (gap < 0.0));
    }
    // Deep in it: out by the shorter way, through the plate.
    Contacts deep = collide(&cube, at(0.11, 0.07, 0.26), &plate, tpIdentityPose(), 0.01);
    for (int k = 0; k < deep.count; ++k) {
        CHECK_VEC3(deep.points[k].normal, tpMakeVec3(0.0, 0.0, 1.0), 1e-12);
        CHECK_NEAR(deep.points[k].gap, -0.05, 1e-12);
    }
    assert_true(*state != NULL ? deep.count > 0 : deep.count == 4);
    tpReleaseGeometry(&plate);
    // Far apart: distances of two blocks.
    tpClosest closest;
    tpClosestPoints(&cube, at(4.3, 0.0, 2.8), &floor, tpIdentityPose(), NULL, &closest);
    CHECK_NEAR(closest.distance, sqrt(4.0 + 4.0), 1e-12);
    // Two edges across each other.
    tpPose upper = { { 0.1, 0.05, 0.6 * sqrt(2.0) + 1e-3 },
                     tpQuatFromAxisAngle(tpMakeVec3(1.0, 0.0, 0.0), atan(1.0)) };
    tpPose lower = { { 0.0, 0.0, 0.0 }, tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), atan(1.0)) };
    Contacts c = collide(&cube, upper, &cube, lower, 0.01);
    assert_int_equal(c.count, 1);
    CHECK_VEC3(c.points[0].normal, tpMakeVec3(0.0, 0.0, 1.0), 1e-12);
    CHECK_NEAR(c.points[0].gap, 1e-3, 1e-12);
    tpReleaseGeometry(&cube);
    tpReleaseGeometry(&floor);
    tpReleaseGeometry(&field);
}

// Two blocks of triangles on edge, crossed at any angle, the one above the other: the edges push
// straight up and down, and are as far apart as they are, also in overlaps up to a twentieth of a
// block.
static void crossedEdgesPushApart(void** state) {
    tpGeometry block = makeBlock(tpMakeVec3(1.0, 1.0, 1.0), 1, byTriangles(state));
    const double eighth = 0.25 * acos(-1.0), half = sqrt(0.5);
    tpQuat onEdge = tpQuatFromAxisAngle(tpMakeVec3(1.0, 0.0, 0.0), eighth);
    tpRandom random = { 83 };
    for (int trial = 0; trial < 200; ++trial) {
        double angle = randomBetween(&random, 0.6, 2.5), gap = randomBetween(&random, -0.05, 0.009);
        tpQuat yaw = tpQuatFromAxisAngle(tpMakeVec3(0.0, 0.0, 1.0), angle);
        tpPose above =
            tpMakePose(tpMakeVec3(randomBetween(&random, -0.1, 0.1), 0.07, 2.0 * half + gap),
                       tpMulQQ(yaw, onEdge));
        tpPose below = tpMakePose(tpZeroVec3(), onEdge);
        for (int isSwapped = 0; isSwapped < 2; ++isSwapped) {
            Contacts c = isSwapped ? collide(&block, below, &block, above, 0.01)
                                   : collide(&block, above, &block, below, 0.01);
            assert_int_equal(c.count, 1);
            CHECK_VEC3(c.points[0].normal, tpMakeVec3(0.0, 0.0, isSwapped ? -1.0 : 1.0), 1e-9);
            CHECK_NEAR(c.points[0].gap, gap, 1e-12);
        }
    }
    tpReleaseGeometry(&block);
}

// The corner of a block in a plate lies behind triangles of several sides of the plate. Only the
// nearest side pushes: up, and as far as the corner is deep.
static void thinPlatesPushBack(void** state) {
    const double thickness = 0.1;
    tpGeometry plate = makeBlock(tpMakeVec3(2.0, 2.0, thickness), 4, byTriangles(state));
    tpGeometry block = makeBlock(tpMakeVec3(0.4, 0.4, 0.4), 1, false);
    tpRandom random = { 53 };
    for (int trial = 0; trial < 200; ++trial) {
        tpQuat q;
        double lowest, second, x, y;
        do { // one corner is well below the others
            q = randomRotation(&random);
            lowest = second = INFINITY;
            x = y = 0.0;
            for (int i = 0; i < 8; ++i) {
                tpVec3 corner = tpRotate(
                    q, tpMakeVec3(i & 1 ? 0.2 : -0.2, i & 2 ? 0.2 : -0.2, i & 4 ? 0.2 : -0.2));
                second = fmin(second, fmax(lowest, corner.z));
                if (corner.z < lowest) {
                    lowest = corner.z;
                    x = corner.x;
                    y = corner.y;
                }
            }
        } while (second - lowest < 0.05);
        // Near the rim the side of the plate is not much farther than its top.
        bool isAtRim = trial % 2 == 1;
        double depth = randomBetween(&random, 0.001, isAtRim ? 0.004 : 0.015);
        double aside = 4.2 * depth + randomBetween(&random, 0.0, 0.003);
        double placeX = isAtRim ? 1.0 - aside : randomBetween(&random, -0.5, 0.5);
        double placeY = randomBetween(&random, -0.5, 0.5);
        tpPose pose =
            tpMakePose(tpMakeVec3(placeX - x, placeY - y, 0.5 * thickness - depth - lowest), q);
        for (int isSwapped = 0; isSwapped < 2; ++isSwapped) {
            Contacts c = isSwapped ? collide(&plate, tpIdentityPose(), &block, pose, 0.0)
                                   : collide(&block, pose, &plate, tpIdentityPose(), 0.0);
            double deepest = 0.0;
            assert_true(c.count > 0);
            for (int i = 0; i < c.count; ++i) {
                deepest = fmin(deepest, c.points[i].gap);
                if (!isAtRim) {
                    CHECK_NEAR(c.points[i].normal.z, isSwapped ? -1.0 : 1.0, 1e-12);
                }
            }
            CHECK_NEAR(deepest, -depth, 1e-12);
        }
    }
    tpReleaseGeometry(&plate);
    tpReleaseGeometry(&block);
}

// Contacts inside of faces are named by their triangle, so that what a ball carries over to the
// next step is of the same one: the same on a triangle, another on each. A flat side of a convex
// mesh is one face.
static void trianglesHaveNames(void** state) {
    (void)state;
    tpGeometry block = makeBlock(tpMakeVec3(2.0, 2.0, 1.0), 2, true);
    tpGeometry ball = { .type = tp_sphereShape, .sphere = { .radius = 0.1 } };
    // Inside of the eight triangles on top, twice each.
    static const double x[8] = { -0.7, -0.3, 0.3, 0.7, -0.7, -0.3, 0.3, 0.7 };
    static const double y[8] = { -0.3, -0.7, -0.3, -0.7, 0.7, 0.3, 0.7, 0.3 };
    uint64_t names[8];
    for (int i = 0; i < 8; ++i) {
        for (int again = 0; again < 2; ++again) {
            Contacts one = collide(&block, at(0.0, 0.0, 0.0), &ball,
                                   at(x[i] + 0.02 * again, y[i] - 0.01 * again, 0.59), 0.01);
            assert_int_equal(one.count, 1);
            assert_true(again == 0 || one.points[0].feature == names[i]);
            names[i] = one.points[0].feature;
        }
    }
    int different = 0;
    for (int i = 0; i < 8; ++i) {
        int same = 0;
        for (int k = 0; k < i; ++k) {
            same += names[k] == names[i];
        }
        different += same == 0;
    }
    assert_int_equal(different, 8);
    tpReleaseGeometry(&block);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slidesWithoutBumps),
        cmocka_unit_test(agreesWithHulls),
        cmocka_unit_test(manyCornersOnManyTriangles),
        cmocka_unit_test(ridgesPushBetweenTheirSides),
        cmocka_unit_test_prestate(ridgesPushBetweenTheirSides, &withTriangles),
        cmocka_unit_test(valleysPushWithBothSides),
        cmocka_unit_test(meshesMeetMeshes),
        cmocka_unit_test_prestate(meshesMeetMeshes, &withTriangles),
        cmocka_unit_test(boxesTouchOnce),
        cmocka_unit_test_prestate(boxesTouchOnce, &withTriangles),
        cmocka_unit_test(thinPlatesPushBack),
        cmocka_unit_test_prestate(thinPlatesPushBack, &withTriangles),
        cmocka_unit_test(crossedEdgesPushApart),
        cmocka_unit_test_prestate(crossedEdgesPushApart, &withTriangles),
        cmocka_unit_test(trianglesHaveNames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
