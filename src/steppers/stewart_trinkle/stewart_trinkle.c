// Implicit time stepping with inelastic contact and Coulomb friction [StewartTrinkle96].
//
// The step in the paper's order: predict the configuration, find contacts there, linearise, solve
// for impulses, move; in the nonlinear variant repeat from the configuration found (sec. 3.4).
// README.md beside this file has the equations and the table of symbols.

#include "steppers/stewart_trinkle/stewart_trinkle.h"

#include "steppers/halves.h"
#include "steppers/stewart_trinkle/collisions.h"

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
} tpStepping;

static bool takePart(void* context, double h, tpStepReport* report) {
    tpStepping* stepping = context;
    stepping->settings.wholeStep = stepping->impacts.wholeStep = h;
    return stepping->settings.isLocating
               ? tpStewartTrinkle_StepThroughCollisions(stepping->system, stepping->memory,
                                                        &stepping->settings, &stepping->impacts,
                                                        report)
               : stepInelastic(stepping->system, stepping->memory, &stepping->settings, report);
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
    bool isDone = isGuarded ? tpHalves_Step(system, memory, h, takePart, &stepping, report)
                            : takePart(&stepping, h, report);
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
