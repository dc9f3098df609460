// CPU time of the steps of a scene, without the program around them:
//
//     bench_scene SCENE STEPPER REPEATS STEPS [STEPS ...]
//
// Runs the scene REPEATS times on one thread, each time in a new world. STEPS are numbers of steps
// that grow; the time between two of them is the least of all repeats. Prints one line of JSON:
// seconds at these numbers of steps, and how many steps of the last repeat are not certified.

#define _POSIX_C_SOURCE 200809L

#include "tippe/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { maxMarks = 16 };

static double cpuSeconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static tpScene* openScene(const char* path, const char* stepper) {
    tpScene* scene;
    tpError error;
    tpSceneOverrides overrides = { .stepper = stepper };
    if (tpReadScene(path, NULL, &scene, &error) != tp_success ||
        tpScene_Override(scene, &overrides, &error) != tp_success) {
        fprintf(stderr, "%s\n", error.message);
        exit(2);
    }
    return scene;
}

// Seconds between marks, where they are less than those that are there. Returns how many steps are
// not certified.
static int timeRun(const tpScene* scene, int markCount, const int* marks, double* least) {
    tpWorld* world;
    tpError error;
    if (tpScene_CreateWorld(scene, NULL, 1, &world, &error) != tp_success) {
        fprintf(stderr, "%s\n", error.message);
        exit(2);
    }
    int uncertified = 0;
    for (int i = 0, k = 0; i < markCount; ++i) {
        double start = cpuSeconds();
        for (; k < marks[i]; ++k) {
            tpStepReport report = tpWorld_Step(world, scene->simulation.step);
            uncertified += report.violations != 0;
        }
        least[i] = fmin(least[i], cpuSeconds() - start);
    }
    tpDestroyWorld(world);
    return uncertified;
}

int main(int argc, char** argv) {
    int markCount = argc - 4, marks[maxMarks];
    if (markCount < 1 || markCount > maxMarks) {
        fprintf(stderr, "bench_scene SCENE STEPPER REPEATS STEPS [STEPS ...]\n");
        return 2;
    }
    double least[maxMarks];
    for (int i = 0; i < markCount; ++i) {
        marks[i] = atoi(argv[4 + i]);
        least[i] = INFINITY;
    }
    tpScene* scene = openScene(argv[1], argv[2]);
    int uncertified = 0;
    for (int repeats = atoi(argv[3]); repeats > 0; --repeats) {
        uncertified = timeRun(scene, markCount, marks, least);
    }
    tpDestroyScene(scene);
    printf("{\"seconds\": [");
    double sum = 0.0;
    for (int i = 0; i < markCount; ++i) {
        sum += least[i];
        printf("%s%.9g", i > 0 ? ", " : "", sum);
    }
    printf("], \"uncertified\": %d}\n", uncertified);
    return 0;
}
