// Frames in memory on their way to the file, by columns.

#ifndef TIPPE_SRC_RECORDING_FRAME_BATCH_H
#define TIPPE_SRC_RECORDING_FRAME_BATCH_H

#include "base/memory.h"
#include "recording/roster.h"

// A frame as the recorder hands it over.
typedef struct tpFrameData {
    tpFrameRow row;
    const void* blocks[tp_blockCount]; // things of the roster x numbers of each
    const tpRecordedContact* contacts;
    int contactCount;
    const tpRecordedPair* pairs;
    int pairCount;
} tpFrameData;

typedef struct tpFrameBatch {
    tpAllocator allocator;
    int things[tp_blockCount]; // side by side in a row of each block
    int rowCounts[tp_columnRowsCount];
    size_t byteCount;
    TP_ARRAY(unsigned char) columns[tp_columnCount];
    TP_ARRAY(const char*) labels; // that occur here for the first time
} tpFrameBatch;

void tpFrameBatch_Create(tpFrameBatch* batch, const tpRoster* roster, const tpAllocator* allocator);
void tpFrameBatch_Destroy(tpFrameBatch* batch);
void tpFrameBatch_Clear(tpFrameBatch* batch); // keeps its memory

// Numbers in a row of a column.
int tpFrameBatch_GetWidth(const tpFrameBatch* batch, int column);

// False if memory ran out; the batch is then as it was.
bool tpFrameBatch_Add(tpFrameBatch* batch, const tpFrameData* frame);

#endif
