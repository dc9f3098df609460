// What runs of auto cost, in counted work.

#ifndef TIPPE_TESTS_STEPPERS_AUTO_WORK_H
#define TIPPE_TESTS_STEPPERS_AUTO_WORK_H

#include "support/scene_text.h"
#include "tippe/world.h"

// What a run costs, ns of counted work; every step is certified.
static inline double workOf(const char* text, const char* accuracy, double step, int count) {
    tpWorld* world = makeWorldFrom(text);
    tpError error;
    assert_int_equal(tpWorld_SetOption(world, "accuracy", accuracy, &error), tp_success);
    double work = 0.0;
    for (int i = 0; i < count; ++i) {
        tpStepReport report = tpWorld_Step(world, step);
        assert_int_equal(report.violations, 0);
        work += report.work;
    }
    tpDestroyWorld(world);
    assert_true(work > 0.0);
    return work;
}

#endif
