// What steps cost beside what is counted in them: a row for every step of a scene with a stepper.
//
//     bench_auto STEPPER SECONDS SCENE...
//
// Columns: nanoseconds, multiply-adds of solves, steps inside, bodies, queries times bodies,
// contacts, iterations, checks, collisions. Every scene is run several times, and the least time of
// each step counts: others use the machine too. weigh.py fits the weights of the stepper `auto` to
// them.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dynamics/figures.h"
#include "tippe/scene.h"
#include "world/world.h"

enum { repeatCount = 7 };

typedef struct Row {
    double spent;
    double counts[8];
} Row;

static double nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int countMoving(const tpWorld* world) {
    int count = 0;
    for (int i = 0; i < world->system.bodyCount; ++i) {
        count += tpSystem_IsDynamic(&world->system, i) ? 1 : 0;
    }
    return count;
}

static void takeStep(tpWorld* world, double h, Row* row) {
    double start = nanoseconds();
    tpStepReport report = tpWorld_Step(world, h);
    double spent = nanoseconds() - start;
    row->spent = row->spent > 0.0 ? fmin(row->spent, spent) : spent;
    int bodies = countMoving(world);
    const double counts[] = { world->system.solveWork,
                              report.substepCount,
                              bodies,
                              report.contactQueryCount * bodies,
                              report.contactCount,
                              report.iterationCount,
                              report.figures[tp_checkFigure],
                              report.figures[tp_collisionFigure] };
    memcpy(row->counts, counts, sizeof(counts));
}

static void printRow(const Row* row) {
    printf("%.0f", row->spent);
    for (int i = 0; i < 8; ++i) {
        printf(" %.0f", row->counts[i]);
    }
    printf("\n");
}

static bool runOnce(const tpScene* scene, tpStepperId stepper, int stepCount, Row* rows) {
    tpWorld* world;
    tpError error;
    if (tpScene_CreateWorld(scene, NULL, 1, &world, &error) != tp_success) {
        return false;
    }
    bool isSet = tpWorld_SetStepper(world, stepper) == tp_success;
    for (int i = 0; isSet && i < stepCount; ++i) {
        takeStep(world, scene->simulation.step, &rows[i]);
    }
    tpDestroyWorld(world);
    return isSet;
}

static bool runScene(const char* path, tpStepperId stepper, double seconds) {
    tpScene* scene;
    tpError error;
    if (tpReadScene(path, NULL, &scene, &error) != tp_success) {
        fprintf(stderr, "%s\n", error.message);
        return false;
    }
    int stepCount = (int)ceil(seconds / scene->simulation.step);
    Row* rows = calloc((size_t)stepCount, sizeof(Row));
    bool isDone = rows != NULL;
    for (int repeat = 0; isDone && repeat < repeatCount; ++repeat) {
        isDone = runOnce(scene, stepper, stepCount, rows);
    }
    for (int i = 0; isDone && i < stepCount; ++i) {
        printRow(&rows[i]);
    }
    free(rows);
    tpDestroyScene(scene);
    return isDone;
}

int main(int argumentCount, char** arguments) {
    tpStepperId stepper;
    if (argumentCount < 4 || !tpFindStepper(arguments[1], &stepper)) {
        fprintf(stderr, "usage: bench_auto STEPPER SECONDS SCENE...\n");
        return 2;
    }
    bool isDone = true;
    for (int i = 3; i < argumentCount; ++i) {
        isDone = runScene(arguments[i], stepper, strtod(arguments[2], NULL)) && isDone;
    }
    return isDone ? 0 : 1;
}
