// A run as the page reads it: its head as JSON, everything that grows as little-endian binary.
//
//     head       what is known of the run and its bodies (JSON)
//     frames     poses (and velocities, contacts, joint reactions) of some frames, single precision
//     overview   a row of numbers per frame, or per `stride` frames their worst and their sums
//     body       the states of one body, 13 doubles per frame
//     joint      force and torque of one joint, 6 doubles per frame
//     coordinate value, speed, target and effort of one coordinate of a joint, 4 doubles per frame
//     sensor     one value of a sensor, 1 double per frame
//     carrier    the method that carried one body, 1 double per frame: its place in the labels, or
//                -1
//     contacts   the contacts of one body, 19 doubles each
//
// viewer/src/source.js is the other side of each. A series is read through a cursor, a piece at a
// time: a server sends what it has while it waits for nobody, and an export writes it all.

#ifndef TIPPE_APP_PAGE_RUN_DATA_H
#define TIPPE_APP_PAGE_RUN_DATA_H

#include "base/memory.h"
#include "page/run_source.h"
#include "scene/text.h"

typedef TP_ARRAY(unsigned char) tpBytes;

// False if memory ran out.
bool appendBytes(tpBytes* bytes, const void* data, size_t size);
void freeBytes(tpBytes* bytes);

// Names of fallbacks, notes and methods; rows of the overview have their places in it.
enum { mostLabels = 64 };
typedef struct tpRunLabels {
    const char* names[mostLabels];
    int count;
} tpRunLabels;

// `mode` is what the page is to be: "file", "recording" or "live". `more` is put at the end:
// further keys, each with a comma before it, or "". Safe within a script element.
void writeRunHead(tpRunSource* source, const char* mode, const char* more, tpText* text);
void writeRunLabels(const tpRunLabels* labels, tpText* text); // a JSON array
void writeQuoted(tpText* text, const char* words);            // a JSON string without < > &

// Frames
// -------------------------------------------------------------------------------------------

enum { poseWidth = 7 }; // x y z qw qx qy qz

typedef struct tpFramesQuery {
    int64_t first, count, stride; // frames first, first + stride, ...: count of them
    int width;                    // numbers per body: poseWidth or tp_stateWidth
    bool withContacts, withReactions;
} tpFramesQuery;

// The largest block of frames in bytes that is made in one piece.
enum { largestFrameBlock = 256 * 1024 * 1024 };

tpResult writeFrames(tpRunSource* source, const tpFramesQuery* query, tpBytes* out, tpError* error);

// Series
// -------------------------------------------------------------------------------------------

typedef enum tpSeriesKind {
    tp_overviewSeries,
    tp_bodySeries,
    tp_jointSeries,
    tp_coordinateSeries,
    tp_sensorSeries,
    tp_carrierSeries,
    tp_contactSeries
} tpSeriesKind;

enum { overviewWidth = 38, contactWidth = 19 };

typedef struct tpSeriesCursor {
    tpRunSource* source;
    tpSeriesKind kind;
    int64_t next, end; // frames
    int64_t stride;    // frames a row
    int body; // tp_bodySeries: among those that move; tp_contactSeries: among all; or a joint,
              // coordinate or value of a sensor
    tpRunLabels* labels;
} tpSeriesCursor;

// The bytes that will come in all; -1 if nobody knows.
int64_t sizeOfSeries(const tpSeriesCursor* cursor);

// Appends the next piece: some tens of frames, or a million contacts, whichever comes first. At the
// end cursor->next == cursor->end.
tpResult readSeries(tpSeriesCursor* cursor, tpBytes* out, tpError* error);

// Point, normal, gap and impulses of a contact and how fast it slides, as pages read them.
enum { contactNumbers = 13 };
void listContactNumbers(const tpRecordedContact* contact, double numbers[contactNumbers]);

#endif
