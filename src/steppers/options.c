#include "steppers/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dynamics/system.h"

static const char* const cones[] = { "circular", "pyramid", NULL };
static const char* const variants[] = { "position", "velocity", "nonlinear", "repeated", NULL };
static const char* const formulations[] = { "eliminated", "full", NULL };
static const char* const linearisations[] = { "predicted", "current", NULL };
static const char* const impactLaws[] = { "none", "newton", "poisson", "own", NULL };
static const char* const schemes[] = { "linearly-implicit", "implicit", NULL };
static const char* const impacts[] = { "in_step", "located", NULL };
static const char* const frictionRules[] = { "projected", "paper", NULL };

static const char* const restitutionLaws[] = { "poisson", "stronge", NULL };

const tpOptionInfo tpOptionTable[tp_optionCount] = {
    [tp_toleranceOption] = { "tolerance", tp_numberOption, 1e-10, 1e-15, 1.0, NULL, "m/s",
                             "residual of the contact law at which a solve ends, as a velocity of "
                             "contacts" },
    [tp_certificateOption] = { "certificate", tp_numberOption, 1e-8, 1e-12, 1.0, NULL, NULL,
                               "relative residual of the contact law (e3) that certifies a step "
                               "and ends its solves; a larger value makes crowds faster" },
    [tp_coneOption] = { "cone", tp_choiceOption, 0, 0, 1, cones, NULL,
                        "friction cone: the true cone, or the papers' pyramid" },
    [tp_directionsOption] = { "directions", tp_integerOption, 8, 3, 64, NULL, NULL,
                              "number of friction directions of the pyramid" },
    [tp_variantOption] = { "variant", tp_choiceOption, tp_repeatedVariant, 0, 3, variants, NULL,
                           "contact conditions on positions, on velocities, by a fixed point, or "
                           "on positions and once more if a step ends with deep overlaps" },
    [tp_lineariseOption] = { "linearise", tp_choiceOption, 0, 0, 1, linearisations, NULL,
                             "where contacts are linearised: at the predicted or the current "
                             "pose" },
    [tp_impactLawOption] = { "impact_law", tp_choiceOption, tp_ownImpact, 0, 3, impactLaws, NULL,
                             "law of restitution at impacts located inside the step; none: "
                             "inelastic; own: none in stewart-trinkle (as in the paper), newton in "
                             "chakraborty-trinkle" },
    [tp_thetaOption] = { "theta", tp_numberOption, 0.5, 0.5, 1.0, NULL, NULL,
                         "1: the papers' implicit Euler step; 0.5: symmetric, of second order" },
    [tp_formulationOption] = { "formulation", tp_choiceOption, 0, 0, 1, formulations, NULL,
                               "closest points eliminated contact by contact, or unknowns as in "
                               "the paper (with theta = 1)" },
    [tp_gammaOption] = { "gamma", tp_numberOption, 1.0, 0.0, 1.0, NULL, NULL,
                         "part of an overlap that one step removes" },
    [tp_energyGuardOption] = { "energy_guard", tp_booleanOption, 1, 0, 1, NULL, NULL,
                               "keeps energy from rising beyond the work done" },
    [tp_restitutionThresholdOption] = { "restitution_threshold", tp_numberOption, -1.0, -1.0, 1e6,
                                        NULL, "m/s",
                                        "slower approaches do not bounce; negative: 2 g h, or "
                                        "sqrt(2 g collision_tolerance) for steppers that use it" },
    [tp_schemeOption] = { "scheme", tp_choiceOption, 0, 0, 1, schemes, NULL,
                          "directions of contact springs: those at the start of the step, or those "
                          "at its end" },
    [tp_stiffnessOption] = { "stiffness", tp_numberOption, -1.0, -1.0, 1e30, NULL, "N/m^b",
                             "stiffness of contact springs, force = stiffness overlap^b; if not "
                             "positive: so stiff that the weight of all bodies overlaps by 4e-6 of "
                             "their size" },
    [tp_exponentOption] = { "exponent", tp_numberOption, 1.5, 1.0, 4.0, NULL, NULL,
                            "b of contact springs: 1.5 is Hertz's law, 1 a linear spring" },
    [tp_dampingOption] = { "damping", tp_numberOption, 0.0, 0.0, 1e6, NULL, "s/m",
                           "contact springs push 1 + damping times the approach speed as hard" },
    [tp_creepOption] = { "creep", tp_numberOption, 0.0, 0.0, 1e3, NULL, "m/s",
                         "sliding speed up to which friction grows; 0: Coulomb's law itself" },
    [tp_collisionToleranceOption] = { "collision_tolerance", tp_numberOption, -1.0, -1.0, 1.0, NULL,
                                      "m",
                                      "contacts with smaller gaps touch, or may collide; negative: "
                                      "4e-6 of the size of the bodies" },
    [tp_impactsOption] = { "impacts", tp_choiceOption, tp_locatedImpacts, 0, 1, impacts, NULL,
                           "impacts inside a step: all at once at its end, or each located in "
                           "time" },
    [tp_frictionRuleOption] = { "friction_rule", tp_choiceOption, 0, 0, 1, frictionRules, NULL,
                                "friction that converges to Coulomb's law, or the paper's "
                                "increments" },
    [tp_shockPropagationOption] = { "shock_propagation", tp_booleanOption, 0, 0, 1, NULL, NULL,
                                    "carries loads to the ground level by level before the sweeps "
                                    "go on" },
    [tp_budgetOption] = { "budget", tp_integerOption, 300000, 1000, 2e9, NULL, NULL,
                          "largest number of contact updates per step; fewer if the tolerance is "
                          "met before" },
    [tp_pushOutSpeedOption] = { "push_out_speed", tp_numberOption, 0.5, 0.0, 1e6, NULL, "m/s",
                                "largest speed at which overlaps are removed" },
    [tp_restitutionLawOption] = { "restitution_law", tp_choiceOption, 0, 0, 1, restitutionLaws,
                                  NULL,
                                  "whether restitution e is a ratio of impulses (Poisson) or comes "
                                  "from their work (Stronge)" },
    [tp_handOverOption] = { "hand_over", tp_booleanOption, 1, 0, 1, NULL, NULL,
                            "gives bodies with too many events to a time stepper" },
    [tp_eventShareOption] = { "event_share", tp_numberOption, 4.0, 0.01, 1e6, NULL, NULL,
                              "a body is handed over if it has this many times the events of a "
                              "body at rest in a step" },
    [tp_substepsOption] = { "substeps", tp_integerOption, 0, 0, 64, NULL, NULL,
                            "number of substeps in a step, with two sweeps each; 0: four, and "
                            "fewer "
                            "where mechanisms need no more" },
    [tp_sleepOption] = { "sleep", tp_booleanOption, 0, 0, 1, NULL, NULL,
                         "islands at rest are not simulated until something disturbs them" },
    [tp_sleepSpeedOption] = { "sleep_speed", tp_numberOption, 1e-3, 0.0, 1e6, NULL, "m/s",
                              "an island is at rest if its bodies are slower, and its contacts "
                              "meet their law to this velocity" },
    [tp_sleepTimeOption] = { "sleep_time", tp_numberOption, 0.5, 0.0, 1e6, NULL, "s",
                             "how long an island must be at rest before it sleeps" },
    [tp_accuracyOption] = { "accuracy", tp_numberOption, 1e-3, 1e-8, 1.0, NULL, NULL,
                            "requested error of positions, in lengths of the bodies" },
};

tpOptions tpDefaultOptions(void) {
    tpOptions options;
    for (int i = 0; i < tp_optionCount; ++i) {
        options.values[i] = tpOptionTable[i].defaultValue;
    }
    return options;
}

// The collision tolerance, as a part of what bodies reach: 1e-6 m for bodies that reach 0.25 m.
static const double collisionPart = 4e-6;

tpOptions tpOptions_InScales(const tpOptions* options, const tpSystem* system) {
    static const tpOptionIndex speeds[] = { tp_toleranceOption, tp_pushOutSpeedOption,
                                            tp_sleepSpeedOption };
    tpOptions scaled = *options;
    for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); ++i) {
        double* value = &scaled.values[speeds[i]];
        bool isDefault = *value == tpOptionTable[speeds[i]].defaultValue;
        *value *= isDefault ? system->units.speed : 1.0;
    }
    double* sleepTime = &scaled.values[tp_sleepTimeOption];
    bool isDefault = *sleepTime == tpOptionTable[tp_sleepTimeOption].defaultValue;
    *sleepTime *= isDefault ? system->units.time : 1.0;
    double* tolerance = &scaled.values[tp_collisionToleranceOption];
    *tolerance = *tolerance > 0.0 ? *tolerance : collisionPart * system->scales.reach;
    return scaled;
}

int tpOptions_ImpactLaw(const tpOptions* options, int own) {
    int law = (int)options->values[tp_impactLawOption];
    return law == tp_ownImpact ? own : law;
}

int tpOptions_Find(const char* name) {
    for (int i = 0; i < tp_optionCount; ++i) {
        if (strcmp(tpOptionTable[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static tpResult unknownOption(const char* name, tpError* error) {
    const char* names[tp_optionCount];
    for (int i = 0; i < tp_optionCount; ++i) {
        names[i] = tpOptionTable[i].name;
    }
    const char* nearest = tpNearestName(name, names, tp_optionCount);
    if (nearest != NULL) {
        return tpError_Set(error, tp_badInput, "no stepper has an option '%s'; did you mean '%s'?",
                           name, nearest);
    }
    return tpError_Set(error, tp_badInput, "no stepper has an option '%s'", name);
}

static tpResult setChoice(const tpOptionInfo* info, const char* text, double* value,
                          tpError* error) {
    char list[256] = "";
    for (int i = 0; info->choices[i] != NULL; ++i) {
        if (strcmp(info->choices[i], text) == 0) {
            *value = i;
            return tp_success;
        }
        strncat(list, i > 0 ? ", " : "", sizeof(list) - strlen(list) - 1);
        strncat(list, info->choices[i], sizeof(list) - strlen(list) - 1);
    }
    return tpError_Set(error, tp_badInput, "option '%s' is one of %s; not '%s'", info->name, list,
                       text);
}

static tpResult setBoolean(const tpOptionInfo* info, const char* text, double* value,
                           tpError* error) {
    static const char* const yes[] = { "true", "on", "yes", "1" };
    static const char* const no[] = { "false", "off", "no", "0" };
    for (int i = 0; i < 4; ++i) {
        if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
            *value = strcmp(text, yes[i]) == 0 ? 1.0 : 0.0;
            return tp_success;
        }
    }
    return tpError_Set(error, tp_badInput, "option '%s' is true or false; not '%s'", info->name,
                       text);
}

static tpResult setNumber(const tpOptionInfo* info, const char* text, double* value,
                          tpError* error) {
    char* end = NULL;
    double number = strtod(text, &end);
    bool isWhole = info->kind == tp_integerOption;
    if (end == text || *end != '\0' || !isfinite(number) || (isWhole && number != floor(number))) {
        return tpError_Set(error, tp_badInput, "option '%s' is a %snumber; not '%s'", info->name,
                           isWhole ? "whole " : "", text);
    }
    if (number < info->minimum || number > info->maximum) {
        return tpError_Set(error, tp_badInput, "option '%s' lies between %g and %g; not %s",
                           info->name, info->minimum, info->maximum, text);
    }
    *value = number;
    return tp_success;
}

tpResult tpOptions_Set(tpOptions* options, const char* name, const char* text, tpError* error) {
    int index = tpOptions_Find(name);
    if (index < 0) {
        return unknownOption(name, error);
    }
    const tpOptionInfo* info = &tpOptionTable[index];
    double* value = &options->values[index];
    switch (info->kind) {
    case tp_choiceOption:
        return setChoice(info, text, value, error);
    case tp_booleanOption:
        return setBoolean(info, text, value, error);
    case tp_numberOption:
    case tp_integerOption:
        break;
    }
    return setNumber(info, text, value, error);
}
