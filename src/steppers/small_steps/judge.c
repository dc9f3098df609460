// What a step has done: the energy that its contacts took, and the certificate of the contact law
// at the end of the last substep. Then the manifolds follow their bodies to the end of the step.

#include <string.h>

#include "steppers/small_steps/step.h"

// Runs are summed in a number of chunks that they alone decide, one after the other: the same bits
// on any number of threads.
enum { mostChunks = 64, fewRuns = 64 };

typedef struct Chunk {
    tpLaneSums sums;
    int listed;
    double deepest; // m
    double told;    // work of bodies that move as told, twice, J
} Chunk;

typedef struct Summing {
    tpSmallStep* step;
    bool isSecond; // round: ratios, and following
    double leastLoad, leastSpeed;
    Chunk* chunks;
    int chunkCount;
} Summing;

static double deepestOf(const tpSoftRun* run) {
    double deepest = 0.0;
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        if ((run->stale >> lane & 1) == 0 && run->deepest[lane] > deepest) {
            deepest = run->deepest[lane];
        }
    }
    return deepest;
}

// Twice the work that a body which moves as told does on the other one, which gets this impulse at
// a place and this moment from it.
static double workOf(const tpVelocity* twiceMean, tpVec3 arm, tpVec3 impulse, tpVec3 moment) {
    tpVec3 velocity = tpAdd(twiceMean->linear, tpCross(twiceMean->angular, arm));
    return tpDot(impulse, velocity) + tpDot(moment, twiceMean->angular);
}

static tpVec3 vectorOf(float (*parts)[tp_packWidth], int lane) {
    return tpMakeVec3(parts[0][lane], parts[1][lane], parts[2][lane]);
}

// Twice the work of bodies that move as told on those that they touch. Totals are in world axes.
static double workOfTold(const tpSmallStep* step, const tpSoftRun* run) {
    static const tpVelocity none = { 0 };
    double work = 0.0;
    unsigned lanes = run->used & ~(unsigned)(run->movesA & run->movesB);
    for (int lane = 0; lane < tp_packWidth; ++lane) {
        bool isA = (run->movesA >> lane & 1) == 0;
        const tpVelocity* told = &step->kicks[isA ? run->bodyA[lane] : run->bodyB[lane]];
        if ((lanes >> lane & 1) == 0 || tpIsSameVelocity(told, &none)) {
            continue;
        }
        for (int k = 0; k < run->points[lane]; ++k) {
            tpSoftPack* pack = &run->packs[k];
            double side = isA ? -1.0 : 1.0; // impulses are those on A
            tpVec3 impulse = tpScale(
                side, tpMakeVec3(pack->total[0][lane], pack->total[1][lane], pack->total[2][lane]));
            const tpSoftTorsion* torsion = run->torsions != NULL ? &run->torsions[k] : NULL;
            double twist = torsion != NULL ? torsion->arm[lane] * torsion->total[lane] : 0.0;
            tpVec3 normal = vectorOf(run->isFlat ? run->packs[0].normal : pack->normal, lane);
            work += workOf(told, vectorOf(isA ? pack->armA : pack->armB, lane), impulse,
                           tpScale(side * twist, normal));
        }
    }
    return work;
}

static void sumChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Summing* summing = context;
    const tpSmallStep* step = summing->step;
    const tpPackStore* store = &step->state->store;
    Chunk* out = &summing->chunks[chunk];
    memset(out, 0, sizeof(*out));
    tpRange range = tpChunkRange(store->order.count, chunk, summing->chunkCount);
    for (int r = range.begin; r < range.end; ++r) {
        tpSoftRun* run = &store->runs.data[store->order.data[r]];
        if (run->active > 0 && !summing->isSecond) {
            step->kernels->judgeRun(&step->sweep, run, &out->sums);
        } else if (run->active > 0) {
            step->kernels->ratioRun(&step->sweep, run, summing->leastLoad, summing->leastSpeed,
                                    &out->sums);
            out->told += workOfTold(step, run);
        }
        if (summing->isSecond) {
            step->kernels->followRun(&step->sweep, run);
            out->listed += run->listed;
            out->deepest = fmax(out->deepest, deepestOf(run));
        }
    }
}

// Of all contacts, in the first lane.
static tpLaneSums sumUp(Summing* summing) {
    const tpSmallStep* step = summing->step;
    bool isLarge = step->state->store.order.count > fewRuns;
    tpTasks_Run(isLarge ? step->system->tasks : NULL, sumChunk, summing, summing->chunkCount);
    tpLaneSums all;
    memset(&all, 0, sizeof(all));
    for (int c = 0; c < summing->chunkCount; ++c) {
        const tpLaneSums* chunk = &summing->chunks[c].sums;
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            all.squares[0] += chunk->squares[lane];
            all.freeSquares[0] += chunk->freeSquares[lane];
            all.normalWork[0] += chunk->normalWork[lane];
            all.frictionWork[0] += chunk->frictionWork[lane];
            all.load[0] = fmax(all.load[0], chunk->load[lane]);
            all.speed[0] = fmax(all.speed[0], chunk->speed[lane]);
            all.cone[0] = fmax(all.cone[0], chunk->cone[lane]);
            all.dissipation[0] = fmax(all.dissipation[0], chunk->dissipation[lane]);
        }
    }
    return all;
}

bool tpSmallStep_Judge(tpSmallStep* step) {
    tpStepReport* report = step->report;
    int runs = step->state->store.order.count;
    Summing summing = { .step = step, .chunkCount = runs < mostChunks ? runs : mostChunks };
    summing.chunks = TP_SCRATCH(&step->system->arena, Chunk, summing.chunkCount);
    if (summing.chunks == NULL) {
        return false;
    }
    tpLaneSums sums = sumUp(&summing);
    // Impulses times the mean of the velocities before and after.
    report->impactLoss -= 0.5 * sums.normalWork[0];
    report->frictionLoss -= 0.5 * sums.frictionWork[0];
    double size = fmax(sqrt(sums.freeSquares[0]), 1e-6 * step->system->units.speed),
           miss = sqrt(sums.squares[0]);
    summing.isSecond = true;
    summing.leastLoad = 1e-9 * sums.load[0];
    summing.leastSpeed = fmax(1e-9 * step->system->units.speed, 1e-6 * sums.speed[0]);
    sums = sumUp(&summing);
    for (int c = 0; c < summing.chunkCount; ++c) {
        step->listed += summing.chunks[c].listed;
        step->penetration = fmax(step->penetration, summing.chunks[c].deepest);
        report->externalWork += 0.5 * summing.chunks[c].told;
    }
    tpSmallStep_NoteVerdict(step, miss / size);
    bool isSolved = miss <= fmin(step->settings.tolerance, 0.5e-8 * size);
    report->solveCount += step->substeps;
    report->iterationCount += 2 * step->substeps;
    // Two sweeps per substep are what was asked for: if that is not enough nothing has failed.
    report->figures[tp_budgetEndFigure] += isSolved ? 0 : 1;
    report->converged = report->converged && isSolved;
    report->residual = fmax(report->residual, miss / size);
    report->coneViolation = fmax(report->coneViolation, sums.cone[0]);
    report->dissipationViolation = fmax(report->dissipationViolation, sums.dissipation[0]);
    return true;
}
