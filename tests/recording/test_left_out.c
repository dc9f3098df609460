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

// A material, and a pair of materials, with one thing that a stepper may lack.
static void ask(unsigned bit, tpFriction* friction, double* restitution, tpCompliance* contact) {
    switch (bit) {
    case tp_lacksRestitution:
        *restitution = 0.2;
        break;
    case tp_lacksStaticFriction:
        friction->staticCoefficient = 1.5 * friction->dynamicCoefficient;
        break;
    case tp_lacksFrictionEllipse:
        friction->ellipse[1] = 0.5;
        friction->direction = tpMakeVec3(1.0, 0.0, 0.0);
        break;
    case tp_lacksTorsion:
        friction->torsionalArm = 0.01;
        break;
    case tp_lacksRollingFriction:
        friction->rollingArm = 0.01;
        break;
    case tp_lacksImpactFriction:
        friction->impactReduction = 0.3;
        break;
    case tp_lacksCompliance:
        contact->compliance = 1e-5;
        contact->damping = 1.0;
        break;
    default:
        break;
    }
}

// Of each thing a stepper leaves out what it lacks, and nothing else.
static void eachThingIsToldAlone(void** state) {
    (void)state;
    int told = 0, kept = 0;
    for (tpStepperId stepper = tp_stewartTrinkle; stepper < tp_stepperCount; ++stepper) {
        for (int n = 0; n < 2 * tp_leftOutCount; ++n) {
            unsigned bit = tpLeftOutNames[n / 2].bit;
            if (bit == tp_lacksJoints) {
                continue;
            }
            tpMaterialDef plain = tpDefaultMaterialDef();
            plain.friction.staticCoefficient = plain.friction.dynamicCoefficient = 0.4;
            tpMaterialDef material = plain;
            tpPairDef pair = { .materials = { 1, 2 },
                               .hasFriction = true,
                               .friction = plain.friction,
                               .hasContact = true,
                               .contact = plain.contact };
            if (n % 2 == 0) {
                ask(bit, &material.friction, &material.restitution, &material.contact);
            } else {
                ask(bit, &pair.friction, &pair.restitution, &pair.contact);
                pair.hasRestitution = true;
            }
            tpWorld* world = makeWorld(stepper, &material);
            tpCreateMaterial(world, &plain, NULL);
            if (n % 2 == 1) {
                assert_int_equal(tpSetMaterialPair(world, &pair, NULL), tp_success);
            }
            unsigned lacked = tpWorld_GetLacks(world) & bit;
            assert_int_equal(tpFindLeftOut(world), lacked);
            told += lacked != 0;
            kept += lacked == 0;
            tpDestroyWorld(world);
        }
    }
    print_message("%d told, %d not lacking\n", told, kept);
    assert_true(told > 0 && kept > told);
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
        cmocka_unit_test(eachThingIsToldAlone),
        cmocka_unit_test(namesAreDifferent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
