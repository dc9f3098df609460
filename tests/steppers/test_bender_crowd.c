// A crowd of cubes that flows, with the stepper of Bender and Schmitt under a certificate: every
// problem is solved to what was asked, whatever the threads.

#include <stdlib.h>

#include "support/floor.h"
#include "tippe/friction.h"

enum { side = 4, layers = 6, steps = 45 };

static const double asked = 1e-4;

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
static tpWorld* makeFunnel(double mu, int threads) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_benderSchmitt;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    def.threadCount = threads;
    tpWorld* world = tpCreateWorld(&def);
    assert_int_equal(tpWorld_SetOption(world, "budget", "20000", NULL), tp_success);
    assert_int_equal(tpWorld_SetOption(world, "certificate", "1e-4", NULL), tp_success);
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

static void crowdMeetsItsCertificate(void** state) {
    (void)state;
    const double coefficients[2] = { 0.1, 0.5 };
    for (int k = 0; k < 2; ++k) {
        uint64_t hashes[2];
        for (int run = 0; run < 2; ++run) {
            tpWorld* world = makeFunnel(coefficients[k], run == 0 ? 1 : 3);
            Judged judged = { tpCreateSolverMemory(NULL), 0.0, 0, 0 };
            if (run == 0) {
                tpWorld_SetProblemHook(world, judge, &judged);
            }
            for (int i = 0; i < steps; ++i) {
                tpStepReport report = tpWorld_Step(world, 1.0 / 60.0);
                CHECK_BELOW(report.residual, asked);
                assert_int_equal(report.failureCount, 0);
                assert_true((report.violations & (1u << tp_contactLaw)) == 0);
            }
            hashes[run] = tpWorld_HashState(world);
            if (run == 0) {
                print_message("%d problems of up to %d contacts, the worst solved to %.1e\n",
                              judged.count, judged.mostContacts, judged.worst);
                CHECK_BELOW(judged.worst, asked);
                assert_true(judged.mostContacts > 400);
            }
            tpDestroySolverMemory(judged.memory);
            tpDestroyWorld(world);
        }
        assert_true(hashes[0] == hashes[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crowdMeetsItsCertificate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
