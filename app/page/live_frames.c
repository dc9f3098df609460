#include "page/live_frames.h"

#include <math.h>
#include <string.h>

#include "page/run_source.h"
#include "tippe/joints.h"

enum { mostWithSnapshots = 400, framesBetweenSnapshots = 32 };

static void releaseFrame(tpLiveFrames* store, tpLiveFrame* frame) {
    tpRelease(&store->allocator, frame->block, frame->blockSize);
    tpDestroySnapshot(frame->snapshot);
    frame->block = NULL;
    frame->snapshot = NULL;
}

// With its place in an array that may be half empty.
static size_t sizeOfFrame(const tpLiveFrame* frame) {
    return 2 * sizeof(tpLiveFrame) + frame->blockSize + frame->snapshotSize;
}

static void freeFrame(tpLiveFrames* store, tpLiveFrame* frame) {
    store->memoryUsed -= sizeOfFrame(frame);
    releaseFrame(store, frame);
}

void clearLiveFrames(tpLiveFrames* store) {
    for (int i = store->forgotten; i < store->frames.count; ++i) {
        freeFrame(store, &store->frames.data[i]);
    }
    store->frames.count = store->forgotten = 0;
    store->firstFrame = store->contactTotal = 0;
}

void freeLiveFrames(tpLiveFrames* store) {
    clearLiveFrames(store);
    TP_FREE_ARRAY(&store->allocator, store->frames);
}

static void copyContacts(const tpRoster* roster, const tpContactInfo* from, int count,
                         tpRecordedContact* to) {
    for (int i = 0; i < count; ++i) {
        to[i] = tpRoster_Contact(roster, &from[i]);
    }
}

int countLiveCoordinates(const tpRoster* roster, const tpWorld* world) {
    int count = 0;
    for (int i = 0; i < roster->jointCount; ++i) {
        count += tpJoint_GetCoordinateCount(world, roster->joints[i].id);
    }
    return count;
}

static void copyCoordinates(const tpRoster* roster, const tpWorld* world, double* to) {
    for (int i = 0; i < roster->jointCount; ++i) {
        tpJointId joint = roster->joints[i].id;
        for (int k = 0; k < tpJoint_GetCoordinateCount(world, joint); ++k, to += coordinateWidth) {
            tpCoordinateState now = tpJoint_GetState(world, joint, k);
            tpCoordinateDef def = tpJoint_GetCoordinate(world, joint, k);
            to[0] = now.value;
            to[1] = now.speed;
            to[2] = def.hasServo ? def.servo.target : NAN;
            to[3] = now.effort;
        }
    }
}

bool makeLiveFrame(const tpLiveFrames* store, const tpRoster* roster, const tpWorld* world,
                   const tpStepReport* report, double step, bool withContacts, tpLiveFrame* frame) {
    int contactCount = 0;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &contactCount);
    contactCount = withContacts ? contactCount : 0;
    size_t stateBytes = (size_t)roster->movingCount * tp_stateWidth * sizeof(double);
    size_t reactionBytes = (size_t)roster->jointCount * 6 * sizeof(double);
    size_t coordinateBytes =
        (size_t)countLiveCoordinates(roster, world) * coordinateWidth * sizeof(double);
    size_t sensorBytes = (size_t)roster->valueCount * sizeof(double);
    size_t contactBytes = (size_t)contactCount * sizeof(tpRecordedContact);
    *frame = (tpLiveFrame){ .report = *report, .step = step, .contactCount = contactCount };
    size_t carrierBytes = (size_t)roster->movingCount * sizeof(const char*);
    frame->blockSize = stateBytes + reactionBytes + coordinateBytes + sensorBytes + contactBytes +
                       carrierBytes + 1;
    frame->block = tpAllocate(&store->allocator, frame->blockSize);
    if (frame->block == NULL) {
        return false;
    }
    frame->states = frame->block;
    frame->reactions = (double*)((char*)frame->block + stateBytes);
    frame->coordinates = (double*)((char*)frame->block + stateBytes + reactionBytes);
    frame->sensors = (double*)((char*)frame->coordinates + coordinateBytes);
    frame->contacts = (tpRecordedContact*)((char*)frame->sensors + sensorBytes);
    frame->carriers = (const char**)((char*)frame->contacts + contactBytes);
    for (int i = 0; i < roster->movingCount; ++i) {
        frame->carriers[i] = tpBody_GetCarrier(world, roster->bodies[roster->moving[i]].id);
    }
    tpRoster_GetStates(roster, world, frame->states);
    tpRoster_GetReactions(roster, world, frame->reactions);
    copyCoordinates(roster, world, frame->coordinates);
    tpRoster_GetSensors(roster, world, frame->sensors);
    copyContacts(roster, contacts, contactCount, frame->contacts);
    frame->stepper = tpWorld_GetStepper(world);
    bool isDue = roster->bodyCount <= mostWithSnapshots ||
                 tpWorld_GetStepCount(world) % framesBetweenSnapshots == 0;
    frame->snapshot = isDue && !store->hasNoSnapshots ? tpWorld_Snapshot(world) : NULL;
    if (frame->snapshot != NULL) {
        tpSnapshot_GetBytes(frame->snapshot, &frame->snapshotSize);
    }
    return true;
}

// The array is moved down when more than half of it is empty, so that each frame moves once on
// average.
static void forgetOldest(tpLiveFrames* store) {
    while (store->memoryUsed > store->memoryLimit && store->frames.count - store->forgotten > 2) {
        freeFrame(store, &store->frames.data[store->forgotten++]);
        ++store->firstFrame;
    }
    if (store->forgotten > 1024 && store->forgotten > store->frames.count / 2) {
        size_t kept = (size_t)(store->frames.count - store->forgotten);
        memmove(store->frames.data, store->frames.data + store->forgotten,
                kept * sizeof(tpLiveFrame));
        store->frames.count = (int)kept;
        store->forgotten = 0;
    }
}

bool keepLiveFrame(tpLiveFrames* store, tpLiveFrame* frame) {
    frame->contactStart = store->contactTotal;
    if (!TP_PUSH(&store->allocator, store->frames, *frame)) {
        releaseFrame(store, frame);
        return false;
    }
    store->memoryUsed += sizeOfFrame(frame);
    store->contactTotal += frame->contactCount;
    forgetOldest(store);
    return true;
}

void cutLiveFrames(tpLiveFrames* store, int64_t frame) {
    while (countLiveFrames(store) > frame && store->frames.count > store->forgotten) {
        tpLiveFrame* last = &store->frames.data[store->frames.count - 1];
        store->contactTotal = last->contactStart;
        freeFrame(store, last);
        --store->frames.count;
    }
}

int64_t countLiveFrames(const tpLiveFrames* store) {
    return store->firstFrame + store->frames.count - store->forgotten;
}

const tpLiveFrame* findLiveFrame(const tpLiveFrames* store, int64_t frame) {
    int64_t place = store->forgotten + frame - store->firstFrame;
    bool isThere = frame >= store->firstFrame && place < store->frames.count;
    return isThere ? &store->frames.data[place] : NULL;
}

// The place in the array of the frame that has a contact.
static int findFrameOfContact(const tpLiveFrames* store, int64_t contact) {
    int low = store->forgotten, high = store->frames.count;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (store->frames.data[middle].contactStart <= contact) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

bool readLiveContacts(const tpLiveFrames* store, int64_t first, int64_t count,
                      tpRecordedContact* contacts) {
    if (store->frames.count == store->forgotten ||
        first < store->frames.data[store->forgotten].contactStart ||
        first + count > store->contactTotal) {
        return false;
    }
    int64_t done = 0;
    for (int i = findFrameOfContact(store, first); done < count; ++i) {
        const tpLiveFrame* frame = &store->frames.data[i];
        int64_t skip = first + done - frame->contactStart;
        int64_t now = frame->contactCount - skip;
        now = now < count - done ? now : count - done;
        if (now > 0) {
            memcpy(contacts + done, frame->contacts + skip, (size_t)now * sizeof(*contacts));
            done += now;
        }
    }
    return true;
}
