// Any bytes as a scene: refused with a place, or read, written back the same, and built.

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "tippe/scene.h"

// Whether building is quick and reads no files, so that the fuzzer spends its time on the reader.
static bool isQuick(const tpScene* scene) {
    bool isSmall = scene->bodies.count <= 16 && scene->joints.count <= 16;
    for (int i = 0; isSmall && i < scene->bodies.count; ++i) {
        const tpSceneShapes* shapes = &scene->bodies.items[i].shapes;
        isSmall = shapes->count <= 8;
        for (int k = 0; isSmall && k < shapes->count; ++k) {
            const tpSceneShape* shape = &shapes->items[k];
            isSmall = shape->file.text == NULL && shape->type != tp_intersectionShape &&
                      shape->type != tp_superellipsoidShape && shape->points.count <= 32;
        }
    }
    return isSmall;
}

static void checkWritten(const tpScene* scene) {
    char *first, *second;
    size_t firstLength, secondLength;
    tpScene* again;
    tpError error;
    REQUIRE(tpFormatScene(scene, NULL, &first, &firstLength, &error) == tp_success);
    REQUIRE(tpParseScene(first, firstLength, "again", NULL, &again, &error) == tp_success);
    REQUIRE(tpFormatScene(again, NULL, &second, &secondLength, &error) == tp_success);
    REQUIRE(firstLength == secondLength && memcmp(first, second, firstLength) == 0);
    tpReleaseSceneText(NULL, first, firstLength);
    tpReleaseSceneText(NULL, second, secondLength);
    tpDestroyScene(again);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    tpScene* scene;
    tpError error = { tp_success, "" };
    tpResult result = tpParseScene((const char*)data, size, "f", NULL, &scene, &error);
    if (result != tp_success) {
        tpSceneErrors errors;
        REQUIRE(tpParseSceneErrors((const char*)data, size, "f", NULL, &scene, &errors) == result);
        REQUIRE(errors.count >= 1 && strcmp(errors.list[0].message, error.message) == 0);
        // "f:1:1: " and a word at the least.
        REQUIRE(result == tp_badInput && scene == NULL);
        REQUIRE(strncmp(error.message, "f:", 2) == 0 && strlen(error.message) > 10);
        return 0;
    }
    checkWritten(scene);
    tpWorld* world = NULL;
    if (isQuick(scene)) {
        result = tpScene_CreateWorld(scene, NULL, 1, &world, &error);
        REQUIRE(result == tp_success || strncmp(error.message, "f:", 2) == 0);
    }
    tpDestroyWorld(world);
    tpDestroyScene(scene);
    return 0;
}
