// The work of forces on a block on a floor, by closed forms: what friction or a wall holds does no work, what slides takes
// force times distance, and the account of energy closes in every step. m = 1 kg, mu = 0.5, g = 10 m/s^2.

#include "support/floor.h"

static const double step = 0.01, mass = 1.0, friction = 0.5, gravity = 10.0;

typedef struct Account {
    double work, frictionLoss, impactLoss, distance, gain;
    double open; // what the account of a step lacks at most, J
} Account;

// A second of a block that is pushed along x at its centre of mass; `damping` slows it down as well.
static Account push(tpStepperId stepper, double force, double damping) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    def.gravity = tpMakeVec3(0.0, 0.0, -gravity);
    tpWorld* world = tpCreateWorld(&def);
    addMaterial(world, friction, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyDef bodyDef = tpDefaultBodyDef();
    bodyDef.position = tpMakeVec3(0.0, 0.0, 0.1);
    bodyDef.hasMass = true;
    bodyDef.mass.mass = mass;
    bodyDef.mass.inertia = tpDiagonal(tpMakeVec3(0.02, 0.02, 0.02));
    bodyDef.linearDamping = damping;
    tpBodyId block = tpCreateBody(world, &bodyDef, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpCreateBox(world, block, &shapeDef, &(tpBox){ { 0.4, 0.4, 0.2 } }, NULL);
    tpForceDef forceDef = tpDefaultForceDef();
    forceDef.body = block;
    forceDef.force = tpMakeVec3(force, 0.0, 0.0);
    tpCreateForce(world, &forceDef, NULL);
    Account sum = { .work = 0.0 };
    for (int k = 0; k < 100; ++k) {
        tpStepReport report = tpWorld_Step(world, step);
        double gain = report.kineticAfter + report.potentialAfter - report.kineticBefore -
                      report.potentialBefore;
        sum.work += report.externalWork;
        sum.frictionLoss += report.frictionLoss;
        sum.impactLoss += report.impactLoss;
        sum.gain += gain;
        sum.open = fmax(sum.open,
                        fabs(gain - report.externalWork + report.frictionLoss + report.impactLoss));
    }
    sum.distance = tpBody_GetPosition(world, block).x;
    tpDestroyWorld(world);
    return sum;
}

// The spring of `penalty` sinks in at the start.
static const struct {
    tpStepperId id;
    bool isEuler; // a step goes by the velocity at its end
    double tolerance;
} steppers[] = {
    { tp_stewartTrinkle, true, 1e-9 },      { tp_anitescu, false, 1e-9 },
    { tp_mirtichCanny, false, 1e-9 },       { tp_benderSchmitt, false, 1e-9 },
    { tp_chakrabortyTrinkle, false, 1e-9 }, { tp_penalty, true, 1e-5 },
};
enum { stepperCount = sizeof(steppers) / sizeof(steppers[0]) };

static void heldForcesDoNoWork(void** state) {
    (void)state;
    for (int i = 0; i < stepperCount; ++i) {
        Account account = push(steppers[i].id, 0.4 * mass * gravity * friction, 0.0);
        print_message("%s: work %.1e J\n", tpStepperName(steppers[i].id), account.work);
        CHECK_NEAR(account.distance, 0.0, steppers[i].tolerance);
        CHECK_NEAR(account.work, 0.0, steppers[i].tolerance);
        CHECK_NEAR(account.frictionLoss, 0.0, steppers[i].tolerance);
        CHECK_BELOW(account.open, steppers[i].tolerance);
    }
}

// a = F/m - mu g, for a second. Steps by the velocity at their end go a h^2 / 2 farther each, which is not work.
static void slidingTakesForceTimesDistance(void** state) {
    (void)state;
    double force = 6.0, acceleration = force / mass - friction * gravity;
    double distance = 0.5 * acceleration;
    for (int i = 0; i < stepperCount; ++i) {
        Account account = push(steppers[i].id, force, 0.0);
        double excess = steppers[i].isEuler ? 0.5 * acceleration * step : 0.0;
        CHECK_NEAR(account.distance, distance + excess, steppers[i].tolerance);
        CHECK_NEAR(account.work, force * distance, steppers[i].tolerance);
        CHECK_NEAR(account.frictionLoss, friction * mass * gravity * distance,
                   steppers[i].tolerance);
        CHECK_BELOW(account.open, steppers[i].tolerance);
    }
}

// Damping takes energy beside friction. It also damps what gravity has given in the kick, and the floor takes: of the
// account no more than that stays open.
static void dampedSlidingCloses(void** state) {
    (void)state;
    double damping = 0.7, kick = gravity * step;
    double dampedKick = 0.5 * mass * kick * kick * -expm1(-damping * step);
    for (int i = 0; i < stepperCount; ++i) {
        Account account = push(steppers[i].id, 9.0, damping);
        assert_true(account.distance > 0.5 && account.work > account.gain);
        CHECK_BELOW(account.open, dampedKick + steppers[i].tolerance);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heldForcesDoNoWork),
        cmocka_unit_test(slidingTakesForceTimesDistance),
        cmocka_unit_test(dampedSlidingCloses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
