// Walls of bricks that a heavy ball strikes: steps of hundreds of contacts, of which most slide,
// that end within their work and meet their certificate all the same.

#include "support/floor.h"

static void addBrick(tpWorld* world, int column, int layer, int columns) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position =
        tpMakeVec3(0.0, (column + 0.5 * (layer % 2 - columns)) * 0.2, 0.05 + 0.1 * layer);
    addSolidBox(world, &def, tpMakeVec3(0.1, 0.199, 0.1), 2000.0);
}

static void throwBall(tpWorld* world, double speed) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = tpMakeVec3(-0.2, 0.21, 0.34);
    def.velocity = tpMakeVec3(speed, 0.26, 0.22);
    tpBodyId body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    shapeDef.density = 7800.0;
    assert_true(tpCreateSphere(world, body, &shapeDef, &(tpSphere){ 0.12 }, NULL).slot != 0);
}

static int strike(tpStepperId stepper, int columns, int layers, double speed, int steps) {
    tpWorld* world = worldWithFloor(stepper, 0.5, 0.0);
    for (int layer = 0; layer < layers; ++layer) {
        for (int column = 0; column < columns - layer % 2; ++column) {
            addBrick(world, column, layer, columns);
        }
    }
    throwBall(world, speed);
    int uncertified = 0;
    for (int k = 0; k < steps; ++k) {
        uncertified += tpWorld_Step(world, 0.01).violations != 0;
    }
    print_message("%s, %d x %d bricks at %g m/s: %d of %d steps uncertified\n",
                  tpStepperName(stepper), columns, layers, speed, uncertified, steps);
    tpDestroyWorld(world);
    return uncertified;
}

// Runs that differ in nothing that matters scatter by a few steps. 36 while steps of Newton's
// method counted for twice what they take.
static void wallsAreSolved(void** state) {
    (void)state;
    int uncertified = strike(tp_anitescu, 8, 8, 5.0, 24) + strike(tp_benderSchmitt, 8, 8, 5.0, 24) +
                      strike(tp_stewartTrinkle, 8, 8, 5.0, 24);
    assert_true(uncertified <= 29);
}

// The velocities at the end of a step had what queries and ways out of overlaps had left of its
// work, which was a fiftieth: 46 of these 192 steps were uncertified.
static void endsOfStepsAreSolved(void** state) {
    (void)state;
    int uncertified = 0;
    for (int k = 0; k < 4; ++k) {
        uncertified += strike(tp_benderSchmitt, 8, 8, 4.0 + 0.5 * k, 24);
        uncertified += strike(tp_stewartTrinkle, 8, 8, 4.0 + 0.5 * k, 24);
    }
    assert_true(uncertified <= 32);
}

// Passes of implicit contacts do not settle there within the work of a step, and what they ended
// with met no law in 24 of 30 steps: linear rows take such steps.
static void implicitContactsHandOver(void** state) {
    (void)state;
    assert_true(strike(tp_chakrabortyTrinkle, 5, 6, 4.0, 30) <= 8);
    // Larger islands that are struck are handed over at once: 14 if they were tried first.
    assert_true(strike(tp_chakrabortyTrinkle, 8, 8, 10.0, 24) <= 9);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(wallsAreSolved),
                                        cmocka_unit_test(endsOfStepsAreSolved),
                                        cmocka_unit_test(implicitContactsHandOver) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
