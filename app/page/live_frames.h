// Frames of a live run, kept in memory up to a limit; beyond it the oldest are forgotten. Knows no
// lock: its owner does.

#ifndef TIPPE_APP_PAGE_LIVE_FRAMES_H
#define TIPPE_APP_PAGE_LIVE_FRAMES_H

#include "base/memory.h"
#include "recording/roster.h"

typedef struct tpLiveFrame {
    tpStepReport report;
    double step;          // s, that led here
    int64_t contactStart; // among all contacts of the run
    int contactCount;
    double* states;
    double* reactions;
    double* coordinates;   // coordinateWidth numbers per coordinate of a joint
    double* sensors;       // a number per value of a sensor
    const char** carriers; // of each moving body: tpBody_GetCarrier
    tpRecordedContact* contacts;
    void* block; // all five
    size_t blockSize;
    tpSnapshot* snapshot; // to go on from here, or NULL
    size_t snapshotSize;  // bytes
    tpStepperId stepper;
} tpLiveFrame;

typedef struct tpLiveFrames {
    tpAllocator allocator;
    size_t memoryLimit, memoryUsed; // bytes
    TP_ARRAY(tpLiveFrame) frames;   // from `forgotten` on
    int forgotten;                  // of the array, at its start
    int64_t firstFrame;
    int64_t contactTotal;
    bool hasNoSnapshots; // nobody goes on from a frame
} tpLiveFrames;

// Coordinates of all joints of the roster, in their order.
int countLiveCoordinates(const tpRoster* roster, const tpWorld* world);

// The world as it is, in memory of its own; large worlds have a snapshot once in some frames only.
// False if there is no memory left.
bool makeLiveFrame(const tpLiveFrames* store, const tpRoster* roster, const tpWorld* world,
                   const tpStepReport* report, double step, bool withContacts, tpLiveFrame* frame);

// Takes the frame, also on failure (out of memory).
bool keepLiveFrame(tpLiveFrames* store, tpLiveFrame* frame);

int64_t countLiveFrames(const tpLiveFrames* store); // those that were forgotten included
const tpLiveFrame* findLiveFrame(const tpLiveFrames* store, int64_t frame); // NULL: not there

// Contacts by their numbers among all; false if some are no longer there.
bool readLiveContacts(const tpLiveFrames* store, int64_t first, int64_t count,
                      tpRecordedContact* contacts);

// Forgets the frames from `frame` on.
void cutLiveFrames(tpLiveFrames* store, int64_t frame);

void clearLiveFrames(tpLiveFrames* store);
void freeLiveFrames(tpLiveFrames* store);

#endif
