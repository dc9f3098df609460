// Recordings in a build without HDF5: nothing can be written or opened, and that is what is said.
// Recorders in memory, tables and audits do not need it. Functions of an open recording are here
// for the linker alone.

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "recording/writer.h"

static tpResult refuse(const char* path, tpError* error) {
    return tpError_Set(error, tp_unsupported,
                       "%s: this build of Tippe has no HDF5, and so no recordings in files", path);
}

// Writing ----------------------------------------------------------------------------------------

tpResult tpWriter_Create(tpWriter* writer, const char* path, const tpRecordingHead* head,
                         const tpAllocator* allocator, tpError* error) {
    (void)head;
    memset(writer, 0, sizeof(*writer));
    writer->allocator = *allocator;
    return refuse(path, error);
}

tpResult tpWriter_Append(tpWriter* writer, const tpFrameBatch* batch, tpError* error) {
    (void)writer;
    (void)batch;
    return refuse("recording", error);
}

tpResult tpWriter_Commit(tpWriter* writer, tpError* error) {
    (void)writer;
    return refuse("recording", error);
}

tpResult tpWriter_Close(tpWriter* writer, const char* summary, tpError* error) {
    (void)writer;
    (void)summary;
    return refuse("recording", error);
}

bool tpWriter_IsThreadSafe(void) {
    return false;
}

tpResult tpRepairRecording(const char* path, bool* repaired, tpError* error) {
    TP_NEED(path, tp_badInput);
    if (repaired != NULL) {
        *repaired = false;
    }
    return refuse(path, error);
}

// Reading ----------------------------------------------------------------------------------------

tpRecording* tpOpenRecording(const char* path, const tpAllocator* allocator, tpError* error) {
    TP_NEED(path, NULL);
    (void)allocator;
    refuse(path, error);
    return NULL;
}

void tpCloseRecording(tpRecording* recording) {
    (void)recording;
}

const tpRecordingInfo* tpRecording_GetInfo(const tpRecording* recording) {
    TP_NEED(recording, NULL);
    static const tpRecordingInfo none = { .version = "",
                                          .stepper = "",
                                          .sceneText = "",
                                          .sceneName = "",
                                          .scenePath = "",
                                          .shapesText = "" };
    (void)recording;
    return &none;
}

tpRecordedBody tpRecording_GetBody(const tpRecording* recording, int body) {
    TP_NEED(recording, (tpRecordedBody){ 0 });
    (void)recording;
    (void)body;
    return (tpRecordedBody){ .name = "", .moving = -1 };
}

const char* tpRecording_GetJointName(const tpRecording* recording, int joint) {
    TP_NEED(recording, NULL);
    (void)recording;
    (void)joint;
    return "";
}

const char* tpRecording_GetCoordinateName(const tpRecording* recording, int coordinate) {
    TP_NEED(recording, NULL);
    (void)recording;
    (void)coordinate;
    return "";
}

const char* tpRecording_GetSensorColumn(const tpRecording* recording, int value) {
    TP_NEED(recording, NULL);
    (void)recording;
    (void)value;
    return "";
}

const char* tpRecording_GetSummary(const tpRecording* recording) {
    TP_NEED(recording, NULL);
    (void)recording;
    return "";
}

const char* tpRecording_GetLabel(const tpRecording* recording, int label) {
    TP_NEED(recording, NULL);
    (void)recording;
    (void)label;
    return NULL;
}

bool tpRecording_HasReport(const tpRecording* recording, const char* name) {
    TP_NEED(recording, false);
    (void)recording;
    (void)name;
    return false;
}

tpRecordedColumn tpRecording_GetColumn(const tpRecording* recording, int column) {
    TP_NEED(recording, (tpRecordedColumn){ 0 });
    (void)recording;
    return tpColumn_Describe(column);
}

tpResult tpRecording_ReadColumn(tpRecording* recording, int column, int64_t first, int64_t count,
                                void* rows, tpError* error) {
    TP_NEED(recording, tp_badInput);
    (void)recording;
    (void)column;
    (void)first;
    (void)count;
    (void)rows;
    return refuse("recording", error);
}

#define NO_READER_OF_ONE(name, type)                                                               \
    tpResult name(tpRecording* recording, int thing, int64_t first, int64_t count, type* values,   \
                  tpError* error) {                                                                \
        (void)recording;                                                                           \
        (void)thing;                                                                               \
        (void)first;                                                                               \
        (void)count;                                                                               \
        (void)values;                                                                              \
        return refuse("recording", error);                                                         \
    }

NO_READER_OF_ONE(tpRecording_ReadBodyStates, double)
NO_READER_OF_ONE(tpRecording_ReadCoordinate, double)
NO_READER_OF_ONE(tpRecording_ReadSensorValue, double)
NO_READER_OF_ONE(tpRecording_ReadCarriers, tpRecordedCarrier)

#define NO_READER(name, type)                                                                      \
    tpResult name(tpRecording* recording, int64_t first, int64_t count, type* values,              \
                  tpError* error) {                                                                \
        (void)recording;                                                                           \
        (void)first;                                                                               \
        (void)count;                                                                               \
        (void)values;                                                                              \
        return refuse("recording", error);                                                         \
    }

NO_READER(tpRecording_ReadTimes, double)
NO_READER(tpRecording_ReadStates, double)
NO_READER(tpRecording_ReadReactions, double)
NO_READER(tpRecording_ReadCoordinates, double)
NO_READER(tpRecording_ReadSensors, double)
NO_READER(tpRecording_ReadHashes, uint64_t)
NO_READER(tpRecording_ReadReports, tpStepReport)
NO_READER(tpRecording_ReadContactOffsets, int64_t)
NO_READER(tpRecording_ReadPairOffsets, int64_t)
NO_READER(tpRecording_ReadContacts, tpRecordedContact)
NO_READER(tpRecording_ReadPairs, tpRecordedPair)

// Exporting --------------------------------------------------------------------------------------

tpResult tpExportTrajectory(tpRecording* recording, const char* path, tpError* error) {
    TP_NEED(recording, tp_badInput);
    (void)recording;
    return refuse(path, error);
}

tpResult tpExportJoints(tpRecording* recording, const char* path, tpError* error) {
    TP_NEED(recording, tp_badInput);
    (void)recording;
    return refuse(path, error);
}

tpResult tpExportContacts(tpRecording* recording, const char* path, tpError* error) {
    TP_NEED(recording, tp_badInput);
    (void)recording;
    return refuse(path, error);
}

tpResult tpExportReports(tpRecording* recording, const char* path, tpError* error) {
    TP_NEED(recording, tp_badInput);
    (void)recording;
    return refuse(path, error);
}

tpResult tpExportPairs(tpRecording* recording, const char* path, double window, tpError* error) {
    TP_NEED(recording, tp_badInput);
    (void)recording;
    (void)window;
    return refuse(path, error);
}
