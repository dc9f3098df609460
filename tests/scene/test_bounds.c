// Scenes that are large or extreme: they are built in time that grows with their size (ctest gives
// up on what grows with its square), or refused with their place.

#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "tippe/scene.h"

static tpResult buildText(const char* text, tpWorld** world, tpError* error) {
    tpScene* scene;
    *world = NULL;
    tpResult result = tpParseScene(text, strlen(text), "scene.json", NULL, &scene, error);
    if (result == tp_success) {
        result = tpScene_CreateWorld(scene, NULL, 1, world, error);
        tpDestroyScene(scene);
    }
    return result;
}

static void buildManyShapes(void** state) {
    (void)state;
    enum { count = 200000 };
    char* text = malloc((size_t)count * 80 + 1000);
    char* at =
        text + sprintf(text, "{ \"tippe\": 1, \"simulation\": { \"step\": 1, \"until\": 1 },"
                             " \"bodies\": [ { \"name\": \"a\", \"density\": 1, \"shapes\": [");
    for (int i = 0; i < count; ++i) {
        at += sprintf(at, "%s{ \"type\": \"sphere\", \"radius\": 0.1, \"position\": [%d, 0, 0] }",
                      i == 0 ? "" : ",", i);
    }
    sprintf(at, "] } ] }");
    tpWorld* world;
    tpError error = { tp_success, "" };
    tpResult result = buildText(text, &world, &error);
    if (result != tp_success) {
        fail_msg("%s", error.message);
    }
    tpBodyId body = tpWorld_GetBody(world, 0);
    assert_int_equal(tpBody_GetShapeCount(world, body), count);
    CHECK_NEAR(tpBody_GetMass(world, body).center.x, 0.5 * (count - 1), 1e-6);
    tpDestroyWorld(world);
    free(text);
}

static void refuseEnergiesBeyondNumbers(void** state) {
    (void)state;
    static const char* const motions[] = { "\"velocity\": [1e300, 0, 0]",
                                           "\"angular_velocity\": [0, 0, 1e200]",
                                           "\"velocity\": [0, 0, 1e154], \"mass\": 1e10" };
    for (int i = 0; i < 3; ++i) {
        char text[600];
        snprintf(text, sizeof(text),
                 "{ \"tippe\": 1, \"simulation\": { \"step\": 1, \"until\": 1 }, \"bodies\": [\n"
                 "  { \"name\": \"a\", %s%s,\n"
                 "    \"shapes\": [ { \"type\": \"sphere\", \"radius\": 1 } ] } ] }",
                 i < 2 ? "\"density\": 1, " : "", motions[i]);
        tpWorld* world;
        tpError error;
        assert_int_equal(buildText(text, &world, &error), tp_badInput);
        assert_string_equal(error.message, "scene.json:2:3: the kinetic energy of the body is "
                                           "beyond the range of numbers");
        assert_null(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buildManyShapes),
        cmocka_unit_test(refuseEnergiesBeyondNumbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
