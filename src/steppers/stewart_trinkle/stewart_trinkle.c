// Implicit time stepping with inelastic contact and Coulomb friction [StewartTrinkle96].
//
// The step in the paper's order: predict the configuration, find contacts there, linearise, solve
// for impulses, move; in the nonlinear variant repeat from the configuration found (sec. 3.4).
// README.md beside this file has the equations and the table of symbols.

#include "steppers/stewart_trinkle/stewart_trinkle.h"

#include "dynamics/certificate.h"
#include "dynamics/forces.h"
#include "dynamics/report.h"
#include "dynamics/step_budget.h"
#include "dynamics/trial.h"
#include "steppers/halves.h"
#include "steppers/stewart_trinkle/collisions.h"
#include "steppers/stewart_trinkle/taut.h"

// The paper's own step: inelastic.
static bool stepInelastic(tpSystem* system, tpStepperMemory* memory,
                          const tpStewartTrinkleSettings* settings, tpStepReport* report) {
    double h = settings->wholeStep;
    tpTimeStep step;
    if (!tpTimeStep_Begin(&step, system, h, h) ||
        !tpStewartTrinkle_Solve(&step, settings, NULL, memory, report) ||
        !tpTimeStep_Finish(&step, memory->solver, &memory->history, report)) {
        return false;
    }
    if (tpTimeStep_HasRestitution(&step)) {
        tpStepReport_AddNote(
            report,
            "stewart-trinkle is inelastic while impact_law is none: restitution is not used");
    }
    return true;
}

// What a part of a step needs.
typedef struct tpStepping {
    tpSystem* system;
    tpStepperMemory* memory;
    tpStewartTrinkleSettings settings;
    tpImpactLaw impacts;
    bool isTight; // distances of the last step that may be taut are
} tpStepping;

static bool takeStep(tpStepping* stepping, tpStepReport* report) {
    return stepping->settings.isLocating
               ? tpStewartTrinkle_StepThroughCollisions(stepping->system, stepping->memory,
                                                        &stepping->settings, &stepping->impacts,
                                                        report)
               : stepInelastic(stepping->system, stepping->memory, &stepping->settings, report);
}

// Of the energy that a certified step may gain: what one whose joints are taut may.
static const double tautRise = 0.25;

static double riseOf(const tpSystem* system, const tpStepReport* report) {
    return tpSystem_Energy(system) - report->kineticBefore - report->potentialBefore -
           report->externalWork;
}

static bool isRight(const tpSystem* system, const tpStepReport* report) {
    return riseOf(system, report) <= tautRise * tpCertificate_EnergyLimit(system, report) &&
           report->jointDrift <= report->limits.jointDrift;
}

static bool takeTaut(tpStepping* stepping, tpStepReport* report) {
    stepping->settings.isTaut = true;
    bool isDone = takeStep(stepping, report);
    stepping->settings.isTaut = false;
    return isDone;
}

// Takes the step, or a part of it, with distances that may be taut. Undoes it if it fails: then
// `isTaken` is false. False if memory ran out.
static bool tryTaut(tpStepping* stepping, double h, tpStepReport* report, bool* isTaken) {
    tpSystem* system = stepping->system;
    tpTrial start;
    stepping->settings.wholeStep = h;
    bool isDone = tpTrial_Begin(&start, system, &stepping->memory->history, report) &&
                  takeTaut(stepping, report);
    if (!isDone) {
        return false;
    }
    *isTaken = stepping->isTight && isRight(system, report);
    if (!*isTaken) {
        tpTrial_Undo(&start);
    }
    return true;
}

static bool takePart(void* context, double h, tpStepReport* report) {
    tpStepping* stepping = context;
    tpSystem* system = stepping->system;
    tpTrial start;
    bool isTaken = false;
    stepping->settings.wholeStep = stepping->impacts.wholeStep = h;
    if (!stepping->settings.mayBeTaut) {
        return takeStep(stepping, report);
    }
    if (tpTaut_IsLeft(system)) {
        return takeTaut(stepping, report);
    }
    if (!tpTrial_Begin(&start, system, &stepping->memory->history, report) ||
        !takeStep(stepping, report)) {
        return false;
    }
    if (isRight(system, report) || tpStepBudget_IsSpent(system)) {
        return true;
    }
    tpTrial_Undo(&start);
    return tryTaut(stepping, h, report, &isTaken) && (isTaken || takeStep(stepping, report));
}

static void step(tpSystem* system, void* state, const tpOptions* options, double h,
                 tpStepReport* report) {
    tpStepperMemory* memory = state;
    int law = tpOptions_ImpactLaw(options, tp_inelasticImpact);
    tpSolveSettings solve = tpSolveSettings_FromOptions(options);
    double threshold = options->values[tp_restitutionThresholdOption];
    tpStepping stepping = {
        .system = system,
        .memory = memory,
        .settings = { .solve = solve,
                      .variant = (int)options->values[tp_variantOption],
                      .isPredicted =
                          (int)options->values[tp_lineariseOption] == tp_predictedLinearisation,
                      .isLocating = law != tp_inelasticImpact },
        .impacts = { .solve = solve,
                     .law = law,
                     .threshold = threshold < 0.0 ? 2.0 * h * tpLength(system->gravity) : threshold,
                     .isGuarded = options->values[tp_energyGuardOption] != 0.0 }
    };
    bool isGuarded = options->values[tp_energyGuardOption] != 0.0;
    stepping.settings.isTight = &stepping.isTight;
    stepping.settings.mayBeTaut = isGuarded && law == tp_inelasticImpact && tpTaut_Suits(system) &&
                                  stepping.settings.variant == tp_repeatedVariant;
    bool isTaken = false;
    bool isDone = !stepping.settings.mayBeTaut || !tpTaut_IsLeft(system) ||
                  tryTaut(&stepping, h, report, &isTaken);
    if (isDone && !isTaken) {
        isDone = isGuarded ? tpHalves_Step(system, memory, h, takePart, &stepping, report)
                           : takePart(&stepping, h, report);
    }
    if (!isDone) {
        tpStepReport_RunOut(report);
    }
}

static unsigned lacksWith(const tpOptions* options) {
    bool isInelastic = tpOptions_ImpactLaw(options, tp_inelasticImpact) == tp_inelasticImpact;
    return isInelastic ? tp_lacksRestitution : 0;
}

static const tpOptionIndex used[] = {
    tp_toleranceOption,  tp_certificateOption, tp_coneOption,
    tp_directionsOption, tp_variantOption,     tp_lineariseOption,
    tp_impactLawOption,  tp_energyGuardOption, tp_restitutionThresholdOption,
    tp_optionCount
};

const tpStepper tpStewartTrinkleStepper = {
    .name = "stewart-trinkle",
    .summary = "classic implicit LCP time stepping; inelastic impacts",
    .closesAccount = true,
    .options = used,
    .lacks = tp_lacksCompliance,
    .lacksWith = lacksWith,
    .step = step,
    TP_STEPPER_MEMORY,
};
