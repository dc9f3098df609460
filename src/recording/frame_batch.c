#include "recording/frame_batch.h"

#include <string.h>

void tpFrameBatch_Create(tpFrameBatch* batch, const tpRoster* roster,
                         const tpAllocator* allocator) {
    memset(batch, 0, sizeof(*batch));
    batch->allocator = *allocator;
    for (int i = 0; i < tp_blockCount; ++i) {
        batch->things[i] = tpRoster_CountThings(roster, i);
    }
}

void tpFrameBatch_Destroy(tpFrameBatch* batch) {
    for (int i = 0; i < tp_columnCount; ++i) {
        TP_FREE_ARRAY(&batch->allocator, batch->columns[i]);
    }
    TP_FREE_ARRAY(&batch->allocator, batch->labels);
}

void tpFrameBatch_Clear(tpFrameBatch* batch) {
    for (int i = 0; i < tp_columnCount; ++i) {
        batch->columns[i].count = 0;
    }
    batch->labels.count = 0;
    memset(batch->rowCounts, 0, sizeof(batch->rowCounts));
    batch->byteCount = 0;
}

int tpFrameBatch_GetWidth(const tpFrameBatch* batch, int column) {
    int width = tpColumns[column].width;
    return column < tp_blockCount ? batch->things[column] * width : width;
}

static size_t rowSize(const tpFrameBatch* batch, int column) {
    return (size_t)tpFrameBatch_GetWidth(batch, column) * tpColumnKind_Size(tpColumns[column].kind);
}

// Rows of each kind in a frame.
static void countRows(const tpFrameData* frame, int counts[tp_columnRowsCount]) {
    counts[tp_frameRows] = 1;
    counts[tp_contactRows] = frame->contactCount;
    counts[tp_pairRows] = frame->pairCount;
}

// Room for one more frame in all columns, before anything is added to one.
static bool reserveFrame(tpFrameBatch* batch, const int counts[tp_columnRowsCount]) {
    for (int i = 0; i < tp_columnCount; ++i) {
        size_t rows = (size_t)counts[tpColumns[i].rows];
        size_t wanted = (size_t)batch->columns[i].count + rows * rowSize(batch, i);
        if (wanted > INT32_MAX || !TP_RESERVE(&batch->allocator, batch->columns[i], (int)wanted)) {
            return false;
        }
    }
    return true;
}

static void append(tpFrameBatch* batch, int column, const void* bytes, size_t size) {
    if (size > 0) {
        memcpy(batch->columns[column].data + batch->columns[column].count, bytes, size);
        batch->columns[column].count += (int)size;
        batch->byteCount += size;
    }
}

bool tpFrameBatch_Add(tpFrameBatch* batch, const tpFrameData* frame) {
    int counts[tp_columnRowsCount];
    countRows(frame, counts);
    if (!reserveFrame(batch, counts)) {
        return false;
    }
    for (int i = 0; i < tp_columnCount; ++i) {
        const tpColumn* column = &tpColumns[i];
        size_t size = rowSize(batch, i);
        if (i < tp_blockCount) {
            append(batch, i, frame->blocks[i], size);
        } else if (column->rows == tp_frameRows) {
            append(batch, i, (const char*)&frame->row + column->offset, size);
        } else if (column->rows == tp_contactRows) {
            for (int k = 0; k < frame->contactCount; ++k) {
                append(batch, i, (const char*)&frame->contacts[k] + column->offset, size);
            }
        } else {
            for (int k = 0; k < frame->pairCount; ++k) {
                append(batch, i, (const char*)&frame->pairs[k] + column->offset, size);
            }
        }
    }
    for (int i = 0; i < tp_columnRowsCount; ++i) {
        batch->rowCounts[i] += counts[i];
    }
    return true;
}
