// What a step costs, in CPU time of one thread.
//
//     bench_steppers OUT.csv
//
// lcp       the 66 discs with friction pyramids: every 20th step (TIPPE_BENCH_EVERY) all its LCPs
//           are solved by Tippe as the step does, warm from the last step, and by Siconos'
//           lexicographic Lemke
// scene     mean, median and largest of a step of a stack of ten boxes and a pyramid of discs
// contacts  mean of a step against the number of contacts: pyramids of boxes that rest

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "opponent.h"
#include "tippe/lcp.h"
#include "tippe/scene.h"
#include "tippe/world.h"

static double cpuSeconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void* need(void* memory) {
    if (memory == NULL) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return memory;
}

// The LCPs of a step --------------------------------------------------------------------------

// What the two solvers have spent on the LCPs of the sampled steps.
static struct {
    bool isSampling;
    int problems, unsolved, theirUnsolved;
    double seconds, theirSeconds;
    double residual, theirResidual; // largest of those solved
    int largest;                    // rows
} duel;

tpSolveStatus __real_tpLcp_Solve(const tpLcp* lcp, const tpLcpOptions* options,
                                 tpSolverMemory* memory, double* z, tpSolveReport* report);
tpSolveStatus __wrap_tpLcp_Solve(const tpLcp* lcp, const tpLcpOptions* options,
                                 tpSolverMemory* memory, double* z, tpSolveReport* report);

static void judge(const tpLcp* lcp, const double* z, int* unsolved, double* largest) {
    tpSolverMemory* memory = need(tpCreateSolverMemory(NULL));
    double residual = tpLcp_Residual(lcp, z, NULL, memory, NULL);
    tpDestroySolverMemory(memory);
    if (residual <= 1e-8) {
        *largest = fmax(*largest, residual);
    } else {
        *unsolved += 1;
    }
}

static void solveByOpponent(const tpLcp* lcp) {
    size_t n = (size_t)lcp->n;
    double* M = need(calloc(n * n, sizeof(double)));
    double* z = need(calloc(n, sizeof(double)));
    for (int j = 0; j < lcp->n; ++j) {
        for (int k = lcp->M.columnStarts[j]; k < lcp->M.columnStarts[j + 1]; ++k) {
            M[(size_t)j * n + (size_t)lcp->M.rowIndices[k]] = lcp->M.values[k];
        }
    }
    duel.theirSeconds += solveBySiconos(lcp->n, M, lcp->q, z);
    judge(lcp, z, &duel.theirUnsolved, &duel.theirResidual);
    free(M);
    free(z);
}

tpSolveStatus __wrap_tpLcp_Solve(const tpLcp* lcp, const tpLcpOptions* options,
                                 tpSolverMemory* memory, double* z, tpSolveReport* report) {
    double start = cpuSeconds();
    tpSolveStatus status = __real_tpLcp_Solve(lcp, options, memory, z, report);
    if (duel.isSampling) {
        duel.seconds += cpuSeconds() - start;
        duel.problems += 1;
        duel.largest = lcp->n > duel.largest ? lcp->n : duel.largest;
        judge(lcp, z, &duel.unsolved, &duel.residual);
        solveByOpponent(lcp);
    }
    return status;
}

// Worlds --------------------------------------------------------------------------------------

static tpWorld* openScene(const char* name, double* h, int* steps) {
    char path[512];
    snprintf(path, sizeof(path), "scenes/%s.json", name);
    tpAllocator allocator = tpDefaultAllocator();
    tpScene* scene = NULL;
    tpWorld* world = NULL;
    tpError error;
    if (tpReadScene(path, &allocator, &scene, &error) != tp_success ||
        tpScene_CreateWorld(scene, &allocator, 1, &world, &error) != tp_success) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    *h = scene->simulation.step;
    *steps = (int)lround(scene->simulation.until / scene->simulation.step);
    tpDestroyScene(scene);
    return world;
}

static void benchLcp(FILE* out) {
    const char* text = getenv("TIPPE_BENCH_EVERY");
    int every = text != NULL ? atoi(text) : 20;
    double h;
    int steps, sampled = 0;
    tpWorld* world = openScene("discs66", &h, &steps);
    for (int k = 0; k < steps; ++k) {
        duel.isSampling = every > 0 && k % every == every / 2;
        sampled += duel.isSampling;
        tpWorld_Step(world, h);
    }
    duel.isSampling = false;
    tpDestroyWorld(world);
    double ours = 1e3 * duel.seconds / sampled, theirs = 1e3 * duel.theirSeconds / sampled;
    printf("66 discs, %d steps with %d LCPs of up to %d rows: tippe %.3f ms per step (%d unsolved, "
           "residual "
           "%.1e), siconos %.3f ms (%d unsolved, %.1e): ratio %.1f\n",
           sampled, duel.problems, duel.largest, ours, duel.unsolved, duel.residual, theirs,
           duel.theirUnsolved, duel.theirResidual, theirs / ours);
    fprintf(out, "lcp,discs66,tippe,%d,%.6f,,,%d\n", duel.problems, ours, duel.unsolved);
    fprintf(out, "lcp,discs66,siconos lemke,%d,%.6f,,,%d\n", duel.problems, theirs,
            duel.theirUnsolved);
}

static int compareNumbers(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

// Steps a world and writes a row; the first `skipped` steps do not count.
static void timeSteps(FILE* out, const char* kind, const char* name, tpWorld* world, double h,
                      int steps, int skipped) {
    double* times = need(calloc((size_t)steps, sizeof(double)));
    double sum = 0.0, contacts = 0.0;
    int failures = 0;
    for (int k = -skipped; k < steps; ++k) {
        double start = cpuSeconds();
        tpStepReport report = tpWorld_Step(world, h);
        if (k >= 0) {
            times[k] = 1e3 * (cpuSeconds() - start);
            sum += times[k];
            contacts += report.contactCount;
            failures += report.failureCount;
        }
    }
    qsort(times, (size_t)steps, sizeof(double), compareNumbers);
    const char* stepper = tpStepperName(tpWorld_GetStepper(world));
    printf(
        "%-9s %-14s %-16s %6.0f contacts  %8.4f ms mean, %8.4f median, %8.4f largest, %d failed\n",
        kind, name, stepper, contacts / steps, sum / steps, times[steps / 2], times[steps - 1],
        failures);
    fprintf(out, "%s,%s,%s,%.1f,%.6f,%.6f,%.6f,%d\n", kind, name, stepper, contacts / steps,
            sum / steps, times[steps / 2], times[steps - 1], failures);
    fflush(out);
    free(times);
}

static const tpStepperId steppers[] = { tp_stewartTrinkle, tp_anitescu };

static void benchScenes(FILE* out) {
    const char* const names[] = { "stack10", "disc_pyramid" };
    for (int i = 0; i < 2; ++i) {
        for (int s = 0; s < 2; ++s) {
            double h;
            int steps;
            tpWorld* world = openScene(names[i], &h, &steps);
            tpWorld_SetStepper(world, steppers[s]);
            timeSteps(out, "scene", names[i], world, h, steps, 0);
            tpDestroyWorld(world);
        }
    }
}

// Rows of `height` to 1 boxes, each on the joint of two below.
static tpWorld* makePyramid(int height, tpStepperId stepper) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = stepper;
    tpWorld* world = need(tpCreateWorld(&def));
    tpMaterialDef material = tpDefaultMaterialDef();
    material.friction.staticCoefficient = material.friction.dynamicCoefficient = 0.5;
    tpShapeDef shapeDef = tpDefaultShapeDef();
    shapeDef.material = tpCreateMaterial(world, &material, NULL);
    tpBodyDef floorDef = tpDefaultBodyDef();
    floorDef.kind = tp_fixedBody;
    tpCreatePlane(world, tpCreateBody(world, &floorDef, NULL), &shapeDef,
                  &(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, NULL);
    for (int row = 0; row < height; ++row) {
        for (int i = 0; i < height - row; ++i) {
            tpBodyDef bodyDef = tpDefaultBodyDef();
            bodyDef.position = tpMakeVec3(1.1 * (i - 0.5 * (height - 1 - row)), 0.0, 0.5 + row);
            tpCreateBox(world, tpCreateBody(world, &bodyDef, NULL), &shapeDef,
                        &(tpBox){ { 1.0, 1.0, 1.0 } }, NULL);
        }
    }
    return world;
}

static void benchContacts(FILE* out) {
    const int heights[] = { 2, 3, 4, 6, 8, 11, 15, 19, 22 };
    for (size_t i = 0; i < sizeof(heights) / sizeof(heights[0]); ++i) {
        for (int s = 0; s < 2; ++s) {
            tpWorld* world = makePyramid(heights[i], steppers[s]);
            char name[32];
            snprintf(name, sizeof(name), "%d rows", heights[i]);
            timeSteps(out, "contacts", name, world, 1.0 / 60.0, 15, 10);
            tpDestroyWorld(world);
        }
    }
}

static const char* circumstance(const char* name) {
    const char* text = getenv(name);
    return text != NULL ? text : "unknown";
}

int main(int argumentCount, char** arguments) {
    if (argumentCount != 2) {
        fprintf(stderr, "usage: bench_steppers OUT.csv\n");
        return 2;
    }
    FILE* out = fopen(arguments[1], "w");
    if (out == NULL) {
        perror(arguments[1]);
        return 1;
    }
    fprintf(out, "# machine: %s\n# compiler: %s, %s\n# siconos: %s\n# commit: %s\n",
            circumstance("TIPPE_BENCH_MACHINE"), circumstance("TIPPE_BENCH_COMPILER"),
            circumstance("TIPPE_BENCH_FLAGS"), circumstance("TIPPE_BENCH_OPPONENT"),
            circumstance("TIPPE_BENCH_COMMIT"));
    fprintf(out, "kind,name,solver,contacts,mean_ms,median_ms,largest_ms,failed\n");
    setvbuf(stdout, NULL, _IOLBF, 0);
    benchScenes(out);
    benchLcp(out);
    benchContacts(out);
    return fclose(out) == 0 ? 0 : 1;
}
