// Mechanisms in the sweeps take back what is off at their joints by the velocities of the next
// substep, and swing as freely as those that nothing is near.

#include "support/check.h"
#include "tippe/joints.h"

static const double h = 1.0 / 60.0;

enum { chains = 4, links = 4 };

// Chains of four links swing side by side in planes along a wall without friction: half a
// millimetre from it, or far away. Beside it they have more rows of contacts than are solved
// exactly, none of which closes.
static tpWorld* makeSwings(double gap) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    tpBodyDef wall = tpDefaultBodyDef();
    wall.kind = tp_fixedBody;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.group = 1;
    tpCreatePlane(world, tpCreateBody(world, &wall, NULL), &shape,
                  &(tpPlane){ tpMakeVec3(0.0, 1.0, 0.0), 0.0 }, NULL);
    shape.group = 2;
    shape.mask = 1;
    shape.density = 1000.0;
    for (int c = 0; c < chains; ++c) {
        tpBodyId last = { 0 };
        for (int i = 0; i < links; ++i) {
            tpVec3 top = tpMakeVec3(3.0 * c + 0.2 * i, gap + 0.025, 0.0);
            tpBodyDef body = tpDefaultBodyDef();
            body.position = tpAdd(top, tpMakeVec3(0.1, 0.0, 0.0));
            tpBodyId link = tpCreateBody(world, &body, NULL);
            tpCreateBox(world, link, &shape, &(tpBox){ tpMakeVec3(0.18, 0.05, 0.05) }, NULL);
            tpJointDef hinge = tpDefaultJointDef();
            hinge.type = tp_revoluteJoint;
            hinge.bodyA = last;
            hinge.bodyB = link;
            hinge.anchorA = hinge.anchorB = top;
            hinge.axis = tpMakeVec3(0.0, 1.0, 0.0);
            assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &hinge, NULL)));
            last = link;
        }
    }
    return world;
}

static double energyOf(const tpWorld* world) {
    return tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
}

// Whips of 28 J at 60 steps per second: within 5 s their energy changes by 1.0 J at most far
// from the wall. If what is off is not taken back by the end of the step it is more than 20 J.
static void swingsKeepTheirEnergyBesideAWall(void** state) {
    (void)state;
    static const double gaps[2] = { 5.0, 5e-4 }, limits[2] = { 1.5, 3.0 };
    for (int k = 0; k < 2; ++k) {
        tpWorld* world = makeSwings(gaps[k]);
        double start = energyOf(world), most = 0.0, drift = 0.0;
        for (int n = 0; n < 300; ++n) {
            tpStepReport report = tpWorld_Step(world, h);
            drift = fmax(drift, report.jointDrift);
            most = fmax(most, fabs(energyOf(world) - start));
        }
        CHECK_BELOW(most, limits[k]);
        CHECK_BELOW(drift, 1e-4);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swingsKeepTheirEnergyBesideAWall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
