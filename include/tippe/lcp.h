// Linear, mixed linear and nonlinear complementarity problems, and their solvers.
//
// A linear complementarity problem (LCP) asks for z with
//     w = M z + q,   0 <= z,   0 <= w,   z'w = 0.
// In a mixed one some z_i are free and their w_i = 0. Contact problems with a friction pyramid are
// of this kind: z = (c_n, beta, lambda) of [StewartTrinkle96], with velocities and joint impulses
// as free variables if W = J M^-1 J' is better not formed.
//
//     tpSolverMemory* memory = tpCreateSolverMemory(NULL);
//     double values[] = { 2.0, 1.0, 1.0, 2.0 }, q[] = { -5.0, -6.0 }, z[2];
//     tpLcp lcp = { .n = 2, .M = tpDenseMatrix(2, 2, values), .q = q };
//     tpSolveReport report;
//     if (tpLcp_Solve(&lcp, NULL, memory, z, &report) == tp_solved) { ... z = (4/3, 7/3) ... }
//     tpDestroySolverMemory(memory);

#ifndef TIPPE_LCP_H
#define TIPPE_LCP_H

#include "tippe/solver.h"

TP_BEGIN_DECLS

// The problem ---------------------------------------------------------------------------------

typedef struct tpLcp {
    int n;
    tpMatrix M;         // n x n; rank deficient, unsymmetric and badly scaled are all allowed
    const double* q;    // n
    const bool* isFree; // n: z_i free and w_i = 0; NULL: none is, a plain LCP
} tpLcp;

// The judge: max over i of |min(z_i, w_i)| (of |w_i| if z_i is free), w = M z + q, divided by
// max(1, |q|_inf). `plain`, if not NULL, receives the undivided residual. Infinite if z or w is not
// finite. `w`, if not NULL, receives M z + q; otherwise it is stored in `memory`.
TP_API double tpLcp_Residual(const tpLcp* lcp, const double* z, double* w, tpSolverMemory* memory,
                             double* plain);

// A proof that {z : z_i >= 0 or free, w_i >= 0 or = 0} is empty: y with y_i >= 0 (any sign in rows
// of free variables), M'y <= 0 (= 0 in columns of free variables) and q'y < 0. Returns the largest
// R such that y excludes every feasible z with |z|_1 < R: infinite for an exact certificate, 0 if y
// proves nothing.
TP_API double tpLcp_InfeasibilityRadius(const tpLcp* lcp, const double* y, tpSolverMemory* memory);

// Solvers -------------------------------------------------------------------------------------
// All take NULL for default options, write z (n) and the report (may be NULL), and return its
// status.

// Which variables are basic: the combinatorial part of a solution. A basis of the previous
// problem of a sequence makes the next one short.
typedef enum tpLcpBasis {
    tp_wBasic = 0, // z_i = 0
    tp_zBasic = 1  // w_i = 0
} tpLcpBasis;

// Lemke's method, revised and factorised: the one to use (lcp_lemke.c).
typedef struct tpLemkeOptions {
    double tolerance;       // judged residual; default 1e-8
    int pivotLimit;         // 0: 50 n + 1000
    int refactorInterval;   // pivots between factorisations; default 64
    double pivotTolerance;  // smallest pivot relative to its column; default 1e-11
    const double* covering; // n, positive: covering vector of the scaled problem; NULL: ones
    const unsigned char* startBasis; // n of tpLcpBasis: warm start; NULL: all w basic
    unsigned char* endBasis;         // n: receives the final basis; may be startBasis; may be NULL
} tpLemkeOptions;

TP_API tpLemkeOptions tpDefaultLemkeOptions(void);
TP_API tpSolveStatus tpLcp_SolveLemke(const tpLcp* lcp, const tpLemkeOptions* options,
                                      tpSolverMemory* memory, double* z, tpSolveReport* report);

// Lemke's method with an explicit tableau and the full lexicographic rule, as [StewartTrinkle96]
// and [CottlePangStone92, algorithm 4.4.5] have it: 4 n^2 operations a pivot (lcp_lemke_tableau.c).
typedef struct tpLemkeTableauOptions {
    double tolerance;    // judged residual; default 1e-8
    int pivotLimit;      // 0: 50 n + 1000
    double tieTolerance; // relative width of a tie in the ratio test; default 1e-12
} tpLemkeTableauOptions;

TP_API tpLemkeTableauOptions tpDefaultLemkeTableauOptions(void);
TP_API tpSolveStatus tpLcp_SolveLemkeTableau(const tpLcp* lcp, const tpLemkeTableauOptions* options,
                                             tpSolverMemory* memory, double* z,
                                             tpSolveReport* report);

// Block principal pivoting with Murty's least-index rule as fallback: P matrices, few hundred rows
// (lcp_principal_pivoting.c).
typedef struct tpPrincipalPivotingOptions {
    double tolerance; // judged residual; default 1e-8
    int blockLimit;   // block steps without progress before single pivots; default 10
    int pivotLimit;   // factorisations in all; 0: n + 100
} tpPrincipalPivotingOptions;

TP_API tpPrincipalPivotingOptions tpDefaultPrincipalPivotingOptions(void);
TP_API tpSolveStatus tpLcp_SolvePrincipalPivoting(const tpLcp* lcp,
                                                  const tpPrincipalPivotingOptions* options,
                                                  tpSolverMemory* memory, double* z,
                                                  tpSolveReport* report);

// Contact problems whose friction limits are taken from the last point, as a sequence of monotone
// problems for Lemke's method: for piles on which its path is too long (lcp_lagged.c).
typedef struct tpLaggedOptions {
    double tolerance;   // judged residual; default 1e-8
    int iterationLimit; // default 100
} tpLaggedOptions;

TP_API tpLaggedOptions tpDefaultLaggedOptions(void);
TP_API tpSolveStatus tpLcp_SolveLagged(const tpLcp* lcp, const tpLaggedOptions* options,
                                       tpSolverMemory* memory, double* z, tpSolveReport* report);

// All complementary bases, one after the other: the last word for small problems
// (lcp_enumeration.c).
typedef struct tpEnumerationOptions {
    double tolerance; // judged residual; default 1e-8
    int rowLimit;     // complementary rows beyond which it is not applicable; default 16
} tpEnumerationOptions;

TP_API tpEnumerationOptions tpDefaultEnumerationOptions(void);
TP_API tpSolveStatus tpLcp_SolveEnumeration(const tpLcp* lcp, const tpEnumerationOptions* options,
                                            tpSolverMemory* memory, double* z,
                                            tpSolveReport* report);

// Semismooth Newton with a sparse factorisation and a nonmonotone line search (newton.c).
typedef enum tpNewtonFunction {
    tp_fischerBurmeister = 0, // sqrt(a^2 + b^2) - a - b
    tp_naturalMap = 1         // min(a, b)
} tpNewtonFunction;

typedef struct tpNewtonOptions {
    double tolerance;          // judged residual; default 1e-8
    int iterationLimit;        // default 200
    tpNewtonFunction function; // default tp_fischerBurmeister
    int memoryLength;          // merits the line search remembers; 1 is monotone; default 8
    bool startFromZ;           // z holds the starting point; default false: zero
} tpNewtonOptions;

TP_API tpNewtonOptions tpDefaultNewtonOptions(void);
TP_API tpSolveStatus tpLcp_SolveNewton(const tpLcp* lcp, const tpNewtonOptions* options,
                                       tpSolverMemory* memory, double* z, tpSolveReport* report);

// The portfolio: chooses, escalates, and returns the best it found (lcp_portfolio.c).
typedef struct tpLcpOptions {
    double tolerance;                // judged residual; default 1e-8
    double workLimit;                // multiply-adds after which it stops; default 6e10
    const unsigned char* startBasis; // n of tpLcpBasis: warm start; NULL: none
    unsigned char* endBasis;         // n: receives the basis of the answer; may be NULL
} tpLcpOptions;

TP_API tpLcpOptions tpDefaultLcpOptions(void);
TP_API tpSolveStatus tpLcp_Solve(const tpLcp* lcp, const tpLcpOptions* options,
                                 tpSolverMemory* memory, double* z, tpSolveReport* report);

// The table of solvers, by name; the first is "auto", the portfolio.
typedef struct tpLcpSolver {
    const char* name;    // "lemke"
    const char* summary; // one line
    tpSolveStatus (*solve)(const tpLcp* lcp, double tolerance, tpSolverMemory* memory, double* z,
                           tpSolveReport* report);
} tpLcpSolver;

TP_API const tpLcpSolver* tpLcpSolvers(int* count);
TP_API const tpLcpSolver* tpLcpSolver_Find(const char* name); // NULL if there is none

// Nonlinear problems --------------------------------------------------------------------------

// 0 <= z_i - lower_i  complementary to  F_i(z) >= 0; F_i(z) = 0 where z_i is free.
typedef struct tpNcp {
    int n;
    const double* lower; // n; NULL: zeros
    const bool* isFree;  // n; NULL: none
    double scale;        // of F, by which the residual is divided; 0 means max(1, |F(start)|_inf)

    // F (n) at z (n). False if F is not defined there: the step is then shortened.
    bool (*evaluate)(const double* z, double* F, void* context);

    // The values of the Jacobian dF_i/dz_j at z, in the places of the pattern.
    bool (*jacobian)(const double* z, double* values, void* context);
    tpMatrix jacobianPattern; // n x n; its values are not read
    void* context;
} tpNcp;

// The judge: max |min(z_i - lower_i, F_i)| (|F_i| if free) divided by the scale.
TP_API double tpNcp_Residual(const tpNcp* ncp, const double* z, const double* F, double scale,
                             double* plain);

// Semismooth Newton from the point in z.
TP_API tpSolveStatus tpNcp_SolveNewton(const tpNcp* ncp, const tpNewtonOptions* options,
                                       tpSolverMemory* memory, double* z, tpSolveReport* report);

// Newton with both functions, then linearised problems solved by Lemke (Josephy-Newton), from z.
typedef struct tpNcpOptions {
    double tolerance;   // judged residual; default 1e-8
    int iterationLimit; // of each stage; default 100
} tpNcpOptions;

TP_API tpNcpOptions tpDefaultNcpOptions(void);
TP_API tpSolveStatus tpNcp_Solve(const tpNcp* ncp, const tpNcpOptions* options,
                                 tpSolverMemory* memory, double* z, tpSolveReport* report);

TP_END_DECLS

#endif
