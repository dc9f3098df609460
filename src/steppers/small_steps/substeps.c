// The substeps: two sweeps each [MacklinEtAl19; Catto24].
//
// A sweep does more good on a shorter step: what it leaves undone moves bodies less, and the next substep sees it.
// So a step of h is taken in n substeps of h / n, each with one sweep that also takes back overlaps and one that
// leaves only true velocities. Contacts are found once per step; their gaps follow the bodies' displacements, to
// first order. Impulses carry over from substep to substep and from step to step, as changes of the bodies'
// velocities: what all contacts together gave a body in one substep it gets at the beginning of the next.
//
// If bodies overlap, the normal row is an implicit spring with damping rather than rigid: with few sweeps rigid rows
// answer each other's errors with velocities, soft ones do not. The spring's frequency is as high as the substep
// resolves: overlaps vanish with h. Of the two sweeps one goes backward, from the last colour and point to the
// first, in turn: a wall of boxes swept one way only leans to the side that is always swept last.

#include <string.h>

#include "base/crew.h"
#include "dynamics/matching.h"
#include "steppers/small_steps/step.h"

// Turns of the contact spring in a substep, and its damping (1: critical).
static const double springTurns = 0.125;
static const double springDamping = 5.0;

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
static bool findContacts(tpSmallStep* step) {
    tpSmallSteps* state = step->state;
    bool hasImpulses = state->starts.count == state->contacts.count;
    if (step->isKnown) {
        // They were looked for at least as far away as these margins say.
        for (int i = 0; i < step->bodyCount; ++i) {
            step->margins[i] = fmax(step->margins[i], state->margins.data[i]);
        }
        step->impulses = hasImpulses ? state->starts.data : NULL;
    } else {
        tpSystem* system = step->system;
        tpContactArray old = state->contacts;
        state->contacts = state->past;
        state->past = old;
        if (tpSystem_CollectContacts(system, step->margins, &state->contacts) != tp_success) {
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
        step->impulses = impulses;
    }
    step->contacts = state->contacts.data;
    step->contactCount = state->contacts.count;
    return true;
}

// Substeps -----------------------------------------------------------------------------------------

// The first substep begins with forces and with what the contacts start with.
static void beginFirst(tpSmallStep* step, tpRange range) {
    for (int i = range.begin; i < range.end; ++i) {
        tpVelocity* v = &step->velocities[i];
        tpVelocity* base = &step->bases[i];
        base->linear = tpAdd(v->linear, step->kicks[i].linear);
        base->angular = tpAdd(v->angular, step->kicks[i].angular);
        v->linear = tpAdd(base->linear, step->given[i].linear);
        v->angular = tpAdd(base->angular, step->given[i].angular);
    }
}

// Those that follow begin with forces, and what the contacts gave in the substep before.
static void beginNext(tpSmallStep* step, tpRange range) {
    for (int i = range.begin; i < range.end; ++i) {
        tpVelocity* v = &step->velocities[i];
        tpVelocity* base = &step->bases[i];
        tpVec3 linear = tpSub(v->linear, base->linear), angular = tpSub(v->angular, base->angular);
        base->linear = tpAdd(v->linear, step->kicks[i].linear);
        base->angular = tpAdd(v->angular, step->kicks[i].angular);
        v->linear = tpAdd(base->linear, linear);
        v->angular = tpAdd(base->angular, angular);
    }
}

static bool isSame(const tpVelocity* a, const tpVelocity* b) {
    return a->linear.x == b->linear.x && a->linear.y == b->linear.y && a->linear.z == b->linear.z &&
           a->angular.x == b->angular.x && a->angular.y == b->angular.y &&
           a->angular.z == b->angular.z;
}

static void move(tpSmallStep* step, tpRange range) {
    for (int i = range.begin; i < range.end; ++i) {
        tpVelocity* moved = &step->moved[i];
        moved->linear = tpMulAdd(moved->linear, step->substepTime, step->velocities[i].linear);
        moved->angular = tpMulAdd(moved->angular, step->substepTime, step->velocities[i].angular);
        step->isPushed[i] = step->isPushed[i] || !isSame(&step->velocities[i], &step->bases[i]);
    }
}

// Twice the mean of the velocities without contacts and those with them; the kicks are done with.
static void findMeans(tpSmallStep* step, tpRange range) {
    for (int i = range.begin; i < range.end; ++i) {
        step->kicks[i].linear = tpAdd(step->frees[i].linear, step->velocities[i].linear);
        step->kicks[i].angular = tpAdd(step->frees[i].angular, step->velocities[i].angular);
        step->isPushed[i] = step->isPushed[i] || !isSame(&step->velocities[i], &step->bases[i]);
    }
}

// What is done with the runs of a sweep, and in which direction.
typedef struct Sweep {
    const tpSoftSweep* data;
    void (*plain)(const tpSoftSweep* sweep, const tpSoftRun* run);
    void (*directed)(const tpSoftSweep* sweep, const tpSoftRun* run, bool isBackward);
    bool isBackward;
} Sweep;

static void overRuns(const tpSmallStep* step, const Sweep* sweep, tpRange runs) {
    for (int r = runs.begin; r < runs.end; ++r) {
        if (sweep->plain != NULL) {
            sweep->plain(sweep->data, &step->runs[r]);
        } else {
            sweep->directed(sweep->data, &step->runs[r], sweep->isBackward);
        }
    }
}

// The member's blocks, each colour after colour.
static void overBlocks(const tpSmallStep* step, tpCrew* crew, int member, const Sweep* sweep) {
    tpRange blocks = tpCrew_Share(crew, member, 0, step->blockCount);
    for (int b = blocks.begin; b < blocks.end; ++b) {
        int first = step->blocks[b], end = step->blocks[b + 1];
        for (int k = 0; k < end - first; ++k) {
            int c = sweep->isBackward ? end - 1 - k : first + k;
            overRuns(step, sweep, (tpRange){ step->colours[c], step->colours[c + 1] });
        }
    }
    tpCrew_Wait(crew);
}

// What lies between blocks, colour after colour, all members at each.
static void overRest(const tpSmallStep* step, tpCrew* crew, int member, const Sweep* sweep,
                     int first, int end) {
    for (int k = 0; k < end - first; ++k) {
        int c = sweep->isBackward ? end - 1 - k : first + k;
        int begin = step->colours[c], stop = step->colours[c + 1];
        overRuns(step, sweep, tpCrew_Share(crew, member, begin, stop));
        tpCrew_Wait(crew);
    }
}

static void overAll(const tpSmallStep* step, tpCrew* crew, int member, Sweep sweep) {
    int between = step->blocks[step->blockCount], end = step->colourCount;
    // A single block is shared colour by colour.
    if (step->blockCount == 1) {
        overRest(step, crew, member, &sweep, 0, end);
    } else if (sweep.isBackward) {
        overRest(step, crew, member, &sweep, between, end);
        overBlocks(step, crew, member, &sweep);
    } else {
        overBlocks(step, crew, member, &sweep);
        overRest(step, crew, member, &sweep, between, end);
    }
}

// One member's share of the whole step; all members go through it together.
static void solveSubsteps(void* context, tpCrew* crew, int member) {
    tpSmallStep* step = context;
    const tpSoftKernels* wide = step->wide;
    tpRange bodies = tpCrew_Share(crew, member, 0, step->bodyCount);
    tpSoftSweep starting = step->sweep;
    starting.velocities = step->given;
    overAll(step, crew, member, (Sweep){ &starting, wide->startRun, NULL, false });
    for (int k = 0; k < step->substeps; ++k) {
        if (k == 0) {
            beginFirst(step, bodies);
        } else {
            beginNext(step, bodies);
        }
        tpCrew_Wait(crew);
        bool isOdd = k % 2 == 1;
        overAll(step, crew, member, (Sweep){ &step->sweep, NULL, wide->leadRun, isOdd });
        move(step, bodies);
        tpCrew_Wait(crew);
        overAll(step, crew, member, (Sweep){ &step->sweep, NULL, wide->settleRun, !isOdd });
        if (k == step->substeps - 1 && step->bounces) {
            overAll(step, crew, member, (Sweep){ &step->sweep, wide->bounceRun, NULL, false });
        }
    }
    findMeans(step, bodies);
}

// The step ------------------------------------------------------------------------------------------

static bool takeStep(tpSmallStep* step) {
    if (!tpSmallStep_BeginBodies(step) || !findContacts(step)) {
        return false;
    }
    step->sweep.masses = step->masses;
    step->sweep.velocities = step->velocities;
    step->sweep.moved = step->moved;
    step->sweep.bases = step->bases;
    step->sweep.means = step->kicks;
    if (!tpSmallStep_Pack(step)) {
        return false;
    }
    tpCrew_Run(step->system->tasks, step->keptCount, solveSubsteps, step);
    return tpSmallStep_Judge(step) && tpSmallStep_MoveBodies(step) && tpSmallStep_Remember(step);
}

// Steps of fewer bodies and contacts together are over before other threads are awake.
enum { fewThings = 3000 };

bool tpSmallStep_Take(tpSmallStep* step) {
    step->substeps = step->settings.substeps;
    step->substepTime = step->h / step->substeps;
    step->wide = tpGetSoftKernels(tpChooseWidth(tp_packWidth));
    step->sweep.softness = softnessOf(step->substepTime, step->settings.pushOut);
    tpTasks* tasks = step->system->tasks;
    if (step->system->bodyCount + step->state->contacts.count < fewThings) {
        step->system->tasks = NULL;
    }
    bool isTaken = takeStep(step);
    step->system->tasks = tasks;
    return isTaken;
}
