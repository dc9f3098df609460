// A world that is simulated while someone looks: its frames, its pace, its orders. Knows no thread
// and no lock; live_run.h puts it into one, the playground steps it between messages.

#ifndef TIPPE_APP_PAGE_LIVE_WORLD_H
#define TIPPE_APP_PAGE_LIVE_WORLD_H

#include "page/live_frames.h"
#include "page/live_settings.h"
#include "recording/shapes_text.h"
#include "tippe/scene.h"

// What changes: `version` counts orders obeyed and stops, `epoch` starts from the beginning and
// forks.
typedef struct tpLiveStatus {
    int64_t firstFrame, frameCount;
    uint64_t version, epoch;
    bool isRunning;
    double step, speed;
    double factor; // simulated seconds for one of the clock, lately
    tpStepperId stepper;
    char message[256]; // of the last stop or order that could not be obeyed, or ""
} tpLiveStatus;

typedef struct tpLiveWorld {
    const tpScene* scene; // NULL: the world is watched
    int threadCount;
    tpAllocator allocator;
    tpWorld* world;
    uint64_t structure; // of a watched world, when the roster was made
    tpRoster roster;
    tpShapesText shapes;
    tpLiveFrames frames;
    tpLiveSettings settings;
    tpLiveStatus status;
    bool hasRun;      // was told to, at least once
    int stepsWanted;  // while it does not run
    double limit;     // s of the world, at which it stands
    tpLiveOrder drag; // the last one, while it lasts
    bool isDragging;
    double clockStart, timeStart; // of the pace: when the world was at timeStart
} tpLiveWorld;

// The scene has to live as long as the world. On failure the world is closed.
tpResult openLiveWorld(tpLiveWorld* live, const tpScene* scene, int threadCount, size_t memoryLimit,
                       tpError* error);
void closeLiveWorld(tpLiveWorld* live);

// A world that someone else owns and steps: its frames are kept, it obeys nobody. `step` is the
// length that steps usually have, s.
tpResult watchWorld(tpLiveWorld* live, tpWorld* world, double step, size_t memoryLimit,
                    tpError* error);
// Whether it has other bodies or joints than those that are described; and describes it anew, from
// its present state on.
bool hasWatchedChanged(const tpLiveWorld* live);
void describeWatchedAnew(tpLiveWorld* live);

// After each step of it.
void keepWatchedStep(tpLiveWorld* live, const tpStepReport* report, double h);

// `now` is the clock in seconds.
void obeyLiveOrder(tpLiveWorld* live, const tpLiveOrder* order, double now);

// Whether a step is due; if not, `wait` is the time until one is, infinite if the world stands.
bool isLiveStepDue(tpLiveWorld* live, double now, double* wait);

// A step in three parts: the first and the last touch what others read, the one between only the
// world.
typedef struct tpLiveStep {
    double h; // s
    bool isDragging;
    tpLiveOrder drag;
    tpStepReport report;
    tpLiveFrame frame;
    bool isMade; // the frame
    double took; // s of the clock
} tpLiveStep;

tpLiveStep startLiveStep(tpLiveWorld* live);
void takeLiveStep(tpLiveWorld* live, tpLiveStep* step);
void finishLiveStep(tpLiveWorld* live, tpLiveStep* step);

double secondsOfClock(void); // of one that only goes forward

#endif
