// The table of steppers.

#include <string.h>

#include "steppers/free_flight/free_flight.h"
#include "steppers/stepper.h"

static const tpStepper* const steppers[tp_stepperCount] = {
    [tp_freeFlight] = &tpFreeFlightStepper,
};

const tpStepper* tpStepper_Get(tpStepperId id) {
    return (unsigned)id < (unsigned)tp_stepperCount ? steppers[id] : NULL;
}

const char* tpStepperName(tpStepperId id) {
    const tpStepper* stepper = tpStepper_Get(id);
    return stepper != NULL ? stepper->name : "";
}

const char* tpStepperSummary(tpStepperId id) {
    const tpStepper* stepper = tpStepper_Get(id);
    return stepper != NULL ? stepper->summary : "";
}

bool tpStepperIsAvailable(tpStepperId id) {
    return tpStepper_Get(id) != NULL;
}

bool tpFindStepper(const char* name, tpStepperId* id) {
    for (int i = 0; i < tp_stepperCount; ++i) {
        if (steppers[i] != NULL && strcmp(steppers[i]->name, name) == 0) {
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
