// The linear system of a Newton step, with W or by bodies.
//
// Every block in play has a linearised law  A_i (du_i + weight dr_i) + B_i dr_i = -F_i,  the others
// dr_i = -F_i; and du = W dr.
//
// With W the blocks in play are the unknowns: A_i W_ij + (weight A_i + B_i) delta_ij. By bodies,
// W = G G^T and dv = G^T dr, the impulses are eliminated: with C_i = weight A_i + B_i,
//
//     (I + sum G_i^T C_i^-1 A_i G_i) dv = -sum G_i^T C_i^-1 F_i (+ G_i^T dr_i of blocks out),
//     dr_i = -C_i^-1 (F_i + A_i G_i dv),
//
// a system as large as the bodies, however many contacts hold them. weight > 0 keeps C_i regular.

#ifndef TIPPE_SRC_COMPLEMENTARITY_FRICTION_LINEAR_H
#define TIPPE_SRC_COMPLEMENTARITY_FRICTION_LINEAR_H

#include "complementarity/friction_island.h"
#include "complementarity/friction_law.h"

// The law of a block has rows x rows numbers for each of A and B, row by row; of the largest block
// so many.
enum { TP_LAW = TP_FRICTION_MAX_ROWS * TP_FRICTION_MAX_ROWS };

typedef struct tpFrictionLinear {
    const tpFrictionIsland* island;
    int lawStride; // numbers between the laws of two blocks: those of the island's largest block
    tpBlockMatrix matrix;
    double* values; // of the matrix
    double weight;  // that it was made with
    tpBlockLu factor;

    // By bodies.
    // Not NULL: laws of blocks that need no A and B. Newton's method finds them anew in every step.
    tpFrictionLaw* laws;
    int* couple;        // for each block, where its bodies' blocks (aa, ab, ba, bb) begin in values
    double* inverse;    // C^-1 of each block
    double* response;   // C^-1 A of each block
    double* bodyChange; // dv
    bool* allInPlay;
} tpFrictionLinear;

bool tpFrictionLinear_Create(tpFrictionLinear* linear, const tpFrictionIsland* island,
                             tpArena* arena);

// Multiply-adds of a step with all blocks in play. Negative if memory ran out.
double tpFrictionLinear_Work(tpFrictionLinear* linear, const bool* inPlay);

// Factorises the matrix. Blocks whose law is plain have no A and B. False if memory ran out.
bool tpFrictionLinear_Factorise(tpFrictionLinear* linear, const bool* inPlay, const double* A,
                                const double* B, double weight);

// Finds dr for a right side, with the factors. `scratch` has the island's rows.
void tpFrictionLinear_SolveFor(tpFrictionLinear* linear, const bool* inPlay, const double* A,
                               const double* F, double* step, double* scratch);

#endif
