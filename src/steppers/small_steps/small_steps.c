// Small steps with soft contacts [MacklinEtAl19; Catto24]: a fixed amount of work per step, for
// real time.
//
// The order of a step: forces; contacts, found once, put into packs; substeps of two sweeps each;
// the certificate of the contact law as the last substep left it; bodies moved; contacts at the
// end, with which the next step starts. README.md beside this file has the equations and says what
// deviates from the papers.

#include "steppers/small_steps/small_steps.h"

#include <string.h>

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

// Sleep -------------------------------------------------------------------------------------------

// Whether nobody has moved a body since the last step.
static bool isUntouched(const tpSmallStep* step) {
    const tpSmallSteps* state = step->state;
    bool isUntouched = state->structure == step->system->structure;
    for (int n = 0; isUntouched && n < state->bodies.count; ++n) {
        int body = state->bodies.data[n];
        isUntouched = body < 0 || state->motionMarks.data[n] ==
                                      tpHashMotion(&step->system->poses.data[body],
                                                   &step->system->velocities.data[body]);
    }
    return isUntouched;
}

// Contacts at the start of the step: those that the last step found, or found now. False if memory
// ran out.
static bool lookAround(tpSmallStep* step, bool hasWoken, tpContact** contacts, int* count) {
    tpSystem* system = step->system;
    if (!hasWoken && isUntouched(step)) {
        return tpSmallStep_CopyContacts(step, contacts, count);
    }
    double* margins = tpSystem_Margins(system, system->velocities.data, NULL, step->h);
    return margins != NULL && tpSystem_FindContacts(system, system->poses.data, margins, contacts,
                                                    count) == tp_success;
}

// Before the step: wakes islands that something comes near, and leaves the sleeping ones out of the
// step.
static bool wake(tpSmallStep* step, double speed) {
    tpSleep* sleep = &step->state->sleep;
    if (!tpSleep_Begin(sleep, step->system, step->h)) {
        return false;
    }
    step->hasWoken = sleep->woken.count > 0;
    while (sleep->sleepingCount > 0) {
        tpContact* contacts;
        int count;
        if (!lookAround(step, step->hasWoken, &contacts, &count)) {
            return false;
        }
        if (!tpSleep_Meet(sleep, step->system, contacts, count, speed, step->h)) {
            break;
        }
        step->hasWoken = true;
    }
    return true;
}

// The step ----------------------------------------------------------------------------------------

static bool takeAwakeStep(tpSmallStep* step, const tpOptions* options) {
    tpSystem* system = step->system;
    tpSleep* sleep = &step->state->sleep;
    tpSleepSettings settings = { .speed = options->values[tp_sleepSpeedOption],
                                 .time = options->values[tp_sleepTimeOption] };
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
        isDone = tpSleep_End(sleep, system, &settings, step->h, step->report) && isDone;
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
    }
    if (!isDone) {
        tpSmallSteps_Forget(state);
        tpStepReport_RunOut(report);
    }
}

static bool needsPieces(const void* state) {
    const tpSmallSteps* made = state;
    return made->hasHeld;
}

static const tpOptionIndex used[] = { tp_toleranceOption,
                                      tp_certificateOption,
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
    .summary = "real time: substeps with soft contacts, a fixed amount of work per step",
    .seesCrossings = true,
    .bodyScratch = 640,
    .prepare = tpSmallSteps_Prepare,
    .needsPieces = needsPieces,
    .options = used,
    .figures = figures,
    .lacks = tp_lacksImpactFriction | tp_lacksRollingFriction | tp_lacksCompliance,
    .create = tpSmallSteps_Create,
    .destroy = tpSmallSteps_Destroy,
    .step = takeStep,
    .savedSize = tpSmallSteps_SavedSize,
    .save = tpSmallSteps_Save,
    .restore = tpSmallSteps_Restore,
};
