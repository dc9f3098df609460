// Bodies cut into blocks of neighbours.

#ifndef TIPPE_SRC_SWEEPS_BLOCKS_H
#define TIPPE_SRC_SWEEPS_BLOCKS_H

#include "tippe/math.h"

// How many blocks serve that many bodies: small enough for a nearer cache and for many threads,
// large enough that few contacts lie between them and runs are full. It does not depend on the
// machine.
int tpBlockCountFor(int bodyCount);

// A body and where it is; 32 bytes, side by side: a list of numbers would be sorted by places all
// over memory.
typedef struct tpBlockBody {
    double place[3];
    int32_t body;
} tpBlockBody;

// Orders bodies so that those of one block stand together; `firsts` receives the first of each
// block, and the end. Blocks are found by halving along the longest side, and have as many bodies
// each.
void tpCutBlocks(tpBlockBody* bodies, int bodyCount, int blockCount, int32_t* firsts);

#endif
