// tippe list: what there is to choose from, one line each.

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "scene/vocabulary.h"
#include "tippe/friction.h"
#include "tippe/lcp.h"

// A list prints its lines: names and summaries, or with `namesOnly` the names alone.
typedef struct tpListing {
    const char* name;
    const char* title;
    void (*print)(bool namesOnly);
} tpListing;

static void printLine(bool namesOnly, const char* name, const char* summary) {
    if (namesOnly) {
        printf("%s\n", name);
    } else {
        printf("  %-22s %s\n", name, summary);
    }
}

static void printSteppers(bool namesOnly) {
    for (int i = 0; i < tp_stepperCount; ++i) {
        if (tpStepperIsAvailable((tpStepperId)i)) {
            printLine(namesOnly, tpStepperName((tpStepperId)i), tpStepperSummary((tpStepperId)i));
        }
    }
}

static void printLcpSolvers(bool namesOnly) {
    int count;
    const tpLcpSolver* solvers = tpLcpSolvers(&count);
    for (int i = 0; i < count; ++i) {
        printLine(namesOnly, solvers[i].name, solvers[i].summary);
    }
}

static void printFrictionSolvers(bool namesOnly) {
    int count;
    const tpFrictionSolver* solvers = tpFrictionSolvers(&count);
    for (int i = 0; i < count; ++i) {
        printLine(namesOnly, solvers[i].name, solvers[i].summary);
    }
}

static void printShapes(bool namesOnly) {
    for (int i = 0; i < tpShapeFamily.memberCount; ++i) {
        // Summaries are sentences; lines of a list are not.
        const tpRecord* shape = tpShapeFamily.members[i];
        char words[128];
        int length = (int)strcspn(shape->summary, ".");
        snprintf(words, sizeof(words), "%c%.*s", tolower((unsigned char)shape->summary[0]),
                 length - 1, shape->summary + 1);
        printLine(namesOnly, shape->name, words);
    }
}

static void printJoints(bool namesOnly) {
    for (int i = 0; tpJointNames[i] != NULL; ++i) {
        printLine(namesOnly, tpJointNames[i], tpJointSummaries[i]);
    }
}

// Default, range and steppers of an option, in brackets.
static void describeOption(int index, char* buffer, size_t size) {
    const tpOptionInfo* info = tpOption(index);
    int used = 0;
    if (info->kind == tp_choiceOption) {
        used = snprintf(buffer, size, "default %s; %s (", info->choices[(int)info->defaultValue],
                        info->summary);
    } else if (info->kind == tp_booleanOption) {
        used = snprintf(buffer, size, "default %s; %s (",
                        info->defaultValue != 0.0 ? "true" : "false", info->summary);
    } else {
        used = snprintf(buffer, size, "default %g%s%s; %s (", info->defaultValue,
                        info->unit != NULL && info->unit[0] != '\0' ? " " : "",
                        info->unit != NULL ? info->unit : "", info->summary);
    }
    bool isFirst = true;
    for (int i = 0; i < tp_stepperCount && used > 0 && (size_t)used < size; ++i) {
        if (tpStepperUsesOption((tpStepperId)i, index)) {
            used += snprintf(buffer + used, size - (size_t)used, "%s%s", isFirst ? "" : ", ",
                             tpStepperName((tpStepperId)i));
            isFirst = false;
        }
    }
    if (used > 0 && (size_t)used < size) {
        snprintf(buffer + used, size - (size_t)used, "%s)", isFirst ? "no stepper yet" : "");
    }
}

static void printOptions(bool namesOnly) {
    for (int i = 0; i < tpOptionCount(); ++i) {
        char words[512];
        describeOption(i, words, sizeof(words));
        printLine(namesOnly, tpOption(i)->name, words);
    }
}

static const tpListing listings[] = {
    { "steppers", "Steppers, for --stepper and simulation.stepper", printSteppers },
    { "solvers", "Solvers of linear complementarity problems, for tippe solve", printLcpSolvers },
    { "solvers", "Solvers of contact problems with friction, for tippe solve",
      printFrictionSolvers },
    { "shapes", "Shapes of bodies", printShapes },
    { "joints", "Joints between bodies", printJoints },
    { "options", "Options of steppers, for --set and simulation.options", printOptions },
};

enum { listingCount = sizeof(listings) / sizeof(listings[0]) };

int runList(int argumentCount, char** arguments) {
    const char* wanted = NULL;
    bool namesOnly = false;
    const tpArgument table[] = {
        { "names", optionFlag, &namesOnly, NULL, "print names alone, one a line", NULL },
    };
    const tpOperand operands[] = {
        { "WHAT", &wanted, false, "steppers, solvers, shapes, joints or options; default all" },
    };
    const tpArgumentTable line = {
        .command = "list",
        .summary = "Lists steppers, solvers, shapes, joints and options, with one line each",
        .operands = operands,
        .operandCount = 1,
        .options = table,
        .optionCount = 1,
    };
    tpArgumentsResult parsed = parseArguments(&line, argumentCount, arguments);
    if (parsed != argumentsParsed) {
        return parsed == argumentsHelped ? exitDone : exitBadInput;
    }
    const char* names[listingCount + 1] = { NULL };
    bool isFound = wanted == NULL;
    for (int i = 0; i < listingCount; ++i) {
        names[i] = listings[i].name;
        isFound = isFound || strcmp(wanted, listings[i].name) == 0;
    }
    if (!isFound) {
        complainOfName("list", "list", wanted, names);
        return exitBadInput;
    }
    bool isFirst = true;
    for (int i = 0; i < listingCount; ++i) {
        if (wanted == NULL || strcmp(wanted, listings[i].name) == 0) {
            if (!namesOnly) {
                printf("%s%s\n", isFirst ? "" : "\n", listings[i].title);
            }
            listings[i].print(namesOnly);
            isFirst = false;
        }
    }
    return exitDone;
}
