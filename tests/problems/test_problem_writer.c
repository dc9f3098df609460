// Friction problems that were written are read back to the bit; in FCLIB's form they are the same
// problem.

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"
#include "tippe/complementarity.h"
#include "tippe/problems.h"

enum { bodyCount = 4, mostBlocks = 8, mostRows = 4 * mostBlocks };

static char path[64];

static int enter(void** state) {
    (void)state;
    strcpy(path, "/tmp/tippe_written_XXXXXX");
    int file = mkstemp(path);
    return file >= 0 && close(file) == 0 ? 0 : -1;
}

static int leave(void** state) {
    (void)state;
    return unlink(path);
}

// A problem with its arrays.
typedef struct Made {
    tpFrictionProblem problem;
    tpFrictionBodies bodies;
    int dimensions[mostBlocks], bodyA[mostBlocks], bodyB[mostBlocks];
    unsigned char kinds[mostBlocks];
    double mu[mostBlocks], scale[mostRows], compliance[mostRows], q[mostRows], start[mostRows];
    double jacobianA[6 * mostRows], jacobianB[6 * mostRows], inverseMass[36 * bodyCount];
    int rowCount;
} Made;

// Contacts between neighbours and the ground; with `isMixed` blocks of all kinds and sizes.
static void makeProblem(Made* made, tpRandom* random, bool isMixed) {
    memset(made, 0, sizeof(*made));
    made->rowCount = 0;
    for (int b = 0; b < mostBlocks; ++b) {
        made->kinds[b] = (unsigned char)(isMixed ? b % 3 : tp_frictionCone);
        made->dimensions[b] = !isMixed                                   ? 3
                              : made->kinds[b] == tp_frictionNonnegative ? 1
                                                                         : 2 + b % 3;
        made->mu[b] = made->kinds[b] == tp_frictionCone ? 0.1 * (1 + b) : 0.0;
        made->bodyA[b] = b % bodyCount;
        made->bodyB[b] = b < bodyCount ? -1 : (b + 1) % bodyCount;
        made->rowCount += made->dimensions[b];
    }
    for (int i = 0; i < made->rowCount; ++i) {
        made->scale[i] = isMixed ? randomBetween(random, 0.5, 2.0) : 1.0;
        made->compliance[i] = isMixed ? randomBetween(random, 0.0, 0.1) : 0.0;
        made->q[i] = randomBetween(random, -1.0, 1.0);
        made->start[i] = randomBetween(random, -1.0, 1.0);
        for (int k = 0; k < 6; ++k) {
            made->jacobianA[6 * i + k] = randomBetween(random, -1.0, 1.0);
            made->jacobianB[6 * i + k] = randomBetween(random, -1.0, 1.0);
        }
    }
    for (int body = 0; body < bodyCount; ++body) {
        for (int i = 0; i < 6; ++i) {
            for (int j = 0; j <= i; ++j) {
                double x = i == j ? 2.0 + body : randomBetween(random, -0.1, 0.1);
                made->inverseMass[36 * body + 6 * i + j] = x;
                made->inverseMass[36 * body + 6 * j + i] = x;
            }
        }
    }
    made->bodies = (tpFrictionBodies){ .bodyCount = bodyCount,
                                       .componentCount = 6,
                                       .inverseMass = made->inverseMass,
                                       .bodyA = made->bodyA,
                                       .bodyB = made->bodyB,
                                       .jacobianA = made->jacobianA,
                                       .jacobianB = made->jacobianB };
    made->problem = (tpFrictionProblem){ .blockCount = mostBlocks,
                                         .dimensions = made->dimensions,
                                         .kinds = made->kinds,
                                         .mu = made->mu,
                                         .scale = made->scale,
                                         .compliance = made->compliance,
                                         .q = made->q,
                                         .bodies = &made->bodies };
}

static void checkEqual(const double* a, const double* b, int count) {
    assert_memory_equal(a, b, sizeof(double) * (size_t)count);
}

static void writeProblem(const tpFrictionProblem* problem, const double* start) {
    tpError error;
    if (tpWriteFrictionProblem(path, problem, start, start, "made up", &error) != tp_success) {
        fail_msg("%s", error.message);
    }
}

static tpProblem* readProblem(void) {
    tpProblem* problem;
    tpError error;
    if (tpReadProblem(path, tp_anyProblem, NULL, &problem, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    return problem;
}

static void testRoundTrip(void** state) {
    (void)state;
    tpRandom random = { 1 };
    static Made made;
    for (int round = 0; round < 2; ++round) {
        makeProblem(&made, &random, round == 1);
        writeProblem(&made.problem, made.start);
        tpProblem* problem = readProblem();
        const tpFrictionProblem* again = problem->friction;
        assert_non_null(again);
        assert_int_equal(problem->kind, tp_friction3dProblem);
        assert_int_equal(problem->size, made.rowCount);
        assert_int_equal(again->blockCount, mostBlocks);
        assert_memory_equal(again->dimensions, made.dimensions, sizeof(made.dimensions));
        assert_memory_equal(again->kinds, made.kinds, sizeof(made.kinds));
        checkEqual(again->mu, made.mu, mostBlocks);
        checkEqual(again->scale, made.scale, made.rowCount);
        checkEqual(again->compliance, made.compliance, made.rowCount);
        checkEqual(again->q, made.q, made.rowCount);
        checkEqual(problem->start, made.start, made.rowCount);
        assert_null(again->W);
        assert_int_equal(again->bodies->bodyCount, bodyCount);
        assert_memory_equal(again->bodies->bodyA, made.bodyA, sizeof(made.bodyA));
        assert_memory_equal(again->bodies->bodyB, made.bodyB, sizeof(made.bodyB));
        checkEqual(again->bodies->inverseMass, made.inverseMass, 36 * bodyCount);
        checkEqual(again->bodies->jacobianA, made.jacobianA, 6 * made.rowCount);
        checkEqual(again->bodies->jacobianB, made.jacobianB, 6 * made.rowCount);
        tpDestroyProblem(problem);
    }
}

// W dense comes back sparse, with the same entries.
static void testMatrix(void** state) {
    (void)state;
    double values[9] = { 2, 1, 0, 1, 3, 0, 0, 0, 4 }, q[3] = { -1, 1, 0 }, mu[1] = { 0.3 };
    tpMatrix W = tpDenseMatrix(3, 3, values);
    tpFrictionProblem problem = { .blockCount = 1, .dimension = 3, .mu = mu, .q = q, .W = &W };
    writeProblem(&problem, NULL);
    tpProblem* again = readProblem();
    assert_null(again->start);
    assert_null(again->friction->bodies);
    double x[3] = { 1, 2, 3 }, y[3], z[3];
    tpMatrix_Multiply(&W, x, q, y);
    tpMatrix_Multiply(again->friction->W, x, again->friction->q, z);
    checkEqual(y, z, 3);
    tpDestroyProblem(again);
}

// Without our own group the file is one of FCLIB, and its W = H^T M^-1 H that of the bodies.
static void testGlobalForm(void** state) {
    (void)state;
    tpRandom random = { 2 };
    static Made made;
    makeProblem(&made, &random, false);
    writeProblem(&made.problem, made.start);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    assert_true(file >= 0 && H5Ldelete(file, "/tippe", H5P_DEFAULT) >= 0);
    H5Fclose(file);
    tpProblem* problem = readProblem();
    assert_true(problem->isGlobal && problem->friction == NULL);
    assert_int_equal(problem->contactCount, mostBlocks);
    checkEqual(problem->mu, made.mu, mostBlocks);
    tpFrictionGlobal reduced;
    tpError error;
    assert_int_equal(tpFriction_ReduceGlobal(&problem->matrix, &problem->H, problem->q, problem->b,
                                             NULL, &reduced, &error),
                     tp_success);
    double u[mostRows], again[mostRows];
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    tpFrictionResidual residual;
    assert_true(tpFriction_Judge(&made.problem, made.start, u, memory, &residual));
    tpMatrix_Multiply(&reduced.W, made.start, reduced.q, again);
    for (int i = 0; i < made.rowCount; ++i) {
        CHECK_NEAR(again[i], u[i], 1e-12);
    }
    tpDestroySolverMemory(memory);
    tpFrictionGlobal_Destroy(&reduced);
    tpDestroyProblem(problem);
}

// Blocks that FCLIB has no form for, and bodies without a mass matrix, have our own group alone.
static void testNoGlobalForm(void** state) {
    (void)state;
    tpRandom random = { 3 };
    static Made made;
    for (int round = 0; round < 2; ++round) {
        makeProblem(&made, &random, round == 0);
        if (round == 1) {
            memset(made.inverseMass, 0, sizeof(double) * 36);
        }
        writeProblem(&made.problem, NULL);
        hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
        assert_true(H5Lexists(file, "/tippe", H5P_DEFAULT) > 0);
        assert_false(H5Lexists(file, "/fclib_global", H5P_DEFAULT) > 0);
        H5Fclose(file);
        tpDestroyProblem(readProblem());
    }
}

// What does not belong together is refused with the name of the dataset.
static void testWrongFiles(void** state) {
    (void)state;
    tpRandom random = { 4 };
    static Made made;
    static const char* const lost[][2] = {
        { "/tippe/blocks/mu", "/tippe/blocks/mu" },
        { "/tippe/rows/q", "/tippe/rows/q" },
        { "/tippe/rows/jacobian_b", "/tippe/rows/jacobian_b" },
        { "/tippe/inverse_mass", "/tippe/inverse_mass" },
        { "/tippe/degrees", "/tippe/degrees" },
    };
    for (size_t i = 0; i < sizeof lost / sizeof *lost; ++i) {
        makeProblem(&made, &random, true);
        writeProblem(&made.problem, made.start);
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        assert_true(H5Ldelete(file, lost[i][0], H5P_DEFAULT) >= 0);
        H5Fclose(file);
        tpProblem* problem;
        tpError error;
        assert_int_equal(tpReadProblem(path, tp_anyProblem, NULL, &problem, &error), tp_badInput);
        assert_null(problem);
        assert_non_null(strstr(error.message, lost[i][1]));
    }
    // A body that is not there.
    makeProblem(&made, &random, false);
    made.bodyB[3] = bodyCount;
    tpError error;
    assert_int_equal(tpWriteFrictionProblem(path, &made.problem, made.start, NULL, NULL, &error),
                     tp_badInput);
    assert_non_null(strstr(error.message, "body"));
    // A place that cannot be written.
    made.bodyB[3] = -1;
    assert_int_equal(
        tpWriteFrictionProblem("/nowhere/at/all.hdf5", &made.problem, NULL, NULL, NULL, &error),
        tp_ioError);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testRoundTrip),  cmocka_unit_test(testMatrix),
        cmocka_unit_test(testGlobalForm), cmocka_unit_test(testNoGlobalForm),
        cmocka_unit_test(testWrongFiles),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
