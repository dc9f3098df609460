// What must not change: contacts of two shapes in other units, seen from elsewhere, in the other
// order, and with what an earlier query learned.
//
// Shapes lie on each other as bodies do that rest: face on face, edge on face, side on side, with
// tilts from none to some degrees. In units that are a power of two every digit stays the same; any
// term that has the wrong dimension shows.

#include "all_shapes.h"
#include "collision/smooth_distance.h"
#include "tippe/collision.h"

enum { maxContacts = 512 };

typedef struct Pair {
    int kindA, kindB;
    tpPose poseA, poseB;
} Pair;

typedef struct Manifold {
    tpContactPoint points[maxContacts];
    int count;
} Manifold;

static const double margin = 0.03;

static void collide(const tpGeometry* shapes, const Pair* pair, double unit, tpPairCache* cache,
                    Manifold* out) {
    tpPose a = pair->poseA, b = pair->poseB;
    a.position = tpScale(unit, a.position);
    b.position = tpScale(unit, b.position);
    tpContactList list = { out->points, 0, maxContacts };
    assert_int_equal(
        tpCollide(&shapes[pair->kindA], a, &shapes[pair->kindB], b, unit * margin, cache, &list),
        tp_success);
    assert_true(list.count <= maxContacts);
    out->count = list.count;
}

static bool isOpen(int kind) {
    return kind == heightFieldKind || kind == planeKind;
}

// Two shapes near each other; false if such pairs are not supported.
static bool place(const tpGeometry* shapes, tpRandom* random, Pair* pair) {
    pair->poseA.rotation = isOpen(pair->kindA) ? tpIdentityQuat() : restingRotation(random);
    pair->poseB.rotation = isOpen(pair->kindB) ? tpIdentityQuat() : restingRotation(random);
    pair->poseA.position = randomVec3(random, -0.3, 0.3);
    pair->poseB.position = randomVec3(random, -0.3, 0.3);
    tpVec3 away = randomDirection(random);
    double* parts[3] = { &away.x, &away.y, &away.z };
    *parts[randomBits(random) % 3] *= 6.0; // mostly along an axis
    pair->poseA.position = tpMulAdd(pair->poseA.position, 1.5, tpNormalize(away));
    tpClosest closest;
    tpResult result = tpClosestPoints(&shapes[pair->kindA], pair->poseA, &shapes[pair->kindB],
                                      pair->poseB, NULL, &closest);
    if (result != tp_success) {
        return false;
    }
    double target = randomBetween(random, -0.01, 0.02);
    pair->poseA.position =
        tpMulAdd(pair->poseA.position, target - closest.distance, closest.normal);
    return true;
}

static void forAllPairs(const tpGeometry* shapes, int tries, uint64_t seed,
                        void (*check)(const tpGeometry* shapes, const Pair* pair, void* context),
                        void* context) {
    tpRandom random = { seed };
    for (int i = 0; i < shapeCount; ++i) {
        for (int j = 0; j < shapeCount; ++j) {
            for (int k = 0; k < tries; ++k) {
                Pair pair = { i, j, tpIdentityPose(), tpIdentityPose() };
                if (place(shapes, &random, &pair)) {
                    check(shapes, &pair, context);
                }
            }
        }
    }
}

// Units -------------------------------------------------------------------------------------------

// Tolerances that have lost their length show in small units if they are too large, in large ones
// if they are too small.
enum { unitCount = 4 };
static const double units[unitCount] = { 0x1p10, 0x1p-10, 0x1p-30, 0x1p30 };

typedef struct Scaled {
    tpGeometry shapes[unitCount][shapeCount];
    int number; // of the pair
} Scaled;

static bool isScaled(tpVec3 large, tpVec3 small, double unit) {
    return tpDistanceBetween(large, tpScale(unit, small)) == 0.0;
}

// What is asked of two shapes as they are, and of those in another unit.
static bool areContactsScaled(const tpGeometry* shapes, const tpGeometry* scaled, const Pair* pair,
                              double unit) {
    static Manifold m, l;
    collide(shapes, pair, 1.0, NULL, &m);
    collide(scaled, pair, unit, NULL, &l);
    bool isExact = m.count == l.count;
    for (int i = 0; isExact && i < m.count; ++i) {
        const tpContactPoint *p = &m.points[i], *q = &l.points[i];
        isExact = p->feature == q->feature && q->gap == unit * p->gap &&
                  isScaled(q->pointA, p->pointA, unit) && isScaled(q->pointB, p->pointB, unit) &&
                  isScaled(q->normal, p->normal, 1.0);
    }
    return isExact;
}

static bool isDistanceScaled(const tpGeometry* shapes, const tpGeometry* scaled, const Pair* pair,
                             double unit) {
    tpPose a = pair->poseA, b = pair->poseB;
    tpClosest m, l;
    tpResult result = tpClosestPoints(&shapes[pair->kindA], a, &shapes[pair->kindB], b, NULL, &m);
    a.position = tpScale(unit, a.position);
    b.position = tpScale(unit, b.position);
    if (tpClosestPoints(&scaled[pair->kindA], a, &scaled[pair->kindB], b, NULL, &l) != result) {
        return false;
    }
    return result != tp_success ||
           (l.distance == unit * m.distance && isScaled(l.pointA, m.pointA, unit) &&
            isScaled(l.pointB, m.pointB, unit) && isScaled(l.normal, m.normal, 1.0));
}

// Every third pair overlaps deeply.
static void checkUnits(const tpGeometry* shapes, const Pair* pair, void* context) {
    Scaled* scaled = context;
    int number = scaled->number++;
    double unit = units[number % unitCount];
    Pair placed = *pair;
    if (number % 3 == 0) {
        tpVec3 way = tpSub(pair->poseB.position, pair->poseA.position);
        placed.poseA.position = tpMulAdd(pair->poseA.position, 0.4, way);
    }
    const tpGeometry* others = scaled->shapes[number % unitCount];
    if (!areContactsScaled(shapes, others, &placed, unit) ||
        !isDistanceScaled(shapes, others, &placed, unit)) {
        fail_msg("%s and %s: not the same in units of %g m",
                 tpShapeTypeName(shapes[pair->kindA].type),
                 tpShapeTypeName(shapes[pair->kindB].type), unit);
    }
}

static void sameInOtherUnits(void** state) {
    (void)state;
    static Scaled scaled;
    tpGeometry shapes[shapeCount];
    makeAllShapes(1.0, shapes);
    for (int k = 0; k < unitCount; ++k) {
        makeAllShapes(units[k], scaled.shapes[k]);
    }
    forAllPairs(shapes, 12, 31, checkUnits, &scaled);
    releaseAllShapes(shapes);
    for (int k = 0; k < unitCount; ++k) {
        releaseAllShapes(scaled.shapes[k]);
    }
}

// Order, place and memory -------------------------------------------------------------------------

// How many of the pairs may differ: where two choices are equally good, rounding decides.
typedef struct Tally {
    tpRandom random;
    int all, differing;
} Tally;

static void checkTally(const Tally* tally) {
    print_message("%d of %d chose otherwise\n", tally->differing, tally->all);
    assert_true(tally->all > 500 && 100 * tally->differing <= tally->all);
}

// Whether each contact of a manifold, turned, is one of the other: place, gap and normal.
static bool isPartOf(const Manifold* m, const Manifold* other, tpQuat turn, double sign) {
    const double tolerance = 1e-7;
    for (int i = 0; i < m->count; ++i) {
        tpContactPoint p = m->points[i];
        tpVec3 twice = tpRotate(turn, tpAdd(p.pointA, p.pointB));
        tpVec3 n = tpScale(sign, tpRotate(turn, p.normal));
        bool isFound = false;
        for (int k = 0; k < other->count && !isFound; ++k) {
            const tpContactPoint* q = &other->points[k];
            isFound = fabs(q->gap - p.gap) < tolerance &&
                      tpDistanceBetween(n, q->normal) < 100.0 * tolerance &&
                      tpDistanceBetween(twice, tpAdd(q->pointA, q->pointB)) < 100.0 * tolerance;
        }
        if (!isFound) {
            return false;
        }
    }
    return true;
}

static bool isSame(const Manifold* m, const Manifold* other, tpQuat turn, double sign) {
    return m->count == other->count && isPartOf(m, other, turn, sign) &&
           isPartOf(other, m, tpConjugate(turn), sign);
}

static bool areSolid(const Pair* pair) {
    return !isOpen(pair->kindA) && !isOpen(pair->kindB);
}

static void checkOrder(const tpGeometry* shapes, const Pair* pair, void* context) {
    Tally* tally = context;
    static Manifold m, swapped;
    collide(shapes, pair, 1.0, NULL, &m);
    Pair other = { pair->kindB, pair->kindA, pair->poseB, pair->poseA };
    collide(shapes, &other, 1.0, NULL, &swapped);
    tally->all += 1;
    tally->differing += isSame(&m, &swapped, tpIdentityQuat(), -1.0) ? 0 : 1;
}

static tpPose turnPose(tpQuat turn, tpPose pose) {
    return tpMakePose(tpRotate(turn, pose.position), tpMulQQ(turn, pose.rotation));
}

static void checkPlace(const tpGeometry* shapes, const Pair* pair, void* context) {
    Tally* tally = context;
    static Manifold m, turned;
    tpQuat turn = randomRotation(&tally->random);
    if (!areSolid(pair)) {
        return;
    }
    collide(shapes, pair, 1.0, NULL, &m);
    Pair other = { pair->kindA, pair->kindB, turnPose(turn, pair->poseA),
                   turnPose(turn, pair->poseB) };
    collide(shapes, &other, 1.0, NULL, &turned);
    tally->all += 1;
    tally->differing += isSame(&m, &turned, turn, 1.0) ? 0 : 1;
}

// The cache of a query at another pose, near or far, changes nothing.
static void checkMemory(const tpGeometry* shapes, const Pair* pair, void* context) {
    Tally* tally = context;
    static Manifold m, before, after;
    tpPairCache cache = { { 0 } };
    double way = randomBits(&tally->random) % 2 == 0 ? 0.001 : 0.3;
    Pair earlier = *pair;
    earlier.poseA.position = tpMulAdd(earlier.poseA.position, way, randomDirection(&tally->random));
    if (!isOpen(pair->kindA)) {
        tpQuat turn = tpQuatFromAxisAngle(randomDirection(&tally->random), way);
        earlier.poseA.rotation = tpMulQQ(turn, earlier.poseA.rotation);
    }
    collide(shapes, &earlier, 1.0, &cache, &before);
    collide(shapes, pair, 1.0, &cache, &after);
    collide(shapes, pair, 1.0, NULL, &m);
    tally->all += 1;
    tally->differing += isSame(&m, &after, tpIdentityQuat(), 1.0) ? 0 : 1;
}

static void checkFor(void (*check)(const tpGeometry*, const Pair*, void*), uint64_t seed) {
    tpGeometry shapes[shapeCount];
    makeAllShapes(1.0, shapes);
    Tally tally = { { seed }, 0, 0 };
    forAllPairs(shapes, 6, seed, check, &tally);
    checkTally(&tally);
    releaseAllShapes(shapes);
}

static void sameInTheOtherOrder(void** state) {
    (void)state;
    checkFor(checkOrder, 77);
}

static void sameElsewhere(void** state) {
    (void)state;
    checkFor(checkPlace, 78);
}

static void sameWithMemory(void** state) {
    (void)state;
    checkFor(checkMemory, 79);
}

// Motion ------------------------------------------------------------------------------------------

static tpBodyPath randomPath(tpRandom* random, tpPose pose, bool turns) {
    tpBodyPath path = { .pose = pose };
    path.velocity = randomVec3(random, -3.0, 3.0);
    path.acceleration = randomVec3(random, -5.0, 5.0);
    path.angularVelocity = turns ? randomVec3(random, -4.0, 4.0) : tpMakeVec3(0.0, 0.0, 0.0);
    return path;
}

static tpBodyPath scalePath(const tpBodyPath* path, double length, double time) {
    tpBodyPath scaled = *path;
    scaled.pose.position = tpScale(length, path->pose.position);
    scaled.velocity = tpScale(length / time, path->velocity);
    scaled.acceleration = tpScale(length / (time * time), path->acceleration);
    scaled.angularVelocity = tpScale(1.0 / time, path->angularVelocity);
    return scaled;
}

static tpFirstTouch touch(const tpGeometry* a, const tpBodyPath* pathA, const tpGeometry* b,
                          const tpBodyPath* pathB, double length, double time) {
    tpFirstTouch out;
    assert_int_equal(tpTimeOfImpact(a, pathA, b, pathB, 0.5 * time, 1e-6 * length, 0, NULL, &out),
                     tp_success);
    return out;
}

// The first touch in other units, in the other order, and seen from a frame that falls.
static void checkTouch(const tpGeometry* shapes, const Pair* pair, void* context) {
    Tally* tally = context;
    const tpGeometry* large = shapes + shapeCount;
    const tpGeometry *a = &shapes[pair->kindA], *b = &shapes[pair->kindB];
    tpPose apart = pair->poseA;
    apart.position = tpMulAdd(apart.position, 0.3, randomDirection(&tally->random));
    tpBodyPath pathA = randomPath(&tally->random, apart, !isOpen(pair->kindA));
    tpBodyPath pathB = randomPath(&tally->random, pair->poseB, !isOpen(pair->kindB));
    tpFirstTouch first = touch(a, &pathA, b, &pathB, 1.0, 1.0);

    const double unit = units[0], time = 32.0;
    tpBodyPath largeA = scalePath(&pathA, unit, time), largeB = scalePath(&pathB, unit, time);
    tpFirstTouch other =
        touch(&large[pair->kindA], &largeA, &large[pair->kindB], &largeB, unit, time);
    assert_int_equal(other.state, first.state);
    assert_int_equal(other.queryCount, first.queryCount);
    assert_true(other.time == time * first.time);

    tpFirstTouch swapped = touch(b, &pathB, a, &pathA, 1.0, 1.0);
    tpVec3 velocity = randomVec3(&tally->random, -3.0, 3.0);
    tpVec3 fall = randomVec3(&tally->random, -5.0, 5.0);
    tpBodyPath fallingA = pathA, fallingB = pathB;
    fallingA.velocity = tpAdd(pathA.velocity, velocity);
    fallingB.velocity = tpAdd(pathB.velocity, velocity);
    fallingA.acceleration = tpAdd(pathA.acceleration, fall);
    fallingB.acceleration = tpAdd(pathB.acceleration, fall);
    tpFirstTouch falling = touch(a, &fallingA, b, &fallingB, 1.0, 1.0);
    bool isSameTouch = swapped.state == first.state && falling.state == first.state &&
                       fabs(swapped.time - first.time) < 1e-4 &&
                       fabs(falling.time - first.time) < 1e-4;
    // Bounds say the same wherever they are seen from.
    tpVec3 n = first.closest.normal;
    double bound = tpImpactBound(a, &pathA, b, &pathB, 0.1, n, 0.5);
    double seen = tpImpactBound(a, &fallingA, b, &fallingB, 0.1, n, 0.5);
    assert_true(bound == seen || fabs(bound - seen) < 1e-9);
    tally->all += 1;
    tally->differing += isSameTouch ? 0 : 1;
}

static void sameMotion(void** state) {
    (void)state;
    tpGeometry shapes[2 * shapeCount];
    makeAllShapes(1.0, shapes);
    makeAllShapes(units[0], shapes + shapeCount);
    Tally tally = { { 6 }, 0, 0 };
    forAllPairs(shapes, 3, 80, checkTouch, &tally);
    checkTally(&tally);
    releaseAllShapes(shapes);
    releaseAllShapes(shapes + shapeCount);
}

// Derivatives ------------------------------------------------------------------------------------

static tpCurvature scaleCurvature(tpCurvature c, double unit) {
    return (tpCurvature){ c.tangent, c.along / unit, c.across / unit };
}

// Derivatives of lengths by turns are lengths, those of directions by moves inverse lengths: an
// answer in another unit has them in that unit. Every third pair overlaps deeply.
static void checkDerivatives(const tpGeometry* shapes, const Pair* pair, void* context) {
    Tally* tally = context;
    tpPose a = pair->poseA, b = pair->poseB;
    if (tally->all % 3 == 0) {
        a.position = tpMulAdd(a.position, 0.4, tpSub(b.position, a.position));
    }
    tpSmoothResult r;
    tpSmoothDerivatives d, scaled;
    if (!tpSmoothClosest(&shapes[pair->kindA], a, &shapes[pair->kindB], b, NULL, &r)) {
        return;
    }
    tpDifferentiateSmooth(&r, a, b, &d);
    double unit = units[tally->all++ % unitCount];
    r.gap *= unit;
    r.pointA = tpScale(unit, r.pointA);
    r.pointB = tpScale(unit, r.pointB);
    r.curvatureA = scaleCurvature(r.curvatureA, unit);
    r.curvatureB = scaleCurvature(r.curvatureB, unit);
    a.position = tpScale(unit, a.position);
    b.position = tpScale(unit, b.position);
    tpDifferentiateSmooth(&r, a, b, &scaled);
    assert_true(scaled.isUnique == d.isUnique);
    for (int k = 0; k < 12; ++k) {
        double length = k % 6 < 3 ? 1.0 : unit;
        assert_true(scaled.gap[k] == length * d.gap[k]);
        for (int m = 0; m < 3; ++m) {
            assert_true(scaled.normal[m][k] == length / unit * d.normal[m][k]);
            assert_true(scaled.pointA[m][k] == length * d.pointA[m][k]);
            assert_true(scaled.pointB[m][k] == length * d.pointB[m][k]);
        }
    }
}

static void sameDerivatives(void** state) {
    (void)state;
    tpGeometry shapes[shapeCount];
    makeAllShapes(1.0, shapes);
    Tally tally = { .all = 0 };
    forAllPairs(shapes, 4, 81, checkDerivatives, &tally);
    assert_true(tally.all > 300);
    releaseAllShapes(shapes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sameInOtherUnits), cmocka_unit_test(sameInTheOtherOrder),
        cmocka_unit_test(sameElsewhere),    cmocka_unit_test(sameWithMemory),
        cmocka_unit_test(sameMotion),       cmocka_unit_test(sameDerivatives)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
