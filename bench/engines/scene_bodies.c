#include "scene_bodies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void fail(const char* what) {
    fprintf(stderr, "%s\n", what);
    exit(2);
}

static BenchBody readBody(const tpWorld* world, tpBodyId id) {
    if (tpBody_GetShapeCount(world, id) != 1) {
        fail("bodies of benchmark scenes have one shape each");
    }
    const tpGeometry* geometry = tpShape_GetGeometry(world, tpBody_GetShape(world, id, 0));
    if (geometry->type != tp_sphereShape && geometry->type != tp_boxShape) {
        fail("shapes of benchmark scenes are spheres and boxes");
    }
    BenchBody body = { 0 };
    body.isFixed = tpBody_GetKind(world, id) == tp_fixedBody;
    body.type = geometry->type;
    body.size = geometry->type == tp_boxShape ? geometry->box.size
                                              : tpMakeVec3(geometry->sphere.radius, 0.0, 0.0);
    body.pose = tpBody_GetPose(world, id);
    tpMassProperties mass = tpBody_GetMass(world, id);
    body.mass = mass.mass;
    body.inertia = tpMakeVec3(mass.inertia.cx.x, mass.inertia.cy.y, mass.inertia.cz.z);
    return body;
}

BenchScene openBenchScene(const char* path, const char* stepper, int threadCount) {
    BenchScene bench = { 0 };
    tpError error;
    tpSceneOverrides overrides = { .stepper = stepper };
    if (tpReadScene(path, NULL, &bench.scene, &error) != tp_success ||
        tpScene_Override(bench.scene, &overrides, &error) != tp_success ||
        tpScene_CreateWorld(bench.scene, NULL, threadCount, &bench.world, &error) != tp_success) {
        fail(error.message);
    }
    bench.bodyCount = tpWorld_GetBodyCount(bench.world);
    bench.bodies = calloc((size_t)bench.bodyCount, sizeof(BenchBody));
    if (bench.bodies == NULL) {
        fail("out of memory");
    }
    for (int i = 0; i < bench.bodyCount; ++i) {
        bench.bodies[i] = readBody(bench.world, tpWorld_GetBody(bench.world, i));
    }
    tpBodyId last = tpWorld_GetBody(bench.world, bench.bodyCount - 1);
    tpMaterialId material = tpShape_GetMaterial(bench.world, tpBody_GetShape(bench.world, last, 0));
    tpFriction friction;
    tpGetMaterialPair(bench.world, material, material, &friction, &bench.restitution);
    bench.friction = friction.dynamicCoefficient;
    bench.step = bench.scene->simulation.step;
    bench.gravity = tpWorld_GetGravity(bench.world);
    return bench;
}

void closeBenchScene(BenchScene* scene) {
    free(scene->bodies);
    tpDestroyWorld(scene->world);
    tpDestroyScene(scene->scene);
}

// Journal ---------------------------------------------------------------------------------------

struct RunJournal {
    FILE *times, *poses;
    int every, bodyCount;
    long stepCount;
    double wallStart, cpuStart;
    double wallSum, cpuSum;
};

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static FILE* create(const char* out, const char* ending) {
    char name[4096];
    snprintf(name, sizeof name, "%s%s", out, ending);
    FILE* file = fopen(name, "wb");
    if (file == NULL) {
        fail(name);
    }
    return file;
}

RunJournal* openRunJournal(const char* out, int bodyCount, int every) {
    RunJournal* journal = calloc(1, sizeof(RunJournal));
    if (journal == NULL) {
        fail("out of memory");
    }
    journal->times = create(out, ".times");
    journal->poses = create(out, ".poses");
    journal->every = every;
    journal->bodyCount = bodyCount;
    return journal;
}

void runJournal_StartStep(RunJournal* journal) {
    journal->cpuStart = now(CLOCK_PROCESS_CPUTIME_ID);
    journal->wallStart = now(CLOCK_MONOTONIC);
}

void runJournal_EndStep(RunJournal* journal) {
    double seconds[2] = { now(CLOCK_MONOTONIC) - journal->wallStart,
                          now(CLOCK_PROCESS_CPUTIME_ID) - journal->cpuStart };
    fwrite(seconds, sizeof seconds, 1, journal->times);
    journal->wallSum += seconds[0];
    journal->cpuSum += seconds[1];
    ++journal->stepCount;
}

bool runJournal_WantsPoses(const RunJournal* journal) {
    return journal->stepCount % journal->every == 0;
}

void runJournal_AddPose(RunJournal* journal, tpPose pose) {
    double numbers[7] = { pose.position.x, pose.position.y, pose.position.z, pose.rotation.w,
                          pose.rotation.x, pose.rotation.y, pose.rotation.z };
    fwrite(numbers, sizeof numbers, 1, journal->poses);
}

// The most memory this program has had; that of getrusage would count the one that started it.
static long peakMemory(void) {
    long kilobytes = 0;
    char line[256];
    FILE* status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            kilobytes = strtol(line + 6, NULL, 10);
        }
    }
    if (status != NULL) {
        fclose(status);
    }
    return kilobytes * 1024L;
}

void closeRunJournal(RunJournal* journal, const char* engine, double contactsMean,
                     const char* more) {
    double steps = (double)journal->stepCount;
    printf("{\"engine\": \"%s\", \"steps\": %ld, \"contacts_mean\": %.1f, \"wall_ms\": %.4f, "
           "\"cpu_ms\": %.4f, \"peak_memory_bytes\": %ld%s}\n",
           engine, journal->stepCount, contactsMean, 1e3 * journal->wallSum / steps,
           1e3 * journal->cpuSum / steps, peakMemory(), more);
    fclose(journal->times);
    fclose(journal->poses);
    free(journal);
}
