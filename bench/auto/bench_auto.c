// What steps cost beside what is counted in them: a row for every step of a scene with a stepper.
//
//     bench_auto STEPPER SECONDS SCENE...
//
// Columns: nanoseconds of the processor, multiply-adds of solves, steps inside, bodies, queries
// times bodies, contacts, iterations, checks, collisions. weigh.py fits the weights of the stepper
// `auto` to them.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "dynamics/figures.h"
#include "tippe/scene.h"
#include "world/world.h"

static double cpuNanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static int countMoving(const tpWorld* world) {
    int count = 0;
    for (int i = 0; i < world->system.bodyCount; ++i) {
        count += tpSystem_IsDynamic(&world->system, i) ? 1 : 0;
    }
    return count;
}

static void printStep(tpWorld* world, double h) {
    double start = cpuNanoseconds();
    tpStepReport report = tpWorld_Step(world, h);
    double spent = cpuNanoseconds() - start;
    int bodies = countMoving(world);
    printf("%.0f %.0f %d %d %d %d %d %d %d\n", spent, world->system.solveWork, report.substepCount,
           bodies, report.contactQueryCount * bodies, report.contactCount, report.iterationCount,
           report.figures[tp_checkFigure], report.figures[tp_collisionFigure]);
}

static bool runScene(const char* path, tpStepperId stepper, double seconds) {
    tpScene* scene;
    tpWorld* world;
    tpError error;
    if (tpReadScene(path, NULL, &scene, &error) != tp_success) {
        fprintf(stderr, "%s\n", error.message);
        return false;
    }
    bool isMade = tpScene_CreateWorld(scene, NULL, 1, &world, &error) == tp_success;
    if (isMade && tpWorld_SetStepper(world, stepper) == tp_success) {
        double h = scene->simulation.step;
        for (int i = 0; i * h < seconds; ++i) {
            printStep(world, h);
        }
    }
    if (isMade) {
        tpDestroyWorld(world);
    }
    tpDestroyScene(scene);
    return isMade;
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
