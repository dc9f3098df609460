// What the event-driven stepper costs: scenes of the paper against real time, a distance question
// against the number of facets, and a step against the number of bodies that never meet.
//
// usage: bench_events [scenes|facets|bodies]...

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tippe/collision.h"
#include "tippe/scene.h"
#include "tippe/world.h"

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Simulated seconds for each second of one core.
static void runScene(const char* name, double length) {
    char path[512];
    snprintf(path, sizeof(path), "%s/scenes/%s.json", TIPPE_SOURCE_DIR, name);
    tpAllocator allocator = tpDefaultAllocator();
    tpError error = { tp_success, "" };
    tpScene* scene = NULL;
    tpWorld* world = NULL;
    if (tpReadScene(path, &allocator, &scene, &error) != tp_success ||
        tpScene_CreateWorld(scene, &allocator, 1, &world, &error) != tp_success) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    const double h = 1.0 / 30.0;
    int steps = (int)(length / h + 0.5);
    double start = seconds();
    for (int i = 0; i < steps; ++i) {
        tpWorld_Step(world, h);
    }
    double spent = seconds() - start;
    printf("%s,%g,%.4f,seconds of one core for so many simulated ones\n", name, length, spent);
    tpDestroyWorld(world);
    tpDestroyScene(scene);
}

static void runScenes(void) {
    runScene("coins", 5.0);
    runScene("bowling", 6.0);
    runScene("marbles", 2.0);
    runScene("marbles_spheres", 2.0);
    runScene("ball_platter", 10.0);
    runScene("block_ramp", 10.0);
}

// Two polyhedra with corners on spheres, which turn beside each other as bodies in flight do from
// one check to the next.
static void measureFacets(int corners) {
    tpAllocator allocator = tpDefaultAllocator();
    tpVec3* points = malloc((size_t)corners * sizeof(tpVec3));
    for (int i = 0; i < corners; ++i) { // Fibonacci's spiral
        double z = 1.0 - (2.0 * i + 1.0) / corners, angle = 2.399963229728653 * i;
        double r = sqrt(1.0 - z * z);
        points[i] = tpMakeVec3(r * cos(angle), r * sin(angle), z);
    }
    tpGeometry ball;
    tpError error;
    if (tpMakeHull(&allocator, points, corners, tpIdentityPose(), &ball, &error) != tp_success) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    free(points);
    tpPairCache cache;
    memset(&cache, 0, sizeof(cache));
    const int count = 40000;
    double sum = 0.0, start = seconds();
    for (int i = 0; i < count; ++i) {
        double angle = 1e-3 * i;
        tpPose a = tpMakePose(tpMakeVec3(0.0, 0.0, 2.01),
                              tpMakeQuat(cos(angle), 0.6 * sin(angle), 0.8 * sin(angle), 0.0));
        tpClosest closest;
        tpClosestPoints(&ball, a, &ball, tpIdentityPose(), &cache, &closest);
        sum += closest.distance;
    }
    double each = 1e6 * (seconds() - start) / count;
    printf("facets,%d,%.4f,microseconds a check\n", 2 * corners - 4, sum > 0.0 ? each : NAN);
    tpReleaseGeometry(&ball);
}

// Balls in a wide grid that fall beside each other.
static void measureBodies(int count) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_mirtichCanny;
    def.gravity = tpMakeVec3(0.0, 0.0, -9.81);
    tpWorld* world = tpCreateWorld(&def);
    tpShapeDef shape = tpDefaultShapeDef();
    int side = (int)ceil(sqrt(count));
    for (int i = 0; i < count; ++i) {
        tpBodyDef body = tpDefaultBodyDef();
        body.position = tpMakeVec3(4.0 * (i % side), 4.0 * (i / side), 0.0);
        body.velocity = tpMakeVec3(0.01 * (i % 7), 0.0, 0.02 * (i % 5));
        tpBodyId id = tpCreateBody(world, &body, NULL);
        tpCreateSphere(world, id, &shape, &(tpSphere){ .radius = 0.5 }, NULL);
    }
    for (int i = 0; i < 3; ++i) {
        tpWorld_Step(world, 1.0 / 30.0);
    }
    int checks = 0, steps = 20;
    double start = seconds();
    for (int i = 0; i < steps; ++i) {
        tpStepReport report = tpWorld_Step(world, 1.0 / 30.0);
        checks += tpStepReport_GetFigure(&report, "checks");
    }
    double each = 1e6 * (seconds() - start) / steps;
    printf("bodies,%d,%.2f,microseconds per step; %d checks\n", count, each, checks);
    tpDestroyWorld(world);
}

int main(int argumentCount, char** arguments) {
    bool all = argumentCount < 2;
    bool wants[3] = { all, all, all };
    for (int i = 1; i < argumentCount; ++i) {
        wants[0] = wants[0] || strcmp(arguments[i], "scenes") == 0;
        wants[1] = wants[1] || strcmp(arguments[i], "facets") == 0;
        wants[2] = wants[2] || strcmp(arguments[i], "bodies") == 0;
    }
    printf("what,size,value,about\n");
    if (wants[0]) {
        runScenes();
    }
    for (int corners = 22; wants[1] && corners <= 12000; corners = 2 * corners - 2) {
        measureFacets(corners);
    }
    for (int count = 125; wants[2] && count <= 16000; count *= 2) {
        measureBodies(count);
    }
    return 0;
}
