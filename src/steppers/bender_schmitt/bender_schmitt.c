// Collisions and contacts by iterated impulses [BenderSchmitt06].
//
// The step of the paper's figure 1, seen from the moment after its collisions: resting contacts get
// impulses that hold during the step (3.2), the bodies move, the collision detection looks where
// they are, collisions are resolved (3.1). With `impacts: located` the collision detection controls
// the step: it ends when the first contact is hit, and what is left of it is another one. README.md
// beside this file has the equations and the table of symbols.

#include "steppers/bender_schmitt/bender_schmitt.h"

#include <string.h>

#include "dynamics/joints.h"
#include "dynamics/step_budget.h"
#include "steppers/bender_schmitt/part.h"
#include "steppers/bender_schmitt/step_contacts.h"

// What is left of a step is rounding where it is less than this part of it.
static const double shortest = 1e-12;

// Of the size of the smallest body: bodies that go farther in a step flow from contact to contact.
static const double flowPart = 0.05;

// Steps of a large problem by sweeps alone after one that the portfolio could not solve, and steps
// without sharp energy after one that could not afford it: twice as many each time.
enum { leastPatience = 15, mostPatience = 960 };

// Parts of a step before the rest of it is taken without looking for impacts.
enum { maxParts = 200 };

// Halvings of a step that later ones may begin with.
enum { mostLevel = 5 };

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

// Steps to wait after one more that was in vain.
static int longer(int patience) {
    int twice = 2 * patience;
    twice = twice < leastPatience ? leastPatience : twice;
    return twice < mostPatience ? twice : mostPatience;
}

// Whether the portfolio is worth its work on problems that are not small.
static void considerPortfolio(tpBenderStep* step) {
    tpBenderSchmitt* state = step->state;
    if (step->start.isSmall || step->settings->isWaiting) {
        return;
    }
    if (step->start.isLost || step->end.isLost) {
        state->wait = state->patience = longer(state->patience);
    } else {
        state->patience = 0;
    }
}

// Whether the next steps keep the energy to the last digits. A step whose parts become longer
// within it, because that took too much work, is worse than one of equal parts.
static void considerSharpness(tpBenderStep* step, bool wasSharp) {
    tpBenderSchmitt* state = step->state;
    if (wasSharp && !step->isSharp) {
        state->bluntWait = state->bluntPatience = longer(state->bluntPatience);
    } else if (wasSharp) {
        state->bluntPatience = 0;
    }
}

// Of what a part leaves in the arena the next one needs the tally alone. The rest is given back: a
// step with many parts would need memory for all of them else.
static bool forgetPart(tpBenderStep* step, tpTally* tally, tpArenaMark mark) {
    tpSystem* system = step->system;
    tpBenderSchmitt* state = step->state;
    size_t bytes = sizeof(tpContactInfo) * (size_t)tally->count;
    if (!TP_RESERVE(&system->allocator, state->tallied, tally->count)) {
        return false;
    }
    if (tally->count > 0) {
        memcpy(state->tallied.data, tally->list, bytes);
    }
    tpArena_Release(&system->arena, mark);
    step->found = NULL;
    tally->list = TP_SCRATCH(&system->arena, tpContactInfo, tally->count);
    if (tally->list == NULL) {
        return false;
    }
    if (tally->count > 0) {
        memcpy(tally->list, state->tallied.data, bytes);
    }
    return true;
}

// The whole step: one part, or as many as there are impacts in it.
static bool takeStep(tpBenderStep* step, tpTally* tally) {
    tpSystem* system = step->system;
    tpBenderSettings fixed = *step->settings;
    fixed.isLocated = false;
    double begin = system->time, left = step->duration;
    tpVelocity* given = TP_SCRATCH(&system->arena, tpVelocity, system->bodyCount);
    if (given == NULL) {
        return false;
    }
    if (system->bodyCount > 0) {
        memcpy(given, system->velocities.data, sizeof(tpVelocity) * (size_t)system->bodyCount);
    }
    bool isDone = true;
    tpArenaMark mark = tpArena_Mark(&system->arena);
    tpJoints_ClearReactions(system);
    tpEnergyBook* book = &step->state->memory->book;
    tpEnergyGuard_Begin(&step->energy, book, system, step->duration, step->report);
    tpEnergyGuard_BeginPart(&step->energy, system, step->report);
    step->isSmooth = true;
    bool wasSharp = step->isSharp;
    step->longest = ldexp(step->duration, fixed.isGuarded ? -step->energy.level : 0);
    step->longestStaged = step->duration;
    for (int part = 1; isDone && left > 0.0; ++part) {
        if (tpStepBudget_IsSpent(system)) {
            step->longest = left; // the rest in one part
        }
        if (part > maxParts) {
            step->settings = &fixed;
            tpStepReport_AddNote(step->report, "too many impacts in a step to locate them all");
        }
        step->given = part == 1 ? given : NULL;
        isDone = (part == 1 || forgetPart(step, tally, mark)) && tpPart_Take(step, left, tally);
        considerPortfolio(step);
        left -= step->time.h;
        left = left > shortest * step->duration ? left : 0.0;
        system->time = begin + (step->duration - left);
        step->report->substepCount = part;
    }
    system->time = begin;
    // The next steps begin with parts as long as have been right in this one.
    if (step->isSmooth && step->level <= mostLevel) {
        tpEnergyGuard_RaiseLevel(&step->energy, step->level);
    }
    tpEnergyGuard_End(&step->energy);
    considerSharpness(step, wasSharp);
    return isDone;
}

// Before the step: who wakes, and who is left out of it.
static bool wake(tpBenderStep* step, double speed) {
    tpBenderSchmitt* state = step->state;
    tpSystem* system = step->system;
    tpSleep* sleep = &state->sleep;
    if (!tpSleep_Begin(sleep, system, step->duration)) {
        return false;
    }
    bool hasWoken = sleep->woken.count > 0;
    while (sleep->sleepingCount > 0) {
        state->structure = hasWoken ? 0 : state->structure;
        tpContact* contacts;
        int count;
        step->time.bodyCount = system->bodyCount;
        step->time.margins =
            tpSystem_Margins(system, system->velocities.data, NULL, step->duration);
        if (step->time.margins == NULL || !tpStepContacts_Start(step, &contacts, &count)) {
            return false;
        }
        if (!tpSleep_Meet(sleep, system, contacts, count, speed, step->duration)) {
            break;
        }
        hasWoken = true;
    }
    state->structure = hasWoken ? 0 : state->structure;
    return tpBenderSchmitt_AddWoken(state, &system->allocator);
}

// After it: who falls asleep. Contacts that the next step would start from have changed then.
static bool rest(tpBenderStep* step, const tpSleepSettings* settings) {
    tpSleep* sleep = &step->state->sleep;
    int last = sleep->lastIsland;
    bool isDone = tpSleep_End(sleep, step->system, settings, step->duration, step->report);
    step->state->structure = sleep->lastIsland != last ? 0 : step->state->structure;
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
    bender.duration = bender.longest = bender.proven = h;
    bender.state->wait -= bender.state->wait > 0 ? 1 : 0;
    settings.isWaiting = bender.state->wait > 0;
    bender.state->bluntWait -= bender.state->bluntWait > 0 ? 1 : 0;
    bender.isSharp = bender.state->bluntWait == 0;
    settings.calm = 2.0 * h * tpLength(system->gravity);
    settings.flow = flowPart * system->scales.smallest / h;
    tpTally tally = { NULL, 0 };
    tpSleepSettings sleep = { .speed = options->values[tp_sleepSpeedOption],
                              .time = options->values[tp_sleepTimeOption] };
    bool sleeps = options->values[tp_sleepOption] != 0.0;
    bool isDone = true;
    bool hasSleepers = bender.state->sleep.sleepingCount > 0;
    if (hasSleepers && !sleeps) {
        tpSleep_WakeAll(&bender.state->sleep, system);
        sleep.time = INFINITY;
    }
    if (hasSleepers || sleeps) {
        isDone = wake(&bender, sleep.speed);
    }
    bool isStill = isDone && bender.state->sleep.sleepingCount > 0 && tpSleep_IsAll(system);
    system->contacts.count = isStill ? 0 : system->contacts.count;
    isDone = isDone &&
             (isStill || (takeStep(&bender, &tally) && tpBenderStep_Remember(&bender, &tally)));
    if (bender.state->sleep.isTaken) {
        isDone = rest(&bender, &sleep) && isDone;
    }
    if (!isDone) {
        ((tpBenderSchmitt*)state)->structure = 0;
        tpStepReport_RunOut(report);
    }
}

static tpEnergyBook* bookOf(void* state) {
    return &((tpBenderSchmitt*)state)->memory->book;
}

static const tpOptionIndex used[] = { tp_toleranceOption,
                                      tp_certificateOption,
                                      tp_gammaOption,
                                      tp_energyGuardOption,
                                      tp_restitutionThresholdOption,
                                      tp_collisionToleranceOption,
                                      tp_impactsOption,
                                      tp_frictionRuleOption,
                                      tp_shockPropagationOption,
                                      tp_budgetOption,
                                      tp_pushOutSpeedOption,
                                      tp_sleepOption,
                                      tp_sleepSpeedOption,
                                      tp_sleepTimeOption,
                                      tp_optionCount };

static const tpFigureIndex figures[] = { tp_collisionFigure, tp_figureCount };

const tpStepper tpBenderSchmittStepper = {
    .name = "bender-schmitt",
    .lacks = tp_lacksRollingFriction | tp_lacksCompliance,
    .summary = "iterated impulses: mechanisms, located impacts, large crowds",
    .closesAccount = true,
    .seesCrossings = true,
    .options = used,
    .figures = figures,
    .refusedOption = "substeps",
    .refusedFor = "small-steps",
    .create = tpBenderSchmitt_Create,
    .destroy = tpBenderSchmitt_Destroy,
    .step = step,
    .bookOf = bookOf,
    .savedSize = tpBenderSchmitt_SavedSize,
    .save = tpBenderSchmitt_Save,
    .restore = tpBenderSchmitt_Restore,
};
