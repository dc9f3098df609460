// Lanes of runs: cleared, copied, and what a run says of all its lanes.

#include "sweeps/soft_pack.h"

// Rows of floats that a pack begins with.
static const size_t floatRows = offsetof(tpSoftPack, isPoint) / (tp_packWidth * sizeof(float));

// Rows of floats of its lanes that a run has.
static const size_t runFloatRows = (offsetof(tpSoftRun, approach) - offsetof(tpSoftRun, muStatic)) /
                                       (tp_packWidth * sizeof(float)) +
                                   1;

void tpSoftRun_Summarise(tpSoftRun* run) {
    run->count = 0;
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        run->count = run->points[lane] > run->count ? run->points[lane] : run->count;
    }
    run->isFlat = run->uneven == 0;
    run->isRound = run->unround == 0;
    run->bounces = run->elastic != 0;
    run->strikes = false;
    for (int lane = 0; run->bounces && lane < tp_packWidth; ++lane) {
        run->strikes = run->strikes || run->restitution[lane] >= tp_strikingRestitution;
    }
}

static void clearLane(tpSoftPack* pack, int lane) {
    // All but the last rows are floats, doubles or whole numbers of which zero is zero.
    float* floats = &pack->normal[0][0];
    for (size_t k = 0; k < floatRows; ++k) {
        floats[k * tp_packWidth + (size_t)lane] = 0.0f;
    }
    pack->load[lane] = 0.0;
    for (int k = 0; k < 3; ++k) {
        pack->impulse[k][lane] = pack->total[k][lane] = 0.0;
    }
    pack->isPoint[lane] = -1;
    pack->feature[lane] = 0;
}

static void clearTorsion(tpSoftTorsion* torsion, int lane) {
    torsion->impulse[lane] = torsion->total[lane] = 0.0;
    torsion->arm[lane] = torsion->coupling[lane] = 0.0f;
    for (int k = 0; k < 6; ++k) {
        torsion->friction[k][lane] = 0.0f;
    }
}

void tpSoftRun_ClearLane(tpSoftRun* run, int lane) {
    unsigned bit = 1u << lane;
    run->uneven = (uint8_t)(run->uneven & ~bit);
    run->unround = (uint8_t)(run->unround & ~bit);
    run->elastic = (uint8_t)(run->elastic & ~bit);
    run->stale = (uint8_t)(run->stale & ~bit);
    run->torsional = (uint8_t)(run->torsional & ~bit);
    run->points[lane] = 0;
    run->muStatic[lane] = run->muDynamic[lane] = run->restitution[lane] = 0.0f;
    run->share[lane] = run->slack[lane] = run->slip[lane] = 0.0f;
    run->turn[lane] = run->tilt[lane] = run->size[lane] = run->age[lane] = 0.0f;
    run->radiusA[lane] = run->radiusB[lane] = 0.0;
    run->incident[0][lane] = run->incident[1][lane] = run->incident[2][lane] = 0.0f;
    for (int k = 0; k < run->room; ++k) {
        clearLane(&run->packs[k], lane);
        if (run->torsions != NULL) {
            clearTorsion(&run->torsions[k], lane);
        }
    }
    tpSoftRun_Summarise(run);
}

void tpSoftRun_CopyLane(const tpSoftRun* from, int fromLane, tpSoftRun* to, int toLane) {
    unsigned oldBit = 1u << fromLane, newBit = 1u << toLane;
    for (int k = 0; k < from->points[fromLane]; ++k) {
        const tpSoftPack *a = &from->packs[k], *frame = &from->packs[from->isFlat ? 0 : k];
        tpSoftPack* b = &to->packs[k];
        const float* floats = &a->normal[0][0];
        float* others = &b->normal[0][0];
        for (size_t row = 0; row < floatRows; ++row) {
            others[row * tp_packWidth + (size_t)toLane] =
                floats[row * tp_packWidth + (size_t)fromLane];
        }
        for (int i = 0; i < 3; ++i) {
            b->impulse[i][toLane] = a->impulse[i][fromLane];
            b->total[i][toLane] = a->total[i][fromLane];
            b->normal[i][toLane] = frame->normal[i][fromLane];
            b->tangents[0][i][toLane] = frame->tangents[0][i][fromLane];
            b->tangents[1][i][toLane] = frame->tangents[1][i][fromLane];
        }
        b->load[toLane] = a->load[fromLane];
        b->isPoint[toLane] = a->isPoint[fromLane];
        b->feature[toLane] = a->feature[fromLane];
    }
    for (int k = 0; from->torsions != NULL && to->torsions != NULL && k < from->points[fromLane];
         ++k) {
        const tpSoftTorsion* a = &from->torsions[k];
        tpSoftTorsion* b = &to->torsions[k];
        b->impulse[toLane] = a->impulse[fromLane];
        b->total[toLane] = a->total[fromLane];
        b->arm[toLane] = a->arm[fromLane];
        b->coupling[toLane] = a->coupling[fromLane];
        for (int i = 0; i < 6; ++i) {
            b->friction[i][toLane] = a->friction[i][fromLane];
        }
    }
    to->points[toLane] = from->points[fromLane];
    to->muStatic[toLane] = from->muStatic[fromLane];
    to->muDynamic[toLane] = from->muDynamic[fromLane];
    to->restitution[toLane] = from->restitution[fromLane];
    to->share[toLane] = from->share[fromLane];
    to->slack[toLane] = from->slack[fromLane];
    to->slip[toLane] = from->slip[fromLane];
    to->turn[toLane] = from->turn[fromLane];
    to->tilt[toLane] = from->tilt[fromLane];
    to->size[toLane] = from->size[fromLane];
    to->age[toLane] = from->age[fromLane];
    to->radiusA[toLane] = from->radiusA[fromLane];
    to->radiusB[toLane] = from->radiusB[fromLane];
    for (int i = 0; i < 3; ++i) {
        to->incident[i][toLane] = from->incident[i][fromLane];
    }
    to->stale = (uint8_t)(to->stale | ((from->stale & oldBit) != 0 ? newBit : 0));
    to->unround = (uint8_t)(to->unround | ((from->unround & oldBit) != 0 ? newBit : 0));
    to->elastic = (uint8_t)(to->elastic | ((from->elastic & oldBit) != 0 ? newBit : 0));
    to->torsional = (uint8_t)(to->torsional | ((from->torsional & oldBit) != 0 ? newBit : 0));
    tpSoftRun_SetUneven(to, toLane, (from->uneven & oldBit) != 0);
    tpSoftRun_Summarise(to);
}

static void copyFrame(const tpSoftPack* from, tpSoftPack* to, int lane) {
    for (int k = 0; k < 3; ++k) {
        to->normal[k][lane] = from->normal[k][lane];
        to->tangents[0][k][lane] = from->tangents[0][k][lane];
        to->tangents[1][k][lane] = from->tangents[1][k][lane];
    }
}

// While a run is flat only the frames of its first pack are kept up to date.
static void spreadFrame(tpSoftRun* run, int lane) {
    for (int k = 1; k < run->points[lane]; ++k) {
        copyFrame(run->packs, &run->packs[k], lane);
    }
}

void tpSoftRun_SetUneven(tpSoftRun* run, int lane, bool isUneven) {
    unsigned bit = 1u << lane;
    bool wasFlat = run->uneven == 0;
    run->uneven = (uint8_t)(isUneven ? run->uneven | bit : run->uneven & ~bit);
    for (int other = 0; wasFlat && isUneven && other < tp_packWidth; ++other) {
        if (other != lane) {
            spreadFrame(run, other);
        }
    }
}

static void exchangeFloats(float* a, float* b) {
    float c = *a;
    *a = *b;
    *b = c;
}

static void exchangeDoubles(double* a, double* b) {
    double c = *a;
    *a = *b;
    *b = c;
}

static void exchangeInts(int32_t* a, int32_t* b) {
    int32_t c = *a;
    *a = *b;
    *b = c;
}

static void exchangePack(tpSoftPack* a, int i, tpSoftPack* b, int k) {
    float *floats = &a->normal[0][0], *others = &b->normal[0][0];
    for (size_t row = 0; row < floatRows; ++row) {
        exchangeFloats(&floats[row * tp_packWidth + (size_t)i],
                       &others[row * tp_packWidth + (size_t)k]);
    }
    for (int axis = 0; axis < 3; ++axis) {
        exchangeDoubles(&a->impulse[axis][i], &b->impulse[axis][k]);
        exchangeDoubles(&a->total[axis][i], &b->total[axis][k]);
    }
    exchangeDoubles(&a->load[i], &b->load[k]);
    exchangeInts(&a->isPoint[i], &b->isPoint[k]);
    uint64_t feature = a->feature[i];
    a->feature[i] = b->feature[k];
    b->feature[k] = feature;
}

static void exchangeTorsion(tpSoftTorsion* a, int i, tpSoftTorsion* b, int k) {
    exchangeDoubles(&a->impulse[i], &b->impulse[k]);
    exchangeDoubles(&a->total[i], &b->total[k]);
    exchangeFloats(&a->arm[i], &b->arm[k]);
    exchangeFloats(&a->coupling[i], &b->coupling[k]);
    for (int row = 0; row < 6; ++row) {
        exchangeFloats(&a->friction[row][i], &b->friction[row][k]);
    }
}

static void exchangeBits(uint8_t* a, int i, uint8_t* b, int k) {
    unsigned bitA = *a >> i & 1u, bitB = *b >> k & 1u;
    *a = (uint8_t)((*a & ~(1u << i)) | bitB << i);
    *b = (uint8_t)((*b & ~(1u << k)) | bitA << k);
}

void tpSoftRun_ExchangeLanes(tpSoftRun* a, int i, tpSoftRun* b, int k) {
    if (a->uneven == 0) {
        spreadFrame(a, i);
    }
    if (b->uneven == 0) {
        spreadFrame(b, k);
    }
    int points = a->points[i] > b->points[k] ? a->points[i] : b->points[k];
    for (int p = 0; p < points; ++p) {
        exchangePack(&a->packs[p], i, &b->packs[p], k);
        if (a->torsions != NULL) {
            exchangeTorsion(&a->torsions[p], i, &b->torsions[p], k);
        }
    }
    exchangeInts(&a->bodyA[i], &b->bodyA[k]);
    exchangeInts(&a->bodyB[i], &b->bodyB[k]);
    exchangeInts(&a->slots[i], &b->slots[k]);
    uint8_t* masks[2][7] = {
        { &a->used, &a->movesA, &a->movesB, &a->stale, &a->unround, &a->elastic, &a->torsional },
        { &b->used, &b->movesA, &b->movesB, &b->stale, &b->unround, &b->elastic, &b->torsional },
    };
    for (int m = 0; m < 7; ++m) {
        exchangeBits(masks[0][m], i, masks[1][m], k);
    }
    uint8_t count = a->points[i];
    a->points[i] = b->points[k];
    b->points[k] = count;
    float *floats = a->muStatic, *others = b->muStatic;
    for (size_t row = 0; row < runFloatRows; ++row) {
        exchangeFloats(&floats[row * tp_packWidth + (size_t)i],
                       &others[row * tp_packWidth + (size_t)k]);
    }
    exchangeDoubles(&a->radiusA[i], &b->radiusA[k]);
    exchangeDoubles(&a->radiusB[i], &b->radiusB[k]);
    bool isUnevenA = a->uneven >> i & 1, isUnevenB = b->uneven >> k & 1;
    tpSoftRun_SetUneven(a, i, isUnevenB);
    tpSoftRun_SetUneven(b, k, isUnevenA);
    tpSoftRun_Summarise(a);
    tpSoftRun_Summarise(b);
}
