#include "recording/kept_frames.h"

#include <string.h>

#include "base/error.h"

enum {
    blockBytes = 8 * 1024 * 1024, // a block this large is left and the next one begun
    batchBytes = 4 * 1024 * 1024  // frames on their way to a file
};

void tpKeptFrames_Create(tpKeptFrames* kept, const tpRoster* roster, const tpAllocator* allocator) {
    memset(kept, 0, sizeof(*kept));
    kept->allocator = *allocator;
    kept->roster = roster;
    for (int i = 0; i < tp_blockCount; ++i) {
        kept->blockSizes[i] =
            (int)tpColumnKind_Size(tpColumns[i].kind) * tpKeptFrames_GetWidth(kept, i);
    }
    tpArena_Create(&kept->texts, allocator);
}

void tpKeptFrames_Destroy(tpKeptFrames* kept) {
    for (int i = 0; i < kept->blocks.count; ++i) {
        tpKeptBlock* block = &kept->blocks.data[i];
        TP_FREE_ARRAY(&kept->allocator, block->rows);
        for (int k = 0; k < tp_blockCount; ++k) {
            TP_FREE_ARRAY(&kept->allocator, block->blocks[k]);
        }
        TP_FREE_ARRAY(&kept->allocator, block->contacts);
        TP_FREE_ARRAY(&kept->allocator, block->pairs);
        TP_FREE_ARRAY(&kept->allocator, block->labels);
    }
    TP_FREE_ARRAY(&kept->allocator, kept->blocks);
    tpArena_Destroy(&kept->texts);
}

static const char* copyText(tpArena* arena, const char* text) {
    size_t size = strlen(text) + 1;
    char* copy = tpArena_Get(arena, size);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

bool tpKeptFrames_SetHead(tpKeptFrames* kept, const tpRecordingHead* head) {
    kept->head = *head;
    kept->head.sceneText = copyText(&kept->texts, head->sceneText);
    kept->head.sceneName = copyText(&kept->texts, head->sceneName);
    kept->head.scenePath = copyText(&kept->texts, head->scenePath);
    kept->head.shapesText = copyText(&kept->texts, head->shapesText);
    tpHeadOption* options = TP_SCRATCH(&kept->texts, tpHeadOption, head->optionCount);
    if (options != NULL && head->optionCount > 0) {
        memcpy(options, head->options, sizeof(tpHeadOption) * (size_t)head->optionCount);
    }
    kept->head.options = options;
    kept->hasHead = !kept->texts.failed;
    return kept->hasHead;
}

// Frames ------------------------------------------------------------------------------------------

// The block that takes the next frame; NULL if memory ran out.
static tpKeptBlock* openBlock(tpKeptFrames* kept) {
    int count = kept->blocks.count;
    if (count > 0 && kept->blocks.data[count - 1].byteCount < blockBytes) {
        return &kept->blocks.data[count - 1];
    }
    if (!TP_RESERVE(&kept->allocator, kept->blocks, count + 1)) {
        return NULL;
    }
    kept->blocks.count = count + 1;
    kept->blocks.data[count] = (tpKeptBlock){ .contactStart = kept->rowCounts[tp_contactRows],
                                              .pairStart = kept->rowCounts[tp_pairRows] };
    return &kept->blocks.data[count];
}

static bool reserveFrame(tpKeptFrames* kept, tpKeptBlock* block, const tpFrameData* frame,
                         int labelCount) {
    const tpAllocator* allocator = &kept->allocator;
    for (int i = 0; i < tp_blockCount; ++i) {
        if (!TP_RESERVE(allocator, block->blocks[i],
                        block->blocks[i].count + kept->blockSizes[i])) {
            return false;
        }
    }
    return TP_RESERVE(allocator, block->rows, block->rows.count + 1) &&
           TP_RESERVE(allocator, block->contacts, block->contacts.count + frame->contactCount) &&
           TP_RESERVE(allocator, block->pairs, block->pairs.count + frame->pairCount) &&
           TP_RESERVE(allocator, block->labels, block->labels.count + labelCount);
}

// Copies rows to the end of an array that has room for them.
#define APPEND(array, source, number)                                                              \
    do {                                                                                           \
        if ((number) > 0) {                                                                        \
            memcpy((array).data + (array).count, source,                                           \
                   (size_t)(number) * sizeof(*(array).data));                                      \
            (array).count += (number);                                                             \
        }                                                                                          \
    } while (0)

tpResult tpKeptFrames_Add(tpKeptFrames* kept, const tpFrameData* frame, const char* const* labels,
                          int labelCount, tpError* error) {
    tpKeptBlock* block = openBlock(kept);
    if (block == NULL || !reserveFrame(kept, block, frame, labelCount)) {
        return tpError_OutOfMemory(error);
    }
    APPEND(block->rows, &frame->row, 1);
    for (int i = 0; i < tp_blockCount; ++i) {
        APPEND(block->blocks[i], frame->blocks[i], kept->blockSizes[i]);
        block->byteCount += (size_t)kept->blockSizes[i];
    }
    APPEND(block->contacts, frame->contacts, frame->contactCount);
    APPEND(block->pairs, frame->pairs, frame->pairCount);
    APPEND(block->labels, labels, labelCount);
    block->byteCount += sizeof(tpFrameRow) +
                        sizeof(tpRecordedContact) * (size_t)frame->contactCount +
                        sizeof(tpRecordedPair) * (size_t)frame->pairCount;
    kept->rowCounts[tp_frameRows] += 1;
    kept->rowCounts[tp_contactRows] += frame->contactCount;
    kept->rowCounts[tp_pairRows] += frame->pairCount;
    return tp_success;
}

// Saving ------------------------------------------------------------------------------------------

// Frame k of a block, as the recorder handed it over.
static tpFrameData frameOf(const tpKeptFrames* kept, const tpKeptBlock* block, int k) {
    const tpFrameRow* row = &block->rows.data[k];
    int64_t firstContact = k > 0 ? row[-1].contactEnd : block->contactStart;
    int64_t firstPair = k > 0 ? row[-1].pairEnd : block->pairStart;
    tpFrameData frame = { .row = *row,
                          .contacts = TP_PLACE(block->contacts, firstContact - block->contactStart),
                          .contactCount = (int)(row->contactEnd - firstContact),
                          .pairs = TP_PLACE(block->pairs, firstPair - block->pairStart),
                          .pairCount = (int)(row->pairEnd - firstPair) };
    for (int i = 0; i < tp_blockCount; ++i) {
        frame.blocks[i] = TP_PLACE(block->blocks[i], (size_t)k * (size_t)kept->blockSizes[i]);
    }
    return frame;
}

static tpResult writeBatch(tpWriter* writer, tpFrameBatch* batch, tpError* error) {
    tpResult result = tpWriter_Append(writer, batch, error);
    tpFrameBatch_Clear(batch);
    return result == tp_success ? tpWriter_Commit(writer, error) : result;
}

static tpResult writeBlock(const tpKeptFrames* kept, const tpKeptBlock* block, tpWriter* writer,
                           tpFrameBatch* batch, tpError* error) {
    if (!TP_RESERVE(&batch->allocator, batch->labels, block->labels.count)) {
        return tpError_OutOfMemory(error);
    }
    APPEND(batch->labels, block->labels.data, block->labels.count);
    tpResult result = tp_success;
    for (int k = 0; k < block->rows.count && result == tp_success; ++k) {
        tpFrameData frame = frameOf(kept, block, k);
        if (!tpFrameBatch_Add(batch, &frame)) {
            return tpError_OutOfMemory(error);
        }
        if (batch->byteCount >= batchBytes || k == block->rows.count - 1) {
            result = writeBatch(writer, batch, error);
        }
    }
    return result;
}

tpResult tpKeptFrames_Save(const tpKeptFrames* kept, const char* path, const char* summary,
                           tpError* error) {
    if (!kept->hasHead) {
        return tpError_Set(error, tp_badInput,
                           "%s: the run was recorded without its contacts and cannot be saved",
                           path);
    }
    tpWriter writer;
    tpResult result = tpWriter_Create(&writer, path, &kept->head, &kept->allocator, error);
    if (result != tp_success) {
        return result;
    }
    tpFrameBatch batch;
    tpFrameBatch_Create(&batch, kept->roster, &kept->allocator);
    for (int i = 0; i < kept->blocks.count && result == tp_success; ++i) {
        result = writeBlock(kept, &kept->blocks.data[i], &writer, &batch, error);
    }
    tpFrameBatch_Destroy(&batch);
    tpResult closed = tpWriter_Close(&writer, summary, result == tp_success ? error : NULL);
    return result != tp_success ? result : closed;
}

// Columns -----------------------------------------------------------------------------------------

int tpKeptFrames_GetWidth(const tpKeptFrames* kept, int column) {
    int width = tpColumns[column].width;
    return column < tp_blockCount ? width * tpRoster_CountThings(kept->roster, column) : width;
}

// Numbers of one column out of structs of `size` bytes each; where they end.
static unsigned char* gather(const tpColumn* column, const void* structs, size_t size, int count,
                             unsigned char* place) {
    size_t bytes = (size_t)column->width * tpColumnKind_Size(column->kind);
    const unsigned char* from = (const unsigned char*)structs + column->offset;
    for (int i = 0; i < count; ++i, from += size, place += bytes) {
        memcpy(place, from, bytes);
    }
    return place;
}

static unsigned char* copyBytes(const unsigned char* bytes, int count, unsigned char* place) {
    if (count > 0) {
        memcpy(place, bytes, (size_t)count);
    }
    return place + count;
}

void tpKeptFrames_CopyColumn(const tpKeptFrames* kept, int column, void* rows) {
    const tpColumn* info = &tpColumns[column];
    unsigned char* place = rows;
    for (int i = 0; i < kept->blocks.count; ++i) {
        const tpKeptBlock* block = &kept->blocks.data[i];
        if (column < tp_blockCount) {
            place = copyBytes(block->blocks[column].data, block->blocks[column].count, place);
        } else if (info->rows == tp_frameRows) {
            place = gather(info, block->rows.data, sizeof(tpFrameRow), block->rows.count, place);
        } else if (info->rows == tp_contactRows) {
            place = gather(info, block->contacts.data, sizeof(tpRecordedContact),
                           block->contacts.count, place);
        } else {
            place =
                gather(info, block->pairs.data, sizeof(tpRecordedPair), block->pairs.count, place);
        }
    }
}
