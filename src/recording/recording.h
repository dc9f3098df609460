// An open recording, as its reader and its exports share it.

#ifndef TIPPE_SRC_RECORDING_RECORDING_H
#define TIPPE_SRC_RECORDING_RECORDING_H

#include "base/memory.h"
#include "recording/column_types.h"
#include "recording/text_file.h"

struct tpRecording {
    tpAllocator allocator;
    tpArena texts; // and whatever else lives as long as the recording
    const char* path;
    hid_t file;
    hid_t columns[tp_columnCount]; // negative: not in this file
    tpRecordingInfo info;
    tpRecordedBody* bodies;
    int* moving; // bodies with states, in their order
    char *jointNames, *coordinateNames, *sensorColumns;
    size_t jointStride, coordinateStride, sensorStride;
    char* labels;
    size_t labelStride;
    int labelCount;
    const char* summary;
};

// Things side by side in a row of a block column.
int tpRecording_CountThings(const tpRecording* recording, int block);

// Writes the rows of a table of a recording; `context` is the caller's.
typedef tpResult tpTableWriter(tpRecording* recording, tpTextFile* text, void* context,
                               tpError* error);

// A table as a whole file.
tpResult tpExportTable(tpRecording* recording, const char* path, tpTableWriter* write,
                       void* context, tpError* error);

#endif
