// Distances of meshes with dents: the least of all pairs of triangles.
//
// Each pair is looked at here, without bounds and trees: the corners of one over the inside of the
// other, and all pairs of edges.

#include <string.h>

#include "all_shapes.h"
#include "tippe/collision.h"

enum { rings = 4, sides = 6, vertexCount = rings * sides + 2, triangleCount = 2 * rings * sides };

typedef struct Star {
    tpVec3 vertices[vertexCount];
    int32_t triangles[triangleCount][3];
    int count; // of triangles
    tpGeometry mesh;
} Star;

// Rings of corners about z between two poles, at random distances from the middle.
static void makeStar(tpRandom* random, double flatness, Star* star) {
    int count = 0;
    for (int i = 0; i < vertexCount; ++i) {
        double up = i < 2 ? 1.5707963267948966 * (2 * i - 1)
                          : 3.14159265358979 * ((i - 2) / sides + 1.0) / (rings + 1.0) - 1.5708;
        double round = 6.28318530717959 * (i % sides) / sides, r = randomBetween(random, 0.3, 1.0);
        star->vertices[i] = tpMakeVec3(r * tpCos(up) * tpCos(round), r * tpCos(up) * tpSin(round),
                                       flatness * r * tpSin(up));
    }
    for (int k = 0; k < sides; ++k) {
        int next = (k + 1) % sides, last = (rings - 1) * sides;
        const int32_t ends[2][3] = { { 0, 2 + next, 2 + k }, { 1, 2 + last + k, 2 + last + next } };
        memcpy(star->triangles[count++], ends[0], sizeof(ends[0]));
        memcpy(star->triangles[count++], ends[1], sizeof(ends[1]));
        for (int i = 0; i + 1 < rings; ++i) {
            int a = 2 + i * sides + k, b = 2 + i * sides + next;
            const int32_t both[2][3] = { { a, b, b + sides }, { a, b + sides, a + sides } };
            memcpy(star->triangles[count++], both[0], sizeof(both[0]));
            memcpy(star->triangles[count++], both[1], sizeof(both[1]));
        }
    }
    // Which corner a triangle begins with does not matter.
    for (int i = 0; i < count; ++i) {
        int32_t* corners = star->triangles[i];
        for (int k = (int)(randomBits(random) % 3); k > 0; --k) {
            int32_t first = corners[0];
            corners[0] = corners[1];
            corners[1] = corners[2];
            corners[2] = first;
        }
    }
    star->count = count;
    tpAllocator allocator = tpDefaultAllocator();
    assert_int_equal(tpMakeMesh(&allocator, star->vertices, vertexCount,
                                (const int32_t(*)[3])star->triangles, count, tpIdentityPose(),
                                &star->mesh, NULL),
                     tp_success);
}

static double toSegment(tpVec3 p, tpVec3 a, tpVec3 b) {
    tpVec3 way = tpSub(b, a);
    double at = fmin(fmax(tpDot(tpSub(p, a), way) / tpLengthSquared(way), 0.0), 1.0);
    return tpDistanceBetween(p, tpMulAdd(a, at, way));
}

// Ends of one and the other, and the common perpendicular if its feet are within both.
static double ofSegments(tpVec3 a, tpVec3 b, tpVec3 c, tpVec3 d) {
    double least = fmin(fmin(toSegment(a, c, d), toSegment(b, c, d)),
                        fmin(toSegment(c, a, b), toSegment(d, a, b)));
    tpVec3 u = tpSub(b, a), v = tpSub(d, c), n = tpCross(u, v), between = tpSub(c, a);
    double square = tpLengthSquared(n);
    double s = tpDot(tpCross(between, v), n), t = tpDot(tpCross(between, u), n);
    bool isInside = square > 1e-12 && s > 0.0 && s < square && t > 0.0 && t < square;
    return isInside ? fmin(least, fabs(tpDot(between, n)) / sqrt(square)) : least;
}

// A point and the inside of a triangle; INFINITY if it is not over that.
static double overTriangle(tpVec3 p, const tpVec3 t[3]) {
    tpVec3 n = tpCross(tpSub(t[1], t[0]), tpSub(t[2], t[0]));
    for (int k = 0; k < 3; ++k) {
        tpVec3 along = tpSub(t[(k + 1) % 3], t[k]);
        if (tpDot(tpCross(along, tpSub(p, t[k])), n) < 0.0) {
            return INFINITY;
        }
    }
    return fabs(tpDot(n, tpSub(p, t[0]))) / tpLength(n);
}

static double ofTriangles(const tpVec3 a[3], const tpVec3 b[3]) {
    double least = INFINITY;
    for (int i = 0; i < 3; ++i) {
        least = fmin(least, fmin(overTriangle(a[i], b), overTriangle(b[i], a)));
        for (int j = 0; j < 3; ++j) {
            least = fmin(least, ofSegments(a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]));
        }
    }
    return least;
}

static double leastOfAll(const Star* a, tpPose poseA, const Star* b, tpPose poseB) {
    double least = INFINITY;
    for (int i = 0; i < a->count; ++i) {
        for (int j = 0; j < b->count; ++j) {
            tpVec3 p[3], q[3];
            for (int k = 0; k < 3; ++k) {
                p[k] = tpTransformPoint(poseA, a->vertices[a->triangles[i][k]]);
                q[k] = tpTransformPoint(poseB, b->vertices[b->triangles[j][k]]);
            }
            least = fmin(least, ofTriangles(p, q));
        }
    }
    return least;
}

// False if the bodies overlap.
static bool checkDistance(const Star* a, tpPose poseA, const Star* b, tpPose poseB) {
    tpClosest closest;
    tpResult result = tpClosestPoints(&a->mesh, poseA, &b->mesh, poseB, NULL, &closest);
    if (result != tp_success || closest.distance <= 0.0) {
        return false;
    }
    CHECK_NEAR(closest.distance, leastOfAll(a, poseA, b, poseB), 1e-9);
    CHECK_VEC3(tpSub(closest.pointA, closest.pointB), tpScale(closest.distance, closest.normal),
               1e-12);
    return true;
}

// Leaves above each other: what is over one side of a leaf is nearly as near to its other side,
// behind that.
static void leavesAreApartByTheirNearSides(void** state) {
    (void)state;
    tpRandom random = { 52 };
    for (int n = 0; n < 400; ++n) {
        static Star a, b;
        double flatness = n % 2 == 0 ? 1e-3 : 0.02;
        makeStar(&random, flatness, &a);
        makeStar(&random, flatness, &b);
        tpVec3 lean = tpMakeVec3(randomBetween(&random, -0.2, 0.2),
                                 randomBetween(&random, -0.2, 0.2), randomBetween(&random, 0.0, 6));
        tpPose pose = { tpMakeVec3(randomBetween(&random, -0.5, 0.5),
                                   randomBetween(&random, -0.5, 0.5),
                                   n % 4 < 2 ? 0.3 + 2.0 * flatness : -0.3 - 2.0 * flatness),
                        tpQuatExp(lean) };
        assert_true(checkDistance(&a, pose, &b, tpIdentityPose()));
        tpReleaseGeometry(&a.mesh);
        tpReleaseGeometry(&b.mesh);
    }
}

static void distancesAreTheLeast(void** state) {
    (void)state;
    tpRandom random = { 51 };
    int apart = 0;
    for (int n = 0; n < 300; ++n) {
        static Star a, b;
        makeStar(&random, n % 4 == 0 ? 1.0 : 0.01, &a);
        makeStar(&random, n % 3 == 0 ? 1.0 : 0.01, &b);
        // Every other pair farther apart than they reach.
        double away = n % 2 == 0 ? randomBetween(&random, 0.3, 1.6) : 2.01;
        tpVec3 way = tpScale(away, randomDirection(&random));
        tpPose poseA = { way, randomRotation(&random) };
        tpPose poseB = { tpZeroVec3(), randomRotation(&random) };
        bool isApart = checkDistance(&a, poseA, &b, poseB);
        assert_true(n % 2 == 0 || isApart);
        apart += isApart ? 1 : 0;
        tpReleaseGeometry(&a.mesh);
        tpReleaseGeometry(&b.mesh);
    }
    print_message("%d of 300 apart\n", apart);
    assert_true(apart > 150);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(distancesAreTheLeast),
                                        cmocka_unit_test(leavesAreApartByTheirNearSides) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
