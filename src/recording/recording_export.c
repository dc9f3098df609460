// A recording as the CSV tables of the run, byte for byte.

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "recording/columns.h"
#include "recording/recording.h"
#include "recording/table.h"

enum { framesAtOnce = 256, bytesAtOnce = 4 * 1024 * 1024 };

static const char* nameOfMoving(const void* context, int moving) {
    const tpRecording* recording = context;
    return recording->bodies[recording->moving[moving]].name;
}

static const char* nameOf(const tpRecording* recording, int body) {
    return body >= 0 ? recording->bodies[body].name : "";
}

static const char* nameOfValue(const void* context, int value) {
    return tpRecording_GetSensorColumn(context, value);
}

static const char* nameOfCoordinate(const void* context, int coordinate) {
    return tpRecording_GetCoordinateName(context, coordinate);
}

// Frames of so many numbers that fit into a few megabytes.
static int64_t framesInBlock(int64_t numberCount) {
    int64_t row = numberCount * (int64_t)sizeof(double);
    int64_t count = row > 0 ? bytesAtOnce / row : framesAtOnce;
    return count < 1 ? 1 : count > framesAtOnce ? framesAtOnce : count;
}

tpResult tpExportTable(tpRecording* recording, const char* path, tpTableWriter* write,
                       void* context, tpError* error) {
    tpTextFile text;
    tpResult result = tpTextFile_Create(&text, path, tp_wholeText, &recording->allocator, error);
    if (result != tp_success) {
        return result;
    }
    result = write(recording, &text, context, error);
    if (result == tp_success) {
        return tpTextFile_Close(&text, error);
    }
    tpTextFile_Abandon(&text);
    return result;
}

// The trajectory ----------------------------------------------------------------------------------

// Rows of numbers that are read a block of frames at a time.
typedef struct ExportedRows {
    int64_t block; // frames at a time
    double* states;
    double* values; // of sensors, behind the states
} ExportedRows;

static tpResult exportFrames(tpRecording* recording, tpTextFile* text, const ExportedRows* rows,
                             tpError* error) {
    const tpRecordingInfo* info = &recording->info;
    int movingCount = info->movingCount, valueCount = info->sensorValueCount;
    int64_t block = rows->block;
    double times[framesAtOnce];
    tpTrajectory_PutNames(text, recording, nameOfMoving, movingCount, nameOfValue, valueCount);
    tpResult result = tpTextFile_EndRow(text, error);
    for (int64_t first = 0; result == tp_success && first < info->frameCount; first += block) {
        int64_t count = info->frameCount - first < block ? info->frameCount - first : block;
        result = tpRecording_ReadTimes(recording, first, count, times, error);
        if (result == tp_success) {
            result = tpRecording_ReadStates(recording, first, count, rows->states, error);
        }
        if (result == tp_success) {
            result = tpRecording_ReadSensors(recording, first, count, rows->values, error);
        }
        for (int64_t k = 0; result == tp_success && k < count; ++k) {
            result =
                tpTrajectory_PutRow(text, times[k], rows->states + k * movingCount * tp_stateWidth,
                                    movingCount, rows->values + k * valueCount, valueCount, error);
        }
    }
    return result;
}

static tpResult putTrajectory(tpRecording* recording, tpTextFile* text, void* context,
                              tpError* error) {
    (void)context;
    int64_t stateCount = (int64_t)recording->info.movingCount * tp_stateWidth;
    int64_t numberCount = stateCount + recording->info.sensorValueCount;
    int64_t block = framesInBlock(numberCount);
    // One number more, so that there is memory also where nothing moves.
    size_t size = (size_t)(block * numberCount + 1) * sizeof(double);
    double* states = tpAllocate(&recording->allocator, size);
    if (states == NULL) {
        return tpError_OutOfMemory(error);
    }
    ExportedRows rows = { block, states, states + block * stateCount };
    tpResult result = exportFrames(recording, text, &rows, error);
    tpRelease(&recording->allocator, states, size);
    return result;
}

tpResult tpExportTrajectory(tpRecording* recording, const char* path, tpError* error) {
    TP_NEED(recording, tp_badInput);
    return tpExportTable(recording, path, putTrajectory, NULL, error);
}

// Joints ------------------------------------------------------------------------------------------

static tpResult exportCoordinates(tpRecording* recording, tpTextFile* text, double* numbers,
                                  int64_t block, tpError* error) {
    const tpRecordingInfo* info = &recording->info;
    double times[framesAtOnce];
    tpJoints_PutNames(text, recording, nameOfCoordinate, info->coordinateCount);
    tpResult result = tpTextFile_EndRow(text, error);
    for (int64_t first = 0; result == tp_success && first < info->frameCount; first += block) {
        int64_t count = info->frameCount - first < block ? info->frameCount - first : block;
        result = tpRecording_ReadTimes(recording, first, count, times, error);
        if (result == tp_success) {
            result = tpRecording_ReadCoordinates(recording, first, count, numbers, error);
        }
        for (int64_t k = 0; result == tp_success && k < count; ++k) {
            const double* row = numbers + k * info->coordinateCount * tp_coordinateWidth;
            result = tpJoints_PutRow(text, times[k], row, info->coordinateCount, error);
        }
    }
    return result;
}

static tpResult putJoints(tpRecording* recording, tpTextFile* text, void* context, tpError* error) {
    (void)context;
    int64_t numberCount = (int64_t)recording->info.coordinateCount * tp_coordinateWidth;
    int64_t block = framesInBlock(numberCount);
    size_t size = (size_t)(block * numberCount + 1) * sizeof(double);
    double* numbers = tpAllocate(&recording->allocator, size);
    if (numbers == NULL) {
        return tpError_OutOfMemory(error);
    }
    tpResult result = exportCoordinates(recording, text, numbers, block, error);
    tpRelease(&recording->allocator, numbers, size);
    return result;
}

tpResult tpExportJoints(tpRecording* recording, const char* path, tpError* error) {
    TP_NEED(recording, tp_badInput);
    return tpExportTable(recording, path, putJoints, NULL, error);
}

// Contacts ----------------------------------------------------------------------------------------

// The contacts of one frame, a few hundred at a time.
static tpResult exportContacts(tpRecording* recording, tpTextFile* text, double time, int64_t first,
                               int64_t end, tpError* error) {
    tpRecordedContact contacts[framesAtOnce];
    tpResult result = tp_success;
    while (result == tp_success && first < end) {
        int64_t count = end - first < framesAtOnce ? end - first : framesAtOnce;
        result = tpRecording_ReadContacts(recording, first, count, contacts, error);
        for (int64_t i = 0; result == tp_success && i < count; ++i) {
            result = tpContacts_PutRow(text, time, nameOf(recording, contacts[i].bodyA),
                                       nameOf(recording, contacts[i].bodyB), &contacts[i], error);
        }
        first += count;
    }
    return result;
}

static tpResult putContacts(tpRecording* recording, tpTextFile* text, void* context,
                            tpError* error) {
    (void)context;
    int64_t frameCount = recording->info.frameCount;
    double times[framesAtOnce];
    int64_t offsets[framesAtOnce + 1];
    tpContacts_PutNames(text);
    tpResult result = tpTextFile_EndRow(text, error);
    for (int64_t first = 0; result == tp_success && first < frameCount; first += framesAtOnce) {
        int64_t count = frameCount - first < framesAtOnce ? frameCount - first : framesAtOnce;
        result = tpRecording_ReadTimes(recording, first, count, times, error);
        if (result == tp_success) {
            result = tpRecording_ReadContactOffsets(recording, first, count, offsets, error);
        }
        for (int64_t k = 0; result == tp_success && k < count; ++k) {
            result = exportContacts(recording, text, times[k], offsets[k], offsets[k + 1], error);
        }
    }
    return result;
}

tpResult tpExportContacts(tpRecording* recording, const char* path, tpError* error) {
    TP_NEED(recording, tp_badInput);
    return tpExportTable(recording, path, putContacts, NULL, error);
}

// Reports -----------------------------------------------------------------------------------------

static const char reportsFolder[] = "/reports/";

// The columns of reports, in the order of the file; words stand where the file has places of
// labels.
static bool isReportColumn(const tpColumn* column) {
    return strncmp(column->path, reportsFolder, strlen(reportsFolder)) == 0;
}

static tpResult putReportHeader(tpTextFile* text, tpError* error) {
    tpTextFile_PutText(text, "time");
    for (int i = 0; i < tp_columnCount; ++i) {
        if (isReportColumn(&tpColumns[i])) {
            tpTextFile_PutChar(text, ',');
            tpTextFile_PutText(text, tpColumns[i].path + strlen(reportsFolder));
        }
    }
    return tpTextFile_EndRow(text, error);
}

// All notes but the first in one cell.
static void putMoreNotes(tpTextFile* text, const tpStepReport* report) {
    char all[512] = "";
    for (int i = 1; i < report->noteCount; ++i) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof(all) - used, "%s%s", used > 0 ? "; " : "", report->notes[i]);
    }
    tpTextFile_PutName(text, all);
}

static void putReportField(tpTextFile* text, const tpColumn* column, const tpStepReport* report) {
    if (column->offset == offsetof(tpFrameRow, fallback)) {
        tpTextFile_PutName(text, report->fallback != NULL ? report->fallback : "");
        return;
    }
    if (column->offset == offsetof(tpFrameRow, note)) {
        tpTextFile_PutName(text, report->noteCount > 0 ? report->notes[0] : "");
        return;
    }
    if (column->offset == offsetof(tpFrameRow, moreNotes)) {
        putMoreNotes(text, report);
        return;
    }
    const char* place = (const char*)report + (column->offset - offsetof(tpFrameRow, report));
    double number = 0.0;
    if (column->kind == tp_doubleColumn) {
        memcpy(&number, place, sizeof(double));
    } else if (column->kind == tp_boolColumn) {
        number = *(const bool*)place ? 1.0 : 0.0;
    } else {
        int whole;
        memcpy(&whole, place, sizeof(int));
        number = whole;
    }
    tpTextFile_PutNumber(text, number);
}

static tpResult putReports(tpRecording* recording, tpTextFile* text, void* context,
                           tpError* error) {
    (void)context;
    int64_t frameCount = recording->info.frameCount;
    tpStepReport reports[framesAtOnce];
    tpResult result = putReportHeader(text, error);
    for (int64_t first = 0; result == tp_success && first < frameCount; first += framesAtOnce) {
        int64_t count = frameCount - first < framesAtOnce ? frameCount - first : framesAtOnce;
        result = tpRecording_ReadReports(recording, first, count, reports, error);
        for (int64_t k = 0; result == tp_success && k < count; ++k) {
            tpTextFile_PutNumber(text, reports[k].time);
            for (int i = 0; i < tp_columnCount; ++i) {
                if (isReportColumn(&tpColumns[i])) {
                    tpTextFile_PutChar(text, ',');
                    if (recording->columns[i] >= 0) {
                        putReportField(text, &tpColumns[i], &reports[k]);
                    }
                }
            }
            result = tpTextFile_EndRow(text, error);
        }
    }
    return result;
}

tpResult tpExportReports(tpRecording* recording, const char* path, tpError* error) {
    TP_NEED(recording, tp_badInput);
    return tpExportTable(recording, path, putReports, NULL, error);
}
