// Polyhedra on triangles: what a pair remembers of single triangles changes no contact, and
// contacts over a triangle are those over any face.

#include "collision/hull_manifold.h"
#include "collision/mesh_query.h"
#include "random_hulls.h"
#include "support/check.h"
#include "tippe/collision.h"

enum { columns = 13, shapeCount = 4, room = 256, sideWord = 19 };

typedef struct Found {
    tpContactPoint points[room];
    int count;
} Found;

static Found collide(const tpGeometry* a, tpPose pose, const tpGeometry* b, tpPairCache* cache) {
    Found found;
    tpContactList list = { found.points, 0, room };
    assert_int_equal(tpCollide(a, pose, b, tpIdentityPose(), 0.05, cache, &list), tp_success);
    assert_true(list.count <= room);
    found.count = list.count;
    return found;
}

// Of a contact at an edge that two triangles share, roundings decide which of them names it.
static bool isSame(const Found* a, const Found* b) {
    bool isSame = a->count == b->count;
    for (int i = 0; i < a->count && isSame; ++i) {
        const tpContactPoint *p = &a->points[i], *q = &b->points[i];
        isSame = p->feature >> 31 == q->feature >> 31 && fabs(p->gap - q->gap) < 1e-9 &&
                 tpDistanceBetween(p->pointA, q->pointA) < 1e-7 &&
                 tpDistanceBetween(p->normal, q->normal) < 1e-7;
    }
    return isSame;
}

static void makeShapes(tpGeometry shapes[shapeCount]) {
    tpAllocator allocator = tpDefaultAllocator();
    tpPose id = tpIdentityPose();
    tpRandom random = { 3 };
    tpVec3 points[40];
    for (int i = 0; i < 40; ++i) {
        points[i] = tpScale(0.25, randomDirection(&random));
    }
    tpMakeBox(&(tpBox){ { 0.5, 0.4, 0.3 } }, id, &shapes[0], NULL);
    tpMakeHull(&allocator, points, 9, id, &shapes[1], NULL);
    tpMakeHull(&allocator, points, 40, id, &shapes[2], NULL); // more than few corners
    tpMakeRoundedBox(&(tpRoundedBox){ { 0.4, 0.3, 0.3 }, 0.05 }, id, &shapes[3], NULL);
}

static tpGeometry makeHills(void) {
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry field;
    tpRandom random = { 11 };
    double heights[columns * columns];
    for (int i = 0; i < columns * columns; ++i) {
        heights[i] = randomBetween(&random, -0.1, 0.1);
    }
    tpMakeHeightField(&allocator, columns, columns, 0.3, 0.3, heights, tpIdentityPose(), &field,
                      NULL);
    return field;
}

// Shapes that tumble over hills: with what was remembered from the pose before, with what anybody
// has left there, and with nothing.
static void memoryChangesNothing(void** state) {
    (void)state;
    tpGeometry shapes[shapeCount], hills = makeHills();
    makeShapes(shapes);
    tpRandom random = { 17 };
    int contacts = 0, differences = 0, poses = 0;
    for (int k = 0; k < shapeCount; ++k) {
        for (int n = 0; n < 40; ++n) {
            tpPairCache cache = { { 0 } };
            tpPose pose = { randomVec3(&random, -1.2, 1.2), randomRotation(&random) };
            pose.position.z = randomBetween(&random, 0.15, 0.4);
            tpVec3 way = randomVec3(&random, -0.02, 0.02), turn = randomVec3(&random, -0.1, 0.1);
            for (int i = 0; i < 25; ++i) {
                pose.position = tpAdd(pose.position, way);
                pose.rotation = tpNormalizeQuat(tpMulQQ(tpQuatExp(turn), pose.rotation));
                Found cold = collide(&shapes[k], pose, &hills, NULL);
                Found warm = collide(&shapes[k], pose, &hills, &cache);
                tpPairCache garbage;
                for (int w = 0; w < 20; ++w) {
                    garbage.words[w] = w == sideWord ? cache.words[w]
                                       : w == 18     ? 9u
                                       : w % 2 == 0  ? randomBits(&random) % 288u
                                                     : (uint32_t)randomBits(&random);
                }
                Found other = collide(&shapes[k], pose, &hills, &garbage);
                differences += isSame(&cold, &warm) && isSame(&cold, &other) ? 0 : 1;
                contacts += cold.count;
                ++poses;
            }
        }
        tpReleaseGeometry(&shapes[k]);
    }
    tpReleaseGeometry(&hills);
    assert_true(contacts > 2 * poses);
    assert_int_equal(differences, 0);
}

static void checkOver(const Found* got, const Found* want) {
    assert_int_equal(got->count, want->count);
    for (int i = 0; i < want->count; ++i) {
        int same = 0;
        for (int k = 0; k < got->count; ++k) {
            const tpContactPoint *p = &got->points[k], *q = &want->points[i];
            same += p->feature == q->feature && fabs(p->gap - q->gap) < 1e-12 &&
                            tpDistanceBetween(p->pointA, q->pointA) < 1e-12 &&
                            tpDistanceBetween(p->pointB, q->pointB) < 1e-12
                        ? 1
                        : 0;
        }
        assert_int_equal(same, 1);
    }
}

// A triangle of a surface, and the same triangle as a face of a polyhedron.
static void trianglesAreFaces(void** state) {
    (void)state;
    tpGeometry shapes[shapeCount], hills = makeHills();
    makeShapes(shapes);
    tpRandom random = { 29 };
    int contacts = 0, cut = 0;
    for (int n = 0; n < 4000; ++n) {
        tpGeometry* shape = &shapes[n % 2];
        tpPose pose = { randomVec3(&random, -0.3, 0.3), randomRotation(&random) };
        tpContactPoint unused[room];
        tpContactList none = { unused, 0, room };
        tpPair pair = { shape, &hills, pose, tpIdentityPose(), 0.2, false, NULL };
        tpMeshQuery query;
        tpStartMeshQuery(&pair, &none, &query);
        tpTriangle t = { .normal = { 0.0, 0.0, 1.0 } };
        for (int k = 0; k < 3; ++k) {
            double angle = 2.1 * k + randomBetween(&random, 0.0, 0.5);
            t.corners[k] = tpMakeVec3(0.4 * cos(angle), 0.4 * sin(angle), -0.2);
        }
        tpSmallHull hull;
        tpFillTriangle(&hull, t.corners, t.normal);
        Found got = { .count = 0 }, want = { .count = 0 };
        tpContactList mine = { got.points, 0, room }, others = { want.points, 0, room };
        tpMeshQuery_Lowest(&query, t.normal);
        tpMeshQuery_CollideOver(&query, &t, -0.2, hull.hull.radius, query.lowest, &mine);
        tpCollideOverFace(&hull.hull, tpIdentityPose(), 0, query.core, pose, -1, 1, 0.2, &others,
                          NULL);
        got.count = mine.count;
        want.count = others.count;
        checkOver(&got, &want);
        contacts += want.count;
        for (int i = 0; i < want.count; ++i) {
            cut += want.points[i].feature >> 62 != tp_vertexFace ? 1 : 0;
        }
    }
    for (int k = 0; k < shapeCount; ++k) {
        tpReleaseGeometry(&shapes[k]);
    }
    tpReleaseGeometry(&hills);
    assert_true(contacts > 4000 && cut > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memoryChangesNothing),
        cmocka_unit_test(trianglesAreFaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
