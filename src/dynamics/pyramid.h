// The friction cone cut to a pyramid: rows as a linear complementarity problem.
//
// A contact's friction impulse is a sum of nonnegative multiples of directions, r_T = D beta, with
// sum(beta) <= mu c_n and lambda the sliding speed [StewartTrinkle96, (12)-(14)]:
//
//     0 <= c_n     complementary to  u_n >= 0
//     0 <= beta_i  complementary to  d_i . u + lambda >= 0
//     0 <= lambda  complementary to  mu c_n - sum(beta) >= 0
//
// Directions are the corners of a regular polygon, the first along the first tangent; scaled along the
// axes of an elliptic cone; a torsional row adds a direction each way. Joint rows are free variables.

#ifndef TIPPE_SRC_DYNAMICS_PYRAMID_H
#define TIPPE_SRC_DYNAMICS_PYRAMID_H

#include "dynamics/rows.h"
#include "tippe/lcp.h"

typedef struct tpPyramidResult {
    double residual; // judged, the largest over the islands
    int islandCount, pivotCount, failureCount;
    int rowCount; // of the largest island's LCP
} tpPyramidResult;

// Solves the rows island by island; writes rows->impulse. `justLemke`: one run of Lemke's method each,
// not the whole portfolio. False where memory ran out.
bool tpPyramid_Solve(tpRows* rows, tpArena* arena, tpSolverMemory* memory, int directionCount,
                     double tolerance, bool justLemke, tpPyramidResult* result);

#endif
