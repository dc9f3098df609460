// Distances of smooth pairs in coherent motion and from a cold start, derivatives, times of impact.
// CPU times of the one thread, the least and the median of several repeats.
//
//     bench_smooth [RESULTS.csv]

#include "collision/smooth_distance.h"
#include "tippe/collision.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { repeats = 7, pairCount = 64, stepCount = 200 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compareNumbers(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double uniform(uint64_t* state, double low, double high) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (high - low) * (double)(*state >> 11) * 0x1p-53;
}

static tpVec3 uniformVec3(uint64_t* state, double low, double high) {
    double x = uniform(state, low, high), y = uniform(state, low, high);
    return tpMakeVec3(x, y, uniform(state, low, high));
}

static tpGeometry makeShape(uint64_t* state, tpShapeType type) {
    tpVec3 s = uniformVec3(state, 0.5, 1.5);
    tpGeometry out;
    tpError error = { 0 };
    tpPose pose = tpIdentityPose();
    switch (type) {
    case tp_sphereShape:
        tpMakeSphere(&(tpSphere){ s.x }, pose, &out, &error);
        break;
    case tp_capsuleShape:
        tpMakeCapsule(&(tpCapsule){ s.x, s.y, { 0.0, 0.0, 1.0 } }, pose, &out, &error);
        break;
    case tp_boxShape:
        tpMakeBox(&(tpBox){ s }, pose, &out, &error);
        break;
    case tp_cylinderShape:
        tpMakeCylinder(&(tpCylinder){ s.x, s.y, { 0.0, 0.0, 1.0 } }, pose, &out, &error);
        break;
    case tp_superellipsoidShape: {
        tpSuperellipsoid def = { s, { uniform(state, 0.4, 1.6), uniform(state, 0.4, 1.6) } };
        tpMakeSuperellipsoid(&def, pose, &out, &error);
        break;
    }
    case tp_planeShape:
        tpMakePlane(&(tpPlane){ { 0.0, 0.0, 1.0 }, 0.0 }, pose, &out, &error);
        break;
    default:
        tpMakeEllipsoid(&(tpEllipsoid){ s }, pose, &out, &error);
        break;
    }
    return out;
}

typedef enum Mode { warm, cold, derivatives } Mode;

typedef struct Case {
    const char* name;
    tpShapeType a, b;
    double gap; // at the start, m
    Mode mode;
} Case;

static const Case cases[] = {
    { "sphere sphere", tp_sphereShape, tp_sphereShape, 0.2, warm },
    { "sphere plane", tp_sphereShape, tp_planeShape, 0.2, warm },
    { "capsule capsule", tp_capsuleShape, tp_capsuleShape, 0.2, warm },
    { "sphere ellipsoid", tp_sphereShape, tp_ellipsoidShape, 0.2, warm },
    { "ellipsoid plane", tp_ellipsoidShape, tp_planeShape, 0.2, warm },
    { "ellipsoid ellipsoid, apart", tp_ellipsoidShape, tp_ellipsoidShape, 1.0, warm },
    { "ellipsoid ellipsoid, apart, cold", tp_ellipsoidShape, tp_ellipsoidShape, 1.0, cold },
    { "ellipsoid ellipsoid, shallow overlap", tp_ellipsoidShape, tp_ellipsoidShape, -0.05, warm },
    { "ellipsoid ellipsoid, overlap, cold", tp_ellipsoidShape, tp_ellipsoidShape, -0.05, cold },
    { "ellipsoid ellipsoid, with derivatives", tp_ellipsoidShape, tp_ellipsoidShape, 1.0,
      derivatives },
    { "ellipsoid box", tp_ellipsoidShape, tp_boxShape, 1.0, warm },
    { "cylinder box", tp_cylinderShape, tp_boxShape, 1.0, warm },
    { "cylinder cylinder", tp_cylinderShape, tp_cylinderShape, 1.0, warm },
    { "superellipsoid superellipsoid", tp_superellipsoidShape, tp_superellipsoidShape, 1.0, warm },
};

// All pairs of a case through their motion: 0.01 rad and 1 mm a step. Returns seconds a query.
static double runCase(const Case* c, double* checksum) {
    uint64_t state = 7;
    double spent = 0.0;
    for (int p = 0; p < pairCount; ++p) {
        tpGeometry a = makeShape(&state, c->a), b = makeShape(&state, c->b);
        tpVec3 way = tpNormalize(uniformVec3(&state, -1.0, 1.0));
        if (c->b == tp_planeShape) {
            way = tpMakeVec3(0.0, 0.0, 1.0);
        }
        tpPose bodyA = { tpScale(6.0, way), tpQuatExp(uniformVec3(&state, -2.0, 2.0)) };
        tpPose bodyB = { tpZeroVec3(), tpQuatExp(uniformVec3(&state, -2.0, 2.0)) };
        tpSmoothResult first;
        tpSmoothClosest(&a, bodyA, &b, bodyB, NULL, &first);
        bodyA.position = tpMulAdd(bodyA.position, c->gap - first.gap, first.normal);
        tpQuat turn = tpQuatExp(tpScale(0.01, tpNormalize(uniformVec3(&state, -1.0, 1.0))));
        tpVec3 drift = tpScale(0.001, tpNormalize(uniformVec3(&state, -1.0, 1.0)));
        tpSmoothCache cache = { 0 };
        double start = now();
        for (int k = 0; k < stepCount; ++k) {
            tpSmoothResult r;
            tpSmoothDerivatives d;
            tpSmoothClosest(&a, bodyA, &b, bodyB, c->mode == cold ? NULL : &cache, &r);
            if (c->mode == derivatives) {
                tpDifferentiateSmooth(&r, bodyA, bodyB, &d);
                *checksum += d.normal[0][4];
            }
            *checksum += r.gap;
            bodyA.rotation = tpMulQQ(turn, bodyA.rotation);
            bodyA.position = tpMulAdd(bodyA.position, k < stepCount / 2 ? 1.0 : -1.0, drift);
        }
        spent += now() - start;
    }
    return spent / (pairCount * stepCount);
}

// Boxes that tumble towards each other: the first touch to a micrometre.
static double runImpacts(double* checksum) {
    uint64_t state = 9;
    double spent = 0.0;
    for (int p = 0; p < pairCount; ++p) {
        tpGeometry a = makeShape(&state, tp_boxShape), b = makeShape(&state, tp_boxShape);
        tpBodyPath pathA = { .pose = { uniformVec3(&state, 2.0, 4.0), tpIdentityQuat() },
                             .acceleration = { 0.0, 0.0, -9.81 },
                             .angularVelocity = uniformVec3(&state, -10.0, 10.0) };
        tpBodyPath pathB = { .pose = tpIdentityPose(),
                             .angularVelocity = uniformVec3(&state, -10.0, 10.0) };
        pathA.velocity = tpAdd(tpScale(-2.0, pathA.pose.position), tpMakeVec3(0.0, 0.0, 3.0));
        tpFirstTouch impact;
        double start = now();
        tpTimeOfImpact(&a, &pathA, &b, &pathB, 1.0, 1e-6, 0, NULL, &impact);
        spent += now() - start;
        *checksum += impact.time;
    }
    return spent / pairCount;
}

static void report(FILE* file, const char* name, double times[repeats]) {
    qsort(times, repeats, sizeof(double), compareNumbers);
    printf("%-40s %10.1f ns %10.1f ns\n", name, 1e9 * times[0], 1e9 * times[repeats / 2]);
    if (file != NULL) {
        fprintf(file, "\"%s\",%.1f,%.1f\n", name, 1e9 * times[0], 1e9 * times[repeats / 2]);
    }
}

// What the numbers were measured with; run.sh says it in the environment.
static void describe(FILE* file) {
    static const char* const about[][2] = { { "machine", "TIPPE_BENCH_MACHINE" },
                                            { "compiler", "TIPPE_BENCH_COMPILER" },
                                            { "flags", "TIPPE_BENCH_FLAGS" },
                                            { "commit", "TIPPE_BENCH_COMMIT" } };
    for (size_t k = 0; k < sizeof about / sizeof about[0]; ++k) {
        const char* text = getenv(about[k][1]);
        fprintf(file, "# %s: %s\n", about[k][0], text != NULL ? text : "not told");
    }
    fprintf(file, "query,least_ns,median_ns\n");
}

int main(int argc, char** argv) {
    FILE* file = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (argc > 1 && file == NULL) {
        fprintf(stderr, "cannot write %s\n", argv[1]);
        return 2;
    }
    if (file != NULL) {
        describe(file);
    }
    double times[repeats], checksum = 0.0;
    printf("%-40s %13s %13s\n", "query", "least", "median");
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        for (int i = 0; i < repeats; ++i) {
            times[i] = runCase(&cases[k], &checksum);
        }
        report(file, cases[k].name, times);
    }
    for (int i = 0; i < repeats; ++i) {
        times[i] = runImpacts(&checksum);
    }
    report(file, "time of impact of tumbling boxes", times);
    printf("checksum %.12g\n", checksum);
    if (file != NULL) {
        fclose(file);
    }
    return 0;
}
