// Steps in real time: the sweeps are spread over parts of the step.
//
// A sweep does more good on a shorter step: what it leaves undone moves bodies less, and the next part sees
// it. So a step of h is taken in n parts of h / n, each with one sweep that also takes back overlaps and one
// that leaves only true velocities [MacklinEtAl19; Catto24]. Contacts are found once; their gaps follow the
// bodies' displacements, to first order. Impulses carry over from part to part and from step to step, as
// changes of the bodies' velocities: what all contacts together gave a body in one part it gets at the
// beginning of the next.
//
// Where bodies overlap the normal row is an implicit spring with damping rather than rigid: with few sweeps
// rigid rows answer each other's errors with velocities, soft ones do not. The spring's frequency is as high
// as the part resolves: overlaps vanish with h. Of the two sweeps one goes backward, from the last colour
// and point to the first, in turn: a wall of boxes swept one way only leans to the side that is always
// swept last.

#include "steppers/bender_schmitt/brisk.h"

#include <string.h>

#include "steppers/bender_schmitt/crew.h"
#include "steppers/bender_schmitt/sweep_wide.h"

// Turns of the contact spring in a part, and its damping (1: critical).
static const double springTurns = 0.125;
static const double springDamping = 5.0;

typedef struct Brisk {
    tpBenderStep* step;
    tpSweeper* sweeper;
    int parts;
    double time;            // of a part, s
    tpVelocity* velocities; // now
    tpVelocity* kicks;      // what forces add in a part
    tpVelocity* bases;      // velocities of the part without its contacts' impulses
    tpVelocity* given;      // what the contacts' impulses make of it
    tpVelocity* moved;      // displacements since the start of the step
    tpSoftness soft, rigid;
    bool bounces;
} Brisk;

bool tpBrisk_CanStep(const tpSystem* system) {
    int blocks, rows;
    tpJoints_Count(system, &blocks, &rows);
    bool isTorsional = false;
    for (int i = 0; i < system->materials.count; ++i) {
        isTorsional = isTorsional || system->materials.data[i].friction.torsionalArm > 0.0;
    }
    for (int i = 0; i < system->pairs.count; ++i) {
        const tpPairDef* pair = &system->pairs.data[i];
        isTorsional = isTorsional || (pair->hasFriction && pair->friction.torsionalArm > 0.0);
    }
    return blocks == 0 && !isTorsional;
}

static tpSoftness softnessOf(double time, double pushOut) {
    double frequency = 6.283185307179586 * springTurns / time;
    // An implicit step of m x'' + 2 zeta m w x' + m w^2 x = 0.
    double damped = 2.0 * springDamping + time * frequency;
    double stiff = time * frequency * damped;
    tpSoftness soft = { 1.0 / time, frequency / damped, pushOut, stiff / (1.0 + stiff),
                        1.0 / (1.0 + stiff) };
    return soft;
}

// Lines of bodies, number by number: out = a + s b, wherever out lies.
static void addLines(tpVelocity* out, const tpVelocity* a, double s, const tpVelocity* b,
                     tpRange range) {
    for (int i = range.begin; i < range.end; ++i) {
        out[i].linear = tpMulAdd(a[i].linear, s, b[i].linear);
        out[i].angular = tpMulAdd(a[i].angular, s, b[i].angular);
    }
}

typedef void (*RunFunction)(tpSweeper* sweeper, const tpPackRun* run);

// All runs at once: what they do does not touch bodies.
static void overRuns(tpCrew* crew, int member, tpSweeper* sweeper, RunFunction function) {
    tpRange range = tpCrew_Share(crew, member, 0, sweeper->runCount);
    for (int r = range.begin; r < range.end; ++r) {
        function(sweeper, &sweeper->runs[r]);
    }
    tpCrew_Wait(crew);
}

// Colour after colour.
static void overColours(tpCrew* crew, int member, tpSweeper* sweeper, RunFunction function) {
    for (int c = 0; c < sweeper->colourCount; ++c) {
        tpRange range = tpCrew_Share(crew, member, sweeper->colours[c], sweeper->colours[c + 1]);
        for (int r = range.begin; r < range.end; ++r) {
            function(sweeper, &sweeper->runs[r]);
        }
        tpCrew_Wait(crew);
    }
}

static void sweepSoftly(tpCrew* crew, int member, tpSweeper* sweeper, const tpSoftness* softness,
                        bool isBackward) {
    for (int k = 0; k < sweeper->colourCount; ++k) {
        int c = isBackward ? sweeper->colourCount - 1 - k : k;
        tpRange range = tpCrew_Share(crew, member, sweeper->colours[c], sweeper->colours[c + 1]);
        for (int r = range.begin; r < range.end; ++r) {
            sweeper->wide->softRun(sweeper, &sweeper->runs[r], softness, isBackward);
        }
        tpCrew_Wait(crew);
    }
}

static void addTotals(tpSweeper* sweeper, const tpPackRun* run) {
    for (int p = run->first; p < run->first + run->count; ++p) {
        tpContactPack* pack = &sweeper->packs[p];
        for (int k = 0; k < 3; ++k) {
            for (int lane = 0; lane < tp_packWidth; ++lane) {
                pack->total[k][lane] += pack->impulse[k][lane];
            }
        }
    }
}

// One member's share of the whole step; all members go through it together.
static void solveParts(void* context, tpCrew* crew, int member) {
    Brisk* brisk = context;
    const tpWideSweep* wide = brisk->sweeper->wide;
    tpRange bodies = tpCrew_Share(crew, member, 0, brisk->sweeper->bodyCount);
    // Each member has its own view of the sweeper: which velocities it works on.
    tpSweeper sweeper = *brisk->sweeper;
    sweeper.velocities = brisk->given;
    overColours(crew, member, &sweeper, wide->startRun);
    for (int part = 0; part < brisk->parts; ++part) {
        addLines(brisk->bases, brisk->velocities, 1.0, brisk->kicks, bodies);
        addLines(brisk->velocities, brisk->bases, 1.0, brisk->given, bodies);
        tpCrew_Wait(crew);
        sweeper.velocities = brisk->moved;
        overRuns(crew, member, &sweeper, wide->gapRun);
        sweeper.velocities = brisk->velocities;
        bool isOdd = part % 2 == 1;
        sweepSoftly(crew, member, &sweeper, &brisk->soft, isOdd);
        addLines(brisk->moved, brisk->moved, brisk->time, brisk->velocities, bodies);
        tpCrew_Wait(crew);
        sweepSoftly(crew, member, &sweeper, &brisk->rigid, !isOdd);
        if (part == brisk->parts - 1 && brisk->bounces) {
            overColours(crew, member, &sweeper, wide->bounceRun);
        }
        addLines(brisk->given, brisk->velocities, -1.0, brisk->bases, bodies);
        overRuns(crew, member, &sweeper, addTotals);
    }
}

// Starts -------------------------------------------------------------------------------------------

// Runs in chunks of a fixed size, for loops that touch no bodies.
enum { runsAChunk = 64 };

typedef struct Starting {
    Brisk* brisk;
    const tpRestMemory* const* rests; // of each contact, or NULL
    double threshold;
    bool* bounces; // of each chunk
} Starting;

// A contact's gap, the impulse it starts with (that of the last step, spread over the parts) and whether it
// will bounce.
static bool startLane(const Starting* starting, tpContactPack* pack, int lane) {
    const tpTouch* touch = &starting->brisk->step->start;
    int i = pack->contact[lane];
    const tpContactLaw* law = &touch->laws[i];
    const tpRestMemory* rest = starting->rests[i];
    pack->startGap[lane] = touch->contacts[i].gap;
    if (rest != NULL) {
        tpVec3 start = tpScale(1.0 / starting->brisk->parts, rest->drift);
        pack->impulse[0][lane] = fmax(0.0, tpDot(start, touch->contacts[i].normal));
        if (law->mu > 0.0) {
            pack->impulse[1][lane] = tpDot(start, law->tangents[0]) / law->ellipse[0];
            pack->impulse[2][lane] = tpDot(start, law->tangents[1]) / law->ellipse[1];
        }
    }
    double approach = pack->speed[0][lane];
    pack->bias[0][lane] = approach < -starting->threshold ? law->restitution * approach : 0.0;
    return pack->bias[0][lane] < 0.0;
}

static void startChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Starting* starting = context;
    tpSweeper* sweeper = starting->brisk->sweeper;
    int end = (chunk + 1) * runsAChunk;
    end = end < sweeper->runCount ? end : sweeper->runCount;
    starting->bounces[chunk] = false;
    for (int r = chunk * runsAChunk; r < end; ++r) {
        const tpPackRun* run = &sweeper->runs[r];
        sweeper->wide->speedRun(sweeper, run);
        for (int p = run->first; p < run->first + run->count; ++p) {
            for (int lane = 0; lane < tp_packWidth; ++lane) {
                tpContactPack* pack = &sweeper->packs[p];
                if (pack->contact[lane] >= 0 && startLane(starting, pack, lane)) {
                    starting->bounces[chunk] = true;
                }
            }
        }
    }
}

static bool startContacts(Brisk* brisk) {
    tpBenderStep* step = brisk->step;
    tpArena* arena = &step->system->arena;
    int count = step->start.contactCount;
    int chunks = (brisk->sweeper->runCount + runsAChunk - 1) / runsAChunk;
    const tpRestMemory** rests = TP_SCRATCH(arena, const tpRestMemory*, count);
    Starting starting = { .brisk = brisk, .rests = rests };
    starting.bounces = TP_SCRATCH(arena, bool, chunks);
    if (arena->failed) {
        return false;
    }
    int cursor = 0;
    for (int i = 0; i < count; ++i) {
        rests[i] = tpBenderSchmitt_Find(step->state, &step->start.contacts[i], &cursor);
    }
    starting.threshold =
        fmax(step->settings->threshold, 2.0 * step->time.h * tpLength(step->system->gravity));
    brisk->sweeper->velocities = step->time.startVelocities;
    tpTasks_Run(step->system->tasks, startChunk, &starting, chunks);
    for (int c = 0; c < chunks; ++c) {
        brisk->bounces = brisk->bounces || starting.bounces[c];
    }
    return true;
}

// Energy and certificate ---------------------------------------------------------------------------

// Runs are summed in a fixed number of chunks, one after the other: the same bits on any number of threads.
enum { chunkCount = 16 };

typedef enum Sum { freeSum, workSum, judgeSum, ratioSum } Sum;

typedef struct Summing {
    tpSweeper* sweeper;
    Sum sum;
    double leastLoad, leastSpeed;
    tpLaneSums* chunks;
} Summing;

static void sumChunk(void* context, int chunk, int worker) {
    (void)worker;
    const Summing* summing = context;
    tpSweeper* sweeper = summing->sweeper;
    const tpWideSweep* wide = sweeper->wide;
    tpLaneSums* sums = &summing->chunks[chunk];
    memset(sums, 0, sizeof(*sums));
    tpRange range = tpChunkRange(sweeper->runCount, chunk, chunkCount);
    for (int r = range.begin; r < range.end; ++r) {
        const tpPackRun* run = &sweeper->runs[r];
        if (summing->sum == freeSum) {
            wide->freeRun(sweeper, run, sums);
        } else if (summing->sum == workSum) {
            wide->workRun(sweeper, run, sums);
        } else if (summing->sum == judgeSum) {
            wide->judgeRun(sweeper, run, sums);
        } else {
            wide->ratioRun(sweeper, run, summing->leastLoad, summing->leastSpeed, sums);
        }
    }
}

// Sums in squares[0], normalWork[0], ..; largest values in load[0], ..
static tpLaneSums sumUp(Brisk* brisk, Summing* summing, Sum sum, tpVelocity* velocities) {
    summing->sum = sum;
    summing->sweeper->velocities = velocities;
    tpTasks_Run(brisk->step->system->tasks, sumChunk, summing, chunkCount);
    tpLaneSums all;
    memset(&all, 0, sizeof(all));
    for (int c = 0; c < chunkCount; ++c) {
        const tpLaneSums* chunk = &summing->chunks[c];
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            all.squares[0] += chunk->squares[lane];
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

// The biases with which the last part's contact law is judged: open gaps, and what collides.
static void setJudgedBiases(Brisk* brisk) {
    for (int p = 0; p < brisk->sweeper->packCount; ++p) {
        tpContactPack* pack = &brisk->sweeper->packs[p];
        for (int lane = 0; lane < tp_packWidth; ++lane) {
            double gap = pack->gap[lane], bounce = pack->bias[0][lane];
            double open = gap > 0.0 ? gap * brisk->rigid.inverseTime : 0.0;
            pack->bias[0][lane] = bounce < 0.0 ? bounce : open;
        }
    }
}

// Energy that the contacts took, their impulses times the mean of the velocities before and after; the
// certificate of the contact law at the end of the last part.
static bool judge(Brisk* brisk) {
    tpTimeStep* time = &brisk->step->time;
    tpStepReport* report = brisk->step->report;
    tpRange all = { 0, brisk->sweeper->bodyCount };
    Summing summing = { .sweeper = brisk->sweeper };
    summing.chunks = TP_SCRATCH(&brisk->step->system->arena, tpLaneSums, chunkCount);
    if (summing.chunks == NULL) {
        return false;
    }
    addLines(brisk->kicks, time->freeVelocities, 1.0, brisk->velocities, all);
    tpLaneSums sums = sumUp(brisk, &summing, workSum, brisk->kicks);
    report->impactLoss -= 0.5 * sums.normalWork[0];
    report->frictionLoss -= 0.5 * sums.frictionWork[0];
    setJudgedBiases(brisk);
    double size = fmax(sqrt(sumUp(brisk, &summing, freeSum, brisk->bases).squares[0]), 1e-6);
    sums = sumUp(brisk, &summing, judgeSum, brisk->velocities);
    double miss = sqrt(sums.squares[0]);
    summing.leastLoad = 1e-9 * sums.load[0];
    summing.leastSpeed = fmax(1e-9, 1e-6 * sums.speed[0]);
    sums = sumUp(brisk, &summing, ratioSum, brisk->velocities);
    bool isSolved = miss <= fmin(brisk->step->settings->tolerance, 0.5e-8 * size);
    report->solveCount += brisk->parts;
    report->iterationCount += 2 * brisk->parts;
    report->failureCount += isSolved ? 0 : 1;
    report->converged = report->converged && isSolved;
    report->residual = fmax(report->residual, miss / size);
    report->coneViolation = fmax(report->coneViolation, sums.cone[0]);
    report->dissipationViolation = fmax(report->dissipationViolation, sums.dissipation[0]);
    return true;
}

bool tpBrisk_Solve(tpBenderStep* step, int parts) {
    tpSystem* system = step->system;
    tpArena* arena = &system->arena;
    tpTimeStep* time = &step->time;
    int count = system->bodyCount;
    Brisk brisk = { .step = step, .sweeper = &step->start.sweeper, .parts = parts };
    brisk.time = time->h / parts;
    brisk.velocities = time->velocities;
    brisk.moved = time->moves;
    brisk.kicks = TP_SCRATCH(arena, tpVelocity, count);
    brisk.bases = TP_SCRATCH(arena, tpVelocity, count);
    brisk.given = TP_SCRATCH_ZEROED(arena, tpVelocity, count);
    if (arena->failed) {
        return false;
    }
    brisk.soft = softnessOf(brisk.time, step->settings->pushOut);
    brisk.rigid = (tpSoftness){ 1.0 / brisk.time, 0.0, 0.0, 1.0, 0.0 };
    if (count > 0) {
        size_t bytes = sizeof(tpVelocity) * (size_t)count;
        memcpy(brisk.velocities, time->startVelocities, bytes);
        memset(brisk.moved, 0, bytes);
    }
    for (int i = 0; i < count; ++i) {
        tpVec3 linear = tpSub(time->freeVelocities[i].linear, time->startVelocities[i].linear);
        tpVec3 angular = tpSub(time->freeVelocities[i].angular, time->startVelocities[i].angular);
        brisk.kicks[i] = (tpVelocity){ .linear = tpScale(1.0 / parts, linear),
                                       .angular = tpScale(1.0 / parts, angular) };
    }
    if (!startContacts(&brisk)) {
        return false;
    }
    tpCrew_Run(system->tasks, brisk.sweeper->contactCount, solveParts, &brisk);
    for (int i = 0; i < count; ++i) {
        time->moves[i].linear = tpScale(1.0 / time->h, brisk.moved[i].linear);
        time->moves[i].angular = tpScale(1.0 / time->h, brisk.moved[i].angular);
    }
    if (!judge(&brisk)) {
        return false;
    }
    tpTimeStep_Drift(time);
    return true;
}
