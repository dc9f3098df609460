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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crowdMeetsItsCertificate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
