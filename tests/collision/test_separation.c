// Signed distances of convex polyhedra, proved for each of many random pairs.
//
// No library is asked. The answer (distance, normal, points) proves itself from both sides: the
// support functions along the normal, by a plain loop over all vertices, bound the distance from
// below; the two points, each inside its body to 1e-9, bound it from above. Distances hold to 1e-10
// of the size of the pair (needles, plates and size ratios up to 1e6 are among them), and 98
// percent to 1e-13. Needles against needles a thousand times as long miss that in about one pair of
// 100,000, by a factor of up to two: one in 20,000 may, none beyond 1e-8. For overlapping pairs the
// first part shows a depth that suffices, and every axis that could give a smaller one is tried
// (all of them for small hulls, random directions for others). Swapping, mirroring and moving the
// pair must not change the answer.
//
// TIPPE_PAIRS sets the number of pairs (default 120,000).

#include "random_hulls.h"

#include "tippe/collision.h"

#include <stdlib.h>

enum { poolSize = 96 };

typedef struct Pool {
    tpGeometry hulls[poolSize], mirrored[poolSize];
    double sizes[poolSize];
} Pool;

// Sizes from 1e-3 to 1e3: ratios up to 1e6.
static void fillPool(Pool* pool, tpRandom* random) {
    for (int i = 0; i < poolSize; ++i) {
        HullKind kind = (HullKind)(i % hullKindCount);
        double size = i < poolSize / 2 ? 1.0 : pow(10.0, randomBetween(random, -3.0, 3.0));
        int points = i % 13 == 0 ? 600 : 8 + (int)(randomBits(random) % 40);
        while (!makeRandomHull(random, kind, points, size, &pool->hulls[i], &pool->mirrored[i])) {
        }
        pool->sizes[i] = size;
    }
}

static void emptyPool(Pool* pool) {
    for (int i = 0; i < poolSize; ++i) {
        tpReleaseGeometry(&pool->hulls[i]);
        tpReleaseGeometry(&pool->mirrored[i]);
    }
}

typedef struct Case {
    const tpGeometry* a;
    const tpGeometry* b;
    tpPose poseA, poseB;
    double size; // sum of both radii and the distance between them
} Case;

// Far, near, deep; aligned or not; and exactly or nearly touching from where the first answer
// leads.
static Case makeCase(const Pool* pool, tpRandom* random, int i, int* indexA, int* indexB) {
    Case c;
    *indexA = (int)(randomBits(random) % poolSize);
    *indexB = (int)(randomBits(random) % poolSize);
    c.a = &pool->hulls[*indexA];
    c.b = &pool->hulls[*indexB];
    static const double reaches[4] = { 3.0, 1.2, 0.5, 0.05 };
    double reach = reaches[i % 4] * (c.a->hull->radius + c.b->hull->radius);
    c.poseA = tpMakePose(tpZeroVec3(), randomRotation(random));
    c.poseB = tpMakePose(tpScale(reach, randomVec3(random, -1.0, 1.0)), randomRotation(random));
    if (i % 5 == 0) {
        c.poseB.rotation = c.poseA.rotation;
    }
    tpClosest closest;
    int kind = (i / 4) % 6;
    if (kind < 4 && tpClosestPoints(c.a, c.poseA, c.b, c.poseB, NULL, &closest) == tp_success) {
        static const double targets[4] = { 0.0, 1e-12, 1e-8, 1e-4 };
        double scale = fmin(c.a->hull->radius, c.b->hull->radius);
        double target = targets[kind] * scale * (i % 7 < 3 ? -1.0 : 1.0);
        c.poseA.position = tpMulAdd(c.poseA.position, target - closest.distance, closest.normal);
    }
    c.size = c.a->hull->radius + c.b->hull->radius +
             tpDistanceBetween(c.poseA.position, c.poseB.position);
    return c;
}

// Returns the largest error, relative to the size.
static double checkAnswer(const Case* c, const tpClosest* answer, bool* misses) {
    const tpHull *a = c->a->hull, *b = c->b->hull;
    double tolerance = 1e-8 * c->size;
    double proven = provenDistance(a, c->poseA, b, c->poseB, answer->normal);
    double outsideA = outsideHull(a, c->poseA, answer->pointA);
    double outsideB = outsideHull(b, c->poseB, answer->pointB);
    CHECK_NEAR(tpLength(answer->normal), 1.0, 1e-14);
    CHECK_NEAR(proven, answer->distance, tolerance);
    CHECK_VEC3(tpSub(answer->pointA, answer->pointB), tpScale(answer->distance, answer->normal),
               1e-13 * c->size);
    CHECK_BELOW(outsideA, tolerance);
    CHECK_BELOW(outsideB, tolerance);
    // Points may be ten times as far off as the distance.
    *misses = fabs(proven - answer->distance) > 1e-10 * c->size ||
              fmax(outsideA, outsideB) > 1e-9 * c->size;
    return fmax(fabs(proven - answer->distance), fmax(outsideA, outsideB)) / c->size;
}

// No direction may prove more than the answer.
static void checkNothingBetter(const Case* c, const tpClosest* answer, tpRandom* random, bool all) {
    const tpHull *a = c->a->hull, *b = c->b->hull;
    double limit = answer->distance + 1e-10 * c->size;
    if (all) {
        CHECK_BELOW(bruteDepth(a, c->poseA, b, c->poseB), limit);
        return;
    }
    for (int i = 0; i < 4; ++i) {
        tpVec3 n = i < 2 ? randomDirection(random)
                         : tpNormalize(tpMulAdd(answer->normal, 0.01, randomDirection(random)));
        CHECK_BELOW(provenDistance(a, c->poseA, b, c->poseB, n), limit);
    }
}

static void checkInvariance(const Case* c, const tpClosest* answer, const Pool* pool, int indexA,
                            int indexB, tpRandom* random) {
    double tolerance = 1e-10 * c->size;
    tpClosest other;
    assert_int_equal(tpClosestPoints(c->b, c->poseB, c->a, c->poseA, NULL, &other), tp_success);
    CHECK_NEAR(other.distance, answer->distance, tolerance);

    // Mirrored in x = 0: a rotation (w, x, y, z) becomes (w, x, -y, -z).
    tpPose poses[2] = { c->poseA, c->poseB };
    for (int k = 0; k < 2; ++k) {
        poses[k].position.x = -poses[k].position.x;
        poses[k].rotation.y = -poses[k].rotation.y;
        poses[k].rotation.z = -poses[k].rotation.z;
    }
    assert_int_equal(tpClosestPoints(&pool->mirrored[indexA], poses[0], &pool->mirrored[indexB],
                                     poses[1], NULL, &other),
                     tp_success);
    CHECK_NEAR(other.distance, answer->distance, tolerance);

    // Moved together, as far as 1e4 sizes away: relative to the distance from the origin.
    double far = c->size * pow(10.0, randomBetween(random, -1.0, 4.0));
    tpPose move = tpMakePose(tpScale(far, randomDirection(random)), randomRotation(random));
    assert_int_equal(tpClosestPoints(c->a, tpComposePoses(move, c->poseA), c->b,
                                     tpComposePoses(move, c->poseB), NULL, &other),
                     tp_success);
    CHECK_NEAR(other.distance, answer->distance, 1e-14 * far + tolerance);
}

static void provesRandomPairs(void** state) {
    (void)state;
    static Pool pool;
    tpRandom random = { 2027 };
    fillPool(&pool, &random);
    const char* wanted = getenv("TIPPE_PAIRS");
    int count = wanted != NULL ? atoi(wanted) : 120000, overlapping = 0, tried = 0, rough = 0;
    int missed = 0;
    for (int i = 0; i < count; ++i) {
        int indexA, indexB;
        Case c = makeCase(&pool, &random, i, &indexA, &indexB);
        tpClosest answer;
        bool misses, isExact = true;
        tpResult result = tpClosestPoints(c.a, c.poseA, c.b, c.poseB, NULL, &answer);
        if (result == tp_notSolved) {
            isExact = false;
        } else {
            assert_int_equal(result, tp_success);
        }
        rough += checkAnswer(&c, &answer, &misses) > 1e-13;
        if (misses || !isExact) {
            ++missed;
            continue;
        }
        bool isSmall = c.a->hull->edgeCount * c.b->hull->edgeCount <= 400;
        bool tryAll = answer.distance < 0.0 && isSmall && i % 5 == 0;
        checkNothingBetter(&c, &answer, &random, tryAll);
        if (i % 4 == 0) {
            checkInvariance(&c, &answer, &pool, indexA, indexB, &random);
        }
        overlapping += answer.distance < 0.0;
        tried += tryAll;
    }
    print_message("%d pairs, %d overlapping, %d of them against every axis, %d beyond 1e-13\n",
                  count, overlapping, tried, rough);
    assert_true(rough <= count / 50);
    assert_true(missed <= count / 20000);
    assert_true(count < 1000 || (overlapping > count / 10 && tried > count / 1000));
    emptyPool(&pool);
}

// A cache makes the same pair in motion faster; the distance it gives is the same.
static void remembersMovingPairs(void** state) {
    (void)state;
    static Pool pool;
    tpRandom random = { 7 };
    fillPool(&pool, &random);
    for (int i = 0; i < 200; ++i) {
        const tpGeometry* a = &pool.hulls[randomBits(&random) % poolSize];
        const tpGeometry* b = &pool.hulls[randomBits(&random) % poolSize];
        double size = a->hull->radius + b->hull->radius;
        tpPose poseB = tpMakePose(tpZeroVec3(), randomRotation(&random));
        tpVec3 from = tpScale(1.5 * size, randomDirection(&random));
        tpVec3 spin = tpScale(0.05, randomDirection(&random));
        tpPose poseA = tpMakePose(from, randomRotation(&random));
        tpPairCache cache = { { 0 } };
        for (int step = 0; step <= 60; ++step) {
            poseA.position = tpScale(1.0 - step / 30.0, from);
            poseA.rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(spin), poseA.rotation));
            tpClosest with, without;
            assert_int_equal(tpClosestPoints(a, poseA, b, poseB, &cache, &with), tp_success);
            assert_int_equal(tpClosestPoints(a, poseA, b, poseB, NULL, &without), tp_success);
            CHECK_NEAR(with.distance, without.distance, 1e-13 * size * 3.0);
        }
    }
    emptyPool(&pool);
}

// A cache of another pair is a mistake; whatever it says, also of corners that there are not, the
// distance is the same.
static void othersCachesDoNoHarm(void** state) {
    (void)state;
    static Pool pool;
    tpRandom random = { 8 };
    fillPool(&pool, &random);
    for (int i = 0; i < 4000; ++i) {
        int indexA, indexB;
        Case c = makeCase(&pool, &random, i, &indexA, &indexB);
        uint64_t counts[2] = { (uint64_t)c.a->hull->vertexCount, (uint64_t)c.b->hull->vertexCount };
        tpPairCache cache = { { (uint32_t)randomBits(&random) & 15u } };
        for (int k = 1; k < 20; ++k) { // half of the corners are there
            uint64_t wide = randomBits(&random) % 4 == 0 ? UINT32_MAX : 2 * counts[(k - 1) % 2];
            cache.words[k] = (uint32_t)(randomBits(&random) % wide);
        }
        tpClosest with, without;
        assert_int_equal(tpClosestPoints(c.a, c.poseA, c.b, c.poseB, &cache, &with), tp_success);
        assert_int_equal(tpClosestPoints(c.a, c.poseA, c.b, c.poseB, NULL, &without), tp_success);
        CHECK_NEAR(with.distance, without.distance, 1e-10 * c.size);
    }
    emptyPool(&pool);
}

// Boxes whose distance is known: corner to corner, edge to edge, faces, and all one inside the
// other.
static void knowsBoxes(void** state) {
    (void)state;
    tpGeometry cube, rod;
    assert_int_equal(tpMakeBox(&(tpBox){ { 2.0, 2.0, 2.0 } }, tpIdentityPose(), &cube, NULL),
                     tp_success);
    assert_int_equal(tpMakeBox(&(tpBox){ { 0.2, 0.2, 6.0 } }, tpIdentityPose(), &rod, NULL),
                     tp_success);
    tpClosest c;
    tpPose at = tpMakePose(tpMakeVec3(4.0, 5.0, 6.0), tpIdentityQuat());
    tpClosestPoints(&cube, at, &cube, tpIdentityPose(), NULL, &c);
    CHECK_NEAR(c.distance, sqrt(4.0 + 9.0 + 16.0), 1e-14);
    CHECK_VEC3(c.pointA, tpMakeVec3(3.0, 4.0, 5.0), 1e-14);
    CHECK_VEC3(c.pointB, tpMakeVec3(1.0, 1.0, 1.0), 1e-14);

    at.position = tpMakeVec3(0.5, 0.25, 1.5);
    tpClosestPoints(&cube, at, &cube, tpIdentityPose(), NULL, &c);
    CHECK_NEAR(c.distance, -0.5, 1e-15);
    CHECK_VEC3(c.normal, tpMakeVec3(0.0, 0.0, 1.0), 1e-15);

    // A rod through the cube, nearer to its +x side.
    at.position = tpMakeVec3(0.6, 0.1, 0.0);
    tpClosestPoints(&rod, at, &cube, tpIdentityPose(), NULL, &c);
    CHECK_NEAR(c.distance, -0.5, 1e-15);
    CHECK_VEC3(c.normal, tpMakeVec3(1.0, 0.0, 0.0), 1e-15);

    // Two edges that cross at right angles, each turned by 45 degrees about its own direction.
    tpPose upper = { { 0.0, 0.0, 3.0 }, tpQuatFromAxisAngle(tpMakeVec3(1.0, 0.0, 0.0), atan(1.0)) };
    tpPose lower = { { 0.0, 0.0, 0.0 }, tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), atan(1.0)) };
    tpClosestPoints(&cube, upper, &cube, lower, NULL, &c);
    CHECK_NEAR(c.distance, 3.0 - 2.0 * sqrt(2.0), 1e-15);
    upper.position.z = 2.8;
    tpClosestPoints(&cube, upper, &cube, lower, NULL, &c);
    CHECK_NEAR(c.distance, 2.8 - 2.0 * sqrt(2.0), 1e-15);
    CHECK_VEC3(c.normal, tpMakeVec3(0.0, 0.0, 1.0), 1e-15);
}

// Spheres and capsules against polyhedra: outside, touching, and with their centres deep inside.
static void knowsRoundShapes(void** state) {
    (void)state;
    tpGeometry cube, ball, pill;
    tpMakeBox(&(tpBox){ { 2.0, 2.0, 2.0 } }, tpIdentityPose(), &cube, NULL);
    tpMakeSphere(&(tpSphere){ 0.25 }, tpIdentityPose(), &ball, NULL);
    tpMakeCapsule(&(tpCapsule){ 0.25, 1.0, { 0.0, 0.0, 1.0 } }, tpIdentityPose(), &pill, NULL);
    tpClosest c;
    tpPose at = tpIdentityPose();
    at.position = tpMakeVec3(2.0, 3.0, 0.0);
    tpClosestPoints(&ball, at, &cube, tpIdentityPose(), NULL, &c);
    CHECK_NEAR(c.distance, sqrt(5.0) - 0.25, 1e-15);
    at.position = tpMakeVec3(0.9, 0.3, 0.0);
    tpClosestPoints(&ball, at, &cube, tpIdentityPose(), NULL, &c);
    CHECK_NEAR(c.distance, -0.1 - 0.25, 1e-15);
    CHECK_VEC3(c.normal, tpMakeVec3(1.0, 0.0, 0.0), 1e-15);
    at.position = tpMakeVec3(1.0, 0.3, 0.0); // the centre on a face
    tpClosestPoints(&ball, at, &cube, tpIdentityPose(), NULL, &c);
    CHECK_NEAR(c.distance, -0.25, 1e-15);
    CHECK_VEC3(c.normal, tpMakeVec3(1.0, 0.0, 0.0), 1e-12);
    at.position = tpMakeVec3(0.5, -0.7, 0.2);
    tpClosestPoints(&pill, at, &cube, tpIdentityPose(), NULL, &c);
    CHECK_NEAR(c.distance, -0.3 - 0.25, 1e-15);
    CHECK_VEC3(c.normal, tpMakeVec3(0.0, -1.0, 0.0), 1e-15);
    // Out through the top the whole segment would have to rise.
    at.position = tpMakeVec3(0.0, 0.0, 0.9);
    tpClosestPoints(&pill, at, &cube, tpIdentityPose(), NULL, &c);
    CHECK_NEAR(c.distance, -0.6 - 0.25, 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knowsBoxes),           cmocka_unit_test(knowsRoundShapes),
        cmocka_unit_test(remembersMovingPairs), cmocka_unit_test(othersCachesDoNoHarm),
        cmocka_unit_test(provesRandomPairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
