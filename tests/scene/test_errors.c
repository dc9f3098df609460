// All errors of a scene at once: each where it stands, none that only follows from another.

#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/failing_allocator.h"
#include "tippe/scene.h"

enum { mostText = 8000 };

// A scene and, line by line, where its errors are and what they say. Places are marked by '@' and
// the errors come in the order of the marks, but that the first is the one that a single error
// would be.
typedef struct tpCase {
    const char* text;
    const char* messages[TP_MOST_SCENE_ERRORS];
} tpCase;

#define END "  \"simulation\": { \"step\": 0.01, \"until\": 1 } }"

static const tpCase cases[] = {
    // Wrong values, unknown keys, wrong types of values, side by side.
    { "{ \"tippe\": 1,\n"
      "  @\"gravty\": [0, 0, -9.81],\n"
      "  \"planar\": @\"yes\",\n"
      "  \"materials\": { @\"wo od\": { \"friction\": @-1 },\n"
      "    \"ice\": { \"friction\": { \"static\": @0.1, \"dynamic\": 0.3 } } },\n"
      "  \"bodies\": [\n"
      "    { \"name\": \"floor\", \"kind\": \"fixed\",\n"
      "      \"shapes\": [{ \"type\": \"plane\", \"normal\": @[0, 0] }] },\n"
      "    { \"name\": \"a\", \"mass\": @-2, \"material\": @\"steel\",\n"
      "      \"shapes\": [{ \"type\": @\"spere\" }, @{ \"type\": \"box\" }] },\n"
      "    { \"name\": @\"a\", \"mass\": 1, \"density\": @3,\n"
      "      \"shapes\": [{ \"type\": \"sphere\", \"radius\": 1 }] } ],\n"
      "  \"joints\": [\n"
      "    { \"type\": \"ball\", \"bodies\": [\"a\", @\"zzz\"], \"anchor\": [0, 0, 0] },\n"
      "    { \"type\": \"ball\", \"bodies\": [\"a\", @\"a\"], \"anchor\": [0, 0, 0] } ],\n"
      "  \"simulation\": { \"stepper\": @\"anitesco\", \"step\": @0, \"until\": 1,\n"
      "    \"options\": { @\"gama\": 1, \"gamma\": @\"x\", \"theta\": 0.5 } } }",
      { "unknown key \"gravty\"", "\"planar\" takes true or false", "a name has letters",
        "must be zero or more", "static friction must not be below", "an array of 3 numbers",
        "\"mass\" must be greater", "unknown material \"steel\"", "unknown type of shape",
        "needs the key \"size\"", "two bodies are called \"a\"", "\"mass\" or \"density\"",
        "unknown body \"zzz\"", "two different bodies", "unknown stepper", "\"step\" must be",
        "no stepper has the option \"gama\"", "\"gamma\" takes a number" } },
    // Every key that is missing.
    { "@{}",
      { "needs the key \"tippe\"", "needs the key \"bodies\"", "needs the key \"simulation\"" } },
    // A key that is misspelt is not missing as well, and nothing is asked of values that could not
    // be read.
    { "{ \"tippe\": 1, \"bodies\": [\n"
      "    { @\"nam\": \"a\", \"mass\": 1 },\n"
      "    { \"name\": \"b\", \"mass\": @[1], \"inertia\": [1, 1, 1] } ],\n" END,
      { "unknown key \"nam\"", "\"mass\" takes a number, found an array" } },
    // Where the name of a body is not known, it may be the one that is asked for.
    { "{ \"tippe\": 1, \"bodies\": [ @17, { \"name\": \"b\", \"kind\": \"fixed\" } ],\n"
      "  \"joints\": [ { \"type\": \"ball\", \"bodies\": [\"a\", \"b\"], \"anchor\": [0, 0, 0] } "
      "],\n"
      "  \"forces\": [ { \"body\": \"a\", \"force\": @[1] } ],\n" END,
      { "expected a body", "an array of 3 numbers" } },
    { "{ \"tippe\": 1, \"bodies\": @{}, \"forces\": [ { \"body\": \"a\" } ],\n" END,
      { "\"bodies\" takes an array" } },
    // The bodies of a joint that could not be read are not twice the world.
    { "{ \"tippe\": 1, \"bodies\": [],\n"
      "  \"joints\": [ { \"type\": \"ball\", \"bodies\": @[1], \"anchor\": [0, 0, 0] },\n"
      "    { \"type\": \"ball\", \"bodies\": [null, @null], \"anchor\": [0, 0, 0] } ],\n"
      "  \"closed_form\": [ { \"body\": @\"a\", \"coordinate\": \"x\", \"formula\": \"t\" } "
      "],\n" END,
      { "an array of 2 names", "found the world twice", "unknown body \"a\"" } },
    // Keys of coordinates: only if there is one, of an axis if there are several.
    { "{ \"tippe\": 1, \"bodies\": [ { \"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1],\n"
      "      \"locked\": [\"x\", @\"w\"] },\n"
      "    { \"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1], \"locked\": [\"rx\", @\"rx\"] } "
      "],\n"
      "  \"joints\": [\n"
      "    { \"type\": \"fixed\", \"bodies\": [\"a\", null], \"armature\": @1 },\n"
      "    { \"type\": \"ball\", \"bodies\": [\"a\", null], \"anchor\": [0, 0, 0], \"zero\": @1 "
      "},\n"
      "    { \"type\": \"compound\", \"bodies\": [\"a\", null], \"anchor\": [0, 0, 0],\n"
      "      \"axes\": [ { \"turn\": [1, 0, 0] } ], \"servo\": @{} },\n"
      "    @{ \"type\": \"compound\", \"bodies\": [\"a\", null], \"anchor\": [0, 0, 0] },\n"
      "    { \"type\": \"compound\", \"bodies\": [\"a\", null], \"anchor\": [0, 0, 0],\n"
      "      \"axes\": [ @{ \"name\": \"n\" }, { \"turn\": [1, 0, 0], \"slide\": @[1, 0, 0] } ] "
      "},\n"
      "    { \"type\": \"compound\", \"bodies\": [\"a\", null], \"anchor\": [0, 0, 0],\n"
      "      \"axes\": [ { \"name\": \"n\", \"turn\": [1, 0, 0], \"armature\": @-1 },\n"
      "        { \"name\": \"n\", \"turn\": [0, 1, 0], \"servo\": { \"effort\": @\"much\" } } ] "
      "},\n"
      "    { \"type\": \"revolute\", \"bodies\": [\"a\", null], \"anchor\": [0, 0, 0], \"axes\": "
      "@[] } "
      "],\n" END,
      { "unknown locked \"w\"", "\"locked\" has \"rx\" twice", "has no coordinate for \"armature\"",
        "has no coordinate for \"zero\"", "has a \"servo\" of its own", "needs 1 to 6 \"axes\"",
        "needs the key \"turn\" or \"slide\"", "not both", "must be zero or more", "takes a number",
        "is for joints of type \"compound\"" } },
    // A text that is not JSON has one error.
    { "{ \"tippe\": 2, \"bodies\": [ @} ] }", { "expected" } },
};

// The text without its marks, and their places.
static size_t takeMarks(const char* marked, char* text, tpScenePlace* places, int* count) {
    size_t length = 0;
    tpScenePlace here = { 1, 1, 0 };
    *count = 0;
    for (const char* c = marked; *c != '\0'; ++c) {
        if (*c == '@') {
            places[(*count)++] = here;
            continue;
        }
        text[length++] = *c;
        here.column = *c == '\n' ? 1 : here.column + 1;
        here.line += *c == '\n' ? 1 : 0;
    }
    text[length] = '\0';
    return length;
}

static void tellAll(void** state) {
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        static char text[mostText];
        tpScenePlace places[TP_MOST_SCENE_ERRORS];
        int placeCount, wanted = 0;
        size_t length = takeMarks(cases[i].text, text, places, &placeCount);
        tpScene* scene;
        static tpSceneErrors errors;
        assert_int_equal(tpParseSceneErrors(text, length, "scene.json", NULL, &scene, &errors),
                         tp_badInput);
        assert_null(scene);
        for (; wanted < TP_MOST_SCENE_ERRORS && cases[i].messages[wanted] != NULL; ++wanted) {
            char place[64];
            int k = wanted < placeCount ? wanted : placeCount - 1; // keys are missing at one place
            snprintf(place, sizeof(place), "scene.json:%d:%d: ", places[k].line, places[k].column);
            if (wanted >= errors.count ||
                strncmp(errors.list[wanted].message, place, strlen(place)) != 0 ||
                strstr(errors.list[wanted].message, cases[i].messages[wanted]) == NULL) {
                fail_msg("case %d, error %d: expected %s...%s, found %s", (int)i, wanted, place,
                         cases[i].messages[wanted],
                         wanted < errors.count ? errors.list[wanted].message : "nothing");
            }
        }
        if (errors.count > wanted) {
            fail_msg("case %d: also found %s", (int)i, errors.list[wanted].message);
        }
        assert_false(errors.isCut);
    }
}

// Thirty wrong bodies: the first twenty are told.
static void endsAtTheMost(void** state) {
    (void)state;
    static char text[mostText];
    int length = snprintf(text, sizeof(text), "{ \"tippe\": 1, \"bodies\": [\n");
    for (int i = 0; i < 30; ++i) {
        length +=
            snprintf(text + length, sizeof(text) - (size_t)length, "%s%d", i > 0 ? ",\n" : "", i);
    }
    length += snprintf(text + length, sizeof(text) - (size_t)length, " ],\n" END);
    tpScene* scene;
    static tpSceneErrors errors;
    assert_int_equal(tpParseSceneErrors(text, (size_t)length, "scene.json", NULL, &scene, &errors),
                     tp_badInput);
    assert_true(errors.isCut);
    assert_int_equal(errors.count, TP_MOST_SCENE_ERRORS);
    for (int i = 0; i < errors.count; ++i) {
        char place[64];
        snprintf(place, sizeof(place), "scene.json:%d:1: expected a body", i + 2);
        assert_memory_equal(errors.list[i].message, place, strlen(place));
    }
}

static void rightScenesHaveNone(void** state) {
    (void)state;
    static const char text[] = "{ \"tippe\": 1, \"bodies\": [],\n" END;
    tpScene* scene;
    tpSceneErrors errors;
    assert_int_equal(
        tpParseSceneErrors(text, sizeof(text) - 1, "scene.json", NULL, &scene, &errors),
        tp_success);
    assert_int_equal(errors.count, 0);
    assert_false(errors.isCut);
    tpDestroyScene(scene);
}

// Memory that runs out anywhere ends the reading; what was found before stays.
static void survivesFailingMemory(void** state) {
    (void)state;
    static char text[mostText];
    tpScenePlace places[TP_MOST_SCENE_ERRORS];
    int placeCount;
    size_t length = takeMarks(cases[0].text, text, places, &placeCount);
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    bool hasFailed = true;
    for (int n = 1; hasFailed; ++n) {
        heap.requests = 0;
        heap.failAt = n;
        tpScene* scene;
        static tpSceneErrors errors;
        tpResult result =
            tpParseSceneErrors(text, length, "scene.json", &allocator, &scene, &errors);
        hasFailed = heap.requests >= n;
        assert_true(result == tp_badInput || (hasFailed && result == tp_outOfMemory));
        assert_true(errors.count >= 1 && errors.list[0].result == result);
        assert_int_equal(heap.outstanding, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tellAll),
        cmocka_unit_test(endsAtTheMost),
        cmocka_unit_test(rightScenesHaveNone),
        cmocka_unit_test(survivesFailingMemory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
