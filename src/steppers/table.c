// The table of steppers.

#include <string.h>

#include "base/assert.h"
#include "steppers/anitescu/anitescu.h"
#include "steppers/auto/auto.h"
#include "steppers/bender_schmitt/bender_schmitt.h"
#include "steppers/chakraborty_trinkle/chakraborty_trinkle.h"
#include "steppers/free_flight/free_flight.h"
#include "steppers/mirtich_canny/mirtich_canny.h"
#include "steppers/penalty/penalty.h"
#include "steppers/small_steps/small_steps.h"
#include "steppers/stepper.h"
#include "steppers/stewart_trinkle/stewart_trinkle.h"

static const tpStepper* const steppers[tp_stepperCount] = {
    [tp_freeFlight] = &tpFreeFlightStepper,
    [tp_stewartTrinkle] = &tpStewartTrinkleStepper,
    [tp_anitescu] = &tpAnitescuStepper,
    [tp_benderSchmitt] = &tpBenderSchmittStepper,
    [tp_chakrabortyTrinkle] = &tpChakrabortyTrinkleStepper,
    [tp_mirtichCanny] = &tpMirtichCannyStepper,
    [tp_penalty] = &tpPenaltyStepper,
    [tp_smallSteps] = &tpSmallStepsStepper,
    [tp_auto] = &tpAutoStepper,
};

const tpStepper* tpStepper_Get(tpStepperId id) {
    return (unsigned)id < (unsigned)tp_stepperCount ? steppers[id] : NULL;
}

// Every name, whether or not this build has the stepper: a scene may name one that it lacks.
static const char* const names[tp_stepperCount] = {
    [tp_freeFlight] = "free-flight",
    [tp_stewartTrinkle] = "stewart-trinkle",
    [tp_anitescu] = "anitescu",
    [tp_mirtichCanny] = "mirtich-canny",
    [tp_benderSchmitt] = "bender-schmitt",
    [tp_chakrabortyTrinkle] = "chakraborty-trinkle",
    [tp_penalty] = "penalty",
    [tp_smallSteps] = "small-steps",
    [tp_auto] = "auto",
};

const char* tpStepperName(tpStepperId id) {
    return (unsigned)id < (unsigned)tp_stepperCount ? names[id] : "";
}

const char* tpStepperSummary(tpStepperId id) {
    const tpStepper* stepper = tpStepper_Get(id);
    return stepper != NULL ? stepper->summary : "";
}

bool tpStepperIsAvailable(tpStepperId id) {
    return tpStepper_Get(id) != NULL;
}

bool tpFindStepper(const char* name, tpStepperId* id) {
    TP_NEED(name, false);
    TP_NEED(id, false);
    for (int i = 0; i < tp_stepperCount; ++i) {
        if (strcmp(names[i], name) == 0) {
            *id = (tpStepperId)i;
            return true;
        }
    }
    return false;
}

int tpOptionCount(void) {
    return tp_optionCount;
}

const tpOptionInfo* tpOption(int index) {
    return index >= 0 && index < tp_optionCount ? &tpOptionTable[index] : NULL;
}

unsigned tpStepper_Lacks(const tpStepper* stepper, const tpOptions* options) {
    return stepper->lacks | (stepper->lacksWith != NULL ? stepper->lacksWith(options) : 0);
}

unsigned tpStepperLacks(tpStepperId id) {
    const tpStepper* stepper = tpStepper_Get(id);
    tpOptions options = tpDefaultOptions();
    return stepper != NULL ? tpStepper_Lacks(stepper, &options) : 0;
}

const char* tpStepperRefusesOption(tpStepperId id, int optionIndex) {
    const tpStepper* stepper = tpStepper_Get(id);
    const tpOptionInfo* option = tpOption(optionIndex);
    bool isRefused = stepper != NULL && option != NULL && stepper->refusedOption != NULL &&
                     strcmp(stepper->refusedOption, option->name) == 0;
    return isRefused ? stepper->refusedFor : NULL;
}

bool tpStepperUsesFigure(tpStepperId id, int figureIndex) {
    const tpStepper* stepper = tpStepper_Get(id);
    if (stepper == NULL || stepper->figures == NULL) {
        return false;
    }
    for (int i = 0; stepper->figures[i] != tp_figureCount; ++i) {
        if ((int)stepper->figures[i] == figureIndex) {
            return true;
        }
    }
    return false;
}

bool tpStepperHasCarriers(tpStepperId id) {
    const tpStepper* stepper = tpStepper_Get(id);
    return stepper != NULL && stepper->hasCarriers;
}

bool tpStepperUsesOption(tpStepperId id, int optionIndex) {
    const tpStepper* stepper = tpStepper_Get(id);
    if (stepper == NULL || stepper->options == NULL) {
        return false;
    }
    for (int i = 0; stepper->options[i] != tp_optionCount; ++i) {
        if ((int)stepper->options[i] == optionIndex) {
            return true;
        }
    }
    return false;
}
