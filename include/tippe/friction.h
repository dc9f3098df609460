// Contact with Coulomb friction, in the true (quadratic) cone.
//
// Rows come in blocks, one block per contact or a part of a joint. With u = W r + q,
//
//     cone          r in K = { |r_T| <= mu r_N },  u + (mu |u_T|, 0) in K*,  both orthogonal
//     nonnegative   0 <= r, 0 <= u, r u = 0        (one row: a joint limit)
//     free          u = 0, r of any sign           (a bilateral joint)
//
// A cone block has its normal row first, then 1 (in the plane) or 2 rows (in space) of sliding
// friction, and up to 3 of torsional and rolling friction. Units are the caller's: with u in m/s
// and r in N s, W is in 1/kg.
//
// W is given as a matrix, or through bodies as W = J M^-1 J^T, which is then never formed by the
// solvers that do not need it. It may be rank deficient and slightly unsymmetric; solutions r are
// then not unique, so a solution is judged by its residual alone.
//
//     tpSolverMemory* memory = tpCreateSolverMemory(NULL);
//     double values[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, q[3] = { -1.0, 2.0, 0.0 }, mu[1] = { 0.5 };
//     tpMatrix W = tpDenseMatrix(3, 3, values);
//     tpFrictionProblem problem = { .blockCount = 1, .dimension = 3, .mu = mu, .q = q, .W = &W };
//     double r[3] = { 0 }, u[3];
//     tpSolveReport report;
//     if (tpFriction_Solve(&problem, NULL, memory, r, u, &report) == tp_solved) {
//         // it slides: r = (1, -0.5, 0), u = (0, 1.5, 0)
//     }
//     tpDestroySolverMemory(memory);

#ifndef TIPPE_FRICTION_H
#define TIPPE_FRICTION_H

#include <signal.h>

#include "tippe/solver.h"

TP_BEGIN_DECLS

// The problem ---------------------------------------------------------------------------------

enum { TP_FRICTION_MAX_ROWS = 6 }; // rows of a block

typedef enum tpFrictionKind {
    tp_frictionCone = 0,
    tp_frictionNonnegative,
    tp_frictionFree
} tpFrictionKind;

// Bodies of equal numbers of velocities (6 in space, 3 in the plane), and how the rows act on them.
// A row of block b is  u = jacobianA . velocity(bodyA[b]) + jacobianB . velocity(bodyB[b]) + ...
typedef struct tpFrictionBodies {
    int bodyCount;
    int componentCount;        // velocities of a body, 1 to 6
    const double* inverseMass; // bodyCount blocks of componentCount x componentCount, row by row,
                               // symmetric
    const int* bodyA;          // for each block; -1 for the world
    const int* bodyB;
    const double* jacobianA; // for each row of the problem, `componentCount` numbers
    const double* jacobianB;
    // Rows that act on further bodies, as couplings of joints do: those of row i are
    // firstTerms[i] to firstTerms[i + 1]. NULL: there are none. Read of a `mechanism` alone.
    const int* firstTerms;
    const int* termBodies;
    const double* termJacobians; // for each of them, `componentCount` numbers
} tpFrictionBodies;

typedef struct tpFrictionProblem {
    int blockCount;
    int dimension;              // rows of every block, if `dimensions` is NULL
    const int* dimensions;      // rows of each block, 1 to 6, or NULL
    const unsigned char* kinds; // tpFrictionKind of each block, or NULL: all cones
    const double* mu;           // of each block (read for cones only), >= 0
    const double* scale;      // of each row, or NULL for ones: semi-axes of elliptic cones (below)
    const double* compliance; // of each row, or NULL: added to the diagonal of W, >= 0
    const double* q;          // velocity without impulses, of each row
    const tpMatrix* W;        // square, or NULL if `bodies` is given
    const tpFrictionBodies* bodies;
    const tpFrictionBodies* mechanism; // or NULL: the bodies that W comes from, if W is given;
                                       // joints
                                       // are eliminated along them
} tpFrictionProblem;

// Elliptic, torsional and rolling friction: the limit (r_t/e_t)^2 + (r_o/e_o)^2 + (r_r/e_r)^2 <=
// mu^2 r_N^2 with the friction of greatest dissipation in it is the circular cone for r_i / e_i and
// e_i u_i. Put e_t, e_o, e_r (metres) into `scale` at the friction rows and 1 at the others; they
// must be positive. Residuals are those of the scaled rows; r and u stay in the caller's units.

// Rows of the whole problem.
TP_API int tpFriction_RowCount(const tpFrictionProblem* problem);

// Checks sizes, signs and finiteness. tp_success, or tp_badInput with a message.
TP_API tpResult tpFriction_Check(const tpFrictionProblem* problem, tpError* error);

// The judge -----------------------------------------------------------------------------------

// How far r is from a solution, computed from the problem alone. Input that is not finite gives
// infinities.
typedef struct tpFrictionResidual {
    double natural;    // scale-free natural map, e3: `velocity` / |q| (or / 1 if q = 0)
    double plain;      // |r - P_K(r - u_hat)| / max(|q|, |r|, |u|), mixes units
    double velocity;   // sqrt(sum over blocks |(r - P_K(r - rho u_hat)) / rho|^2), in units of u
    double cone;       // largest of |r_T| - mu r_N and -r_N, in units of r
    double separation; // largest -u_N of contacts and |u| of joints, in units of u
    double complementarity; // largest |r_N u_N|
    double dissipation;     // sum of mu r_N |u_T| + r_T . u_T: zero at a solution
} tpFrictionResidual;

// In `velocity`, rho = rows / trace(W_cc) of each block (1 where the trace is zero).
// Also writes u = W r + q (one number per row). False if memory ran out.
TP_API bool tpFriction_Judge(const tpFrictionProblem* problem, const double* r, double* u,
                             tpSolverMemory* memory, tpFrictionResidual* residual);

// Adds M^-1 J^T r to the bodies' velocities (bodyCount x componentCount), for problems given by
// bodies.
TP_API void tpFriction_ApplyImpulses(const tpFrictionProblem* problem, const double* r,
                                     double* velocity);

// One contact ---------------------------------------------------------------------------------

// Solves a single cone block exactly: A (rows x rows, row by row, need not be symmetric), b its
// velocity without impulse; r receives the solution. False if A has no positive normal entry or a
// number is not finite; r is then zero.
TP_API bool tpFriction_SolveOne(int rows, const double* A, const double* b, double mu, double* r);

// Solvers -------------------------------------------------------------------------------------
// All start from the given r (zeros if nothing is known), write the best r they found and its
// velocities u = W r + q (u may be NULL), and return the report's status (report may be NULL).
// report.residual is `natural` of the judge, report.plainResidual is `plain`. The parts of a
// problem that do not touch (islands) are solved one by one.

typedef struct tpFrictionOptions {
    double tolerance;         // of residual.natural; default 1e-8
    double velocityTolerance; // of residual.velocity: reaching either is enough; default 0, unused
    double enough;      // of residual.velocity: once it is reached, the solve spends a little more
                        // work to meet the other tolerances, and counts as solved in any case;
                        // default 0, unused
    double workLimit;   // multiply-adds after which it stops; default 2e11
    int iterationLimit; // of one solver on one island; 0: its own choice
    double localProximal; // Gauss-Seidel: weight, of each block's mean diagonal; default 0.1
    double proximalStart; // proximal points: first weight times |q| / residual, in units of
                          // the mean diagonal of W; default 0.1
    double slack;         // how far q may be changed, in units of u, if the rows of closed contacts
                          // contradict each other; default 0: not at all
    double* shift; // receives what was added to q, one number per row; needed for `slack`. The
                   // report and u are those of the changed q
    const volatile sig_atomic_t* stop; // not NULL and pointing to a nonzero number: the solve ends
                                       // with the best r so far.
                                       // A signal handler or another thread may set it
    bool isSwept;   // r comes from sweeps enough: no more are made before Newton's method begins
    bool isUntimed; // the report's seconds stay zero: a clock costs as much as a small solve
} tpFrictionOptions;

TP_API tpFrictionOptions tpDefaultFrictionOptions(void);

// The portfolio: chooses, watches the contraction, escalates (friction_portfolio.c). NULL options
// mean the defaults.
TP_API tpSolveStatus tpFriction_Solve(const tpFrictionProblem* problem,
                                      const tpFrictionOptions* options, tpSolverMemory* memory,
                                      double* r, double* u, tpSolveReport* report);

// The table of solvers, by name; the first is "auto", the portfolio.
typedef struct tpFrictionSolver {
    const char* name;    // "gauss-seidel"
    const char* summary; // one line
    tpSolveStatus (*solve)(const tpFrictionProblem* problem, const tpFrictionOptions* options,
                           tpSolverMemory* memory, double* r, double* u, tpSolveReport* report);
} tpFrictionSolver;

TP_API const tpFrictionSolver* tpFrictionSolvers(int* count);
TP_API const tpFrictionSolver* tpFrictionSolver_Find(const char* name); // NULL if there is none

// Problems of a run ---------------------------------------------------------------------------

// A friction problem of a step of a world, and the result of its solve. The arrays are valid during
// the call of the hook.
typedef struct tpPosedProblem {
    const tpFrictionProblem* problem;
    const double* start;   // impulses that the solve began with, one per row
    const double* impulse; // and ended with
    double residual;       // `natural` of the judge, but relative to 1e-6 at least (in units of u)
    bool isSolved;         // to the tolerance that was asked
    double time;           // of the world at the start of the step, s
    long long step;        // steps before this one
    int index;             // solves of the step before this one
} tpPosedProblem;

// Called after every solve of a step; see tpWorld_SetProblemHook.
typedef void (*tpProblemHook)(const tpPosedProblem* posed, void* context);

// The global form -----------------------------------------------------------------------------

// M v = f + H r, u = H^T v + w: reduced to W = H^T M^-1 H and q = H^T M^-1 f + w. The arrays belong
// to the result until tpFrictionGlobal_Destroy.
typedef struct tpFrictionGlobal {
    tpAllocator allocator;
    tpMatrix W; // sparse
    double* q;
    double* velocity; // M^-1 f: the velocity without impulses
    void* memory;     // what the arrays lie in
    size_t memorySize;
} tpFrictionGlobal;

// tp_success, tp_badInput (sizes, singular M), tp_outOfMemory.
TP_API tpResult tpFriction_ReduceGlobal(const tpMatrix* M, const tpMatrix* H, const double* f,
                                        const double* w, const tpAllocator* allocator,
                                        tpFrictionGlobal* reduced, tpError* error);
TP_API void tpFrictionGlobal_Destroy(tpFrictionGlobal* reduced);

TP_END_DECLS

#endif
