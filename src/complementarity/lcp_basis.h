// Values of a complementary basis: one of w_i, z_i for each i, all free z_i.

#ifndef TIPPE_SRC_COMPLEMENTARITY_LCP_BASIS_H
#define TIPPE_SRC_COMPLEMENTARITY_LCP_BASIS_H

#include "complementarity/lcp_form.h"

typedef struct tpBasisSolver {
    const tpLcpForm* form;
    tpSparseLu factor;
    tpSparseColumns columns;
    int* dependent;
    int* replacedBy;
    int dependentCount;
    double* rowWork;
    double* correction;
} tpBasisSolver;

bool tpBasisSolver_Create(tpBasisSolver* solver, const tpLcpForm* form, tpSolverMemory* memory);

// x_i is w_i or z_i as basis[i] (of tpLcpBasis) says; the other one is zero. If the basis is
// singular, dependent columns are left out (their x_i is 0) and the result is the largest violation
// of an equation that this leaves; 0 for a nonsingular one; infinite when out of memory.
double tpBasisSolver_Solve(tpBasisSolver* solver, const unsigned char* basis, double* x);

#endif
