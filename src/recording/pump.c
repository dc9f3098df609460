#include "recording/pump.h"

#include <math.h>
#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "recording/clock.h"

// Seconds between commits. A frame waits at most two of them and the writing of two batches.
static const double commitInterval = 0.25;

enum {
    wakeBytes = 4 * 1024 * 1024, // a batch this large is written before its time
    fullBytes = 12 * 1024 * 1024 // and at this size the simulation waits: some 0.4 s of compression
};

// Writing: in the thread without the mutex, or in the caller's ------------------------------------

static tpResult writeBatch(tpPump* pump, tpFrameBatch* batch, bool last, tpError* error) {
    tpResult result = tp_success;
    if (batch->rowCounts[tp_frameRows] > 0) {
        result = tpWriter_Append(pump->writer, batch, error);
        tpFrameBatch_Clear(batch);
        pump->uncommitted = true;
    }
    if (result == tp_success && pump->uncommitted &&
        (last || tpSecondsNow() - pump->lastCommit >= commitInterval)) {
        result = tpWriter_Commit(pump->writer, error);
        pump->lastCommit = tpSecondsNow();
        pump->uncommitted = false;
    }
    return result;
}

// The thread -------------------------------------------------------------------------------------

static void waitForWork(tpPump* pump) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double seconds = (double)until.tv_nsec * 1e-9 + commitInterval;
    until.tv_sec += (time_t)floor(seconds);
    until.tv_nsec = (long)(1e9 * (seconds - floor(seconds)));
    int outcome = 0;
    while (!pump->stop && pump->batches[pump->front].byteCount < wakeBytes && outcome == 0) {
        outcome = pthread_cond_timedwait(&pump->wake, &pump->mutex, &until);
    }
}

static void* runThread(void* context) {
    tpPump* pump = context;
    pthread_mutex_lock(&pump->mutex);
    while (!pump->stop && pump->error.result == tp_success) {
        waitForWork(pump);
        tpFrameBatch* back = &pump->batches[pump->front];
        pump->front = 1 - pump->front;
        pthread_cond_signal(&pump->written); // the new front has room
        pthread_mutex_unlock(&pump->mutex);
        tpError error = { .result = tp_success };
        writeBatch(pump, back, false, &error);
        pthread_mutex_lock(&pump->mutex);
        if (error.result != tp_success) {
            pump->error = error;
        }
        pthread_cond_signal(&pump->written);
    }
    pthread_mutex_unlock(&pump->mutex);
    return NULL;
}

static bool startThread(tpPump* pump) {
    if (!tpWriter_IsThreadSafe()) {
        return false;
    }
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&pump->mutex, NULL);
    pthread_cond_init(&pump->wake, &attributes);
    pthread_cond_init(&pump->written, &attributes);
    pthread_condattr_destroy(&attributes);
    // Signals are for the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&pump->thread, NULL, runThread, pump) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!started) {
        pthread_cond_destroy(&pump->written);
        pthread_cond_destroy(&pump->wake);
        pthread_mutex_destroy(&pump->mutex);
    }
    return started;
}

static void stopThread(tpPump* pump) {
    pthread_mutex_lock(&pump->mutex);
    pump->stop = true;
    pthread_cond_signal(&pump->wake);
    pthread_mutex_unlock(&pump->mutex);
    pthread_join(pump->thread, NULL);
    pthread_cond_destroy(&pump->written);
    pthread_cond_destroy(&pump->wake);
    pthread_mutex_destroy(&pump->mutex);
}

// The pump ---------------------------------------------------------------------------------------

void tpPump_Start(tpPump* pump, tpWriter* writer, const tpRoster* roster, bool threaded,
                  const tpAllocator* allocator) {
    memset(pump, 0, sizeof(*pump));
    pump->writer = writer;
    pump->lastCommit = tpSecondsNow();
    for (int i = 0; i < 2; ++i) {
        tpFrameBatch_Create(&pump->batches[i], roster, allocator);
    }
    pump->threaded = threaded && startThread(pump);
}

static bool addToFront(tpPump* pump, const tpFrameData* frame, const char* const* labels,
                       int labelCount) {
    tpFrameBatch* batch = &pump->batches[pump->front];
    if (!TP_RESERVE(&batch->allocator, batch->labels, batch->labels.count + labelCount) ||
        !tpFrameBatch_Add(batch, frame)) {
        return false;
    }
    for (int i = 0; i < labelCount; ++i) {
        batch->labels.data[batch->labels.count++] = labels[i];
    }
    return true;
}

static void addThreaded(tpPump* pump, const tpFrameData* frame, const char* const* labels,
                        int labelCount) {
    pthread_mutex_lock(&pump->mutex);
    while (pump->batches[pump->front].byteCount >= fullBytes && pump->error.result == tp_success) {
        pthread_cond_wait(&pump->written, &pump->mutex);
    }
    if (pump->error.result == tp_success && !addToFront(pump, frame, labels, labelCount)) {
        tpError_OutOfMemory(&pump->error);
    }
    if (pump->batches[pump->front].byteCount >= wakeBytes) {
        pthread_cond_signal(&pump->wake);
    }
    pthread_mutex_unlock(&pump->mutex);
}

static void addDirectly(tpPump* pump, const tpFrameData* frame, const char* const* labels,
                        int labelCount) {
    tpFrameBatch* batch = &pump->batches[pump->front];
    if (!addToFront(pump, frame, labels, labelCount)) {
        tpError_OutOfMemory(&pump->error);
    } else if (batch->byteCount >= wakeBytes ||
               tpSecondsNow() - pump->lastCommit >= commitInterval) {
        writeBatch(pump, batch, false, &pump->error);
    }
}

static tpResult reportFailure(const tpPump* pump, tpError* error) {
    if (error != NULL && pump->error.result != tp_success) {
        *error = pump->error;
    }
    return pump->error.result;
}

tpResult tpPump_Add(tpPump* pump, const tpFrameData* frame, const char* const* labels,
                    int labelCount, tpError* error) {
    if (pump->threaded) {
        addThreaded(pump, frame, labels, labelCount);
        pthread_mutex_lock(&pump->mutex);
        tpResult result = reportFailure(pump, error);
        pthread_mutex_unlock(&pump->mutex);
        return result;
    }
    if (pump->error.result == tp_success) {
        addDirectly(pump, frame, labels, labelCount);
    }
    return reportFailure(pump, error);
}

tpResult tpPump_Stop(tpPump* pump, tpError* error) {
    if (pump->threaded) {
        stopThread(pump);
    }
    // What is left is written also where memory ran out for a frame after it.
    if (pump->error.result != tp_ioError) {
        tpError last = { .result = tp_success };
        writeBatch(pump, &pump->batches[pump->front], true, &last);
        if (pump->error.result == tp_success) {
            pump->error = last;
        }
    }
    for (int i = 0; i < 2; ++i) {
        tpFrameBatch_Destroy(&pump->batches[i]);
    }
    return reportFailure(pump, error);
}
