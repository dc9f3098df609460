// Distances of convex hulls in coherent motion against FCL, and all pairs of many moving boxes
// against Bullet, in the same run, turn by turn. Times are CPU times of the one thread, the least
// and the median of several repeats.
//
//     bench_collision RESULTS.csv [hulls|boxes]

#include "opponents.h"

#include "collision/collider.h"
#include "geometry/hull.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { repeats = 5, maxVertices = 10002, boxCount = 10000, boxSteps = 10 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Times {
    double values[repeats];
    int count;
} Times;

static int compareNumbers(const void* a, const void* b) {
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double least(Times* t) {
    qsort(t->values, (size_t)t->count, sizeof(double), compareNumbers);
    return t->values[0];
}

static double median(Times* t) {
    qsort(t->values, (size_t)t->count, sizeof(double), compareNumbers);
    return t->values[t->count / 2];
}

static double uniform(uint64_t* state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

// Hulls ---------------------------------------------------------------------------------------

// Points spread over a sphere by the golden angle, shaken a little: 2 n - 4 triangles.
static tpGeometry makeRoundHull(int vertexCount) {
    static tpVec3 points[maxVertices];
    uint64_t state = 1;
    for (int i = 0; i < vertexCount; ++i) {
        double z = 1.0 - (2.0 * i + 1.0) / vertexCount, r = sqrt(1.0 - z * z);
        double angle = 2.399963229728653 * i + 0.1 * uniform(&state) / sqrt(vertexCount);
        points[i] = tpMakeVec3(r * cos(angle), r * sin(angle), z);
    }
    tpAllocator allocator = tpDefaultAllocator();
    tpGeometry hull;
    tpError error = { 0 };
    if (tpMakeHull(&allocator, points, vertexCount, tpIdentityPose(), &hull, &error) !=
        tp_success) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    return hull;
}

static FclPair* makeFclPair(const tpHull* hull) {
    int length = 0, *faces = malloc(sizeof(int) * (size_t)(hull->faceCount + 2 * hull->edgeCount));
    for (int f = 0; f < hull->faceCount; ++f) {
        faces[length++] = tpHull_FaceSize(hull, f);
        for (int k = hull->faceFirst[f]; k < hull->faceFirst[f + 1]; ++k) {
            faces[length++] = hull->faceVertices[k];
        }
    }
    FclPair* pair =
        fclCreatePair(hull->vertices, hull->vertexCount, faces, hull->faceCount, length);
    free(faces);
    return pair;
}

// One body circles the other, both spin: `turn` radians a step.
static void placePair(int step, double turn, tpPose* a, tpPose* b) {
    double t = turn * step;
    tpVec3 place = tpMakeVec3(cos(t), sin(t) * cos(0.3 * t), sin(t) * sin(0.3 * t));
    double distance = 2.3 + 0.25 * sin(2.0 * t);
    a->position = tpScale(distance, place);
    a->rotation = tpQuatExp(tpMakeVec3(0.7 * t, 0.2 * t, -0.4 * t));
    b->position = tpZeroVec3();
    b->rotation = tpQuatExp(tpMakeVec3(-0.1 * t, 0.5 * t, 0.3 * t));
}

static void benchHulls(FILE* csv, int faces, bool withFcl, double turn) {
    tpGeometry hull = makeRoundHull(faces / 2 + 2);
    FclPair* fcl = withFcl ? makeFclPair(hull.hull) : NULL;
    enum { steps = 8000 };
    static tpPose a[steps], b[steps];
    for (int i = 0; i < steps; ++i) {
        placePair(i, turn, &a[i], &b[i]);
    }
    int fclSteps = faces > 1000 ? 300 : 1500;
    Times ours = { .count = 0 }, cold = { .count = 0 }, theirs[2] = { { .count = 0 } };
    double sumOurs = 0.0, sumTheirs = 0.0;
    for (int r = 0; r < repeats; ++r) {
        tpPairCache cache = { { 0 } };
        tpClosest closest;
        double start = now();
        sumOurs = 0.0;
        for (int i = 0; i < steps; ++i) {
            tpClosestPoints(&hull, a[i], &hull, b[i], &cache, &closest);
            sumOurs += i < fclSteps ? closest.distance : 0.0;
        }
        ours.values[ours.count++] = (now() - start) / steps;
        start = now();
        for (int i = 0; i < fclSteps; ++i) {
            tpClosestPoints(&hull, a[i], &hull, b[i], NULL, &closest);
        }
        cold.values[cold.count++] = (now() - start) / fclSteps;
        // FCL's own solver is two orders slower on large hulls, and left out there.
        for (int solver = 0; solver < (faces > 1000 ? 1 : 2) && withFcl; ++solver) {
            start = now();
            sumTheirs = 0.0;
            for (int i = 0; i < fclSteps; ++i) {
                sumTheirs += fclDistance(fcl, solver, a[i], b[i]);
            }
            theirs[solver].values[theirs[solver].count++] = (now() - start) / fclSteps;
        }
    }
    double best = 0.0;
    if (withFcl) {
        best = least(&theirs[0]);
        if (theirs[1].count > 0) {
            best = fmin(best, least(&theirs[1]));
        }
        printf("%6d faces: %7.0f ns (cold %7.0f)  FCL %8.0f ns  ratio %5.1f  mean distances differ "
               "by %.1e\n",
               hull.hull->faceCount, 1e9 * least(&ours), 1e9 * least(&cold), 1e9 * best,
               best / least(&ours), fabs(sumOurs - sumTheirs) / fclSteps);
    } else {
        printf("%6d faces, %.3f rad a step: %7.0f ns (cold %7.0f)\n", hull.hull->faceCount, turn,
               1e9 * least(&ours), 1e9 * least(&cold));
    }
    fprintf(csv, "hull distance,%d,%g,%.9g,%.9g,%.9g,%.9g,%.9g\n", hull.hull->faceCount, turn,
            least(&ours), median(&ours), least(&cold), withFcl ? best : 0.0,
            withFcl ? best / least(&ours) : 0.0);
    if (fcl != NULL) {
        fclDestroyPair(fcl);
    }
    tpReleaseGeometry(&hull);
}

// Random pairs of one hull with itself: where Tippe and FCL differ, in distance (columns
// seconds_least and seconds_median: FCL's larger, smaller by) or in whether they touch (column
// ratio: how many).
static void compareWithFcl(FILE* csv, int faces, int count) {
    tpGeometry hull = makeRoundHull(faces / 2 + 2);
    FclPair* fcl = makeFclPair(hull.hull);
    uint64_t s = 5;
    int apart = 0, disagree = 0;
    double larger = 0.0, smaller = 0.0;
    for (int i = 0; i < count; ++i) {
        tpPose poses[2];
        for (int k = 0; k < 2; ++k) {
            poses[k].position =
                tpScale(2.0, tpMakeVec3(uniform(&s) - 0.5, uniform(&s) - 0.5, uniform(&s) - 0.5));
            poses[k].rotation = tpNormalizeQuat(tpMakeQuat(uniform(&s) - 0.5, uniform(&s) - 0.5,
                                                           uniform(&s) - 0.5, uniform(&s) - 0.5));
        }
        poses[1].position.x += 2.2 * uniform(&s);
        tpClosest closest;
        tpClosestPoints(&hull, poses[0], &hull, poses[1], NULL, &closest);
        double distance = fclDistance(fcl, 0, poses[0], poses[1]);
        // FCL says -1, not the depth, of pairs that overlap.
        if (closest.distance > 1e-6) {
            larger = fmax(larger, distance - closest.distance);
            smaller = fmax(smaller, closest.distance - distance);
            ++apart;
        }
        disagree += fabs(closest.distance) > 1e-6 && (closest.distance > 0.0) != (distance > 0.0);
    }
    // Nearest points give a distance from above: FCL's may be larger where it stops early, never
    // smaller.
    printf("%6d faces: %d random pairs, %d apart: FCL's distances are larger by up to %.1e, "
           "smaller by "
           "up to %.1e; %d differ in whether they touch\n",
           hull.hull->faceCount, count, apart, larger, smaller, disagree);
    fprintf(csv, "difference from FCL,%d,%d,%.9g,%.9g,,,%d\n", hull.hull->faceCount, count, larger,
            smaller, disagree);
    fclDestroyPair(fcl);
    tpReleaseGeometry(&hull);
}

// Boxes ---------------------------------------------------------------------------------------

typedef struct Boxes {
    tpVec3 sizes[boxCount];
    tpPose poses[boxCount];
    tpVec3 velocities[boxCount], spins[boxCount];
    double width;
} Boxes;

static void scatterBoxes(Boxes* boxes, double density) {
    uint64_t s = 42;
    double volume = 0.0;
    for (int i = 0; i < boxCount; ++i) {
        boxes->sizes[i] = tpMakeVec3(0.5 + uniform(&s), 0.5 + uniform(&s), 0.5 + uniform(&s));
        volume += boxes->sizes[i].x * boxes->sizes[i].y * boxes->sizes[i].z;
    }
    boxes->width = cbrt(volume / density);
    for (int i = 0; i < boxCount; ++i) {
        tpVec3 p = tpMakeVec3(uniform(&s), uniform(&s), uniform(&s));
        boxes->poses[i].position = tpScale(boxes->width, p);
        boxes->poses[i].rotation = tpNormalizeQuat(
            tpMakeQuat(uniform(&s) - 0.5, uniform(&s) - 0.5, uniform(&s) - 0.5, uniform(&s) - 0.5));
        boxes->velocities[i] = tpMakeVec3(uniform(&s) - 0.5, uniform(&s) - 0.5, uniform(&s) - 0.5);
        boxes->spins[i] = tpMakeVec3(uniform(&s) - 0.5, uniform(&s) - 0.5, uniform(&s) - 0.5);
    }
}

static void moveBoxes(Boxes* boxes, double h) {
    for (int i = 0; i < boxCount; ++i) {
        tpPose* pose = &boxes->poses[i];
        pose->position = tpMulAdd(pose->position, h, boxes->velocities[i]);
        pose->rotation =
            tpNormalizeQuat(tpMulQQ(tpQuatExp(tpScale(h, boxes->spins[i])), pose->rotation));
    }
}

static tpCollider* makeCollider(const Boxes* boxes) {
    tpColliderDef def = { .allocator = tpDefaultAllocator() };
    tpCollider* collider;
    if (tpCreateCollider(&def, &collider) != tp_success) {
        exit(1);
    }
    for (int i = 0; i < boxCount; ++i) {
        tpGeometry box;
        tpMakeBox(&(tpBox){ boxes->sizes[i] }, tpIdentityPose(), &box, NULL);
        tpColliderShapeDef shape = { &box, tpIdentityPose(), i, true, 1, 1 };
        if (tpCollider_PutShape(collider, i, &shape) != tp_success) {
            exit(1);
        }
    }
    return collider;
}

// Half the margin of Bullet's for each body: contacts are kept up to 0.02 apart by both.
static void benchBoxes(FILE* csv, double density) {
    static Boxes boxes;
    static double margins[boxCount];
    for (int i = 0; i < boxCount; ++i) {
        margins[i] = 0.01;
    }
    Times ours = { .count = 0 }, theirs = { .count = 0 };
    int contacts = 0, pairs = 0, points = 0, touching = 0;
    for (int r = 0; r < repeats; ++r) {
        scatterBoxes(&boxes, density);
        tpCollider* collider = makeCollider(&boxes);
        BulletBoxes* bullet = bulletCreateBoxes(boxes.sizes, boxes.poses, boxCount);
        double timeOurs = 0.0, timeTheirs = 0.0;
        // The first step builds trees and memory.
        for (int step = 0; step <= boxSteps; ++step) {
            double start = now();
            tpCollider_Update(collider, boxes.poses, margins, NULL);
            double middle = now();
            bulletMove(bullet, boxes.poses);
            int n = bulletUpdate(bullet, &points);
            double end = now();
            touching = n;
            timeOurs += step > 0 ? middle - start : 0.0;
            timeTheirs += step > 0 ? end - middle : 0.0;
            moveBoxes(&boxes, 1.0 / 60.0);
        }
        tpCollider_GetContacts(collider, &contacts);
        tpCollider_GetPairs(collider, &pairs);
        ours.values[ours.count++] = timeOurs / boxSteps;
        theirs.values[theirs.count++] = timeTheirs / boxSteps;
        tpDestroyCollider(collider);
        bulletDestroyBoxes(bullet);
    }
    double ratio = least(&theirs) / least(&ours);
    printf("%d boxes, filling %.2f: %.2f ms per step (%d pairs, %d contacts)  Bullet %.2f ms (%d "
           "touching pairs, %d contacts)  ratio %.2f\n",
           boxCount, density, 1e3 * least(&ours), pairs, contacts, 1e3 * least(&theirs), touching,
           points, ratio);
    fprintf(csv, "boxes,%d,%g,%.9g,%.9g,,%.9g,%.9g\n", boxCount, density, least(&ours),
            median(&ours), least(&theirs), ratio);
}

int main(int argc, char** argv) {
    FILE* csv = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (csv == NULL) {
        fprintf(stderr, "usage: bench_collision RESULTS.csv [hulls|boxes]\n");
        return 2;
    }
    const char* about[][2] = { { "machine", "TIPPE_BENCH_MACHINE" },
                               { "compiler", "TIPPE_BENCH_COMPILER" },
                               { "flags", "TIPPE_BENCH_FLAGS" },
                               { "opponents", "TIPPE_BENCH_OPPONENT" },
                               { "commit", "TIPPE_BENCH_COMMIT" } };
    for (size_t i = 0; i < sizeof about / sizeof about[0]; ++i) {
        const char* value = getenv(about[i][1]);
        fprintf(csv, "# %s: %s\n", about[i][0], value != NULL ? value : "unknown");
    }
    fprintf(csv, "what,size,parameter,seconds_least,seconds_median,seconds_cold,"
                 "opponent_seconds_least,ratio\n");
    static const int faces[] = { 20, 40, 80, 162, 320, 640, 1280, 2560, 5000, 10000, 20000 };
    const char* only = argc > 2 ? argv[2] : "";
    if (strcmp(only, "boxes") != 0) {
        compareWithFcl(csv, 20, 20000);
        compareWithFcl(csv, 162, 20000);
    }
    for (size_t i = 0; i < sizeof faces / sizeof faces[0] && strcmp(only, "boxes") != 0; ++i) {
        bool isNamed = faces[i] == 20 || faces[i] == 162 || faces[i] == 5000;
        benchHulls(csv, faces[i], isNamed, 0.01);
        benchHulls(csv, faces[i], false, 0.001);
    }
    if (strcmp(only, "hulls") != 0) {
        benchBoxes(csv, 0.1);
        benchBoxes(csv, 0.3);
    }
    fclose(csv);
    return 0;
}
