// Options of all steppers, in one table: the same idea has the same name everywhere.

#ifndef TIPPE_SRC_STEPPERS_OPTIONS_H
#define TIPPE_SRC_STEPPERS_OPTIONS_H

#include "tippe/world.h"

// The order is that of the table in options.c.
typedef enum tpOptionIndex {
    tp_toleranceOption,
    tp_certificateOption,
    tp_coneOption,
    tp_directionsOption,
    tp_variantOption,
    tp_lineariseOption,
    tp_impactLawOption,
    tp_thetaOption,
    tp_formulationOption,
    tp_gammaOption,
    tp_energyGuardOption,
    tp_restitutionThresholdOption,
    tp_schemeOption,
    tp_stiffnessOption,
    tp_exponentOption,
    tp_dampingOption,
    tp_creepOption,
    tp_collisionToleranceOption,
    tp_impactsOption,
    tp_frictionRuleOption,
    tp_shockPropagationOption,
    tp_budgetOption,
    tp_pushOutSpeedOption,
    tp_restitutionLawOption,
    tp_handOverOption,
    tp_eventShareOption,
    tp_substepsOption,
    tp_sleepOption,
    tp_sleepSpeedOption,
    tp_sleepTimeOption,
    tp_accuracyOption,
    tp_optionCount
} tpOptionIndex;

// Choices, in the order of the table.
enum { tp_positionVariant, tp_velocityVariant, tp_nonlinearVariant, tp_repeatedVariant };
enum { tp_predictedLinearisation, tp_currentLinearisation };
enum { tp_inelasticImpact, tp_newtonImpact, tp_poissonImpact, tp_ownImpact };
enum { tp_linearlyImplicitScheme, tp_implicitScheme };
enum { tp_eliminatedForm, tp_fullForm };
enum { tp_impactsInStep, tp_locatedImpacts };
enum { tp_projectedFriction, tp_paperFriction };

struct tpSystem;

// Values, one per option; choices and booleans as whole numbers.
typedef struct tpOptions {
    double values[tp_optionCount];
} tpOptions;

extern const tpOptionInfo tpOptionTable[tp_optionCount];

tpOptions tpDefaultOptions(void);

// The options for a step of this system: values that are a number by default and that are speeds or
// times count in the units of the scene (scales.h), a collision tolerance that is negative in what
// its bodies reach. What a user has set is taken as it is; so is what is in the
// units of the scene already.
tpOptions tpOptions_InScales(const tpOptions* options, const struct tpSystem* system);

// The place of an option by name, or -1.
int tpOptions_Find(const char* name);

// The law of impact that is asked for; `own` if that is left to the stepper.
int tpOptions_ImpactLaw(const tpOptions* options, int own);

// Reads `text` as a value of the option and stores it.
tpResult tpOptions_Set(tpOptions* options, const char* name, const char* text, tpError* error);

#endif
