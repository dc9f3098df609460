// A scene of the repository as a world, for tests of the papers.

#ifndef TIPPE_TESTS_PAPERS_PAPER_WORLD_H
#define TIPPE_TESTS_PAPERS_PAPER_WORLD_H

#include "support/check.h"
#include "tippe/scene.h"
#include "tippe/world.h"

static inline tpWorld* makePaperWorld(const char* name) {
    char path[512];
    snprintf(path, sizeof(path), "%s/scenes/%s.json", TIPPE_SOURCE_DIR, name);
    tpAllocator allocator = tpDefaultAllocator();
    tpScene* scene = NULL;
    tpWorld* world = NULL;
    tpError error;
    if (tpReadScene(path, &allocator, &scene, &error) != tp_success ||
        tpScene_CreateWorld(scene, &allocator, 1, &world, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    tpDestroyScene(scene);
    return world;
}

static inline void setOption(tpWorld* world, const char* name, const char* value) {
    tpError error;
    if (tpWorld_SetOption(world, name, value, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
}

#endif
