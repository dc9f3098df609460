// Sweeps over a crowd until its certificate is met.
//
// Contacts without torsion, on bodies without joints, are swept lightly (sweeps/light_solve.h), all
// others in double precision. (Sweeps in double precision after light ones that had stalled, for
// 1.4 s per step of 10,000 spheres, left what they found.)

#include "steppers/bender_schmitt/crowd.h"

#include <string.h>

#include "dynamics/step_budget.h"
#include "sweeps/light_solve.h"
#include "sweeps/mixing.h"
#include "sweeps/runaway_loads.h"

// Most sweeps, in budgets; and light ones in place of each of them. (Six take its time. A goal of
// 1e-6 takes five, one of 1e-8 up to ten times as many.)
static const double crowdBudgets = 100.0;
enum { lightPerSweep = 60 };

// Sweeps between two mixings, which cost about as much as two sweeps.
enum { mixedEvery = 4 };

// Over all contacts: sweeps between looks at the certificate, which cost some sweeps too; and
// sweeps for which mixing goes on, followed by as many without: where contacts keep changing their
// states mixing may go in circles.
enum { leastLook = 8, mostLook = 64, mixedPhase = 512 };

// The portfolio is asked for this part of the goal.
static const double safePart = 0.8;

// A solve that has stalled is asked for this part of the certificate and no more.
static const double enoughPart = 0.99;

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
    for (int k = 1; !(miss <= goal) && k <= limit && !tpSystem_IsStopped(touch->system); ++k) {
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

// What the portfolio needs to help light sweeps that have stalled.
typedef struct Stalled {
    tpTouch* touch;
    tpSolverMemory* memory;
    const tpVelocity* start;
    double goal;
    tpStepReport* report;
} Stalled;

static bool help(void* context, const tpLightSweeper* light) {
    const Stalled* stalled = context;
    return tpCrowd_SolveChosen(stalled->touch, stalled->memory, light, stalled->start,
                               safePart * stalled->goal, stalled->report);
}

static bool sweepLightly(tpTouch* touch, tpSolverMemory* memory, const tpVelocity* start,
                         double goal, double enough, int limit, tpStepReport* report) {
    Stalled stalled = { touch, memory, start, goal, report };
    tpLightTask task = { .start = start,
                         .goal = goal,
                         .enough = enough,
                         .limit = limit,
                         .stop = touch->system->stop,
                         .help = help,
                         .context = &stalled };
    bool isDone = tpLight_Solve(&touch->sweeper, &task, &touch->system->arena);
    report->iterationCount += task.sweeps;
    return isDone;
}

bool tpCrowd_Solve(tpTouch* touch, const tpBenderSettings* settings, tpSolverMemory* memory,
                   const tpVelocity* start, double goal, double size, tpStepReport* report,
                   tpSweepVerdict* verdict) {
    tpSweeper* sweeper = &touch->sweeper;
    int limit = (int)fmin(crowdBudgets * settings->budget / touch->contactCount, 1e6);
    tpSweeper_DropRunawayLoads(sweeper, start, size);
    tpSweeper_WarmStart(sweeper);
    bool isLight = sweeper->jointCount == 0 && sweeper->torsionCount == 0;
    double enough = fmax(goal, enoughPart * touch->system->certificate * size);
    bool isThere =
        isLight ? sweepLightly(touch, memory, start, goal, enough, lightPerSweep * limit, report)
                : sweepAll(touch, start, goal, limit, report);
    if (!isThere) {
        return false;
    }
    *verdict = tpSweeper_Judge(sweeper);
    return true;
}

bool tpCrowd_HasRunAway(tpTouch* touch, tpVelocity* start) {
    tpSweeper* sweeper = &touch->sweeper;
    if (!(touch->system->certificate > TP_USUAL_CERTIFICATE) || sweeper->jointCount > 0) {
        return false;
    }
    tpVelocity* velocities = sweeper->velocities;
    sweeper->velocities = start;
    double size = tpSweeper_FreeSpeed(sweeper);
    int count = tpSweeper_DropRunawayLoads(sweeper, start, size);
    sweeper->velocities = velocities;
    return count > 0;
}
