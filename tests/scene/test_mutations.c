// Thousands of damaged scenes: each is read or refused with a place, and nothing else happens.
//
// The damage is done by bytes (as a disk would), by tokens (as a hurried writer would) and by
// values (as a script would). TIPPE_MUTATIONS multiplies the number of tries.

#include <stdlib.h>
#include <string.h>

#include "full_scene.h"
#include "support/check.h"
#include "tippe/scene.h"

enum { longest = 2 * sizeof(fullScene) };

typedef struct tpMutant {
    char text[longest];
    size_t length;
} tpMutant;

static size_t randomBelow(tpRandom* random, size_t limit) {
    return limit > 0 ? (size_t)(randomBits(random) % limit) : 0;
}

static void replace(tpMutant* mutant, size_t at, size_t removed, const char* inserted,
                    size_t added) {
    if (mutant->length - removed + added >= longest) {
        return;
    }
    memmove(mutant->text + at + added, mutant->text + at + removed, mutant->length - at - removed);
    memcpy(mutant->text + at, inserted, added);
    mutant->length += added - removed;
}

static void damageByte(tpMutant* mutant, tpRandom* random) {
    size_t at = randomBelow(random, mutant->length);
    char byte = (char)randomBits(random);
    size_t choice = randomBelow(random, 3);
    replace(mutant, at, choice == 1 ? 0 : 1, &byte, choice == 2 ? 0 : 1);
}

// The start and the length of a random token.
static size_t findToken(const tpMutant* mutant, tpRandom* random, size_t* length) {
    static const char breaks[] = " \n,:[]{}";
    size_t at = randomBelow(random, mutant->length);
    while (at > 0 && strchr(breaks, mutant->text[at - 1]) == NULL) {
        at -= 1;
    }
    *length = 1;
    while (at + *length < mutant->length && strchr(breaks, mutant->text[at]) == NULL &&
           strchr(breaks, mutant->text[at + *length]) == NULL) {
        *length += 1;
    }
    return at;
}

static void damageToken(tpMutant* mutant, tpRandom* random) {
    size_t length, otherLength;
    size_t at = findToken(mutant, random, &length);
    size_t other = findToken(mutant, random, &otherLength);
    char copy[200];
    otherLength = otherLength < sizeof(copy) ? otherLength : sizeof(copy);
    memcpy(copy, mutant->text + other, otherLength);
    switch (randomBelow(random, 3)) {
    case 0:
        replace(mutant, at, length, "", 0);
        break;
    case 1:
        replace(mutant, at, length, copy, otherLength);
        break;
    default:
        replace(mutant, at, 0, copy, otherLength);
        break;
    }
}

static void damageValue(tpMutant* mutant, tpRandom* random) {
    static const char* const values[] = {
        "0",    "-1",   "1e308", "-1e308", "1e-320",  "1e999",     "null",
        "true", "[]",   "{}",    "\"\"",   "\"a\"",   "[0, 0, 0]", "4294967296",
        "0.5",  "1.25", "100",   "0.001",  "\"top\"", "\"wood\"",  "[[0, 0, 0]]",
    };
    const char* value = values[randomBelow(random, sizeof(values) / sizeof(values[0]))];
    size_t length = 0, at = 0;
    for (int i = 0; i < 50; ++i) { // a number, if there is one to be found
        at = findToken(mutant, random, &length);
        if (strchr("-0123456789", mutant->text[at]) != NULL) {
            break;
        }
    }
    replace(mutant, at, length, value, strlen(value));
}

static void damageEnd(tpMutant* mutant, tpRandom* random) {
    mutant->length = randomBelow(random, mutant->length + 1);
}

// "scene.json:LINE:COLUMN: " with a place inside the text, then words.
static void checkMessage(const tpMutant* mutant, const char* message) {
    int line, column, length = 0;
    if (sscanf(message, "scene.json:%d:%d: %n", &line, &column, &length) != 2 || length == 0 ||
        strlen(message + length) < 5) {
        fail_msg("no place in: %s", message);
    }
    int lines = 1;
    for (size_t i = 0; i < mutant->length; ++i) {
        lines += mutant->text[i] == '\n';
    }
    assert_true(line >= 1 && line <= lines && column >= 1 && column <= (int)mutant->length + 1);
}

// All errors: the same one first, the others in the order of their places.
static void checkErrors(const tpMutant* mutant, const char* text, const tpError* first) {
    tpScene* scene;
    tpSceneErrors errors;
    assert_int_equal(tpParseSceneErrors(text, mutant->length, "scene.json", NULL, &scene, &errors),
                     first->result);
    assert_null(scene);
    assert_true(errors.count >= 1 && errors.count <= TP_MOST_SCENE_ERRORS);
    assert_string_equal(errors.list[0].message, first->message);
    int lastLine = 0, lastColumn = 0;
    for (int i = 1; i < errors.count; ++i) {
        int line = 0, column = 0;
        checkMessage(mutant, errors.list[i].message);
        sscanf(errors.list[i].message, "scene.json:%d:%d", &line, &column);
        assert_true(line > lastLine || (line == lastLine && column >= lastColumn));
        lastLine = line;
        lastColumn = column;
    }
}

// A scene that is still right must also survive being written and, where that is cheap, built and
// stepped.
static void checkAccepted(tpScene* scene, bool isCheap, bool isStepped) {
    tpError error;
    char* text;
    size_t length;
    assert_int_equal(tpFormatScene(scene, NULL, &text, &length, &error), tp_success);
    tpScene* again;
    if (tpParseScene(text, length, "again", NULL, &again, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    tpDestroyScene(again);
    tpReleaseSceneText(NULL, text, length);
    tpWorld* world = NULL;
    if (isCheap) {
        error.message[0] = '\0';
        tpResult result = tpScene_CreateWorld(scene, NULL, 1, &world, &error);
        assert_true(result == tp_success || strncmp(error.message, "scene.json:", 11) == 0);
    }
    // Seldom (the fuzzer steps them all): at absurd speeds a step is divided into a great many
    // turns, and solves of absurd numbers go on until their work is used up.
    if (world != NULL && isStepped && scene->simulation.step <= 0.1) {
        tpWorld_Step(world, scene->simulation.step);
    }
    tpDestroyWorld(world);
}

static void damageScenes(void** state) {
    (void)state;
    static void (*const damages[])(tpMutant*, tpRandom*) = { damageByte, damageToken, damageValue,
                                                             damageValue, damageEnd };
    const char* more = getenv("TIPPE_MUTATIONS");
    int tries = 10000 * (more != NULL ? atoi(more) : 1);
    tpRandom random = { 2026 };
    int accepted = 0, refused = 0;
    static tpMutant mutant;
    for (int i = 0; i < tries; ++i) {
        bool isPlain = randomBelow(&random, 2) == 0;
        const char* seed = isPlain ? plainScene : fullScene;
        mutant.length = strlen(seed);
        memcpy(mutant.text, seed, mutant.length);
        size_t rounds = 1 + randomBelow(&random, 3);
        size_t kind = randomBelow(&random, sizeof(damages) / sizeof(damages[0]));
        for (size_t k = 0; k < rounds && mutant.length > 0; ++k) {
            damages[kind](&mutant, &random);
        }
        // In memory of its own size, so that a sanitizer sees a read past the end.
        char* text = malloc(mutant.length > 0 ? mutant.length : 1);
        memcpy(text, mutant.text, mutant.length);
        tpScene* scene;
        tpError error = { tp_success, "" };
        tpResult result = tpParseScene(text, mutant.length, "scene.json", NULL, &scene, &error);
        if (result != tp_success) {
            checkErrors(&mutant, text, &error);
        }
        free(text);
        if (result == tp_success) {
            checkAccepted(scene, isPlain, accepted % 256 == 0);
            accepted += 1;
        } else {
            assert_int_equal(result, tp_badInput);
            checkMessage(&mutant, error.message);
            refused += 1;
        }
        tpDestroyScene(scene);
    }
    print_message("%d read, %d refused\n", accepted, refused);
    assert_true(accepted > tries / 20 && refused > tries / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(damageScenes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
