// tippe export: what a recording holds, as the tables of a run, or as a page to look at.

#include <math.h>
#include <stdio.h>

#include "arguments.h"
#include "command.h"
#include "command_files.h"
#include "page_file.h"
#include "recorded_scene.h"
#include "run_page.h"
#include "scene_file.h"
#include "tippe/recording.h"

enum { exportCount = 6 };

typedef struct tpExportOptions {
    const char* recording;
    const char* paths[exportCount]; // of each row of `exports`; NULL: not asked for
    double window;                  // s, of the pairs
    int every;                      // of the page; 0: as many frames as fit
} tpExportOptions;

// Writes one output. On failure the reason is in `error`, or was printed if its message is empty.
typedef tpResult tpExportWriter(tpRecording* recording, const tpExportOptions* options,
                                const char* path, tpError* error);

typedef struct tpExport {
    const char *option, *valueName, *help;
    tpExportWriter* write;
} tpExport;

static tpResult writeTrajectory(tpRecording* recording, const tpExportOptions* options,
                                const char* path, tpError* error) {
    (void)options;
    return tpExportTrajectory(recording, path, error);
}

static tpResult writeJoints(tpRecording* recording, const tpExportOptions* options,
                            const char* path, tpError* error) {
    (void)options;
    return tpExportJoints(recording, path, error);
}

static tpResult writeContacts(tpRecording* recording, const tpExportOptions* options,
                              const char* path, tpError* error) {
    (void)options;
    return tpExportContacts(recording, path, error);
}

static tpResult writeReports(tpRecording* recording, const tpExportOptions* options,
                             const char* path, tpError* error) {
    (void)options;
    return tpExportReports(recording, path, error);
}

static tpResult writePairs(tpRecording* recording, const tpExportOptions* options, const char* path,
                           tpError* error) {
    return tpExportPairs(recording, path, options->window, error);
}

static tpResult writePage(tpRecording* recording, const tpExportOptions* options, const char* path,
                          tpError* error) {
    int64_t kept = 1;
    if (writeRunPage("export", recording, path, options->every, &kept) != pageWritten) {
        error->message[0] = '\0';
        return tp_ioError;
    }
    if (options->every == 0 && kept > 1) {
        fprintf(stderr,
                "tippe export: the page has one frame in %lld; --every N chooses another number\n",
                (long long)kept);
    }
    return tp_success;
}

// What can be written. The order is that of the help, and that of writing.
static const tpExport exports[exportCount] = {
    { "csv", "FILE.csv",
      "write positions and velocities of the bodies and values of the sensors, a row per frame",
      writeTrajectory },
    { "joints", "FILE.csv",
      "write value, speed and effort of the joints' coordinates, a row per frame", writeJoints },
    { "contacts", "FILE.csv", "write the contacts, a row per contact and frame", writeContacts },
    { "reports", "FILE.csv",
      "write energies, residuals and iterations as the steps reported them, a row per frame",
      writeReports },
    { "pairs", "FILE.csv", "write impulses, mean forces and collisions between pairs of bodies",
      writePairs },
    { "html", "FILE.html", "write a page that shows the run, in one file that works offline",
      writePage },
};

static const char notes[] =
    "The first three tables are the same, byte for byte, as those of tippe run. The page contains\n"
    "everything it shows and needs no network; if the recording is very large, it takes only as\n"
    "many frames as fit. A file is replaced only when the new one is complete. `-` is standard\n"
    "output.\n"
    "\n"
    "Exit status: 0 done; 2 bad input or usage; 3 an output could not be written to its end.\n";

static bool isAnythingAsked(const tpExportOptions* options) {
    for (int i = 0; i < exportCount; ++i) {
        if (options->paths[i] != NULL) {
            return true;
        }
    }
    fprintf(stderr, "tippe export: nothing to write; use");
    for (int i = 0; i < exportCount; ++i) {
        const char* separator = i == 0 ? "" : i + 1 == exportCount ? " or" : ",";
        fprintf(stderr, "%s --%s %s", separator, exports[i].option, exports[i].valueName);
    }
    fprintf(stderr, "\n");
    return false;
}

static tpArgumentsResult readCommandLine(int argumentCount, char** arguments,
                                         tpExportOptions* options) {
    tpArgument table[exportCount + 2] = {
        [exportCount] = { "window", optionPositive, &options->window, "SECONDS",
                          "with --pairs: a row per pair for each interval of this length, "
                          "default the whole run",
                          NULL },
        [exportCount + 1] = { "every", optionCount, &options->every, "N",
                              "with --html: take only every N-th frame", NULL },
    };
    for (int i = 0; i < exportCount; ++i) {
        table[i] = (tpArgument){ exports[i].option,    optionText,      &options->paths[i],
                                 exports[i].valueName, exports[i].help, NULL };
    }
    const tpOperand operands[] = { { "RUN.h5", &options->recording, true, "the recording", NULL } };
    const tpArgumentTable line = {
        .command = "export",
        .summary = "Writes a recording as tables or as a page",
        TP_OPERANDS(operands),
        .options = table,
        .optionCount = exportCount + 2,
        .notes = notes,
    };
    tpArgumentsResult result = parseArguments(&line, argumentCount, arguments);
    return result == argumentsParsed && !isAnythingAsked(options) ? argumentsWrong : result;
}

// The files that the recorded run has read: the recording cannot be verified without them.
static void addRunInputs(tpCommandFiles* files, const char* path, tpRecording* recording) {
    const tpRecordingInfo* info = tpRecording_GetInfo(recording);
    char found[PATH_MAX];
    tpError ignored = { tp_success, "" };
    tpScene* scene = NULL;
    if (info->scenePath[0] != '\0' && findScene(info->scenePath, found)) {
        addInput(files, "the scene of the recording", found);
        // The recorded text is the scene with all that it includes; the file knows from where.
        if (tpReadScene(found, NULL, &scene, &ignored) == tp_success) {
            addSceneInputs(files, scene);
        }
        tpDestroyScene(scene);
    }
    scene = openRecordedScene(path, NULL, info, &ignored);
    if (scene != NULL) {
        addSceneInputs(files, scene);
    }
    tpDestroyScene(scene);
}

// No output may be the recording, a file of its run or another output, and each must be possible
// to write. NULL stands for a recording that cannot be read.
static bool checkOutputs(const tpExportOptions* options, tpRecording* recording) {
    tpCommandFiles files = startFiles("export");
    bool isPossible = true;
    for (int i = 0; i < exportCount; ++i) {
        char option[16];
        snprintf(option, sizeof(option), "--%s", exports[i].option);
        addOutput(&files, option, options->paths[i]);
        bool isPage = exports[i].write == writePage && options->paths[i] != NULL;
        isPossible = isPossible && (!isPage || hasPage("export", tpReplayPage()));
    }
    addRecordingInput(&files, "the recording", options->recording);
    if (recording != NULL) {
        addRunInputs(&files, options->recording, recording);
    }
    return isPossible && canWriteFiles(&files);
}

int runExport(int argumentCount, char** arguments) {
    tpExportOptions options = { .window = INFINITY };
    tpArgumentsResult parsed = readCommandLine(argumentCount, arguments, &options);
    if (parsed != argumentsParsed) {
        return exitAfter(parsed);
    }
    tpError error = { tp_success, "" };
    tpRecording* recording = tpOpenRecording(options.recording, NULL, &error);
    if (!checkOutputs(&options, recording)) {
        tpCloseRecording(recording);
        return exitBadInput;
    }
    int status = recording != NULL ? exitDone : exitBadInput;
    for (int i = 0; i < exportCount && status == exitDone; ++i) {
        const char* path = options.paths[i];
        if (path != NULL && exports[i].write(recording, &options, path, &error) != tp_success) {
            status = exitCouldNotGoOn;
        }
    }
    tpCloseRecording(recording);
    if (status != exitDone && error.message[0] != '\0') {
        fprintf(stderr, "tippe export: %s\n", error.message);
    }
    return status;
}
