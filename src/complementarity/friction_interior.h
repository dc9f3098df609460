// What the path of interior points and the systems of its steps share.
//
// Rows are those of the island that carry something, in units in which all cones are Lorentz':
// r = size unit x. A step solves  (T P + W^-2) dx = rhs,  by a dense matrix if the island is small
// and has W, by blocks of contacts or bodies if not.

#ifndef TIPPE_SRC_COMPLEMENTARITY_FRICTION_INTERIOR_H
#define TIPPE_SRC_COMPLEMENTARITY_FRICTION_INTERIOR_H

#include <math.h>

#include "complementarity/friction_linear.h"
#include "complementarity/lorentz.h"

typedef enum tpInteriorState {
    tp_interiorFree,
    tp_interiorOpen,
    tp_interiorSticking,
    tp_interiorSliding
} tpInteriorState;

typedef struct tpInteriorPart {
    int row, rows;
    int block, first; // block of the island, and its row there
    bool isFree;
    tpInteriorState state;
    tpLorentzScaling scaling;
} tpInteriorPart;

// The linear system by blocks.
typedef struct tpInteriorBlocks {
    tpFrictionLinear linear;
    bool* inPlay;
    double *A, *B; // laws of the blocks, as friction_linear.h has them
    double *F, *step, *scratch;
    double work; // of a step
} tpInteriorBlocks;

typedef struct tpInterior {
    tpFrictionIsland* island;
    int n;
    int partCount, coneCount;
    tpInteriorPart* parts;
    int* source;  // row of the island of each row
    double* unit; // r = size unit x
    double size;
    double most;   // x beyond this is a jam, not a solution
    double length; // of the last step
    double *x, *y, *u, *dx, *dy, *g, *F, *rhs;
    double* slope;        // of |u_T| along each row: T = I + e_0 slope'
    double *r, *velocity; // of the island
    bool isDense;
    // Dense.
    double* P; // row by row
    double* M;
    int* pivots;
    double* c;
    double* kept; // x while the states are tried
    // By blocks.
    tpInteriorBlocks blocks;
} tpInterior;

// |x_T| of a cone.
static inline double tpInterior_TailNorm(int rows, const double* x) {
    double sum = 0.0;
    for (int i = 1; i < rows; ++i) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

// Multiply-adds of a step with n dense rows.
static inline double tpInterior_DenseWork(int n) {
    return (double)n * n * (n / 3.0 + 8.0);
}

// friction_interior.c

// u = P x + c.
void tpInterior_FindVelocities(tpInterior* interior);

// Offers the island the point for x: the projection of x - y, which puts on the border what belongs
// there; y may be NULL. Whether it is better than what the island had.
bool tpInterior_Offer(tpInterior* interior, const double* y);

// friction_interior_states.c: of dense islands

// Open, sticking or sliding, as x and y have it. Returns how many changed.
int tpInteriorStates_Guess(tpInterior* interior);

// Offers the solution in the states that x and y suggest. x and u stay.
void tpInteriorStates_Try(tpInterior* interior);

// friction_interior_blocks.c: islands by blocks

// False if memory ran out.
bool tpInteriorBlocks_Create(tpInterior* interior, tpArena* arena);

// u for x.
void tpInteriorBlocks_FindVelocities(tpInterior* interior);

// Factorises the matrix for the scalings and slopes. False if memory ran out.
bool tpInteriorBlocks_Factorise(tpInterior* interior);

// dx for rhs.
void tpInteriorBlocks_Solve(tpInterior* interior);

#endif
