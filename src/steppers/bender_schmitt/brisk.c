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

// The first part begins with forces and with what the contacts start with.
static void beginFirst(tpBrisk* brisk, tpRange range) {
    for (int i = range.begin; i < range.end; ++i) {
        tpVelocity* v = &brisk->velocities[i];
        tpVelocity* base = &brisk->bases[i];
        base->linear = tpAdd(v->linear, brisk->kicks[i].linear);
        base->angular = tpAdd(v->angular, brisk->kicks[i].angular);
        v->linear = tpAdd(base->linear, brisk->given[i].linear);
        v->angular = tpAdd(base->angular, brisk->given[i].angular);
    }
}

// Those that follow begin with forces, and what the contacts gave in the part before.
static void beginNext(tpBrisk* brisk, tpRange range) {
    for (int i = range.begin; i < range.end; ++i) {
        tpVelocity* v = &brisk->velocities[i];
        tpVelocity* base = &brisk->bases[i];
        tpVec3 linear = tpSub(v->linear, base->linear), angular = tpSub(v->angular, base->angular);
        base->linear = tpAdd(v->linear, brisk->kicks[i].linear);
        base->angular = tpAdd(v->angular, brisk->kicks[i].angular);
        v->linear = tpAdd(base->linear, linear);
        v->angular = tpAdd(base->angular, angular);
    }
}

static void move(tpBrisk* brisk, tpRange range) {
    for (int i = range.begin; i < range.end; ++i) {
        tpVelocity* moved = &brisk->moved[i];
        moved->linear = tpMulAdd(moved->linear, brisk->time, brisk->velocities[i].linear);
        moved->angular = tpMulAdd(moved->angular, brisk->time, brisk->velocities[i].angular);
    }
}

// Twice the mean of the velocities without contacts and those with them; the kicks are done with.
static void findMeans(tpBrisk* brisk, tpRange range) {
    for (int i = range.begin; i < range.end; ++i) {
        brisk->kicks[i].linear = tpAdd(brisk->frees[i].linear, brisk->velocities[i].linear);
        brisk->kicks[i].angular = tpAdd(brisk->frees[i].angular, brisk->velocities[i].angular);
    }
}

// What is done with the runs of a sweep, and in which direction.
typedef struct Sweep {
    const tpBriskSweep* data;
    void (*plain)(const tpBriskSweep* sweep, const tpBriskRun* run);
    void (*directed)(const tpBriskSweep* sweep, const tpBriskRun* run, bool isBackward);
    bool isBackward;
} Sweep;

static void overRuns(const tpBrisk* brisk, const Sweep* sweep, tpRange runs) {
    for (int r = runs.begin; r < runs.end; ++r) {
        if (sweep->plain != NULL) {
            sweep->plain(sweep->data, &brisk->runs[r]);
        } else {
            sweep->directed(sweep->data, &brisk->runs[r], sweep->isBackward);
        }
    }
}

// The member's blocks, each colour after colour.
static void overBlocks(const tpBrisk* brisk, tpCrew* crew, int member, const Sweep* sweep) {
    tpRange blocks = tpCrew_Share(crew, member, 0, brisk->blockCount);
    for (int b = blocks.begin; b < blocks.end; ++b) {
        int first = brisk->blocks[b], end = brisk->blocks[b + 1];
        for (int k = 0; k < end - first; ++k) {
            int c = sweep->isBackward ? end - 1 - k : first + k;
            overRuns(brisk, sweep, (tpRange){ brisk->colours[c], brisk->colours[c + 1] });
        }
    }
    tpCrew_Wait(crew);
}

// What lies between blocks, colour after colour, all members at each.
static void overRest(const tpBrisk* brisk, tpCrew* crew, int member, const Sweep* sweep, int first,
                     int end) {
    for (int k = 0; k < end - first; ++k) {
        int c = sweep->isBackward ? end - 1 - k : first + k;
        int begin = brisk->colours[c], stop = brisk->colours[c + 1];
        overRuns(brisk, sweep, tpCrew_Share(crew, member, begin, stop));
        tpCrew_Wait(crew);
    }
}

static void overAll(const tpBrisk* brisk, tpCrew* crew, int member, Sweep sweep) {
    int between = brisk->blocks[brisk->blockCount], end = brisk->colourCount;
    // A single block is shared colour by colour.
    if (brisk->blockCount == 1) {
        overRest(brisk, crew, member, &sweep, 0, end);
    } else if (sweep.isBackward) {
        overRest(brisk, crew, member, &sweep, between, end);
        overBlocks(brisk, crew, member, &sweep);
    } else {
        overBlocks(brisk, crew, member, &sweep);
        overRest(brisk, crew, member, &sweep, between, end);
    }
}

// One member's share of the whole step; all members go through it together.
static void solveParts(void* context, tpCrew* crew, int member) {
    tpBrisk* brisk = context;
    const tpWideBrisk* wide = brisk->wide;
    tpRange bodies = tpCrew_Share(crew, member, 0, brisk->bodyCount);
    tpBriskSweep starting = brisk->sweep;
    starting.velocities = brisk->given;
    overAll(brisk, crew, member, (Sweep){ &starting, wide->startRun, NULL, false });
    for (int part = 0; part < brisk->parts; ++part) {
        if (part == 0) {
            beginFirst(brisk, bodies);
        } else {
            beginNext(brisk, bodies);
        }
        tpCrew_Wait(crew);
        bool isOdd = part % 2 == 1;
        overAll(brisk, crew, member, (Sweep){ &brisk->sweep, NULL, wide->leadRun, isOdd });
        move(brisk, bodies);
        tpCrew_Wait(crew);
        overAll(brisk, crew, member, (Sweep){ &brisk->sweep, NULL, wide->settleRun, !isOdd });
        if (part == brisk->parts - 1 && brisk->bounces) {
            overAll(brisk, crew, member, (Sweep){ &brisk->sweep, wide->bounceRun, NULL, false });
        }
    }
    findMeans(brisk, bodies);
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

// Steps of fewer bodies and contacts together are over before other threads are awake.
enum { fewThings = 3000 };

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
    tpTasks* tasks = step->system->tasks;
    if (step->system->bodyCount + step->state->contacts.count < fewThings) {
        step->system->tasks = NULL;
    }
    bool isTaken = takeStep(brisk);
    step->system->tasks = tasks;
    return isTaken;
}
