// Where the page gets a run from: a recording, or a simulation that is going on.
//
// The functions are those of a recording (tippe/recording.h): frames are numbered from 0, ranges
// must lie within [firstFrame, frameCount). A run that is going on may forget its oldest frames.

#ifndef TIPPE_APP_PAGE_RUN_SOURCE_H
#define TIPPE_APP_PAGE_RUN_SOURCE_H

#include "tippe/recording.h"

typedef struct tpRunSource tpRunSource;

enum { coordinateWidth = 4 };

// What is known before the first frame is read.
typedef struct tpRunInfo {
    const char* version;
    const char* sceneText;
    const char* sceneName;
    const char* shapesText;
    const char* summary; // JSON, or ""
    int every, bodyCount, movingCount, jointCount, coordinateCount, sensorCount;
    bool finished, planar;
    bool hasCarriers; // the stepper may leave bodies to other methods
    tpVec3 gravity;
    double until; // s, of a live run; 0 otherwise
} tpRunInfo;

// What may change while a run goes on.
typedef struct tpRunRange {
    int64_t firstFrame, frameCount;
    int64_t contactCount;
    double step; // s, at present
    const char* stepper;
} tpRunRange;

typedef struct tpRunClass {
    tpRunInfo (*getInfo)(const tpRunSource* source);
    tpRunRange (*getRange)(tpRunSource* source);
    tpRecordedBody (*getBody)(const tpRunSource* source, int body);
    const char* (*getJointName)(const tpRunSource* source, int joint);
    // Names of coordinates of joints and of values of sensors; NULL where settings name them.
    const char* (*getCoordinateName)(const tpRunSource* source, int coordinate);
    const char* (*getSensorName)(const tpRunSource* source, int value);
    // Seconds of the step that led to a frame: impulses over it are forces.
    double (*getStep)(tpRunSource* source, int64_t frame);
    tpResult (*readStates)(tpRunSource* source, int64_t first, int64_t count, double* states,
                           tpError* error);
    tpResult (*readBodyStates)(tpRunSource* source, int moving, int64_t first, int64_t count,
                               double* states, tpError* error);
    tpResult (*readReports)(tpRunSource* source, int64_t first, int64_t count,
                            tpStepReport* reports, tpError* error);
    // Contacts of a range of frames: count + 1 offsets, then as many contacts as they span. Offsets
    // stay the same for as long as the frames are there.
    tpResult (*readOffsets)(tpRunSource* source, int64_t first, int64_t count, int64_t* offsets,
                            tpError* error);
    tpResult (*readContacts)(tpRunSource* source, int64_t firstContact, int64_t count,
                             tpRecordedContact* contacts, tpError* error);
    tpResult (*readReactions)(tpRunSource* source, int64_t first, int64_t count, double* reactions,
                              tpError* error);
    // One coordinate of a joint: value, speed, target of its servo (NaN: none), effort.
    tpResult (*readCoordinates)(tpRunSource* source, int coordinate, int64_t first, int64_t count,
                                double* numbers, tpError* error);
    // One value of a sensor. Of sources with sensors.
    tpResult (*readSensor)(tpRunSource* source, int value, int64_t first, int64_t count,
                           double* numbers, tpError* error);
    // The methods that carried a moving body, by name; NULL: the stepper itself.
    tpResult (*readCarriers)(tpRunSource* source, int moving, int64_t first, int64_t count,
                             const char** names, tpError* error);
} tpRunClass;

// The first member of every source.
struct tpRunSource {
    const tpRunClass* class;
};

// A recording as a source. The recording stays the caller's.
typedef struct tpRecordedRun {
    tpRunSource source;
    tpRecording* recording;
} tpRecordedRun;

tpRecordedRun makeRecordedRun(tpRecording* recording);

#endif
