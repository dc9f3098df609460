// The scenes of the board against the closed forms they carry, with every default: how far the
// symmetric step is off at a coarse step, and that it gets there with the second order.

#include <math.h>
#include <string.h>

#include "support/check.h"
#include "tippe/scene.h"

// The largest difference to the scene's closed forms in a run of the given step.
static double largestError(const char* name, const char* stepper, double step) {
    char path[512];
    tpScene* scene;
    tpWorld* world;
    tpError error;
    tpSceneOverrides overrides = { .stepper = stepper, .step = step };
    snprintf(path, sizeof(path), "%s/scenes/board/%s.json", TIPPE_SOURCE_DIR, name);
    if (tpReadScene(path, NULL, &scene, &error) != tp_success ||
        tpScene_Override(scene, &overrides, &error) != tp_success ||
        tpScene_CreateWorld(scene, NULL, 1, &world, &error) != tp_success) {
        fail_msg("%s", error.message);
        return NAN;
    }
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(testExactScenes),
        cmocka_unit_test(testSecondOrder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
