// A simulation that goes on in a thread of its own while others look at it.
//
// The thread owns the world. Others read frames that it has left in memory, up to a limit beyond which the
// oldest are forgotten, and give orders, which it obeys before its next step. Every function may be called
// from any one thread beside it.

#ifndef TIPPE_APP_LIVE_RUN_H
#define TIPPE_APP_LIVE_RUN_H

#include "run_source.h"
#include "tippe/scene.h"

typedef struct tpLiveRun tpLiveRun;

// Called by the simulating thread when there is something new.
typedef void (*tpLiveNews)(void* context);

typedef struct tpLiveDef {
    const tpScene* scene; // stays the caller's, and has to live as long as the run
    const char* name;     // title
    int threadCount;
    size_t memoryLimit; // bytes of frames
    tpLiveNews news;
    void* context;
} tpLiveDef;

// The run stands at its start until it is ordered to go. NULL on failure, with the reason in `error`.
tpLiveRun* createLiveRun(const tpLiveDef* def, tpError* error);
void destroyLiveRun(tpLiveRun* run); // ends the thread after the step it is at

tpRunSource* sourceOfLiveRun(tpLiveRun* run);

// What changes: `version` counts orders obeyed and stops, `epoch` starts from the beginning.
typedef struct tpLiveStatus {
    int64_t firstFrame, frameCount;
    uint64_t version, epoch;
    bool isRunning;
    double step, speed;
    double factor; // simulated seconds for one of the clock, lately
    tpStepperId stepper;
    char message[256]; // of the last stop or order that could not be obeyed, or ""
} tpLiveStatus;

tpLiveStatus statusOfLiveRun(tpLiveRun* run);

// Orders. Fields that are not set are left as they are.
typedef struct tpLiveOrder {
    bool setsRunning, running;
    bool setsStep, setsSpeed, setsStepper;
    double step, speed;
    tpStepperId stepper;
    int steps;   // to be done while it does not run
    bool begins; // runs if it has never run
    bool restart;
    bool drags, drops;
    int body;      // to be pulled by a spring
    tpVec3 point;  // of the body, in its frame
    tpVec3 target; // of the spring's other end, in the world
} tpLiveOrder;

void orderLiveRun(tpLiveRun* run, const tpLiveOrder* order);

#endif
