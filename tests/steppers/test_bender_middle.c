// Problems of Bender and Schmitt's stepper that are neither small nor crowds: some hundred contacts
// of a heap or a wall. Their impacts are not located, but the step's budget is enough for exact
// solves, and what overlaps at the end is taken back as far as the certificate asks.

#include "support/floor.h"

// Steps of a run, by what is wrong with them.
typedef struct Counted {
    int violations[tp_lawCount];
    int mostContacts;
    double deepest;
} Counted;

static tpWorld* makeWorld(double mu, double restitution) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_benderSchmitt;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, mu, restitution);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    return world;
}

static void addBox(tpWorld* world, tpVec3 position, tpQuat rotation, tpVec3 size) {
    tpBodyDef body = tpDefaultBodyDef();
    body.position = position;
    body.rotation = rotation;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpBox box = { .size = size };
    tpCreateBox(world, tpCreateBody(world, &body, NULL), &shape, &box, NULL);
}

static Counted run(tpWorld* world, int steps, double h) {
    Counted counted = { .deepest = 0.0 };
    for (int i = 0; i < steps; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        counted.mostContacts =
            report.contactCount > counted.mostContacts ? report.contactCount : counted.mostContacts;
        counted.deepest = fmax(counted.deepest, report.penetration);
        for (int law = 0; law < tp_lawCount; ++law) {
            counted.violations[law] += (int)(report.violations >> law & 1u);
        }
    }
    print_message("up to %d contacts, deepest %.1e m, beyond their limits: contact %d, "
                  "energy %d, overlap %d\n",
                  counted.mostContacts, counted.deepest, counted.violations[tp_contactLaw],
                  counted.violations[tp_energyLaw], counted.violations[tp_overlapLaw]);
    return counted;
}

// Plates of 8 mm allow overlaps of 4e-6 m, far less than the paper's 1e-4.
static void heapsOfPlatesAreCertified(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.4, 0.0);
    tpRandom random = { 5 };
    for (int i = 0; i < 64; ++i) {
        tpVec3 place = tpMakeVec3(0.11 * (i % 4), 0.11 * (i / 4 % 4), 0.06 + 0.1 * (i / 16));
        addBox(world, place, randomRotation(&random), tpMakeVec3(0.06, 0.05, 0.008));
    }
    Counted counted = run(world, 60, 1.0 / 120.0);
    assert_true(counted.mostContacts > 200);
    assert_int_equal(counted.violations[tp_overlapLaw], 0);
    tpDestroyWorld(world);
}

static void struckWallsAreCertified(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.5, 0.0);
    for (int k = 0; k < 9; ++k) {
        for (int i = 0; i < 7 - k % 2; ++i) {
            tpVec3 place = tpMakeVec3(0.2 * i + 0.1 * (k % 2), 0.0, 0.05 + 0.1 * k);
            addBox(world, place, tpIdentityQuat(), tpMakeVec3(0.198, 0.1, 0.1));
        }
    }
    tpBodyDef body = tpDefaultBodyDef();
    body.position = tpMakeVec3(0.6, -0.3, 0.5);
    body.velocity = tpMakeVec3(0.0, 12.0, 1.0);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    shape.density = 7800.0;
    tpCreateSphere(world, tpCreateBody(world, &body, NULL), &shape, &(tpSphere){ .radius = 0.12 },
                   NULL);
    enum { steps = 30 };
    Counted counted = run(world, steps, 1.0 / 120.0);
    assert_true(counted.mostContacts > 200);
    assert_true(counted.violations[tp_contactLaw] <= steps / 5);
    tpDestroyWorld(world);
}

static void addWall(tpWorld* world, tpVec3 normal, double distance) {
    tpBodyDef body = tpDefaultBodyDef();
    body.kind = tp_fixedBody;
    body.position = tpScale(-distance, normal);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpPlane plane = { normal, 0.0 };
    tpCreatePlane(world, tpCreateBody(world, &body, NULL), &shape, &plane, NULL);
}

// Twelve layers of boxes that come down in a pit: above a thousand contacts within reach, of which
// several hundred touch. A step in which the portfolio had a twentieth of its work, and failed, was
// followed by fifteen and more by sweeps alone, at 1e-3 to 1e-2. Drifts that were solved again with
// the contacts that they had missed were judged by all that came before them.
static void fillingPitsAreCertified(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.4, 0.0);
    for (int k = 0; k < 4; ++k) {
        double sign = k % 2 == 0 ? 1.0 : -1.0;
        addWall(world, k < 2 ? tpMakeVec3(sign, 0.0, 0.0) : tpMakeVec3(0.0, sign, 0.0), 0.26);
    }
    tpRandom random = { 11 };
    for (int i = 0; i < 16 * 12; ++i) {
        tpVec3 place = tpMakeVec3(0.125 * (i % 4 - 1.5), 0.125 * (i / 4 % 4 - 1.5),
                                  0.07 + 0.125 * (double)(i / 16));
        addBox(world, place, randomRotation(&random), tpMakeVec3(0.09, 0.07, 0.05));
    }
    enum { steps = 45 };
    Counted counted = run(world, steps, 0.01);
    assert_true(counted.mostContacts > 600);
    assert_true(counted.violations[tp_contactLaw] <= steps / 10);
    assert_int_equal(counted.violations[tp_overlapLaw], 0);
    tpDestroyWorld(world);
}

// Impacts of elastic crowds are located, and a part that ends at an impact overlaps nowhere but for
// what it began with.
static void elasticBoxesComeOutOfTheFloor(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.2, 1.0);
    assert_int_equal(tpWorld_SetOption(world, "budget", "20000", NULL), tp_success);
    for (int i = 0; i < 9; ++i) {
        tpVec3 place = tpMakeVec3(0.03 * (i % 3), 0.03 * (i / 3), 0.01 - 1e-4);
        addBox(world, place, tpIdentityQuat(), tpMakeVec3(0.02, 0.02, 0.02));
    }
    Counted first = run(world, 1, 1.0 / 60.0);
    assert_int_equal(first.mostContacts, 36);
    run(world, 30, 1.0 / 60.0);
    Counted last = run(world, 1, 1.0 / 60.0);
    assert_int_equal(last.violations[tp_overlapLaw], 0);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heapsOfPlatesAreCertified),
        cmocka_unit_test(struckWallsAreCertified),
        cmocka_unit_test(fillingPitsAreCertified),
        cmocka_unit_test(elasticBoxesComeOutOfTheFloor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
