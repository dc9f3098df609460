// Which methods may carry a group: none that leaves out a law that its contacts have.

#include "steppers/auto/choice.h"
#include "steppers/auto/methods.h"
#include "support/floor.h"
#include "world/world.h"

// A ball on a floor with the given laws, one group.
static tpWorld* makeGroup(const tpPairDef* pair, tpGroups* groups) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_auto;
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, 0.3, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.position = tpMakeVec3(0.0, 0.0, 0.1);
    tpBodyId ball = tpCreateBody(world, &bodyDef, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpSphere sphere = { 0.1 };
    tpCreateSphere(world, ball, &shapeDef, &sphere, NULL);
    tpError error;
    assert_int_equal(tpSetMaterialPair(world, pair, &error), tp_success);
    tpWorld_Step(world, 0.01);
    assert_true(tpGroups_Find(groups, &world->system, 0.01, false));
    assert_int_equal(groups->count, 1);
    assert_int_equal(groups->flying, -1);
    return world;
}

// The methods that may carry such a ball, as a mask.
static unsigned carriersWith(const tpPairDef* pair) {
    tpGroups groups;
    tpWorld* world = makeGroup(pair, &groups);
    unsigned mask = 0;
    for (int method = 0; method < tp_methodCount; ++method) {
        mask |= tpMethod_CanCarry((tpMethod)method, &world->system, &groups, 0) ? 1u << method : 0u;
    }
    tpMethod first = tpMethod_First(&world->system, &groups, 0);
    assert_true((mask >> first & 1u) == 1u);
    tpDestroyWorld(world);
    return mask;
}

static tpPairDef plainPair(void) {
    tpPairDef pair = { .materials = { 1, 1 }, .hasFriction = true };
    pair.friction = tpDefaultMaterialDef().friction;
    pair.friction.staticCoefficient = pair.friction.dynamicCoefficient = 0.3;
    return pair;
}

enum {
    standard = 1u << tp_standardMethod,
    events = 1u << tp_eventMethod,
    rolling = 1u << tp_rollingMethod,
    piles = 1u << tp_pileMethod
};

static void oneCoefficientIsEverybodys(void** state) {
    (void)state;
    tpPairDef pair = plainPair();
    assert_int_equal(carriersWith(&pair), standard | events | rolling | piles);
}

static void lawsAreNotLeftOut(void** state) {
    (void)state;
    tpPairDef pair = plainPair();
    pair.friction.staticCoefficient = 0.5;
    assert_int_equal(carriersWith(&pair) & events, 0);
    pair = plainPair();
    pair.friction.ellipse[1] = 0.5 * pair.friction.ellipse[0];
    assert_int_equal(carriersWith(&pair) & events, events);
    pair = plainPair();
    pair.friction.torsionalArm = 0.01;
    assert_int_equal(carriersWith(&pair) & events, events);
    pair = plainPair();
    pair.friction.rollingArm = 0.01;
    assert_int_equal(carriersWith(&pair), standard);
    pair = plainPair();
    pair.hasContact = true;
    pair.contact.compliance = 1e-5;
    assert_int_equal(carriersWith(&pair), standard);
}

// Huge crowds that their method leaves unsolved go to the one for crowds, and to no other; crowds
// that are smaller, or have been solved lately, do not.
static void hugeCrowdsAreLeft(void** state) {
    (void)state;
    tpPairDef pair = plainPair();
    tpUserStep frame = { 0 };
    tpWorld* world = makeGroup(&pair, &frame.groups);
    frame.system = &world->system;
    tpCarrier carrier = { .method = tp_pileMethod, .pace = { .badCount = 3 } };
    frame.groups.sizes[0] = 501;
    assert_true(tpChoice_IsLeft(&frame, 0, &carrier));
    carrier.pace.badCount = 2;
    assert_false(tpChoice_IsLeft(&frame, 0, &carrier));
    carrier.pace.badCount = 3;
    carrier.method = tp_crowdMethod;
    assert_false(tpChoice_IsLeft(&frame, 0, &carrier));
    carrier.method = tp_standardMethod;
    frame.groups.sizes[0] = 500;
    assert_false(tpChoice_IsLeft(&frame, 0, &carrier));
    frame.groups.sizes[0] = 501;
    frame.groups.jointCounts[0] = 1;
    assert_false(tpChoice_IsLeft(&frame, 0, &carrier));
    tpDestroyWorld(world);
}

// A huge crowd that the method for crowds has carried stays one group; a smaller one does not, nor
// one of another method.
static void leftCrowdsStayOne(void** state) {
    (void)state;
    static tpCarriers carriers;
    tpCarried bodies[501] = { { 0 } };
    tpPairDef pair = plainPair();
    tpUserStep frame = { .carriersOf = &carriers };
    tpWorld* world = makeGroup(&pair, &frame.groups);
    frame.system = &world->system;
    carriers.list[0].method = tp_crowdMethod;
    carriers.list[1].method = tp_pileMethod;
    carriers.bodies.data = bodies;
    carriers.bodies.count = 501;
    assert_true(tpChoice_StaysOne(&frame));
    bodies[7].carrier = 1;
    assert_false(tpChoice_StaysOne(&frame));
    bodies[7].carrier = -1;
    assert_false(tpChoice_StaysOne(&frame));
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oneCoefficientIsEverybodys),
        cmocka_unit_test(lawsAreNotLeftOut),
        cmocka_unit_test(hugeCrowdsAreLeft),
        cmocka_unit_test(leftCrowdsStayOne),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
