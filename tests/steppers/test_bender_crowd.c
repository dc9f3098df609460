// A crowd of cubes that flows, with the stepper of Bender and Schmitt under a certificate: every
// problem is solved to what was asked, whatever the threads.

#include <stdlib.h>

#include "support/floor.h"
#include "tippe/friction.h"

enum { side = 4, layers = 6, steps = 45 };

static const char* const certificates[] = { "1e-4", "1e-6" };

// What a judge who knows no solver says of the problems of a run.
typedef struct Judged {
    tpSolverMemory* memory;
    double worst;
    int count, mostContacts;
} Judged;

static void judge(const tpPosedProblem* posed, void* context) {
    Judged* judged = context;
    tpFrictionResidual residual;
    double* u = malloc(sizeof(double) * (size_t)tpFriction_RowCount(posed->problem));
    assert_non_null(u);
    assert_true(tpFriction_Judge(posed->problem, posed->impulse, u, judged->memory, &residual));
    free(u);
    judged->worst = fmax(judged->worst, residual.natural);
    judged->count += 1;
    int contacts = posed->problem->blockCount;
    judged->mostContacts = contacts > judged->mostContacts ? contacts : judged->mostContacts;
}

// Cubes that fall between four planes which lean outwards. The budget makes all but a dozen
// contacts a large problem.
static tpWorld* makeFunnel(double mu, const char* certificate, int threads) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_benderSchmitt;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    def.threadCount = threads;
    tpWorld* world = tpCreateWorld(&def);
    assert_int_equal(tpWorld_SetOption(world, "budget", "20000", NULL), tp_success);
    assert_int_equal(tpWorld_SetOption(world, "certificate", certificate, NULL), tp_success);
    addMaterial(world, mu, 0.2);
    for (int k = 0; k < 4; ++k) {
        double angle = k * acos(0.0);
        addFloor(world, tpNormalize(tpMakeVec3(cos(angle), sin(angle), 1.2)));
    }
    tpRandom random = { 3 };
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    for (int i = 0; i < side * side * layers; ++i) {
        tpBodyDef body = tpDefaultBodyDef();
        body.position = tpMakeVec3(0.6 * (i % side) - 0.9, 0.6 * (i / side % side) - 0.9,
                                   2.0 + 0.6 * (i / (side * side)));
        body.rotation = randomRotation(&random);
        body.velocity = tpMakeVec3(0.0, 0.0, -4.0);
        tpBox box = { .size = { 0.3, 0.3, 0.3 } };
        tpCreateBox(world, tpCreateBody(world, &body, NULL), &shapeDef, &box, NULL);
    }
    return world;
}

// A run under a certificate, with a judge if `judged` is there. Returns the hash of its end.
static uint64_t runFunnel(double mu, const char* certificate, int threads, Judged* judged) {
    tpWorld* world = makeFunnel(mu, certificate, threads);
    double asked = strtod(certificate, NULL), sweeps = 0.0;
    if (judged != NULL) {
        tpWorld_SetProblemHook(world, judge, judged);
    }
    for (int i = 0; i < steps; ++i) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
        CHECK_BELOW(report.residual, asked);
        assert_int_equal(report.failureCount, 0);
        assert_true((report.violations & (1u << tp_contactLaw)) == 0);
        sweeps += report.iterationCount;
    }
    if (judged != NULL) {
        print_message("%d problems of up to %d contacts, %g sweeps, the worst solved to %.1e\n",
                      judged->count, judged->mostContacts, sweeps, judged->worst);
        CHECK_BELOW(judged->worst, asked);
        assert_true(judged->mostContacts > 400);
    }
    uint64_t hash = tpWorld_HashState(world);
    tpDestroyWorld(world);
    return hash;
}

static void crowdMeetsItsCertificate(void** state) {
    (void)state;
    const double coefficients[2] = { 0.1, 0.5 };
    for (int k = 0; k < 4; ++k) {
        const char* certificate = certificates[k / 2];
        double mu = coefficients[k % 2];
        Judged judged = { tpCreateSolverMemory(NULL), 0.0, 0, 0 };
        uint64_t hash = runFunnel(mu, certificate, 1, &judged);
        tpDestroySolverMemory(judged.memory);
        assert_true(runFunnel(mu, certificate, 3, NULL) == hash);
    }
}

// Two cubes of 27 kg across a slot that widens upwards, one of them turning at 11 rad/s. Predicted
// from the motion without impulses, its corners ask for more room than there is.
static tpWorld* makeWedge(void) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_benderSchmitt;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    assert_int_equal(tpWorld_SetOption(world, "budget", "3000", NULL), tp_success);
    assert_int_equal(tpWorld_SetOption(world, "certificate", "1e-4", NULL), tp_success);
    addMaterial(world, 0.8, 0.0);
    for (int k = 0; k < 2; ++k) {
        double sign = k == 0 ? 1.0 : -1.0;
        tpBodyDef wall = tpDefaultBodyDef();
        wall.kind = tp_fixedBody;
        wall.position = tpMakeVec3(sign * 1.0844562108553224, 0.0, 2.0);
        wall.rotation = tpQuatFromAxisAngle(tpMakeVec3(0.0, 1.0, 0.0), sign * 0.25);
        addSolidBox(world, &wall, tpMakeVec3(1.0, 10.0, 10.0), 1000.0);
    }
    tpBodyDef still = tpDefaultBodyDef(), turning = tpDefaultBodyDef();
    still.position = tpMakeVec3(-0.183769439503727, 0.44993936337924656, 1.004383977555481);
    still.rotation =
        tpMakeQuat(0.474963161903028, -0.579142045292033, -0.43777042603575167, 0.4973545418496902);
    turning.position = tpMakeVec3(0.18167850134268287, 0.46433772861240274, 1.018877119807706);
    turning.rotation = tpMakeQuat(0.08534079132857886, -0.48026884105897166, 0.8729515883191091,
                                  0.003783397207370665);
    turning.velocity = tpMakeVec3(-0.357, 1.562, 0.088);
    turning.angularVelocity = tpMakeVec3(10.313, 2.263, 1.725);
    addSolidBox(world, &still, tpMakeVec3(0.3, 0.3, 0.3), 1000.0);
    addSolidBox(world, &turning, tpMakeVec3(0.3, 0.3, 0.3), 1000.0);
    return world;
}

// A step that contradictory predictions have made impossible is solved without them, to what was
// asked, with loads of the size of what the cubes carry on their way.
static void wedgedCubesAreSolved(void** state) {
    (void)state;
    tpWorld* world = makeWedge();
    tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
    assert_int_equal(report.failureCount, 0);
    CHECK_BELOW(report.residual, 1e-4);
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    assert_true(count > 4);
    for (int i = 0; i < count; ++i) {
        CHECK_BELOW(contacts[i].normalImpulse, 1000.0);
    }
    tpDestroyWorld(world);
}

// Spheres of 1 kg that lie on a floor, apart from each other, one that slides over it, one that has
// to fall a little first, and one far above.
enum { lyingCount = 36, slider = lyingCount, faller, flier };

static void addSphere(tpWorld* world, tpVec3 position, tpVec3 velocity, tpBodyId* body) {
    tpBodyDef def = tpDefaultBodyDef();
    def.position = position;
    def.velocity = velocity;
    *body = tpCreateBody(world, &def, NULL);
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = 1;
    tpSphere sphere = { .radius = 0.1 };
    shapeDef.density = 1.0 / (4.0 / 3.0 * acos(-1.0) * 1e-3);
    tpCreateSphere(world, *body, &shapeDef, &sphere, NULL);
}

static void countProblem(const tpPosedProblem* posed, void* context) {
    (void)posed;
    *(int*)context += 1;
}

// Forces of the whole step act before the drift, whose impulses carry all of them: one problem per
// step. What flies falls as it should all the same, and the account of energies closes.
static void aCrowdHasOneSolvePerStep(void** state) {
    (void)state;
    const double h = 1.0 / 60.0, g = 9.81;
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_benderSchmitt;
    def.gravity = tpMakeVec3(0.0, 0.0, -g);
    tpWorld* world = tpCreateWorld(&def);
    assert_int_equal(tpWorld_SetOption(world, "budget", "3000", NULL), tp_success);
    assert_int_equal(tpWorld_SetOption(world, "certificate", "1e-4", NULL), tp_success);
    addMaterial(world, 0.5, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    tpBodyId bodies[flier + 1];
    for (int i = 0; i < lyingCount; ++i) {
        addSphere(world, tpMakeVec3(0.5 * (i % 6), 0.5 * (i / 6), 0.1), tpMakeVec3(0, 0, 0),
                  &bodies[i]);
    }
    addSphere(world, tpMakeVec3(-1.0, -1.0, 0.1), tpMakeVec3(-2.0, 0.0, 0.0), &bodies[slider]);
    addSphere(world, tpMakeVec3(-1.0, 5.0, 0.13), tpMakeVec3(0.0, 0.0, 0.0), &bodies[faller]);
    addSphere(world, tpMakeVec3(5.0, -1.0, 30.0), tpMakeVec3(1.0, 0.0, 3.0), &bodies[flier]);
    int problems = 0;
    tpWorld_SetProblemHook(world, countProblem, &problems);
    for (int i = 1; i <= 30; ++i) {
        tpStepReport report = tpWorld_Step(world, h);
        assert_int_equal(problems, i);
        assert_int_equal(report.violations, 0);
        CHECK_BELOW(fabs(report.numericalLoss), 1e-9);
        double t = i * h;
        tpVec3 flight = tpBody_GetPosition(world, bodies[flier]);
        CHECK_NEAR(flight.z, 30.0 + 3.0 * t - 0.5 * g * t * t, 1e-10);
        CHECK_NEAR(tpBody_GetVelocity(world, bodies[flier]).z, 3.0 - g * t, 1e-10);
        // Nobody who lies moves, and every contact carries the weight of the whole step.
        CHECK_BELOW(tpLength(tpBody_GetVelocity(world, bodies[7])), 1e-6);
        int count;
        const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
        for (int k = 0; k < lyingCount; ++k) {
            CHECK_NEAR(contacts[k].normalImpulse, g * h, 1e-4);
        }
    }
    CHECK_NEAR(tpBody_GetPosition(world, bodies[faller]).z, 0.1, 1e-4);
    // Sliding turns into rolling at five sevenths of the speed.
    CHECK_NEAR(tpBody_GetVelocity(world, bodies[slider]).x, -2.0 * 5.0 / 7.0, 1e-3);
    tpDestroyWorld(world);
}

// Balls that are poured into a box, at rough places on a grid.
enum { ballSide = 8, ballLayers = 12, pouredSteps = 45 };

static tpWorld* makePouredBalls(double mu) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_benderSchmitt;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    assert_int_equal(tpWorld_SetOption(world, "certificate", "1e-3", NULL), tp_success);
    addMaterial(world, mu, 0.0);
    addFloor(world, tpMakeVec3(0.0, 0.0, 1.0));
    const double grid = 0.212, half = 0.5 * grid * ballSide + 0.05;
    for (int k = 0; k < 4; ++k) {
        tpBodyDef wall = tpDefaultBodyDef();
        wall.kind = tp_fixedBody;
        double angle = k * acos(0.0);
        tpVec3 inward = tpMakeVec3(cos(angle), sin(angle), 0.0);
        wall.position = tpScale(-half, inward);
        tpShapeDef shapeDef = tpDefaultShapeDef();
        shapeDef.material = 1;
        tpPlane plane = { .normal = inward };
        tpCreatePlane(world, tpCreateBody(world, &wall, NULL), &shapeDef, &plane, NULL);
    }
    tpRandom random = { 3 };
    for (int i = 0; i < ballSide * ballSide * ballLayers; ++i) {
        tpVec3 place = tpMakeVec3(grid * (i % ballSide + 0.5) - 0.5 * grid * ballSide,
                                  grid * (i / ballSide % ballSide + 0.5) - 0.5 * grid * ballSide,
                                  0.12 + 0.22 * (i / (ballSide * ballSide)));
        tpBodyId body;
        addSphere(world, tpAdd(place, randomVec3(&random, -0.005, 0.005)), tpMakeVec3(0, 0, 0),
                  &body);
    }
    return world;
}

// Solves of balls that slide and roll on each other take fewer sweeps if each makes a step against
// the law of contact as a whole than if it solves each contact exactly (33,000 sweeps).
static void rubbingBallsTakeFewSweeps(void** state) {
    (void)state;
    double sweeps = 0.0;
    for (int k = 0; k < 3; ++k) {
        tpWorld* world = makePouredBalls(0.6 + 0.2 * k);
        for (int i = 0; i < pouredSteps; ++i) {
            tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
            CHECK_BELOW(report.residual, 1e-3);
            assert_int_equal(report.failureCount, 0);
            sweeps += report.iterationCount;
        }
        tpDestroyWorld(world);
        print_message("%g sweeps so far\n", sweeps);
    }
    assert_true(sweeps < 29000.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crowdMeetsItsCertificate),
        cmocka_unit_test(aCrowdHasOneSolvePerStep),
        cmocka_unit_test(rubbingBallsTakeFewSweeps),
        cmocka_unit_test(wedgedCubesAreSolved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
