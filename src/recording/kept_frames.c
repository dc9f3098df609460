#include "recording/kept_frames.h"

#include <string.h>

#include "base/error.h"

enum { batchBytes = 8 * 1024 * 1024 }; // a batch this large is left and the next one begun

void tpKeptFrames_Create(tpKeptFrames* kept, const tpRoster* roster, const tpAllocator* allocator) {
    memset(kept, 0, sizeof(*kept));
    kept->allocator = *allocator;
    kept->movingCount = roster->movingCount;
    kept->jointCount = roster->jointCount;
    tpArena_Create(&kept->texts, allocator);
}

void tpKeptFrames_Destroy(tpKeptFrames* kept) {
    for (int i = 0; i < kept->batches.count; ++i) {
        tpBatch_Destroy(&kept->batches.data[i]);
    }
    TP_FREE_ARRAY(&kept->allocator, kept->batches);
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
    kept->head.shapesText = copyText(&kept->texts, head->shapesText);
    tpHeadOption* options = TP_SCRATCH(&kept->texts, tpHeadOption, head->optionCount);
    if (options != NULL && head->optionCount > 0) {
        memcpy(options, head->options, sizeof(tpHeadOption) * (size_t)head->optionCount);
    }
    kept->head.options = options;
    kept->hasHead = !kept->texts.failed;
    return kept->hasHead;
}

// The batch that takes the next frame; NULL where memory ran out.
static tpBatch* openBatch(tpKeptFrames* kept) {
    int count = kept->batches.count;
    if (count > 0 && kept->batches.data[count - 1].byteCount < batchBytes) {
        return &kept->batches.data[count - 1];
    }
    if (!TP_RESERVE(&kept->allocator, kept->batches, count + 1)) {
        return NULL;
    }
    kept->batches.count = count + 1;
    tpBatch_Create(&kept->batches.data[count], kept->movingCount, kept->jointCount,
                   &kept->allocator);
    return &kept->batches.data[count];
}

tpResult tpKeptFrames_Add(tpKeptFrames* kept, const tpFrameData* frame, const char* const* labels,
                          int labelCount, tpError* error) {
    tpBatch* batch = openBatch(kept);
    if (batch == NULL ||
        !TP_RESERVE(&kept->allocator, batch->labels, batch->labels.count + labelCount) ||
        !tpBatch_Add(batch, frame)) {
        return tpError_OutOfMemory(error);
    }
    for (int i = 0; i < labelCount; ++i) {
        batch->labels.data[batch->labels.count++] = labels[i];
    }
    kept->rowCounts[tp_frameRows] += 1;
    kept->rowCounts[tp_contactRows] += frame->contactCount;
    kept->rowCounts[tp_pairRows] += frame->pairCount;
    return tp_success;
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
    for (int i = 0; i < kept->batches.count && result == tp_success; ++i) {
        result = tpWriter_Append(&writer, &kept->batches.data[i], error);
        result = result == tp_success ? tpWriter_Commit(&writer, error) : result;
    }
    tpResult closed = tpWriter_Close(&writer, summary, result == tp_success ? error : NULL);
    return result != tp_success ? result : closed;
}

int tpKeptFrames_GetWidth(const tpKeptFrames* kept, int column) {
    switch (column) {
    case tp_statesColumn:
        return tp_stateWidth * kept->movingCount;
    case tp_reactionsColumn:
        return 6 * kept->jointCount;
    default:
        return tpColumns[column].width;
    }
}

void tpKeptFrames_CopyColumn(const tpKeptFrames* kept, int column, void* rows) {
    unsigned char* place = rows;
    for (int i = 0; i < kept->batches.count; ++i) {
        const tpBatch* batch = &kept->batches.data[i];
        size_t size = (size_t)batch->columns[column].count;
        if (size > 0) {
            memcpy(place, batch->columns[column].data, size);
            place += size;
        }
    }
}
