// Collisions and contacts by iterated impulses [BenderSchmitt06].
//
// The step of the paper's figure 1, seen from the moment after its collisions: resting contacts get
// impulses that hold during the step (3.2), the bodies move, the collision detection looks where they
// are, collisions are resolved (3.1). With `impacts: located` the collision detection controls the step:
// it ends when the first contact is hit, and what is left of it is another one. README.md beside this
// file has the equations and the table of symbols.

#include "steppers/bender_schmitt/bender_schmitt.h"

#include <string.h>

#include "dynamics/forces.h"
#include "dynamics/joints.h"
#include "steppers/bender_schmitt/attempt.h"
#include "steppers/bender_schmitt/brisk.h"
#include "steppers/bender_schmitt/first_impact.h"
#include "steppers/bender_schmitt/matching.h"
#include "steppers/bender_schmitt/missed.h"
#include "steppers/bender_schmitt/step.h"

// Parts of a step before the rest of it is taken without looking for impacts.
enum { maxParts = 200 };

// Halvings of a part that gains energy.
enum { maxHalvings = 5 };

// Joints are brought back to within this after each step, m or rad.
static const double jointTolerance = 1e-10;

// The guard lets energy rise by this part of the energy: rounding and the tolerance of the solves.
static const double guardSlack = 1e-10;

// A part is taken again where it gains more than this part of the energy: what a symmetric integrator
// gains and loses again while bodies swing and touch is less.
static const double gainSlack = 1e-8;

static tpBenderSettings readOptions(const tpSystem* system, const tpOptions* options) {
    tpBenderSettings settings;
    memset(&settings, 0, sizeof(settings));
    settings.tolerance = options->values[tp_toleranceOption];
    settings.gamma = options->values[tp_gammaOption];
    settings.pushOut = options->values[tp_pushOutSpeedOption];
    settings.epsilon = options->values[tp_collisionToleranceOption];
    settings.threshold = options->values[tp_restitutionThresholdOption];
    if (settings.threshold < 0.0) {
        settings.threshold = sqrt(2.0 * tpLength(system->gravity) * settings.epsilon);
    }
    settings.budget = (int)options->values[tp_budgetOption];
    settings.isLocated = options->values[tp_impactsOption] == tp_locatedImpacts;
    settings.isPaperRule = options->values[tp_frictionRuleOption] == tp_paperFriction;
    settings.isShocked = options->values[tp_shockPropagationOption] != 0.0;
    settings.isGuarded = options->values[tp_energyGuardOption] != 0.0;
    return settings;
}

// The contacts at the start of a step ---------------------------------------------------------------

// Those that the last step found at its end, where they still hold: nothing has been moved since, and no
// body is faster than was looked for. Where much touches, a body that has been hit may outrun its margin
// by a part of its size: what it meets is then found at the end of the step.
static bool isKnown(const tpBenderStep* step) {
    const tpBenderSchmitt* state = step->state;
    const tpSystem* system = step->system;
    int count = step->time.bodyCount;
    if (state->layout != system->layout || state->poses.count != count ||
        state->margins.count != count) {
        return false;
    }
    if (count > 0 &&
        memcmp(state->poses.data, system->poses.data, sizeof(tpPose) * (size_t)count) != 0) {
        return false;
    }
    double fineCount = step->settings->budget / 1500.0;
    bool isFine = state->contacts.count <= fineCount;
    for (int i = 0; i < count; ++i) {
        double spare = isFine ? 0.0 : TP_SPARE_WAY * system->bodies.data[i].reach;
        if (step->time.margins[i] > state->margins.data[i] * (1.0 + 1e-9) + spare) {
            return false;
        }
    }
    return true;
}

static bool findStartContacts(tpBenderStep* step, tpContact** contacts, int* count) {
    tpSystem* system = step->system;
    tpBenderSchmitt* state = step->state;
    if (!isKnown(step)) {
        return tpSystem_FindContacts(system, system->poses.data, step->time.margins, contacts,
                                     count) == tp_success;
    }
    // They were looked for at least as far away as these margins say.
    for (int i = 0; i < step->time.bodyCount; ++i) {
        step->time.margins[i] = fmax(step->time.margins[i], state->margins.data[i]);
    }
    *count = state->contacts.count;
    *contacts = TP_SCRATCH(&system->arena, tpContact, *count);
    if (*contacts != NULL && *count > 0) {
        memcpy(*contacts, state->contacts.data, sizeof(tpContact) * (size_t)*count);
    }
    return *contacts != NULL;
}

// Contacts where the step has led, found with margins that the next step can use.
static bool findEndContacts(tpBenderStep* step, tpContact** contacts, int* count) {
    tpSystem* system = step->system;
    tpBenderSchmitt* state = step->state;
    const tpAllocator* allocator = &system->allocator;
    // The drift has left its own, unless joints have been brought back since, which moves bodies.
    bool isMoved = system->joints.count > 0;
    if ((step->found == NULL || isMoved) && !tpMissed_Look(step)) {
        return false;
    }
    *contacts = step->found;
    *count = step->foundCount;
    state->layout = 0;
    state->starts.count = 0;
    if (!TP_RESERVE(allocator, state->contacts, *count) ||
        !TP_RESERVE(allocator, state->poses, system->bodyCount) ||
        !TP_RESERVE(allocator, state->margins, system->bodyCount)) {
        return false;
    }
    state->contacts.count = *count;
    state->poses.count = state->margins.count = system->bodyCount;
    if (*count > 0) {
        memcpy(state->contacts.data, *contacts, sizeof(tpContact) * (size_t)*count);
    }
    if (system->bodyCount > 0) {
        size_t bodies = (size_t)system->bodyCount;
        memcpy(state->poses.data, system->poses.data, sizeof(tpPose) * bodies);
        memcpy(state->margins.data, step->foundMargins, sizeof(double) * bodies);
    }
    state->layout = system->layout;
    return true;
}

// A part of a step ------------------------------------------------------------------------------------

// Resting contacts during the step, and the drift, of h seconds.
bool tpBenderStep_Drift(tpBenderStep* step, double h, tpContact* contacts, int count) {
    tpSystem* system = step->system;
    if (!tpTimeStep_Begin(&step->time, system, h, 0.5 * h, step->report)) {
        return false;
    }
    if (contacts == NULL && !findStartContacts(step, &contacts, &count)) {
        return false;
    }
    return tpTouch_Create(&step->start, system, step->time.startPoses, contacts, count,
                          step->settings->budget) &&
           tpResting_Solve(step);
}

static double energyOf(const tpSystem* system) {
    return tpSystem_KineticEnergy(system) + tpSystem_PotentialEnergy(system);
}

// Collisions; where they would raise the energy beyond what it may be, with less restitution.
static bool resolveGuarded(tpBenderStep* step, double allowed) {
    tpSystem* system = step->system;
    size_t bytes = sizeof(tpVelocity) * (size_t)system->bodyCount;
    tpVelocity* before = tpArena_Get(&system->arena, bytes);
    if (before == NULL) {
        return false;
    }
    if (bytes > 0) {
        memcpy(before, system->velocities.data, bytes);
    }
    static const double factors[] = { 1.0, 0.75, 0.5, 0.25, 0.0 };
    tpStepReport start = *step->report;
    for (int trial = 0; trial < 5; ++trial) {
        if (!tpCollisions_Resolve(step, factors[trial])) {
            return false;
        }
        double slack = guardSlack * fabs(allowed);
        bool hasRisen =
            energyOf(system) > allowed + step->report->externalWork - start.externalWork + slack;
        bool isFine = !step->settings->isGuarded || !hasRisen ||
                      step->report->collisionCount == start.collisionCount;
        if (isFine || trial == 4) {
            break;
        }
        int solves = step->report->solveCount, iterations = step->report->iterationCount;
        *step->report = start;
        step->report->solveCount = solves;
        step->report->iterationCount = iterations;
        step->report->note = "the energy guard acted";
        memcpy(system->velocities.data, before, bytes);
    }
    return true;
}

// From the end of the drift to the end of the part: the rest of the forces, joints, collisions.
static bool finishPart(tpBenderStep* step, double energy, tpTally* tally) {
    tpSystem* system = step->system;
    tpStepReport* report = step->report;
    double h = step->time.h;
    if (!tpTouch_AccountEnergy(&step->start, step->time.kicked, step->time.pushed, report) ||
        !tpTouch_AccountKick(&step->start, step->time.startVelocities, step->time.kicked, 1.0,
                             report)) {
        return false;
    }
    tpJoints_AddReactions(system, &step->start.rows, step->duration);
    report->externalWork += tpSystem_KickWithoutSprings(system, system->time + 0.5 * h, 0.5 * h);
    tpJoints_KickSprings(system, &step->start.rows, step->time.moves, h, report);
    tpJoints_FollowAngles(system);
    tpJoints_Correct(system, step->state->memory->solver, jointTolerance);
    report->jointDrift = fmax(report->jointDrift, tpJoints_Drift(system, system->poses.data));
    tpContact* contacts;
    int count;
    if (!findEndContacts(step, &contacts, &count)) {
        return false;
    }
    step->match = tpMatchContacts(step->start.contacts, step->start.contactCount, contacts, count,
                                  &system->arena);
    if (step->match == NULL || !tpTouch_Create(&step->end, system, system->poses.data, contacts,
                                               count, step->settings->budget)) {
        return false;
    }
    return resolveGuarded(step, energy + report->externalWork) && tpBenderStep_Tally(step, tally);
}

// Energy that contacts have given in a part, beyond what rounding and the solves' tolerance explain. Without
// contacts energy only swings about its mean, as with all symmetric integrators.
static bool gainsEnergy(const tpBenderStep* step, double energy) {
    const tpSystem* system = step->system;
    bool carries = false;
    for (int i = 0; i < step->start.contactCount && !carries; ++i) {
        carries = tpTouch_Normal(&step->start, i) > 0.0;
    }
    for (int i = 0; i < step->end.contactCount && !carries; ++i) {
        carries = tpTouch_Normal(&step->end, i) > 0.0;
    }
    double slack = gainSlack * (step->report->kineticBefore + fabs(step->report->potentialBefore));
    return carries && energyOf(system) > energy + step->report->externalWork + slack;
}

// One part of at most `left` seconds. Where it gains energy in spite of all, it is taken again in halves:
// the gain is that of directions which change during the part.
static bool takePart(tpBenderStep* step, double left, tpTally* tally) {
    double energy = energyOf(step->system) - step->report->externalWork;
    tpAttempt attempt;
    if (!tpAttempt_Keep(&attempt, step, tally)) {
        return false;
    }
    for (int halving = 0;; ++halving) {
        bool isDone = step->settings->isLocated ? tpFirstImpact_Drift(step, left)
                                                : tpBenderStep_Drift(step, left, NULL, 0);
        if (!isDone || !finishPart(step, energy, tally)) {
            return false;
        }
        bool isTried = halving == maxHalvings || !step->settings->isGuarded || !step->end.isFine;
        if (isTried || !gainsEnergy(step, energy)) {
            return true;
        }
        left = 0.5 * step->time.h;
        tpAttempt_Undo(&attempt, step, tally);
        step->report->note = "the energy guard acted";
    }
}

// The whole step: one part, or as many as there are impacts in it.
static bool takeStep(tpBenderStep* step, tpTally* tally) {
    tpSystem* system = step->system;
    tpBenderSettings fixed = *step->settings;
    fixed.isLocated = false;
    double begin = system->time, left = step->duration;
    bool isDone = true;
    tpJoints_ClearReactions(system);
    for (int part = 1; isDone && left > 0.0; ++part) {
        if (part > maxParts) {
            step->settings = &fixed;
            step->report->note = "too many impacts in a step to locate them all";
        }
        isDone = takePart(step, left, tally);
        left = step->time.h < left ? left - step->time.h : 0.0;
        system->time = begin + (step->duration - left);
        step->report->substepCount = part;
    }
    system->time = begin;
    return isDone;
}

static void step(tpSystem* system, void* state, const tpOptions* options, double h,
                 tpStepReport* report) {
    tpBenderSettings settings = readOptions(system, options);
    tpBenderStep bender;
    memset(&bender, 0, sizeof(bender));
    bender.system = system;
    bender.state = state;
    bender.settings = &settings;
    bender.report = report;
    bender.duration = h;
    tpTally tally = { NULL, 0 };
    int parts = (int)options->values[tp_substepsOption];
    bool isDone = parts > 0 && tpBrisk_CanStep(system)
                      ? tpBrisk_Step(&bender, parts)
                      : takeStep(&bender, &tally) && tpBenderStep_Remember(&bender, &tally);
    if (!isDone) {
        ((tpBenderSchmitt*)state)->layout = 0;
        report->undone = true;
        report->note = "out of memory";
    }
}

static const tpOptionIndex used[] = { tp_toleranceOption,
                                      tp_gammaOption,
                                      tp_energyGuardOption,
                                      tp_restitutionThresholdOption,
                                      tp_collisionToleranceOption,
                                      tp_impactsOption,
                                      tp_frictionRuleOption,
                                      tp_shockPropagationOption,
                                      tp_budgetOption,
                                      tp_pushOutSpeedOption,
                                      tp_substepsOption,
                                      tp_optionCount };

const tpStepper tpBenderSchmittStepper = {
    .name = "bender-schmitt",
    .summary = "iterated impulses for collisions and resting contacts, the fast one",
    .options = used,
    .create = tpBenderSchmitt_Create,
    .destroy = tpBenderSchmitt_Destroy,
    .step = step,
    .savedSize = tpBenderSchmitt_SavedSize,
    .save = tpBenderSchmitt_Save,
    .restore = tpBenderSchmitt_Restore,
};
