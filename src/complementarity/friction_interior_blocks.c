// The linear system of interior points by blocks of contacts or bodies.
//
// With dr = size U dx and du = W dr,
//
//     T U du + W^-2 U^-1 dr = size rhs,
//
// a linearised law of each contact: A = T U, B = W^-2 U^-1. By bodies the system is as large as
// they are, however many contacts hold them.

#include <string.h>

#include "complementarity/friction_interior.h"
#include "complementarity/friction_solvers.h"

// What keeps blocks that hold (A = I, B = 0) regular, in units of the mean diagonal of W.
static const double regularisation = 1e-9;

// Products, solves and scalings of a step, in sweeps.
static const double sweepsPerStep = 3.0;

bool tpInteriorBlocks_Create(tpInterior* interior, tpArena* arena) {
    tpInteriorBlocks* blocks = &interior->blocks;
    const tpFrictionIsland* island = interior->island;
    blocks->inPlay = TP_SCRATCH(arena, bool, island->blockCount);
    if (!tpFrictionLinear_Create(&blocks->linear, island, arena)) {
        return false;
    }
    blocks->A = TP_SCRATCH(arena, double, island->blockCount * blocks->linear.lawStride);
    blocks->B = TP_SCRATCH(arena, double, island->blockCount * blocks->linear.lawStride);
    blocks->F = TP_SCRATCH_ZEROED(arena, double, island->rowCount);
    blocks->step = TP_SCRATCH(arena, double, island->rowCount);
    blocks->scratch = TP_SCRATCH(arena, double, island->rowCount);
    if (arena->failed) {
        return false;
    }
    for (int b = 0; b < island->blockCount; ++b) {
        blocks->inPlay[b] = true;
    }
    blocks->work = tpFrictionLinear_Work(&blocks->linear, blocks->inPlay) +
                   sweepsPerStep * tpFrictionIsland_SweepWork(island);
    return blocks->work > 0.0;
}

void tpInteriorBlocks_FindVelocities(tpInterior* interior) {
    const tpFrictionIsland* island = interior->island;
    memset(interior->r, 0, sizeof(double) * (size_t)island->rowCount);
    for (int i = 0; i < interior->n; ++i) {
        interior->r[interior->source[i]] = interior->x[i] * interior->unit[i] * interior->size;
    }
    tpFrictionIsland_Velocity(island, interior->r, interior->velocity);
    for (int i = 0; i < interior->n; ++i) {
        interior->u[i] =
            interior->velocity[interior->source[i]] * interior->unit[i] / interior->size;
    }
}

// Rows that carry nothing: r = 0.
static void writeIdle(tpInteriorBlocks* blocks, const tpFrictionIsland* island) {
    size_t stride = (size_t)blocks->linear.lawStride;
    size_t bytes = sizeof(double) * (size_t)island->blockCount * stride;
    memset(blocks->A, 0, bytes);
    memset(blocks->B, 0, bytes);
    for (int b = 0; b < island->blockCount; ++b) {
        int rows = tpFrictionIsland_Rows(island, b);
        for (int i = 0; i < rows; ++i) {
            blocks->B[(size_t)b * stride + (size_t)(i * rows + i)] = 1.0;
        }
    }
}

bool tpInteriorBlocks_Factorise(tpInterior* interior) {
    tpInteriorBlocks* blocks = &interior->blocks;
    const tpFrictionIsland* island = interior->island;
    writeIdle(blocks, island);
    for (int p = 0; p < interior->partCount; ++p) {
        const tpInteriorPart* part = &interior->parts[p];
        int rows = tpFrictionIsland_Rows(island, part->block);
        size_t law = (size_t)part->block * (size_t)blocks->linear.lawStride;
        double *A = blocks->A + law, *B = blocks->B + law;
        const double* unit = interior->unit + part->row;
        for (int i = 0; i < part->rows; ++i) {
            for (int j = 0; j < part->rows; ++j) {
                int place = (part->first + i) * rows + part->first + j;
                double slope = i == 0 && j > 0 ? interior->slope[part->row + j] : 0.0;
                A[place] = (i == j ? unit[j] : 0.0) + slope * unit[j];
                B[place] = part->isFree
                               ? 0.0
                               : tpLorentzScaling_InverseSquare(&part->scaling, i, j) / unit[j];
            }
        }
    }
    return tpFrictionLinear_Factorise(&blocks->linear, blocks->inPlay, blocks->A, blocks->B,
                                      regularisation);
}

void tpInteriorBlocks_Solve(tpInterior* interior) {
    tpInteriorBlocks* blocks = &interior->blocks;
    for (int i = 0; i < interior->n; ++i) {
        blocks->F[interior->source[i]] = -interior->size * interior->rhs[i];
    }
    tpFrictionLinear_SolveFor(&blocks->linear, blocks->inPlay, blocks->A, blocks->F, blocks->step,
                              blocks->scratch);
    for (int i = 0; i < interior->n; ++i) {
        interior->dx[i] = blocks->step[interior->source[i]] / (interior->unit[i] * interior->size);
    }
}
