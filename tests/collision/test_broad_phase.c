// Both broad phases against all pairs: moving, coming and going, of all sizes, on any number of
// threads.

#include "collision/broad_phase.h"

#include <string.h>

#include "geometry/shape.h"
#include "support/check.h"
#include "support/failing_allocator.h"

enum { boxLimit = 400 };

typedef struct Scene {
    tpBounds bounds[boxLimit];
    tpVec3 centers[boxLimit], halves[boxLimit], velocities[boxLimit];
    uint8_t kinds[boxLimit];
    int count;
} Scene;

// Some pairs are not wanted, as if joined.
static bool mayPair(const void* context, int32_t a, int32_t b) {
    (void)context;
    assert_true(a < b);
    return (a * 31 + b * 17) % 7 != 0;
}

static bool alwaysPair(const void* context, int32_t a, int32_t b) {
    (void)context;
    return a != b;
}

static void placeBoxes(Scene* scene) {
    for (int i = 0; i < scene->count; ++i) {
        if (scene->halves[i].x < HUGE_VAL) {
            scene->bounds[i].lower = tpSub(scene->centers[i], scene->halves[i]);
            scene->bounds[i].upper = tpAdd(scene->centers[i], scene->halves[i]);
        } else { // a half space below its centre
            tpVec3 far = tpMakeVec3(HUGE_VAL, HUGE_VAL, HUGE_VAL);
            scene->bounds[i] = (tpBounds){ tpNeg(far), far };
            scene->bounds[i].upper.z = scene->centers[i].z;
        }
    }
}

// `decades` orders of magnitude between the smallest and the largest box.
static void fillBox(Scene* scene, tpRandom* random, int i, double decades) {
    double size = pow(10.0, -randomBetween(random, 0.0, decades));
    scene->centers[i] = randomVec3(random, -3.0, 3.0);
    scene->halves[i] = tpScale(0.4 * size, randomVec3(random, 0.2, 1.0));
    scene->velocities[i] = tpScale(0.1 * size, randomVec3(random, -1.0, 1.0));
    int kind = (int)(randomBits(random) % 10);
    scene->kinds[i] = kind == 0 ? tp_noProxy : kind < 3 ? tp_fixedProxy : tp_movableProxy;
    if (kind == 2) {
        scene->halves[i] = tpZeroVec3(); // a point
    }
    if (i % 97 == 5) {
        scene->halves[i] = tpMakeVec3(HUGE_VAL, HUGE_VAL, HUGE_VAL);
    }
    // Touching counts: some boxes share a coordinate exactly.
    if (i % 5 == 0 && i > 0 && scene->halves[i].x < HUGE_VAL && scene->halves[i - 1].x < HUGE_VAL) {
        scene->centers[i] = scene->centers[i - 1];
        scene->halves[i] = scene->halves[i - 1];
        scene->centers[i].x += 2.0 * scene->halves[i].x;
    }
}

static void moveBoxes(Scene* scene, tpRandom* random) {
    for (int i = 0; i < scene->count; ++i) {
        uint64_t dice = randomBits(random) % 100;
        if (scene->kinds[i] == tp_movableProxy && dice > 30) {
            scene->centers[i] = tpAdd(scene->centers[i], scene->velocities[i]);
        }
        if (dice == 0) {
            scene->centers[i] = randomVec3(random, -3.0, 3.0); // a leap
        } else if (dice == 1) {
            scene->kinds[i] = (uint8_t)(randomBits(random) % 3); // comes, goes, or is fixed
        } else if (dice == 2) {
            scene->halves[i] = tpScale(scene->halves[i].x < HUGE_VAL ? 0.5 : 1.0, scene->halves[i]);
        }
    }
}

static int allPairs(const Scene* scene, tpShapePair* pairs, int limit) {
    int count = 0;
    for (int32_t a = 0; a < scene->count; ++a) {
        for (int32_t b = a + 1; b < scene->count; ++b) {
            uint8_t p = scene->kinds[a], q = scene->kinds[b];
            if (p != tp_noProxy && q != tp_noProxy &&
                (p == tp_movableProxy || q == tp_movableProxy) && mayPair(NULL, a, b) &&
                tpBoundsOverlap(&scene->bounds[a], &scene->bounds[b])) {
                assert_true(count < limit);
                pairs[count++] = (tpShapePair){ a, b };
            }
        }
    }
    return count;
}

static tpProxies proxiesOf(const Scene* scene) {
    return (tpProxies){ scene->bounds, scene->kinds, scene->count, mayPair, NULL, NULL };
}

static void comparePairs(const tpPairArray* found, const tpShapePair* expected, int count) {
    assert_int_equal(found->count, count);
    for (int i = 0; i < count; ++i) {
        assert_int_equal(found->data[i].shapeA, expected[i].shapeA);
        assert_int_equal(found->data[i].shapeB, expected[i].shapeB);
    }
}

static const tpBroadPhaseClass* const classes[2] = { &tp_treeBroadPhase, &tp_hashBroadPhase };

static void findsAllPairs(const tpBroadPhaseClass* class, int threads, double decades,
                          uint64_t seed) {
    static tpShapePair expected[boxLimit * boxLimit / 2];
    static Scene scene;
    tpAllocator allocator = tpDefaultAllocator();
    tpRandom random = { seed };
    tpTasks* tasks;
    tpBroadPhase* broadPhase;
    tpPairArray found = { 0 };
    assert_int_equal(tpCreateTasks(&allocator, threads, &tasks), tp_success);
    assert_int_equal(class->create(&allocator, &broadPhase), tp_success);
    scene.count = boxLimit - 50;
    for (int i = 0; i < boxLimit; ++i) {
        fillBox(&scene, &random, i, decades);
    }
    for (int step = 0; step < 60; ++step) {
        if (step % 10 == 9) { // the number of shapes changes
            scene.count = boxLimit - (int)(randomBits(&random) % 100);
        }
        placeBoxes(&scene);
        int count = allPairs(&scene, expected, boxLimit * boxLimit / 2);
        tpProxies proxies = proxiesOf(&scene);
        assert_int_equal(class->findPairs(broadPhase, &proxies, tasks, &found), tp_success);
        comparePairs(&found, expected, count);
        moveBoxes(&scene, &random);
    }
    TP_FREE_ARRAY(&allocator, found);
    class->destroy(broadPhase);
    tpDestroyTasks(tasks);
}

static void bothAgreeWithAllPairs(void** state) {
    (void)state;
    for (int c = 0; c < 2; ++c) {
        for (int threads = 1; threads <= 3; ++threads) {
            findsAllPairs(classes[c], threads, 0.5, 71);
            findsAllPairs(classes[c], threads, 6.0, 72);
        }
    }
}

// No shapes, one shape, shapes that are all the same, and shapes very far away.
static void oddScenes(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    for (int c = 0; c < 2; ++c) {
        static Scene scene;
        tpPairArray found = { 0 };
        tpBroadPhase* broadPhase;
        memset(&scene, 0, sizeof(scene));
        assert_int_equal(classes[c]->create(&allocator, &broadPhase), tp_success);
        tpProxies none = proxiesOf(&scene);
        assert_int_equal(classes[c]->findPairs(broadPhase, &none, NULL, &found), tp_success);
        assert_int_equal(found.count, 0);
        scene.count = 40;
        for (int i = 0; i < 40; ++i) {
            scene.kinds[i] = tp_movableProxy;
            scene.halves[i] = tpMakeVec3(1.0, 1.0, 1.0);
            if (i >= 20) { // three far ends of space
                double far = i % 3 == 0 ? 1e300 : i % 3 == 1 ? 1e17 : -1e25;
                scene.centers[i] = tpMakeVec3(far, -far, far);
            }
        }
        placeBoxes(&scene);
        static tpShapePair expected[boxLimit * boxLimit / 2];
        int count = allPairs(&scene, expected, boxLimit * boxLimit / 2);
        for (int repeat = 0; repeat < 2; ++repeat) {
            tpProxies proxies = proxiesOf(&scene);
            assert_int_equal(classes[c]->findPairs(broadPhase, &proxies, NULL, &found), tp_success);
            comparePairs(&found, expected, count);
        }
        TP_FREE_ARRAY(&allocator, found);
        classes[c]->destroy(broadPhase);
    }
}

// Every n-th allocation fails: the call says so, the next one is right again, and nothing leaks.
static void failingMemoryIsSurvived(void** state) {
    (void)state;
    static tpShapePair expected[boxLimit * boxLimit / 2];
    static Scene scene;
    for (int c = 0; c < 2; ++c) {
        tpFailingAllocator heap = { 0 };
        tpAllocator allocator = tpMakeFailingAllocator(&heap);
        int told = 0;
        for (int n = 1;; ++n) {
            tpRandom random = { 73 };
            scene.count = 120;
            for (int i = 0; i < scene.count; ++i) {
                fillBox(&scene, &random, i, 1.0);
            }
            heap.requests = 0;
            heap.failAt = n;
            bool failed = false;
            tpPairArray found = { 0 };
            tpBroadPhase* broadPhase = NULL;
            if (classes[c]->create(&allocator, &broadPhase) != tp_success) {
                failed = true;
            }
            for (int step = 0; broadPhase != NULL && step < 4; ++step) {
                placeBoxes(&scene);
                tpProxies proxies = proxiesOf(&scene);
                tpResult result = classes[c]->findPairs(broadPhase, &proxies, NULL, &found);
                if (result == tp_outOfMemory) {
                    failed = true;
                    assert_int_equal(found.count, 0);
                } else {
                    int count = allPairs(&scene, expected, boxLimit * boxLimit / 2);
                    comparePairs(&found, expected, count);
                }
                moveBoxes(&scene, &random);
            }
            TP_FREE_ARRAY(&allocator, found);
            if (broadPhase != NULL) {
                classes[c]->destroy(broadPhase);
            }
            assert_int_equal(heap.outstanding, 0);
            assert_int_equal(heap.bytes, 0);
            // Scratch that does not get a large block takes a small one: then nothing has failed.
            bool isLost = heap.requests >= n;
            assert_true(isLost || !failed);
            told += failed ? 1 : 0;
            if (!isLost) {
                assert_true(10 * told > 8 * (n - 1));
                break;
            }
        }
    }
}

// Once warm, a call allocates nothing.
static void warmCallsAllocateNothing(void** state) {
    (void)state;
    static Scene scene;
    for (int c = 0; c < 2; ++c) {
        tpFailingAllocator heap = { 0 };
        tpAllocator allocator = tpMakeFailingAllocator(&heap);
        tpRandom random = { 74 };
        tpPairArray found = { 0 };
        tpBroadPhase* broadPhase;
        assert_int_equal(classes[c]->create(&allocator, &broadPhase), tp_success);
        scene.count = boxLimit;
        for (int i = 0; i < boxLimit; ++i) {
            fillBox(&scene, &random, i, 1.0);
        }
        for (int step = 0; step < 60; ++step) {
            if (step == 20) {
                heap.requests = 0;
            }
            // To and fro: what comes later is no more than what came before.
            double sign = step % 20 < 10 ? 1.0 : -1.0;
            for (int i = 0; i < scene.count; ++i) {
                scene.centers[i] = tpMulAdd(scene.centers[i], sign, scene.velocities[i]);
            }
            placeBoxes(&scene);
            tpProxies proxies = proxiesOf(&scene);
            assert_int_equal(classes[c]->findPairs(broadPhase, &proxies, NULL, &found), tp_success);
        }
        assert_int_equal(heap.requests, 0);
        TP_FREE_ARRAY(&allocator, found);
        classes[c]->destroy(broadPhase);
    }
}

// Boxes in a row, 1 m apart.
enum { crowdCount = 2300 };
static tpBounds crowdBounds[crowdCount];
static uint8_t crowdKinds[crowdCount];

static tpProxies crowdOf(double half) {
    for (int i = 0; i < crowdCount; ++i) {
        tpVec3 center = tpMakeVec3(i, 0.0, 0.0), halves = tpMakeVec3(half, half, half);
        crowdBounds[i] = (tpBounds){ tpSub(center, halves), tpAdd(center, halves) };
        crowdKinds[i] = tp_movableProxy;
    }
    return (tpProxies){ crowdBounds, crowdKinds, crowdCount, alwaysPair, NULL, NULL };
}

// All of so many with all of them are more pairs than are listed: the search says so, takes no
// memory for them, and the next one is right again, on any number of threads.
static void tooManyPairsAreNotListed(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    for (int threads = 1; threads <= 3; threads += 2) {
        tpTasks* tasks = NULL;
        assert_int_equal(tpCreateTasks(&allocator, threads, &tasks), tp_success);
        tpBroadPhase* broadPhase = NULL;
        assert_int_equal(tp_treeBroadPhase.create(&allocator, &broadPhase), tp_success);
        tpPairArray pairs = { 0 };
        const double halves[] = { 0.45, 1e9, 0.55, 2.0 * crowdCount, 0.45 };
        const int expected[] = { 0, -1, crowdCount - 1, -1, 0 };
        for (int k = 0; k < 5; ++k) {
            tpProxies proxies = crowdOf(halves[k]);
            tpResult result = tp_treeBroadPhase.findPairs(broadPhase, &proxies, tasks, &pairs);
            assert_int_equal(result, expected[k] < 0 ? tp_unsupported : tp_success);
            assert_int_equal(pairs.count, expected[k] < 0 ? 0 : expected[k]);
        }
        TP_FREE_ARRAY(&allocator, pairs);
        tp_treeBroadPhase.destroy(broadPhase);
        tpDestroyTasks(tasks);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bothAgreeWithAllPairs),    cmocka_unit_test(oddScenes),
        cmocka_unit_test(tooManyPairsAreNotListed), cmocka_unit_test(failingMemoryIsSurvived),
        cmocka_unit_test(warmCallsAllocateNothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
