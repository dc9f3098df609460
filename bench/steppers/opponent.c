#include "opponent.h"

#include <siconos/numerics/LinearComplementarityProblem.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/NumericsVerbose.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/lcp_cst.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpuSeconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double solveBySiconos(int n, const double* M, const double* q, double* z) {
    size_t bytes = sizeof(double) * (size_t)n;
    NumericsMatrix* matrix = NM_create(NM_DENSE, n, n);
    memcpy(matrix->matrix0, M, bytes * (size_t)n);
    LinearComplementarityProblem problem;
    problem.size = n;
    problem.M = matrix;
    problem.q = malloc(bytes);
    double* w = calloc((size_t)n, sizeof(double));
    if (problem.q == NULL || w == NULL) {
        abort();
    }
    memcpy(problem.q, q, bytes);
    numerics_set_verbose(0);
    SolverOptions* options = solver_options_create(SICONOS_LCP_LEMKE);
    options->iparam[SICONOS_IPARAM_MAX_ITER] = 100000;
    double start = cpuSeconds();
    linearComplementarity_driver(&problem, z, w, options);
    double seconds = cpuSeconds() - start;
    solver_options_delete(options);
    NM_clear(matrix);
    free(matrix);
    free(problem.q);
    free(w);
    return seconds;
}
