// The scene that a recording holds, with the files that it names.

#ifndef TIPPE_APP_RECORDED_SCENE_H
#define TIPPE_APP_RECORDED_SCENE_H

#include "tippe/recording.h"
#include "tippe/scene.h"

// The scene of a recording. Its meshes are looked for beside `beside` if that is not NULL, else
// beside the recording, else beside the scene as the run named it. If none of the places has them,
// the first one is what messages are about. NULL, with the reason in `error`, if it cannot be read.
tpScene* openRecordedScene(const char* recording, const char* beside, const tpRecordingInfo* info,
                           tpError* error);

#endif
