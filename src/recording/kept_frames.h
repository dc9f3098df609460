// Frames that stay in memory, and the head of the recording that they may become.
//
// A recorder without a path adds its frames here. They are kept as they come, in blocks of some
// megabytes: adding a frame is a few copies of memory and never moves those before it. Columns are
// gathered when somebody asks for one.

#ifndef TIPPE_SRC_RECORDING_KEPT_FRAMES_H
#define TIPPE_SRC_RECORDING_KEPT_FRAMES_H

#include "recording/frame_batch.h"
#include "recording/writer.h"

// Some frames in a row. Frame k of a block has contacts from its predecessor's contactEnd to its
// own.
typedef struct tpKeptBlock {
    TP_ARRAY(tpFrameRow) rows;
    TP_ARRAY(unsigned char) blocks[tp_blockCount]; // of all frames
    TP_ARRAY(tpRecordedContact) contacts;
    TP_ARRAY(tpRecordedPair) pairs;
    int64_t contactStart, pairStart; // contacts and pairs of all blocks before
    TP_ARRAY(const char*) labels;    // that occur here for the first time
    size_t byteCount;
} tpKeptBlock;

typedef struct tpKeptFrames {
    tpAllocator allocator;
    const tpRoster* roster;        // the recorder's
    int blockSizes[tp_blockCount]; // bytes in a frame
    TP_ARRAY(tpKeptBlock) blocks;
    int64_t rowCounts[tp_columnRowsCount]; // of all blocks
    tpArena texts;                         // what the head points to
    tpRecordingHead head;                  // its roster is the recorder's
    bool hasHead;
} tpKeptFrames;

void tpKeptFrames_Create(tpKeptFrames* kept, const tpRoster* roster, const tpAllocator* allocator);
void tpKeptFrames_Destroy(tpKeptFrames* kept);

// Keeps a copy of the head; without one the frames cannot be saved. False if memory ran out.
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
