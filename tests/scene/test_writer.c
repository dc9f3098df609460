// Writing: what is written reads back as the same document, to the last bit of every number.

#include <dirent.h>
#include <float.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "full_scene.h"
#include "scene/text.h"
#include "scene/vocabulary.h"
#include "support/check.h"
#include "support/failing_allocator.h"

static tpScene* parse(const char* text, size_t length) {
    tpScene* scene;
    tpError error;
    if (tpParseScene(text, length, "scene.json", NULL, &scene, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    return scene;
}

// Equality of documents -----------------------------------------------------------------------

static bool isSameText(const tpSceneText* a, const tpSceneText* b) {
    return (a->text == NULL) == (b->text == NULL) &&
           (a->text == NULL || strcmp(a->text, b->text) == 0);
}

static bool isSameReference(const tpSceneReference* a, const tpSceneReference* b) {
    return a->index == b->index && (a->name == NULL) == (b->name == NULL);
}

static bool isSameRecord(const void* a, const void* b);

static bool isSameNumbers(const tpSceneNumbers* a, const tpSceneNumbers* b, int width) {
    return a->count == b->count &&
           memcmp(a->values, b->values, sizeof(double) * (size_t)(a->count * width)) == 0;
}

static bool isSameList(const tpField* field, const void* a, const void* b) {
    tpSceneList first, second;
    memcpy(&first, a, sizeof(first));
    memcpy(&second, b, sizeof(second));
    bool isSame = first.count == second.count;
    for (int i = 0; isSame && i < first.count; ++i) {
        size_t at = field->family->size * (size_t)i;
        isSame = isSameRecord((const char*)first.items + at, (const char*)second.items + at);
    }
    return isSame;
}

static bool isSameFriction(const tpSceneFriction* a, const tpSceneFriction* b) {
    if (a->part.record == NULL || b->part.record == NULL) {
        return a->part.record == b->part.record &&
               memcmp(&a->number, &b->number, sizeof(double)) == 0;
    }
    return isSameRecord(a, b);
}

static bool isSameCoordinate(const tpSceneCoordinate* a, const tpSceneCoordinate* b) {
    return strcmp(a->name, b->name) == 0 && strcmp(a->axis, b->axis) == 0 && a->joint == b->joint;
}

static bool isSameTerms(const tpSceneTerms* a, const tpSceneTerms* b) {
    bool isSame = a->count == b->count;
    for (int i = 0; isSame && i < a->count; ++i) {
        isSame = isSameCoordinate(&a->items[i].of, &b->items[i].of) &&
                 memcmp(&a->items[i].factor, &b->items[i].factor, sizeof(double)) == 0;
    }
    return isSame;
}

// The bytes of plain members; everything that holds places or pointers by what it means.
static bool isSameField(const tpField* field, const void* partA, const void* partB) {
    static const size_t sizes[tp_fieldKindCount] = {
        [tp_versionField] = sizeof(uint32_t),      [tp_typeField] = sizeof(int32_t),
        [tp_choiceField] = sizeof(int32_t),        [tp_booleanField] = sizeof(bool),
        [tp_numberField] = sizeof(double),         [tp_integerField] = sizeof(uint32_t),
        [tp_pairField] = 2 * sizeof(double),       [tp_vectorField] = sizeof(tpVec3),
        [tp_quaternionField] = 4 * sizeof(double), [tp_twoPointsField] = 2 * sizeof(tpVec3),
        [tp_inertiaField] = 6 * sizeof(double),    [tp_colorField] = sizeof(tpColor),
        [tp_bitsField] = sizeof(uint32_t),
    };
    const void* a = tpConstMember(field, partA);
    const void* b = tpConstMember(field, partB);
    switch (field->kind) {
    case tp_textField:
    case tp_nameField:
    case tp_fileField:
    case tp_stepperField:
        return isSameText(a, b);
    case tp_bodyField:
    case tp_materialField:
        return isSameReference(a, b);
    case tp_twoBodiesField:
    case tp_twoMaterialsField:
        return isSameReference(a, b) &&
               isSameReference((const tpSceneReference*)a + 1, (const tpSceneReference*)b + 1);
    case tp_coordinateField:
        return isSameCoordinate(a, b);
    case tp_termsField:
        return isSameTerms(a, b);
    case tp_numbersField:
        return isSameNumbers(a, b, 1);
    case tp_points2Field:
        return isSameNumbers(a, b, 2);
    case tp_points3Field:
        return isSameNumbers(a, b, 3);
    case tp_frictionField:
        return isSameFriction(a, b);
    case tp_recordField:
        return isSameRecord(a, b);
    case tp_listField:
    case tp_mapField:
        return isSameList(field, a, b);
    case tp_optionsField:
        return ((const tpSceneOptions*)a)->count == ((const tpSceneOptions*)b)->count;
    default:
        assert_true(sizes[field->kind] > 0);
        return memcmp(a, b, sizes[field->kind]) == 0;
    }
}

static bool isSameRecord(const void* a, const void* b) {
    const tpScenePart* first = a;
    const tpScenePart* second = b;
    bool isSame = first->record == second->record && first->given == second->given;
    for (int i = 0; isSame && i < tpRecord_FieldCount(first->record); ++i) {
        if ((first->given >> i & 1) != 0) {
            const tpField* field = tpRecord_Field(first->record, i);
            isSame = isSameField(field, a, b);
            if (!isSame) {
                print_message("%s of %s differs\n", field->key, first->record->article);
            }
        }
    }
    return isSame;
}

// Tests ---------------------------------------------------------------------------------------

// Written and read again it is the same document, and written again the same text.
static void checkRoundTrip(const char* text, size_t length) {
    tpScene* scene = parse(text, length);
    tpError error;
    char *first, *second;
    size_t firstLength, secondLength;
    assert_int_equal(tpFormatScene(scene, NULL, &first, &firstLength, &error), tp_success);
    tpScene* again = parse(first, firstLength);
    assert_true(isSameRecord(scene, again));
    assert_int_equal(tpFormatScene(again, NULL, &second, &secondLength, &error), tp_success);
    assert_int_equal(firstLength, secondLength);
    assert_memory_equal(first, second, firstLength);
    tpReleaseSceneText(NULL, first, firstLength);
    tpReleaseSceneText(NULL, second, secondLength);
    tpDestroyScene(scene);
    tpDestroyScene(again);
}

static void keepFullScene(void** state) {
    (void)state;
    checkRoundTrip(fullScene, strlen(fullScene));
}

static void keepFilesIn(const char* directory) {
    DIR* entries = opendir(directory);
    assert_non_null(entries);
    int found = 0;
    for (struct dirent* entry; (entry = readdir(entries)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".json") != 0) {
            continue;
        }
        char path[1024];
        snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        tpScene* scene;
        tpError error;
        if (tpReadScene(path, NULL, &scene, &error) != tp_success) {
            fail_msg("%s", error.message);
        }
        checkRoundTrip(scene->text, scene->textLength);
        tpDestroyScene(scene);
        found += 1;
    }
    closedir(entries);
    assert_true(found > 0);
}

static void keepOurScenes(void** state) {
    (void)state;
    keepFilesIn(TIPPE_SOURCE_DIR "/scenes");
    keepFilesIn(TIPPE_SOURCE_DIR "/scenes/bench");
}

// Numbers of all sizes, the smallest, the largest, and those next to round ones.
static void keepNumbers(void** state) {
    (void)state;
    tpLocaleScope locale;
    assert_true(tpEnterCLocale(&locale));
    tpRandom random = { 3 };
    double special[] = { 0.0,
                         -0.0,
                         0.1,
                         1.0 / 3.0,
                         5e-324,
                         DBL_MIN,
                         DBL_MAX,
                         -DBL_MAX,
                         1e22,
                         1e23,
                         9007199254740993.0,
                         0x1.fffffffffffffp-1,
                         4.35,
                         2.2250738585072011e-308 };
    int specialCount = (int)(sizeof(special) / sizeof(special[0]));
    size_t longest = 0;
    for (int i = 0; i < 200000; ++i) {
        uint64_t bits = randomBits(&random);
        double number;
        memcpy(&number, &bits, sizeof(number));
        number = i < specialCount ? special[i] : number;
        if (!isfinite(number)) {
            continue;
        }
        char buffer[tp_numberLength];
        size_t length = (size_t)tpPrintNumber(buffer, number);
        longest = length > longest ? length : longest;
        double back = strtod(buffer, NULL);
        assert_memory_equal(&back, &number, sizeof(number));
    }
    assert_true(longest < tp_numberLength);
    char buffer[tp_numberLength];
    tpPrintNumber(buffer, 0.1);
    assert_string_equal(buffer, "0.1");
    tpPrintNumber(buffer, 1.0 / 3.0);
    assert_string_equal(buffer, "0.3333333333333333");
    tpLeaveCLocale(&locale);
}

// Through a whole scene: random bits as coordinates come back as they were.
static void keepCoordinates(void** state) {
    (void)state;
    tpRandom random = { 11 };
    for (int i = 0; i < 300; ++i) {
        double numbers[3];
        for (int k = 0; k < 3; ++k) {
            do {
                uint64_t bits = randomBits(&random);
                memcpy(&numbers[k], &bits, sizeof(bits));
            } while (!isfinite(numbers[k]));
        }
        char text[400];
        int length = snprintf(text, sizeof(text),
                              "{\"tippe\":1,\"gravity\":[%.17g,%.17g,%.17g],\"bodies\":[],"
                              "\"simulation\":{\"step\":1,\"until\":1}}",
                              numbers[0], numbers[1], numbers[2]);
        tpScene* scene = parse(text, (size_t)length);
        assert_memory_equal(&scene->gravity, numbers, sizeof(numbers));
        tpDestroyScene(scene);
        checkRoundTrip(text, (size_t)length);
    }
}

static void fitLines(void** state) {
    (void)state;
    tpScene* scene = parse(fullScene, strlen(fullScene));
    char* text;
    size_t length;
    tpError error;
    assert_int_equal(tpFormatScene(scene, NULL, &text, &length, &error), tp_success);
    for (const char* line = text; *line != '\0';) {
        size_t width = strcspn(line, "\n");
        assert_true(width <= 100);
        assert_true(width == 0 || line[width - 1] != ' ');
        line += width + 1;
    }
    tpReleaseSceneText(NULL, text, length);
    tpDestroyScene(scene);
}

// A brace in a text is read from two of them, and was written as one: the scene could not be read
// again, or said something else.
static void keepBraces(void** state) {
    (void)state;
    static const char scene[] =
        "{ \"tippe\": 1, \"name\": \"{{{{{{a}\", \"about\": \"{{2 + 2} is {2 + 2}\",\n"
        "  \"bodies\": [ { \"name\": \"b\", \"shapes\": [\n"
        "    { \"type\": \"mesh\", \"file\": \"a{{1}.obj\", \"density\": 1 } ] } ],\n"
        "  \"simulation\": { \"stepper\": \"anitescu\", \"step\": 0.01, \"until\": 1 } }";
    checkRoundTrip(scene, strlen(scene));
    tpScene* read = parse(scene, strlen(scene));
    assert_string_equal(read->name.text, "{{{a}");
    assert_string_equal(read->about.text, "{2 + 2} is 4");
    tpDestroyScene(read);
}

static void writeToFile(void** state) {
    (void)state;
    char directory[] = "/tmp/tippe_writer_XXXXXX";
    assert_non_null(mkdtemp(directory));
    char path[64], missing[64];
    snprintf(path, sizeof(path), "%s/scene.json", directory);
    snprintf(missing, sizeof(missing), "%s/none/scene.json", directory);
    tpScene* scene = parse(fullScene, strlen(fullScene));
    tpError error;
    assert_int_equal(tpWriteScene(scene, path, &error), tp_success);
    tpScene* again;
    assert_int_equal(tpReadScene(path, NULL, &again, &error), tp_success);
    assert_true(isSameRecord(scene, again));
    assert_int_equal(tpWriteScene(scene, missing, &error), tp_ioError);
    assert_non_null(strstr(error.message, "cannot be written: No such file"));
    tpDestroyScene(scene);
    tpDestroyScene(again);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(directory), 0); // and nothing else is left in it
}

static void surviveFailingMemory(void** state) {
    (void)state;
    tpScene* scene = parse(fullScene, strlen(fullScene));
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    for (int n = 1;; ++n) {
        heap.requests = 0;
        heap.failAt = n;
        char* text;
        size_t length;
        tpError error;
        tpResult result = tpFormatScene(scene, &allocator, &text, &length, &error);
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
    tpDestroyScene(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keepFullScene), cmocka_unit_test(keepOurScenes),
        cmocka_unit_test(keepNumbers),   cmocka_unit_test(keepCoordinates),
        cmocka_unit_test(fitLines),      cmocka_unit_test(keepBraces),
        cmocka_unit_test(writeToFile),   cmocka_unit_test(surviveFailingMemory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
