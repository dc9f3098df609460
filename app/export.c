// tippe export: what a recording holds, as the tables of a run, or as a page to look at.

#include <math.h>
#include <stdio.h>

#include "arguments.h"
#include "command.h"
#include "output_file.h"
#include "page_file.h"
#include "run_page.h"
#include "tippe/recording.h"

typedef struct tpExportOptions {
    const char* recording;
    const char* csv;
    const char* contacts;
    const char* reports;
    const char* pairs;
    double window; // s, of the pairs
    const char* html;
    int every; // of the page; 0: as many frames as fit
} tpExportOptions;

static const char notes[] =
    "The first two tables are, byte for byte, those that the run itself would have written. The\n"
    "page holds everything it shows and needs no network; of a recording too large to be mailed "
    "it\n"
    "takes as many frames as fit.\n"
    "\n"
    "Exit status: 0 done; 2 bad input or usage; 3 an output could not be written to its end.\n";

static tpArgumentsResult readCommandLine(int argumentCount, char** arguments,
                                         tpExportOptions* options) {
    const tpArgument table[] = {
        { "csv", optionText, &options->csv, "FILE.csv",
          "write positions and velocities of the bodies, a row a frame", NULL },
        { "contacts", optionText, &options->contacts, "FILE.csv",
          "write the contacts, a row a contact and frame", NULL },
        { "reports", optionText, &options->reports, "FILE.csv",
          "write what the steps reported: energies, residuals, iterations; a row a frame", NULL },
        { "pairs", optionText, &options->pairs, "FILE.csv",
          "write what pairs of bodies did to each other: impulses, mean forces, collisions", NULL },
        { "window", optionPositive, &options->window, "SECONDS",
          "of the pairs: a row a pair for every so many seconds, default the whole run", NULL },
        { "html", optionText, &options->html, "FILE.html",
          "write a page that shows the run, in one file that works offline", NULL },
        { "every", optionCount, &options->every, "N", "take every N-th frame only into the page",
          NULL },
    };
    const tpOperand operands[] = { { "RUN.h5", &options->recording, true, "the recording" } };
    const tpArgumentTable line = {
        .command = "export",
        .summary = "Writes what a recording holds as tables or as a page",
        .operands = operands,
        .operandCount = 1,
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .notes = notes,
    };
    tpArgumentsResult result = parseArguments(&line, argumentCount, arguments);
    bool isAsked = options->csv != NULL || options->contacts != NULL || options->reports != NULL ||
                   options->pairs != NULL || options->html != NULL;
    if (result == argumentsParsed && !isAsked) {
        fprintf(stderr, "tippe export: say what to write: --csv FILE.csv, --contacts FILE.csv, "
                        "--reports FILE.csv, --pairs FILE.csv or --html FILE.html\n");
        return argumentsWrong;
    }
    return result;
}

static bool exportPage(tpRecording* recording, const tpExportOptions* options) {
    int64_t kept = 1;
    if (writeRunPage("export", recording, options->html, options->every, &kept) != pageWritten) {
        return false;
    }
    if (options->every == 0 && kept > 1) {
        fprintf(stderr, "tippe export: the page has one frame in %lld; --every N chooses\n",
                (long long)kept);
    }
    return true;
}

int runExport(int argumentCount, char** arguments) {
    tpExportOptions options = { .window = INFINITY };
    tpArgumentsResult parsed = readCommandLine(argumentCount, arguments, &options);
    if (parsed != argumentsParsed) {
        return parsed == argumentsHelped ? exitDone : exitBadInput;
    }
    if ((options.csv != NULL && !canWriteOutput("export", options.csv)) ||
        (options.contacts != NULL && !canWriteOutput("export", options.contacts)) ||
        (options.reports != NULL && !canWriteOutput("export", options.reports)) ||
        (options.pairs != NULL && !canWriteOutput("export", options.pairs)) ||
        (options.html != NULL && !canWritePage("export", options.html, tpReplayPage()))) {
        return exitBadInput;
    }
    tpError error = { tp_success, "" };
    tpRecording* recording = tpOpenRecording(options.recording, NULL, &error);
    tpResult result = recording != NULL ? tp_success : error.result;
    bool opened = recording != NULL;
    if (opened && options.csv != NULL) {
        result = tpExportTrajectory(recording, options.csv, &error);
    }
    if (result == tp_success && options.contacts != NULL) {
        result = tpExportContacts(recording, options.contacts, &error);
    }
    if (result == tp_success && options.reports != NULL) {
        result = tpExportReports(recording, options.reports, &error);
    }
    if (result == tp_success && options.pairs != NULL) {
        result = tpExportPairs(recording, options.pairs, options.window, &error);
    }
    bool hasPage = true;
    if (result == tp_success && options.html != NULL) {
        hasPage = exportPage(recording, &options);
    }
    tpCloseRecording(recording);
    if (result != tp_success) {
        fprintf(stderr, "tippe export: %s\n", error.message);
        return opened ? exitCouldNotGoOn : exitBadInput;
    }
    return hasPage ? exitDone : exitCouldNotGoOn;
}
