// Completing a recording whose run was killed: the journal is replayed, then the file is looked at.

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/error.h"
#include "recording/journal.h"
#include "recording/writer.h"

tpResult tpRepairRecording(const char* path, bool* repaired, tpError* error) {
    TP_NEED(path, tp_badInput);
    if (repaired != NULL) {
        *repaired = false;
    }
    char journal[4096];
    if (!tpMakeJournalPath(path, journal, sizeof(journal))) {
        return tpError_Set(error, tp_badInput, "%s: the path is too long", path);
    }
    if (access(path, F_OK) != 0) {
        return tpError_Set(error, tp_ioError, "%s: %s", path, strerror(errno));
    }
    bool hadJournal = access(journal, F_OK) == 0;
    switch (tpJournal_Replay(path, journal)) {
    case tp_replayWrongFile:
        return tpError_Set(error, tp_badInput,
                           "%s: %s is the journal of another recording; if it was copied there by "
                           "mistake, remove it",
                           path, journal);
    case tp_replayBusy:
        return tpError_Set(error, tp_ioError, "%s: a run is writing it at this moment", path);
    case tp_replayFailed:
        return tpError_Set(error, tp_ioError, "%s: cannot complete it: %s", path, strerror(errno));
    case tp_replayNothing:
    case tp_replayDone:
        break;
    }
    tpRecording* recording = tpOpenRecording(path, NULL, error);
    if (recording == NULL) {
        return error != NULL ? error->result : tp_badInput;
    }
    tpCloseRecording(recording);
    if (repaired != NULL) {
        *repaired = hadJournal;
    }
    return tp_success;
}
