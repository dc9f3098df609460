// Solves without a solution are told by name: Painleve's rod, and a box between closing jaws.

#include "dynamics/painleve.h"

#include <string.h>

#include "support/scene_text.h"

static bool hasNote(const tpStepReport* report, const char* start) {
    for (int i = 0; i < report->noteCount; ++i) {
        if (strncmp(report->notes[i], start, strlen(start)) == 0) {
            return true;
        }
    }
    return false;
}

// A rod of length 2 that slides on its tip at this angle: p = 1 + 3 cos (cos - mu sin) < 0 for a
// friction above (1 + 3 cos^2) / (3 sin cos) = 4 / 3 at tan = 2.
static bool isParadox(const char* stepper, double friction, double speed) {
    char text[1024];
    snprintf(text, sizeof(text),
             "{\"tippe\": 1, \"planar\": true, \"gravity\": [0, -9.81, 0], \"materials\": "
             "{\"m\": {\"friction\": %g}}, \"bodies\": [{\"name\": \"table\", \"kind\": "
             "\"fixed\", \"material\": \"m\", \"shapes\": [{\"type\": \"plane\", \"normal\": "
             "[0, 1, 0]}]}, {\"name\": \"rod\", \"mass\": 1, \"inertia\": [0.0001, 0.33333333, "
             "0.33333333], \"material\": \"m\", \"shapes\": [{\"type\": \"prism\", \"points\": "
             "[[-1, 0], [0, -0.01], [1, 0], [0, 0.01]], \"length\": 0.02}], \"position\": "
             "[0.44721359, 0.89442719, 0], \"rotation\": {\"axis\": [0, 0, 1], \"degrees\": "
             "63.4349488}, \"velocity\": [%g, 0, 0]}], \"simulation\": {\"stepper\": \"%s\", "
             "\"step\": 0.001, \"until\": 1}}",
             friction, speed, stepper);
    tpWorld* world = makeWorldFrom(text);
    bool isFound = false;
    for (int k = 0; k < 3; ++k) {
        tpStepReport report = tpWorld_Step(world, 0.001);
        isFound = isFound || hasNote(&report, "Painleve's paradox");
    }
    tpDestroyWorld(world);
    return isFound;
}

static void theRodIsNamed(void** state) {
    (void)state;
    static const char* const steppers[] = { "anitescu", "stewart-trinkle" };
    for (int i = 0; i < 2; ++i) {
        assert_true(isParadox(steppers[i], 1.4, -1.0));
        assert_false(isParadox(steppers[i], 1.26, -1.0));
        assert_false(isParadox(steppers[i], 1.4, 1.0)); // friction lifts it
    }
}

static void jawsAreNamed(void** state) {
    (void)state;
    static const char* const steppers[] = { "anitescu", "stewart-trinkle", "bender-schmitt",
                                            "chakraborty-trinkle" };
    for (int i = 0; i < 4; ++i) {
        char text[1024];
        snprintf(text, sizeof(text),
                 "{\"tippe\": 1, \"gravity\": [0, 0, 0], \"materials\": {\"m\": {\"friction\": "
                 "0.5}}, \"bodies\": [{\"name\": \"left\", \"kind\": \"kinematic\", "
                 "\"material\": \"m\", \"position\": [-1, 0, 0], \"velocity\": [0.2, 0, 0], "
                 "\"shapes\": [{\"type\": \"box\", \"size\": [1, 1, 1]}]}, {\"name\": \"right\", "
                 "\"kind\": \"kinematic\", \"material\": \"m\", \"position\": [1, 0, 0], "
                 "\"velocity\": [-0.2, 0, 0], \"shapes\": [{\"type\": \"box\", \"size\": "
                 "[1, 1, 1]}]}, {\"name\": \"nut\", \"density\": 1000, \"material\": \"m\", "
                 "\"shapes\": [{\"type\": \"box\", \"size\": [0.999, 0.5, 0.5]}]}], "
                 "\"simulation\": {\"stepper\": \"%s\", \"step\": 0.01, \"until\": 1}}",
                 steppers[i]);
        tpWorld* world = makeWorldFrom(text);
        bool isJammed = false;
        for (int k = 0; k < 2; ++k) {
            tpStepReport report = tpWorld_Step(world, 0.01);
            isJammed = isJammed || hasNote(&report, "jammed");
            assert_false(hasNote(&report, "solved to rounding"));
        }
        assert_true(isJammed);
        tpDestroyWorld(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(theRodIsNamed),
        cmocka_unit_test(jawsAreNamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
