// The end of the step at the first impact [BenderSchmitt06, sec. 3: "the collision detection
// controls the time step size"].
//
// The gap that the fastest closing contacts have at the end of a drift of t seconds is a function
// of t; its root is found by false position with the Illinois rule, taking the drift anew for each
// t. Contacts that rest, or close slowly, are rows of the drift itself and never overlap.

#include "steppers/bender_schmitt/first_impact.h"

#include "dynamics/matching.h"
#include "dynamics/trial.h"

// Drifts tried before the best is taken.
enum { maxTrials = 60 };

// The gap at the end is this part of eps_c at most: what is left of it moves the time of the
// impact, and an overlap has to be taken back by velocities.
static const double landingPart = 1e-3;

// Overlaps of contacts that do not close fast are impacts beyond this, in units of length: less
// comes from corners that change their names.
static const double slowOverlap = 1e-7;

// Part of a step below which those are not looked for.
static const double leastPart = 1e-4;

typedef struct tpTriedDrift {
    double time, gap;
} tpTriedDrift;

// The root lies between a drift that ends open and one that overlaps.
typedef struct Bracket {
    tpTriedDrift open, deep;
    bool wasDeep; // the last drift overlapped
} Bracket;

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
        if ((isFast || contact->gap < -slowOverlap * system->units.length) && contact->gap < *gap) {
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

// Where the gap vanishes between two drifts, of which the first is open and the second overlaps.
static double falsePosition(const tpTriedDrift* open, const tpTriedDrift* deep) {
    double t = open->time + (deep->time - open->time) * open->gap / (open->gap - deep->gap);
    double margin = 1e-3 * (deep->time - open->time);
    return fmin(fmax(t, open->time + margin), deep->time - margin);
}

// The time to try after a drift that left `gap`: false position between the two sides, with the
// Illinois rule for a side that stays; the middle until both gaps are known.
static double nextTime(Bracket* bracket, double time, double gap) {
    tpTriedDrift *open = &bracket->open, *deep = &bracket->deep;
    bool isDeep = gap < 0.0;
    if (isDeep) {
        open->gap *= bracket->wasDeep ? 0.5 : 1.0;
        *deep = (tpTriedDrift){ time, gap };
    } else {
        deep->gap *= bracket->wasDeep ? 1.0 : 0.5;
        *open = (tpTriedDrift){ time, gap };
    }
    bracket->wasDeep = isDeep;
    bool isBracketed = isfinite(open->gap) && isfinite(deep->gap);
    return isBracketed ? falsePosition(open, deep) : 0.5 * (open->time + deep->time);
}

// Whether the drift of `time` seconds is the one to keep: it is whole and open, or it ends where
// two bodies meet. A slow contact that overlaps after next to no time did so before, and is held
// from there on.
static bool isFound(const tpBenderStep* step, const Bracket* bracket, double time, double gap,
                    bool isSlow) {
    double landing = landingPart * step->settings->epsilon;
    bool isWhole = time >= bracket->deep.time;
    return (gap >= 0.0 && isWhole) || fabs(gap) <= landing ||
           (isSlow && time < leastPart * step->duration);
}

bool tpFirstImpact_Drift(tpBenderStep* step, double h) {
    tpTrial start;
    if (!tpTrial_Begin(&start, step->system, NULL, step->report)) {
        return false;
    }
    Bracket bracket = { { 0.0, INFINITY }, { h, -INFINITY }, false };
    tpContact* contacts = NULL;
    int count = 0;
    double time = h;
    for (int k = 0; k < maxTrials; ++k) {
        // The contacts of the first drift are those of all; nothing else of one is used by the
        // next.
        if (k == 1) {
            tpTrial_KeepScratch(&start);
        }
        if (k > 0) {
            tpTrial_Undo(&start);
        }
        if (!tpBenderStep_Drift(step, time, contacts, count)) {
            return false;
        }
        if (!step->isLocating) {
            return true;
        }
        // Others are looked at from where these were found.
        contacts = contacts != NULL ? contacts : step->start.contacts;
        count = step->start.contactCount;
        double longest = k == 0 ? longestDrift(step, time) : time;
        if (longest < time) {
            bracket.deep.time = time = longest;
            continue;
        }
        double gap;
        bool isSlow;
        if (!findGap(step, &gap, &isSlow)) {
            return false;
        }
        if (isFound(step, &bracket, time, gap, isSlow)) {
            return true;
        }
        time = nextTime(&bracket, time, gap);
    }
    return true;
}
