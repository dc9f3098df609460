// Mechanisms as a whole: joints eliminated along the tree that they make of bodies, straight from
// the problem's own rows.
//
// A robot is one problem of hundreds of rows in joints and a few contacts. Taking it apart into
// islands and bringing its rows to a common scale costs more than solving it. Here bodies are
// brought to unit mass, G = J L with M^-1 = L L^T, and the rest is elimination along the tree of
// bodies as body_tree.h has it, with the forces f that contacts apply to bodies:
//
//     v = G_e^T x + f,     G_e v + C x + q_e = 0.
//
// Contacts feel p + S r of it; that small problem goes to the same solvers as in
// friction_condensed.c. A drive (a cone of two rows whose normal row touches nothing) holds like a
// joint as long as it is within its bound, and joins the contacts if it is not. Joints that close
// loops and couplings of joints are cut: friction_tree_cut.c takes them out of S.

#ifndef TIPPE_SRC_COMPLEMENTARITY_FRICTION_TREE_H
#define TIPPE_SRC_COMPLEMENTARITY_FRICTION_TREE_H

#include "complementarity/friction_island.h"

typedef struct tpFrictionTree tpFrictionTree;

// The tree of a problem given by bodies with six velocities; NULL if it is none, if it has more
// rows of contacts than of joints, or if memory ran out (the arena says so). It stays with the
// memory (friction_tree_keep.c); problem and arena must last until its solve is over.
tpFrictionTree* tpFrictionTree_Create(const tpFrictionProblem* problem, tpSolverMemory* memory);
void tpFrictionTrees_Destroy(tpFrictionTree* trees);

// Whether joints and drives of a problem close no loop and have more rows than its contacts. Cheap.
bool tpFrictionTree_Suits(const tpFrictionProblem* problem, tpSolverMemory* memory);

// Solves to a residual of about `goal` (units of velocity) from the impulses r, which become the
// answer. Contacts that carry nothing to begin with and are not approached stay out of it. False if
// it is not found, or memory ran out; r is then undefined.
bool tpFrictionTree_Solve(tpFrictionTree* tree, const tpFrictionOptions* options, double goal,
                          double* r, int* iterations, double* work);

// Corrects impulses of joints by the velocities u = W r + q that they have left.
void tpFrictionTree_Refine(tpFrictionTree* tree, const double* u, double* r);

#endif
