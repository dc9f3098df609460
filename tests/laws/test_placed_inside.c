// Bodies that a user has placed inside each other. They come apart and rest: what pushes them out
// is no energy of theirs. The step that does it says that it has broken the law of energy.

#include "support/floor.h"

static const double g = 9.81;

static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu, tp_chakrabortyTrinkle,
                                        tp_benderSchmitt, tp_auto };
enum { stepperCount = sizeof(steppers) / sizeof(steppers[0]) };

static tpShapeDef shapeDef(void) {
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    return shape;
}

static tpBodyId addBox(tpWorld* world, tpVec3 position, double side) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    return addSolidBox(world, &def, tpMakeVec3(side, side, side), 1000.0);
}

static tpBodyId addBall(tpWorld* world, tpVec3 position, double radius, tpVec3 velocity) {
    tpBodyDef def = tpDefaultBodyDef();
    tpShapeDef shape = shapeDef();
    def.position = position;
    def.velocity = velocity;
    tpBodyId ball = tpCreateBody(world, &def, NULL);
    tpCreateSphere(world, ball, &shape, &(tpSphere){ radius }, NULL);
    return ball;
}

// A box half in the floor, and a ball half in a box that stands on it.
static void bodiesComeOutAtRest(void** state) {
    (void)state;
    const double h = 1.0 / 240.0, side = 0.4;
    for (int i = 0; i < stepperCount; ++i) {
        tpWorld* world = worldWithFloor(steppers[i], 0.3, 0.0);
        tpVec3 still = tpMakeVec3(0.0, 0.0, 0.0);
        tpBodyId sunk = addBox(world, tpMakeVec3(0.0, 0.0, 0.25 * side), side);
        tpBodyId box = addBox(world, tpMakeVec3(3.0, 0.0, 0.5 * side), side);
        tpBodyId ball = addBall(world, tpMakeVec3(3.0, 0.0, 1.25 * side), 0.5 * side, still);
        bool isSaid = false;
        double highest = 0.0;
        for (int k = 0; k < 240; ++k) {
            tpStepReport report = tpWorld_Step(world, h);
            isSaid = isSaid || (report.violations & (1u << tp_energyLaw)) != 0;
            highest = fmax(highest, tpBody_GetPosition(world, ball).z);
            highest = fmax(highest, tpBody_GetPosition(world, sunk).z + side);
        }
        assert_true(isSaid);
        CHECK_NEAR(tpBody_GetPosition(world, sunk).z, 0.5 * side, 1e-6);
        CHECK_NEAR(tpBody_GetPosition(world, box).z, 0.5 * side, 1e-6);
        CHECK_NEAR(tpBody_GetPosition(world, ball).z, 1.5 * side, 1e-6);
        // A push over their overlap in one step would throw them metres high.
        assert_true(highest < 1.75 * side);
        tpDestroyWorld(world);
    }
}

// A box stands 5 mm deep in the floor while a bullet meets a plate elsewhere. The step is cut where
// it does. The box comes up no faster than over its overlap in one step, twice that at the end of a
// midpoint rule; over the short part at the plate it would be as fast as one likes.
static void overlapsLeaveAtTheirPaceBesideABullet(void** state) {
    (void)state;
    const double h = 1.0 / 60.0, overlap = 0.005, side = 0.2;
    for (int i = 0; i < stepperCount; ++i) {
        tpWorld* world = worldWithFloor(steppers[i], 0.3, 0.0);
        tpBodyId box = addBox(world, tpMakeVec3(0.0, 0.0, 0.5 * side - overlap), side);
        addBall(world, tpMakeVec3(4.0, 0.0, 1.0), 0.01, tpMakeVec3(500.0, 0.0, 0.0));
        tpBodyDef plateDef = tpDefaultBodyDef();
        tpShapeDef shape = shapeDef();
        plateDef.kind = tp_fixedBody;
        plateDef.position = tpMakeVec3(5.0, 0.0, 1.0);
        tpBodyId plate = tpCreateBody(world, &plateDef, NULL);
        tpCreateBox(world, plate, &shape, &(tpBox){ tpMakeVec3(0.001, 2.0, 2.0) }, NULL);
        tpWorld_Step(world, h);
        assert_true(tpBody_GetVelocity(world, box).z < 2.0 * overlap / h);
        for (int k = 0; k < 60; ++k) {
            tpWorld_Step(world, h);
        }
        CHECK_NEAR(tpBody_GetPosition(world, box).z, 0.5 * side, 1e-6);
        CHECK_NEAR(tpBody_GetVelocity(world, box).z, 0.0, 1e-3 * g);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodiesComeOutAtRest),
        cmocka_unit_test(overlapsLeaveAtTheirPaceBesideABullet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
