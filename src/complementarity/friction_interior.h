// What the path of interior points and the systems of its steps share.
//
// Rows are those of the island that carry something, in units in which all cones are Lorentz':
// r = size unit x. A step solves  (T P + W^-2) dx = rhs,  by a dense matrix if the island is small
// and has W, by blocks of contacts or bodies if not.

#ifndef TIPPE_SRC_COMPLEMENTARITY_FRICTION_INTERIOR_H
#define TIPPE_SRC_COMPLEMENTARITY_FRICTION_INTERIOR_H

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
    double *F, *step, *stepVelocity;
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

// False if memory ran out.
bool tpInteriorBlocks_Create(tpInterior* interior, tpArena* arena);

// u for x.
void tpInteriorBlocks_FindVelocities(tpInterior* interior);

// Factorises the matrix for the scalings and slopes. False if memory ran out.
bool tpInteriorBlocks_Factorise(tpInterior* interior);

// dx for rhs.
void tpInteriorBlocks_Solve(tpInterior* interior);

#endif
