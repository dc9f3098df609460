// What a step has done: the energy that its contacts took, and the certificate of the contact law
// at the end of the last substep.

#include <string.h>

#include "steppers/small_steps/step.h"

// Runs are summed in a fixed number of chunks, one after the other: the same bits on any number of threads.
// Few of them are not worth waking threads for.
enum { chunkCount = 16, fewRuns = 256 };

typedef struct Summing {
    tpSmallStep* step;
    bool isRatio; // the second round
    double leastLoad, leastSpeed;
    tpLaneSums* chunks;
} Summing;

static void sumChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Summing* summing = context;
    const tpSmallStep* step = summing->step;
    tpLaneSums* sums = &summing->chunks[chunk];
    memset(sums, 0, sizeof(*sums));
    tpRange range = tpChunkRange(step->runCount, chunk, chunkCount);
    for (int r = range.begin; r < range.end; ++r) {
        const tpSoftRun* run = &step->runs[r];
        if (summing->isRatio) {
            step->wide->ratioRun(&step->sweep, run, summing->leastLoad, summing->leastSpeed, sums);
        } else {
            step->wide->judgeRun(&step->sweep, run, sums);
        }
    }
}

// Of all contacts, in the first lane.
static tpLaneSums sumUp(Summing* summing) {
    const tpSmallStep* step = summing->step;
    tpTasks* tasks = step->runCount > fewRuns ? step->system->tasks : NULL;
    tpTasks_Run(tasks, sumChunk, summing, chunkCount);
    tpLaneSums all;
    memset(&all, 0, sizeof(all));
    for (int c = 0; c < chunkCount; ++c) {
        const tpLaneSums* chunk = &summing->chunks[c];
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
    summing.chunks = TP_SCRATCH(&step->system->arena, tpLaneSums, chunkCount);
    if (summing.chunks == NULL) {
        return false;
    }
    tpLaneSums sums = sumUp(&summing);
    // Impulses times the mean of the velocities before and after.
    report->impactLoss -= 0.5 * sums.normalWork[0];
    report->frictionLoss -= 0.5 * sums.frictionWork[0];
    double size = fmax(sqrt(sums.freeSquares[0]), 1e-6), miss = sqrt(sums.squares[0]);
    summing.isRatio = true;
    summing.leastLoad = 1e-9 * sums.load[0];
    summing.leastSpeed = fmax(1e-9, 1e-6 * sums.speed[0]);
    sums = sumUp(&summing);
    bool isSolved = miss <= fmin(step->settings.tolerance, 0.5e-8 * size);
    report->solveCount += step->substeps;
    report->iterationCount += 2 * step->substeps;
    // Two sweeps per substep are what was asked for: where that is not enough nothing has failed.
    report->figures[tp_budgetEndFigure] += isSolved ? 0 : 1;
    report->converged = report->converged && isSolved;
    report->residual = fmax(report->residual, miss / size);
    report->coneViolation = fmax(report->coneViolation, sums.cone[0]);
    report->dissipationViolation = fmax(report->dissipationViolation, sums.dissipation[0]);
    return true;
}
