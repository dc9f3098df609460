// tippe list: what there is to choose from, with a summary of each.

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "scene/vocabulary.h"
#include "scene_list.h"
#include "tippe/friction.h"
#include "tippe/lcp.h"

enum { summaryColumn = 25 };

// A list prints its lines: names and summaries, or with `namesOnly` the names alone.
typedef struct tpListing {
    const char* name;
    const char* title;
    void (*print)(bool namesOnly);
    bool isOnRequest; // not printed unless it is asked for
} tpListing;

static void printLine(bool namesOnly, const char* name, const char* summary) {
    if (namesOnly) {
        printf("%s\n", name);
    } else {
        printWrapped(printf("  %s", name), summaryColumn, summary);
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

// Text that grows in a buffer; what does not fit is left out.
TP_PRINTF(3, 4)
static void append(char* buffer, size_t size, const char* format, ...) {
    size_t used = strlen(buffer);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(buffer + used, size - used, format, arguments);
    va_end(arguments);
}

// Default or choices of an option, and the steppers that use it.
static void describeOption(int index, char* buffer, size_t size) {
    const tpOptionInfo* info = tpOption(index);
    buffer[0] = '\0';
    if (info->kind == tp_choiceOption) {
        for (int i = 0; info->choices[i] != NULL; ++i) {
            append(buffer, size, "%s%s%s", i == 0 ? "" : ", ", info->choices[i],
                   i == (int)info->defaultValue ? " (default)" : "");
        }
    } else if (info->kind == tp_booleanOption) {
        append(buffer, size, "default %s", info->defaultValue != 0.0 ? "true" : "false");
    } else {
        bool hasUnit = info->unit != NULL && info->unit[0] != '\0';
        append(buffer, size, "default %g%s%s", info->defaultValue, hasUnit ? " " : "",
               hasUnit ? info->unit : "");
    }
    append(buffer, size, "; used by ");
    bool isFirst = true;
    for (int i = 0; i < tp_stepperCount; ++i) {
        if (tpStepperUsesOption((tpStepperId)i, index)) {
            append(buffer, size, "%s%s", isFirst ? "" : ", ", tpStepperName((tpStepperId)i));
            isFirst = false;
        }
    }
    append(buffer, size, "%s", isFirst ? "no stepper" : "");
}

static void printOptions(bool namesOnly) {
    for (int i = 0; i < tpOptionCount(); ++i) {
        char words[1024];
        describeOption(i, words, sizeof(words));
        printLine(namesOnly, tpOption(i)->name, tpOption(i)->summary);
        if (!namesOnly) {
            printWrapped(0, summaryColumn, words);
        }
    }
}

static void printScenes(bool namesOnly) {
    tpSceneNames list = listScenes(!namesOnly);
    for (int i = 0; i < list.count; ++i) {
        if (namesOnly) {
            printf("%s\n", list.items[i].name);
        } else {
            const char* about = list.items[i].about;
            printf("  %-31s %s\n", list.items[i].name, about != NULL ? about : "");
        }
    }
    releaseSceneList(&list);
}

static const tpListing listings[] = {
    { "steppers", "Steppers, for --stepper and simulation.stepper", printSteppers, false },
    { "solvers", "Solvers of linear complementarity problems, for tippe solve", printLcpSolvers,
      false },
    { "solvers", "Solvers of contact problems with friction, for tippe solve", printFrictionSolvers,
      false },
    { "shapes", "Shapes of bodies", printShapes, false },
    { "joints", "Joints between bodies", printJoints, false },
    { "options", "Options of steppers, for --set and simulation.options", printOptions, false },
    { "scenes", "Scenes that come with Tippe, for tippe run, view, compare and check", printScenes,
      true },
};

static const char* const listNames[] = { "steppers", "solvers", "shapes", "joints",
                                         "options",  "scenes",  NULL };

enum { listingCount = sizeof(listings) / sizeof(listings[0]) };

int runList(int argumentCount, char** arguments) {
    const char* wanted = NULL;
    bool namesOnly = false;
    const tpArgument table[] = {
        { "names", optionFlag, &namesOnly, NULL, "print names alone, one per line", NULL },
    };
    const tpOperand operands[] = {
        { "WHAT", &wanted, false,
          "steppers, solvers, shapes, joints, options or scenes; default all but scenes",
          listNames },
    };
    const tpArgumentTable line = {
        .command = "list",
        .summary = "Lists steppers, solvers, shapes, joints, options and scenes",
        TP_OPERANDS(operands),
        .options = table,
        .optionCount = 1,
    };
    tpArgumentsResult parsed = parseArguments(&line, argumentCount, arguments);
    if (parsed != argumentsParsed) {
        return exitAfter(parsed);
    }
    bool isFound = wanted == NULL;
    for (int i = 0; i < listingCount; ++i) {
        isFound = isFound || strcmp(wanted, listings[i].name) == 0;
    }
    if (!isFound) {
        complainOfName("list", "list", wanted, listNames);
        return exitBadInput;
    }
    bool isFirst = true;
    for (int i = 0; i < listingCount; ++i) {
        bool isWanted =
            wanted != NULL ? strcmp(wanted, listings[i].name) == 0 : !listings[i].isOnRequest;
        if (isWanted) {
            if (!namesOnly) {
                printf("%s%s\n", isFirst ? "" : "\n", listings[i].title);
            }
            listings[i].print(namesOnly);
            isFirst = false;
        }
    }
    return exitDone;
}
