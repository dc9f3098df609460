// tippe export: what a recording holds, as the tables of a run.

#include <stdio.h>

#include "arguments.h"
#include "command.h"
#include "output_file.h"
#include "tippe/recording.h"

typedef struct tpExportOptions {
    const char* recording;
    const char* csv;
    const char* contacts;
    const char* reports;
} tpExportOptions;

static const char notes[] =
    "The first two tables are, byte for byte, those that the run itself would have written.\n"
    "\n"
    "Exit status: 0 done; 2 bad input or usage; 3 a table could not be written to its end.\n";

static tpArgumentsResult readCommandLine(int argumentCount, char** arguments,
                                         tpExportOptions* options) {
    const tpArgument table[] = {
        { "csv", optionText, &options->csv, "FILE.csv",
          "write positions and velocities of the bodies, a row a frame", NULL },
        { "contacts", optionText, &options->contacts, "FILE.csv",
          "write the contacts, a row a contact and frame", NULL },
        { "reports", optionText, &options->reports, "FILE.csv",
          "write what the steps reported: energies, residuals, iterations; a row a frame", NULL },
    };
    const tpOperand operands[] = { { "RUN.h5", &options->recording, true, "the recording" } };
    const tpArgumentTable line = {
        .command = "export",
        .summary = "Writes what a recording holds as tables",
        .operands = operands,
        .operandCount = 1,
        .options = table,
        .optionCount = (int)(sizeof(table) / sizeof(table[0])),
        .notes = notes,
    };
    tpArgumentsResult result = parseArguments(&line, argumentCount, arguments);
    bool isAsked = options->csv != NULL || options->contacts != NULL || options->reports != NULL;
    if (result == argumentsParsed && !isAsked) {
        fprintf(stderr, "tippe export: say what to write: --csv FILE.csv, --contacts FILE.csv or "
                        "--reports FILE.csv\n");
        return argumentsWrong;
    }
    return result;
}

int runExport(int argumentCount, char** arguments) {
    tpExportOptions options = { NULL };
    tpArgumentsResult parsed = readCommandLine(argumentCount, arguments, &options);
    if (parsed != argumentsParsed) {
        return parsed == argumentsHelped ? exitDone : exitBadInput;
    }
    if ((options.csv != NULL && !canWriteOutput("export", options.csv)) ||
        (options.contacts != NULL && !canWriteOutput("export", options.contacts)) ||
        (options.reports != NULL && !canWriteOutput("export", options.reports))) {
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
    tpCloseRecording(recording);
    if (result != tp_success) {
        fprintf(stderr, "tippe export: %s\n", error.message);
        return opened ? exitCouldNotGoOn : exitBadInput;
    }
    return exitDone;
}
