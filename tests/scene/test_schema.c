// The JSON Schema and the page of the documentation say what the reader does.

#include <stdlib.h>
#include <string.h>

#include "scene/json_check.h"
#include "scene/schema.h"
#include "support/check.h"
#include "support/failing_allocator.h"

static char* readFile(const char* path) {
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    enum { most = 1 << 20 };
    char* text = malloc(most);
    size_t length = fread(text, 1, most - 1, file);
    fclose(file);
    text[length] = '\0';
    return text;
}

static void schemaIsCurrent(void** state) {
    (void)state;
    char* text;
    size_t length;
    tpError error;
    assert_int_equal(tpFormatSceneSchema(NULL, &text, &length, &error), tp_success);
    char* kept = readFile(TIPPE_SOURCE_DIR "/docs/scene.schema.json");
    if (strcmp(kept, text) != 0) {
        fail_msg("docs/scene.schema.json has fallen behind: run tools/update_docs.sh");
    }
    free(kept);
    tpReleaseSceneText(NULL, text, length);
}

static void pageIsCurrent(void** state) {
    (void)state;
    char* tables;
    size_t length;
    tpError error;
    assert_int_equal(tpFormatSceneVocabulary(NULL, &tables, &length, &error), tp_success);
    char* page = readFile(TIPPE_SOURCE_DIR "/docs/scenes.md");
    const char* start = strstr(page, "<!-- vocabulary:");
    const char* end = strstr(page, "<!-- end of vocabulary");
    assert_true(start != NULL && end != NULL);
    start = strchr(start, '\n') + 1;
    if ((size_t)(end - start) != length || memcmp(start, tables, length) != 0) {
        fail_msg("docs/scenes.md has fallen behind: run tools/update_docs.sh");
    }
    free(page);
    tpReleaseSceneText(NULL, tables, length);
}

// The example of the page is a scene, and a world.
static void exampleIsRight(void** state) {
    (void)state;
    char* page = readFile(TIPPE_SOURCE_DIR "/docs/scenes.md");
    char* start = strstr(page, "```json\n");
    assert_non_null(start);
    start += strlen("```json\n");
    size_t length = (size_t)(strstr(start, "```") - start);
    tpScene* scene;
    tpWorld* world = NULL;
    tpError error;
    if (tpParseScene(start, length, "example", NULL, &scene, &error) != tp_success ||
        tpScene_CreateWorld(scene, NULL, 1, &world, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    assert_int_equal(tpWorld_GetBodyCount(world), 2);
    tpDestroyWorld(world);
    tpDestroyScene(scene);
    free(page);
}

// It is JSON, and every key of every record is in it with its words.
static void schemaIsWhole(void** state) {
    (void)state;
    char* text;
    size_t length;
    tpError error;
    assert_int_equal(tpFormatSceneSchema(NULL, &text, &length, &error), tp_success);
    tpJsonFault fault;
    assert_true(tpCheckJson(text, length, &fault));
    tpRecordList list;
    tpListRecords(&list);
    assert_true(list.count > 20);
    for (int i = 0; i < list.count; ++i) {
        const tpRecord* record = list.records[i];
        char definition[80];
        snprintf(definition, sizeof(definition),
                 "    \"%s\": {\n      \"description\": ", record->name);
        assert_true(i == 0 || strstr(text, definition) != NULL);
        assert_true(tpRecord_FieldCount(record) <= tp_mostFields);
        for (int k = 0; k < tpRecord_FieldCount(record); ++k) {
            const tpField* field = tpRecord_Field(record, k);
            char key[80];
            snprintf(key, sizeof(key), "\"%s\": {\n", field->key);
            assert_non_null(strstr(text, key));
            assert_non_null(field->summary);
            assert_int_equal(tpRecord_Find(record, field->key), k); // no key stands twice
            assert_true(field->kind != tp_choiceField || field->choices != NULL);
            assert_true(field->kind != tp_recordField || field->record != NULL);
            assert_true((field->kind != tp_listField && field->kind != tp_mapField) ||
                        field->family != NULL);
        }
    }
    tpReleaseSceneText(NULL, text, length);
}

static void surviveFailingMemory(void** state) {
    (void)state;
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    for (int n = 1;; ++n) {
        heap.requests = 0;
        heap.failAt = n;
        char* text;
        size_t length;
        tpError error;
        tpResult result = tpFormatSceneSchema(&allocator, &text, &length, &error);
        assert_int_equal(result, text != NULL ? tp_success : tp_outOfMemory);
        if (text != NULL) {
            tpReleaseSceneText(&allocator, text, length);
        }
        assert_int_equal(heap.outstanding, 0);
        if (heap.requests < n) {
            assert_int_equal(result, tp_success);
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemaIsCurrent),      cmocka_unit_test(pageIsCurrent),
        cmocka_unit_test(exampleIsRight),       cmocka_unit_test(schemaIsWhole),
        cmocka_unit_test(surviveFailingMemory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
