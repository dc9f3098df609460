// tippe repair: makes the recording of a run that was killed readable again.

#include <stdio.h>

#include "arguments.h"
#include "command.h"
#include "tippe/recording.h"

static const char notes[] =
    "An intact recording is not changed. At most the last second of a killed run is lost.\n"
    "\n"
    "Exit status: 0 the recording can be read; 2 it cannot, the message says why.\n";

// How many frames there are to read now.
static int printContent(const char* file, bool repaired) {
    tpError error;
    tpRecording* recording = tpOpenRecording(file, NULL, &error);
    if (recording == NULL) {
        fprintf(stderr, "tippe repair: %s\n", error.message);
        return exitBadInput;
    }
    const tpRecordingInfo* info = tpRecording_GetInfo(recording);
    double last = 0.0;
    if (info->frameCount > 0 &&
        tpRecording_ReadTimes(recording, info->frameCount - 1, 1, &last, &error) != tp_success) {
        fprintf(stderr, "tippe repair: %s\n", error.message);
        tpCloseRecording(recording);
        return exitBadInput;
    }
    printf("%s: %s; %lld frames up to t = %.9g s\n", file,
           repaired ? "repaired" : "nothing to repair", (long long)info->frameCount, last);
    tpCloseRecording(recording);
    return exitDone;
}

int runRepair(int argumentCount, char** arguments) {
    const char* file = NULL;
    const tpOperand operands[] = { { "RUN.h5", &file, true, "the recording", NULL } };
    const tpArgumentTable line = {
        .command = "repair",
        .summary = "Makes the recording of a run that was killed readable again",
        TP_OPERANDS(operands),
        .notes = notes,
    };
    tpArgumentsResult parsed = parseArguments(&line, argumentCount, arguments);
    if (parsed != argumentsParsed) {
        return exitAfter(parsed);
    }
    tpError error;
    bool repaired = false;
    if (tpRepairRecording(file, &repaired, &error) != tp_success) {
        fprintf(stderr, "tippe repair: %s\n", error.message);
        return exitBadInput;
    }
    return printContent(file, repaired);
}
