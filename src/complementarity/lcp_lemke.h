// The state of the revised Lemke method, shared by its start (lcp_lemke_start.c) and its path
// (lcp_lemke.c).
//
// The system is  w - M z - d z0 = q  with columns e_i for w_i, -M_i for z_i and -d for z0. Of each
// complementary pair (w_i, z_i) one variable is basic, but for one pair while z0 is. Where z_i is
// free it is basic and w_i, which has to be zero, is not.

#ifndef TIPPE_SRC_COMPLEMENTARITY_LCP_LEMKE_H
#define TIPPE_SRC_COMPLEMENTARITY_LCP_LEMKE_H

#include "complementarity/lcp_form.h"

typedef struct tpLemke {
    const tpLcpForm* form;
    const tpLemkeOptions* options;
    tpSolverMemory* memory;
    int n;
    int pivots;
    int fixedCount; // basic w that have to stay zero

    // Variables: w_i is i, z_i is n + i, z0 is 2 n.
    int* variableAt;     // by position
    int* positionOf;     // by variable; -1: not basic
    int* partnerOfFixed; // by row: the free variable that stays out while w_i = 0 is basic; -1

    tpSparseLu factor;
    tpSparseColumns columns; // room for the gathered basis
    int* dependent;
    int* replacedBy;
    long long etaCost; // of solves with etas since the last factorisation

    double* d;          // covering vector, by row
    double* tieBreaker; // generic perturbation of q, by row
    double valueScale;  // largest |x| when it was last computed, at least 1
    double* x;          // values of basic variables, by position: B^-1 q
    double* y;          // B^-1 tieBreaker: orders what x leaves tied
    double* alpha;      // B^-1 column of the entering variable
    double* rowWork;
    double* positionWork;
    int* candidates; // positions that the ratio test looks at
} tpLemke;

bool tpLemke_Create(tpLemke* lemke, const tpLcpForm* form, const tpLemkeOptions* options,
                    tpSolverMemory* memory);

static inline bool tpLemke_IsZ0(const tpLemke* lemke, int variable) {
    return variable == 2 * lemke->n;
}

// The row of a variable's pair; not for z0.
static inline int tpLemke_Row(const tpLemke* lemke, int variable) {
    return variable < lemke->n ? variable : variable - lemke->n;
}

// A basic variable without sign: it never leaves.
static inline bool tpLemke_IsFree(const tpLemke* lemke, int variable) {
    return variable >= lemke->n && variable < 2 * lemke->n &&
           lemke->form->isFree[variable - lemke->n];
}

// A basic variable that has to stay zero: w_i of a free z_i.
static inline bool tpLemke_IsFixed(const tpLemke* lemke, int variable) {
    return variable < lemke->n && lemke->form->isFree[variable];
}

// Writes the column of a variable into `column` (n, dense, by row).
void tpLemke_Column(const tpLemke* lemke, int variable, double* column);

// Factors the basis; the number of dependent columns (0: all well), or -1.
int tpLemke_Factor(tpLemke* lemke);

// x = B^-1 q, refined once where asked for, and y = B^-1 tieBreaker.
void tpLemke_ComputeValues(tpLemke* lemke, bool isRefined);

// Puts `variable`, whose column is alpha, at `position`.
void tpLemke_Exchange(tpLemke* lemke, int position, int variable);

// A factorised basis to start from: that of `startBasis` as far as it is independent, or the one
// with all w basic; free variables basic. False: out of memory or none was found.
bool tpLemke_Start(tpLemke* lemke, const unsigned char* startBasis);

#endif
