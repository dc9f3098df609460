// The scenes of the board against the closed forms they carry, with every default: how far the
// symmetric step is off at a coarse step, and that it gets there with the second order.

#include <math.h>
#include <string.h>

#include "support/check.h"
#include "tippe/scene.h"

static tpWorld* openBoard(const char* name, const char* stepper, double step, tpScene** scene) {
    char path[512];
    tpWorld* world = NULL;
    tpError error;
    tpSceneOverrides overrides = { .stepper = stepper, .step = step };
    snprintf(path, sizeof(path), "%s/scenes/board/%s.json", TIPPE_SOURCE_DIR, name);
    if (tpReadScene(path, NULL, scene, &error) != tp_success ||
        tpScene_Override(*scene, &overrides, &error) != tp_success ||
        tpScene_CreateWorld(*scene, NULL, 1, &world, &error) != tp_success) {
        fail_msg("%s", error.message);
    }
    return world;
}

// The largest difference to the scene's closed forms in a run of the given step.
static double largestError(const char* name, const char* stepper, double step) {
    tpScene* scene;
    tpWorld* world = openBoard(name, stepper, step, &scene);
    double largest = 0.0;
    int64_t stepCount = tpScene_GetStepCount(scene);
    for (int64_t k = 1; k <= stepCount; ++k) {
        tpStepReport report = tpWorld_Step(world, step);
        assert_int_equal(report.failureCount, 0);
        for (int i = 0; i < scene->closedForms.count; ++i) {
            const tpSceneClosedForm* form = &scene->closedForms.items[i];
            tpBodyId body = tpWorld_GetBody(world, form->body.index);
            tpVec3 x = tpBody_GetPosition(world, body), w = tpBody_GetAngularVelocity(world, body);
            const double state[13] = { x.x, x.y, x.z, [10] = w.x, w.y, w.z };
            double known = tpScene_EvaluateClosedForm(scene, i, (double)k * step);
            largest = fmax(largest, fabs(state[form->coordinate] - known));
        }
    }
    tpDestroyWorld(world);
    tpDestroyScene(scene);
    return largest;
}

static const char* const symmetric[] = { "anitescu", "bender-schmitt" };

static void testExactScenes(void** state) {
    (void)state;
    double h = 1.0 / 60.0;
    for (int i = 0; i < 2; ++i) {
        assert_true(largestError("free_fall", symmetric[i], h) < 1e-12);
        assert_true(largestError("hold", symmetric[i], h) < 1e-10);
        assert_true(largestError("torsion", symmetric[i], 1.0 / 64.0) < 1e-10);
        assert_true(largestError("ratio10000", symmetric[i], h) < 1e-10);
        assert_true(largestError("stack20", symmetric[i], h) < 1e-10);
    }
}

static void testSecondOrder(void** state) {
    (void)state;
    // The stop and the start of rolling lie inside a step: the error of that step is of second
    // order.
    for (int i = 0; i < 2; ++i) {
        assert_true(largestError("stopping", symmetric[i], 1.0 / 60.0) < 1e-3);
        assert_true(largestError("hook", symmetric[i], 1.0 / 60.0) < 1e-4);
        double coarse = largestError("platter", symmetric[i], 1.0 / 60.0);
        double fine = largestError("platter", symmetric[i], 1.0 / 240.0);
        assert_true(coarse < 3e-4); // of a circle of 0.167 m, after ten seconds
        assert_in_range((int)(100.0 * log(coarse / fine) / log(4.0)), 195, 205);
    }
}

// A ball that rolls on a turning platter keeps its speed. What the corrections of a drift leave of
// its slip has the same sign in every step: it gained 1.3e-8 in ten seconds.
static void testRollingKeepsItsSpeed(void** state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        tpScene* scene;
        tpWorld* world = openBoard("platter", symmetric[i], 1.0 / 60.0, &scene);
        tpBodyId ball = tpWorld_GetBody(world, 1);
        double start = tpLength(tpBody_GetVelocity(world, ball));
        for (int k = 0; k < 600; ++k) {
            tpWorld_Step(world, 1.0 / 60.0);
        }
        double growth = tpLength(tpBody_GetVelocity(world, ball)) / start - 1.0;
        print_message("%s: a ball on a platter gains %.1e of its speed\n", symmetric[i], growth);
        CHECK_NEAR(growth, 0.0, 1e-11);
        tpDestroyWorld(world);
        tpDestroyScene(scene);
    }
}

// The impact is where the gap vanishes, whatever the step: the first flight of a ball was off by
// what the gap was allowed to miss, 5e-10 m.
static void testFlightsBeginOnTime(void** state) {
    (void)state;
    const double steps[] = { 1.0 / 60.0, 1.0 / 250.0, 1e-3 };
    for (int i = 0; i < 3; ++i) {
        tpScene* scene;
        tpWorld* world = openBoard("bounce", "bender-schmitt", steps[i], &scene);
        double largest = 0.0;
        for (int k = 1; k * steps[i] < 0.9; ++k) {
            tpWorld_Step(world, steps[i]);
            double height = tpBody_GetPosition(world, tpWorld_GetBody(world, 1)).z;
            double known = tpScene_EvaluateClosedForm(scene, 0, k * steps[i]);
            largest = fmax(largest, fabs(height - known));
        }
        print_message("h = %.4f: a flight is %.1e m off\n", steps[i], largest);
        CHECK_BELOW(largest, 2e-11);
        tpDestroyWorld(world);
        tpDestroyScene(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testExactScenes),
        cmocka_unit_test(testSecondOrder),
        cmocka_unit_test(testRollingKeepsItsSpeed),
        cmocka_unit_test(testFlightsBeginOnTime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
