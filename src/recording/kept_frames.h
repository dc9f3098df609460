// Frames that stay in memory, and the head of the recording that they may become.
//
// A recorder without a path adds its frames here. They are kept by columns, in batches of some megabytes, so
// that adding a frame never copies those before it.

#ifndef TIPPE_SRC_RECORDING_KEPT_FRAMES_H
#define TIPPE_SRC_RECORDING_KEPT_FRAMES_H

#include "recording/batch.h"
#include "recording/writer.h"

typedef struct tpKeptFrames {
    tpAllocator allocator;
    int movingCount, jointCount;
    TP_ARRAY(tpBatch) batches;
    int64_t rowCounts[tp_columnRowsCount]; // of all batches
    tpArena texts;                         // what the head points to
    tpRecordingHead head;                  // its roster is the recorder's
    bool hasHead;
} tpKeptFrames;

void tpKeptFrames_Create(tpKeptFrames* kept, const tpRoster* roster, const tpAllocator* allocator);
void tpKeptFrames_Destroy(tpKeptFrames* kept);

// Keeps a copy of the head; without one the frames cannot be saved. False where memory ran out.
bool tpKeptFrames_SetHead(tpKeptFrames* kept, const tpRecordingHead* head);

// Adds a frame and the labels that occur with it for the first time, which are constant strings.
tpResult tpKeptFrames_Add(tpKeptFrames* kept, const tpFrameData* frame, const char* const* labels,
                          int labelCount, tpError* error);

// Writes all frames to a recording at `path`.
tpResult tpKeptFrames_Save(const tpKeptFrames* kept, const char* path, const char* summary,
                           tpError* error);

// Numbers in a row of a column, and all of its rows one after the other.
int tpKeptFrames_GetWidth(const tpKeptFrames* kept, int column);
void tpKeptFrames_CopyColumn(const tpKeptFrames* kept, int column, void* rows);

#endif
