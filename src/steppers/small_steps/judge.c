// What a step has done: the energy that its contacts took, and the certificate of the contact law
// at the end of the last substep. Then the manifolds follow their bodies to the end of the step.

#include <string.h>

#include "steppers/small_steps/step.h"

// Runs are summed in a fixed number of chunks, one after the other: the same bits on any number of
// threads.
enum { chunkCount = 64, fewRuns = 64 };

typedef struct Chunk {
    tpLaneSums sums;
    int listed;
    double deepest; // m
} Chunk;

typedef struct Summing {
    tpSmallStep* step;
    bool isSecond; // round: ratios, and following
    double leastLoad, leastSpeed;
    Chunk* chunks;
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

static void sumChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Summing* summing = context;
    const tpSmallStep* step = summing->step;
    const tpPackStore* store = &step->state->store;
    Chunk* out = &summing->chunks[chunk];
    memset(out, 0, sizeof(*out));
    tpRange range = tpChunkRange(store->order.count, chunk, chunkCount);
    for (int r = range.begin; r < range.end; ++r) {
        tpSoftRun* run = &store->runs.data[store->order.data[r]];
        if (run->active > 0 && !summing->isSecond) {
            step->kernels->judgeRun(&step->sweep, run, &out->sums);
        } else if (run->active > 0) {
            step->kernels->ratioRun(&step->sweep, run, summing->leastLoad, summing->leastSpeed,
                                    &out->sums);
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
    tpTasks_Run(isLarge ? step->system->tasks : NULL, sumChunk, summing, chunkCount);
    tpLaneSums all;
    memset(&all, 0, sizeof(all));
    for (int c = 0; c < chunkCount; ++c) {
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
    Summing summing = { .step = step };
    summing.chunks = TP_SCRATCH(&step->system->arena, Chunk, chunkCount);
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
    for (int c = 0; c < chunkCount; ++c) {
        step->listed += summing.chunks[c].listed;
        step->penetration = fmax(step->penetration, summing.chunks[c].deepest);
    }
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
