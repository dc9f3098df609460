// Overlapping bodies of triangles push apart along the least translation.
//
// The truth is computed here from the triangles alone. A direction n proves that a translation by
// at least max over B of n . x less min over A of n . x along n parts two convex bodies. The least
// one is among the normals of both bodies' faces and the cross products of their edges.

#include "random_hulls.h"

#include "tippe/collision.h"

#include <float.h>

// Contacts nearer than this are asked for, m.
static const double margin = 0.01;

enum { maxCorners = 64, maxTriangles = 128, maxContacts = 512 };

// A convex body, or one with a dent that the other body does not reach.
typedef struct Solid {
    tpVec3 corners[maxCorners]; // of its convex hull
    int32_t triangles[maxTriangles][3];
    int cornerCount, triangleCount; // of its convex hull
    double dentLevel;               // the dent is above this height in the frame of the body
    tpGeometry shape;
} Solid;

static void makeShape(Solid* s, bool isDented) {
    tpVec3 corners[maxCorners];
    int32_t triangles[maxTriangles][3];
    int cornerCount = s->cornerCount, count = 0;
    for (int i = 0; i < s->cornerCount; ++i) {
        corners[i] = s->corners[i];
    }
    s->dentLevel = INFINITY;
    for (int i = 0; i < s->triangleCount; ++i) {
        const int32_t* t = s->triangles[i];
        triangles[count][0] = t[0], triangles[count][1] = t[1], triangles[count++][2] = t[2];
        double height = corners[t[0]].z;
        if (isDented && corners[t[1]].z == height && corners[t[2]].z == height && height > 0.0) {
            // The middle of a triangle on top, pressed in.
            tpVec3 middle = tpAdd(tpAdd(corners[t[0]], corners[t[1]]), corners[t[2]]);
            corners[cornerCount] = tpScale(1.0 / 3.0, middle);
            corners[cornerCount].z = s->dentLevel = 0.8 * height;
            triangles[count - 1][2] = cornerCount;
            triangles[count][0] = t[1], triangles[count][1] = t[2];
            triangles[count++][2] = cornerCount;
            triangles[count][0] = t[2], triangles[count][1] = t[0];
            triangles[count++][2] = cornerCount++;
            isDented = false;
        }
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpError error = { 0 };
    if (tpMakeMesh(&allocator, corners, cornerCount, (const int32_t(*)[3])triangles, count,
                   tpIdentityPose(), &s->shape, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
}

static const int32_t blockTriangles[12][3] = { { 0, 2, 3 }, { 0, 3, 1 }, { 4, 5, 7 }, { 4, 7, 6 },
                                               { 0, 1, 5 }, { 0, 5, 4 }, { 2, 6, 7 }, { 2, 7, 3 },
                                               { 0, 4, 6 }, { 0, 6, 2 }, { 1, 3, 7 }, { 1, 7, 5 } };

static void layBlock(Solid* s, tpVec3 size) {
    s->cornerCount = 8;
    s->triangleCount = 12;
    for (int i = 0; i < 8; ++i) {
        s->corners[i] =
            tpMakeVec3(i & 1 ? 0.5 * size.x : -0.5 * size.x, i & 2 ? 0.5 * size.y : -0.5 * size.y,
                       i & 4 ? 0.5 * size.z : -0.5 * size.z);
    }
    for (int i = 0; i < 36; ++i) {
        s->triangles[i / 3][i % 3] = blockTriangles[i / 3][i % 3];
    }
}

// The faces of a random hull as fans of triangles.
static void layHull(Solid* s, tpRandom* random, HullKind kind, int pointCount, double size) {
    tpGeometry hull, unused;
    assert_true(makeRandomHull(random, kind, pointCount, size, &hull, &unused));
    tpReleaseGeometry(&unused);
    s->cornerCount = hull.hull->vertexCount;
    s->triangleCount = 0;
    for (int i = 0; i < s->cornerCount; ++i) {
        s->corners[i] = hull.hull->vertices[i];
    }
    for (int f = 0; f < hull.hull->faceCount; ++f) {
        const int32_t* v = hull.hull->faceVertices + hull.hull->faceFirst[f];
        for (int k = 1; k + 1 < tpHull_FaceSize(hull.hull, f); ++k) {
            int32_t* t = s->triangles[s->triangleCount++];
            t[0] = v[0], t[1] = v[k], t[2] = v[k + 1];
        }
    }
    tpReleaseGeometry(&hull);
}

// The truth ---------------------------------------------------------------------------------------

static double lowest(const Solid* s, tpPose pose, tpVec3 n) {
    double least = DBL_MAX;
    tpVec3 local = tpUnrotate(pose.rotation, n);
    for (int i = 0; i < s->cornerCount; ++i) {
        least = fmin(least, tpDot(local, s->corners[i]));
    }
    return least + tpDot(n, pose.position);
}

// How far A is over B along n: negative if they overlap.
static double separation(const Solid* a, tpPose poseA, const Solid* b, tpPose poseB, tpVec3 n) {
    return lowest(a, poseA, n) + lowest(b, poseB, tpNeg(n));
}

static tpVec3 edgeOf(const Solid* s, tpPose pose, int i) {
    const int32_t* t = s->triangles[i / 3];
    return tpRotate(pose.rotation, tpSub(s->corners[t[(i + 1) % 3]], s->corners[t[i % 3]]));
}

// The best direction found so far.
typedef struct Best {
    double separation;
    tpVec3 normal;
} Best;

static void tryNormal(const Solid* a, tpPose poseA, const Solid* b, tpPose poseB, tpVec3 n,
                      Best* best) {
    double value = separation(a, poseA, b, poseB, n);
    if (value > best->separation) {
        *best = (Best){ value, n };
    }
}

static void tryFaces(const Solid* a, tpPose poseA, const Solid* b, tpPose poseB, const Solid* faces,
                     tpPose pose, double sign, Best* best) {
    for (int i = 0; i < faces->triangleCount; ++i) {
        tpVec3 n = tpCross(edgeOf(faces, pose, 3 * i), edgeOf(faces, pose, 3 * i + 1));
        tryNormal(a, poseA, b, poseB, tpScale(sign / tpLength(n), n), best);
    }
}

static Best leastTranslation(const Solid* a, tpPose poseA, const Solid* b, tpPose poseB) {
    Best best = { -DBL_MAX, { 0.0, 0.0, 0.0 } };
    tryFaces(a, poseA, b, poseB, b, poseB, 1.0, &best);
    tryFaces(a, poseA, b, poseB, a, poseA, -1.0, &best);
    for (int i = 0; i < 3 * a->triangleCount && best.separation < 0.0; ++i) {
        for (int j = 0; j < 3 * b->triangleCount; ++j) {
            tpVec3 u = edgeOf(a, poseA, i), v = edgeOf(b, poseB, j), n = tpCross(u, v);
            // Each edge once, from the triangle that runs it upwards.
            const int32_t *s = a->triangles[i / 3], *t = b->triangles[j / 3];
            if (s[i % 3] > s[(i + 1) % 3] || t[j % 3] > t[(j + 1) % 3] ||
                tpLength(n) < 1e-9 * tpLength(u) * tpLength(v)) {
                continue;
            }
            n = tpNormalize(n);
            tryNormal(a, poseA, b, poseB, n, &best);
            tryNormal(a, poseA, b, poseB, tpNeg(n), &best);
        }
    }
    return best;
}

// Whether a body reaches into the dent of another when it is moved by up to `depth`.
static bool reachesDent(const Solid* s, tpPose pose, const Solid* other, tpPose otherPose,
                        double depth) {
    tpVec3 up = tpRotate(pose.rotation, tpMakeVec3(0.0, 0.0, 1.0));
    return -lowest(other, otherPose, tpNeg(up)) - tpDot(up, pose.position) + depth + margin >
           s->dentLevel;
}

// Whether all of a body lies inside the other.
static bool isWithin(const Solid* inner, tpPose innerPose, const Solid* outer, tpPose outerPose) {
    for (int i = 0; i < outer->triangleCount; ++i) {
        tpVec3 n = tpNormalize(
            tpCross(edgeOf(outer, outerPose, 3 * i), edgeOf(outer, outerPose, 3 * i + 1)));
        tpVec3 corner = tpTransformPoint(outerPose, outer->corners[outer->triangles[i][0]]);
        if (-lowest(inner, innerPose, tpNeg(n)) > tpDot(n, corner)) {
            return false;
        }
    }
    return true;
}

// The probe ---------------------------------------------------------------------------------------

typedef struct Count {
    int tried, wrong;
    int round; // single contacts whose normal is not the best
    double worst;
} Count;

// A face whose normal is within 0.6 degrees of the least translation takes its place: gaps are then
// right to 5e-5 of themselves. Edges that just meet count as round, of boxes too: their depth is
// right, and they push along a direction that is nearly the best, but for one in thousands.
static const double faceCosine = 0.99994, gapPart = 1e-4, roundPart = 0.02;

// One pair: the deepest contact tells the least translation, and its normal is one that parts the
// bodies by it. No contact claims to be deeper.
static void probe(const Solid* a, tpPose poseA, const Solid* b, tpPose poseB, const Best* best,
                  Count* count) {
    static tpContactPoint points[maxContacts];
    tpContactList list = { points, 0, maxContacts };
    assert_int_equal(tpCollide(&a->shape, poseA, &b->shape, poseB, margin, NULL, &list),
                     tp_success);
    assert_true(list.count <= maxContacts);
    tpClosest deepest = { .distance = 0.0 };
    for (int i = 0; i < list.count; ++i) {
        if (i == 0 || points[i].gap < deepest.distance) {
            deepest.distance = points[i].gap;
            deepest.normal = points[i].normal;
        }
    }
    double error = fabs(deepest.distance - best->separation);
    bool isAlong = tpDot(deepest.normal, best->normal) >= faceCosine;
    if (list.count > 0 && !isAlong) {
        double miss =
            (1.0 + roundPart) * best->separation - separation(a, poseA, b, poseB, deepest.normal);
        if (list.count == 1) {
            count->round += miss > 0.0;
        } else {
            error = fmax(error, miss);
        }
    }
    ++count->tried;
    count->wrong += error > 1e-9 - gapPart * best->separation;
    count->worst = fmax(count->worst, error);
}

typedef void (*MakePair)(tpRandom* random, int i, Solid* a, Solid* b);

static Count probeMany(uint64_t seed, int wanted, MakePair make, double deepestPart) {
    Count count = { 0 };
    tpRandom random = { seed };
    for (int i = 0; count.tried < wanted; ++i) {
        Solid a, b;
        make(&random, i, &a, &b);
        for (int k = 0; k < 40; ++k) {
            tpPose poseB = { randomVec3(&random, -1.0, 1.0), randomRotation(&random) };
            tpPose poseA = { tpMulAdd(poseB.position, randomBetween(&random, 0.3, 1.0),
                                      randomDirection(&random)),
                             randomRotation(&random) };
            Best best = leastTranslation(&a, poseA, &b, poseB);
            double depth = -best.separation;
            if (depth < 1e-4 || depth > deepestPart || isWithin(&a, poseA, &b, poseB) ||
                isWithin(&b, poseB, &a, poseA) || reachesDent(&a, poseA, &b, poseB, depth) ||
                reachesDent(&b, poseB, &a, poseA, depth)) {
                continue;
            }
            probe(&a, poseA, &b, poseB, &best, &count);
        }
        tpReleaseGeometry(&a.shape);
        tpReleaseGeometry(&b.shape);
    }
    return count;
}

static void tell(const char* what, const Count* count) {
    print_message("%-24s %4d of %4d wrong, worst %.2g m; %d round\n", what, count->wrong,
                  count->tried, count->worst, count->round);
    assert_true(250 * count->round <= count->tried);
}

static tpVec3 randomSize(tpRandom* random) {
    return randomVec3(random, 0.4, 1.0);
}

static void makeBoxShape(Solid* s, tpVec3 size) {
    layBlock(s, size);
    s->dentLevel = INFINITY;
    assert_int_equal(tpMakeBox(&(tpBox){ size }, tpIdentityPose(), &s->shape, NULL), tp_success);
}

static void blockOnBox(tpRandom* random, int i, Solid* a, Solid* b) {
    layBlock(i % 2 ? a : b, randomSize(random));
    makeShape(i % 2 ? a : b, false);
    makeBoxShape(i % 2 ? b : a, randomSize(random));
}

static void blockOnBlock(tpRandom* random, int i, Solid* a, Solid* b) {
    (void)i;
    layBlock(a, randomSize(random));
    layBlock(b, randomSize(random));
    makeShape(a, false);
    makeShape(b, false);
}

static void hullOnHull(tpRandom* random, int i, Solid* a, Solid* b) {
    layHull(a, random, i % 2 ? roundHull : cloudHull, 12, 0.6);
    layHull(b, random, i % 3 ? tetraHull : roundHull, 10, 0.7);
    makeShape(a, false);
    makeShape(b, false);
}

static void boxOnBox(tpRandom* random, int i, Solid* a, Solid* b) {
    (void)i;
    makeBoxShape(a, randomSize(random));
    makeBoxShape(b, randomSize(random));
}

static void convexBodies(void** state) {
    (void)state;
    static const struct {
        const char* name;
        MakePair make;
    } rows[] = { { "box on box", boxOnBox },
                 { "mesh on box", blockOnBox },
                 { "mesh block on block", blockOnBlock },
                 { "mesh hull on hull", hullOnHull } };
    int wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        Count count = probeMany(1 + i, 500, rows[i].make, INFINITY);
        tell(rows[i].name, &count);
        wrong += count.wrong;
    }
    assert_int_equal(wrong, 0);
}

static void dentedOnBox(tpRandom* random, int i, Solid* a, Solid* b) {
    layBlock(i % 2 ? a : b, randomSize(random));
    makeShape(i % 2 ? a : b, true);
    makeBoxShape(i % 2 ? b : a, randomSize(random));
}

static void dentedOnBlock(tpRandom* random, int i, Solid* a, Solid* b) {
    layBlock(a, randomSize(random));
    layBlock(b, randomSize(random));
    makeShape(a, i % 2 == 0);
    makeShape(b, i % 2 == 1);
}

static void dentedOnDented(tpRandom* random, int i, Solid* a, Solid* b) {
    (void)i;
    layBlock(a, randomSize(random));
    layBlock(b, randomSize(random));
    makeShape(a, true);
    makeShape(b, true);
}

// Bodies that are not convex, but are where they overlap.
static void dentedBodies(void** state) {
    (void)state;
    static const struct {
        const char* name;
        MakePair make;
    } rows[] = { { "dented on box", dentedOnBox },
                 { "dented on block", dentedOnBlock },
                 { "dented on dented", dentedOnDented } };
    int wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        Count count = probeMany(11 + i, 500, rows[i].make, 0.2);
        tell(rows[i].name, &count);
        wrong += count.wrong;
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convexBodies),
        cmocka_unit_test(dentedBodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
