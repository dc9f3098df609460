// Nets of rigid rods that hang at their corners, and boxes that fall into them.

#include "dynamics/step_budget.h"
#include "support/floor.h"
#include "tippe/joints.h"
#include "world/world.h"

enum { knots = 8, boxCount = 4 };

static const double spacing = 0.05;

static tpVec3 placeOf(int i, int k, double sag) {
    double half = 0.5 * spacing * (knots - 1);
    double x = spacing * i - half, y = spacing * k - half;
    double way = 2.0 - (x / half) * (x / half) - (y / half) * (y / half);
    return tpMakeVec3(x, y, 0.5 - 2.0 * half * sag * way);
}

static void tie(tpWorld* world, tpBodyId a, tpBodyId b) {
    tpJointDef joint = tpDefaultJointDef();
    joint.type = tp_distanceJoint;
    joint.bodyA = a;
    joint.bodyB = b;
    joint.anchorA = tpBody_GetPose(world, a).position;
    joint.anchorB = tpBody_GetPose(world, b).position;
    tpCreateJoint(world, &joint, NULL);
}

static tpWorld* makeNet(tpStepperId stepper, double sag) {
    tpWorld* world = worldWithFloor(stepper, 0.4, 0.0);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpBodyId bodies[knots][knots];
    for (int i = 0; i < knots; ++i) {
        for (int k = 0; k < knots; ++k) {
            tpBodyDef def = tpDefaultBodyDef();
            def.position = placeOf(i, k, sag);
            def.kind = i % (knots - 1) == 0 && k % (knots - 1) == 0 ? tp_fixedBody : tp_dynamicBody;
            bodies[i][k] = tpCreateBody(world, &def, NULL);
            tpCreateSphere(world, bodies[i][k], &shape, &(tpSphere){ 0.012 }, NULL);
        }
    }
    for (int i = 0; i < knots; ++i) {
        for (int k = 0; k < knots; ++k) {
            if (i + 1 < knots) {
                tie(world, bodies[i][k], bodies[i + 1][k]);
            }
            if (k + 1 < knots) {
                tie(world, bodies[i][k], bodies[i][k + 1]);
            }
        }
    }
    tpRandom random = { 5 };
    for (int i = 0; i < boxCount; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        double size = randomBetween(&random, 0.03, 0.04);
        def.position = randomVec3(&random, -0.05, 0.05);
        def.position.z = 0.57 + 0.1 * i;
        def.rotation = randomRotation(&random);
        addSolidBox(world, &def, tpMakeVec3(2.0 * size, 2.0 * size, 1.5 * size), 2000.0);
    }
    return world;
}

// A net that sags can give way, and rounds of its steps are many: a box that was in a knot when
// the work of a step had come to its end stayed there, and every step after it ended where it had
// begun. What closing the joints by turns leaves is lifted out of them. 50 steps overlapped, 63 had
// no certificate; what is left are joints of stewart-trinkle that would come apart.
static void boxesComeOutOfKnots(void** state) {
    (void)state;
    static const tpStepperId all[] = { tp_anitescu, tp_stewartTrinkle, tp_benderSchmitt };
    int overlaps = 0, uncertified = 0;
    for (int i = 0; i < 3; ++i) {
        tpWorld* world = makeNet(all[i], 0.08);
        for (int k = 0; k < 36; ++k) {
            tpStepReport report = tpWorld_Step(world, 0.01);
            overlaps += (report.violations & (1u << tp_overlapLaw)) != 0;
            uncertified += report.violations != 0;
        }
        tpDestroyWorld(world);
    }
    print_message("%d of 108 steps overlap, %d uncertified\n", overlaps, uncertified);
    assert_true(overlaps <= 10 && uncertified <= 36);
}

// Nets that hardly sag swing fast and have nowhere to go. Stages of sixth order went on after the
// work of a step had come to its end: steps took 2.3 to 2.6 budgets, and up to five.
static void stagesEnd(void** state) {
    (void)state;
    static const double sags[] = { 0.005, 0.009, 0.015, 0.019 };
    double most = 0.0;
    for (int i = 0; i < 4; ++i) {
        tpWorld* world = makeNet(tp_benderSchmitt, sags[i]);
        for (int k = 0; k < 12; ++k) {
            tpWorld_Step(world, 0.01);
            double whole = tpStepBudget_Whole(&world->system);
            most = fmax(most, tpStepBudget_Work(&world->system) / whole);
        }
        tpDestroyWorld(world);
    }
    print_message("at most %.2f budgets\n", most);
    assert_true(most > 1.0 && most <= 2.2);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(boxesComeOutOfKnots),
                                        cmocka_unit_test(stagesEnd) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
