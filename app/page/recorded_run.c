// A recording as the source of a page.

#include "page/run_source.h"

#include <string.h>

static tpRecording* recordingOf(const tpRunSource* source) {
    return ((const tpRecordedRun*)source)->recording;
}

static tpRunInfo getInfo(const tpRunSource* source) {
    const tpRecordingInfo* info = tpRecording_GetInfo(recordingOf(source));
    return (tpRunInfo){ .version = info->version,
                        .sceneText = info->sceneText,
                        .sceneName = info->sceneName,
                        .shapesText = info->shapesText,
                        .summary = tpRecording_GetSummary(recordingOf(source)),
                        .every = info->every,
                        .bodyCount = info->bodyCount,
                        .movingCount = info->movingCount,
                        .jointCount = info->jointCount,
                        .coordinateCount = info->coordinateCount,
                        .sensorCount = info->sensorValueCount,
                        .hasCarriers = info->hasCarriers,
                        .finished = info->finished,
                        .planar = info->planar,
                        .gravity = info->gravity };
}

static tpRunRange getRange(tpRunSource* source) {
    const tpRecordingInfo* info = tpRecording_GetInfo(recordingOf(source));
    return (tpRunRange){ .frameCount = info->frameCount,
                         .contactCount = info->contactCount,
                         .step = info->step,
                         .stepper = info->stepper };
}

static tpRecordedBody getBody(const tpRunSource* source, int body) {
    return tpRecording_GetBody(recordingOf(source), body);
}

static const char* getJointName(const tpRunSource* source, int joint) {
    return tpRecording_GetJointName(recordingOf(source), joint);
}

static const char* getCoordinateName(const tpRunSource* source, int coordinate) {
    return tpRecording_GetCoordinateName(recordingOf(source), coordinate);
}

static const char* getSensorName(const tpRunSource* source, int value) {
    return tpRecording_GetSensorColumn(recordingOf(source), value);
}

static double getStep(tpRunSource* source, int64_t frame) {
    (void)frame;
    return tpRecording_GetInfo(recordingOf(source))->step;
}

static tpResult readStates(tpRunSource* source, int64_t first, int64_t count, double* states,
                           tpError* error) {
    return tpRecording_ReadStates(recordingOf(source), first, count, states, error);
}

static tpResult readBodyStates(tpRunSource* source, int moving, int64_t first, int64_t count,
                               double* states, tpError* error) {
    return tpRecording_ReadBodyStates(recordingOf(source), moving, first, count, states, error);
}

static tpResult readReports(tpRunSource* source, int64_t first, int64_t count,
                            tpStepReport* reports, tpError* error) {
    return tpRecording_ReadReports(recordingOf(source), first, count, reports, error);
}

static tpResult readOffsets(tpRunSource* source, int64_t first, int64_t count, int64_t* offsets,
                            tpError* error) {
    return tpRecording_ReadContactOffsets(recordingOf(source), first, count, offsets, error);
}

static tpResult readContacts(tpRunSource* source, int64_t firstContact, int64_t count,
                             tpRecordedContact* contacts, tpError* error) {
    return tpRecording_ReadContacts(recordingOf(source), firstContact, count, contacts, error);
}

static tpResult readReactions(tpRunSource* source, int64_t first, int64_t count, double* reactions,
                              tpError* error) {
    return tpRecording_ReadReactions(recordingOf(source), first, count, reactions, error);
}

static tpResult readCoordinates(tpRunSource* source, int coordinate, int64_t first, int64_t count,
                                double* numbers, tpError* error) {
    enum { rowsAtOnce = 256 };
    double rows[rowsAtOnce][tp_coordinateWidth];
    tpResult result = tp_success;
    for (int64_t k = 0; result == tp_success && k < count; k += rowsAtOnce) {
        int64_t now = count - k < rowsAtOnce ? count - k : rowsAtOnce;
        result = tpRecording_ReadCoordinate(recordingOf(source), coordinate, first + k, now,
                                            rows[0], error);
        for (int64_t i = 0; result == tp_success && i < now; ++i) {
            const double* row = rows[i];
            const double shown[coordinateWidth] = { row[0], row[1], row[3], row[2] };
            memcpy(numbers + (k + i) * coordinateWidth, shown, sizeof(shown));
        }
    }
    return result;
}

static tpResult readSensor(tpRunSource* source, int value, int64_t first, int64_t count,
                           double* numbers, tpError* error) {
    return tpRecording_ReadSensorValue(recordingOf(source), value, first, count, numbers, error);
}

static tpResult readCarriers(tpRunSource* source, int moving, int64_t first, int64_t count,
                             const char** names, tpError* error) {
    enum { rowsAtOnce = 256 };
    tpRecordedCarrier rows[rowsAtOnce];
    tpResult result = tp_success;
    for (int64_t k = 0; result == tp_success && k < count; k += rowsAtOnce) {
        int64_t now = count - k < rowsAtOnce ? count - k : rowsAtOnce;
        result = tpRecording_ReadCarriers(recordingOf(source), moving, first + k, now, rows, error);
        for (int64_t i = 0; result == tp_success && i < now; ++i) {
            names[k + i] = rows[i].method;
        }
    }
    return result;
}

static const tpRunClass recordedClass = {
    .getInfo = getInfo,
    .getRange = getRange,
    .getBody = getBody,
    .getJointName = getJointName,
    .getCoordinateName = getCoordinateName,
    .getSensorName = getSensorName,
    .getStep = getStep,
    .readStates = readStates,
    .readBodyStates = readBodyStates,
    .readReports = readReports,
    .readOffsets = readOffsets,
    .readContacts = readContacts,
    .readReactions = readReactions,
    .readCoordinates = readCoordinates,
    .readSensor = readSensor,
    .readCarriers = readCarriers,
};

tpRecordedRun makeRecordedRun(tpRecording* recording) {
    return (tpRecordedRun){ { &recordedClass }, recording };
}
