// The friction cone cut to a pyramid: rows as a linear complementarity problem.
//
// A contact's friction impulse is a sum of nonnegative multiples of directions, r_T = D beta, with
// sum(beta) <= mu c_n and lambda the sliding speed [StewartTrinkle96, (12)-(14)]:
//
//     0 <= c_n     complementary to  u_n >= 0
//     0 <= beta_i  complementary to  d_i . u + lambda >= 0
//     0 <= lambda  complementary to  mu c_n - sum(beta) >= 0
//
// Directions are the corners of a regular polygon, the first along the first tangent; scaled along
// the axes of an elliptic cone; a torsional row adds a direction each way. Joint rows are free
// variables.

#ifndef TIPPE_SRC_DYNAMICS_PYRAMID_H
#define TIPPE_SRC_DYNAMICS_PYRAMID_H

#include "dynamics/rows.h"
#include "tippe/lcp.h"

typedef struct tpPyramidResult {
    double residual; // judged, the largest over the islands
    int islandCount, pivotCount, failureCount;
    double work; // multiply-adds
} tpPyramidResult;

typedef struct tpPyramidOptions {
    int directionCount;
    double tolerance; // of the judged residual
    double workLimit; // multiply-adds
    double settled;   // islands whose rows meet the true cone to this already are left alone, m/s
} tpPyramidOptions;

// Solves the rows island by island; starts from the states that rows->impulse tells of (those of
// the last step, or of another solver) and writes it. False if memory ran out.
bool tpPyramid_Solve(tpRows* rows, tpArena* arena, tpSolverMemory* memory,
                     const tpPyramidOptions* options, tpPyramidResult* result);

#endif
