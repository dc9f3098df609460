// The end of the step at the first impact [BenderSchmitt06, sec. 3: "the collision detection
// controls the time step size"].
//
// The gap that the fastest closing contacts have at the end of a drift of t seconds is a function
// of t; its root is found by false position with the Illinois rule, taking the drift anew for each
// t. Contacts that rest, or close slowly, are rows of the drift itself and never overlap.

#include "steppers/bender_schmitt/first_impact.h"

#include <string.h>

#include "dynamics/matching.h"

// Drifts tried before the best is taken.
enum { maxTrials = 60 };

// The gap at the end is this part of eps_c at most: what is left of it moves the time of the
// impact, and an overlap has to be taken back by velocities.
static const double landingPart = 1e-3;

// Overlaps of contacts that do not close fast are impacts beyond this, m: less comes from corners
// that change their names.
static const double slowOverlap = 1e-7;

// Part of a step below which those are not looked for.
static const double leastPart = 1e-4;

typedef struct tpTrial {
    double time, gap;
} tpTrial;

// Whether a contact at the end is none that the drift has held; `same` is that at the start, or -1.
static bool isFree(const tpBenderStep* step, int same) {
    if (same < 0) {
        return true;
    }
    int lane;
    const tpContactPack* pack = tpSweeper_PackOf(&step->start.sweeper, same, &lane);
    return pack->bias[0][lane] >= TP_SWEEP_OPEN;
}

// Smallest gap among the contacts that were not held by the drift and close fast, or overlap: those
// have hit and gone back, or have turned into each other slowly (`isSlow`). INFINITY: none.
static bool findGap(tpBenderStep* step, double* gap, bool* isSlow) {
    tpSystem* system = step->system;
    tpContact* contacts;
    int count;
    if (tpSystem_FindContacts(system, system->poses.data, step->time.margins, &contacts, &count) !=
        tp_success) {
        return false;
    }
    const int* match = tpMatchContacts(step->start.contacts, step->start.contactCount, contacts,
                                       count, &system->arena);
    if (match == NULL) {
        return false;
    }
    *gap = INFINITY;
    *isSlow = false;
    for (int i = 0; i < count; ++i) {
        const tpContact* contact = &contacts[i];
        if (!isFree(step, match[i])) {
            continue;
        }
        tpVec3 u = tpSub(tpSystem_PointVelocity(system, contact->bodyA, contact->pointA),
                         tpSystem_PointVelocity(system, contact->bodyB, contact->pointB));
        bool isFast = tpDot(u, contact->normal) < -step->settings->threshold;
        if ((isFast || contact->gap < -slowOverlap) && contact->gap < *gap) {
            *gap = contact->gap;
            *isSlow = !isFast;
        }
    }
    return true;
}

// The longest drift in which no body passes through another of its size: half of its own reach,
// while something is near that it closes in on.
static double longestDrift(const tpBenderStep* step, double h) {
    const tpTouch* touch = &step->start;
    for (int i = 0; i < touch->contactCount; ++i) {
        int lane;
        const tpContactPack* pack = tpSweeper_PackOf(&touch->sweeper, i, &lane);
        if (pack->bias[0][lane] < TP_SWEEP_OPEN) {
            continue;
        }
        const int bodies[2] = { touch->contacts[i].bodyA, touch->contacts[i].bodyB };
        double room = INFINITY, speed = 0.0;
        for (int k = 0; k < 2; ++k) {
            if (tpSystem_IsDynamic(step->system, bodies[k])) {
                room = fmin(room, 0.5 * step->system->bodies.data[bodies[k]].reach);
            }
            speed += tpVelocity_LargestSpeed(step->system, bodies[k],
                                             &step->time.startVelocities[bodies[k]]);
        }
        room += touch->contacts[i].gap;
        h = speed * h > room ? room / speed : h;
    }
    return h;
}

// Where the gap vanishes between two trials, of which the first is open and the second overlaps.
static double falsePosition(const tpTrial* open, const tpTrial* deep) {
    double t = open->time + (deep->time - open->time) * open->gap / (open->gap - deep->gap);
    double margin = 1e-3 * (deep->time - open->time);
    return fmin(fmax(t, open->time + margin), deep->time - margin);
}

bool tpFirstImpact_Drift(tpBenderStep* step, double h) {
    tpSystem* system = step->system;
    size_t bodies = (size_t)system->bodyCount;
    tpPose* poses = TP_SCRATCH(&system->arena, tpPose, bodies);
    tpVelocity* velocities = TP_SCRATCH(&system->arena, tpVelocity, bodies);
    if (poses == NULL || velocities == NULL) {
        return false;
    }
    if (bodies > 0) {
        memcpy(poses, system->poses.data, sizeof(tpPose) * bodies);
        memcpy(velocities, system->velocities.data, sizeof(tpVelocity) * bodies);
    }
    tpStepReport start = *step->report;
    double landing = landingPart * step->settings->epsilon, time = h;
    tpTrial open = { 0.0, INFINITY }, deep = { h, -INFINITY };
    tpContact* contacts = NULL;
    int count = 0;
    bool wasDeep = false;
    tpArenaMark mark = { 0 };
    for (int trial = 0; trial < maxTrials; ++trial) {
        // The contacts of the first trial are those of all; nothing else of a trial is used by the
        // next.
        if (trial == 1) {
            mark = tpArena_Mark(&system->arena);
        } else if (trial > 1) {
            tpArena_Release(&system->arena, mark);
        }
        if (trial > 0) {
            int solves = step->report->solveCount, iterations = step->report->iterationCount;
            *step->report = start;
            step->report->solveCount = solves;
            step->report->iterationCount = iterations;
            memcpy(system->poses.data, poses, sizeof(tpPose) * bodies);
            memcpy(system->velocities.data, velocities, sizeof(tpVelocity) * bodies);
        }
        double gap;
        bool isSlow;
        if (!tpBenderStep_Drift(step, time, contacts, count)) {
            return false;
        }
        if (!step->isLocating) {
            return true;
        }
        // Others are looked at from where these were found.
        contacts = contacts != NULL ? contacts : step->start.contacts;
        count = step->start.contactCount;
        double longest = trial == 0 ? longestDrift(step, time) : time;
        if (longest < time) {
            deep.time = time = longest;
            continue;
        }
        if (!findGap(step, &gap, &isSlow)) {
            return false;
        }
        bool isWhole = time >= deep.time;
        if ((gap >= 0.0 && isWhole) || fabs(gap) <= landing) {
            return true;
        }
        // A slow one that overlaps after next to no time did so before, and is held from there on.
        if (isSlow && time < leastPart * step->duration) {
            return true;
        }
        if (gap < 0.0) {
            open.gap *= wasDeep ? 0.5 : 1.0; // the Illinois rule
            deep.time = time;
            deep.gap = gap;
            wasDeep = true;
        } else {
            deep.gap *= wasDeep ? 1.0 : 0.5;
            open.time = time;
            open.gap = gap;
            wasDeep = false;
        }
        bool isBracketed = isfinite(open.gap) && isfinite(deep.gap);
        time = isBracketed ? falsePosition(&open, &deep) : 0.5 * (open.time + deep.time);
    }
    return true;
}
