// A simulation that goes on in a thread of its own while others look at it.
//
// The thread owns the world. Others read frames that it has left in memory, up to a limit beyond
// which the oldest are forgotten, and give orders, which it obeys before its next step. Every
// function may be called from any one thread beside it. Without a thread (def.isDriven) nothing
// happens until someone calls advanceLiveRun.

#ifndef TIPPE_APP_PAGE_LIVE_RUN_H
#define TIPPE_APP_PAGE_LIVE_RUN_H

#include "page/live_world.h"
#include "page/run_data.h"
#include "page/run_source.h"

typedef struct tpLiveRun tpLiveRun;

// Called by the simulating thread when there is something new.
typedef void (*tpLiveNews)(void* context);

typedef struct tpLiveDef {
    const tpScene* scene; // stays the caller's, and has to live as long as the run
    tpWorld*
        world; // in place of a scene: someone else steps it and calls noteLiveStep; it obeys nobody
    double step;      // of that world, s, as it usually is
    const char* name; // title
    int threadCount;
    size_t memoryLimit; // bytes of frames
    bool isDriven;
    tpLiveNews news;
    void* context;
} tpLiveDef;

// The run stands at its start until it is ordered to go. NULL on failure, with the reason in
// `error`.
tpLiveRun* createLiveRun(const tpLiveDef* def, tpError* error);
void destroyLiveRun(tpLiveRun* run); // ends the thread after the step it is at

// Asks the thread to end; true if it has within `patience` seconds. A step of a hard problem may
// take longer.
bool endLiveRun(tpLiveRun* run, double patience);

tpRunSource* sourceOfLiveRun(tpLiveRun* run);
tpLiveStatus statusOfLiveRun(tpLiveRun* run);
void writeSettingsOfLiveRun(tpLiveRun* run, tpText* text); // see writeLiveSettings

// Coordinates of all joints after the newest step, appended: values, then speeds, then efforts, in
// the order of tippe/state.h. False if memory ran out.
bool copyCoordinatesOfLiveRun(tpLiveRun* run, tpBytes* bytes);

// Whether it is the run of a world that someone else steps.
bool isLiveRunWatched(const tpLiveRun* run);

// Before steps of such a world, and while nobody asks: looks whether bodies came or went. True if
// so; the run begins anew then.
bool noteLiveChange(tpLiveRun* run);

// After each step of it.
void noteLiveStep(tpLiveRun* run, const tpStepReport* report, double h);

// False if too many orders wait already.
bool orderLiveRun(tpLiveRun* run, const tpLiveOrder* order);

// Takes the steps that are due, for at most some seconds of the clock. The time until the next one
// is due; infinite if the run stands.
double advanceLiveRun(tpLiveRun* run, double seconds);

#endif
