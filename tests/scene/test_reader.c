// Reading: every key arrives where it belongs; memory may fail; the locale does not matter.

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "full_scene.h"
#include "support/check.h"
#include "support/failing_allocator.h"
#include "tippe/scene.h"

static tpScene* parse(const char* text) {
    tpScene* scene;
    tpError error;
    if (tpParseScene(text, strlen(text), "dir/scene.json", NULL, &scene, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    return scene;
}

static bool isPlace(tpScenePlace place, int line, int column) {
    return place.line == line && place.column == column;
}

static void readWhole(void** state) {
    (void)state;
    tpScene* scene = parse(fullScene);
    assert_string_equal(scene->name.text, "All \"keys\"");
    assert_string_equal(scene->about.text, "Line one\nline two, \xC3\xA4");
    assert_string_equal(scene->reference.text, "known.csv");
    assert_string_equal(scene->path, "dir/scene.json");
    assert_string_equal(scene->text, fullScene);
    assert_false(scene->planar);
    assert_true(tpScenePart_Gives(&scene->part, "planar"));
    CHECK_VEC3(scene->gravity, tpMakeVec3(0.0, -9.81, 0.1), 0.0);
    assert_int_equal(scene->materials.count, 3);
    assert_int_equal(scene->pairs.count, 2);
    assert_int_equal(scene->bodies.count, 6);
    assert_int_equal(scene->joints.count, 5);
    assert_int_equal(scene->forces.count, 2);
    assert_true(isPlace(scene->bodies.items[0].part.place, 14, 5));
    assert_true(isPlace(scene->bodies.items[0].name.place, 14, 15));
    tpDestroyScene(scene);
}

static void readMaterials(void** state) {
    (void)state;
    tpScene* scene = parse(fullScene);
    const tpSceneMaterial* wood = &scene->materials.items[0];
    const tpSceneMaterial* steel = &scene->materials.items[1];
    assert_string_equal(wood->name.text, "wood");
    assert_true(wood->friction.number == 0.6 && wood->restitution == 0.25);
    assert_null(wood->friction.part.record);
    assert_true(steel->friction.staticCoefficient == 0.5);
    assert_true(steel->friction.torsional == 7e-5 && steel->friction.ellipse[1] == 0.5);
    assert_false(tpScenePart_Gives(&steel->part, "restitution"));
    const tpScenePair* pair = &scene->pairs.items[0];
    assert_true(pair->between[0].index == 0 && pair->between[1].index == 2);
    assert_false(tpScenePart_Gives(&pair->part, "restitution"));
    tpDestroyScene(scene);
}

static void readBodies(void** state) {
    (void)state;
    tpScene* scene = parse(fullScene);
    const tpSceneBody* ground = &scene->bodies.items[0];
    assert_int_equal(ground->kind, tp_fixedBody);
    assert_int_equal(ground->material.index, 0);
    assert_int_equal(ground->shapes.items[0].type, tp_planeShape);
    const tpSceneShape* field = &ground->shapes.items[1];
    assert_true(field->columns == 3 && field->rows == 2 && field->heights.count == 6);
    assert_true(field->heights.values[3] == 0.3 && field->spacing[1] == 1.0);
    const tpSceneBody* lift = &scene->bodies.items[2];
    assert_true(lift->keyframes.count == 2 && lift->keyframes.items[1].time == 2.0);
    assert_true(lift->keyframes.items[1].rotation.degrees == 90.0);
    const tpSceneBody* top = &scene->bodies.items[3];
    assert_true(top->mass == 2.0 && top->inertia.count == 6 && top->inertia.values[4] == -0.02);
    assert_true(top->rotation.quaternion[3] == 2.0 && top->damping.angular == 0.2);
    assert_true(top->shapes.items[0].group == 2 && top->shapes.items[0].mask == 5);
    assert_int_equal(top->shapes.items[0].material.index, 2);
    const tpSceneBody* more = &scene->bodies.items[5];
    assert_true(more->shapes.items[1].points.count == 4);
    assert_true(more->shapes.items[1].points.values[11] == 5.0);
    assert_int_equal(more->shapes.items[3].of.count, 2);
    assert_int_equal(more->shapes.items[3].of.items[1].type, tp_boxShape);
    // What is left out has its default.
    assert_true(more->shapes.items[0].group == 1 && more->shapes.items[0].mask == UINT32_MAX);
    assert_null(more->material.name);
    tpDestroyScene(scene);
}

static void readJointsAndForces(void** state) {
    (void)state;
    tpScene* scene = parse(fullScene);
    const tpSceneJoint* hinge = &scene->joints.items[0];
    assert_int_equal(hinge->type, tp_revoluteJoint);
    assert_true(hinge->bodies[0].index == 3 && hinge->bodies[1].index == -1);
    assert_true(hinge->laws.limits[0] == -1.0 && hinge->laws.motor.effort == 4.0 && hinge->collide);
    assert_true(hinge->laws.spring.rest == 0.1 && hinge->laws.friction == 0.7);
    assert_true(scene->joints.items[1].anchors[0].y == 3.0);
    assert_true(scene->joints.items[3].ratio == -2.0);
    const tpSceneForce* force = &scene->forces.items[0];
    assert_true(force->body.index == 3 && force->frame == tp_bodyFrame && force->from == 0.5);
    assert_true(scene->simulation.step == 0.0025 && tpScene_GetStepCount(scene) == 400);
    assert_int_equal(tpScene_GetStepper(scene), tp_freeFlight);
    tpDestroyScene(scene);
}

static void overrideScene(void** state) {
    (void)state;
    tpScene* scene = parse(fullScene);
    tpError error;
    tpSceneOverrides overrides = {
        .stepper = "anitescu", .step = 0.3, .until = 1.0, .hasUntil = true
    };
    assert_int_equal(tpScene_Override(scene, &overrides, &error), tp_success);
    assert_int_equal(tpScene_GetStepper(scene), tp_anitescu);
    assert_int_equal(tpScene_GetStepCount(scene), 3); // round(3.33)
    overrides = (tpSceneOverrides){ .stepper = "anitesc" };
    assert_int_equal(tpScene_Override(scene, &overrides, &error), tp_badInput);
    assert_non_null(strstr(error.message, "did you mean \"anitescu\"?"));
    overrides = (tpSceneOverrides){ .step = -1.0 };
    assert_int_equal(tpScene_Override(scene, &overrides, &error), tp_badInput);
    overrides = (tpSceneOverrides){ .until = NAN, .hasUntil = true };
    assert_int_equal(tpScene_Override(scene, &overrides, &error), tp_badInput);
    const char* wrong[] = { "no_such_option=1", "novalue", "=1" };
    for (int i = 0; i < 3; ++i) {
        overrides = (tpSceneOverrides){ .options = &wrong[i], .optionCount = 1 };
        assert_int_equal(tpScene_Override(scene, &overrides, &error), tp_badInput);
    }
    // What failed changed nothing.
    assert_int_equal(tpScene_GetStepper(scene), tp_anitescu);
    assert_true(scene->simulation.step == 0.3 && scene->simulation.options.count == 0);
    tpDestroyScene(scene);
}

// Every option of every stepper can be set, is kept, and is checked.
static void overrideOptions(void** state) {
    (void)state;
    for (int i = 0; i < tpOptionCount(); ++i) {
        const tpOptionInfo* info = tpOption(i);
        char text[128];
        if (info->kind == tp_choiceOption) {
            snprintf(text, sizeof(text), "%s=%s", info->name, info->choices[0]);
        } else if (info->kind == tp_booleanOption) {
            snprintf(text, sizeof(text), "%s=on", info->name);
        } else {
            snprintf(text, sizeof(text), "%s=%.17g", info->name, info->defaultValue);
        }
        tpScene* scene = parse(fullScene);
        tpError error;
        const char* item = text;
        tpSceneOverrides overrides = { .options = &item, .optionCount = 1 };
        assert_int_equal(tpScene_Override(scene, &overrides, &error), tp_success);
        assert_int_equal(tpScene_Override(scene, &overrides, &error), tp_success);
        assert_int_equal(scene->simulation.options.count, 1);
        if (info->kind == tp_booleanOption) {
            assert_string_equal(scene->simulation.options.items[0].value, "true");
        }
        snprintf(text, sizeof(text), "%s=?", info->name);
        assert_int_equal(tpScene_Override(scene, &overrides, &error), tp_badInput);
        assert_non_null(strstr(error.message, info->name));
        tpDestroyScene(scene);
    }
}

static void surviveFailingMemory(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    for (int n = 1;; ++n) {
        heap.requests = 0;
        heap.failAt = n;
        tpScene* scene;
        tpError error;
        tpResult result =
            tpParseScene(fullScene, strlen(fullScene), "s", &allocator, &scene, &error);
        assert_int_equal(result, scene != NULL ? tp_success : tp_outOfMemory);
        tpDestroyScene(scene);
        assert_int_equal(heap.outstanding, 0);
        assert_int_equal(heap.bytes, 0);
        if (heap.requests < n) {
            assert_int_equal(result, tp_success);
            break;
        }
    }
}

// A locale in which numbers have a decimal comma, made on the spot where none is installed.
static bool enterCommaLocale(void) {
    char directory[] = "/tmp/tippe_locale_XXXXXX";
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL && mkdtemp(directory) != NULL) {
        char command[200];
        snprintf(command, sizeof(command), "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null",
                 directory);
        if (system(command) == 0) {
            setenv("LOCPATH", directory, 1);
            setlocale(LC_ALL, "de_DE.UTF-8");
        }
        snprintf(command, sizeof(command), "rm -r %s", directory);
        assert_int_equal(system(command), 0);
    }
    return localeconv()->decimal_point[0] == ',';
}

// There the same file gives the same numbers, and the same text again.
static void ignoreLocale(void** state) {
    (void)state;
    tpScene* scene = parse(fullScene);
    tpError error;
    char *text, *there;
    size_t length, lengthThere;
    assert_int_equal(tpFormatScene(scene, NULL, &text, &length, &error), tp_success);
    tpDestroyScene(scene);
    bool isThere = enterCommaLocale();
    if (isThere) {
        scene = parse(fullScene);
        assert_true(scene->simulation.step == 0.0025);
        assert_int_equal(tpFormatScene(scene, NULL, &there, &lengthThere, &error), tp_success);
        assert_string_equal(text, there);
        tpReleaseSceneText(NULL, there, lengthThere);
        tpDestroyScene(scene);
    }
    setlocale(LC_ALL, "C");
    tpReleaseSceneText(NULL, text, length);
    if (!isThere) {
        print_message("no locale with a decimal comma could be had\n");
        skip();
    }
}

// A scene of many megabytes on a single line is read in a time that grows no faster than the file.
static void readLargeScene(void** state) {
    (void)state;
    enum { bodyCount = 60000 };
    size_t size = (size_t)bodyCount * 160 + 200;
    char* text = malloc(size);
    size_t length = (size_t)snprintf(text, size,
                                     "{\"tippe\":1,\"simulation\":{\"step\":1,\"until\":1},"
                                     "\"bodies\":[");
    for (int i = 0; i < bodyCount; ++i) {
        length += (size_t)snprintf(text + length, size - length,
                                   "%s{\"name\":\"b%d\",\"density\":1,\"position\":[%d,0.5,-1e-3],"
                                   "\"shapes\":[{\"type\":\"sphere\",\"radius\":0.25}]}",
                                   i > 0 ? "," : "", i, i);
    }
    length += (size_t)snprintf(text + length, size - length, "]}");
    clock_t start = clock();
    tpScene* scene;
    tpError error;
    assert_int_equal(tpParseScene(text, length, "large", NULL, &scene, &error), tp_success);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    assert_int_equal(scene->bodies.count, bodyCount);
    assert_int_equal(scene->bodies.items[bodyCount - 1].part.place.line, 1);
    tpDestroyScene(scene);
    free(text);
    CHECK_BELOW(seconds, 5.0); // some 0.05 s optimised; a quadratic reader needs minutes
}

static void newerVersionsAreRefused(void** state) {
    (void)state;
    static const char format[] = "{ \"tippe\": %d, \"bodies\": [], "
                                 "\"simulation\": { \"step\": 0.01, \"until\": 1 } }";
    for (int version = tpSceneVersion(); version <= TP_SCENE_VERSION + 1; ++version) {
        char text[128];
        int length = snprintf(text, sizeof(text), format, version);
        tpScene* scene;
        tpError error = { tp_success, "" };
        tpResult result = tpParseScene(text, (size_t)length, "a.json", NULL, &scene, &error);
        assert_int_equal(result, version == TP_SCENE_VERSION ? tp_success : tp_badInput);
        assert_true(result == tp_success || strstr(error.message, "version 1, found 2") != NULL);
        tpDestroyScene(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newerVersionsAreRefused),
        cmocka_unit_test(readWhole),
        cmocka_unit_test(readMaterials),
        cmocka_unit_test(readBodies),
        cmocka_unit_test(readJointsAndForces),
        cmocka_unit_test(overrideScene),
        cmocka_unit_test(overrideOptions),
        cmocka_unit_test(surviveFailingMemory),
        cmocka_unit_test(ignoreLocale),
        cmocka_unit_test(readLargeScene),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
