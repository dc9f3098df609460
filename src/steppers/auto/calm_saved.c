// Snapshots of calm steps.

#include <string.h>

#include "steppers/auto/calm.h"

typedef struct SavedCalm {
    int leftCount, lastCount, patience, failureCount, hasFlying, isStill, strideCount, bodyCount;
    int contactCount;
    int strides[tp_groupLimit + 2];
    double h, accuracy, kinetic, potential, residual, penetration, jointDrift;
    uint64_t structure;
    tpVec3 gravity;
} SavedCalm;

static size_t bodySize(int count) {
    return (sizeof(tpPose) + sizeof(tpVelocity) + sizeof(double)) * (size_t)count;
}

size_t tpCalm_SavedSize(const tpCalm* calm) {
    return sizeof(SavedCalm) + bodySize(calm->leftCount > 0 ? calm->poses.count : 0);
}

static unsigned char* put(unsigned char* place, const void* data, size_t size) {
    memcpy(place, data, size);
    return place + size;
}

unsigned char* tpCalm_Save(const tpCalm* calm, unsigned char* place) {
    size_t count = (size_t)(calm->leftCount > 0 ? calm->poses.count : 0);
    SavedCalm head;
    memset(&head, 0, sizeof(head));
    head.leftCount = calm->leftCount;
    head.lastCount = calm->lastCount;
    head.patience = calm->patience;
    head.failureCount = calm->failureCount;
    head.hasFlying = calm->hasFlying ? 1 : 0;
    head.isStill = calm->isStill ? 1 : 0;
    head.contactCount = calm->contactCount;
    head.residual = calm->residual;
    head.penetration = calm->penetration;
    head.jointDrift = calm->jointDrift;
    head.strideCount = calm->strideCount;
    head.bodyCount = (int)count;
    memcpy(head.strides, calm->strides, sizeof(head.strides));
    head.h = calm->h;
    head.accuracy = calm->accuracy;
    head.kinetic = calm->kinetic;
    head.potential = calm->potential;
    head.structure = calm->structure;
    head.gravity = calm->gravity;
    place = put(place, &head, sizeof(head));
    if (count > 0) {
        place = put(place, calm->poses.data, sizeof(tpPose) * count);
        place = put(place, calm->velocities.data, sizeof(tpVelocity) * count);
        place = put(place, calm->rooms.data, sizeof(double) * count);
    }
    return place;
}

// What comes from outside may say anything.
static bool isRight(const SavedCalm* head, const tpCarriers* carriers, const tpSystem* system) {
    bool isRight =
        head->leftCount >= 0 && head->leftCount <= tp_maxStride && head->lastCount >= 0 &&
        head->lastCount <= tp_maxStride && head->patience >= 0 && head->failureCount >= 0 &&
        head->failureCount <= tp_calmFailures && head->strideCount >= 0 &&
        head->strideCount <= tp_groupLimit + 2 &&
        (head->leftCount == 0 || (head->bodyCount > 0 && head->bodyCount == system->bodyCount &&
                                  carriers->bodies.count == system->bodyCount));
    for (int i = 0; isRight && head->leftCount > 0 && i < head->strideCount; ++i) {
        int place = head->strides[i];
        isRight =
            place >= 0 && place < tp_groupLimit + 2 &&
            carriers->list[place].stride.frameCount - carriers->list[place].stride.doneCount >=
                head->leftCount;
    }
    return isRight;
}

bool tpCalm_Restore(tpCalm* calm, const tpCarriers* carriers, tpSystem* system,
                    tpSavedReader* reader) {
    SavedCalm head;
    if (!tpSavedReader_Take(reader, &head, sizeof(head)) ||
        !tpSavedReader_Has(reader, head.bodyCount, bodySize(1)) || !tpCalm_MakeRoom(calm, system)) {
        return false;
    }
    if (!isRight(&head, carriers, system)) {
        reader->failed = true;
        return false;
    }
    size_t count = (size_t)head.bodyCount;
    calm->leftCount = head.leftCount;
    calm->lastCount = head.lastCount;
    calm->patience = head.patience;
    calm->failureCount = head.failureCount;
    calm->hasFlying = head.hasFlying != 0;
    calm->isStill = head.isStill != 0;
    calm->contactCount = head.contactCount;
    calm->residual = head.residual;
    calm->penetration = head.penetration;
    calm->jointDrift = head.jointDrift;
    calm->strideCount = head.strideCount;
    memcpy(calm->strides, head.strides, sizeof(head.strides));
    calm->h = head.h;
    calm->accuracy = head.accuracy;
    calm->kinetic = head.kinetic;
    calm->potential = head.potential;
    calm->structure = head.structure;
    calm->gravity = head.gravity;
    return head.leftCount == 0 ||
           (tpSavedReader_Take(reader, calm->poses.data, sizeof(tpPose) * count) &&
            tpSavedReader_Take(reader, calm->velocities.data, sizeof(tpVelocity) * count) &&
            tpSavedReader_Take(reader, calm->rooms.data, sizeof(double) * count));
}
