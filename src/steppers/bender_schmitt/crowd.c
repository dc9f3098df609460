// Sweeps over a crowd until its certificate is met.
//
// Contacts without torsion, on bodies without joints, are swept lightly (sweeps/light.h): a few
// sweeps over all of them say which ones matter, then come rounds of mixed sweeps in single
// precision over those alone. After each round velocities are made of the impulses anew, and the
// residual of all contacts is found in double precision. Rounds are the longer the more sweeps
// there have been; they end early if the steps of the mixing say that the certificate is met.

#include "steppers/bender_schmitt/crowd.h"

#include <string.h>

#include "sweeps/light.h"
#include "sweeps/light_mixing.h"
#include "sweeps/mixing.h"

// Most sweeps, in budgets; light ones in the time of a sweep over all contacts; and how often as
// many sweeps are made over all contacts if the light ones have stalled.
static const double crowdBudgets = 100.0;
enum { lightPerSweep = 6, patience = 2 };

// Sweeps between two mixings, which cost about as much as two sweeps.
enum { mixedEvery = 4 };

// Over all contacts: sweeps between looks at the certificate, which cost some sweeps too; and
// sweeps for which mixing goes on, followed by as many without: where contacts keep changing their
// states mixing may go in circles.
enum { leastLook = 8, mostLook = 64, mixedPhase = 512 };

// Lightly: sweeps before contacts are chosen, of the first round and of the longest one, and the
// least before a round may end early. Longer rounds go in circles.
enum { firstSweeps = 8, leastRound = 64, mostRound = 256, leastMixed = 16 };

// Contacts are chosen that part slower than this, in root mean squares of the misses.
static const double chosenMargin = 2.0;

// Contacts are chosen anew if those outside miss more than this part of the goal, or of the whole.
static const double outsidePart = 0.3;

// A round ends early if its last step says that the residual is this part of the goal.
static const double safePart = 0.8;

// The part of each change that light sweeps make: contacts whose friction hangs on each other's
// loads may change for ever if each is solved exactly. Another is taken after two rounds that leave
// more than a part of the least residual so far, which is a stall.
enum { dampingCount = 4 };
static const double dampings[dampingCount] = { 0.9, 0.6, 1.0, 0.4 }, stalledPart = 0.9;
enum { mostStalls = 2 };

// The stall after which the portfolio is asked, and the one that ends light sweeps.
enum { exactStall = 3, mostStallCount = 6 };

// Residuals below this, of the speeds that impulses change, are left to double precision.
static const double lightRounding = 1e-6;

// Velocities made of the impulses anew: rounding of many sweeps and mixings does not add up.
static void renewVelocities(tpSweeper* sweeper, const tpVelocity* start) {
    memcpy(sweeper->velocities, start, sizeof(tpVelocity) * (size_t)sweeper->bodyCount);
    tpSweeper_WarmStart(sweeper);
}

// Mixed sweeps in double precision. Looks at the certificate are the rarer the longer it takes.
static bool sweepAll(tpTouch* touch, const tpVelocity* start, double goal, int limit,
                     tpStepReport* report) {
    tpSweeper* sweeper = &touch->sweeper;
    tpMixer mixer;
    if (!tpMixer_Create(&mixer, sweeper, &touch->system->arena)) {
        return false;
    }
    bool isMixed = sweeper->torsionCount == 0;
    double miss = INFINITY;
    int look = leastLook;
    tpMixer_Begin(&mixer, sweeper);
    for (int k = 1; !(miss <= goal) && k <= limit; ++k) {
        tpSweeper_Sweep(sweeper);
        report->iterationCount += 1;
        if (k == look || k == limit) {
            renewVelocities(sweeper, start);
            miss = tpSweeper_Miss(sweeper);
            look += k / 4 < leastLook ? leastLook : k / 4 < mostLook ? k / 4 : mostLook;
        }
        bool isDone = miss <= goal || k == limit;
        if (k % mixedPhase == 0) {
            tpMixer_Begin(&mixer, sweeper);
        } else if (isMixed && !isDone && k % mixedEvery == 0 && k / mixedPhase % 2 == 0) {
            tpMixer_End(&mixer, sweeper);
        }
    }
    return true;
}

// One round. `ratio` is that of residual and step as the last round has left it. Returns the sweeps
// made.
static int sweepRound(tpLightSweeper* light, tpLightMixer* mixer, int most, double aim,
                      double ratio) {
    int sweeps = 0;
    bool isNear = false;
    tpLight_Load(light);
    tpLightMixer_Begin(mixer, light);
    while (sweeps < most && !isNear) {
        for (int k = 0; k < mixedEvery; ++k) {
            tpLight_Sweep(light);
        }
        sweeps += mixedEvery;
        isNear = sweeps > leastMixed && ratio * sqrt(mixer->size) < aim;
        if (sweeps < most && !isNear) {
            tpLightMixer_End(mixer, light);
        }
    }
    tpLight_Store(light);
    return sweeps;
}

static bool sweepLightly(tpTouch* touch, tpSolverMemory* memory, const tpVelocity* start,
                         double goal, int limit, tpStepReport* report) {
    tpSweeper* sweeper = &touch->sweeper;
    tpArena* arena = &touch->system->arena;
    for (int k = 0; k < firstSweeps; ++k) {
        tpSweeper_Sweep(sweeper);
    }
    renewVelocities(sweeper, start);
    double miss = tpSweeper_Miss(sweeper), ratio = INFINITY;
    double margin = chosenMargin * miss / sqrt((double)touch->contactCount);
    tpArenaMark mark = tpArena_Mark(arena);
    tpLightSweeper light;
    tpLightMixer mixer;
    bool isStale = true;
    double best = INFINITY, damping = dampings[0];
    int stalls = 0, stallCount = 0;
    int sweeps = 0;
    while (!(miss <= goal) && sweeps < limit && stallCount < mostStallCount) {
        if (isStale) {
            tpArena_Release(arena, mark);
            if (!tpLight_Choose(&light, sweeper, margin, damping, arena) ||
                !tpLightMixer_Create(&mixer, &light, arena)) {
                return false;
            }
        }
        int most = sweeps / 2 < leastRound  ? leastRound
                   : sweeps / 2 < mostRound ? sweeps / 2
                                            : mostRound;
        sweeps +=
            sweepRound(&light, &mixer, most / mixedEvery * mixedEvery, safePart * goal, ratio);
        renewVelocities(sweeper, start);
        miss = tpSweeper_Miss(sweeper);
        ratio = miss / sqrt(mixer.size);
        stalls = miss < stalledPart * best ? 0 : stalls + 1;
        best = fmin(best, miss);
        isStale = tpLight_MissOutside(&light) > outsidePart * fmin(goal, miss);
        if (stalls == mostStalls && miss > goal) {
            damping = dampings[++stallCount % dampingCount];
            isStale = true;
            stalls = 0;
            if (stallCount == exactStall) {
                if (!tpCrowd_SolveChosen(touch, memory, &light, start, safePart * goal, report)) {
                    return false;
                }
                renewVelocities(sweeper, start);
                miss = tpSweeper_Miss(sweeper);
            }
            best = miss;
        }
    }
    report->iterationCount += firstSweeps + sweeps;
    tpArena_Release(arena, mark);
    return true;
}

bool tpCrowd_Solve(tpTouch* touch, const tpBenderSettings* settings, tpSolverMemory* memory,
                   const tpVelocity* start, double goal, double size, tpStepReport* report,
                   tpSweepVerdict* verdict) {
    tpSweeper* sweeper = &touch->sweeper;
    int limit = (int)fmin(crowdBudgets * settings->budget / touch->contactCount, 1e6);
    tpSweeper_WarmStart(sweeper);
    bool isLight = sweeper->jointCount == 0 && sweeper->torsionCount == 0;
    if (isLight && !sweepLightly(touch, memory, start, fmax(goal, lightRounding * size),
                                 lightPerSweep * limit, report)) {
        return false;
    }
    // What stalls in single precision mostly does not in double precision, over all contacts.
    int most = isLight ? patience * limit : limit;
    if (!(isLight && tpSweeper_Miss(sweeper) <= goal) &&
        !sweepAll(touch, start, goal, most, report)) {
        return false;
    }
    *verdict = tpSweeper_Judge(sweeper);
    return true;
}
