// Rolling polygons, Figure 1 of Chakraborty, Berard, Akella and Trinkle 2007: a disc cut to n
// corners loses kinetic energy with the polygonal linear rows of Stewart and Trinkle, against an
// independent calculation of the same scheme. The disc itself would keep its 6.75 J.

#include <math.h>

#include "support/check.h"
#include "tippe/world.h"

static double roll(int corners, double h, const char* linearise) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_stewartTrinkle;
    def.planar = true;
    def.gravity = tpMakeVec3(0.0, -9.81, 0.0);
    tpWorld* world = tpCreateWorld(&def);
    assert_int_equal(tpWorld_SetOption(world, "cone", "pyramid", NULL), tp_success);
    assert_int_equal(tpWorld_SetOption(world, "linearise", linearise, NULL), tp_success);
    tpMaterialDef materialDef = tpDefaultMaterialDef();
    materialDef.friction.staticCoefficient = materialDef.friction.dynamicCoefficient = 0.4;
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = tpCreateMaterial(world, &materialDef, NULL);
    tpBodyDef tableDef = tpDefaultBodyDef();
    tableDef.kind = tp_fixedBody;
    tpPlane plane = { { 0.0, 1.0, 0.0 }, 0.0 };
    tpCreatePlane(world, tpCreateBody(world, &tableDef, NULL), &shapeDef, &plane, NULL);

    // Inscribed in the unit circle, a corner down.
    static double points[1000][2];
    for (int k = 0; k < corners; ++k) {
        double angle = 2.0 * acos(-1.0) * k / corners;
        points[k][0] = sin(angle);
        points[k][1] = -cos(angle);
    }
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.position = tpMakeVec3(0.0, 1.0, 0.0);
    bodyDef.velocity = tpMakeVec3(-3.0, 0.0, 0.0);
    bodyDef.angularVelocity = tpMakeVec3(0.0, 0.0, 3.0);
    bodyDef.hasMass = true;
    bodyDef.mass.mass = 1.0;
    bodyDef.mass.inertia = tpDiagonal(tpMakeVec3(0.5, 0.5, 0.5));
    tpBodyId body = tpCreateBody(world, &bodyDef, NULL);
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry prism;
    tpError error;
    if (tpMakePrism(&allocator, (const double(*)[2])points, corners, 1.0, tpIdentityPose(), &prism,
                    &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    assert_int_not_equal(tpCreateShape(world, body, &shapeDef, &prism, &error).slot, 0);
    tpReleaseGeometry(&prism);
    int steps = (int)lround(1.0 / h);
    for (int k = 0; k < steps; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.failureCount, 0);
    }
    double energy = tpWorld_GetKineticEnergy(world);
    tpDestroyWorld(world);
    return energy;
}

static void energyAgainstCorners(void** state) {
    (void)state;
    static const int corners[] = { 10, 20, 30, 50, 100, 200, 500, 1000 };
    static const double current[] = {
        2.0730, 3.8414, 4.4759, 5.2387, 5.8781, 5.9197, 5.9201, 5.9198
    };
    static const double predicted[] = { 2.323, 4.382, 5.124, 5.926, 6.713, 6.729, 6.754, 6.750 };
    printf("corners  at q     at q + hv   (h = .01, kinetic energy at 1 s)\n");
    for (int i = 0; i < 8; ++i) {
        double atStart = roll(corners[i], .01, "current");
        double atEnd = roll(corners[i], .01, "predicted");
        printf("%-8d %.4f   %.4f\n", corners[i], atStart, atEnd);
        CHECK_NEAR(atStart, current[i], 1e-4);
        CHECK_NEAR(atEnd, predicted[i], 6e-4);
    }
}

static void energyAgainstStep(void** state) {
    (void)state;
    static const double steps[] = { .05, .02, .01, .005, .002, .001 };
    static const double current[] = { 3.5268, 5.1924, 5.9198, 6.3234, 6.5748, 6.6583 };
    static const double predicted[] = { 6.7520, 6.7508, 6.7502, 6.7500, 6.7497, 6.7462 };
    for (int i = 0; i < 6; ++i) {
        CHECK_NEAR(roll(1000, steps[i], "current"), current[i], 1e-4);
        CHECK_NEAR(roll(1000, steps[i], "predicted"), predicted[i], 2e-4);
    }
    // Many corners at a fixed step: 6.75 exp(-(4/3) g h t).
    CHECK_NEAR(roll(1000, .01, "current"), 6.75 * exp(-4.0 / 3.0 * 9.81 * .01), 3e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energyAgainstCorners),
        cmocka_unit_test(energyAgainstStep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
