// Bodies that have come to rest by Bender and Schmitt's stepper: they stay at rest, whatever
// little they overlap by, and cost next to nothing.

#include "support/floor.h"

static const double h = 1.0 / 240.0;

static const double density = 600.0;

// Shortly after an impact no gain of energy is allowed. The way out of an overlap lifts a body and
// is none: the step is neither refused nor halved.
static void overlapsAreLeftAfterAnImpact(void** state) {
    (void)state;
    tpWorld* world = worldWithFloor(tp_benderSchmitt, 0.3, 0.0);
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(0.0, 0.0, 0.05);
    tpBodyId box = addSolidBox(world, &def, tpMakeVec3(0.1, 0.1, 0.1), density);
    def.position = tpMakeVec3(1.0, 0.0, 0.051);
    def.velocity = tpMakeVec3(0.0, 0.0, -1.0);
    addSolidBox(world, &def, tpMakeVec3(0.1, 0.1, 0.1), density);
    tpWorld_Step(world, h);
    tpPose pose = tpBody_GetPose(world, box);
    pose.position.z -= 1e-7;
    tpBody_SetPose(world, box, pose);
    tpStepReport report = tpWorld_Step(world, h);
    assert_int_equal(report.substepCount, 1);
    assert_true(fabs(tpBody_GetPose(world, box).position.z - 0.05) < 1e-11);
    tpDestroyWorld(world);
}

// A contact within the collision tolerance that carries nothing and does not close holds. It is not
// struck by what forces do in half a step: the slab lies on its middle support and does not bounce
// on the others.
static void idleContactsAreNotStruck(void** state) {
    (void)state;
    tpWorld* world = worldWithFloor(tp_benderSchmitt, 0.3, 0.5);
    for (int i = -1; i <= 1; ++i) {
        tpBodyDef def = tpDefaultBodyDef();
        def.kind = tp_fixedBody;
        def.position = tpMakeVec3(i, 0.0, i == 0 ? 0.1 + 1e-7 : 0.1);
        addSolidBox(world, &def, tpMakeVec3(0.2, 0.2, 0.2), density);
    }
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(0.0, 0.0, 0.25 + 1e-7);
    tpBodyId slab = addSolidBox(world, &def, tpMakeVec3(2.2, 0.2, 0.1), density);
    for (int i = 0; i < 20; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_true(report.solveCount <= 3); // two of the drift, one of velocities at its end
        assert_true(tpLength(tpBody_GetVelocity(world, slab)) < 1e-9);
    }
    tpDestroyWorld(world);
}

// Nor is what rests struck by what forces do in a step whose impacts are not located: a box that
// lies stays where it is while another one, far away, bounces.
static void restIsNotStruckFromAfar(void** state) {
    (void)state;
    tpWorld* world = worldWithFloor(tp_benderSchmitt, 0.3, 0.5);
    assert_int_equal(tpWorld_SetOption(world, "impacts", "in_step", NULL), tp_success);
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(0.0, 0.0, 0.05);
    tpBodyId resting = addSolidBox(world, &def, tpMakeVec3(0.1, 0.1, 0.1), density);
    def.position = tpMakeVec3(5.0, 0.0, 0.3);
    def.velocity = tpMakeVec3(0.0, 0.0, -2.0);
    tpBodyId falling = addSolidBox(world, &def, tpMakeVec3(0.1, 0.1, 0.1), density);
    double fastest = 0.0;
    for (int i = 0; i < 60; ++i) {
        tpWorld_Step(world, h);
        fastest = fmax(fastest, tpBody_GetVelocity(world, falling).z);
        assert_true(tpLength(tpBody_GetVelocity(world, resting)) < 1e-9);
    }
    assert_true(fastest > 0.8); // it was struck
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlapsAreLeftAfterAnImpact),
        cmocka_unit_test(idleContactsAreNotStruck),
        cmocka_unit_test(restIsNotStruckFromAfar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
