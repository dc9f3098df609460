// Mechanisms that swing and tumble keep their energy, though their axes are placed once for several
// substeps.

#include "support/check.h"
#include "tippe/joints.h"

static const double h = 1.0 / 200.0;

static tpWorld* makeWorld(double gravity) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_smallSteps;
    def.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    return tpCreateWorld(&def);
}

// A box that meets nothing.
static tpBodyId addBox(tpWorld* world, tpVec3 place, tpVec3 size) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = place;
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shape = tpDefaultShapeDef();
    shape.density = 1000.0;
    shape.mask = 0;
    tpCreateBox(world, body, &shape, &(tpBox){ .size = size }, NULL);
    return body;
}

static void join(tpWorld* world, tpBodyId a, tpBodyId b, tpVec3 anchor, tpVec3 axis) {
    tpJointDef def = tpDefaultJointDef();
    def.type = tp_revoluteJoint;
    def.bodyA = a;
    def.bodyB = b;
    def.anchorA = def.anchorB = anchor;
    def.axis = axis;
    assert_true(tpJoint_IsValid(world, tpCreateJoint(world, &def, NULL)));
}

static double energyOf(const tpWorld* world) {
    return tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
}

// The largest change of the energy in so many seconds, J.
static double changeIn(tpWorld* world, double time) {
    double start = energyOf(world), most = 0.0;
    for (int k = 0; k < (int)(time / h); ++k) {
        tpWorld_Step(world, h);
        most = fmax(most, fabs(energyOf(world) - start));
    }
    return most;
}

// The largest turns of a step are 0.0044 and 0.0089 rad. What substeps ripple by is proportional to
// the square of the amplitude.
static void pendulumsSwingOn(void** state) {
    (void)state;
    static const double angles[2] = { 0.2, 0.4 };
    for (int i = 0; i < 2; ++i) {
        tpWorld* world = makeWorld(9.81);
        tpVec3 place = tpMakeVec3(0.5 * sin(angles[i]), 0.0, -0.5 * cos(angles[i]));
        tpBodyId bob = addBox(world, place, tpMakeVec3(0.1, 0.1, 0.1));
        join(world, (tpBodyId){ 0 }, bob, tpZeroVec3(), tpMakeVec3(0.0, 1.0, 0.0));
        CHECK_BELOW(changeIn(world, 20.0), 8e-3 * angles[i] * angles[i]);
        tpDestroyWorld(world);
    }
}

static void doublePendulumsKeepTheirEnergy(void** state) {
    (void)state;
    tpWorld* world = makeWorld(9.81);
    tpBodyId last = { 0 };
    for (int i = 0; i < 2; ++i) {
        tpBodyId link =
            addBox(world, tpMakeVec3(0.25 + 0.5 * i, 0.0, 0.0), tpMakeVec3(0.5, 0.05, 0.05));
        join(world, last, link, tpMakeVec3(0.5 * i, 0.0, 0.0), tpMakeVec3(0.0, 1.0, 0.1 * i));
        last = link;
    }
    CHECK_BELOW(changeIn(world, 30.0), 0.04);
    tpDestroyWorld(world);
}

// Free links that turn by 0.006 rad in a step: nothing inside them gives them energy or angular
// momentum.
static void freeLinksTumbleOn(void** state) {
    (void)state;
    tpWorld* world = makeWorld(0.0);
    tpBodyId last = { 0 };
    for (int i = 0; i < 5; ++i) {
        tpBodyId link = addBox(world, tpMakeVec3(0.25 * i, 0.0, 0.0), tpMakeVec3(0.2, 0.1, 0.05));
        tpBody_SetVelocity(world, link, tpMakeVec3(0.0, 0.25 * i, 0.1 * i),
                           tpMakeVec3(0.3 * i, 0.2, 1.0));
        if (i > 0) {
            join(world, last, link, tpMakeVec3(0.25 * i - 0.125, 0.0, 0.0),
                 i % 2 == 1 ? tpMakeVec3(0.0, 0.0, 1.0) : tpMakeVec3(0.0, 1.0, 0.0));
        }
        last = link;
    }
    // The velocities are not those of joints yet.
    changeIn(world, 0.1);
    tpVec3 turns = tpWorld_GetAngularMomentum(world, tpZeroVec3());
    double energy = tpWorld_GetKineticEnergy(world);
    CHECK_BELOW(changeIn(world, 10.0), 5e-5 * energy);
    CHECK_BELOW(tpLength(tpSub(tpWorld_GetAngularMomentum(world, tpZeroVec3()), turns)),
                1e-4 * tpLength(turns));
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulumsSwingOn),
        cmocka_unit_test(doublePendulumsKeepTheirEnergy),
        cmocka_unit_test(freeLinksTumbleOn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
