// What it costs a run to force its recording to disk, four times per second.
//
//     build/release/bench/bench_sync DIRECTORY [SECONDS]
//
// Bodies in free flight are recorded in every step for some seconds, with forcing and without, in
// turns. Printed are steps per second of the run and, of a writer that does nothing but commit, the
// time of a commit. The directory decides which disk is measured.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "recording/clock.h"
#include "tippe/recording.h"

static tpWorld* makeWorld(int bodyCount) {
    tpWorldDef def = tpDefaultWorldDef();
    def.stepper = tp_freeFlight;
    tpWorld* world = tpCreateWorld(&def);
    tpBodyDef body = tpDefaultBodyDef();
    body.hasMass = true;
    body.mass.mass = 1.0;
    body.mass.inertia = tpMakeMat33(tpMakeVec3(1.0, 0.0, 0.0), tpMakeVec3(0.0, 2.0, 0.0),
                                    tpMakeVec3(0.0, 0.0, 3.0));
    body.angularVelocity = tpMakeVec3(0.1, 3.0, 0.2);
    for (int i = 0; i < bodyCount; ++i) {
        body.position = tpMakeVec3(i, 0.0, 0.0);
        tpCreateBody(world, &body, NULL);
    }
    return world;
}

// Steps per second of a run that records each of them.
static double measure(const char* path, int bodyCount, bool sync, double seconds) {
    tpWorld* world = makeWorld(bodyCount);
    tpRecorderDef def = tpDefaultRecorderDef();
    tpError error = { tp_success, "" };
    def.path = path;
    def.step = 0.001;
    def.sync = sync;
    tpRecorder* recorder = tpCreateRecorder(&def, world, &error);
    if (recorder == NULL) {
        fprintf(stderr, "%s\n", error.message);
        exit(1);
    }
    double start = tpSecondsNow();
    int64_t count = 0;
    while (tpSecondsNow() - start < seconds) {
        tpStepReport report = tpWorld_Step(world, 0.001);
        if (tpRecorder_Step(recorder, world, &report, &error) != tp_success) {
            fprintf(stderr, "%s\n", error.message);
            exit(1);
        }
        ++count;
        struct timespec pause = { 0, 1000000 }; // a step that is not only recording
        nanosleep(&pause, NULL);
    }
    double stepping = tpSecondsNow() - start;
    tpCloseRecorder(recorder, NULL, &error);
    tpDestroyWorld(world);
    remove(path);
    return (double)count / stepping;
}

// Seconds of a commit with a frame in it, without a thread: the step waits for it.
static double measureCommit(const char* path, int bodyCount, bool sync) {
    tpWorld* world = makeWorld(bodyCount);
    tpRecorderDef def = tpDefaultRecorderDef();
    def.path = path;
    def.step = 0.001;
    def.sync = sync;
    def.background = false;
    tpRecorder* recorder = tpCreateRecorder(&def, world, NULL);
    double total = 0.0;
    int count = 0;
    for (int i = 0; i < 20; ++i) {
        struct timespec pause = { 0, 260000000 }; // so that the next frame commits
        nanosleep(&pause, NULL);
        tpStepReport report = tpWorld_Step(world, 0.001);
        double start = tpSecondsNow();
        tpRecorder_Step(recorder, world, &report, NULL);
        total += tpSecondsNow() - start;
        ++count;
    }
    tpCloseRecorder(recorder, NULL, NULL);
    tpDestroyWorld(world);
    remove(path);
    return total / count;
}

int main(int argumentCount, char** arguments) {
    char path[4096];
    snprintf(path, sizeof(path), "%s/bench_sync.h5", argumentCount > 1 ? arguments[1] : ".");
    double seconds = argumentCount > 2 ? atof(arguments[2]) : 3.0;
    printf("bodies,sync,steps_per_second,commit_ms\n");
    for (int bodies = 10; bodies <= 1000; bodies *= 10) {
        for (int round = 0; round < 3; ++round) {
            for (int sync = 0; sync < 2; ++sync) {
                double rate = measure(path, bodies, sync == 1, seconds);
                double commit = measureCommit(path, bodies, sync == 1);
                printf("%d,%d,%.1f,%.2f\n", bodies, sync, rate, 1e3 * commit);
                fflush(stdout);
            }
        }
    }
    return 0;
}
