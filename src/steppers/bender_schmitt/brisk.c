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

#include "steppers/bender_schmitt/brisk_step.h"
#include "steppers/bender_schmitt/crew.h"
#include "steppers/bender_schmitt/matching.h"

// Turns of the contact spring in a part, and its damping (1: critical).
static const double springTurns = 0.125;
static const double springDamping = 5.0;

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

// Contacts at the start -----------------------------------------------------------------------------

// Those that the last step found at its end; where they do not hold any more they are looked for, and start
// from what the old ones carried.
static bool findContacts(tpBrisk* brisk) {
    tpBenderSchmitt* state = brisk->state;
    bool hasImpulses = state->starts.count == state->contacts.count;
    if (brisk->isKnown) {
        // They were looked for at least as far away as these margins say.
        for (int i = 0; i < brisk->bodyCount; ++i) {
            brisk->margins[i] = fmax(brisk->margins[i], state->margins.data[i]);
        }
        brisk->impulses = hasImpulses ? state->starts.data : NULL;
    } else {
        tpSystem* system = brisk->system;
        tpContactArray old = state->contacts;
        state->contacts = state->past;
        state->past = old;
        if (tpSystem_CollectContacts(system, brisk->margins, &state->contacts) != tp_success) {
            return false;
        }
        int count = state->contacts.count;
        int* match = tpMatchContacts(old.data, hasImpulses ? old.count : 0, state->contacts.data,
                                     count, &system->arena);
        tpVec3* impulses = TP_SCRATCH_ZEROED(&system->arena, tpVec3, count);
        if (match == NULL || impulses == NULL) {
            return false;
        }
        for (int i = 0; i < count; ++i) {
            if (match[i] >= 0) {
                impulses[i] = state->starts.data[match[i]];
            }
        }
        brisk->impulses = impulses;
    }
    brisk->contacts = state->contacts.data;
    brisk->contactCount = state->contacts.count;
    return true;
}

// Parts ---------------------------------------------------------------------------------------------

// Lines of bodies, number by number: out = a + s b, wherever out lies.
static void addLines(tpVelocity* out, const tpVelocity* a, double s, const tpVelocity* b,
                     tpRange range) {
    for (int i = range.begin; i < range.end; ++i) {
        out[i].linear = tpMulAdd(a[i].linear, s, b[i].linear);
        out[i].angular = tpMulAdd(a[i].angular, s, b[i].angular);
    }
}

// Beginning of a part: forces, and what the contacts gave in the last one.
static void beginPart(tpBrisk* brisk, tpRange range) {
    addLines(brisk->bases, brisk->velocities, 1.0, brisk->kicks, range);
    addLines(brisk->velocities, brisk->bases, 1.0, brisk->given, range);
}

typedef void (*RunFunction)(const tpBriskSweep* sweep, const tpBriskRun* run);

// Colour after colour.
static void overColours(tpBrisk* brisk, tpCrew* crew, int member, const tpBriskSweep* sweep,
                        RunFunction function) {
    for (int c = 0; c < brisk->colourCount; ++c) {
        tpRange range = tpCrew_Share(crew, member, brisk->colours[c], brisk->colours[c + 1]);
        for (int r = range.begin; r < range.end; ++r) {
            function(sweep, &brisk->runs[r]);
        }
        tpCrew_Wait(crew);
    }
}

typedef void (*SweepFunction)(const tpBriskSweep* sweep, const tpBriskRun* run, bool isBackward);

static void sweepColours(tpBrisk* brisk, tpCrew* crew, int member, SweepFunction function,
                         bool isBackward) {
    for (int k = 0; k < brisk->colourCount; ++k) {
        int c = isBackward ? brisk->colourCount - 1 - k : k;
        tpRange range = tpCrew_Share(crew, member, brisk->colours[c], brisk->colours[c + 1]);
        for (int r = range.begin; r < range.end; ++r) {
            function(&brisk->sweep, &brisk->runs[r], isBackward);
        }
        tpCrew_Wait(crew);
    }
}

// One member's share of the whole step; all members go through it together.
static void solveParts(void* context, tpCrew* crew, int member) {
    tpBrisk* brisk = context;
    const tpWideBrisk* wide = brisk->wide;
    tpRange bodies = tpCrew_Share(crew, member, 0, brisk->bodyCount);
    tpBriskSweep starting = brisk->sweep;
    starting.velocities = brisk->given;
    overColours(brisk, crew, member, &starting, wide->startRun);
    for (int part = 0; part < brisk->parts; ++part) {
        beginPart(brisk, bodies);
        tpCrew_Wait(crew);
        bool isOdd = part % 2 == 1;
        sweepColours(brisk, crew, member, wide->leadRun, isOdd);
        addLines(brisk->moved, brisk->moved, brisk->time, brisk->velocities, bodies);
        tpCrew_Wait(crew);
        sweepColours(brisk, crew, member, wide->settleRun, !isOdd);
        if (part == brisk->parts - 1 && brisk->bounces) {
            overColours(brisk, crew, member, &brisk->sweep, wide->bounceRun);
        }
        addLines(brisk->given, brisk->velocities, -1.0, brisk->bases, bodies);
    }
    // Twice the mean of the velocities without contacts and those with them; the kicks are done with.
    addLines(brisk->kicks, brisk->frees, 1.0, brisk->velocities, bodies);
}

// The step ------------------------------------------------------------------------------------------

static bool takeStep(tpBrisk* brisk) {
    if (!tpBrisk_BeginBodies(brisk) || !findContacts(brisk)) {
        return false;
    }
    brisk->sweep.masses = brisk->masses;
    brisk->sweep.velocities = brisk->velocities;
    brisk->sweep.moved = brisk->moved;
    brisk->sweep.bases = brisk->bases;
    brisk->sweep.means = brisk->kicks;
    if (!tpBrisk_Pack(brisk)) {
        return false;
    }
    tpCrew_Run(brisk->system->tasks, brisk->keptCount, solveParts, brisk);
    return tpBrisk_Judge(brisk) && tpBrisk_MoveBodies(brisk) && tpBrisk_Remember(brisk);
}

bool tpBrisk_Step(tpBenderStep* step, int parts) {
    // In the arena: the list of contacts is made of it when somebody asks.
    tpBrisk* brisk = TP_SCRATCH_ZEROED(&step->system->arena, tpBrisk, 1);
    if (brisk == NULL) {
        return false;
    }
    brisk->system = step->system;
    brisk->state = step->state;
    brisk->settings = step->settings;
    brisk->report = step->report;
    brisk->h = step->duration;
    brisk->parts = parts;
    brisk->time = step->duration / parts;
    brisk->wide = tpChooseWideBrisk();
    brisk->sweep.softness = softnessOf(brisk->time, step->settings->pushOut);
    return takeStep(brisk);
}
