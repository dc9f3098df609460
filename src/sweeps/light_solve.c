// A few sweeps over all contacts say which ones matter, then come rounds of sweeps with momentum in
// single precision over those alone (light_momentum.c). After each round velocities are made of the
// impulses anew, and the residual of all contacts is found in double precision. Rounds are the
// longer the more sweeps there have been; they end early if the steps of the sweeps say that the
// certificate is met.
//
// What momentum adds to the impulses of contacts that change their states is noise, which a few
// plain sweeps take out. Once a solve has stalled, a round that has gained little is followed by
// one that ends with plain sweeps, and with leaps if those creep (light_leap.c).
//
// A solve that stalls ends with the best impulses that it has come to (kept_impulses.c), at its
// first stall if they are good enough.

#include "sweeps/light_solve.h"

#include <string.h>

#include "sweeps/kept_impulses.h"
#include "sweeps/light_leap.h"
#include "sweeps/light_momentum.h"

// Every so many sweeps one is measured.
enum { measuredEvery = 4 };

// Sweeps before contacts are chosen, of the first round, and the least before a round may end
// early.
enum { firstSweeps = 8, leastRound = 64, leastFast = 16 };

// Sweeps of the longest round: if pairs have one point, longer ones go in circles. Others gain from
// long ones: momentum begins anew with each.
enum { mostShortRound = 256, mostLongRound = 2048 };

// A round is slow after one that has left more than this part of the residual: among short rounds
// and among long ones. It has so many sweeps with momentum, then plain ones: so many, then twice so
// many to see whether they creep, and again after each of at most so many leaps. All that only
// after two stalls: before, it costs a sixth of the sweeps.
static const double slowShortPart = 0.7, slowLongPart = 0.9;
enum { slowRound = 48, plainSweeps = 12, creepSweeps = 4, mostLeaps = 6, leastStalls = 2 };

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

// The stall after which help is asked for, and the one that ends light sweeps: of short rounds and
// of long ones, many of which cost less than help does.
enum { shortHelpStall = 3, shortStallCount = 6, longHelpStall = 8, longStallCount = 12 };

// How a solve goes.
typedef struct Progress {
    double ratio;  // of residual and step, as the last round has left it
    double last;   // residual before the last round
    double best;   // least residual since the last stall
    double least;  // least residual so far
    int idle;      // rounds that have gained nothing
    int stalls;    // so far
    bool isOver;   // there have been too many of them
    bool isStale;  // contacts have to be chosen anew
    double margin; // with which they are
} Progress;

// Velocities made of the impulses anew: rounding of many sweeps does not add up.
static double renew(tpSweeper* sweeper, const tpVelocity* start) {
    memcpy(sweeper->velocities, start, sizeof(tpVelocity) * (size_t)sweeper->bodyCount);
    tpSweeper_WarmStart(sweeper);
    return tpSweeper_Miss(sweeper);
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

static bool isStopped(const tpLightTask* task) {
    return task->stop != NULL && *task->stop != 0;
}

// Returns the sweeps made.
static int sweepRound(tpLightSweeper* light, tpLightMomentum* momentum, const tpLightTask* task,
                      int most, double ratio) {
    int sweeps = 0;
    double aim = safePart * task->goal;
    bool isNear = false;
    tpLightMomentum_Begin(momentum, light);
    while (sweeps < most && !isNear && !isStopped(task)) {
        tpLightMomentum_Sweep(momentum, light, measuredEvery);
        sweeps += measuredEvery;
        isNear = sweeps > leastFast && ratio * sqrt(momentum->size) < aim;
        if (sweeps < most && !isNear) {
            tpLightMomentum_GoOn(momentum, light);
        }
    }
    return sweeps;
}

static int lengthOfRound(int sweeps, int most) {
    int length = sweeps / 2 < leastRound ? leastRound : sweeps / 2;
    return (length < most ? length : most) / measuredEvery * measuredEvery;
}

// A round, with plain sweeps at its end if the last one has gained little. Returns the sweeps made.
static int sweepOnce(tpLightSweeper* light, tpLightMomentum* momentum, tpLightLeap* leap,
                     const tpLightTask* task, const Progress* progress) {
    double slowPart = momentum->isLong ? slowLongPart : slowShortPart;
    bool isSlow = progress->stalls >= leastStalls && task->miss > slowPart * progress->last;
    int most = momentum->isLong ? mostLongRound : mostShortRound;
    int length = isSlow ? slowRound : lengthOfRound(task->sweeps, most);
    tpLight_Load(light);
    int sweeps = sweepRound(light, momentum, task, length, progress->ratio);
    sweeps += isSlow ? sweepPlainly(light, leap) : 0;
    tpLight_Store(light);
    return sweeps;
}

// What follows from the residual that a round has left. False if memory ran out.
static bool considerRound(tpSweeper* sweeper, tpLightTask* task, const tpLightSweeper* light,
                          tpLightMomentum* momentum, Progress* progress) {
    progress->ratio = task->miss / sqrt(momentum->size);
    progress->idle = task->miss < stalledPart * progress->best ? 0 : progress->idle + 1;
    progress->best = fmin(progress->best, task->miss);
    progress->least = fmin(progress->least, task->miss);
    progress->isStale = tpLight_MissOutside(light) > outsidePart * fmin(task->goal, task->miss);
    if (progress->idle < mostStalls || task->miss <= task->goal) {
        return true;
    }
    progress->stalls += 1;
    progress->idle = 0;
    progress->isStale = true;
    progress->isOver = progress->stalls >= (momentum->isLong ? longStallCount : shortStallCount) ||
                       progress->least <= task->enough;
    int helpStall = momentum->isLong ? longHelpStall : shortHelpStall;
    if (momentum->isLong) {
        tpLightMomentum_Reset(momentum);
    }
    if (progress->stalls == helpStall && task->help != NULL && !progress->isOver) {
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
    for (int k = 0; k < firstSweeps && !isStopped(task); ++k) {
        tpSweeper_Sweep(sweeper);
    }
    task->miss = renew(sweeper, task->start);
    double margin = chosenMargin * task->miss / sqrt((double)sweeper->contactCount);
    Progress progress = { INFINITY, INFINITY, INFINITY, INFINITY, 0, 0, false, true, margin };
    tpArenaMark begin = tpArena_Mark(arena);
    tpKeptImpulses kept;
    if (!tpKeptImpulses_Create(&kept, sweeper, arena)) {
        return false;
    }
    tpArenaMark mark = tpArena_Mark(arena);
    tpLightSweeper light;
    tpLightMomentum momentum;
    tpLightLeap leap;
    tpLightMomentum_Reset(&momentum);
    while (!(task->miss <= task->goal) && task->sweeps < task->limit && !progress.isOver &&
           !isStopped(task)) {
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
        task->sweeps += sweepOnce(&light, &momentum, &leap, task, &progress);
        task->miss = renew(sweeper, task->start);
        progress.last = miss;
        if (!considerRound(sweeper, task, &light, &momentum, &progress)) {
            return false;
        }
        tpKeptImpulses_Keep(&kept, sweeper, task->miss);
    }
    if (kept.miss < task->miss) {
        tpKeptImpulses_TakeBack(&kept, sweeper);
        task->miss = renew(sweeper, task->start);
    }
    task->sweeps += firstSweeps;
    tpArena_Release(arena, begin);
    return true;
}
