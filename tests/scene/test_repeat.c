// Repeats and formulas of scenes: they mean the same as the scene written out, and faults in them
// have a place and the indices at which they happen.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "marked_text.h"
#include "support/check.h"
#include "support/failing_allocator.h"
#include "tippe/scene.h"

#define END " ], \"simulation\": { \"step\": 0.01, \"until\": 1 } }"
#define BODIES(inside) "{ \"tippe\": 1, \"bodies\": [\n" inside END
#define WITH(parameters, inside)                                                                   \
    "{ \"tippe\": 1, \"parameters\": { " parameters " }, \"bodies\": [\n" inside END
#define SPHERE "\"density\": 1, \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ]"

static tpScene* readText(const char* text) {
    tpScene* scene;
    tpError error;
    if (tpParseScene(text, strlen(text), "scene.json", NULL, &scene, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    return scene;
}

// Written out again, two scenes have the same text.
static void expectSame(const char* text, const char* plain) {
    tpScene *scene = readText(text), *other = readText(plain);
    char *written, *otherWritten;
    size_t length, otherLength;
    tpError error;
    assert_int_equal(tpFormatScene(scene, NULL, &written, &length, &error), tp_success);
    assert_int_equal(tpFormatScene(other, NULL, &otherWritten, &otherLength, &error), tp_success);
    assert_string_equal(written, otherWritten);
    tpReleaseSceneText(NULL, written, length);
    tpReleaseSceneText(NULL, otherWritten, otherLength);
    tpDestroyScene(scene);
    tpDestroyScene(other);
}

static void meanTheSame(void** state) {
    (void)state;
    // A number of rounds, in names and values; comments of both kinds.
    expectSame(BODIES("{ \"repeat\": { \"i\": 3 }, /* three */ \"name\": \"b{i}\", " SPHERE
                      ", // balls\n \"position\": [\"0.5 * i\", 0, \"i ^ 2\"] }"),
               BODIES("{ \"name\": \"b0\", " SPHERE ", \"position\": [0, 0, 0] },"
                      "{ \"name\": \"b1\", " SPHERE ", \"position\": [0.5, 0, 1] },"
                      "{ \"name\": \"b2\", " SPHERE ", \"position\": [1, 0, 4] }"));
    // First and last, a step, a condition, a range that follows from an index, in order.
    expectSame(BODIES("{ \"name\": \"first\", \"kind\": \"fixed\" },"
                      "{ \"repeat\": { \"i\": [1, 5, 2], \"j\": [\"i\", \"i + 1\"] },"
                      "  \"where\": \"i != 3 || j > 3\", \"name\": \"b{i}_{j}\","
                      "  \"kind\": \"fixed\" },"
                      "{ \"name\": \"last\", \"kind\": \"fixed\" }"),
               BODIES("{ \"name\": \"first\", \"kind\": \"fixed\" },"
                      "{ \"name\": \"b1_1\", \"kind\": \"fixed\" },"
                      "{ \"name\": \"b1_2\", \"kind\": \"fixed\" },"
                      "{ \"name\": \"b3_4\", \"kind\": \"fixed\" },"
                      "{ \"name\": \"b5_5\", \"kind\": \"fixed\" },"
                      "{ \"name\": \"b5_6\", \"kind\": \"fixed\" },"
                      "{ \"name\": \"last\", \"kind\": \"fixed\" }"));
    // Several entries in each round, repeats within repeats, lists of lists.
    expectSame(BODIES("{ \"repeat\": { \"i\": 2 }, \"each\": ["
                      "  { \"name\": \"a{i}\", \"kind\": \"fixed\", \"shapes\": ["
                      "    { \"repeat\": { \"k\": \"i + 1\" }, \"type\": \"sphere\","
                      "      \"radius\": \"i + 1\", \"position\": [\"k\", 0, 0] } ] },"
                      "  { \"repeat\": { \"j\": \"i\" }, \"name\": \"c{i}-{j}\","
                      "    \"kind\": \"fixed\" } ] }"),
               BODIES("{ \"name\": \"a0\", \"kind\": \"fixed\", \"shapes\": ["
                      "   { \"type\": \"sphere\", \"radius\": 1, \"position\": [0, 0, 0] } ] },"
                      "{ \"name\": \"a1\", \"kind\": \"fixed\", \"shapes\": ["
                      "   { \"type\": \"sphere\", \"radius\": 2, \"position\": [0, 0, 0] },"
                      "   { \"type\": \"sphere\", \"radius\": 2, \"position\": [1, 0, 0] } ] },"
                      "{ \"name\": \"c1-0\", \"kind\": \"fixed\" }"));
    // None at all; a condition without a repeat; joints and forces as well.
    expectSame(WITH("\"n\": 2, \"heavy\": \"n > 1\"",
                    "{ \"repeat\": { \"i\": \"n + 1\" }, \"name\": \"b{i}\", " SPHERE " },"
                    "{ \"repeat\": { \"i\": 0 }, \"name\": \"b{i}\", " SPHERE " },"
                    "{ \"where\": \"heavy == 0\", \"name\": \"d\", " SPHERE " } ],"
                    "\"joints\": [ { \"repeat\": { \"i\": \"n\" }, \"type\": \"ball\","
                    "   \"bodies\": [\"b{i}\", \"b{i + 1}\"], \"anchor\": [0, 0, \"-i\"] } ],"
                    "\"forces\": [ { \"repeat\": { \"i\": 2 }, \"body\": \"b{2 * i}\","
                    "   \"force\": [1, \"n\", 0] }"),
               BODIES("{ \"name\": \"b0\", " SPHERE " }, { \"name\": \"b1\", " SPHERE " },"
                      "{ \"name\": \"b2\", " SPHERE " } ],"
                      "\"joints\": [ { \"type\": \"ball\", \"bodies\": [\"b0\", \"b1\"],"
                      "    \"anchor\": [0, 0, -0.0] }, { \"type\": \"ball\","
                      "    \"bodies\": [\"b1\", \"b2\"], \"anchor\": [0, 0, -1] } ],"
                      "\"forces\": [ { \"body\": \"b0\", \"force\": [1, 2, 0] },"
                      "   { \"body\": \"b2\", \"force\": [1, 2, 0] }"));
}

// Parameters follow from each other in any order; texts take values, {{ is a brace; formulas of the
// time keep t.
static void parametersHaveValues(void** state) {
    (void)state;
    tpScene* scene = readText(
        "{ \"tippe\": 1, \"parameters\": { \"a\": \"2 * b\", \"b\": 1.5, \"mu\": \"a / 10\" },\n"
        "  \"name\": \"with a = {a}, {{not}\", \"gravity\": [0, 0, \"-a * pi\"],\n"
        "  \"materials\": { \"wood\": { \"friction\": \"mu\" } },\n"
        "  \"bodies\": [ { \"name\": \"ball\", \"mass\": \"a\", \"inertia\": [1, 1, \"1\"] } ],\n"
        "  \"closed_form\": [ { \"body\": \"ball\", \"coordinate\": \"z\","
        "    \"formula\": \"1e0 * b * t + exp(0)\" } ],\n"
        "  \"simulation\": { \"step\": \"1 / 64\", \"until\": \"a\", \"options\": {"
        "    \"gamma\": \"b / 2\" } } }");
    assert_string_equal(scene->name.text, "with a = 3, {not}");
    assert_true(scene->gravity.z == -3.0 * 3.14159265358979323846);
    assert_true(scene->materials.items[0].friction.number == 0.3);
    assert_true(scene->bodies.items[0].mass == 3.0);
    assert_true(scene->simulation.step == 0.015625 && scene->simulation.until == 3.0);
    assert_string_equal(scene->simulation.options.items[0].value, "0.75");
    assert_true(tpScene_EvaluateClosedForm(scene, 0, 2.0) == 4.0);
    tpDestroyScene(scene);
}

// Values at random spread over [0, 1), and are the same everywhere.
static void randomNumbersRepeat(void** state) {
    (void)state;
    tpScene* scene = readText(BODIES("{ \"repeat\": { \"i\": 1000 }, \"name\": \"b{i}\", " SPHERE
                                     ", \"position\": [\"random(i)\", \"random(i + 0.5)\", 0] }"));
    double sum = 0.0, product = 0.0;
    assert_int_equal(scene->bodies.count, 1000);
    for (int i = 0; i < 1000; ++i) {
        tpVec3 p = scene->bodies.items[i].position;
        assert_true(p.x >= 0.0 && p.x < 1.0 && p.y >= 0.0 && p.y < 1.0);
        sum += p.x;
        product += (p.x - 0.5) * (p.y - 0.5);
    }
    assert_float_equal(sum / 1000.0, 0.5, 0.04);
    assert_float_equal(product / 1000.0, 0.0, 0.012);
    tpDestroyScene(scene);
}

// Very many bodies in a few lines; each has its own place.
static void manyBodies(void** state) {
    (void)state;
    tpScene* scene =
        readText(WITH("\"n\": 60", "{ \"repeat\": { \"i\": \"n\", \"j\": \"n\", \"k\": \"n\" },"
                                   " \"name\": \"b{i}-{j}-{k}\", " SPHERE
                                   ", \"position\": [\"i\", \"0.5 * j\", \"0.25 * k\"] }"));
    assert_int_equal(scene->bodies.count, 216000);
    const tpSceneBody* body = &scene->bodies.items[12 * 3600 + 34 * 60 + 56];
    assert_string_equal(body->name.text, "b12-34-56");
    assert_true(body->position.x == 12.0 && body->position.y == 17.0 && body->position.z == 14.0);
    assert_int_equal(body->shapes.count, 1);
    tpDestroyScene(scene);
}

// Faults ------------------------------------------------------------------------------------------

typedef struct tpCase {
    const char* text; // the place is marked by '@'
    const char* message;
} tpCase;

static const tpCase faults[] = {
    { BODIES("{ \"repeat\": @3, \"name\": \"a\" }"), "takes an object of indices" },
    { BODIES("{ \"repeat\": { \"i\": @-1 }, \"name\": \"a\" }"), "a whole number from 0" },
    { BODIES("{ \"repeat\": { \"i\": @2.5 }, \"name\": \"a\" }"), "a whole number from 0" },
    { BODIES("{ \"repeat\": { \"i\": @true }, \"name\": \"a\" }"), "found true" },
    { BODIES("{ \"repeat\": { \"i\": @[1] }, \"name\": \"a\" }"), "[first, last]" },
    { BODIES("{ \"repeat\": { \"i\": @[1, 2, 0] }, \"name\": \"a\" }"), "a step cannot be 0" },
    { BODIES("{ \"repeat\": { \"i\": @[0, 1e300] }, \"name\": \"a\" }"), "too many rounds" },
    { BODIES("{ \"repeat\": { @\"i-1\": 2 }, \"name\": \"a\" }"), "letters, digits and _ only" },
    { BODIES("{ \"repeat\": { @\"sin\": 2 }, \"name\": \"a\" }"), "\"sin\" is taken already" },
    { BODIES("{ \"repeat\": { \"i\": 2, @\"i\": 2 }, \"name\": \"a\" }"), "taken already" },
    { BODIES("{ \"repeat\": { \"i\": 2 }, \"where\": @1, \"name\": \"a\" }"), "a formula" },
    { BODIES("{ \"repeat\": { \"i\": 2 }, \"each\": @1 }"), "an array of entries" },
    { BODIES("{ \"repeat\": { \"i\": 2 }, \"each\": [], @\"name\": \"a\" }"), "beside \"each\"" },
    { BODIES("{ \"repeat\": { \"i\": 2 }, \"name\": @\"a{j}\" }"), "unknown name 'j'" },
    { BODIES("{ \"repeat\": { \"i\": 2 }, \"name\": @\"a{i\" }"), "a { without its }" },
    { BODIES("{ \"repeat\": { \"i\": 3 }, \"name\": \"a{i}\", \"inertia\": [1, 1, 1],"
             " \"mass\": @\"2 - i\" }"),
      "\"mass\" must be greater than zero, found 0, which is \"2 - i\" (i = 2)" },
    { BODIES("{ \"repeat\": { \"i\": 2, \"j\": 2 }, \"name\": \"a{i}{j}\", \"kind\": \"fixed\","
             " \"position\": [0, 0, @\"1 / (i - j)\"] }"),
      "numbers must be finite (i = 0, j = 0)" },
    { BODIES("{ \"repeat\": { \"i\": 2 }, \"name\": \"a{i}\", @\"masss\": 1 }"), "\"mass\"?" },
    { BODIES("{ \"repeat\": { \"i\": 2 }, \"name\": @\"a\", \"kind\": \"fixed\" }"),
      "two bodies are called \"a\"" },
    { WITH("\"n\": 5e6", "{ @\"repeat\": { \"i\": \"n\" }, \"name\": \"a{i}\" }"),
      "at most 4194304 entries" },
    { BODIES("{ @\"repeat\": { \"i\": 8000000, \"j\": 8000000 }, \"where\": \"0\","
             " \"name\": \"a\" }"),
      "at most 8388608 rounds" },
    { WITH("\"a\": @\"a + 1\"", ""), "the parameter 'a' depends on itself" },
    { WITH("\"a\": @\"1 / 0\"", ""), "not finite" },
    { WITH("\"a\": @[1]", ""), "a number, or a formula in quotes" },
    { WITH("@\"a-b\": 1", ""), "letters, digits and _ only" },
    { WITH("@\"t\": 1", ""), "formulas use it" },
    { WITH("\"a\": 1, @\"a\": 2", ""), "stands twice" },
    { WITH("\"radius\": 1", "{ \"name\": \"a\", \"mass\": @\"raduis\" }"), "mean 'radius'?" },
    { "{ \"tippe\": 1, \"bodies\": [], \"materials\": { \"a\": { @\"repeat\": {} } },"
      " \"simulation\": { \"step\": 0.01, \"until\": 1 } }",
      "unknown key \"repeat\" in a material" },
};

static void faultsHavePlaces(void** state) {
    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); ++i) {
        char text[2000], expected[60];
        tpScenePlace place;
        size_t length = takeMark(faults[i].text, text, &place);
        tpScene* scene;
        tpError error = { tp_success, "" };
        tpResult result = tpParseScene(text, length, "scene.json", NULL, &scene, &error);
        snprintf(expected, sizeof(expected), "scene.json:%d:%d: ", place.line, place.column);
        if (result != tp_badInput || strncmp(error.message, expected, strlen(expected)) != 0 ||
            strstr(error.message, faults[i].message) == NULL) {
            fail_msg("of\n%s\nexpected %s...%s\nfound %s", faults[i].text, expected,
                     faults[i].message, error.message);
        }
    }
}

static void survivesFailingMemory(void** state) {
    (void)state;
    static const char text[] = WITH("\"n\": 3, \"m\": \"n + 1\"",
                                    "{ \"repeat\": { \"i\": \"m\" }, \"name\": \"b{i}\", " SPHERE
                                    ", \"position\": [0, 0, \"i\"] }");
    tpFailingAllocator heap = { 0 };
    tpAllocator allocator = tpMakeFailingAllocator(&heap);
    for (int n = 1;; ++n) {
        tpScene* scene;
        tpError error;
        heap.requests = 0;
        heap.failAt = n;
        tpResult result =
            tpParseScene(text, sizeof(text) - 1, "scene.json", &allocator, &scene, &error);
        // A large block that is refused may still be had in smaller ones.
        assert_true(result == tp_success || (heap.requests >= n && result == tp_outOfMemory));
        tpDestroyScene(scene);
        assert_int_equal(heap.outstanding, 0);
        if (heap.requests < n) {
            break;
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meanTheSame),         cmocka_unit_test(parametersHaveValues),
        cmocka_unit_test(randomNumbersRepeat), cmocka_unit_test(manyBodies),
        cmocka_unit_test(faultsHavePlaces),    cmocka_unit_test(survivesFailingMemory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
