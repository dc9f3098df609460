// tippe run: steps a scene, writes it down, and says what it came to.
//
// Everything that can be wrong is found before the first file is opened: the command line, the
// scene, the world it describes, the places to write to.

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "command_files.h"
#include "dump.h"
#include "output_file.h"
#include "progress.h"
#include "scene_file.h"
#include "state_file.h"
#include "tippe/recording.h"

typedef struct tpRunOptions {
    const char* scene;
    tpSceneOverrides overrides;
    tpArgumentList settings;
    const char* out;
    const char* csv;
    const char* contacts;
    const char* joints;
    const char* save;
    const char* from;
    const char* dump;
    double dumpAbove; // NAN: not given
    bool json, quiet;
    int every, threads;
} tpRunOptions;

enum { tableKinds = 3 };

typedef struct tpOutputs {
    tpRecorder* recorder;
    tpTable* tables[tableKinds]; // that are open, by the order of tableOf; others are NULL
    tpOutputFile state;
} tpOutputs;

// The tables that a run may write.
typedef tpTable* tpTableMaker(const char* path, const tpWorld* world, int every, tpError* error);
typedef struct tpRunTable {
    const char* option;
    const char* what; // in the list of files after the summary
    const char* path; // NULL: not asked for
    tpTableMaker* create;
} tpRunTable;

static tpRunTable tableOf(const tpRunOptions* options, int index) {
    const tpRunTable tables[tableKinds] = {
        { "--csv", "trajectory", options->csv, tpCreateTrajectoryTable },
        { "--contacts", "contacts", options->contacts, tpCreateContactTable },
        { "--joints", "joints", options->joints, tpCreateJointTable },
    };
    return tables[index];
}

static const char notes[] =
    "SCENE is a file, the name of a scene that comes with Tippe (see tippe list scenes), or `-` "
    "for\n"
    "standard input. `-` as the name of a table means standard output; the summary then goes to\n"
    "standard error.\n"
    "\n"
    "The run has round(until / step) steps. Ctrl-C ends it early; what was recorded stays "
    "readable.\n"
    "\n"
    "--save writes the state at the end of the run, also of one that was interrupted. --from goes "
    "on\n"
    "from there, bit for bit, to the time --until; the scene and the stepper must be the same.\n"
    "Options are taken from the state; --set changes them from there on.\n"
    "\n"
    "Exit status: 0 done; 2 bad input or usage, nothing is written; 3 the simulation could not go\n"
    "on or was interrupted, what was recorded until then is kept.\n";

// The command line ----------------------------------------------------------------------------

static tpArgumentsResult readCommandLine(int argumentCount, char** arguments,
                                         tpRunOptions* options) {
    double until = NAN;
    const tpArgument table[] = {
        { "stepper", optionText, &options->overrides.stepper, "NAME",
          "the stepper to use instead of the scene's (see tippe list steppers)", NULL },
        { "step", optionPositive, &options->overrides.step, "SECONDS",
          "the length of a step, instead of the scene's", NULL },
        { "until", optionNumber, &until, "SECONDS", "the end time, instead of the scene's", NULL },
        { "set", optionList, &options->settings, "NAME=VALUE",
          "an option of the stepper, instead of the scene's; may be given several times", NULL },
        { "out", optionText, &options->out, "FILE.h5", "record everything in an HDF5 file", NULL },
        { "csv", optionText, &options->csv, "FILE.csv",
          "write positions and velocities of the bodies, a row per step", NULL },
        { "contacts", optionText, &options->contacts, "FILE.csv",
          "write the contacts, a row per contact and step", NULL },
        { "joints", optionText, &options->joints, "FILE.csv",
          "write value, speed and effort of the joints' coordinates, a row per step", NULL },
        { "save", optionText, &options->save, "STATE", "write the state at the end, for --from",
          NULL },
        { "from", optionText, &options->from, "STATE",
          "start from a state that --save wrote, instead of the scene's start", NULL },
        { "dump", optionText, &options->dump, "DIR",
          "write every friction problem that is solved to a file for tippe solve", NULL },
        { "dump-above", optionNumber, &options->dumpAbove, "X",
          "with --dump: only problems whose residual stays above X", NULL },
        { "every", optionCount, &options->every, "N",
          "record every N-th step only, in all of the files", NULL },
        { "json", optionFlag, &options->json, NULL,
          "print the summary as one JSON object instead of a table", NULL },
        { "quiet", optionFlag, &options->quiet, NULL,
          "no progress and no summary (--json is still printed)", NULL },
        { "threads", optionCount, &options->threads, "N",
          "threads to use, default 1; the results are the same for any number", NULL },
    };
    const tpOperand operands[] = { { "SCENE", &options->scene, true, "the scene to run", NULL } };
    const tpArgumentTable line = {
        .command = "run",
        .summary = "Runs a scene and prints a summary",
        TP_OPERANDS(operands),
        TP_OPTIONS(table),
        .notes = notes,
    };
    tpArgumentsResult result = parseArguments(&line, argumentCount, arguments);
    if (result == argumentsParsed && options->every < 1) {
        fprintf(stderr, "tippe run: --every takes a whole number, one or more\n");
        return argumentsWrong;
    }
    if (result == argumentsParsed && options->dump == NULL && !isnan(options->dumpAbove)) {
        fprintf(stderr, "tippe run: --dump-above needs --dump DIR\n");
        return argumentsWrong;
    }
    if (result == argumentsParsed && !checkThreads("run", options->threads)) {
        return argumentsWrong;
    }
    finishOverrides(&options->overrides, until, &options->settings);
    return result;
}

// Files ---------------------------------------------------------------------------------------

// That every file can be written, no two are the same, and none is read.
static bool checkOutputs(const tpRunOptions* options, const tpScene* scene) {
    tpCommandFiles files = startFiles("run");
    addRecordingOutput(&files, "--out", options->out);
    for (int i = 0; i < tableKinds; ++i) {
        tpRunTable table = tableOf(options, i);
        addOutput(&files, table.option, table.path);
    }
    addOutput(&files, "--save", options->save);
    addOutput(&files, "--json", options->json ? "-" : NULL);
    addSceneInputs(&files, scene);
    if (options->from != NULL) {
        addInput(&files, "the state", options->from);
    }
    return canWriteFiles(&files);
}

// Opens what the command line asks for. The recording comes last: once it is there, the one that
// was there before is gone, while tables keep what they had until the first step.
static tpResult openOutputs(const tpRunOptions* options, const tpScene* scene, const tpWorld* world,
                            const char* sceneText, tpOutputs* outputs, tpError* error) {
    bool isOpen = true;
    for (int i = 0; isOpen && i < tableKinds; ++i) {
        tpRunTable table = tableOf(options, i);
        if (table.path != NULL) {
            outputs->tables[i] = table.create(table.path, world, options->every, error);
            isOpen = outputs->tables[i] != NULL;
        }
    }
    if (isOpen && options->out != NULL) {
        tpRecorderDef def = tpDefaultRecorderDef();
        def.path = options->out;
        def.sceneText = sceneText;
        def.sceneName = titleOfScene(scene);
        def.scenePath = options->scene;
        def.step = scene->simulation.step;
        def.every = options->every;
        outputs->recorder = tpCreateRecorder(&def, world, error);
        isOpen = outputs->recorder != NULL;
    }
    if (!isOpen) {
        for (int i = 0; i < tableKinds; ++i) {
            tpDiscardTable(outputs->tables[i]);
        }
    }
    return isOpen ? tp_success : error->result;
}

static tpResult writeStep(const tpOutputs* outputs, const tpWorld* world,
                          const tpStepReport* report, tpError* error) {
    tpResult result = tp_success;
    if (outputs->recorder != NULL) {
        result = tpRecorder_Step(outputs->recorder, world, report, error);
    }
    for (int i = 0; result == tp_success && i < tableKinds; ++i) {
        if (outputs->tables[i] != NULL) {
            result = tpTable_Step(outputs->tables[i], world, error);
        }
    }
    return result;
}

// Closes all of them, whatever happens; the first failure counts.
static tpResult closeOutputs(tpOutputs* outputs, const tpAudit* audit, tpError* error) {
    tpError later;
    tpResult result = tp_success;
    if (outputs->recorder != NULL) {
        result = tpCloseRecorder(outputs->recorder, audit, error);
    }
    for (int i = 0; i < tableKinds; ++i) {
        tpResult closed = tpCloseTable(outputs->tables[i], result == tp_success ? error : &later);
        result = result == tp_success ? closed : result;
    }
    return result;
}

// Stepping ------------------------------------------------------------------------------------

static volatile sig_atomic_t interruptedBy; // number of the signal, or 0

static void noteSignal(int signal) {
    interruptedBy = signal;
}

// The first signal ends the run in good order, a second one ends the process.
static void catchInterrupts(void) {
    struct sigaction action = { .sa_handler = noteSignal };
    action.sa_flags = (int)SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction ignore = { .sa_handler = SIG_IGN }; // a closed pipe is a write that fails
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, NULL);
}

// From the time of the world, which is that of the state that it was given, to the end.
static int64_t countSteps(const tpScene* scene, const tpWorld* world) {
    return tpScene_GetStepCount(scene) -
           (int64_t)floor(tpWorld_GetTime(world) / scene->simulation.step + 0.5);
}

// Steps to the end, or to where it cannot go on; then `error` says why.
static tpResult stepAll(const tpRunOptions* options, const tpScene* scene, tpWorld* world,
                        const tpOutputs* outputs, tpAudit* audit, tpError* error) {
    double step = scene->simulation.step;
    double start = tpWorld_GetTime(world);
    int64_t stepCount = countSteps(scene, world);
    tpProgress progress;
    tpWorld_SetStop(world, &interruptedBy);
    startProgress(&progress, !options->quiet, stepCount, step);
    tpResult result = tp_success;
    for (int64_t k = 0; k < stepCount && result == tp_success; ++k) {
        tpStepReport report = tpWorld_Step(world, step);
        if (report.undone && interruptedBy != 0) {
            result = tp_notSolved;
            snprintf(error->message, sizeof(error->message), "interrupted at t = %.9g s",
                     start + (double)k * step);
            break;
        }
        tpAudit_AddStep(audit, &report);
        if (report.undone) {
            result = tp_notSolved;
            snprintf(error->message, sizeof(error->message),
                     "the simulation could not go on at t = %.9g s: %s", start + (double)k * step,
                     report.noteCount > 0 ? report.notes[0] : "the step was undone");
            break;
        }
        result = writeStep(outputs, world, &report, error);
        showProgress(&progress, k + 1);
        if (result == tp_success && interruptedBy != 0 && k + 1 < stepCount) {
            result = tp_notSolved;
            snprintf(error->message, sizeof(error->message), "interrupted at t = %.9g s",
                     start + (double)(k + 1) * step);
        }
    }
    endProgress(&progress);
    return result;
}

static bool isTableOnStandardOutput(const tpRunOptions* options) {
    for (int i = 0; i < tableKinds; ++i) {
        tpRunTable table = tableOf(options, i);
        if (table.path != NULL && isStandardOutput(table.path)) {
            return true;
        }
    }
    return options->save != NULL && isStandardOutput(options->save);
}

static void printFile(FILE* stream, const char* what, const char* path) {
    if (path != NULL && !isStandardOutput(path)) {
        fprintf(stream, "%-11s %s\n", what, path);
    }
}

static void printSummary(const tpRunOptions* options, const tpScene* scene, const tpAudit* audit) {
    char text[8192];
    // Beside a table the summary would be in its way.
    FILE* stream = isTableOnStandardOutput(options) ? stderr : stdout;
    if (options->json) {
        tpAudit_FormatJson(audit, text, sizeof(text));
        fputs(text, stdout);
    } else if (!options->quiet) {
        tpAudit_FormatTable(audit, text, sizeof(text));
        fprintf(stream, "%s, %s, step %.6g s\n\n%s", titleOfScene(scene),
                tpStepperName(tpScene_GetStepper(scene)), scene->simulation.step, text);
        if (options->out != NULL) {
            fprintf(stream, "\n%-11s %s\n", "recording", options->out);
        }
        for (int i = 0; i < tableKinds; ++i) {
            tpRunTable table = tableOf(options, i);
            printFile(stream, table.what, table.path);
        }
        printFile(stream, "state", options->save);
    }
    fflush(stdout);
}

// The scene's file name without its end, for the names of problem files.
static const char* dumpName(const tpScene* scene) {
    static char name[64];
    const char* slash = strrchr(scene->path, '/');
    snprintf(name, sizeof(name), "%s", slash != NULL ? slash + 1 : scene->path);
    char* dot = strchr(name, '.');
    if (dot != NULL) {
        *dot = '\0';
    }
    return name[0] != '\0' && strcmp(name, "-") != 0 ? name : "scene";
}

static void reportDump(const tpRunOptions* options, const tpDump* dump) {
    if (options->dump != NULL && !options->quiet && !options->json) {
        FILE* stream = isTableOnStandardOutput(options) ? stderr : stdout;
        fprintf(stream, "problems    %d in %s\n", dump->count - dump->failed, dump->directory);
    }
    if (dump->failed > 0) {
        fprintf(stderr, "tippe run: %d problems could not be written: %s\n", dump->failed,
                dump->error.message);
    }
}

// From open files to the exit status.
static int runOpen(const tpRunOptions* options, const tpScene* scene, tpWorld* world,
                   tpOutputs* outputs) {
    tpAudit audit;
    tpError error = { tp_success, "" }, closing = { tp_success, "" };
    catchInterrupts();
    tpAudit_Start(&audit, world);
    tpDump dump = { .directory = options->dump,
                    .above = isnan(options->dumpAbove) ? -1.0 : options->dumpAbove,
                    .name = dumpName(scene) };
    if (options->dump != NULL) {
        startDump(&dump, world);
    }
    tpResult result = stepAll(options, scene, world, outputs, &audit, &error);
    tpResult closed = closeOutputs(outputs, &audit, &closing);
    bool isSaved = options->save == NULL || saveState("run", &outputs->state, world);
    printSummary(options, scene, &audit);
    reportDump(options, &dump);
    if (result != tp_success) {
        fprintf(stderr, "tippe run: %s\n", error.message);
    } else if (closed != tp_success) {
        fprintf(stderr, "tippe run: %s\n", closing.message);
    }
    bool isDone = result == tp_success && closed == tp_success && isSaved && dump.failed == 0;
    return isDone ? exitDone : exitCouldNotGoOn;
}

static int runWorld(const tpRunOptions* options, const tpScene* scene, tpWorld* world) {
    tpError error = { tp_success, "" };
    char* sceneText = NULL;
    size_t length = 0;
    if (!checkOutputs(options, scene) ||
        (options->dump != NULL && !prepareDump("run", options->dump))) {
        return exitBadInput;
    }
    // What is recorded is the scene as it ran, overrides and all.
    tpOutputs outputs = { .recorder = NULL };
    if (options->save != NULL && !openOutput("run", options->save, &outputs.state)) {
        return exitBadInput;
    }
    tpResult result = tpFormatScene(scene, NULL, &sceneText, &length, &error);
    if (result == tp_success) {
        result = openOutputs(options, scene, world, sceneText, &outputs, &error);
    }
    int status = exitBadInput;
    if (result == tp_success) {
        status = runOpen(options, scene, world, &outputs);
    } else {
        fprintf(stderr, "tippe run: %s\n", error.message);
        discardOutput(&outputs.state);
    }
    tpReleaseSceneText(NULL, sceneText, length);
    return status;
}

// A state brings the options of its run along; what --set says counts more. Both have been checked.
static bool setAnew(const tpSceneOverrides* overrides, const tpScene* scene, tpWorld* world) {
    bool isSet = true;
    for (int i = 0; i < scene->simulation.options.count; ++i) {
        const tpSceneOption* option = &scene->simulation.options.items[i];
        size_t length = strlen(option->name.text);
        for (int k = 0; k < overrides->optionCount; ++k) {
            const char* given = overrides->options[k];
            if (strncmp(given, option->name.text, length) == 0 && given[length] == '=') {
                isSet = isSet && tpWorld_SetOption(world, option->name.text, option->value, NULL) ==
                                     tp_success;
            }
        }
    }
    return isSet;
}

// Puts the world into the state of --from. False, with the reason printed, if it does not fit.
static bool startFrom(const tpRunOptions* options, const tpScene* scene, tpWorld* world) {
    if (!restoreState("run", options->from, world) || !setAnew(&options->overrides, scene, world)) {
        return false;
    }
    if (countSteps(scene, world) < 0) {
        fprintf(stderr,
                "tippe run: %s is the state at t = %.9g s, the run ends at %.9g s; --until says "
                "when to end\n",
                options->from, tpWorld_GetTime(world), scene->simulation.until);
        return false;
    }
    return true;
}

int runRun(int argumentCount, char** arguments) {
    tpRunOptions options = { .every = 1, .threads = 1, .dumpAbove = NAN };
    tpArgumentsResult parsed = readCommandLine(argumentCount, arguments, &options);
    if (parsed != argumentsParsed) {
        return exitAfter(parsed);
    }
    tpScene* scene = openScene("run", options.scene);
    if (scene == NULL) {
        return exitBadInput;
    }
    tpError error;
    tpWorld* world = NULL;
    tpResult result = tpScene_Override(scene, &options.overrides, &error);
    if (result == tp_success) {
        result = tpScene_CreateWorld(scene, NULL, options.threads, &world, &error);
    }
    int status = exitBadInput;
    if (result != tp_success) {
        complainOfScene("run", &error);
    } else if (options.from == NULL || startFrom(&options, scene, world)) {
        status = runWorld(&options, scene, world);
    }
    tpDestroyWorld(world);
    tpDestroyScene(scene);
    return status;
}
