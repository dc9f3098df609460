// What a stepper leaves out of what materials, pairs and joints have.

#include "recording/left_out.h"

#include "support/check.h"
#include "tippe/joints.h"

static tpWorld* makeWorld(tpStepperId stepper, const tpMaterialDef* material) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    tpWorld* world = tpCreateWorld(&def);
    tpCreateMaterial(world, material, NULL);
    return world;
}

static void materialsCount(void** state) {
    (void)state;
    tpMaterialDef material = tpDefaultMaterialDef();
    material.restitution = 0.5;
    tpWorld* world = makeWorld(tp_penalty, &material);
    assert_int_equal(tpFindLeftOut(world), tp_lacksRestitution);
    tpDestroyWorld(world);
    world = makeWorld(tp_anitescu, &material);
    assert_int_equal(tpFindLeftOut(world), 0);
    tpDestroyWorld(world);
}

static void pairsCount(void** state) {
    (void)state;
    tpMaterialDef material = tpDefaultMaterialDef();
    tpWorld* world = makeWorld(tp_penalty, &material);
    assert_int_equal(tpFindLeftOut(world), 0);
    tpPairDef pair = { .materials = { 1, 1 }, .hasRestitution = true, .restitution = 0.3 };
    assert_int_equal(tpSetMaterialPair(world, &pair, NULL), tp_success);
    assert_int_equal(tpFindLeftOut(world), tp_lacksRestitution);
    tpDestroyWorld(world);
}

// Every bit has one name.
static void namesAreDifferent(void** state) {
    (void)state;
    unsigned seen = 0;
    for (int i = 0; i < tp_leftOutCount; ++i) {
        assert_int_equal(seen & tpLeftOutNames[i].bit, 0);
        seen |= tpLeftOutNames[i].bit;
        assert_true(tpLeftOutNames[i].name[0] != '\0');
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(materialsCount),
        cmocka_unit_test(pairsCount),
        cmocka_unit_test(namesAreDifferent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
