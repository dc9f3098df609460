// The second half of an impact by Poisson's law [AnitescuPotra97, sec. 4].
//
// Compression ends with n.v_c >= 0 as if bodies did not bounce. Decompression then gives back at
// least the part e of each compression impulse c,
//
//     M (v+ - v_c) = n (e c + x) + D beta,   0 <= x complementary to n.v+ >= 0
//
// with beta in the friction cone of e c + x. That cone is the sum of a disc of radius mu e c and of
// the cone of x. Both oppose the same sliding, so that each is a block of its own and the sum of
// the two is the friction.

#ifndef TIPPE_SRC_DYNAMICS_DECOMPRESSION_H
#define TIPPE_SRC_DYNAMICS_DECOMPRESSION_H

#include "dynamics/rows.h"

typedef struct tpDecompression {
    const double* loads;      // e c of each block; 0 if it gives nothing back
    int blockCount, rowCount; // before the discs
} tpDecompression;

// Clears all impulses of rows that have been solved for compression, adds the impulses `loads`, one
// per block, to the velocities `pushed`, and a disc for the friction that each of them allows.
// There must be room for a second block per contact.
tpDecompression tpDecompression_Begin(tpRows* rows, const tpSystem* system, const double* loads,
                                      tpVelocity* pushed);

// After the rows have been solved from `pushed`: takes the discs out, and makes the impulses of the
// others those of all decompression.
void tpDecompression_End(const tpDecompression* decompression, tpRows* rows);

#endif
