// A world from the text of a scene.

#ifndef TIPPE_TESTS_SUPPORT_SCENE_TEXT_H
#define TIPPE_TESTS_SUPPORT_SCENE_TEXT_H

#include <string.h>

#include "support/check.h"
#include "tippe/scene.h"

static inline tpWorld* makeWorldFrom(const char* text) {
    tpScene* scene = NULL;
    tpWorld* world = NULL;
    tpError error = { .result = tp_success };
    if (tpParseScene(text, strlen(text), "scene", NULL, &scene, &error) != tp_success ||
        tpScene_CreateWorld(scene, NULL, 1, &world, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    tpDestroyScene(scene);
    return world;
}

#endif
