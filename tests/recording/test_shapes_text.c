// The shapes of a world as JSON: numbers of each, colours, and what is only seen.

#include "recording/shapes_text.h"

#include <string.h>

#include "support/check.h"
#include "tippe/scene.h"

static const char text[] =
    "{ \"tippe\": 1, \"gravity\": [0, 0, -9.81],\n"
    "  \"materials\": { \"wood\": { \"friction\": { \"static\": 0.5, \"dynamic\": 0.25, "
    "\"torsional\": 0.125, \"ellipse\": [0.25, 4], \"direction\": [1, 0, 0] },"
    " \"restitution\": 0.5 }, \"ice\": {} },\n"
    "  \"pairs\": [ { \"between\": [\"wood\", \"ice\"], \"friction\": 2 } ],\n"
    "  \"bodies\": [\n"
    "  { \"name\": \"top\", \"density\": 1000, \"material\": \"wood\", \"color\": \"#c65B45\", "
    "\"shapes\": [\n"
    "    { \"type\": \"sphere\", \"radius\": 0.5 },\n"
    "    { \"type\": \"cylinder\", \"radius\": 0.25, \"length\": 2, \"visual\": true, \"color\": "
    "[0, 0.5, 1] },\n"
    "    { \"type\": \"box\", \"size\": [1, 2, 3], \"visual\": true },\n"
    "    { \"type\": \"hull\", \"points\": [[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]], "
    "\"visual\": true } ] },\n"
    "  { \"name\": \"plain\", \"mass\": 1, \"inertia\": [1, 1, 1], \"shapes\": [\n"
    "    { \"type\": \"sphere\", \"radius\": 3, \"visual\": true } ] } ],\n"
    "  \"simulation\": { \"stepper\": \"anitescu\", \"step\": 0.01, \"until\": 1 } }";

static int countCommas(const char* list) {
    int count = 0;
    for (; *list != ']'; ++list) {
        count += *list == ',';
    }
    return count;
}

static void saysColorsAndVisuals(void** state) {
    (void)state;
    tpScene* scene;
    tpWorld* world;
    tpError error;
    if (tpParseScene(text, sizeof(text) - 1, "scene.json", NULL, &scene, &error) != tp_success ||
        tpScene_CreateWorld(scene, NULL, 1, &world, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    // Only the ball weighs.
    double ball = 1000.0 * 4.0 / 3.0 * 3.14159265358979 * 0.125;
    assert_float_equal(tpBody_GetMass(world, tpWorld_GetBody(world, 0)).mass, ball, 1e-9 * ball);
    assert_int_equal(tpBody_GetShapeCount(world, tpWorld_GetBody(world, 1)), 0);

    tpAllocator allocator = tpDefaultAllocator();
    tpRoster roster;
    tpShapesText shapes;
    assert_true(tpRoster_Create(&roster, world, &allocator));
    assert_true(tpWriteShapesText(&roster, world, &allocator, &shapes));
    static const char* const expected[] = {
        "{ \"type\": \"sphere\", \"radius\": 0.5, \"color\": \"#c65b45\", \"material\": 1 }, {",
        "\"radius\": 0.25, \"length\": 2, \"color\": \"#0080ff\", \"visual\": true }, {",
        "\"size\": [1, 2, 3], \"color\": \"#c65b45\", \"visual\": true }, {",
        "\"type\": \"hull\", \"surface\": 0",
        // Four corners and four triangles.
        "\"surfaces\": [\n  { \"vertices\": [",
        "{ \"shapes\": [{ \"type\": \"sphere\", \"radius\": 3, \"visual\": true }] }",
        "\"materials\": [\"\", \"wood\", \"ice\"],",
        // Pairs 00, 10, 11, 20, 21, 22: the rule's, but for 21.
        "[[0, 0, 0, 1, 1, 0],[0, 0, 0, 0.5, 2, 0.5],[0.5, 0.25, 0.125, 0.25, 4, 0.5],",
        "0.5],[0, 0, 0, 1, 1, 0],",
        ",[2, 2, 0, 1, 1, 0.5],[0, 0, 0, 1, 1, 0]]",
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); ++i) {
        if (strstr(shapes.data, expected[i]) == NULL) {
            fail_msg("%s is not in\n%s", expected[i], shapes.data);
        }
    }
    const char* corners = strstr(shapes.data, "\"vertices\": [");
    const char* triangles = strstr(shapes.data, "\"triangles\": [");
    assert_true(corners != NULL && triangles != NULL);
    assert_int_equal(countCommas(corners), 3 * 4 - 1);
    assert_int_equal(countCommas(triangles), 3 * 4 - 1);
    TP_FREE_ARRAY(&allocator, shapes);
    tpRoster_Destroy(&roster);
    tpDestroyWorld(world);
    tpDestroyScene(scene);
}

// Each shape is where it is on its body: each part of a place and of a turn is said, if it is not
// zero.
static void saysPlaces(void** state) {
    (void)state;
    static const char* const places[][2] = {
        { "1, 0, 0", "" },
        { "0, -2, 0", "" },
        { "0, 0, 0.5", "" },
        { "", "0, 1, 0, 0" },
        { "", "0, 0, 1, 0" },
        { "", "0, 0, 0, 1" },
        { "3, -4, 5", "0.5, 0.5, -0.5, 0.5" },
    };
    enum { placeCount = sizeof(places) / sizeof(places[0]) };
    char scene[4000] = "{ \"tippe\": 1, \"bodies\": [ { \"name\": \"a\", \"mass\": 1, "
                       "\"inertia\": [1, 1, 1], \"shapes\": [ ";
    for (int i = 0; i < placeCount; ++i) {
        size_t used = strlen(scene);
        const char *position = places[i][0], *turn = places[i][1];
        used += (size_t)sprintf(scene + used, "%s{ \"type\": \"box\", \"size\": [1, 2, %d]",
                                i > 0 ? ", " : "", 3 + i);
        if (position[0] != '\0') {
            used += (size_t)sprintf(scene + used, ", \"position\": [%s]", position);
        }
        if (turn[0] != '\0') {
            used += (size_t)sprintf(scene + used, ", \"rotation\": { \"quaternion\": [%s] }", turn);
        }
        strcpy(scene + used, " }");
    }
    strcat(scene, " ] } ], \"simulation\": { \"stepper\": \"anitescu\", \"step\": 0.01, "
                  "\"until\": 1 } }");
    tpScene* parsed;
    tpWorld* world;
    tpError error;
    if (tpParseScene(scene, strlen(scene), "scene.json", NULL, &parsed, &error) != tp_success ||
        tpScene_CreateWorld(parsed, NULL, 1, &world, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpRoster roster;
    tpShapesText shapes;
    assert_true(tpRoster_Create(&roster, world, &allocator));
    assert_true(tpWriteShapesText(&roster, world, &allocator, &shapes));
    for (int i = 0; i < placeCount; ++i) {
        char expected[200];
        const char *position = places[i][0], *turn = places[i][1];
        snprintf(expected, sizeof(expected),
                 "{ \"type\": \"box\"%s%s%s%s%s%s, \"size\": [1, 2, %d], ",
                 position[0] != '\0' ? ", \"position\": [" : "", position,
                 position[0] != '\0' ? "]" : "", turn[0] != '\0' ? ", \"rotation\": [" : "", turn,
                 turn[0] != '\0' ? "]" : "", 3 + i);
        if (strstr(shapes.data, expected) == NULL) {
            fail_msg("%s is not in\n%s", expected, shapes.data);
        }
    }
    TP_FREE_ARRAY(&allocator, shapes);
    tpRoster_Destroy(&roster);
    tpDestroyWorld(world);
    tpDestroyScene(parsed);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(saysColorsAndVisuals),
                                        cmocka_unit_test(saysPlaces) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
