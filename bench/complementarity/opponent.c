// Siconos 4.4 of Debian's packages, called by its drivers with its default options except for the
// tolerance and a limit on iterations that lets the time limit decide.

#include "opponent.h"

#include <siconos/numerics/FrictionContactProblem.h>
#include <siconos/numerics/Friction_cst.h>
#include <siconos/numerics/LinearComplementarityProblem.h>
#include <siconos/numerics/MLCP_Solvers.h>
#include <siconos/numerics/MixedLinearComplementarityProblem.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/NumericsVerbose.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/lcp_cst.h>
#include <siconos/numerics/mlcp_cst.h>
#include <stdlib.h>
#include <time.h>

enum { many = 10000000 };

const OpponentSolver opponentSolvers[] = {
    { "lemke", tp_lcpProblem, SICONOS_LCP_LEMKE, 100000, 0 },
    { "pivot-lumod", tp_lcpProblem, SICONOS_LCP_PIVOT_LUMOD, 100000, 0 },
    { "newton-fb", tp_lcpProblem, SICONOS_LCP_NEWTON_FB_FBLSA, 10000, 0 },
    { "newton-min", tp_lcpProblem, SICONOS_LCP_NEWTON_MIN_FBLSA, 10000, 0 },
    { "pgs", tp_lcpProblem, SICONOS_LCP_PGS, many, 0 },
    { "enum", tp_lcpProblem, SICONOS_LCP_ENUM, many, 20 },
    { "lcp-lemke", tp_mixedLcpProblem, SICONOS_MLCP_LCP_LEMKE, 100000, 0 },
    { "fb", tp_mixedLcpProblem, SICONOS_MLCP_FB, 10000, 0 },
    { "pgs", tp_mixedLcpProblem, SICONOS_MLCP_PGS, many, 0 },
    { "enum", tp_mixedLcpProblem, SICONOS_MLCP_ENUM, many, 40 },
    { "nsgs", tp_friction2dProblem, SICONOS_FRICTION_2D_NSGS, many, 0 },
    { "cpg", tp_friction2dProblem, SICONOS_FRICTION_2D_CPG, many, 0 },
    { "lemke", tp_friction2dProblem, SICONOS_FRICTION_2D_LEMKE, 100000, 1000 },
    { "nsgs", tp_friction3dProblem, SICONOS_FRICTION_3D_NSGS, many, 0 },
    { "nsn-ac", tp_friction3dProblem, SICONOS_FRICTION_3D_NSN_AC, 10000, 0 },
    { "nsn-ac-test", tp_friction3dProblem, SICONOS_FRICTION_3D_NSN_AC_TEST, 10000, 0 },
    { "prox", tp_friction3dProblem, SICONOS_FRICTION_3D_PROX, many, 0 },
    { "admm", tp_friction3dProblem, SICONOS_FRICTION_3D_ADMM, many, 0 },
    { "extragradient", tp_friction3dProblem, SICONOS_FRICTION_3D_EG, many, 0 },
    { "vi-extragradient", tp_friction3dProblem, SICONOS_FRICTION_3D_VI_EG, many, 0 },
};
const int opponentSolverCount = sizeof(opponentSolvers) / sizeof(opponentSolvers[0]);

struct Opponent {
    tpProblemKind kind;
    LinearComplementarityProblem* lcp;
    MixedLinearComplementarityProblem* mixed;
    FrictionContactProblem* friction;
    int size;
};

Opponent* readOpponent(const char* path, tpProblemKind kind) {
    Opponent* opponent = calloc(1, sizeof(*opponent));
    if (opponent == NULL) {
        return NULL;
    }
    opponent->kind = kind;
    if (kind == tp_lcpProblem) {
        opponent->lcp = calloc(1, sizeof(*opponent->lcp));
        linearComplementarity_newFromFilename(opponent->lcp, path);
        opponent->size = opponent->lcp->size;
    } else if (kind == tp_mixedLcpProblem) {
        opponent->mixed = calloc(1, sizeof(*opponent->mixed));
        mixedLinearComplementarity_newFromFilename(opponent->mixed, path);
        opponent->size = opponent->mixed->n + opponent->mixed->m;
    } else {
        opponent->friction = frictionContact_new_from_filename(path);
        if (opponent->friction == NULL) {
            free(opponent);
            return NULL;
        }
        opponent->size = opponent->friction->dimension * opponent->friction->numberOfContacts;
    }
    return opponent;
}

static double cpuSeconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void runOpponent(Opponent* opponent, const OpponentSolver* solver, double tolerance, double* z,
                 double* seconds) {
    numerics_set_verbose(0);
    SolverOptions* options = solver_options_create(solver->id);
    options->dparam[SICONOS_DPARAM_TOL] = tolerance;
    options->iparam[SICONOS_IPARAM_MAX_ITER] = solver->iterationLimit;
    double* w = calloc((size_t)opponent->size + 1, sizeof(double));
    double start = cpuSeconds();
    if (opponent->kind == tp_lcpProblem) {
        linearComplementarity_driver(opponent->lcp, z, w, options);
    } else if (opponent->kind == tp_mixedLcpProblem) {
        mlcp_driver_init(opponent->mixed, options);
        mlcp_driver(opponent->mixed, z, w, options);
    } else if (opponent->kind == tp_friction2dProblem) {
        fc2d_driver(opponent->friction, z, w, options);
    } else {
        fc3d_driver(opponent->friction, z, w, options);
    }
    *seconds = cpuSeconds() - start;
}
