// The collider: every pair that touches, in order, on any number of threads, without memory once
// warm.

#include "random_hulls.h"

#include "base/tasks.h"
#include "collision/collider.h"
#include "collision/collider_parts.h"
#include "collision/excluded_pairs.h"
#include "support/failing_allocator.h"

#include <string.h>

enum { bodyCount = 120, maxPoints = 256 };

typedef struct Scene {
    tpCollider* collider;
    tpGeometry shapes[bodyCount];
    tpPose poses[bodyCount];
    double margins[bodyCount];
    tpVec3 velocities[bodyCount];
} Scene;

static tpResult makeShape(tpRandom* random, int i, tpGeometry* out) {
    tpAllocator allocator = tpDefaultAllocator();
    double polygon[4][2] = { { 0.0, 0.0 }, { 0.5, 0.0 }, { 0.6, 0.4 }, { 0.1, 0.5 } };
    switch (i % 6) {
    case 0:
        return tpMakeSphere(&(tpSphere){ 0.3 }, tpIdentityPose(), out, NULL);
    case 1:
        return tpMakeBox(&(tpBox){ randomVec3(random, 0.3, 0.8) }, tpIdentityPose(), out, NULL);
    case 2:
        return tpMakeCapsule(&(tpCapsule){ 0.2, 0.5, { 1.0, 0.0, 0.0 } }, tpIdentityPose(), out,
                             NULL);
    case 3:
        return tpMakeCylinder(&(tpCylinder){ 0.25, 0.5, { 0.0, 0.0, 1.0 } }, tpIdentityPose(), out,
                              NULL);
    case 4:
        return tpMakePrism(&allocator, (const double(*)[2])polygon, 4, 0.5, tpIdentityPose(), out,
                           NULL);
    default:
        return tpMakeBox(&(tpBox){ randomVec3(random, 0.3, 0.8) }, tpIdentityPose(), out, NULL);
    }
}

// Bodies of all kinds in a box with a floor; body 0 is the floor, one in ten cannot move.
static tpResult makeScene(Scene* scene, const tpAllocator* allocator) {
    tpRandom random = { 99 };
    tpColliderDef def = { .allocator = *allocator };
    memset(scene, 0, sizeof *scene);
    tpResult result = tpCreateCollider(&def, &scene->collider);
    for (int i = 0; i < bodyCount && result == tp_success; ++i) {
        tpPlane plane = { { 0.0, 0.0, 1.0 }, 0.0 };
        if (i == 0) {
            tpMakePlane(&plane, tpIdentityPose(), &scene->shapes[i], NULL);
        } else {
            assert_int_equal(makeShape(&random, i, &scene->shapes[i]), tp_success);
        }
        scene->poses[i] =
            i == 0 ? tpIdentityPose()
                   : tpMakePose(tpAdd(randomVec3(&random, -1.8, 1.8), tpMakeVec3(0.0, 0.0, 2.0)),
                                randomRotation(&random));
        scene->velocities[i] = i == 0 ? tpZeroVec3() : randomVec3(&random, -1.0, 1.0);
        scene->margins[i] = 0.01;
        tpColliderShapeDef shape = {
            &scene->shapes[i], tpIdentityPose(),     i,
            i % 10 != 0,       i % 7 == 0 ? 2u : 1u, i % 7 == 0 ? 1u : 3u
        };
        result = tpCollider_PutShape(scene->collider, i, &shape);
    }
    return result;
}

static void destroyScene(Scene* scene) {
    tpDestroyCollider(scene->collider);
    for (int i = 0; i < bodyCount; ++i) {
        if (scene->shapes[i].type == tp_prismShape) {
            tpReleaseGeometry(&scene->shapes[i]);
        }
    }
}

static void moveScene(Scene* scene, double h) {
    for (int i = 0; i < bodyCount; ++i) {
        scene->poses[i].position = tpMulAdd(scene->poses[i].position, h, scene->velocities[i]);
    }
}

// All contacts, by asking every pair without memory.
static void findsAllContacts(void** state) {
    (void)state;
    static Scene scene;
    tpAllocator allocator = tpDefaultAllocator();
    assert_int_equal(makeScene(&scene, &allocator), tp_success);
    for (int step = 0; step < 5; ++step, moveScene(&scene, 0.05)) {
        assert_int_equal(tpCollider_Update(scene.collider, scene.poses, scene.margins, NULL),
                         tp_success);
        int count, next = 0;
        const tpContact* contacts = tpCollider_GetContacts(scene.collider, &count);
        for (int i = 0; i < bodyCount; ++i) {
            for (int j = i + 1; j < bodyCount; ++j) {
                bool excluded = (i % 10 == 0 && j % 10 == 0) || (i % 7 == 0 && j % 7 == 0);
                tpContactPoint points[maxPoints];
                tpContactList list = { points, 0, maxPoints };
                if (!excluded) {
                    tpCollide(&scene.shapes[i], scene.poses[i], &scene.shapes[j], scene.poses[j],
                              0.02, NULL, &list);
                }
                // Gaps within rounding of the margin may go either way.
                bool isClear = true;
                for (int k = 0; k < list.count; ++k) {
                    isClear = isClear && points[k].gap < 0.02 - 1e-9;
                }
                int found = 0;
                for (; next < count && contacts[next].shapeA == i && contacts[next].shapeB == j;
                     ++next, ++found) {
                    const tpContact* c = &contacts[next];
                    assert_int_equal(c->bodyA, i);
                    assert_int_equal(c->bodyB, j);
                    assert_true(found == 0 || c->feature > contacts[next - 1].feature);
                    CHECK_VEC3(tpSub(c->pointA, c->pointB), tpScale(c->gap, c->normal), 1e-12);
                }
                if (isClear) {
                    assert_int_equal(found > 0, list.count > 0);
                }
            }
        }
        assert_int_equal(next, count);
        assert_true(count > 100);
    }
    destroyScene(&scene);
}

// Pairs that are asked one by one have the contacts that an update finds, and say when there is no
// room for them.
static void pairsAloneAreAsInUpdates(void** state) {
    (void)state;
    static Scene scene;
    tpAllocator allocator = tpDefaultAllocator();
    assert_int_equal(makeScene(&scene, &allocator), tp_success);
    int shortCount = 0;
    for (int step = 0; step < 5; ++step, moveScene(&scene, 0.05)) {
        assert_int_equal(tpCollider_Update(scene.collider, scene.poses, scene.margins, NULL),
                         tp_success);
        int count, pairCount, next = 0;
        const tpContact* contacts = tpCollider_GetContacts(scene.collider, &count);
        const tpShapePair* pairs = tpCollider_GetPairs(scene.collider, &pairCount);
        for (int i = 0; i < pairCount; ++i) {
            tpContact own[maxPoints];
            int number = tpCollider_CollidePair(scene.collider, pairs[i], scene.poses,
                                                scene.margins, own, maxPoints);
            for (int k = 0; k < number; ++k, ++next) {
                assert_true(next < count);
                assert_int_equal(own[k].shapeA, contacts[next].shapeA);
                assert_int_equal(own[k].shapeB, contacts[next].shapeB);
                assert_int_equal(own[k].bodyA, contacts[next].bodyA);
                assert_int_equal(own[k].bodyB, contacts[next].bodyB);
                assert_true(own[k].feature == contacts[next].feature);
                CHECK_NEAR(own[k].gap, contacts[next].gap, 1e-9);
                CHECK_VEC3(own[k].pointA, contacts[next].pointA, 1e-6);
            }
            if (number > 1) {
                int told = tpCollider_CollidePair(scene.collider, pairs[i], scene.poses,
                                                  scene.margins, own, number - 1);
                assert_true(told > number - 1);
                shortCount += 1;
            }
        }
        assert_int_equal(next, count);
    }
    assert_true(shortCount > 0);
    destroyScene(&scene);
}

// The same bits on one thread and on several, run after run, and after saving and loading.
static void repeatsBitForBit(void** state) {
    (void)state;
    static Scene scenes[3];
    tpAllocator allocator = tpDefaultAllocator();
    tpTasks* tasks[3] = { NULL, NULL, NULL };
    for (int k = 0; k < 3; ++k) {
        assert_int_equal(makeScene(&scenes[k], &allocator), tp_success);
        if (k > 0) {
            assert_int_equal(tpCreateTasks(&allocator, k + 1, &tasks[k]), tp_success);
        }
    }
    for (int step = 0; step < 10; ++step) {
        int counts[3];
        const tpContact* contacts[3];
        for (int k = 0; k < 3; ++k) {
            tpCollider_Update(scenes[k].collider, scenes[k].poses, scenes[k].margins, tasks[k]);
            contacts[k] = tpCollider_GetContacts(scenes[k].collider, &counts[k]);
            moveScene(&scenes[k], 0.02);
        }
        for (int k = 1; k < 3; ++k) {
            assert_int_equal(counts[k], counts[0]);
            assert_memory_equal(contacts[k], contacts[0], sizeof(tpContact) * (size_t)counts[0]);
        }
        if (step == 5) {
            // Scene 2 goes on with what scene 0 has learned, in a collider that has seen nothing.
            size_t size = tpCollider_StateSize(scenes[0].collider);
            void* memory = malloc(size);
            tpCollider_SaveState(scenes[0].collider, memory);
            destroyScene(&scenes[2]);
            assert_int_equal(makeScene(&scenes[2], &allocator), tp_success);
            memcpy(scenes[2].poses, scenes[0].poses, sizeof scenes[0].poses);
            assert_int_equal(tpCollider_LoadState(scenes[2].collider, memory, size), tp_success);
            free(memory);
        }
    }
    for (int k = 0; k < 3; ++k) {
        destroyScene(&scenes[k]);
        tpDestroyTasks(tasks[k]);
    }
}

// Joints keep bodies from colliding, and let them again when the last is gone.
static void joinedBodiesPass(void** state) {
    (void)state;
    tpAllocator allocator = tpDefaultAllocator();
    tpColliderDef def = { .allocator = allocator };
    tpCollider* collider;
    tpGeometry ball;
    tpMakeSphere(&(tpSphere){ 1.0 }, tpIdentityPose(), &ball, NULL);
    assert_int_equal(tpCreateCollider(&def, &collider), tp_success);
    tpPose poses[2] = { tpIdentityPose(), tpIdentityPose() };
    poses[1].position.x = 1.5;
    for (int i = 0; i < 2; ++i) {
        tpColliderShapeDef shape = { &ball, tpIdentityPose(), i, true, 1, 1 };
        assert_int_equal(tpCollider_PutShape(collider, 3 * i, &shape), tp_success);
    }
    int expected[5] = { 1, 0, 0, 0, 1 };
    for (int i = 0; i < 5; ++i) {
        if (i == 1 || i == 2) {
            assert_int_equal(tpCollider_Exclude(collider, 1, 0), tp_success);
        } else if (i > 2) {
            tpCollider_Include(collider, 0, 1);
        }
        int count;
        tpCollider_Update(collider, poses, NULL, NULL);
        const tpContact* contacts = tpCollider_GetContacts(collider, &count);
        assert_int_equal(count, expected[i]);
        if (count > 0) {
            CHECK_NEAR(contacts[0].gap, -0.5, 1e-15);
            CHECK_VEC3(contacts[0].normal, tpMakeVec3(-1.0, 0.0, 0.0), 1e-15);
        }
    }
    // A removed shape leaves no contact behind, and neither does its last number, nor what was
    // known of its pairs.
    int count;
    assert_true(tpCollider_HasShape(collider, 3) && !tpCollider_HasShape(collider, 1));
    tpCollider_RemoveShape(collider, 3);
    tpCollider_GetPairs(collider, &count);
    assert_int_equal(count, 0);
    tpCollider_Update(collider, poses, NULL, NULL);
    tpCollider_GetContacts(collider, &count);
    assert_int_equal(count, 0);
    // The number may be used again, also by another shape, and in place of the one that has it.
    tpGeometry box;
    tpMakeBox(&(tpBox){ .size = { 2.0, 2.0, 2.0 } }, tpIdentityPose(), &box, NULL);
    tpColliderShapeDef shape = { &box, tpIdentityPose(), 1, true, 1, 1 };
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(tpCollider_PutShape(collider, 3, &shape), tp_success);
        tpCollider_Update(collider, poses, NULL, NULL);
        const tpContact* contacts = tpCollider_GetContacts(collider, &count);
        assert_int_equal(count, 1);
        assert_int_equal(contacts[0].shapeB, 3);
        CHECK_NEAR(contacts[0].gap, -0.5, 1e-15);
    }
    tpDestroyCollider(collider);
}

// Pairs that are excluded and included in any order, against a table of how often each is.
static void excludedPairsAreCounted(void** state) {
    (void)state;
    enum { ownerCount = 12 };
    int counts[ownerCount][ownerCount] = { 0 };
    tpRandom random = { 7 };
    tpAllocator allocator = tpDefaultAllocator();
    tpExcludedPairs set = { 0 };
    for (int round = 0; round < 2000; ++round) {
        int a = (int)(randomBits(&random) % ownerCount),
            b = (int)(randomBits(&random) % ownerCount);
        int low = a < b ? a : b, high = a < b ? b : a;
        if (low != high && (counts[low][high] == 0 || randomBits(&random) % 2 == 0)) {
            assert_int_equal(tpExcludedPairs_Add(&set, &allocator, a, b), tp_success);
            ++counts[low][high];
        } else if (low != high) {
            tpExcludedPairs_Remove(&set, a, b);
            --counts[low][high];
        }
        for (int i = 0; i < ownerCount; ++i) {
            for (int j = 0; j < ownerCount; ++j) {
                assert_true(tpExcludedPairs_Has(&set, i, j) ==
                            (counts[i < j ? i : j][i < j ? j : i] > 0));
            }
        }
    }
    tpExcludedPairs_Destroy(&set, &allocator);
}

// A scene and three updates of it.
static tpResult updateScene(Scene* scene, const tpAllocator* allocator) {
    tpResult result = makeScene(scene, allocator);
    for (int step = 0; step < 3 && result == tp_success; ++step, moveScene(scene, 0.05)) {
        result = tpCollider_Update(scene->collider, scene->poses, scene->margins, NULL);
    }
    return result;
}

static void checkSameContacts(const Scene* a, const Scene* b) {
    int counts[2];
    const tpContact* first = tpCollider_GetContacts(a->collider, &counts[0]);
    const tpContact* second = tpCollider_GetContacts(b->collider, &counts[1]);
    assert_int_equal(counts[0], counts[1]);
    assert_memory_equal(first, second, sizeof(tpContact) * (size_t)counts[0]);
}

static void checkSameStates(const Scene* a, const Scene* b) {
    size_t size = tpCollider_StateSize(a->collider);
    assert_int_equal(size, tpCollider_StateSize(b->collider));
    char* first = calloc(2, size);
    tpCollider_SaveState(a->collider, first);
    tpCollider_SaveState(b->collider, first + size);
    assert_memory_equal(first, first + size, size);
    free(first);
}

// Every number gets another shape, that of its neighbour.
static void putOthers(Scene* scene) {
    for (int i = 1; i < bodyCount; ++i) {
        tpColliderShapeDef shape = {
            &scene->shapes[i + 1 < bodyCount ? i + 1 : 1], tpIdentityPose(), i, true, 1, 1
        };
        assert_int_equal(tpCollider_PutShape(scene->collider, i, &shape), tp_success);
    }
}

// The closest points of two shapes, and the contacts of them.
static void checkSamePair(const Scene* a, const Scene* b, tpShapePair pair) {
    const Scene* scenes[2] = { a, b };
    tpClosest closest[2];
    tpContact contacts[2][maxPoints];
    int counts[2];
    memset(closest, 0, sizeof closest);
    memset(contacts, 0, sizeof contacts);
    for (int k = 0; k < 2; ++k) {
        const Scene* scene = scenes[k];
        tpCollider_Closest(scene->collider, pair.shapeA, pair.shapeB, scene->poses[pair.shapeA],
                           scene->poses[pair.shapeB], &closest[k]);
        counts[k] = tpCollider_CollidePair(scene->collider, pair, scene->poses, scene->margins,
                                           contacts[k], maxPoints);
    }
    assert_memory_equal(&closest[0], &closest[1], sizeof closest[0]);
    assert_int_equal(counts[0], counts[1]);
    assert_memory_equal(contacts[0], contacts[1], sizeof contacts[0]);
}

// A shape that goes takes its own pairs along, and no others.
static void checkOthersStay(tpCollider* collider, int32_t shape) {
    int count, others = 0;
    const tpShapePair* pairs = tpCollider_GetPairs(collider, &count);
    for (int i = 0; i < count; ++i) {
        others += pairs[i].shapeA != shape && pairs[i].shapeB != shape;
    }
    assert_true(others > 0 && others < count);
    tpCollider_RemoveShape(collider, shape);
    tpCollider_GetPairs(collider, &count);
    assert_int_equal(count, others);
}

// What was known of a shape that has gone is not known of the next one with its number: a collider
// is as one that never saw the first, whatever is asked first.
static void newOwnersOfNumbersAreNew(void** state) {
    (void)state;
    enum { pairsAsked, sizeAsked, closestAsked, updateAsked, waysToAsk };
    static Scene used, fresh;
    tpAllocator allocator = tpDefaultAllocator();
    for (int way = 0; way < waysToAsk; ++way) {
        assert_int_equal(updateScene(&used, &allocator), tp_success);
        assert_int_equal(makeScene(&fresh, &allocator), tp_success);
        memcpy(fresh.poses, used.poses, sizeof used.poses);
        int known, count = -1;
        const tpShapePair* pairs = tpCollider_GetPairs(used.collider, &known);
        tpShapePair* asked = malloc(sizeof *asked * (size_t)known);
        memcpy(asked, pairs, sizeof *asked * (size_t)known);
        assert_true(known > bodyCount);
        putOthers(&used);
        putOthers(&fresh);
        if (way == pairsAsked) {
            tpCollider_GetPairs(used.collider, &count);
            assert_int_equal(count, 0);
        } else if (way == sizeAsked) {
            assert_int_equal(tpCollider_StateSize(used.collider), 0);
        }
        for (int i = 0; way == closestAsked && i < known; ++i) {
            checkSamePair(&used, &fresh, asked[i]);
        }
        free(asked);
        for (int step = 0; step < 2; ++step, moveScene(&used, 0.05), moveScene(&fresh, 0.05)) {
            tpCollider_Update(used.collider, used.poses, used.margins, NULL);
            tpCollider_Update(fresh.collider, fresh.poses, fresh.margins, NULL);
            checkSameContacts(&used, &fresh);
            checkSameStates(&used, &fresh);
        }
        checkOthersStay(used.collider, way + 1);
        destroyScene(&used);
        destroyScene(&fresh);
    }
}

// Every allocation may fail; nothing leaks, and the next update works. Scratch that does not get a
// large block takes a small one: then the update is done, and finds what it would have found.
static void survivesWithoutMemory(void** state) {
    (void)state;
    static Scene scene, whole;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap), plain = tpDefaultAllocator();
    assert_int_equal(updateScene(&whole, &plain), tp_success);
    int told = 0, n = 1;
    for (;; ++n) {
        heap.requests = 0;
        heap.failAt = n;
        tpResult result = updateScene(&scene, &allocator);
        bool isDone = heap.requests < n;
        if (result == tp_outOfMemory && scene.collider != NULL) {
            heap.failAt = 0;
            tpCollider_Update(scene.collider, scene.poses, scene.margins, NULL);
        }
        if (result == tp_success) {
            checkSameContacts(&scene, &whole);
        } else {
            assert_int_equal(result, tp_outOfMemory);
            ++told;
        }
        destroyScene(&scene);
        assert_int_equal(heap.outstanding, 0);
        if (isDone) {
            assert_int_equal(result, tp_success);
            break;
        }
    }
    assert_true(10 * told > 9 * n);
    destroyScene(&whole);
}

// Bodies that shake in place: after the first updates no memory is asked for.
static void asksForNothingOnceWarm(void** state) {
    (void)state;
    static Scene scene;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    assert_int_equal(makeScene(&scene, &allocator), tp_success);
    for (int step = 0; step < 40; ++step) {
        if (step == 10) {
            heap.requests = 0;
        }
        assert_int_equal(tpCollider_Update(scene.collider, scene.poses, scene.margins, NULL),
                         tp_success);
        moveScene(&scene, step % 2 == 0 ? 0.01 : -0.01);
    }
    assert_int_equal(heap.requests, 0);
    destroyScene(&scene);
}

// A filter by the numbers of two shapes, which counts how often it is asked.
static bool isEvenSum(void* context, int32_t shapeA, int32_t shapeB) {
    *(int*)context += 1;
    return (shapeA + shapeB) % 2 == 0;
}

// Two shapes may collide if they belong to two bodies, each is in the mask of the other, no joint
// and no filter keeps them apart, and their types know each other. What an update finds is that.
static void rulesDecideWhoCollides(void** state) {
    (void)state;
    static Scene scene;
    tpAllocator allocator = tpDefaultAllocator();
    assert_int_equal(makeScene(&scene, &allocator), tp_success);
    tpCollider* collider = scene.collider;
    assert_int_equal(tpCollider_Exclude(collider, 5, 8), tp_success);
    assert_int_equal(tpCollider_MoveShape(collider, 9, 11, tpIdentityPose(), true), tp_success);
    tpPlane plane = { { 0.0, 0.0, 1.0 }, 0.0 };
    tpGeometry floor;
    assert_int_equal(tpMakePlane(&plane, tpIdentityPose(), &floor, NULL), tp_success);
    tpColliderShapeDef def = { &floor, tpIdentityPose(), 13, true, 1, 3 };
    assert_int_equal(tpCollider_PutShape(collider, bodyCount, &def), tp_success);
    int asked = 0;
    for (int round = 0; round < 2; ++round) {
        int allowed = 0;
        asked = 0;
        tpCollider_SetFilter(collider, round == 1 ? isEvenSum : NULL, &asked);
        for (int i = 0; i <= bodyCount; ++i) {
            assert_true(tpCollider_HasShape(collider, i));
            assert_true(tpCollider_IsMovable(collider, i) == (i % 10 != 0 || i == bodyCount));
            int body = i == 9 ? 11 : i == bodyCount ? 13 : i;
            assert_int_equal(tpCollider_GetBody(collider, i), body);
            assert_int_equal(tpCollider_GetGeometry(collider, i)->type,
                             i == bodyCount ? tp_planeShape : scene.shapes[i].type);
            for (int j = 0; j <= bodyCount; ++j) {
                int first = i < j ? i : j, second = i < j ? j : i;
                bool areSevens = i % 7 == 0 && j % 7 == 0 && second < bodyCount;
                bool isOne =
                    i == j || (first == 9 && second == 11) || (first == 13 && second == bodyCount);
                bool isJoined = first == 5 && second == 8;
                bool arePlanes = first == 0 && second == bodyCount;
                bool may = !areSevens && !isOne && !isJoined && !arePlanes;
                if (may && round == 1) {
                    may = (i + j) % 2 == 0;
                }
                assert_true(tpCollider_MayCollide(collider, i, j) == may);
                allowed += may;
            }
        }
        assert_true(allowed > 1000 && (asked > allowed) == (round == 1));
    }
    // Pairs of an update are allowed, and each pair that is allowed and touches is among them.
    assert_int_equal(tpCollider_Update(collider, scene.poses, scene.margins, NULL), tp_success);
    int count, pairCount;
    tpCollider_GetContacts(collider, &count);
    const tpShapePair* pairs = tpCollider_GetPairs(collider, &pairCount);
    assert_true(count > 50 && pairCount > 20);
    for (int i = 0; i < pairCount; ++i) {
        assert_true(tpCollider_MayCollide(collider, pairs[i].shapeA, pairs[i].shapeB));
    }
    assert_false(tpCollider_HasShape(collider, -1));
    assert_false(tpCollider_HasShape(collider, bodyCount + 1));
    tpCollider_RemoveShape(collider, 0);
    assert_false(tpCollider_HasShape(collider, 0));
    destroyScene(&scene);
}

// A shape that has another owner, or another place in it, touches what it touches there. What takes
// the contacts of an update has them all, and leaves none.
static void movedShapesTouchWhereTheyAre(void** state) {
    (void)state;
    static Scene scene;
    tpAllocator allocator = tpDefaultAllocator();
    assert_int_equal(makeScene(&scene, &allocator), tp_success);
    tpRandom random = { 17 };
    tpContactArray taken = { 0 };
    int touching = 0;
    for (int step = 0; step < 60; ++step) {
        int shape = 1 + (int)(randomBits(&random) % (bodyCount - 1));
        int body = 1 + (int)(randomBits(&random) % (bodyCount - 1));
        tpPose place = { randomVec3(&random, -0.4, 0.4), randomRotation(&random) };
        int owner = tpCollider_GetBody(scene.collider, shape);
        tpPose before = tpCollider_GetGeometry(scene.collider, shape)->pose;
        assert_int_equal(tpCollider_MoveShape(scene.collider, shape, body, place, true),
                         tp_success);
        assert_int_equal(tpCollider_Update(scene.collider, scene.poses, scene.margins, NULL),
                         tp_success);
        tpCollider_TakeContacts(scene.collider, &taken);
        int left;
        tpCollider_GetContacts(scene.collider, &left);
        assert_int_equal(left, 0);
        tpGeometry moved = scene.shapes[shape];
        moved.pose = place;
        for (int i = 0; i < bodyCount; ++i) {
            int found = 0;
            for (int next = 0; next < taken.count; ++next) {
                int a = taken.data[next].shapeA, b = taken.data[next].shapeB;
                found += (a == shape && b == i) || (b == shape && a == i);
            }
            tpContactPoint points[maxPoints];
            tpContactList list = { points, 0, maxPoints };
            if (tpCollider_MayCollide(scene.collider, shape, i)) {
                tpCollide(&moved, scene.poses[body], &scene.shapes[i], scene.poses[i], 0.02, NULL,
                          &list);
            }
            bool isClear = true;
            for (int k = 0; k < list.count; ++k) {
                isClear = isClear && points[k].gap < 0.02 - 1e-9;
            }
            assert_true(!isClear || (found > 0) == (list.count > 0));
            touching += found > 0;
        }
        assert_int_equal(
            tpCollider_MoveShape(scene.collider, shape, owner, before, shape % 10 != 0),
            tp_success);
    }
    assert_true(touching > 100);
    TP_FREE_ARRAY(&allocator, taken);
    destroyScene(&scene);
}

// What a query that is stopped in its middle still does.
typedef struct Stopping {
    volatile sig_atomic_t stop;
    int asked, at;
} Stopping;

static bool stopWhenAsked(void* context, int32_t shapeA, int32_t shapeB) {
    (void)shapeA;
    (void)shapeB;
    Stopping* stopping = context;
    stopping->asked += 1;
    stopping->stop = stopping->asked >= stopping->at;
    return true;
}

// A query that is stopped while it seeks pairs looks at none of them, says so, and leaves a
// collider that finds what it should.
static void stoppedQueriesEnd(void** state) {
    (void)state;
    Scene scene;
    tpAllocator allocator = tpDefaultAllocator();
    assert_int_equal(makeScene(&scene, &allocator), tp_success);
    Stopping stopping = { .at = INT32_MAX };
    tpCollider_SetFilter(scene.collider, stopWhenAsked, &stopping);
    tpCollider_SetStop(scene.collider, &stopping.stop);
    assert_int_equal(tpCollider_Update(scene.collider, scene.poses, scene.margins, NULL),
                     tp_success);
    int whole;
    tpCollider_GetContacts(scene.collider, &whole);
    assert_true(whole > 100);

    stopping.at = stopping.asked + 5;
    assert_int_equal(tpCollider_Update(scene.collider, scene.poses, scene.margins, NULL),
                     tp_notSolved);
    int count, blocks = scene.collider->blocks.count;
    tpCollider_GetContacts(scene.collider, &count);
    assert_int_equal(count, 0);
    assert_true(blocks > 2);
    for (int i = 0; i < blocks; ++i) {
        assert_true(scene.collider->blocks.data[i].isSkipped);
    }

    stopping.at = INT32_MAX;
    stopping.stop = 0;
    assert_int_equal(tpCollider_Update(scene.collider, scene.poses, scene.margins, NULL),
                     tp_success);
    tpCollider_GetContacts(scene.collider, &count);
    assert_int_equal(count, whole);
    destroyScene(&scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(findsAllContacts),
        cmocka_unit_test(pairsAloneAreAsInUpdates),
        cmocka_unit_test(repeatsBitForBit),
        cmocka_unit_test(joinedBodiesPass),
        cmocka_unit_test(survivesWithoutMemory),
        cmocka_unit_test(asksForNothingOnceWarm),
        cmocka_unit_test(newOwnersOfNumbersAreNew),
        cmocka_unit_test(excludedPairsAreCounted),
        cmocka_unit_test(stoppedQueriesEnd),
        cmocka_unit_test(rulesDecideWhoCollides),
        cmocka_unit_test(movedShapesTouchWhereTheyAre),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
