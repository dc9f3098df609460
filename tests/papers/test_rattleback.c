// The rattleback against the equations of rolling without slip, derived in
// scenes/rattleback/README.md and integrated here without any of the library's dynamics.

#include <math.h>

#include "papers/paper_world.h"

static const double mass = 1.0, gravity = 9.81;

// The stone: squares of the semi-axes, centre of mass, inertia about it.
typedef struct Stone {
    tpVec3 squares, center;
    tpMat33 inertia;
} Stone;

static Stone makeStone(double product) {
    Stone stone = { { .04, 9e-4, 4e-4 }, { 0.0, 0.0, -.01 }, tpZeroMat33() };
    stone.inertia.cx = tpMakeVec3(2e-4, product, 0.0);
    stone.inertia.cy = tpMakeVec3(product, 1.6e-3, 0.0);
    stone.inertia.cz = tpMakeVec3(0.0, 0.0, 1.7e-3);
    return stone;
}

// In the stone's axes: the vertical n and the angular velocity w.
typedef struct Rolling {
    tpVec3 n, w;
} Rolling;

static Rolling slope(const Stone* stone, const Rolling* at) {
    tpVec3 n = at->n, w = at->w;
    tpVec3 En = tpMulParts(stone->squares, n);
    double s = sqrt(tpDot(n, En));
    tpVec3 r = tpSub(tpScale(-1.0 / s, En), stone->center);
    tpVec3 nRate = tpCross(n, w);
    tpVec3 EnRate = tpMulParts(stone->squares, nRate);
    tpVec3 pRate = tpAdd(tpScale(-1.0 / s, EnRate), tpScale(tpDot(n, EnRate) / (s * s * s), En));
    tpVec3 rRate = tpAdd(pRate, tpCross(w, r));
    tpMat33 A = tpAddMM(
        stone->inertia,
        tpScaleM(mass, tpAddMM(tpDiagonal(tpMakeVec3(tpDot(r, r), tpDot(r, r), tpDot(r, r))),
                               tpScaleM(-1.0, tpOuter(r, r)))));
    tpVec3 right = tpCross(tpMulMV(stone->inertia, w), w);
    right = tpMulAdd(right, -mass, tpCross(r, tpCross(w, rRate)));
    right = tpMulAdd(right, mass * gravity, tpCross(r, n));
    Rolling rate = { nRate, tpZeroVec3() };
    assert_true(tpSolve33(A, right, &rate.w));
    return rate;
}

static Rolling along(const Rolling* at, double h, const Rolling* rate) {
    Rolling next = { tpMulAdd(at->n, h, rate->n), tpMulAdd(at->w, h, rate->w) };
    return next;
}

// Runge and Kutta's fourth-order step.
static void roll(const Stone* stone, double h, Rolling* at) {
    Rolling a = slope(stone, at);
    Rolling at2 = along(at, .5 * h, &a), b = slope(stone, &at2);
    Rolling at3 = along(at, .5 * h, &b), c = slope(stone, &at3);
    Rolling at4 = along(at, h, &c), d = slope(stone, &at4);
    *at = along(at, h / 6.0, &a);
    *at = along(at, h / 3.0, &b);
    *at = along(at, h / 3.0, &c);
    *at = along(at, h / 6.0, &d);
}

typedef struct Run {
    double spinError;  // over the first 3 s, rad/s
    double finalSpin;  // about the stone's short axis after 5 s
    double exactSpin;  // the same by the equations of rolling
    double energyLoss; // over 5 s, relative to the kinetic energy of the spin
    double energyRise; // the largest in a step, relative to the energy
} Run;

// `sense`: 1 as the scene has it, -1 with all velocities the other way.
static Run runScene(const char* name, double product, const char* theta, double h, double sense) {
    tpWorld* world = makePaperWorld(name);
    setOption(world, "theta", theta);
    tpBodyId body = tpWorld_FindBody(world, "stone");
    Stone stone = makeStone(product);
    Rolling exact = { tpUnrotate(tpBody_GetRotation(world, body), tpMakeVec3(0.0, 0.0, 1.0)),
                      { 0.0, 0.0, -5.0 * sense } };
    tpBody_SetVelocity(world, body, tpScale(sense, tpBody_GetVelocity(world, body)),
                       tpScale(sense, tpBody_GetAngularVelocity(world, body)));
    Run run = { 0.0, 0.0, 0.0, 0.0, 0.0 };
    double start = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
    double kinetic = tpWorld_GetKineticEnergy(world), energy = start;
    int steps = (int)lround(5.0 / h);
    for (int k = 1; k <= steps; ++k) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(report.failureCount, 0);
        // Gaps are known to rounding, and divided by the length of the parts of the step: where the
        // stone leaves the table and comes back the moment is located.
        CHECK_BELOW(report.residual, h / report.substepCount < 1e-3 ? 1e-10 : 1e-11);
        for (int i = 0; i < 10; ++i) {
            roll(&stone, .1 * h, &exact);
        }
        tpVec3 w =
            tpUnrotate(tpBody_GetRotation(world, body), tpBody_GetAngularVelocity(world, body));
        if (k * h <= 3.0) {
            run.spinError = fmax(run.spinError, fabs(w.z - exact.w.z));
        }
        run.finalSpin = w.z;
        energy = tpWorld_GetKineticEnergy(world) + tpWorld_GetPotentialEnergy(world);
        double rise = report.kineticAfter + report.potentialAfter - report.kineticBefore -
                      report.potentialBefore;
        run.energyRise = fmax(run.energyRise, rise / start);
        CHECK_BELOW(rise, 1e-12 * start);
        CHECK_NEAR(rise, -report.frictionLoss - report.impactLoss, 1e-13 * start);
    }
    run.exactSpin = exact.w.z;
    run.energyLoss = (start - energy) / kinetic;
    tpDestroyWorld(world);
    printf("%s, theta %s, h %g: spin %.4f, by rolling %.4f; error %.2g up to 3 s; energy %+.2g, "
           "rises by %.1g\n",
           name, theta, h, run.finalSpin, run.exactSpin, run.spinError, -run.energyLoss,
           run.energyRise);
    return run;
}

static void asymmetricTurnsRound(void** state) {
    (void)state;
    Run coarse = runScene("rattleback/rattleback", -2e-5, "0.5", 2e-3, 1.0);
    Run run = runScene("rattleback/rattleback", -2e-5, "0.5", 1e-3, 1.0);
    // From -5 rad/s to nearly as much the other way, as rolling has it.
    assert_true(run.exactSpin > 4.0);
    assert_true(run.finalSpin > 3.5);
    CHECK_BELOW(run.spinError, .15);
    // Second order.
    assert_true(coarse.spinError / run.spinError > 3.0);
    // The energy of rolling is kept to rounding.
    CHECK_BELOW(fabs(run.energyLoss), 1e-12);
    Run fine = runScene("rattleback/rattleback", -2e-5, "0.5", 5e-4, 1.0);
    assert_true(run.spinError / fine.spinError > 3.0);
    CHECK_BELOW(fabs(fine.energyLoss), 1e-12);
}

static void theOtherWayItKeepsTurning(void** state) {
    (void)state;
    Run run = runScene("rattleback/rattleback", -2e-5, "0.5", 1e-3, -1.0);
    CHECK_NEAR(run.finalSpin, run.exactSpin, .1);
    assert_true(run.exactSpin > 4.0);
    CHECK_BELOW(fabs(run.energyLoss), 1e-12);
    runScene("rattleback/rattleback", -2e-5, "0.5", 4e-3, -1.0);
    runScene("rattleback/rattleback", -2e-5, "0.75", 1e-3, -1.0);
}

static void symmetricKeepsTurning(void** state) {
    (void)state;
    Run run = runScene("rattleback/rattleback_symmetric", 0.0, "0.5", 1e-3, 1.0);
    CHECK_NEAR(run.exactSpin, -5.0, .3);
    CHECK_NEAR(run.finalSpin, run.exactSpin, .1);
    CHECK_BELOW(fabs(run.energyLoss), 1e-12);
}

static void implicitEulerLosesEnergyAlways(void** state) {
    (void)state;
    Run run = runScene("rattleback/rattleback", -2e-5, "1", 1e-3, 1.0);
    assert_true(run.energyLoss > .01);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asymmetricTurnsRound),
        cmocka_unit_test(theOtherWayItKeepsTurning),
        cmocka_unit_test(symmetricKeepsTurning),
        cmocka_unit_test(implicitEulerLosesEnergyAlways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
