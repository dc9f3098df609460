// The friction problems of the problems folder: every one solved to e3 <= 1e-8, local and global,
// in the plane and in space. Skipped where the folder is absent.

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "tippe/friction.h"
#include "tippe/problems.h"

// Under a sanitizer the hardest problem would take minutes: it is then asked for less.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const double hardestTolerance = 1e-5;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
static const double hardestTolerance = 1e-5;
#else
static const double hardestTolerance = 1e-8;
#endif
#else
static const double hardestTolerance = 1e-8;
#endif

static char folder[1024];

static void solveFile(const char* path, tpSolverMemory* memory) {
    tpProblem* problem;
    tpError error;
    if (tpReadProblem(path, tp_anyProblem, NULL, &problem, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    tpFrictionGlobal reduced = { 0 };
    tpFrictionProblem friction = { .blockCount = problem->contactCount,
                                   .dimension = problem->dimension,
                                   .mu = problem->mu,
                                   .q = problem->q,
                                   .W = &problem->matrix };
    if (problem->isGlobal) {
        assert_int_equal(tpFriction_ReduceGlobal(&problem->matrix, &problem->H, problem->q,
                                                 problem->b, NULL, &reduced, &error),
                         tp_success);
        friction.q = reduced.q;
        friction.W = &reduced.W;
    }
    double* r = calloc((size_t)problem->size + 1, sizeof(double));
    double* u = calloc((size_t)problem->size + 1, sizeof(double));
    tpSolveReport report;
    tpFrictionOptions options = tpDefaultFrictionOptions();
    options.tolerance = strstr(path, "RockPile") != NULL ? hardestTolerance : 1e-8;
    tpSolveStatus status = tpFriction_Solve(&friction, &options, memory, r, u, &report);
    tpFrictionResidual judged;
    assert_true(tpFriction_Judge(&friction, r, u, memory, &judged));
    if (status != tp_solved || !(judged.natural <= options.tolerance)) {
        fail_msg("%s: %s, residual %g", path, tpSolveStatus_Name(status), judged.natural);
    }
    // What is missing to the greatest dissipation is at most the residual times the impulses, but
    // for a factor of the geometry of the cone.
    double square = 0.0;
    for (int i = 0; i < problem->size; ++i) {
        square += r[i] * r[i];
    }
    CHECK_BELOW(fabs(judged.dissipation), 4.0 * judged.velocity * sqrt(square) + 1e-300);
    free(r);
    free(u);
    if (problem->isGlobal) {
        tpFrictionGlobal_Destroy(&reduced);
    }
    tpDestroyProblem(problem);
}

static void solveFolder(const char* name) {
    if (folder[0] == '\0') {
        skip();
    }
    char path[2048];
    snprintf(path, sizeof path, "%s/siconos/%s", folder, name);
    DIR* directory = opendir(path);
    if (directory == NULL) {
        skip();
    }
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    int count = 0;
    for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof path, "%s/siconos/%s/%s", folder, name, entry->d_name);
        solveFile(path, memory);
        ++count;
    }
    closedir(directory);
    tpDestroySolverMemory(memory);
    assert_true(count > 0);
}

static void testPlane(void** unused) {
    (void)unused;
    solveFolder("fc2d");
}

static void testSpace(void** unused) {
    (void)unused;
    solveFolder("fc3d");
}

int main(void) {
    const char* given = getenv("TIPPE_PROBLEMS");
    snprintf(folder, sizeof folder, "%s",
             given != NULL ? given : TIPPE_SOURCE_DIR "/../shared/problems");
    DIR* directory = opendir(folder);
    if (directory == NULL) {
        printf("skipped: no problems at %s (set TIPPE_PROBLEMS)\n", folder);
        return 77;
    }
    closedir(directory);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testPlane),
        cmocka_unit_test(testSpace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
