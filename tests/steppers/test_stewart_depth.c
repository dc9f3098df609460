// How deep bodies overlap in stewart-trinkle. Its rows are linear and do not know how gaps bend;
// steps that end too deep are linearised again where they lead.

#include "support/floor.h"
#include "tippe/joints.h"

static const double h = 1.0 / 60.0;

// `variant`: NULL for the default, which repeats.
static tpWorld* makeWorld(const char* variant) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_stewartTrinkle;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    if (variant != NULL) {
        assert_int_equal(tpWorld_SetOption(world, "variant", variant, NULL), tp_success);
    }
    addMaterial(world, 0.4, 0.0);
    return world;
}

static tpBodyId toss(tpWorld* world, tpRandom* random, tpVec3 position) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    def.rotation = randomRotation(random);
    def.velocity = randomVec3(random, -2.0, 2.0);
    def.angularVelocity = randomVec3(random, -15.0, 15.0);
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpVec3 size = randomVec3(random, 0.1, 0.4);
    if (randomBits(random) % 2 == 0) {
        tpCreateBox(world, body, &shape, &(tpBox){ size }, NULL);
    } else {
        tpGeometry geometry;
        tpMakeCylinder(&(tpCylinder){ size.x, size.y, { 0.0, 0.0, 1.0 } }, tpIdentityPose(),
                       &geometry, NULL);
        tpCreateShape(world, body, &shape, &geometry, NULL);
    }
    return body;
}

// Returns how many steps end deeper than their certificate allows.
static int countDeep(tpWorld* world) {
    int deep = 0;
    for (int k = 0; k < 90; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        deep += report.penetration > report.limits.penetration ? 1 : 0;
        assert_int_equal(report.failureCount, 0);
    }
    return deep;
}

static int tossOnPlane(const char* variant) {
    int deep = 0;
    tpRandom random = { 7 };
    for (int i = 0; i < 10; ++i) {
        tpWorld* world = makeWorld(variant);
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        toss(world, &random, tpMakeVec3(0.0, 0.0, 0.8));
        toss(world, &random, tpMakeVec3(0.9, 0.0, 0.9));
        deep += countDeep(world);
        tpDestroyWorld(world);
    }
    return deep;
}

static void tumblingBodiesStayOut(void** state) {
    (void)state;
    int paper = tossOnPlane("position"), again = tossOnPlane(NULL);
    print_message("%d of 900 steps end too deep as in the paper, %d repeated\n", paper, again);
    assert_int_equal(again, 0);
    // The paper's own step is there to be chosen.
    assert_true(paper > 0);
}

// Joints that are off at the end are brought back by moving bodies, into the floor as well.
static void joinedBodiesStayOut(void** state) {
    (void)state;
    tpRandom random = { 11 };
    for (int i = 0; i < 10; ++i) {
        tpWorld* world = makeWorld(NULL);
        addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
        tpJointDef rod = tpDefaultJointDef();
        rod.type = tp_distanceJoint;
        rod.bodyA = toss(world, &random, tpMakeVec3(0.0, 0.0, 0.8));
        rod.bodyB = toss(world, &random, tpMakeVec3(0.9, 0.0, 0.9));
        rod.anchorA = tpMakeVec3(0.3, 0.1, 0.9);
        rod.anchorB = tpMakeVec3(0.6, -0.1, 0.8);
        tpCreateJoint(world, &rod, NULL);
        assert_int_equal(countDeep(world), 0);
        tpDestroyWorld(world);
    }
}

static tpGeometry makeHills(tpRandom* random) {
    enum { side = 21 };
    double heights[side * side];
    for (int i = 0; i < side * side; ++i) {
        heights[i] = randomBetween(random, -0.06, 0.06);
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry hills;
    assert_int_equal(tpMakeHeightField(&allocator, side, side, 0.4, 0.4, heights, tpIdentityPose(),
                                       &hills, NULL),
                     tp_success);
    return hills;
}

static void bodiesStayAboveHills(void** state) {
    (void)state;
    tpRandom random = { 13 };
    for (int i = 0; i < 6; ++i) {
        tpWorld* world = makeWorld(NULL);
        tpGeometry hills = makeHills(&random);
        tpBodyDef def = tpDefaultBodyDef();
        def.kind = tp_fixedBody;
        tpShapeDef shape = tpDefaultShapeDef();
        shape.material = 1;
        tpCreateShape(world, tpCreateBody(world, &def, NULL), &shape, &hills, NULL);
        for (int k = 0; k < 4; ++k) {
            toss(world, &random, tpMakeVec3(0.9 * (k % 2), 0.9 * (k / 2), 0.8));
        }
        assert_int_equal(countDeep(world), 0);
        tpDestroyWorld(world);
        tpReleaseGeometry(&hills);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tumblingBodiesStayOut),
        cmocka_unit_test(joinedBodiesStayOut),
        cmocka_unit_test(bodiesStayAboveHills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
