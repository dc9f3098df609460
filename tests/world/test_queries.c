// Queries on worlds against answers that are known, and against asking every shape.

#include "tippe/queries.h"

#include <string.h>

#include "geometry/shape.h"
#include "support/check.h"

enum { bodyCount = 60 };

// Balls, boxes and capsules at random, and a floor.
static tpWorld* makeWorld(tpRandom* random) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_freeFlight;
    tpWorld* world = tpCreateWorld(&def);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    for (int i = 0; i < bodyCount; ++i) {
        tpBodyDef bodyDef = tpDefaultBodyDef();
        bodyDef.position = randomVec3(random, -5.0, 5.0);
        bodyDef.rotation = randomRotation(random);
        tpBodyId body = tpCreateBody(world, &bodyDef, NULL);
        shapeDef.group = 1u << (i % 3);
        shapeDef.pose = tpMakePose(randomVec3(random, -1.0, 1.0), randomRotation(random));
        switch (i % 3) {
        case 0:
            tpCreateSphere(world, body, &shapeDef, &(tpSphere){ randomBetween(random, 0.2, 0.8) },
                           NULL);
            break;
        case 1:
            tpCreateBox(world, body, &shapeDef, &(tpBox){ randomVec3(random, 0.3, 1.5) }, NULL);
            break;
        default:
            tpCreateCapsule(world, body, &shapeDef, &(tpCapsule){ 0.3, 1.0, { 1.0, 0.0, 0.0 } },
                            NULL);
        }
    }
    tpBodyDef floorDef = tpDefaultBodyDef();
    floorDef.kind = tp_fixedBody;
    tpBodyId floor = tpCreateBody(world, &floorDef, NULL);
    shapeDef = tpDefaultShapeDef();
    shapeDef.group = 8u;
    tpCreatePlane(world, floor, &shapeDef, &(tpPlane){ { 0.0, 0.0, 1.0 }, -6.0 }, NULL);
    return world;
}

// What every shape says, one by one.
static tpRayResult castAtEach(const tpWorld* world, tpVec3 origin, tpVec3 translation,
                              uint32_t mask, int* hits) {
    tpRayResult best = { .fraction = 1.0 };
    *hits = 0;
    for (int i = 0; i < tpWorld_GetBodyCount(world); ++i) {
        tpBodyId body = tpWorld_GetBody(world, i);
        tpShapeId shape = tpBody_GetShape(world, body, 0);
        uint32_t group = i == bodyCount ? 8u : 1u << (i % 3);
        tpRayHit hit;
        if ((group & mask) != 0 &&
            tpGeometry_CastRay(tpShape_GetGeometry(world, shape), tpBody_GetPose(world, body),
                               origin, translation, 1.0, &hit)) {
            ++*hits;
            if (!best.isHit || hit.t < best.fraction) {
                best.isHit = true;
                best.fraction = hit.t;
                best.shape = shape;
            }
        }
    }
    return best;
}

static bool countHit(const tpRayResult* result, void* context) {
    assert_true(result->isHit);
    ++*(int*)context;
    return true;
}

static bool stopAtOnce(const tpRayResult* result, void* context) {
    (void)result;
    ++*(int*)context;
    return false;
}

static void raysFindTheFirstShape(void** state) {
    (void)state;
    tpRandom random = { 81 };
    tpWorld* world = makeWorld(&random);
    int found = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        tpVec3 origin = randomVec3(&random, -8.0, 8.0);
        tpVec3 translation = randomVec3(&random, -20.0, 20.0);
        uint32_t mask = trial % 2 == 0 ? 0xffffffffu : (uint32_t)(randomBits(&random) & 15u);
        int hits, count = 0;
        tpRayResult expected = castAtEach(world, origin, translation, mask, &hits);
        tpRayResult result = tpWorld_CastRay(world, origin, translation, mask);
        assert_int_equal(result.isHit, expected.isHit);
        if (result.isHit) {
            ++found;
            CHECK_NEAR(result.fraction, expected.fraction, 0.0);
            assert_int_equal(result.shape.slot, expected.shape.slot);
            CHECK_VEC3(result.point, tpMulAdd(origin, result.fraction, translation), 1e-12);
        }
        tpWorld_CastRayAtAll(world, origin, translation, mask, countHit, &count);
        assert_int_equal(count, hits);
        count = 0;
        tpWorld_CastRayAtAll(world, origin, translation, mask, stopAtOnce, &count);
        assert_int_equal(count, hits > 0 ? 1 : 0);
    }
    assert_true(found > 500);
    tpDestroyWorld(world);
}

// A ball of radius r cast along a ray meets another ball where the ray meets that ball grown by r.
static void castBallsMeetGrownBalls(void** state) {
    (void)state;
    tpRandom random = { 82 };
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    tpShapeDef shapeDef = tpDefaultShapeDef();
    tpVec3 centers[20];
    for (int i = 0; i < 20; ++i) {
        centers[i] = bodyDef.position = randomVec3(&random, -3.0, 3.0);
        tpCreateSphere(world, tpCreateBody(world, &bodyDef, NULL), &shapeDef, &(tpSphere){ 0.5 },
                       NULL);
    }
    tpGeometry ball;
    tpMakeSphere(&(tpSphere){ 0.25 }, tpIdentityPose(), &ball, NULL);
    const double tolerance = 1e-9;
    int found = 0;
    for (int trial = 0; trial < 500; ++trial) {
        tpVec3 origin = tpScale(6.0, tpNormalize(randomVec3(&random, -1.0, 1.0)));
        tpVec3 translation = tpSub(randomVec3(&random, -3.0, 3.0), origin);
        double expected = HUGE_VAL;
        for (int i = 0; i < 20; ++i) {
            tpGeometry grown;
            tpRayHit hit;
            tpMakeSphere(&(tpSphere){ 0.75 + tolerance }, tpIdentityPose(), &grown, NULL);
            if (tpGeometry_CastRay(&grown, tpMakePose(centers[i], tpIdentityQuat()), origin,
                                   translation, 1.0, &hit)) {
                expected = fmin(expected, hit.t);
            }
        }
        tpShapeCastResult result;
        assert_int_equal(tpWorld_CastShape(world, &ball, tpMakePose(origin, tpIdentityQuat()),
                                           translation, tolerance, 1u, &result),
                         tp_success);
        assert_int_equal(result.hit.isHit, expected < HUGE_VAL);
        if (result.hit.isHit) {
            ++found;
            // Grazing hits are reached at a shallow angle; both are within the tolerance there.
            CHECK_NEAR(result.hit.fraction, expected, 1e-5);
            CHECK_NEAR(result.hit.closest.distance, 0.0, 2.0 * tolerance);
        }
    }
    assert_true(found > 100);
    tpDestroyWorld(world);
}

// Boxes against balls: the ball overlaps where its centre is within its radius of the box.
static void overlapsAreExact(void** state) {
    (void)state;
    tpRandom random = { 83 };
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpBodyDef bodyDef = tpDefaultBodyDef();
    tpShapeDef shapeDef = tpDefaultShapeDef();
    tpVec3 centers[100];
    tpShapeId ids[100], found[100];
    for (int i = 0; i < 100; ++i) {
        centers[i] = bodyDef.position = randomVec3(&random, -3.0, 3.0);
        ids[i] = tpCreateSphere(world, tpCreateBody(world, &bodyDef, NULL), &shapeDef,
                                &(tpSphere){ 0.5 }, NULL);
    }
    for (int trial = 0; trial < 300; ++trial) {
        tpVec3 c = randomVec3(&random, -3.0, 3.0), h = randomVec3(&random, 0.1, 1.5);
        tpBounds bounds = { tpSub(c, h), tpAdd(c, h) };
        int count = tpWorld_OverlapBounds(world, bounds, 1u, found, 100), next = 0;
        for (int i = 0; i < 100; ++i) {
            tpVec3 nearest = tpMinVec3(tpMaxVec3(centers[i], bounds.lower), bounds.upper);
            if (tpDistanceBetween(nearest, centers[i]) <= 0.5) {
                assert_true(next < count);
                assert_int_equal(found[next++].slot, ids[i].slot);
            }
        }
        assert_int_equal(next, count);
        assert_int_equal(tpWorld_OverlapBounds(world, bounds, 2u, found, 100), 0); // another group
        assert_int_equal(tpWorld_OverlapBounds(world, bounds, 1u, NULL, 0), count);
    }
    tpClosest closest;
    assert_int_equal(tpWorld_ClosestPoints(world, ids[0], ids[1], &closest), tp_success);
    CHECK_NEAR(closest.distance, tpDistanceBetween(centers[0], centers[1]) - 1.0, 1e-12);
    assert_int_equal(tpWorld_ClosestPoints(world, ids[0], (tpShapeId){ 0, 0 }, &closest),
                     tp_badInput);
    tpDestroyWorld(world);
}

// Pairs of shapes, each once, with their deepest contact; those that do not collide are none.
static void findOverlaps(void** state) {
    (void)state;
    tpWorldDef def = tpDefaultWorldDef();
    tpWorld* world = tpCreateWorld(&def);
    tpShapeDef shape = tpDefaultShapeDef();
    tpBodyDef body = tpDefaultBodyDef();
    tpOverlap overlaps[4];
    assert_int_equal(tpWorld_FindOverlaps(world, 0.0, overlaps, 4), 0);
    tpShapeId boxes[4];
    for (int i = 0; i < 4; ++i) { // in a row, each 0.25 m into the one before; the last one apart
        body.position = tpMakeVec3(0.75 * i + (i == 3 ? 9.0 : 0.0), 0.0, 0.0);
        tpBodyId id = tpCreateBody(world, &body, NULL);
        boxes[i] = tpCreateBox(world, id, &shape, &(tpBox){ .size = { 1.0, 1.0, 1.0 } }, NULL);
    }
    assert_int_equal(tpWorld_FindOverlaps(world, 0.0, overlaps, 4), 2);
    for (int i = 0; i < 2; ++i) {
        assert_true(overlaps[i].shapeA.slot == boxes[i].slot);
        assert_true(overlaps[i].shapeB.slot == boxes[i + 1].slot);
        CHECK_NEAR(overlaps[i].depth, 0.25, 1e-12);
    }
    assert_int_equal(tpWorld_FindOverlaps(world, 0.0, overlaps, 1), 2);
    assert_int_equal(tpWorld_FindOverlaps(world, 0.3, overlaps, 4), 0);
    assert_int_equal(tpWorld_FindOverlaps(world, 0.0, NULL, 0), 2);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raysFindTheFirstShape),
        cmocka_unit_test(castBallsMeetGrownBalls),
        cmocka_unit_test(overlapsAreExact),
        cmocka_unit_test(findOverlaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
