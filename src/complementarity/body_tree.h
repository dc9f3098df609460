// Joints along a tree of bodies: W_ee of held blocks solved in time linear in the bodies.
//
// An island given by bodies has W = G G^T + C, bodies of unit mass in between. If the held blocks
// join the bodies without loops, the system
//
//     v = G_e^T x + f,     G_e v + C x = b
//
// is eliminated from the leaves to the root, without search and without fill. A body has an
// articulated mass M, its own and what hangs on it; the rows between it and its parent p are
// g (on the body) and g_p:
//
//     M = L L^T,   a = L^-1 g,   D = C + a^T a = K K^T,   Y = K^-1 g_p,   M_p += Y^T Y.
//
// This is the articulated-body algorithm [Featherstone08, chapter 7] in coordinates of bodies:
// all rows of a link are held at once, whatever they stand for.

#ifndef TIPPE_SRC_COMPLEMENTARITY_BODY_TREE_H
#define TIPPE_SRC_COMPLEMENTARITY_BODY_TREE_H

#include "complementarity/friction_island.h"

typedef struct tpBodyTree {
    const tpFrictionIsland* island;
    int* place;   // of each body, in the order of the others: parents first
    int* body;    // at each place
    int* parent;  // place of its parent, -1 if it has none or is joined to the world
    bool* isUnit; // nothing hangs on it: its mass is one

    // Rows between a body and its parent, as far as they are held: from firstRow on.
    int* firstBlock; // of the blocks of each place, one more at the end
    int* block;
    int* firstRow; // one more at the end
    int* row;      // of the island
    int* child;    // where g of each row begins in the island's jacobian
    int* above;    // the same of g_p, -1 if there is none

    int* firstFactor; // where K of each place begins
    double* mass;     // articulated, then L, of each place; diagonals of L inverted
    double* lower;    // a of each row
    double* upper;    // Y of each row
    double* factor;   // K by rows, diagonals inverted
    double* force;    // scratch of solves, at each place
    double* impulse;  // the same of each row
    double* velocity; // of bodies, left by the last solve
    double work;      // multiply-adds of the last factorisation
} tpBodyTree;

// Lays the tree through the blocks that may be held. `isTree` is false if they close a loop.
// Returns false if memory ran out.
bool tpBodyTree_Create(tpBodyTree* tree, const tpFrictionIsland* island, const bool* mayHold,
                       tpArena* arena, bool* isTree);

// Factorises with these blocks held. `regularisation` is added to the diagonal of W.
void tpBodyTree_Factorise(tpBodyTree* tree, const bool* isHeld, double regularisation);

// x <- W_ee^-1 x in the rows of held blocks; others are not touched. `velocity` is then G_e^T x.
void tpBodyTree_Solve(tpBodyTree* tree, double* x);

// What the rows of other blocks feel with the joints holding: S = W_cc - W_ce W_ee^-1 W_ec, by
// columns, `firstRows` being the first rows of the blocks in S. False if memory ran out.
bool tpBodyTree_Reduce(tpBodyTree* tree, int blockCount, const int* blocks, const int* firstRows,
                       tpArena* arena, double* S);

#endif
