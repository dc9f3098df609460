// A few sweeps over all contacts say which ones matter, then come rounds of sweeps with momentum in
// single precision over those alone (light_momentum.c). After each round velocities are made of the
// impulses anew, and the residual of all contacts is found in double precision. Rounds are the
// longer the more sweeps there have been; they end early if the steps of the sweeps say that the
// certificate is met.
//
// What momentum adds to the impulses of contacts that change their states is noise, which a few
// plain sweeps take out. After a round that has gained little the next one ends with plain sweeps,
// and with leaps if those creep (light_leap.c).
//
// A solve that stalls ends with the best impulses that it has come to: where loads creep and
// contacts open or slip on the way, residuals go up and down by a factor of three.

#include "sweeps/light_solve.h"

#include <string.h>

#include "sweeps/light_leap.h"
#include "sweeps/light_momentum.h"

// Every so many sweeps one is measured.
enum { measuredEvery = 4 };

// Sweeps before contacts are chosen, of the first round and of the longest one, and the least
// before a round may end early. Longer rounds go in circles.
enum { firstSweeps = 8, leastRound = 64, mostRound = 256, leastFast = 16 };

// A round is slow after one that has left more than this part of the residual. It has so many
// sweeps with momentum, then plain ones: so many, then twice so many to see whether they creep, and
// again after each of at most so many leaps.
static const double slowPart = 0.7;
enum { slowRound = 48, plainSweeps = 12, creepSweeps = 4, mostLeaps = 6 };

// Contacts are chosen that part slower than this, in root mean squares of the misses.
static const double chosenMargin = 2.0;

// Contacts are chosen anew if those outside miss more than this part of the goal, or of the whole.
static const double outsidePart = 0.3;

// A round ends early if its last step says that the residual is this part of the goal.
static const double safePart = 0.8;

// The part of each change that is made: contacts whose friction hangs on each other's loads may
// change for ever if each is solved exactly. Another is taken after two rounds that leave more than
// a part of the least residual so far, which is a stall.
enum { dampingCount = 4 };
static const double dampings[dampingCount] = { 0.9, 0.6, 1.0, 0.4 }, stalledPart = 0.9;
enum { mostStalls = 2 };

// The stall after which help is asked for, and the one that ends light sweeps.
enum { helpStall = 3, mostStallCount = 6 };

// How a solve goes.
typedef struct Progress {
    double ratio;  // of residual and step, as the last round has left it
    double last;   // residual before the last round
    double best;   // least residual since the last stall
    int idle;      // rounds that have gained nothing
    int stalls;    // so far
    bool isStale;  // contacts have to be chosen anew
    double margin; // with which they are
} Progress;

// Velocities made of the impulses anew: rounding of many sweeps does not add up.
static double renew(tpSweeper* sweeper, const tpVelocity* start) {
    memcpy(sweeper->velocities, start, sizeof(tpVelocity) * (size_t)sweeper->bodyCount);
    tpSweeper_WarmStart(sweeper);
    return tpSweeper_Miss(sweeper);
}

// Impulses of all contacts, and their residual.
typedef struct Kept {
    double* impulses; // of each pack
    double miss;
} Kept;

enum { packImpulses = 3 * tp_packWidth };

// Keeps the impulses if they are the best so far.
static void keep(Kept* kept, const tpSweeper* sweeper, double miss) {
    if (!(miss < kept->miss)) {
        return;
    }
    kept->miss = miss;
    for (int p = 0; p < sweeper->packCount; ++p) {
        memcpy(kept->impulses + (ptrdiff_t)packImpulses * p, sweeper->packs[p].impulse,
               sizeof(sweeper->packs[p].impulse));
    }
}

// Back to the best ones. Returns their residual.
static double takeBack(const Kept* kept, tpSweeper* sweeper, const tpVelocity* start) {
    for (int p = 0; p < sweeper->packCount; ++p) {
        memcpy(sweeper->packs[p].impulse, kept->impulses + (ptrdiff_t)packImpulses * p,
               sizeof(sweeper->packs[p].impulse));
    }
    return renew(sweeper, start);
}

static void sweep(tpLightSweeper* light, int sweeps) {
    for (int k = 0; k < sweeps; ++k) {
        tpLight_Sweep(light);
    }
}

// Plain sweeps, and leaps while they creep. Returns the sweeps made.
static int sweepPlainly(tpLightSweeper* light, tpLightLeap* leap) {
    int sweeps = 0;
    bool hasLeapt = true;
    for (int k = 0; k < mostLeaps && hasLeapt; ++k) {
        sweep(light, plainSweeps);
        tpLightLeap_Keep(leap, light);
        sweep(light, creepSweeps);
        tpLightLeap_Keep(leap, light);
        sweep(light, creepSweeps);
        sweeps += plainSweeps + 2 * creepSweeps;
        hasLeapt = k + 1 < mostLeaps && tpLightLeap_Take(leap, light) > 0.0;
    }
    return sweeps;
}

// Returns the sweeps made.
static int sweepRound(tpLightSweeper* light, tpLightMomentum* momentum, int most, double aim,
                      double ratio) {
    int sweeps = 0;
    bool isNear = false;
    tpLightMomentum_Begin(momentum, light);
    while (sweeps < most && !isNear) {
        tpLightMomentum_Sweep(momentum, light, measuredEvery);
        sweeps += measuredEvery;
        isNear = sweeps > leastFast && ratio * sqrt(momentum->size) < aim;
        if (sweeps < most && !isNear) {
            tpLightMomentum_GoOn(momentum, light);
        }
    }
    return sweeps;
}

static int lengthOfRound(int sweeps) {
    int length = sweeps / 2 < leastRound ? leastRound : sweeps / 2;
    return (length < mostRound ? length : mostRound) / measuredEvery * measuredEvery;
}

// What follows from the residual that a round has left. False if memory ran out.
static bool considerRound(tpSweeper* sweeper, tpLightTask* task, const tpLightSweeper* light,
                          double size, Progress* progress) {
    progress->ratio = task->miss / sqrt(size);
    progress->idle = task->miss < stalledPart * progress->best ? 0 : progress->idle + 1;
    progress->best = fmin(progress->best, task->miss);
    progress->isStale = tpLight_MissOutside(light) > outsidePart * fmin(task->goal, task->miss);
    if (progress->idle < mostStalls || task->miss <= task->goal) {
        return true;
    }
    progress->stalls += 1;
    progress->idle = 0;
    progress->isStale = true;
    if (progress->stalls == helpStall && task->help != NULL) {
        if (!task->help(task->context, light)) {
            return false;
        }
        task->miss = renew(sweeper, task->start);
    }
    progress->best = task->miss;
    return true;
}

bool tpLight_Solve(tpSweeper* sweeper, tpLightTask* task, tpArena* arena) {
    task->sweeps = 0;
    for (int k = 0; k < firstSweeps; ++k) {
        tpSweeper_Sweep(sweeper);
    }
    task->miss = renew(sweeper, task->start);
    double margin = chosenMargin * task->miss / sqrt((double)sweeper->contactCount);
    Progress progress = { INFINITY, INFINITY, INFINITY, 0, 0, true, margin };
    tpArenaMark begin = tpArena_Mark(arena);
    Kept kept = { TP_SCRATCH(arena, double, packImpulses*(size_t)sweeper->packCount), INFINITY };
    if (kept.impulses == NULL) {
        return false;
    }
    tpArenaMark mark = tpArena_Mark(arena);
    tpLightSweeper light;
    tpLightMomentum momentum;
    tpLightLeap leap;
    tpLightMomentum_Reset(&momentum);
    while (!(task->miss <= task->goal) && task->sweeps < task->limit &&
           progress.stalls < mostStallCount) {
        if (progress.isStale) {
            tpArena_Release(arena, mark);
            double damping = dampings[progress.stalls % dampingCount];
            if (!tpLight_Choose(&light, sweeper, progress.margin, damping, arena) ||
                !tpLightMomentum_Create(&momentum, &light, arena) ||
                !tpLightLeap_Create(&leap, &light, arena)) {
                return false;
            }
        }
        double miss = task->miss;
        bool isSlow = miss > slowPart * progress.last;
        tpLight_Load(&light);
        task->sweeps +=
            sweepRound(&light, &momentum, isSlow ? slowRound : lengthOfRound(task->sweeps),
                       safePart * task->goal, progress.ratio);
        task->sweeps += isSlow ? sweepPlainly(&light, &leap) : 0;
        tpLight_Store(&light);
        task->miss = renew(sweeper, task->start);
        progress.last = miss;
        if (!considerRound(sweeper, task, &light, momentum.size, &progress)) {
            return false;
        }
        keep(&kept, sweeper, task->miss);
    }
    if (kept.miss < task->miss) {
        task->miss = takeBack(&kept, sweeper, task->start);
    }
    task->sweeps += firstSweeps;
    tpArena_Release(arena, begin);
    return true;
}
