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

// Cuts bodies into blocks of as many each, by halving along the longest side. `order` receives
// their numbers, block by block and in each ascending, `firsts` the first of each block, and the
// end. The list of bodies comes out in another order.
void tpCutBlocks(tpBlockBody* bodies, int bodyCount, int blockCount, int32_t* order,
                 int32_t* firsts);

#endif
