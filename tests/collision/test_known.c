// The bits that are known of collision, as hashes in known.txt: distances, contacts, first touches
// and casts of every two types of shapes, apart, near and deep in each other, at rest on each other
// and anyhow, with what queries keep for the next one, a mesh with a dent against all of them in
// the line before the last; and, in the last line, a tree of boxes and a list of fat pairs while
// boxes come, move and go. What is kept, and how the tree branches, decides
// what the next query costs. Every compiler and machine gives these bits, and so does the next
// version, if it does not say otherwise.
//
// A change that is meant to change them says so in CHANGELOG.md (in its commit, if it changes only
// what queries cost) and writes the file anew:
//
//     build/release/tests/collision/test_collision_known --write

#include <string.h>

#include "all_shapes.h"
#include "collision/fat_pairs.h"
#include "support/hash.h"

static const char* const listPath = TIPPE_SOURCE_DIR "/tests/collision/known.txt";

enum { tries = 24, maxContacts = 512, boxCount = 200, boxRounds = 40 };

typedef struct Pair {
    const tpGeometry *a, *b;
    tpPose poseA, poseB;
} Pair;

typedef struct KnownHashes {
    char pairs[shapeCount][shapeCount][16];
    char dents[shapeCount + 1][16]; // of the mesh with a dent, and of two of them
    char tree[16], fatPairs[16];
} KnownHashes;

static bool isOpen(const tpGeometry* shape) {
    return shape->type == tp_planeShape || shape->type == tp_heightFieldShape;
}

static tpQuat anyRotation(const tpGeometry* shape, tpRandom* random, bool isAtRest) {
    tpQuat rest = restingRotation(random), any = randomRotation(random);
    return isOpen(shape) ? tpIdentityQuat() : isAtRest ? rest : any;
}

// From where A comes: anyhow, or along an axis, where features are parallel and ties are many.
static tpVec3 anyWay(tpRandom* random, bool isStraight) {
    static const tpVec3 axes[6] = { { 1.0, 0.0, 0.0 }, { 0.0, 1.0, 0.0 },  { 0.0, 0.0, 1.0 },
                                    { 0.0, 0.0, 1.0 }, { 0.0, -1.0, 0.0 }, { -1.0, 0.0, 0.0 } };
    tpVec3 way = randomDirection(random);
    return isStraight ? axes[randomBits(random) % 6] : way;
}

// Every third pair just touches, every third overlaps deeply, the others are apart. Of the straight
// ones some touch to rounding.
static void place(Pair* pair, tpRandom* random, int try) {
    static const double touches[4] = { 0.0, 1e-15, -1e-12, 1e-9 };
    bool isAtRest = try % 2 == 0, isStraight = try >= tries / 2;
    pair->poseA.rotation = anyRotation(pair->a, random, isAtRest);
    pair->poseB.rotation = anyRotation(pair->b, random, isAtRest || try % 8 == 7);
    pair->poseB.position = randomVec3(random, -0.3, 0.3);
    if (isStraight && try % 4 == 0) {
        pair->poseA.rotation = pair->poseB.rotation = tpIdentityQuat();
        pair->poseB.position = tpZeroVec3();
    }
    tpVec3 away = anyWay(random, isStraight);
    pair->poseA.position = tpMulAdd(pair->poseB.position, 1.5, away);
    tpClosest closest;
    double target = try % 3 == 0 ? randomBetween(random, -0.005, 0.02)
                                 : randomBetween(random, try % 3 == 1 ? -0.3 : 0.1, 0.3);
    if (isStraight && try % 3 == 0) {
        target = touches[randomBits(random) % 4];
    }
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

static void hashCast(uint64_t* hash, const Pair* pair, tpRandom* random) {
    tpShapeHit hit = { 0 };
    tpPose away = pair->poseA;
    away.position.z += 1.5;
    hashNumber(hash, tpCastShape(pair->a, away, randomVec3(random, -2.0, 0.0), pair->b, pair->poseB,
                                 1e-4, NULL, &hit));
    hashNumber(hash, hit.isHit);
    if (hit.isHit) {
        hashNumber(hash, hit.fraction);
        hashNumber(hash, hit.startsTouching);
        hashClosest(hash, &hit.closest);
    }
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
        hashBytes(hash, &cache, sizeof(cache));
        pair->poseA.position = tpAdd(pair->poseA.position, randomVec3(random, -0.01, 0.01));
    }
    hashContacts(hash, pair, NULL);
    hashTouches(hash, pair, random);
    hashCast(hash, pair, random);
}

// Boxes -----------------------------------------------------------------------------------------

typedef struct Boxes {
    tpBounds bounds[boxCount];
    uint8_t kinds[boxCount];
} Boxes;

static tpBounds anyBox(tpRandom* random) {
    tpVec3 center = randomVec3(random, -1.0, 1.0), half = randomVec3(random, 0.01, 0.2);
    return (tpBounds){ tpSub(center, half), tpAdd(center, half) };
}

static void placeBox(Boxes* boxes, int i, tpRandom* random) {
    boxes->bounds[i] = anyBox(random);
    boxes->kinds[i] = i % 9 == 0 ? tp_fixedProxy : tp_movableProxy;
    if (i % 70 == 3) { // half spaces
        boxes->bounds[i] = (tpBounds){ { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL },
                                       { HUGE_VAL, HUGE_VAL, 0.2 * (i / 70) - 1.0 } };
    }
}

// Boxes drift, some leap, some come and go; now and then all of them leap.
static void moveBoxes(Boxes* boxes, tpRandom* random, int round) {
    for (int i = 0; i < boxCount; ++i) {
        tpVec3 way = randomVec3(random, -0.004, 0.004);
        boxes->bounds[i].lower = tpAdd(boxes->bounds[i].lower, way);
        boxes->bounds[i].upper = tpAdd(boxes->bounds[i].upper, way);
        uint64_t chance = randomBits(random) % 100;
        if (chance == 0 || round % 13 == 7) {
            placeBox(boxes, i, random);
        } else if (chance == 1) {
            boxes->kinds[i] = boxes->kinds[i] == tp_noProxy ? tp_movableProxy : tp_noProxy;
        }
    }
}

static bool mayPair(const void* context, int32_t a, int32_t b) {
    (void)context;
    return (a * 31 + b * 17) % 7 != 0;
}

// The boxes from the root down, in the order of a walk.
static void hashTree(uint64_t* hash, const tpBoundsTree* tree) {
    int32_t stack[tp_treeStackSize], depth = 0;
    stack[depth++] = tree->root;
    while (depth > 0) {
        const tpBoundsNode* node = &tree->nodes.data[stack[--depth]];
        hashBytes(hash, &node->bounds, sizeof(node->bounds));
        hashNumber(hash, node->height);
        if (node->child[0] < 0) {
            hashNumber(hash, node->child[1]);
        } else {
            stack[depth++] = node->child[1];
            stack[depth++] = node->child[0];
        }
    }
    hashNumber(hash, tree->leafCount);
}

static void hashFatPairs(uint64_t* hash, const tpFatPairs* fat) {
    hashNumber(hash, fat->pairs.count);
    hashNumber(hash, fat->hasChanged);
    for (int i = 0; i < fat->pairs.count; ++i) {
        hashBytes(hash, &fat->pairs.data[i], sizeof(fat->pairs.data[i]));
        hashNumber(hash, fat->hasChanged ? fat->origins[i] : i);
    }
    for (int i = 0; i < fat->proxies.count; ++i) {
        hashBytes(hash, &fat->proxies.data[i].fat, sizeof(tpBounds));
    }
    if (!fat->isTreeOld) {
        hashTree(hash, &fat->tree);
    }
}

// Leaves come one by one, go, move a little, move far, and all are placed anew at times.
static void knowTree(char text[16]) {
    uint64_t hash = hashStart;
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 71 };
    int32_t leaves[boxCount];
    tpBoundsTree tree;
    tpCreateBoundsTree(&tree, &allocator);
    assert_true(tpBoundsTree_Reserve(&tree, boxCount));
    for (int i = 0; i < boxCount; ++i) {
        leaves[i] = tpBoundsTree_Insert(&tree, i, anyBox(&random));
        hashTree(&hash, &tree);
    }
    for (int round = 0; round < boxRounds; ++round) {
        int i = round * 37 % boxCount, j = (i + 1) % boxCount, k = (i + 2) % boxCount;
        tpBoundsTree_Refit(&tree, leaves[i], anyBox(&random));
        tpBoundsTree_Remove(&tree, leaves[j]);
        leaves[j] = tpBoundsTree_Insert(&tree, j, anyBox(&random));
        tpBoundsTree_SetLeaf(&tree, leaves[k], anyBox(&random));
        hashNumber(&hash, tpBoundsTree_RefitAll(&tree, NULL));
        hashTree(&hash, &tree);
        if (round % 7 == 6) {
            tpBoundsTree_Rebuild(&tree, NULL);
            hashNumber(&hash, tree.builtArea);
            hashTree(&hash, &tree);
        }
    }
    tpDestroyBoundsTree(&tree);
    writeHash(hash, text);
}

static void knowFatPairs(char text[16]) {
    uint64_t hash = hashStart;
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { 72 };
    static Boxes boxes;
    for (int i = 0; i < boxCount; ++i) {
        placeBox(&boxes, i, &random);
    }
    tpFatPairs fat;
    tpArena arena;
    tpCreateFatPairs(&fat, &allocator, true);
    tpArena_Create(&arena, &allocator);
    for (int round = 0; round < boxRounds; ++round) {
        tpProxies proxies = { boxes.bounds, boxes.kinds, boxCount, mayPair, NULL, NULL };
        tpArena_Reset(&arena);
        assert_true(tpFatPairs_Update(&fat, &proxies, NULL, &arena));
        hashFatPairs(&hash, &fat);
        moveBoxes(&boxes, &random, round);
        if (round % 9 == 4) {
            tpFatPairs_Disturb(&fat, round);
        }
    }
    tpDestroyFatPairs(&fat);
    tpArena_Destroy(&arena);
    writeHash(hash, text);
}

// All of it -------------------------------------------------------------------------------------

// An angle bracket.
static tpGeometry makeDented(void) {
    enum { corners = 6 };
    static const double outline[corners][2] = { { -0.4, -0.4 }, { 0.6, -0.4 }, { 0.6, 0.0 },
                                                { 0.0, 0.0 },   { 0.0, 0.6 },  { -0.4, 0.6 } };
    static const int32_t caps[4][3] = { { 0, 1, 2 }, { 0, 2, 3 }, { 0, 3, 5 }, { 3, 4, 5 } };
    tpVec3 points[2 * corners];
    int32_t triangles[2 * corners + 8][3];
    int count = 0;
    for (int i = 0; i < corners; ++i) {
        int32_t next = (i + 1) % corners;
        points[i] = tpMakeVec3(outline[i][0], outline[i][1], -0.3);
        points[corners + i] = tpMakeVec3(outline[i][0], outline[i][1], 0.3);
        memcpy(triangles[count++], (int32_t[]){ i, next, corners + next }, sizeof(triangles[0]));
        memcpy(triangles[count++], (int32_t[]){ i, corners + next, corners + i },
               sizeof(triangles[0]));
    }
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 3; ++k) {
            triangles[count][k] = corners + caps[i][k];
            triangles[count + 1][k] = caps[i][2 - k];
        }
        count += 2;
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry mesh;
    assert_int_equal(tpMakeMesh(&allocator, points, 2 * corners, (const int32_t(*)[3])triangles,
                                count, tpIdentityPose(), &mesh, NULL),
                     tp_success);
    return mesh;
}

static void knowPairs(const tpGeometry* a, const tpGeometry* b, uint64_t seed, char text[16]) {
    uint64_t hash = hashStart;
    tpRandom random = { seed };
    for (int k = 0; k < tries; ++k) {
        Pair pair = { a, b, tpIdentityPose(), tpIdentityPose() };
        place(&pair, &random, k);
        hashPair(&hash, &pair, &random);
    }
    writeHash(hash, text);
}

static void hashAll(KnownHashes* hashes) {
    knowTree(hashes->tree);
    knowFatPairs(hashes->fatPairs);
    tpGeometry shapes[shapeCount], dented = makeDented();
    makeAllShapes(1.0, shapes);
    for (int i = 0; i < shapeCount; ++i) {
        for (int j = 0; j < shapeCount; ++j) {
            knowPairs(&shapes[i], &shapes[j], (uint64_t)(100 * i + j), hashes->pairs[i][j]);
        }
        knowPairs(&dented, &shapes[i], (uint64_t)(7000 + i), hashes->dents[i]);
    }
    knowPairs(&dented, &dented, 7100, hashes->dents[shapeCount]);
    releaseAllShapes(shapes);
    tpReleaseGeometry(&dented);
}

static int tellChanged(FILE* file, const char* what, const char* hash) {
    char known[16];
    assert_int_equal(fscanf(file, "%15s", known), 1);
    if (strcmp(known, hash) == 0) {
        return 0;
    }
    printf("%s: %s, known as %s\n", what, hash, known);
    return 1;
}

static void bitsAreKnown(void** state) {
    (void)state;
    static KnownHashes hashes;
    hashAll(&hashes);
    FILE* file = fopen(listPath, "r");
    assert_non_null(file);
    int changed = 0;
    for (int n = 0; n < shapeCount * shapeCount; ++n) {
        char what[40];
        snprintf(what, sizeof(what), "shapes %d and %d", n / shapeCount, n % shapeCount);
        changed += tellChanged(file, what, hashes.pairs[n / shapeCount][n % shapeCount]);
    }
    for (int n = 0; n <= shapeCount; ++n) {
        char what[40];
        snprintf(what, sizeof(what), "a mesh with a dent and shape %d", n);
        changed += tellChanged(file, what, hashes.dents[n]);
    }
    changed += tellChanged(file, "a tree of boxes", hashes.tree);
    changed += tellChanged(file, "pairs of fat boxes", hashes.fatPairs);
    fclose(file);
    if (changed > 0) {
        fail_msg("%d hashes are not those of tests/collision/known.txt. If that is meant, say so "
                 "in CHANGELOG.md, run test_collision_known --write and commit the file",
                 changed);
    }
}

static int writeList(void) {
    static KnownHashes hashes;
    hashAll(&hashes);
    FILE* file = fopen(listPath, "w");
    if (file == NULL) {
        return 1;
    }
    for (int i = 0; i < shapeCount; ++i) {
        for (int j = 0; j < shapeCount; ++j) {
            fprintf(file, j < shapeCount - 1 ? "%s " : "%s\n", hashes.pairs[i][j]);
        }
    }
    for (int n = 0; n <= shapeCount; ++n) {
        fprintf(file, n < shapeCount ? "%s " : "%s\n", hashes.dents[n]);
    }
    fprintf(file, "%s %s\n", hashes.tree, hashes.fatPairs);
    return fclose(file) == 0 ? 0 : 1;
}

int main(int argumentCount, char** arguments) {
    if (argumentCount > 1 && strcmp(arguments[1], "--write") == 0) {
        return writeList();
    }
    const struct CMUnitTest tests[] = { cmocka_unit_test(bitsAreKnown) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
