// What the broad phases cost against the number of boxes, the speed at which they move, and the
// ratio of the largest box to the smallest. CPU times of one thread, the least and the mean over
// the steps of a run.
//
//     bench_broad_phase RESULTS.csv

#include "collision/broad_phase.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { boxLimit = 100000, stepCount = 60, warmSteps = 10 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double uniform(uint64_t* state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

// Boxes in a cube that they fill to a tenth; sides between 1 / ratio and 1, speeds relative to the
// sides.
typedef struct Scene {
    tpVec3 centers[boxLimit], velocities[boxLimit];
    double halves[boxLimit];
    tpBounds bounds[boxLimit];
    uint8_t kinds[boxLimit];
    double width;
    int count;
} Scene;

static tpVec3 randomPoint(uint64_t* state) {
    double x = uniform(state), y = uniform(state);
    return tpMakeVec3(x, y, uniform(state));
}

static void scatter(Scene* scene, int count, double ratio, double speed) {
    uint64_t state = 1;
    double volume = 0.0;
    scene->count = count;
    for (int i = 0; i < count; ++i) {
        double side = pow(ratio, -uniform(&state));
        scene->halves[i] = 0.5 * side;
        scene->kinds[i] = tp_movableProxy;
        volume += side * side * side;
    }
    scene->width = cbrt(10.0 * volume);
    for (int i = 0; i < count; ++i) {
        tpVec3 direction = tpSub(randomPoint(&state), tpMakeVec3(0.5, 0.5, 0.5));
        scene->centers[i] = tpScale(scene->width, randomPoint(&state));
        scene->velocities[i] = tpScale(2.0 * speed * scene->halves[i], tpNormalize(direction));
    }
}

// One step; boxes turn back at the walls.
static double turnBack(double place, double width, double* velocity) {
    if (place < 0.0 || place > width) {
        *velocity = place < 0.0 ? fabs(*velocity) : -fabs(*velocity);
    }
    return place;
}

static void move(Scene* scene) {
    for (int i = 0; i < scene->count; ++i) {
        tpVec3* c = &scene->centers[i];
        tpVec3* v = &scene->velocities[i];
        *c = tpAdd(*c, *v);
        c->x = turnBack(c->x, scene->width, &v->x);
        c->y = turnBack(c->y, scene->width, &v->y);
        c->z = turnBack(c->z, scene->width, &v->z);
        tpVec3 h = tpMakeVec3(scene->halves[i], scene->halves[i], scene->halves[i]);
        scene->bounds[i] = (tpBounds){ tpSub(*c, h), tpAdd(*c, h) };
    }
}

static bool allPairs(const void* context, int32_t a, int32_t b) {
    (void)context;
    (void)a;
    (void)b;
    return true;
}

static void measure(FILE* csv, const tpBroadPhaseClass* class, Scene* scene, int count,
                    double ratio, double speed) {
    tpAllocator allocator = tpDefaultAllocator();
    tpBroadPhase* broadPhase;
    tpPairArray pairs = { 0 };
    if (class->create(&allocator, &broadPhase) != tp_success) {
        exit(1);
    }
    scatter(scene, count, ratio, speed);
    double least = HUGE_VAL, sum = 0.0;
    for (int step = 0; step < stepCount; ++step) {
        move(scene);
        tpProxies proxies = { scene->bounds, scene->kinds, scene->count, allPairs, NULL, NULL };
        double start = now();
        class->findPairs(broadPhase, &proxies, NULL, &pairs);
        double time = now() - start;
        if (step >= warmSteps) {
            least = fmin(least, time);
            sum += time;
        }
    }
    double mean = sum / (stepCount - warmSteps);
    printf(
        "%-5s %7d boxes, ratio %7g, speed %5g: %8.3f ms (least %.3f), %.0f ns per box, %d pairs\n",
        class->name, count, ratio, speed, 1e3 * mean, 1e3 * least, 1e9 * mean / count, pairs.count);
    fprintf(csv, "%s,%d,%g,%g,%.9g,%.9g,%d\n", class->name, count, ratio, speed, least, mean,
            pairs.count);
    TP_FREE_ARRAY(&allocator, pairs);
    class->destroy(broadPhase);
}

static const char* describe(const char* name) {
    const char* value = getenv(name);
    return value != NULL ? value : "not said";
}

int main(int argc, char** argv) {
    FILE* csv = argc > 1 ? fopen(argv[1], "w") : NULL;
    Scene* scene = malloc(sizeof(Scene));
    if (csv == NULL || scene == NULL) {
        fprintf(stderr, "usage: bench_broad_phase RESULTS.csv\n");
        return 2;
    }
    fprintf(csv, "# machine: %s\n# compiler: %s\n# flags: %s\n# commit: %s\n",
            describe("TIPPE_BENCH_MACHINE"), describe("TIPPE_BENCH_COMPILER"),
            describe("TIPPE_BENCH_FLAGS"), describe("TIPPE_BENCH_COMMIT"));
    fprintf(csv, "broad_phase,boxes,ratio,speed,least_s,mean_s,pairs\n");
    const tpBroadPhaseClass* const classes[2] = { &tp_treeBroadPhase, &tp_hashBroadPhase };
    for (int c = 0; c < 2; ++c) {
        for (int count = 1000; count <= boxLimit; count *= 10) {
            measure(csv, classes[c], scene, count, 2.0, 0.01);
        }
        for (double speed = 0.0; speed <= 0.2; speed = speed == 0.0 ? 0.002 : 10.0 * speed) {
            measure(csv, classes[c], scene, 10000, 2.0, speed);
        }
        for (double ratio = 1.0; ratio <= 1e6; ratio *= 100.0) {
            measure(csv, classes[c], scene, 10000, ratio, 0.01);
        }
    }
    free(scene);
    return fclose(csv) == 0 ? 0 : 1;
}
