#include "dynamics/decompression.h"

#include <string.h>

// Whether friction acts while a block gives back its load.
static bool hasDisc(const tpRows* rows, const double* loads, int block) {
    return loads[block] > 0.0 && rows->dimensions[block] > 1;
}

// A block with a fixed load and the friction directions of another.
static void addDisc(tpRows* rows, const tpSystem* system, int source, double load) {
    int dimension = rows->dimensions[source];
    int block = tpRows_AddBlock(rows, system, rows->infos[source], tp_frictionCone, dimension,
                                rows->givenA[source], rows->givenB[source]);
    int to = rows->firstRows[block], from = rows->firstRows[source];
    rows->mu[block] = rows->mu[source];
    rows->compliance[to] = 1.0 / rows->massUnit;
    rows->bias[to] = -load / rows->massUnit;
    size_t componentCount = (size_t)rows->componentCount, frictionCount = (size_t)(dimension - 1);
    size_t bytes = sizeof(double) * componentCount * frictionCount;
    memcpy(rows->jacobianA + componentCount * (size_t)(to + 1),
           rows->jacobianA + componentCount * (size_t)(from + 1), bytes);
    memcpy(rows->jacobianB + componentCount * (size_t)(to + 1),
           rows->jacobianB + componentCount * (size_t)(from + 1), bytes);
    memcpy(rows->scale + to + 1, rows->scale + from + 1, sizeof(double) * frictionCount);
}

tpDecompression tpDecompression_Begin(tpRows* rows, const tpSystem* system, const double* loads,
                                      tpVelocity* pushed) {
    tpDecompression decompression = { loads, rows->blockCount, rows->rowCount };
    memset(rows->impulse, 0, sizeof(double) * (size_t)rows->rowCount);
    for (int b = 0; b < decompression.blockCount; ++b) {
        rows->impulse[rows->firstRows[b]] = loads[b];
    }
    tpRows_ApplyImpulses(rows, pushed);
    memset(rows->impulse, 0, sizeof(double) * (size_t)rows->rowCount);
    for (int b = 0; b < decompression.blockCount; ++b) {
        if (hasDisc(rows, loads, b)) {
            addDisc(rows, system, b, loads[b]);
        }
    }
    return decompression;
}

void tpDecompression_End(const tpDecompression* decompression, tpRows* rows) {
    int disc = decompression->blockCount;
    for (int b = 0; b < decompression->blockCount; ++b) {
        double* impulse = rows->impulse + rows->firstRows[b];
        if (hasDisc(rows, decompression->loads, b)) {
            const double* friction = rows->impulse + rows->firstRows[disc++];
            for (int k = 1; k < rows->dimensions[b]; ++k) {
                impulse[k] += friction[k];
            }
        }
        impulse[0] += decompression->loads[b];
    }
    rows->blockCount = decompression->blockCount;
    rows->rowCount = decompression->rowCount;
}
