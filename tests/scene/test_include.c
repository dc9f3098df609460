// Scenes of several files: the including file has the last word, and faults name the file they are
// in.

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"
#include "tippe/scene.h"

static char folder[] = "/tmp/tippe-include-XXXXXX";
static char path[200];

static const char* in(const char* name) {
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void put(const char* name, const char* text) {
    FILE* file = fopen(in(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static tpScene* get(const char* name) {
    tpScene* scene;
    tpError error;
    if (tpReadScene(in(name), NULL, &scene, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    return scene;
}

#define SIMULATION "\"simulation\": { \"step\": 0.01, \"until\": 1 }"

static void countFile(void* context, tpSceneFileKind kind, const char* name) {
    assert_int_equal(strncmp(name, folder, strlen(folder)), 0);
    ((int*)context)[kind] += 1;
}

static void joinsFiles(void** state) {
    (void)state;
    put("parts/common.json",
        "{ // what all scenes share\n"
        "  \"tippe\": 1, \"parameters\": { \"mu\": 0.1, \"n\": \"2 * k\", \"k\": 1 },\n"
        "  \"gravity\": [0, 0, -9.81], \"materials\": { \"wood\": { \"friction\": \"mu\" } },\n"
        "  \"bodies\": [ { \"repeat\": { \"i\": \"n\" }, \"name\": \"post{i}\",\n"
        "    \"kind\": \"fixed\", \"shapes\": [ { \"type\": \"mesh\", \"file\": \"a.obj\" } ] } "
        "],\n"
        "  " SIMULATION " }");
    put("parts/more.json", "{ \"tippe\": 1, \"include\": \"common.json\", \"gravity\": [0, 0, -1],"
                           " \"materials\": { \"ice\": {} } }");
    put("scene.json",
        "{ \"tippe\": 1, \"include\": [\"parts/common.json\", \"parts/more.json\"],\n"
        "  \"parameters\": { \"mu\": 0.5, \"k\": 2 },\n"
        "  \"bodies\": [ { \"name\": \"ball\", \"mass\": \"n\", \"inertia\": [1, 1, 1] } ],\n"
        "  \"simulation\": { \"step\": 0.5, \"until\": 2 } }");
    tpScene* scene = get("scene.json");
    // The scene's parameters, in the files that it includes too.
    assert_int_equal(scene->materials.count, 2);
    assert_true(scene->materials.items[0].friction.number == 0.5);
    assert_int_equal(scene->bodies.count, 5);
    assert_string_equal(scene->bodies.items[0].name.text, "post0");
    assert_string_equal(scene->bodies.items[4].name.text, "ball");
    assert_true(scene->bodies.items[4].mass == 4.0);
    // What is said later stays; a file that is included twice is read once.
    assert_true(scene->gravity.z == -1.0);
    assert_true(scene->simulation.step == 0.5);
    // What an included file names lies beside it.
    assert_string_equal(scene->bodies.items[0].shapes.items[0].file.text, "parts/a.obj");
    assert_int_equal(scene->fileCount, 3);
    assert_string_equal(tpScene_GetPath(scene, scene->bodies.items[0].part.place),
                        in("parts/common.json"));
    assert_string_equal(tpScene_GetPath(scene, scene->bodies.items[4].part.place),
                        in("scene.json"));

    int counts[4] = { 0 };
    tpScene_VisitFiles(scene, countFile, counts);
    assert_true(counts[tp_sceneFile] == 1 && counts[tp_includedFile] == 2);
    assert_true(counts[tp_surfaceFile] >= 1 && counts[tp_referenceFile] == 0);

    // Written, it is one plain file that means the same.
    char* text;
    size_t length;
    tpError error;
    tpScene* again;
    assert_int_equal(tpFormatScene(scene, NULL, &text, &length, &error), tp_success);
    assert_null(strstr(text, "include"));
    assert_null(strstr(text, "repeat"));
    assert_int_equal(tpParseScene(text, length, "again", NULL, &again, &error), tp_success);
    assert_int_equal(again->bodies.count, 5);
    assert_true(again->materials.items[0].friction.number == 0.5);
    tpDestroyScene(again);
    tpReleaseSceneText(NULL, text, length);
    tpDestroyScene(scene);
}

// The scene asks for "inner.json", which holds `inner`; the error is at `place` of `file`.
static void expectFault(const char* inner, const char* file, const char* place,
                        const char* message) {
    put("inner.json", inner);
    put("outer.json",
        "{ \"tippe\": 1, \"include\":\n \"inner.json\", \"bodies\": [], " SIMULATION " }");
    char outer[220], expected[400];
    snprintf(outer, sizeof(outer), "%s", in("outer.json"));
    snprintf(expected, sizeof(expected), "%s:%s: ", in(file), place);
    tpScene* scene;
    tpError error = { tp_success, "" };
    assert_int_equal(tpReadScene(outer, NULL, &scene, &error), tp_badInput);
    assert_null(scene);
    if (strncmp(error.message, expected, strlen(expected)) != 0 ||
        strstr(error.message, message) == NULL) {
        fail_msg("expected %s...%s\nfound %s", expected, message, error.message);
    }
}

static void faultsNameTheirFile(void** state) {
    (void)state;
    expectFault("{ \"tippe\": 1,\n  \"bodys\": [] }", "inner.json", "2:3", "\"bodies\"?");
    expectFault("{ \"tippe\": 1\n  \"bodies\": [] }", "inner.json", "2:3", "expected ','");
    expectFault("[]", "inner.json", "1:1", "expected a scene");
    expectFault("{ \"tippe\": 2 }", "inner.json", "1:12", "version 1");
    expectFault("{ \"parameters\": { \"a\":\n \"b\" } }", "inner.json", "2:2", "unknown name 'b'");
    expectFault("{ \"bodies\": [ { \"repeat\": { \"i\": 2 }, \"name\": \"b\",\n"
                "  \"kind\": \"fixed\" } ] }",
                "inner.json", "1:47", "two bodies are called");
    expectFault("{ \"forces\": [ { \"body\": \"x\" } ] }", "inner.json", "1:25", "unknown body");
    expectFault("{ \"include\": \"missing.json\" }", "inner.json", "1:14", "missing.json");
    expectFault("{ \"include\": 7 }", "inner.json", "1:14", "the path of a file");
    expectFault("{ \"include\": \"outer.json\" }", "inner.json", "1:14", "in a circle");
    expectFault("{ \"include\": \"inner.json\" }", "inner.json", "1:14", "in a circle");
    expectFault("{ \"include\": \".\" }", "inner.json", "1:14", "");
    // The scene's own keys that no file gives are missed at the scene.
    put("alone.json", "{ \"include\": \"none.json\" }");
    put("none.json", "{}");
    tpScene* scene;
    tpError error;
    char alone[220];
    snprintf(alone, sizeof(alone), "%s", in("alone.json"));
    assert_int_equal(tpReadScene(alone, NULL, &scene, &error), tp_badInput);
    assert_non_null(strstr(error.message, "alone.json:1:1: a scene needs the key"));
}

static void waitsForNoPipe(void** state) {
    (void)state;
    assert_int_equal(mkfifo(in("pipe.json"), 0600), 0);
    expectFault("{ \"include\": \"pipe.json\" }", "inner.json", "1:14", "named pipe");
}

static int makeFolder(void** state) {
    (void)state;
    return mkdtemp(folder) != NULL && mkdir(in("parts"), 0700) == 0 ? 0 : -1;
}

static int removeFolder(void** state) {
    (void)state;
    static const char* const files[] = { "parts/common.json", "parts/more.json", "scene.json",
                                         "inner.json",        "outer.json",      "alone.json",
                                         "none.json",         "pipe.json" };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
        unlink(in(files[i]));
    }
    rmdir(in("parts"));
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joinsFiles),
        cmocka_unit_test(faultsNameTheirFile),
        cmocka_unit_test(waitsForNoPipe),
    };
    return cmocka_run_group_tests(tests, makeFolder, removeFolder);
}
