// Balls that come to rest in a box, with the stepper of Bender and Schmitt under a certificate. The
// same rest has many impulses: solves must not wander among them from step to step.

#include "support/floor.h"

enum { side = 8, layers = 12, falling = 90, steps = 60 };

static const double asked = 1e-3, radius = 0.1;

static void addWall(tpWorld* world, tpVec3 normal) {
    tpBodyDef def = tpDefaultBodyDef();
    def.kind = tp_fixedBody;
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    tpPlane plane = { normal, -1.2 * side * radius };
    tpCreatePlane(world, tpCreateBody(world, &def, NULL), &shape, &plane, NULL);
}

// The budget makes all but a dozen contacts a large problem.
static tpWorld* makeBalls(void) {
    tpWorld* world = worldWithFloor(tp_benderSchmitt, 0.5, 0.0);
    assert_int_equal(tpWorld_SetOption(world, "budget", "20000", NULL), tp_success);
    assert_int_equal(tpWorld_SetOption(world, "certificate", "1e-3", NULL), tp_success);
    for (int k = 0; k < 4; ++k) {
        double angle = k * acos(0.0);
        addWall(world, tpMakeVec3(round(cos(angle)), round(sin(angle)), 0.0));
    }
    tpRandom random = { 5 };
    tpShapeDef shape = tpDefaultShapeDef();
    shape.material = 1;
    for (int i = 0; i < side * side * layers; ++i) {
        tpBodyDef body = tpDefaultBodyDef();
        tpVec3 place = { 0.22 * (i % side - 0.5 * (side - 1)),
                         0.22 * (i / side % side - 0.5 * (side - 1)),
                         0.12 + 0.21 * (i / (side * side)) };
        body.position = tpAdd(place, randomVec3(&random, -0.01, 0.01));
        tpSphere ball = { .radius = radius };
        tpCreateSphere(world, tpCreateBody(world, &body, NULL), &shape, &ball, NULL);
    }
    return world;
}

static void settledBallsStaySolved(void** state) {
    (void)state;
    tpWorld* world = makeBalls();
    int failures = 0, contacts = 0;
    for (int i = 0; i < falling; ++i) {
        failures += tpWorld_Step(world, 1.0 / 120.0).failureCount;
    }
    int early = failures;
    long sweeps = 0;
    double worst = 0.0;
    for (int i = 0; i < steps; ++i) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 120.0);
        failures += report.failureCount;
        sweeps += report.iterationCount;
        contacts = report.contactCount;
        worst = fmax(worst, report.residual);
    }
    print_message("%d contacts, %ld sweeps per step, %.1e, failures %d and %d\n", contacts,
                  sweeps / steps, worst, early, failures - early);
    CHECK_BELOW(worst, asked);
    assert_int_equal(failures, 0);
    tpDestroyWorld(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settledBallsStaySolved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
