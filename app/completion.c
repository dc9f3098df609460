#include "completion.h"

#include <stdio.h>
#include <string.h>

#include "scene_list.h"
#include "tippe/friction.h"
#include "tippe/lcp.h"
#include "tippe/world.h"

const char completionMark[] = "--complete";

void offerWord(const char* typed, const char* word, const char* about) {
    if (strncmp(word, typed, strlen(typed)) == 0) {
        printf("%s%s%s\n", word, about != NULL ? "\t" : "", about != NULL ? about : "");
    }
}

static void offerFiles(void) {
    printf("@files\n");
}

// Values ------------------------------------------------------------------------------------------

static void offerSteppers(const char* typed) {
    for (int i = 0; i < tp_stepperCount; ++i) {
        if (tpStepperIsAvailable((tpStepperId)i)) {
            offerWord(typed, tpStepperName((tpStepperId)i), tpStepperSummary((tpStepperId)i));
        }
    }
}

// The last of several names that are separated by commas.
static void offerSeveralSteppers(const char* typed) {
    const char* comma = strrchr(typed, ',');
    int length = comma != NULL ? (int)(comma - typed) + 1 : 0;
    for (int i = -1; i < tp_stepperCount; ++i) {
        char word[512];
        bool isAll = i < 0;
        if (isAll || tpStepperIsAvailable((tpStepperId)i)) {
            snprintf(word, sizeof(word), "%.*s%s", length, typed,
                     isAll ? "all" : tpStepperName((tpStepperId)i));
            offerWord(typed, word, isAll ? "every stepper" : tpStepperSummary((tpStepperId)i));
        }
    }
}

static void offerSolvers(const char* typed) {
    int count;
    const tpLcpSolver* lcp = tpLcpSolvers(&count);
    for (int i = 0; i < count; ++i) {
        offerWord(typed, lcp[i].name, lcp[i].summary);
    }
    const tpFrictionSolver* friction = tpFrictionSolvers(&count);
    for (int i = 0; i < count; ++i) {
        if (tpLcpSolver_Find(friction[i].name) == NULL) {
            offerWord(typed, friction[i].name, friction[i].summary);
        }
    }
}

// NAME= of an option, and after it the words it takes.
static void offerSettings(const char* typed) {
    for (int i = 0; i < tpOptionCount(); ++i) {
        const tpOptionInfo* info = tpOption(i);
        char word[256];
        snprintf(word, sizeof(word), "%s=", info->name);
        bool isNamed = strncmp(typed, word, strlen(word)) == 0;
        if (!isNamed) {
            offerWord(typed, word, info->summary);
        }
        static const char* const truths[] = { "false", "true", NULL };
        const char* const* choices = info->kind == tp_choiceOption    ? info->choices
                                     : info->kind == tp_booleanOption ? truths
                                                                      : NULL;
        for (int k = 0; isNamed && choices != NULL && choices[k] != NULL; ++k) {
            snprintf(word, sizeof(word), "%s=%s", info->name, choices[k]);
            offerWord(typed, word, NULL);
        }
    }
}

static void offerScenes(const char* typed) {
    tpSceneNames list = listScenes(true);
    for (int i = 0; i < list.count; ++i) {
        offerWord(typed, list.items[i].name, list.items[i].about);
    }
    releaseSceneList(&list);
}

typedef struct tpValueOffers {
    const char* name; // of an option
    void (*offer)(const char* typed);
} tpValueOffers;

static const tpValueOffers valueOffers[] = {
    { "stepper", offerSteppers },
    { "steppers", offerSeveralSteppers },
    { "solver", offerSolvers },
    { "set", offerSettings },
};

static bool isFileName(const char* valueName) {
    return strncmp(valueName, "FILE", 4) == 0 || strcmp(valueName, "SCENE") == 0 ||
           strcmp(valueName, "STATE") == 0;
}

static void offerValue(const tpArgument* option, const char* typed) {
    for (size_t i = 0; i < sizeof(valueOffers) / sizeof(valueOffers[0]); ++i) {
        if (strcmp(valueOffers[i].name, option->name) == 0) {
            valueOffers[i].offer(typed);
            return;
        }
    }
    for (int k = 0; option->kind == optionChoice && option->choices[k] != NULL; ++k) {
        offerWord(typed, option->choices[k], NULL);
    }
    if (option->valueName != NULL && isFileName(option->valueName)) {
        offerFiles();
    }
}

// Words -------------------------------------------------------------------------------------------

static const tpArgument* findOption(const tpArgumentTable* table, const char* word) {
    for (int i = 0; i < table->optionCount && strncmp(word, "--", 2) == 0; ++i) {
        if (strcmp(table->options[i].name, word + 2) == 0) {
            return &table->options[i];
        }
    }
    return NULL;
}

static void offerOptions(const tpArgumentTable* table, const char* typed) {
    char word[64];
    for (int i = 0; i < table->optionCount; ++i) {
        snprintf(word, sizeof(word), "--%s", table->options[i].name);
        offerWord(typed, word, table->options[i].help);
    }
    offerWord(typed, "--help", "print all about the command");
}

static void offerOperand(const tpOperand* operand, const char* typed) {
    for (int k = 0; operand->choices != NULL && operand->choices[k] != NULL; ++k) {
        offerWord(typed, operand->choices[k], NULL);
    }
    if (strncmp(operand->name, "SCENE", 5) == 0) {
        offerScenes(typed);
    }
    if (operand->choices == NULL) {
        offerFiles();
    }
}

void completeArguments(const tpArgumentTable* table, int wordCount, char** words) {
    const char* typed = wordCount > 0 ? words[wordCount - 1] : "";
    const tpArgument* before = wordCount > 1 ? findOption(table, words[wordCount - 2]) : NULL;
    if (before != NULL && before->kind != optionFlag) {
        offerValue(before, typed);
        return;
    }
    if (typed[0] == '-' && typed[1] != '\0') {
        offerOptions(table, typed);
        return;
    }
    // Which operand is being typed: those before it are words that are neither options nor their
    // values.
    int operand = 0;
    for (int i = 0; i + 1 < wordCount; ++i) {
        const tpArgument* option = findOption(table, words[i]);
        if (option == NULL) {
            operand += words[i][0] != '-' ? 1 : 0;
        } else if (option->kind != optionFlag) {
            ++i;
        }
    }
    if (operand < table->operandCount) {
        offerOperand(&table->operands[operand], typed);
    } else {
        offerOptions(table, typed);
    }
}
