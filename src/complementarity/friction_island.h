// A friction problem taken apart into islands and brought to a common scale, as its solvers see it.
//
// Two blocks touch where W couples them; an island is a connected set of blocks. Inside an island
// every block is scaled so that the mean diagonal of its W_cc is one: with s_c^2 = rows /
// trace(W_cc)
//
//     r = s_c r',   u = u' / s_c,   W' = S W S,   q' = S q,
//
// which keeps cones (s_c is one number per block) and turns the step of the natural map, rho_c =
// s_c^2, into one. r' and u' are square roots of energies, so their norms mean the same for light
// and heavy bodies. The scale of elliptic cones goes into the same factor of each row.
//
// If the problem gives W, W' is kept by block columns in the pattern of W + W^T, since the
// solvers carry u along with r: a change of r_j adds column j to u. If it gives bodies, W' = G
// G^T with G = S J L, M^-1 = L L^T, is never formed: G is kept, and velocities of bodies stand
// between r and u.
//
//     column j:   k = columnStart[j] ... columnStart[j + 1] - 1
//                 block (blockRow[k], j) = values + value[k], row by row

#ifndef TIPPE_SRC_COMPLEMENTARITY_FRICTION_ISLAND_H
#define TIPPE_SRC_COMPLEMENTARITY_FRICTION_ISLAND_H

#include "complementarity/solver.h"
#include "math/block_lu.h"
#include "tippe/friction.h"

typedef struct tpFrictionIsland {
    int blockCount;
    int rowCount;
    const int* row;            // first row of each block, blockCount + 1
    const unsigned char* kind; // tpFrictionKind
    const double* mu;
    double* q;            // velocity without impulses; its contradictions may be taken out
    double* shift;        // what was added to q, of each row; used if `slack` is positive
    const double* weight; // 1 / s_c^2 of each block: turns |.|^2 of r', u' into velocities squared

    const double* diagonal; // W_bb of each block, 16 numbers apart, row by row

    tpBlockMatrix W; // by blocks; its values are NULL if the island is given by bodies

    // By bodies.
    int bodyCount;
    int componentCount;
    const int* body; // two of each block, -1 if there is none
    // G: for each row, `componentCount` numbers of the first body, then of the second
    const double* jacobian;
    const double* compliance; // of each row, scaled; NULL if there is none
    double* velocity;         // scratch: velocity components of each body

    double* r; // the iterate, and u = W r + q
    double* u;
    double tolerance; // goal for `residual`
    double residual;  // of r, in units of velocity (root of the weighted sum over blocks)
    double work;      // multiply-adds spent on it
    double workLimit; // beyond which its solver stops
    double enough;    // a residual that will do
    double grace;     // work beyond which it does
    double slack;     // how far q may be changed, in units of velocity; 0: not at all
    const volatile sig_atomic_t* stop; // of the options
    double rounding;   // the residual is known not to fall below; 0 where that is not known
    double newtonWork; // of the last step of Newton's method; 0: none yet
    bool isExhausted;  // rounding allows no better: further stages leave it alone
} tpFrictionIsland;

typedef struct tpFrictionSystem {
    int islandCount;
    tpFrictionIsland* islands;
    int blockCount;
    int rowCount;
    int* source;    // for each block of the islands in order, its number in the problem
    double* scale;  // for each row of the islands in order: r = scale r', u = u' / scale
    int* sourceRow; // for each row, its number in the problem
    double qNorm;   // |q| of the problem's scaled rows, 1 where it is zero
} tpFrictionSystem;

// From a matrix or from bodies. False if memory ran out.
bool tpFrictionSystem_Build(tpFrictionSystem* system, const tpFrictionProblem* problem,
                            tpArena* arena);

bool tpFrictionSystem_BuildByBodies(tpFrictionSystem* system, const tpFrictionProblem* problem,
                                    tpArena* arena);

// Between the problem's r and the islands'. Load also computes u and the residuals.
void tpFrictionSystem_Load(tpFrictionSystem* system, const double* r);
void tpFrictionSystem_Store(const tpFrictionSystem* system, double* r);

// u = W r + q.
void tpFrictionIsland_Velocity(const tpFrictionIsland* island, const double* r, double* u);

// At the end of its means, or good enough after some patience.
static inline bool tpFrictionIsland_IsSpent(const tpFrictionIsland* island) {
    return island->work >= island->workLimit || (island->stop != NULL && *island->stop != 0) ||
           (island->residual <= island->enough && island->work >= island->grace);
}

// Whether more than half of a step of Newton's method is beyond what may be spent.
static inline bool tpFrictionIsland_IsTooDear(const tpFrictionIsland* island, double stepWork) {
    return island->work + 0.5 * stepWork > island->workLimit;
}

// Solved, or at the end of its means.
static inline bool tpFrictionIsland_IsDone(const tpFrictionIsland* island) {
    return island->residual <= island->tolerance || tpFrictionIsland_IsSpent(island);
}

static inline bool tpFrictionIsland_IsByBodies(const tpFrictionIsland* island) {
    return island->W.values == NULL;
}

// v += G_b^T x for the bodies of a block, and y = G_b v.
void tpFrictionIsland_PushBodies(const tpFrictionIsland* island, int block, const double* x,
                                 double* velocity);
void tpFrictionIsland_ReadBodies(const tpFrictionIsland* island, int block, const double* velocity,
                                 double* y);

// y += column `block` of W times x, where W is kept.
void tpFrictionIsland_AddColumn(const tpFrictionIsland* island, int block, const double* x,
                                double* y);

// y = W x.
void tpFrictionIsland_Multiply(const tpFrictionIsland* island, const double* x, double* y);

// Square of the residual of (r, u), in units of velocity squared.
double tpFrictionIsland_ResidualSquared(const tpFrictionIsland* island, const double* r,
                                        const double* u);

// Takes over r, u where it is better than what the island has. True if it was. The first time
// that it is good enough its grace begins.
bool tpFrictionIsland_Offer(tpFrictionIsland* island, const double* r, const double* u);

void tpFrictionIsland_BeginGrace(tpFrictionIsland* island);

static inline int tpFrictionIsland_Rows(const tpFrictionIsland* island, int block) {
    return island->row[block + 1] - island->row[block];
}

// Natural map of one block, r - P_K(r - u_hat), into `map`. kind, mu as in the problem.
void tpFrictionNaturalMap(int rows, int kind, double mu, const double* r, const double* u,
                          double* map);

// Projects x on the cone of one block, in place.
void tpFrictionProject(int rows, int kind, double mu, double* x);

// Solves one block of the local problem exactly: A (rows x rows), b, kind and mu; r holds a start
// for the sliding search and receives the solution. False (r unchanged) where it has none that is
// finite.
bool tpFrictionSolveLocal(int rows, int kind, double mu, const double* A, const double* b,
                          double* r);

// The bodies of a problem, those of its mechanism if it is given by W or by that alone; NULL if it
// has none.
static inline const tpFrictionBodies* tpFriction_BodiesOf(const tpFrictionProblem* problem) {
    return problem->bodies != NULL ? problem->bodies : problem->mechanism;
}

// tpFriction_Judge, which also leaves M^-1 J^T r of all bodies if `velocity` is not NULL and the
// problem is given by bodies.
bool tpFriction_JudgeBodies(const tpFrictionProblem* problem, const double* r, double* u,
                            double* velocity, tpSolverMemory* memory, tpFrictionResidual* residual);

// Whether a problem has free blocks.
bool tpFriction_HasJoints(const tpFrictionProblem* problem);

// M^-1 J^T r of all bodies, for problems given by bodies.
void tpFriction_FindVelocities(const tpFrictionProblem* problem, const double* r, double* velocity);

#endif
