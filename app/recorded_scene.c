#include "recorded_scene.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "scene_file.h"

static void noteMissing(void* context, tpSceneFileKind kind, const char* path) {
    bool* isMissing = context;
    *isMissing = *isMissing || (kind == tp_surfaceFile && access(path, R_OK) != 0);
}

// The scene of the recording, as if its file were at `place`; `isWhole` tells whether its meshes
// are there. NULL, with the reason in `error`, if it cannot be read.
static tpScene* readSceneAt(const tpRecordingInfo* info, const char* place, bool* isWhole,
                            tpError* error) {
    tpScene* scene = NULL;
    bool isMissing = false;
    if (tpParseScene(info->sceneText, strlen(info->sceneText), place, NULL, &scene, error) ==
        tp_success) {
        tpScene_VisitFiles(scene, noteMissing, &isMissing);
    }
    *isWhole = scene != NULL && !isMissing;
    return scene;
}

tpScene* openRecordedScene(const char* recording, const char* beside, const tpRecordingInfo* info,
                           tpError* error) {
    char found[PATH_MAX];
    bool isWhole;
    tpScene* scene = readSceneAt(info, beside != NULL ? beside : recording, &isWhole, error);
    if (scene == NULL || isWhole || beside != NULL || info->scenePath[0] == '\0' ||
        !findScene(info->scenePath, found)) {
        return scene;
    }
    tpScene* other = readSceneAt(info, found, &isWhole, error);
    tpDestroyScene(isWhole ? scene : other);
    return isWhole ? other : scene;
}
