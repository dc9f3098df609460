// The bits that are known of collision: distances, contacts, first touches and casts of every two
// types of shapes, apart, near and deep in each other, at rest on each other and anyhow, as hashes
// in known.txt. Every compiler and machine gives them, and so does the next version, if it does not
// say otherwise.
//
// A change that is meant to change them says so in CHANGELOG.md and writes the file anew:
//
//     build/release/tests/collision/test_collision_known --write

#include <string.h>

#include "all_shapes.h"
#include "support/hash.h"

static const char* const listPath = TIPPE_SOURCE_DIR "/tests/collision/known.txt";

enum { tries = 12, maxContacts = 512 };

typedef struct Pair {
    const tpGeometry *a, *b;
    tpPose poseA, poseB;
} Pair;

typedef char KnownHashes[shapeCount][shapeCount][16];

static bool isOpen(const tpGeometry* shape) {
    return shape->type == tp_planeShape || shape->type == tp_heightFieldShape;
}

static tpQuat anyRotation(const tpGeometry* shape, tpRandom* random, bool isAtRest) {
    tpQuat rest = restingRotation(random), any = randomRotation(random);
    return isOpen(shape) ? tpIdentityQuat() : isAtRest ? rest : any;
}

// Every third pair just touches, every third overlaps deeply, the others are apart.
static void place(Pair* pair, tpRandom* random, int try) {
    bool isAtRest = try % 2 == 0;
    pair->poseA.rotation = anyRotation(pair->a, random, isAtRest);
    pair->poseB.rotation = anyRotation(pair->b, random, isAtRest);
    pair->poseB.position = randomVec3(random, -0.3, 0.3);
    tpVec3 away = randomDirection(random);
    pair->poseA.position = tpMulAdd(pair->poseB.position, 1.5, away);
    tpClosest closest;
    double target = try % 3 == 0 ? randomBetween(random, -0.005, 0.02)
                                 : randomBetween(random, try % 3 == 1 ? -0.3 : 0.1, 0.3);
    if (tpClosestPoints(pair->a, pair->poseA, pair->b, pair->poseB, NULL, &closest) == tp_success) {
        pair->poseA.position =
            tpMulAdd(pair->poseA.position, target - closest.distance, closest.normal);
    }
}

static void hashContacts(uint64_t* hash, const Pair* pair, tpPairCache* cache) {
    static tpContactPoint points[maxContacts];
    tpContactList list = { points, 0, maxContacts };
    hashNumber(hash, tpCollide(pair->a, pair->poseA, pair->b, pair->poseB, 0.03, cache, &list));
    hashNumber(hash, list.count);
    for (int i = 0; i < list.count && i < maxContacts; ++i) {
        hashBytes(hash, &points[i].feature, sizeof(points[i].feature));
        hashNumber(hash, points[i].gap);
        hashVector(hash, points[i].normal);
        hashVector(hash, points[i].pointA);
        hashVector(hash, points[i].pointB);
    }
}

static void hashTouches(uint64_t* hash, const Pair* pair, tpRandom* random) {
    tpBodyPath a = { .pose = pair->poseA,
                     .velocity = randomVec3(random, -3.0, 3.0),
                     .acceleration = randomVec3(random, -9.0, 9.0),
                     .angularVelocity = randomVec3(random, -4.0, 4.0) };
    tpBodyPath b = { .pose = pair->poseB, .velocity = randomVec3(random, -1.0, 1.0) };
    tpFirstTouch touch = { 0 };
    hashNumber(hash, tpTimeOfImpact(pair->a, &a, pair->b, &b, 0.3, 1e-4, 200, NULL, &touch));
    hashNumber(hash, touch.state);
    hashNumber(hash, touch.time);
    hashNumber(hash, touch.queryCount);
    hashClosest(hash, &touch.closest);
}

// Asked twice with what the first answer left, from a little farther on.
static void hashPair(uint64_t* hash, Pair* pair, tpRandom* random) {
    tpPairCache cache = { { 0 } };
    for (int again = 0; again < 2; ++again) {
        tpClosest closest = { 0 };
        hashNumber(hash,
                   tpClosestPoints(pair->a, pair->poseA, pair->b, pair->poseB, &cache, &closest));
        hashClosest(hash, &closest);
        hashContacts(hash, pair, &cache);
        pair->poseA.position = tpAdd(pair->poseA.position, randomVec3(random, -0.01, 0.01));
    }
    hashContacts(hash, pair, NULL);
    hashTouches(hash, pair, random);
}

static void hashAll(KnownHashes hashes) {
    tpGeometry shapes[shapeCount];
    makeAllShapes(1.0, shapes);
    for (int i = 0; i < shapeCount; ++i) {
        for (int j = 0; j < shapeCount; ++j) {
            uint64_t hash = hashStart;
            tpRandom random = { (uint64_t)(100 * i + j) };
            for (int k = 0; k < tries; ++k) {
                Pair pair = { &shapes[i], &shapes[j], tpIdentityPose(), tpIdentityPose() };
                place(&pair, &random, k);
                hashPair(&hash, &pair, &random);
            }
            writeHash(hash, hashes[i][j]);
        }
    }
    releaseAllShapes(shapes);
}

static void bitsAreKnown(void** state) {
    (void)state;
    static KnownHashes hashes;
    hashAll(hashes);
    FILE* file = fopen(listPath, "r");
    assert_non_null(file);
    int changed = 0;
    for (int n = 0; n < shapeCount * shapeCount; ++n) {
        char known[16];
        assert_int_equal(fscanf(file, "%15s", known), 1);
        if (strcmp(known, hashes[n / shapeCount][n % shapeCount]) != 0) {
            printf("shapes %d and %d: %s, known as %s\n", n / shapeCount, n % shapeCount,
                   hashes[n / shapeCount][n % shapeCount], known);
            ++changed;
        }
    }
    fclose(file);
    if (changed > 0) {
        fail_msg("%d pairs of types have other bits than tests/collision/known.txt says. If that "
                 "is meant, say so in CHANGELOG.md, run test_collision_known --write and commit "
                 "the file",
                 changed);
    }
}

static int writeList(void) {
    static KnownHashes hashes;
    hashAll(hashes);
    FILE* file = fopen(listPath, "w");
    if (file == NULL) {
        return 1;
    }
    for (int i = 0; i < shapeCount; ++i) {
        for (int j = 0; j < shapeCount; ++j) {
            fprintf(file, j < shapeCount - 1 ? "%s " : "%s\n", hashes[i][j]);
        }
    }
    return fclose(file) == 0 ? 0 : 1;
}

int main(int argumentCount, char** arguments) {
    if (argumentCount > 1 && strcmp(arguments[1], "--write") == 0) {
        return writeList();
    }
    const struct CMUnitTest tests[] = { cmocka_unit_test(bitsAreKnown) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
