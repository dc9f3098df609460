// Many worlds of one scene.

#include "base/assert.h"
#include "base/error.h"
#include "base/memory.h"
#include "tippe/batch.h"
#include "tippe/scene.h"

tpResult tpScene_CreateBatch(const tpScene* scene, const tpAllocator* allocator, int worldCount,
                             int threadCount, tpBatch** batch, tpError* error) {
    TP_NEED(scene, tp_badInput);
    *batch = NULL;
    if (worldCount < 1 || threadCount < 1) {
        return tpError_Set(error, tp_badInput, "%s is %d, expected 1 or more",
                           worldCount < 1 ? "worldCount" : "threadCount",
                           worldCount < 1 ? worldCount : threadCount);
    }
    tpBatchDef def = tpDefaultBatchDef();
    def.allocator = allocator != NULL ? *allocator : def.allocator;
    def.worldCount = worldCount;
    def.threadCount = threadCount;
    def.ownsWorlds = true;
    size_t size = sizeof(tpWorld*) * (size_t)worldCount;
    tpWorld** worlds = tpAllocateZeroed(&def.allocator, size);
    if (worlds == NULL) {
        return tpError_OutOfMemory(error);
    }
    def.worlds = worlds;
    tpError own = { tp_success, "" };
    tpResult result = tp_success;
    for (int i = 0; result == tp_success && i < worldCount; ++i) {
        result = tpScene_CreateWorld(scene, &def.allocator, 1, &worlds[i], &own);
    }
    if (result == tp_success) {
        *batch = tpCreateBatch(&def, &own);
        result = *batch != NULL ? tp_success : own.result;
    }
    for (int i = 0; result != tp_success && i < worldCount; ++i) {
        tpDestroyWorld(worlds[i]);
    }
    tpRelease(&def.allocator, worlds, size);
    return result == tp_success ? tp_success : tpError_Set(error, result, "%s", own.message);
}
