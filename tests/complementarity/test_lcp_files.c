// The problems of the problems folder, each with what is known of it. Skipped where it is absent.

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "tippe/complementarity.h"
#include "tippe/problems.h"

static char folder[1024];

static int findFolder(void** state) {
    (void)state;
    const char* given = getenv("TIPPE_PROBLEMS");
    snprintf(folder, sizeof(folder), "%s",
             given != NULL ? given : TIPPE_SOURCE_DIR "/../shared/problems");
    DIR* directory = opendir(folder);
    if (directory != NULL) {
        closedir(directory);
        return 0;
    }
    printf("skipped: no problems at %s (set TIPPE_PROBLEMS)\n", folder);
    folder[0] = '\0';
    return 0;
}

static bool contains(const char* name, const char* const* list) {
    for (; *list != NULL; ++list) {
        if (strstr(name, *list) != NULL) {
            return true;
        }
    }
    return false;
}

static const char* const infeasibleOnes[] = { "37_squeeze_infeasible", "41_zero_row_infeasible",
                                              "lcp_Pang_isolated_sol_perturbed", NULL };

static void solveFile(const char* path, tpSolverMemory* memory) {
    tpProblem* problem;
    tpError error;
    if (tpReadProblem(path, tp_anyProblem, NULL, &problem, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    assert_true(problem->kind == tp_lcpProblem || problem->kind == tp_mixedLcpProblem);
    tpLcp lcp = {
        .n = problem->size, .M = problem->matrix, .q = problem->q, .isFree = problem->isFree
    };
    double* z = calloc((size_t)lcp.n, sizeof(double));
    tpSolveReport report;
    tpSolveStatus status = tpLcp_Solve(&lcp, NULL, memory, z, &report);
    tpSolveStatus expected = contains(path, infeasibleOnes) ? tp_infeasible : tp_solved;
    if (status != expected) {
        fail_msg("%s: %s, residual %g, expected %s", path, tpSolveStatus_Name(status),
                 report.residual, tpSolveStatus_Name(expected));
    }
    if (status == tp_solved) {
        CHECK_BELOW(tpLcp_Residual(&lcp, z, NULL, memory, NULL), 1.0000001e-8);
    }
    free(z);
    tpDestroyProblem(problem);
}

// Every file of a folder; how many there were.
static int solveFolder(const char* name, const char* ending) {
    char path[2048];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    DIR* directory = opendir(path);
    if (directory == NULL) {
        return 0;
    }
    tpSolverMemory* memory = tpCreateSolverMemory(NULL);
    int count = 0;
    for (struct dirent* entry; (entry = readdir(directory)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length > strlen(ending) &&
            strcmp(entry->d_name + length - strlen(ending), ending) == 0 &&
            strcmp(entry->d_name, "README.txt") != 0) {
            snprintf(path, sizeof(path), "%s/%s/%s", folder, name, entry->d_name);
            solveFile(path, memory);
            count += 1;
        }
    }
    closedir(directory);
    tpDestroySolverMemory(memory);
    return count;
}

static void solvesOurProblems(void** state) {
    (void)state;
    if (folder[0] == '\0') {
        skip();
    }
    assert_true(solveFolder("lcp", ".txt") > 0);
}

static void solvesLcpsOfSiconos(void** state) {
    (void)state;
    if (folder[0] == '\0') {
        skip();
    }
    assert_true(solveFolder("siconos/lcp", ".dat") > 0);
}

static void solvesMixedLcpsOfSiconos(void** state) {
    (void)state;
    if (folder[0] == '\0') {
        skip();
    }
    assert_true(solveFolder("siconos/mlcp", ".dat") > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvesOurProblems),
        cmocka_unit_test(solvesLcpsOfSiconos),
        cmocka_unit_test(solvesMixedLcpsOfSiconos),
    };
    int failed = cmocka_run_group_tests(tests, findFolder, NULL);
    return failed == 0 && folder[0] == '\0' ? 77 : failed;
}
