// Tippe on a benchmark scene: run_tippe SCENE STEPS EVERY OUT [NAME=VALUE...]
//
// TIPPE_THREADS threads (1), TIPPE_STEPPER instead of the scene's stepper, options as given.

#include "scene_bodies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void setOption(tpWorld* world, char* option) {
    char* value = strchr(option, '=');
    tpError error = { .message = "options are NAME=VALUE" };
    tpResult result = tp_badInput;
    if (value != NULL) {
        *value++ = '\0';
        result = tpWorld_SetOption(world, option, value, &error);
    }
    if (result != tp_success) {
        fprintf(stderr, "%s\n", error.message);
        exit(2);
    }
}

int main(int argc, char** argv) {
    if (argc < 5) {
        fprintf(stderr, "run_tippe SCENE STEPS EVERY OUT [NAME=VALUE...]\n");
        return 2;
    }
    const char* threads = getenv("TIPPE_THREADS");
    BenchScene scene =
        openBenchScene(argv[1], getenv("TIPPE_STEPPER"), threads != NULL ? atoi(threads) : 1);
    for (int i = 5; i < argc; ++i) {
        setOption(scene.world, argv[i]);
    }
    int steps = atoi(argv[2]);
    RunJournal* journal = openRunJournal(argv[4], scene.bodyCount, atoi(argv[3]));
    double contacts = 0.0, iterations = 0.0, residual = 0.0, residualSum = 0.0;
    int failures = 0, budgetEnds = 0;
    for (int i = 0; i < steps; ++i) {
        runJournal_StartStep(journal);
        tpStepReport report = tpWorld_Step(scene.world, scene.step);
        runJournal_EndStep(journal);
        contacts += report.contactCount;
        iterations += report.iterationCount;
        residual = fmax(residual, report.residual);
        residualSum += report.residual;
        failures += report.failureCount;
        budgetEnds += tpStepReport_GetFigure(&report, "budget_ends");
        for (int b = 0; runJournal_WantsPoses(journal) && b < scene.bodyCount; ++b) {
            runJournal_AddPose(journal,
                               tpBody_GetPose(scene.world, tpWorld_GetBody(scene.world, b)));
        }
    }
    char more[512];
    snprintf(more, sizeof more,
             ", \"iterations_mean\": %.1f, \"residual_max\": %.3g, \"residual_mean\": %.3g, "
             "\"failures\": %d, \"budget_ends\": %d, \"hash\": \"%016llx\"",
             iterations / steps, residual, residualSum / steps, failures, budgetEnds,
             (unsigned long long)tpWorld_HashState(scene.world));
    closeRunJournal(journal, "tippe", contacts / steps, more);
    closeBenchScene(&scene);
    return 0;
}
