// Frames from the thread that simulates to the file, in time for nothing to be lost.
//
// Two batches: the simulation adds to one while a thread compresses and writes the other. The
// thread wakes four times per second, or earlier when a batch has grown large, so that a frame is
// part of the file well within a second even when the next step takes a minute. A simulation that
// is faster than the disk waits. Without a thread (none wanted, none to be had, or an HDF5 that
// does not allow it) adding a frame does the writing.

#ifndef TIPPE_SRC_RECORDING_PUMP_H
#define TIPPE_SRC_RECORDING_PUMP_H

#include <pthread.h>

#include "recording/frame_batch.h"
#include "recording/writer.h"

typedef struct tpPump {
    tpWriter* writer;
    tpFrameBatch batches[2];
    int front;         // the batch that is added to
    double lastCommit; // s
    bool uncommitted;  // rows are in the writer that are not in the file
    bool threaded;
    // Shared with the thread, under the mutex: `batches[front]`, `front` and what follows.
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake, written;
    bool stop;
    tpError error; // the first failure; result is tp_success before
} tpPump;

// The writer must outlive the pump, and be used by no one else until it stops.
void tpPump_Start(tpPump* pump, tpWriter* writer, const tpRoster* roster, bool threaded,
                  const tpAllocator* allocator);

// Adds a frame, and the labels that occur with it for the first time.
tpResult tpPump_Add(tpPump* pump, const tpFrameData* frame, const char* const* labels,
                    int labelCount, tpError* error);

// Writes what is left, and frees all but the writer.
tpResult tpPump_Stop(tpPump* pump, tpError* error);

#endif
