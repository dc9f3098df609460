// Small steps with soft contacts [MacklinEtAl19; Catto24]: a fixed amount of work per step, for real time.
//
// The order of a step: forces; contacts, found once, put into packs; substeps of two sweeps each; the certificate of
// the contact law as the last substep left it; bodies moved; contacts at the end, with which the next step starts.
// README.md beside this file has the equations and says what deviates from the papers.

#include "steppers/small_steps/small_steps.h"

#include <string.h>

#include "dynamics/joints.h"
#include "steppers/small_steps/step.h"

static tpSmallStepsSettings readOptions(const tpSystem* system, const tpOptions* options) {
    tpSmallStepsSettings settings;
    memset(&settings, 0, sizeof(settings));
    settings.tolerance = options->values[tp_toleranceOption];
    settings.pushOut = options->values[tp_pushOutSpeedOption];
    settings.threshold = options->values[tp_restitutionThresholdOption];
    if (settings.threshold < 0.0) {
        double gap = options->values[tp_collisionToleranceOption];
        settings.threshold = sqrt(2.0 * tpLength(system->gravity) * gap);
    }
    settings.substeps = (int)options->values[tp_substepsOption];
    return settings;
}

// Says in the report what the scene has and this stepper leaves out. `tippe check` says it before the run
// (tpStepperLacks).
static void noteMissing(const tpSystem* system, tpStepReport* report) {
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
    if (blocks > 0) {
        tpStepReport_AddNote(report, isTorsional
                                         ? "small-steps leaves out joints and torsional friction"
                                         : "small-steps leaves out joints");
        report->failureCount += 1;
        report->converged = false;
    } else if (isTorsional) {
        tpStepReport_AddNote(report, "small-steps leaves out torsional friction");
    }
}

// Sleep ---------------------------------------------------------------------------------------------

// Contacts at the start of the step, within margins that `step` receives: those that the last step found, or found
// now. False if memory ran out.
static bool lookAround(tpSmallStep* step, const tpContact** contacts, int* count) {
    tpSystem* system = step->system;
    const tpSmallSteps* state = step->state;
    step->bodyCount = system->bodyCount;
    step->margins = tpSystem_Margins(system, system->velocities.data, NULL, step->h);
    if (step->margins == NULL) {
        return false;
    }
    if (tpSmallStep_KnowsContacts(step)) {
        *contacts = state->contacts.data;
        *count = state->contacts.count;
        return true;
    }
    tpContact* found;
    tpResult result =
        tpSystem_FindContacts(system, system->poses.data, step->margins, &found, count);
    *contacts = found;
    return result == tp_success;
}

// Before the step: wakes islands that something comes near, and leaves the sleeping ones out of the step.
static bool wake(tpSmallStep* step, double speed) {
    tpSmallSteps* state = step->state;
    tpSleep* sleep = &state->sleep;
    if (!tpSleep_Begin(sleep, step->system, step->h)) {
        return false;
    }
    bool hasWoken = sleep->woken.count > 0;
    while (sleep->sleepingCount > 0) {
        state->structure = hasWoken ? 0 : state->structure;
        const tpContact* contacts;
        int count;
        if (!lookAround(step, &contacts, &count)) {
            return false;
        }
        if (!tpSleep_Meet(sleep, step->system, contacts, count, speed, step->h)) {
            break;
        }
        hasWoken = true;
    }
    state->structure = hasWoken ? 0 : state->structure;
    return true;
}

// After the step: islands fall asleep. The contacts that the next step would start from have changed then.
static bool rest(tpSmallStep* step, const tpSleepSettings* settings) {
    tpSmallSteps* state = step->state;
    int last = state->sleep.lastIsland;
    bool isDone = tpSleep_End(&state->sleep, step->system, settings, step->h, step->report);
    state->structure = state->sleep.lastIsland != last ? 0 : state->structure;
    return isDone;
}

// The step ------------------------------------------------------------------------------------------

static bool takeAwakeStep(tpSmallStep* step, const tpOptions* options) {
    tpSystem* system = step->system;
    tpSleep* sleep = &step->state->sleep;
    tpSleepSettings settings = { options->values[tp_sleepSpeedOption],
                                 options->values[tp_sleepTimeOption] };
    bool sleeps = options->values[tp_sleepOption] != 0.0, hasSleepers = sleep->sleepingCount > 0;
    if (hasSleepers && !sleeps) {
        tpSleep_WakeAll(sleep, system);
        settings.time = INFINITY;
    }
    bool isDone = (!hasSleepers && !sleeps) || wake(step, settings.speed);
    if (isDone && sleep->sleepingCount > 0 && tpSleep_IsAll(system)) {
        system->contacts.count = 0;
    } else {
        isDone = isDone && tpSmallStep_Take(step);
    }
    if (sleep->isTaken) {
        isDone = rest(step, &settings) && isDone;
    }
    return isDone;
}

static void takeStep(tpSystem* system, void* state, const tpOptions* options, double h,
                     tpStepReport* report) {
    // In the arena: the list of contacts is made of it when somebody asks.
    tpSmallStep* step = TP_SCRATCH_ZEROED(&system->arena, tpSmallStep, 1);
    bool isDone = step != NULL;
    if (isDone) {
        step->system = system;
        step->state = state;
        step->settings = readOptions(system, options);
        step->report = report;
        step->h = h;
        isDone = takeAwakeStep(step, options);
        noteMissing(system, report);
    }
    if (!isDone) {
        ((tpSmallSteps*)state)->structure = 0;
        report->undone = true;
        tpStepReport_AddNote(report, "out of memory");
    }
}

static const tpOptionIndex used[] = { tp_toleranceOption,
                                      tp_restitutionThresholdOption,
                                      tp_collisionToleranceOption,
                                      tp_pushOutSpeedOption,
                                      tp_substepsOption,
                                      tp_sleepOption,
                                      tp_sleepSpeedOption,
                                      tp_sleepTimeOption,
                                      tp_optionCount };

static const tpFigureIndex figures[] = { tp_budgetEndFigure, tp_figureCount };

const tpStepper tpSmallStepsStepper = {
    .name = "small-steps",
    .summary =
        "small steps with soft contacts, a fixed amount of work per step: the one for real time",
    .seesCrossings = true,
    .options = used,
    .figures = figures,
    .lacks = tp_lacksJoints | tp_lacksTorsion,
    .create = tpSmallSteps_Create,
    .destroy = tpSmallSteps_Destroy,
    .step = takeStep,
    .savedSize = tpSmallSteps_SavedSize,
    .save = tpSmallSteps_Save,
    .restore = tpSmallSteps_Restore,
};
