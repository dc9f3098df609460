// Broken scenes: every one is refused with a message that names the place and what was expected.

#include <stdlib.h>

#include "marked_text.h"
#include "support/check.h"
#include "support/failing_allocator.h"
#include "tippe/scene.h"

typedef struct tpCase {
    const char* text;    // the place of the fault is marked by '@'
    const char* message; // part of what must be said
} tpCase;

// Around a list of bodies, around one body, around one shape.
#define SCENE(inside)                                                                              \
    "{ \"tippe\": 1, \"materials\": { \"wood\": { \"friction\": 0.5 }, \"ice\": {} },\n"           \
    "  \"simulation\": { \"step\": 0.01, \"until\": 1 },\n" inside " }"
#define BODIES(inside) SCENE("  \"bodies\": [\n" inside " ]")
#define BODY(inside)                                                                               \
    BODIES("    { \"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1],\n      " inside " }")
#define SHAPE(inside)                                                                              \
    BODIES("    { \"name\": \"a\", \"density\": 1, \"shapes\": [\n      " inside " ] }")
#define TWO "{ \"name\": \"a\", \"kind\": \"fixed\" }, { \"name\": \"b\", \"kind\": \"fixed\" }"
#define JOINT(inside) BODIES(TWO " ],\n  \"joints\": [ { " inside " }")
#define FORCE(inside) BODIES(TWO " ],\n  \"forces\": [ { " inside " }")
#define SIMULATION(inside) "{ \"tippe\": 1, \"bodies\": [],\n  \"simulation\": { " inside " } }"
#define STEPS "\"step\": 0.01, \"until\": 1"

static const tpCase topLevel[] = {
    { "@[]", "expected a scene, which is an object, found an array" },
    { "@3", "expected a scene, which is an object, found a number" },
    { "@{}", "a scene needs the key \"tippe\"" },
    { "@{ \"tippe\": 1, \"simulation\": { " STEPS " } }", "a scene needs the key \"bodies\"" },
    { "@{ \"tippe\": 1, \"bodies\": [] }", "a scene needs the key \"simulation\"" },
    { "{ \"tippe\": @2, \"bodies\": [] }", "version 1, found 2" },
    { "{ \"tippe\": @[1], \"bodies\": [] }", "\"tippe\" takes the number 1, found an array" },
    { "{ \"tippe\": 1, @\"bodys\": [] }",
      "unknown key \"bodys\" in a scene; did you mean \"bodies\"?" },
    { "{ \"tippe\": 1, @\"stepper\": \"auto\" }",
      "unknown key \"stepper\" in a scene; it is a key of \"simulation\"" },
    { "{ \"tippe\": 1, @\"xyzzyxyzzy\": [] }", "expected one of: tippe, $schema, name," },
    { "{ \"tippe\": 1, \"planar\": true, @\"planar\": true }",
      "the key \"planar\" stands twice in a scene" },
    { SCENE("\"bodies\": [], \"planar\": @1"), "\"planar\" takes true or false, found a number" },
    { SCENE("\"bodies\": [], \"name\": @null"), "\"name\" takes a text, found null" },
    { SCENE("\"bodies\": [], \"name\": @\"a\\u0000b\""), "cannot hold the character \\u0000" },
    { SCENE("\"bodies\": @{}"), "\"bodies\" takes an array, each entry a body, found an object" },
    { SCENE("\"bodies\": [ @7 ]"), "expected a body, which is an object, found a number" },
    { SCENE("\"bodies\": [], \"gravity\": @[0, -9.81]"),
      "\"gravity\" takes an array of 3 numbers, found 2" },
    { SCENE("\"bodies\": [], \"gravity\": [0, @\"-9.81 g\", 0]"),
      "\"gravity\" takes a number or a formula; formula, character 7: expected an operator" },
    { SCENE("\"bodies\": [], \"gravity\": [0, @-1e999, 0]"), "-1e999 is too large" },
    { SCENE("\"bodies\": [], \"gravity\": @-9.81"), "takes an array of 3 numbers, found a number" },
    { "{ \"tippe\": 1, \"materials\": @[] }",
      "\"materials\" takes an object that names each entry, a material, found an array" },
    { "{ \"tippe\": 1, \"materials\": { @\"my wood\": {} } }",
      "a name has letters, digits, _ and - only, found \"my wood\"" },
    { "{ \"tippe\": 1, \"materials\": { \"a\": @0.5 } }", "expected a material" },
    { "{ \"tippe\": 1, \"materials\": { \"a\": { \"friction\": @-0.5 } } }",
      "\"friction\" must be zero or more, found -0.5" },
    { "{ \"tippe\": 1, \"materials\": { \"a\": { \"friction\": @\"big\" } } }",
      "\"friction\" takes a number or a formula; formula, character 1: unknown name 'big'" },
    { "{ \"tippe\": 1, \"materials\": { \"a\": { \"restitution\": @1.5 } } }",
      "\"restitution\" must be from 0 to 1, found 1.5" },
    { "{ \"tippe\": 1, \"materials\": { \"a\": { @\"fricton\": 1 } } }",
      "did you mean \"friction\"?" },
    { "{ \"tippe\": 1, \"materials\": { \"a\": { \"friction\": @{ \"torsional\": 1 } } } }",
      "a friction needs the key \"dynamic\" or the key \"static\"" },
    { "{ \"tippe\": 1, \"materials\": { \"a\": { \"friction\": { \"static\": @0.1, \"dynamic\": "
      "0.2 } } } }",
      "static friction must not be below dynamic friction" },
    { "{ \"tippe\": 1, \"materials\": { \"a\": { \"friction\": { \"static\": 1, \"ellipse\": "
      "@[1, 2] } } } }",
      "needs the key \"direction\"" },
    { "{ \"tippe\": 1, \"materials\": { \"a\": { \"friction\": { \"static\": 1, \"direction\": "
      "@[0, 0, 0] } } } }",
      "\"direction\" must not be zero" },
    { "{ \"tippe\": 1, \"materials\": { \"a\": {}, @\"a\": {} }, \"bodies\": [], \"simulation\": "
      "{ " STEPS " } }",
      "two materials are called \"a\"; the first is at 1:30" },
    { SCENE("\"bodies\": [], \"pairs\": [ { \"between\": @[\"wood\"] } ]"),
      "\"between\" takes an array of 2 names, found 1" },
    { SCENE("\"bodies\": [], \"pairs\": [ { \"between\": [\"wood\", @\"iec\"] } ]"),
      "unknown material \"iec\"; did you mean \"ice\"?" },
    { SCENE("\"bodies\": [], \"pairs\": [ { \"between\": [\"wood\", @null] } ]"),
      "\"between\" takes a name, found null" },
    { SCENE("\"bodies\": [], \"pairs\": [ { \"between\": [\"wood\", \"ice\"] },\n { \"between\": "
            "[@\"ice\", \"wood\"] } ]"),
      "stands twice" },
    { SCENE("\"bodies\": [], \"pairs\": [ @{ \"friction\": 1 } ]"),
      "a pair needs the key \"between\"" },
};

static const tpCase bodies[] = {
    { BODIES("@{ \"mass\": 1, \"inertia\": [1, 1, 1] }"), "a body needs the key \"name\"" },
    { BODIES("{ \"name\": @\"\" }"), "expected a name, found an empty text" },
    { BODIES("{ \"name\": @\"a b\" }"), "letters, digits, _ and - only" },
    { BODIES("{ \"name\": @\"\xC3\xA4\" }"), "letters, digits, _ and - only" },
    { BODIES("{ \"name\": @\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" }"),
      "at most 63 characters, this one has 64" },
    { BODIES(
          "{ \"name\": \"a\", \"kind\": \"fixed\" },\n{ \"name\": @\"a\", \"kind\": \"fixed\" }"),
      "two bodies are called \"a\"; the first is at 4:11" },
    { BODIES("{ \"name\": \"a\", \"kind\": @\"fixd\" }"), "unknown kind \"fixd\"; did you mean" },
    { BODY("@\"posiiton\": [0, 0, 0]"),
      "unknown key \"posiiton\" in a body; did you mean \"position\"?" },
    { BODY("\"position\": [0, 0, @true]"), "takes an array of 3 numbers, found true or false" },
    { BODY("\"rotation\": @[1, 0, 0, 0]"),
      "expected a rotation, which is an object, found an array" },
    { SHAPE("{ \"type\": \"sphere\", \"radius\": 1, \"visual\": true, \"density\": @3 }"),
      "only seen takes no \"density\"" },
    { SHAPE("{ \"type\": \"sphere\", \"radius\": 1, \"visual\": true, \"material\": @\"ice\" }"),
      "only seen takes no" },
    { BODY("\"color\": @\"red\""), "a text like \"#c65b45\", found \"red\"" },
    { BODY("\"color\": @\"#12345g\""), "a text like" },
    { BODY("\"color\": @\"#1234567\""), "a text like" },
    { BODY("\"color\": @[1, 0]"), "an array of 3 numbers, found 2" },
    { BODY("\"color\": [1, 0, @1.5]"), "\"color\" must be from 0 to 1" },
    { BODY("\"color\": @7"), "\"color\" takes an array of 3 numbers" },
    { BODY("\"rotation\": @{}"), "a rotation needs \"axis\" and \"degrees\", or \"quaternion\"" },
    { BODY("\"rotation\": @{ \"degrees\": 30 }"), "a rotation needs" },
    { BODY("\"rotation\": { \"axis\": @[0, 0, 0], \"degrees\": 30 }"),
      "\"axis\" must not be zero" },
    { BODY("\"rotation\": { \"quaternion\": @[0, 0, 0, 0] }"), "\"quaternion\" must not be zero" },
    { BODY("\"rotation\": { \"quaternion\": @[1, 0, 0] }"), "an array of 4 numbers, found 3" },
    { BODY("\"rotation\": { \"degrees\": 1, \"quaternion\": @[1, 0, 0, 0] }"), "not both" },
    { BODIES("{ \"name\": \"a\", \"mass\": @-1 }"),
      "\"mass\" must be greater than zero, found -1" },
    { BODIES("{ \"name\": \"a\", \"mass\": @0 }"), "\"mass\" must be greater than zero, found 0" },
    { BODIES("@{ \"name\": \"a\" }"),
      "the dynamic body \"a\" needs the key \"mass\" or the key \"density\"" },
    { BODIES("@{ \"name\": \"a\", \"mass\": 1 }"),
      "has no shapes that can touch, so it needs the keys \"mass\" and \"inertia\"" },
    { BODIES("@{ \"name\": \"a\", \"density\": 1 }"), "has no shapes" },
    { BODIES("{ \"name\": \"a\", \"mass\": 1, \"density\": @1 }"), "not both" },
    { BODIES("{ \"name\": \"a\", \"inertia\": @[1, 1, 1] }"), "goes with the key \"mass\"" },
    { BODIES("{ \"name\": \"a\", \"mass\": 1, \"inertia\": @[1, 1] }"),
      "an array of 3 or 6 numbers, found 2" },
    { BODIES("{ \"name\": \"a\", \"density\": 1, \"center_of_mass\": @[0, 0, 0] }"),
      "goes with the keys" },
    { BODY("\"material\": @\"wod\""), "unknown material \"wod\"; did you mean \"wood\"?" },
    { BODY("\"material\": @7"), "\"material\" takes a name, found a number" },
    { BODY("\"damping\": { \"linear\": @-1 }"), "\"linear\" must be zero or more, found -1" },
    { BODY("\"keyframes\": @[ { \"time\": 0 } ]"), "only a kinematic body takes \"keyframes\"" },
    { BODIES("{ \"name\": \"a\", \"kind\": \"kinematic\", \"keyframes\": [ { \"time\": 1 },\n"
             "@{ \"time\": 1 } ] }"),
      "must ascend, found 1 after 1" },
    { BODIES("{ \"name\": \"a\", \"kind\": \"kinematic\", \"keyframes\": @[] }"),
      "at least one keyframe" },
    { BODIES("{ \"name\": \"a\", \"kind\": \"kinematic\", \"velocity\": [1, 0, 0],\n"
             "\"keyframes\": @[ { \"time\": 0 } ] }"),
      "not both" },
    { BODIES("{ \"name\": \"a\", \"kind\": \"kinematic\", \"keyframes\": [ @{} ] }"),
      "a keyframe needs the key \"time\"" },
    { BODIES("{ \"name\": \"a\", \"kind\": \"fixed\", \"velocity\": @[1, 0, 0] }"),
      "a fixed body has no velocity" },
    { BODIES("{ \"name\": \"a\", \"kind\": \"fixed\", \"angular_velocity\": @[1, 0, 0] }"),
      "a fixed body has no velocity" },
    { "{ \"tippe\": 1, \"planar\": true, \"simulation\": { " STEPS " }, \"bodies\": [\n"
      "@{ \"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1], \"velocity\": [0, 0, 1] } ] }",
      "in a planar scene velocities lie in the x-y plane" },
};

static const tpCase shapes[] = {
    { SHAPE("@7"), "expected a shape, which is an object, found a number" },
    { SHAPE("@{ \"radius\": 1 }"), "a shape needs the key \"type\"" },
    { SHAPE("{ \"type\": @1 }"), "\"type\" takes a text, found a number" },
    { SHAPE("{ \"radius\": 1, \"type\": @\"sphre\" }"),
      "unknown type of shape \"sphre\"; did you mean \"sphere\"?" },
    { SHAPE("{ \"type\": \"sphere\", \"radius\": 1, @\"size\": [1, 1, 1] }"),
      "unknown key \"size\" in a shape of type \"sphere\"" },
    { SHAPE("@{ \"type\": \"sphere\" }"), "a shape of type \"sphere\" needs the key \"radius\"" },
    { SHAPE("{ \"type\": \"sphere\", \"radius\": @0 }"), "must be greater than zero, found 0" },
    { SHAPE("{ \"type\": \"box\", \"size\": [1, @-1, 1] }"),
      "must be greater than zero, found -1" },
    { SHAPE("{ \"type\": \"box\", \"size\": @1 }"), "takes an array of 3 numbers" },
    { SHAPE("{ \"type\": \"capsule\", \"radius\": 1, \"length\": 1, \"axis\": @[0, 0, 0] }"),
      "\"axis\" must not be zero" },
    { SHAPE("{ \"type\": \"superellipsoid\", \"radii\": [1, 1, 1], \"exponents\": [1, @2.5] }"),
      "greater than 0 and at most 2" },
    { SHAPE("{ \"type\": \"plane\", \"normal\": @[0, 0, 0] }"), "\"normal\" must not be zero" },
    { SHAPE("@{ \"type\": \"hull\" }"), "either \"points\" or \"file\"" },
    { SHAPE("@{ \"type\": \"hull\", \"file\": \"a.obj\", \"points\": [] }"), "and not both" },
    { SHAPE("{ \"type\": \"hull\", \"points\": [[0, 0, 0], @[1, 1]] }"), "3 numbers, found 2" },
    { SHAPE("{ \"type\": \"prism\", \"length\": 1, \"points\": [[0, 0], @[1, 1, 1]] }"),
      "2 numbers, found 3" },
    { SHAPE("{ \"type\": \"mesh\", \"file\": @\"\" }"), "the path of a file" },
    { SHAPE("{ \"type\": \"heightfield\", \"columns\": 2, \"rows\": 2, \"spacing\": [1, 1],\n"
            "\"heights\": @[1, 2, 3] }"),
      "columns x rows = 4 numbers, found 3" },
    { SHAPE("{ \"type\": \"heightfield\", \"columns\": @1 }"), "must be 2 or more, found 1" },
    { SHAPE("{ \"type\": \"heightfield\", \"columns\": @2.5 }"), "takes a whole number" },
    { SHAPE("{ \"type\": \"sphere\", \"radius\": 1, \"mask\": @4294967296 }"),
      "a whole number from 0 to 4294967295" },
    { SHAPE("@{ \"type\": \"intersection\", \"of\": [] }"), "at least one shape" },
    { SHAPE("{ \"type\": \"intersection\", \"of\": [ @{ \"type\": \"sphere\", \"radius\": 1,\n"
            "\"material\": \"wood\" } ] }"),
      "\"material\" belongs to the intersection as a whole" },
    { SHAPE("{ \"type\": \"sphere\", \"radius\": 1, \"material\": @\"stone\" }"),
      "unknown material \"stone\"; expected one of: wood, ice" },
    { BODIES(
          "{ \"name\": \"a\", \"mass\": @1, \"shapes\": [ { \"type\": \"sphere\", \"radius\": 1, "
          "\"density\": 2 } ] }"),
      "not both" },
};

static const tpCase others[] = {
    { JOINT("\"type\": @\"hinge\", \"bodies\": [\"a\", \"b\"]"),
      "unknown type \"hinge\"; did you mean \"revolute\"?" },
    { JOINT("\"type\": @\"xyzzyxyzzy\", \"bodies\": [\"a\", \"b\"]"),
      "unknown type \"xyzzyxyzzy\"; expected one of: ball, revolute" },
    { BODIES(TWO " ],\n  \"joints\": [ @{ \"bodies\": [\"a\", \"b\"] }"),
      "a joint needs the key \"type\"" },
    { JOINT("\"type\": \"fixed\", \"bodies\": [\"a\", @\"c\"]"), "unknown body \"c\"" },
    { JOINT("\"type\": \"fixed\", \"bodies\": [\"a\", @\"a\"]"),
      "two different bodies, found a twice" },
    { JOINT("\"type\": \"fixed\", \"bodies\": [null, @null]"), "found the world twice" },
    { JOINT("\"type\": \"fixed\", \"bodies\": @[\"a\"]"), "an array of 2 names" },
    { JOINT("\"type\": \"fixed\", \"bodies\": [\"a\", @1]"),
      "takes names, or null, found a number" },
    { BODIES(TWO " ],\n  \"joints\": [ @{ \"type\": \"ball\", \"bodies\": [\"a\", \"b\"] }"),
      "a joint of type \"ball\" needs the key \"anchor\"" },
    { JOINT("\"type\": \"ball\", \"bodies\": [\"a\", \"b\"], \"anchors\": @[[0, 0, 0], [1, 0, 0]]"),
      "takes \"anchor\", not \"anchors\"" },
    { JOINT("\"type\": \"spring\", \"bodies\": [\"a\", \"b\"], \"anchors\": [[0, 0, 0], @[1, 0]]"),
      "an array of 3 numbers, found 2" },
    { BODIES(TWO " ],\n  \"joints\": [ @{ \"type\": \"spring\", \"bodies\": [\"a\", \"b\"], "
                 "\"anchor\": [0, 0, 0] }"),
      "needs the key \"spring\"" },
    { JOINT("\"type\": \"revolute\", \"bodies\": [\"a\", \"b\"], \"anchor\": [0, 0, 0], \"axis\": "
            "@[0, 0, 0]"),
      "\"axis\" must not be zero" },
    { JOINT("\"type\": \"fixed\", \"bodies\": [\"a\", \"b\"], \"limits\": @[1, -1]"),
      "the lower first, found 1 above -1" },
    { JOINT("\"type\": \"fixed\", \"bodies\": [\"a\", \"b\"], \"motor\": @{ \"speed\": 1 }"),
      "a motor needs the key \"effort\"" },
    { JOINT("\"name\": \"j\", \"type\": \"fixed\", \"bodies\": [\"a\", \"b\"] }, { \"name\": "
            "@\"j\", \"type\": \"fixed\", \"bodies\": [\"a\", \"b\"]"),
      "two joints are called \"j\"" },
    { FORCE("\"body\": @\"aa\""), "unknown body \"aa\"" },
    { BODIES(TWO " ],\n  \"excludes\": [ { \"bodies\": [\"a\", @\"c\"] }"), "unknown body \"c\"" },
    { BODIES(TWO " ],\n  \"excludes\": [ { \"bodies\": [\"a\", @null] }"),
      "an exclude needs two different bodies, found null" },
    { BODIES(TWO " ],\n  \"excludes\": [ { \"bodies\": [\"a\", @\"a\"] }"),
      "an exclude needs two different bodies, found a" },
    { BODIES(TWO " ],\n  \"forces\": [ @{ \"force\": [1, 0, 0] }"),
      "a force needs the key \"body\"" },
    { FORCE("\"body\": \"a\", \"from\": 2, \"to\": @1"), "\"to\" must not be before \"from\"" },
    { FORCE("\"body\": \"a\", \"frame\": @\"local\""), "unknown frame \"local\"" },
    { FORCE("\"body\": \"a\", \"at\": @[0, 0, 0]"), "goes with the key \"force\"" },
    { "{ \"tippe\": 1, \"bodies\": [],\n  \"simulation\": @{ \"step\": 1 } }",
      "a simulation needs the key \"until\"" },
    { SIMULATION("\"step\": @0, \"until\": 1"), "\"step\" must be greater than zero, found 0" },
    { SIMULATION("\"step\": 0.1, \"until\": @-1"), "\"until\" must be zero or more, found -1" },
    { SIMULATION("\"step\": @1e-300, \"until\": 1"), "a run has at most 1e+15" },
    { SIMULATION("\"step\": @1e300, \"until\": 1"), "a step of 1e+300 s is too long" },
    { SIMULATION(STEPS ", \"stepper\": @\"stewart-trinkel\""),
      "unknown stepper \"stewart-trinkel\"; did you mean \"stewart-trinkle\"?" },
    { SIMULATION(STEPS ", \"stepper\": @\"xyz\""), "expected one of: free-flight," },
    { SIMULATION(STEPS ", \"options\": @[]"), "an object of names and values" },
    { SIMULATION(STEPS ", \"options\": { @\"no_such_option\": 1 }"),
      "no stepper has the option \"no_such_option\"" },
};

// Going on after the error tells it first; in a scene that is whole but for it there are no others,
// but for keys that are missing.
static void checkErrors(const tpCase* broken, const char* text, size_t length, const char* message,
                        bool isWhole) {
    tpScene* scene;
    tpSceneErrors errors;
    assert_int_equal(tpParseSceneErrors(text, length, "scene.json", NULL, &scene, &errors),
                     tp_badInput);
    assert_null(scene);
    assert_true(errors.count > 0 && !errors.isCut);
    assert_string_equal(errors.list[0].message, message);
    for (int i = 1; isWhole && i < errors.count; ++i) {
        if (strstr(errors.list[i].message, "needs the key") == NULL) {
            fail_msg("of\n%s\nalso found %s", broken->text, errors.list[i].message);
        }
    }
}

static void checkCase(const tpCase* broken, bool isWhole) {
    char text[2000], expected[40];
    tpScenePlace place;
    size_t length = takeMark(broken->text, text, &place);
    tpScene* scene;
    tpError error = { tp_success, "" };
    tpResult result = tpParseScene(text, length, "scene.json", NULL, &scene, &error);
    assert_null(scene);
    snprintf(expected, sizeof(expected), "scene.json:%d:%d: ", place.line, place.column);
    if (result != tp_badInput || strncmp(error.message, expected, strlen(expected)) != 0 ||
        strstr(error.message, broken->message) == NULL) {
        fail_msg("of\n%s\nexpected %s...%s...\nfound    %s", broken->text, expected,
                 broken->message, error.message);
    }
    checkErrors(broken, text, length, error.message, isWhole);
}

#define CHECK_ALL(name, cases, isWhole)                                                            \
    static void name(void** state) {                                                               \
        (void)state;                                                                               \
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {                            \
            checkCase(&cases[i], isWhole);                                                         \
        }                                                                                          \
    }

CHECK_ALL(checkTopLevel, topLevel, false)
CHECK_ALL(checkBodies, bodies, true)
CHECK_ALL(checkShapes, shapes, true)
CHECK_ALL(checkOthers, others, true)

// Files that are none, or too large.
static void checkFiles(void** state) {
    (void)state;
    tpScene* scene;
    tpError error;
    assert_int_equal(tpReadScene("no/such/scene.json", NULL, &scene, &error), tp_ioError);
    assert_non_null(strstr(error.message, "no/such/scene.json: cannot be read: No such file"));
    assert_int_equal(tpReadScene(TIPPE_SOURCE_DIR, NULL, &scene, &error), tp_ioError);
    assert_non_null(strstr(error.message, "is a directory"));
    assert_int_equal(tpReadScene("/dev/zero", NULL, &scene, &error), tp_badInput);
    assert_non_null(strstr(error.message, "the most that is read are 67108864"));
    assert_null(scene);
    tpSceneErrors errors;
    assert_int_equal(tpReadSceneErrors("no/such/scene.json", NULL, &scene, &errors), tp_ioError);
    assert_int_equal(errors.count, 1);
    assert_non_null(strstr(errors.list[0].message, "no/such/scene.json: cannot be read"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkTopLevel), cmocka_unit_test(checkBodies),
        cmocka_unit_test(checkShapes),   cmocka_unit_test(checkOthers),
        cmocka_unit_test(checkFiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
