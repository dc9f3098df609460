// tippe compare: the command line, the plan of runs, and the order in which things are done.

#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "command.h"
#include "command_files.h"
#include "output_file.h"
#include "page_file.h"
#include "scene/checks.h"
#include "scene/files.h"
#include "scene_file.h"

enum { mostSteps = 32 };
static const double finerThanFinest = 0.25; // the step of the truth where nothing else is known

typedef struct tpCompareOptions {
    const char *scene, *steppers, *steps, *against, *reference;
    const char *out, *csv;
    tpArgumentList settings;
    tpSceneOverrides overrides;
    double timeLimit;
    int jobs;
    bool json, quiet;
    bool isAdvice; // the command is `advise`
} tpCompareOptions;

static const char* const againstWords[] = { "closed-form", "reference", "finest", NULL };

static const char notes[] =
    "Without --against, runs are compared with the closed form in the scene, else with its\n"
    "reference file, else with the finest run: the scene's own stepper at a quarter of the\n"
    "smallest step. Errors of positions and angles are the largest over bodies and times. Errors\n"
    "of velocities are means over time, since velocities jump at impacts. `order` compares a run\n"
    "with the run at the next larger step.\n"
    "\n"
    "With a folder, all of its tables (*.csv) are references, such as many measured motions of\n"
    "one body. Each run starts in the first state of its table. Mean, median and largest errors\n"
    "of positions and rotations over all tables are printed.\n"
    "\n"
    "Exit status: 0 done; 2 bad input or usage; 3 no run reached its end, or a file could not be\n"
    "written.\n";

static const char adviceNotes[] =
    "Runs the scene with all steppers, at steps from four times to an eighth of the scene's. Then\n"
    "prints which stepper and step reach an error of 1e-2, 1e-3 and 1e-4 of the distance that\n"
    "bodies move in the least CPU time, and what `auto` needs for it. Errors are measured as for\n"
    "`compare`: against the scene's closed form, else its reference, else the finest run.\n"
    "\n"
    "Exit status: 0 done; 2 bad input or usage; 3 no run reached its end, or a file could not be\n"
    "written.\n";

static tpArgumentsResult readAdviceLine(int argumentCount, char** arguments,
                                        tpCompareOptions* options) {
    double until = NAN;
    const tpArgument table[] = {
        { "until", optionNumber, &until, "SECONDS", "the end time, instead of the scene's", NULL },
        { "set", optionList, &options->settings, "NAME=VALUE",
          "an option of the steppers, instead of the scene's; may be given several times", NULL },
        { "out", optionText, &options->out, "FILE.html",
          "write the page of tippe compare, with error against cost of all runs", NULL },
        { "csv", optionText, &options->csv, "FILE.csv", "write the table, a row per run", NULL },
        { "json", optionFlag, &options->json, NULL, "print the advice as one JSON object instead",
          NULL },
        { "jobs", optionCount, &options->jobs, "N",
          "processes side by side, default the number of processors", NULL },
        { "limit", optionPositive, &options->timeLimit, "SECONDS",
          "processor time after which a run is given up, default 20", NULL },
    };
    const tpOperand operands[] = { { "SCENE", &options->scene, true, "the scene to advise on",
                                     NULL } };
    const tpArgumentTable line = {
        .command = "advise",
        .summary = "Tries steppers and step sizes on a scene, and recommends one for each accuracy",
        TP_OPERANDS(operands),
        TP_OPTIONS(table),
        .notes = adviceNotes,
    };
    tpArgumentsResult result = parseArguments(&line, argumentCount, arguments);
    finishOverrides(&options->overrides, until, &options->settings);
    return result;
}

static tpArgumentsResult readCommandLine(int argumentCount, char** arguments,
                                         tpCompareOptions* options) {
    double until = NAN;
    const tpArgument table[] = {
        { "steppers", optionText, &options->steppers, "NAMES",
          "steppers, separated by commas, or all; default all that handle contacts", NULL },
        { "steps", optionText, &options->steps, "SECONDS",
          "step sizes, separated by commas; default the scene's, its half and its quarter", NULL },
        { "until", optionNumber, &until, "SECONDS", "the end time, instead of the scene's", NULL },
        { "set", optionList, &options->settings, "NAME=VALUE",
          "an option of the steppers, instead of the scene's; may be given several times", NULL },
        { "against", optionChoice, &options->against, NULL, "what the runs are compared with",
          againstWords },
        { "reference", optionText, &options->reference, "FILE.csv",
          "a table of known states in the format of run --csv, instead of the scene's; or a folder "
          "of them",
          NULL },
        { "out", optionText, &options->out, "FILE.html",
          "write a page with trajectories and the work-precision diagram", NULL },
        { "csv", optionText, &options->csv, "FILE.csv", "write the table, a row per run", NULL },
        { "json", optionFlag, &options->json, NULL, "print the table as one JSON object instead",
          NULL },
        { "jobs", optionCount, &options->jobs, "N",
          "processes side by side, default the number of processors", NULL },
        { "limit", optionPositive, &options->timeLimit, "SECONDS",
          "processor time after which a run is given up, default 600", NULL },
        { "quiet", optionFlag, &options->quiet, NULL,
          "no progress and no table (--json is still printed)", NULL },
    };
    const tpOperand operands[] = { { "SCENE", &options->scene, true, "the scene to compare on",
                                     NULL } };
    const tpArgumentTable line = {
        .command = "compare",
        .summary = "Runs a scene with several steppers and step sizes, and compares the results",
        TP_OPERANDS(operands),
        TP_OPTIONS(table),
        .notes = notes,
    };
    tpArgumentsResult result = parseArguments(&line, argumentCount, arguments);
    finishOverrides(&options->overrides, until, &options->settings);
    return result;
}

// The plan ------------------------------------------------------------------------------------

static int compareDescending(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x < y) - (x > y);
}

// Steps from the largest to the smallest.
static bool readSteps(const char* text, const tpScene* scene, bool isAdvice, double* steps,
                      int* count) {
    *count = 0;
    if (text == NULL) {
        int wanted = isAdvice ? 6 : 3;
        for (double part = isAdvice ? 4.0 : 1.0; *count < wanted; part *= 0.5) {
            steps[(*count)++] = part * scene->simulation.step;
        }
        return true;
    }
    for (const char* at = text;; ++at) {
        char* end;
        double step = strtod(at, &end);
        if (end == at || (*end != ',' && *end != '\0') || !isfinite(step) || step <= 0.0) {
            fprintf(stderr,
                    "tippe compare: --steps takes numbers greater than zero, separated by "
                    "commas, not '%s'\n",
                    text);
            return false;
        }
        if (*count == mostSteps) {
            fprintf(stderr, "tippe compare: --steps takes at most %d numbers\n", mostSteps);
            return false;
        }
        steps[(*count)++] = step;
        at = end;
        if (*end == '\0') {
            break;
        }
    }
    qsort(steps, (size_t)*count, sizeof(double), compareDescending);
    int kept = 1;
    for (int i = 1; i < *count; ++i) {
        if (steps[i] < steps[kept - 1]) {
            steps[kept++] = steps[i];
        }
    }
    *count = kept;
    return true;
}

static bool hasContacts(const tpScene* scene) {
    int shaped = 0;
    for (int i = 0; i < scene->bodies.count; ++i) {
        shaped += scene->bodies.items[i].shapes.count > 0 ? 1 : 0;
    }
    return shaped > 1;
}

// All that this build has; free flight only where nothing can touch, unless it is named.
static int takeAllSteppers(const tpScene* scene, tpStepperId* steppers) {
    int count = 0;
    for (int id = 0; id < tp_stepperCount; ++id) {
        bool isMeant = id != tp_freeFlight || (!hasContacts(scene) && scene->joints.count == 0);
        if (isMeant && tpStepperIsAvailable((tpStepperId)id)) {
            steppers[count++] = (tpStepperId)id;
        }
    }
    return count;
}

static bool complainOfStepper(const char* word) {
    const char* known[tp_stepperCount + 2];
    int count = 0;
    known[count++] = "all";
    for (int id = 0; id < tp_stepperCount; ++id) {
        if (tpStepperIsAvailable((tpStepperId)id)) {
            known[count++] = tpStepperName((tpStepperId)id);
        }
    }
    known[count] = NULL;
    complainOfName("compare", "stepper", word, known);
    return false;
}

static bool readSteppers(const char* text, const tpScene* scene, tpStepperId* steppers,
                         int* count) {
    *count = 0;
    if (text == NULL || strcmp(text, "all") == 0) {
        *count = takeAllSteppers(scene, steppers);
        return true;
    }
    for (const char* at = text;; ++at) {
        int length = (int)strcspn(at, ",");
        char word[64];
        snprintf(word, sizeof(word), "%.*s", length, at);
        tpStepperId id;
        if (!tpFindStepper(word, &id) || !tpStepperIsAvailable(id)) {
            return complainOfStepper(word);
        }
        bool isNew = true;
        for (int i = 0; i < *count; ++i) {
            isNew = isNew && steppers[i] != id;
        }
        if (isNew) {
            steppers[(*count)++] = id;
        }
        at += length;
        if (*at == '\0') {
            return true;
        }
    }
}

static void addRun(tpComparison* comparison, tpStepperId stepper, double step, bool isTruth) {
    comparison->runs[comparison->runCount++] = (tpComparedRun){
        .stepper = stepper,
        .step = step,
        .stepCount = (int64_t)llround(comparison->until / step),
        .isTruth = isTruth,
    };
}

static bool planRuns(const tpCompareOptions* options, bool needsTruth, tpComparison* comparison) {
    tpStepperId steppers[tp_stepperCount];
    double steps[mostSteps];
    int stepperCount, stepCount;
    if (!readSteppers(options->steppers, comparison->scene, steppers, &stepperCount) ||
        !readSteps(options->steps, comparison->scene, options->isAdvice, steps, &stepCount)) {
        return false;
    }
    double finest = steps[stepCount - 1] * (needsTruth ? finerThanFinest : 1.0);
    tpError error;
    if (tpCheckTimes(steps[0], comparison->until, &error) != tp_success ||
        tpCheckTimes(finest, comparison->until, &error) != tp_success) {
        fprintf(stderr, "tippe compare: %s\n", error.message);
        return false;
    }
    tpStepperId own = tpScene_GetStepper(comparison->scene);
    bool isPlanned = !needsTruth;
    for (int i = 0; i < stepperCount; ++i) {
        for (int k = 0; k < stepCount; ++k) {
            addRun(comparison, steppers[i], steps[k], false);
        }
        if (steppers[i] == own && !isPlanned) {
            addRun(comparison, own, finest, true);
            isPlanned = true;
        }
    }
    if (!isPlanned) { // the scene's author knew why, also where others are asked for
        addRun(comparison, own, finest, true);
    }
    return true;
}

// The comparison ------------------------------------------------------------------------------

static bool listMoving(tpComparison* comparison) {
    const tpScene* scene = comparison->scene;
    comparison->movingNames = malloc((size_t)(scene->bodies.count + 1) * sizeof(const char*));
    for (int i = 0; comparison->movingNames != NULL && i < scene->bodies.count; ++i) {
        const tpSceneBody* body = &scene->bodies.items[i];
        if (body->kind != tp_fixedBody) {
            comparison->movingNames[comparison->movingCount++] =
                body->name.text != NULL ? body->name.text : "";
        }
    }
    return comparison->movingNames != NULL;
}

// The reference file: as the command line has it, or beside the scene. NULL: none.
static const char* referencePath(const tpCompareOptions* options, const tpScene* scene,
                                 char* buffer, size_t size) {
    if (options->reference != NULL || scene->reference.text == NULL) {
        return options->reference;
    }
    tpJoinScenePath(scene, scene->reference.text, buffer, size);
    return buffer;
}

// What the runs are to be held against, one of againstWords; NULL with the reason printed.
static const char* chooseTruth(const tpCompareOptions* options, const tpScene* scene,
                               const char* reference) {
    const char* choice = options->against;
    if (choice == NULL) {
        choice = options->reference != NULL     ? againstWords[1]
                 : scene->closedForms.count > 0 ? againstWords[0]
                 : reference != NULL            ? againstWords[1]
                                                : againstWords[2];
    }
    if (choice == againstWords[0] && scene->closedForms.count == 0) {
        fprintf(stderr, "tippe compare: the scene gives no closed form\n");
        return NULL;
    }
    if (choice == againstWords[1] && reference == NULL) {
        fprintf(stderr, "tippe compare: the scene names no reference file; --reference does\n");
        return NULL;
    }
    return choice;
}

static bool outOfMemory(void) {
    fprintf(stderr, "tippe compare: out of memory\n");
    return false;
}

static bool prepare(const tpCompareOptions* options, tpComparison* comparison,
                    const char** choice) {
    char buffer[4096];
    const char* reference = referencePath(options, comparison->scene, buffer, sizeof(buffer));
    *choice = chooseTruth(options, comparison->scene, reference);
    if (*choice == NULL) {
        return false;
    }
    if (!listMoving(comparison)) {
        return outOfMemory();
    }
    if (!planRuns(options, *choice == againstWords[2], comparison)) {
        return false;
    }
    if (*choice == againstWords[1]) {
        return readReference(comparison, reference);
    }
    if (!chooseSampleTimes(comparison)) {
        return outOfMemory();
    }
    return *choice != againstWords[0] || evaluateClosedForms(comparison);
}

// Whether the table or the page takes standard output, so that nothing else may go there.
static bool isOnStandardOutput(const tpCompareOptions* options) {
    return (options->csv != NULL && isStandardOutput(options->csv)) ||
           (options->out != NULL && isStandardOutput(options->out));
}

static int writeAll(const tpCompareOptions* options, const tpComparison* comparison) {
    if (options->json && options->isAdvice) {
        writeAdviceJson(comparison, stdout);
    } else if (options->json) {
        writeComparisonJson(comparison, false, stdout);
    } else if (options->isAdvice && !isOnStandardOutput(options)) {
        printAdvice(comparison);
    } else if (!options->quiet && !isOnStandardOutput(options)) {
        printComparison(comparison);
    }
    bool isWritten = true;
    if (options->csv != NULL) {
        isWritten = writeComparisonCsv(comparison, options->csv);
    }
    if (options->out != NULL) {
        isWritten = writeComparisonPage(comparison, options->out) && isWritten;
    }
    bool someEnded = false;
    for (int i = 0; i < comparison->runCount; ++i) {
        someEnded = someEnded || comparison->runs[i].outcome->status == runDone;
    }
    return isWritten && someEnded ? exitDone : exitCouldNotGoOn;
}

static bool checkOutputs(const tpCompareOptions* options, const tpScene* scene) {
    tpCommandFiles files = startFiles(options->isAdvice ? "advise" : "compare");
    addOutput(&files, "--csv", options->csv);
    addOutput(&files, "--out", options->out);
    addOutput(&files, "--json", options->json ? "-" : NULL);
    addSceneInputs(&files, scene);
    if (options->reference != NULL && !isFolder(options->reference)) {
        addInput(&files, "the reference", options->reference);
    }
    return canWriteFiles(&files) && (options->out == NULL || hasPage("compare", tpComparePage()));
}

// Against every table of a folder.
static int compareFolder(const tpCompareOptions* options, tpComparison* comparison) {
    if (options->out != NULL) {
        fprintf(stderr,
                "tippe compare: a page shows one reference; --out takes no folder of them\n");
        return exitBadInput;
    }
    if (!listMoving(comparison)) {
        outOfMemory();
        return exitBadInput;
    }
    if (!planRuns(options, false, comparison)) {
        return exitBadInput;
    }
    bool isTableShown = !options->quiet && !isOnStandardOutput(options);
    tpFolderOptions folder = { options->reference, options->csv, options->json, !isTableShown };
    return compareWithFolder(comparison, &folder);
}

static int compareScene(const tpCompareOptions* options, tpComparison* comparison) {
    const char* choice = NULL;
    if (options->reference != NULL && isFolder(options->reference)) {
        return checkOutputs(options, comparison->scene) ? compareFolder(options, comparison)
                                                        : exitBadInput;
    }
    if (!checkOutputs(options, comparison->scene) || !prepare(options, comparison, &choice)) {
        return exitBadInput;
    }
    if (!carryOutRuns(comparison, !options->quiet)) {
        outOfMemory();
        return exitCouldNotGoOn;
    }
    if (choice == againstWords[2]) {
        takeFinestAsTruth(comparison);
    }
    judgeRuns(comparison);
    return writeAll(options, comparison);
}

// Both commands, with what their lines asked for.
static int compareBy(const tpCompareOptions* given) {
    tpCompareOptions options = *given;
    const char* command = options.isAdvice ? "advise" : "compare";
    tpScene* scene = openScene(command, options.scene);
    if (scene == NULL) {
        return exitBadInput;
    }
    tpError error;
    tpWorld* world = NULL;
    tpResult result = tpScene_Override(scene, &options.overrides, &error);
    if (result == tp_success) { // what is wrong with the scene is found here, and once
        result = tpScene_CreateWorld(scene, NULL, 1, &world, &error);
    }
    tpDestroyWorld(world);
    tpComparison* comparison = calloc(1, sizeof(tpComparison));
    int status = exitBadInput;
    if (result != tp_success) {
        complainOfScene(command, &error);
    } else if (comparison == NULL) {
        outOfMemory();
    } else {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        comparison->scene = scene;
        comparison->until = scene->simulation.until;
        comparison->jobs = options.jobs > 0 ? options.jobs : processors > 0 ? (int)processors : 1;
        comparison->timeLimit = options.timeLimit;
        comparison->title = titleOfScene(scene);
        status = compareScene(&options, comparison);
        releaseRuns(comparison);
        free(comparison->movingNames);
        free(comparison->times);
        free(comparison->truth);
    }
    free(comparison);
    tpDestroyScene(scene);
    return status;
}

int runCompare(int argumentCount, char** arguments) {
    tpCompareOptions options = { .timeLimit = 600.0 };
    tpArgumentsResult parsed = readCommandLine(argumentCount, arguments, &options);
    if (parsed != argumentsParsed) {
        return exitAfter(parsed);
    }
    return compareBy(&options);
}

int runAdvise(int argumentCount, char** arguments) {
    tpCompareOptions options = { .timeLimit = 20.0, .isAdvice = true };
    tpArgumentsResult parsed = readAdviceLine(argumentCount, arguments, &options);
    if (parsed != argumentsParsed) {
        return exitAfter(parsed);
    }
    return compareBy(&options);
}
