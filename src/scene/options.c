// Options of steppers: names, kinds and ranges, checked against the library's own tables.

#include "scene/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "scene/json.h"

enum { mostNames = 128 };

// Fails at the place in the file, or of the command line if there is none.
static tpResult fail(const tpSceneText* name, tpScenePlace place, const char* file, tpError* error,
                     const char* message) {
    if (place.line > 0) {
        return tpFailAt(error, file, place, "%s", message);
    }
    return tpError_Set(error, tp_badInput, "%s: %s", name->text, message);
}

static tpResult failUnknownOption(const tpSceneOption* option, const char* file, tpError* error) {
    const char* known[mostNames];
    int count = 0;
    for (int i = 0; i < tpOptionCount() && count < mostNames; ++i) {
        known[count++] = tpOption(i)->name;
    }
    char message[256];
    const char* nearest = tpNearestName(option->name.text, known, count);
    if (nearest != NULL) {
        snprintf(message, sizeof(message),
                 "no stepper has the option \"%.60s\"; did you mean \"%s\"?", option->name.text,
                 nearest);
    } else {
        snprintf(message, sizeof(message),
                 "no stepper has the option \"%.60s\"; see tippe list options", option->name.text);
    }
    return fail(&option->name, option->name.place, file, error, message);
}

static bool isChoice(const tpOptionInfo* info, const char* value) {
    for (int i = 0; info->choices[i] != NULL; ++i) {
        if (strcmp(info->choices[i], value) == 0) {
            return true;
        }
    }
    return false;
}

// The value as a number that the option takes.
static bool isNumberInRange(const tpOptionInfo* info, const char* value) {
    char* end;
    double number = strtod(value, &end);
    return end != value && *end == '\0' && isfinite(number) && number >= info->minimum &&
           number <= info->maximum && (info->kind != tp_integerOption || number == floor(number));
}

bool tpReadTruth(const char* word, bool* truth) {
    static const char* const yes[] = { "true", "on", "yes", "1" };
    static const char* const no[] = { "false", "off", "no", "0" };
    for (int i = 0; i < 4; ++i) {
        if (strcmp(word, yes[i]) == 0 || strcmp(word, no[i]) == 0) {
            *truth = strcmp(word, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

// What the option takes, in words.
static void describe(const tpOptionInfo* info, char words[400]) {
    size_t used = 0;
    switch (info->kind) {
    case tp_numberOption:
    case tp_integerOption:
        snprintf(words, 400, "%s from %g to %g",
                 info->kind == tp_integerOption ? "a whole number" : "a number", info->minimum,
                 info->maximum);
        break;
    case tp_booleanOption:
        snprintf(words, 400, "true or false");
        break;
    case tp_choiceOption:
        used = (size_t)snprintf(words, 400, "one of");
        for (int i = 0; info->choices[i] != NULL && used < 330; ++i) {
            used += (size_t)snprintf(words + used, 400 - used, "%s \"%.40s\"", i == 0 ? "" : ",",
                                     info->choices[i]);
        }
        break;
    }
}

bool tpIsNumberOption(const char* name) {
    for (int i = 0; i < tpOptionCount(); ++i) {
        const tpOptionInfo* info = tpOption(i);
        if (strcmp(info->name, name) == 0) {
            return info->kind == tp_numberOption || info->kind == tp_integerOption;
        }
    }
    return false;
}

tpResult tpCheckOption(const tpSceneOption* option, const char* file, tpError* error) {
    const tpOptionInfo* info = NULL;
    for (int i = 0; i < tpOptionCount() && info == NULL; ++i) {
        info = strcmp(tpOption(i)->name, option->name.text) == 0 ? tpOption(i) : NULL;
    }
    if (info == NULL) {
        return failUnknownOption(option, file, error);
    }
    // The command line has no types: every value is a word there.
    bool isTyped = option->place.line > 0;
    bool isRight = false, truth;
    switch (info->kind) {
    case tp_numberOption:
    case tp_integerOption:
        isRight =
            (!isTyped || option->kind == tp_sceneNumber) && isNumberInRange(info, option->value);
        break;
    case tp_booleanOption:
        isRight =
            (!isTyped || option->kind == tp_sceneBoolean) && tpReadTruth(option->value, &truth);
        break;
    case tp_choiceOption:
        isRight = (!isTyped || option->kind == tp_sceneWord) && isChoice(info, option->value);
        break;
    }
    if (isRight) {
        return tp_success;
    }
    char words[400], message[560];
    describe(info, words);
    snprintf(message, sizeof(message), "the option \"%s\" takes %s, found %.40s", info->name, words,
             option->value);
    return fail(&option->name, option->place, file, error, message);
}

const char* tpIsRefusedOption(const tpSceneSimulation* simulation, const tpSceneOption* option) {
    tpStepperId stepper;
    if (simulation->stepper.text == NULL || !tpFindStepper(simulation->stepper.text, &stepper)) {
        return NULL;
    }
    for (int i = 0; i < tpOptionCount(); ++i) {
        if (strcmp(tpOption(i)->name, option->name.text) == 0) {
            return tpStepperRefusesOption(stepper, i);
        }
    }
    return NULL;
}

tpResult tpCheckRefusal(const tpSceneSimulation* simulation, const tpSceneOption* option,
                        const char* file, tpError* error) {
    const char* other = tpIsRefusedOption(simulation, option);
    if (other == NULL) {
        return tp_success;
    }
    char message[256];
    snprintf(message, sizeof(message), "%.60s has no option \"%s\"; the stepper \"%s\" has it",
             simulation->stepper.text, option->name.text, other);
    return fail(&option->name, option->name.place, file, error, message);
}

tpResult tpCheckStepper(const tpSceneText* stepper, const char* file, tpError* error) {
    tpStepperId id;
    if (tpFindStepper(stepper->text, &id)) {
        return tp_success;
    }
    const char* known[tp_stepperCount];
    for (int i = 0; i < tp_stepperCount; ++i) {
        known[i] = tpStepperName((tpStepperId)i);
    }
    char message[400];
    const char* nearest = tpNearestName(stepper->text, known, tp_stepperCount);
    if (nearest != NULL) {
        snprintf(message, sizeof(message), "unknown stepper \"%.60s\"; did you mean \"%s\"?",
                 stepper->text, nearest);
    } else {
        size_t used = (size_t)snprintf(
            message, sizeof(message), "unknown stepper \"%.60s\"; expected one of:", stepper->text);
        for (int i = 0; i < tp_stepperCount && used < sizeof(message) - 40; ++i) {
            used += (size_t)snprintf(message + used, sizeof(message) - used, "%s %.30s",
                                     i == 0 ? "" : ",", known[i]);
        }
    }
    return fail(stepper, stepper->place, file, error, message);
}
