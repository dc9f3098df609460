#include "steppers/auto/carriers.h"

#include <string.h>

enum { carrierCount = tp_groupLimit + 2 };

static void dropState(tpCarrier* carrier, tpSystem* system) {
    const tpStepper* stepper = tpMethod_Stepper(carrier->method);
    if (carrier->state != NULL && stepper->destroy != NULL) {
        stepper->destroy(system, carrier->state);
    }
    carrier->state = NULL;
}

void tpCarriers_Destroy(tpCarriers* carriers, tpSystem* system) {
    for (int i = 0; i < carrierCount; ++i) {
        dropState(&carriers->list[i], system);
        tpStride_Destroy(&carriers->list[i].stride, system);
    }
    TP_FREE_ARRAY(&system->allocator, carriers->bodies);
}

bool tpCarriers_Follow(tpCarriers* carriers, tpSystem* system) {
    if (!TP_RESERVE(&system->allocator, carriers->bodies, system->bodyCount)) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        tpCarried* body = &carriers->bodies.data[i];
        uint64_t birth = system->bodies.data[i].birth;
        if (i >= carriers->bodies.count || body->birth != birth) {
            *body = (tpCarried){ .birth = birth, .carrier = -1, .touching = -1 };
        }
    }
    carriers->bodies.count = system->bodyCount;
    return true;
}

void tpCarriers_Begin(tpCarriers* carriers) {
    for (int i = 0; i < carrierCount; ++i) {
        carriers->list[i].isUsed = false;
    }
}

bool tpCarrier_Change(tpCarrier* carrier, tpSystem* system, tpMethod method) {
    dropState(carrier, system);
    carrier->method = method;
    carrier->stride.frameCount = 0;
    carrier->pace = (tpPace){ .checkedError = INFINITY };
    const tpStepper* stepper = tpMethod_Stepper(method);
    return stepper->create == NULL || stepper->create(system, &carrier->state);
}

void tpCarrier_Pace(tpCarrier* carrier, const tpPace* pace) {
    carrier->pace = (tpPace){ .step = pace->step,
                              .checkedError = INFINITY,
                              .knowsPushing = pace->knowsPushing,
                              .pushing = pace->pushing,
                              .momentError = pace->momentError,
                              .momentTrust = pace->momentTrust,
                              .momentCount = pace->momentCount,
                              .hopelessCount = pace->hopelessCount,
                              .hopelessLast = pace->hopelessLast,
                              .failedCount = pace->failedCount };
}

static int findFree(const tpCarriers* carriers) {
    int oldest = 0;
    for (int i = 0; i < carrierCount; ++i) {
        if (!carriers->list[i].isUsed) {
            oldest = i;
            if (carriers->list[i].state == NULL) {
                break; // nothing is lost
            }
        }
    }
    return oldest;
}

// A number for the bodies of a group.
static uint64_t membersOf(const tpCarriers* carriers, const tpGroups* groups, int group) {
    uint64_t number = 0;
    for (int i = 0; i < carriers->bodies.count; ++i) {
        uint64_t birth = carriers->bodies.data[i].birth;
        number = groups->ofBody[i] == group ? (number ^ birth) * 0x100000001b3u + 1u : number;
    }
    return number;
}

tpCarrier* tpCarriers_For(tpCarriers* carriers, tpSystem* system, const tpGroups* groups,
                          int group) {
    int found = -1, former = -1;
    bool isFlying = group == groups->flying;
    for (int i = 0; i < system->bodyCount && found < 0; ++i) {
        const tpCarried* body = &carriers->bodies.data[i];
        int own = groups->ofBody[i] != group ? -1 : isFlying ? body->carrier : body->touching;
        if (own >= 0 && (carriers->list[own].method == tp_flyingMethod) == isFlying) {
            former = former < 0 ? own : former;
            found = carriers->list[own].isUsed ? -1 : own;
        }
    }
    // One that could not be made for want of memory is made anew.
    if (found >= 0 && carriers->list[found].state == NULL &&
        tpMethod_Stepper(carriers->list[found].method)->create != NULL) {
        found = -1;
    }
    bool isNew = found < 0;
    tpCarrier last = former >= 0 ? carriers->list[former] : (tpCarrier){ 0 };
    found = isNew ? findFree(carriers) : found;
    tpCarrier* carrier = &carriers->list[found];
    if (isNew) {
        tpMethod method = isFlying      ? tp_flyingMethod
                          : former >= 0 ? last.method
                                        : tp_standardMethod;
        if (!tpCarrier_Change(carrier, system, method)) {
            return NULL;
        }
        if (former >= 0) {
            tpCarrier_Pace(carrier, &last.pace);
            carrier->pace.knowsPushing = false; // those of another group
        }
        carrier->spent = carrier->compared = carrier->typical = carrier->expected = 0.0;
        carrier->isFresh = !isFlying;
    }
    // Who pushed whom among others says nothing. (The flow was asked for the contacts of two balls
    // that had parted, and refused.)
    uint64_t members = membersOf(carriers, groups, group);
    carrier->pace.knowsPushing = carrier->pace.knowsPushing && carrier->members == members;
    carrier->members = members;
    carrier->isUsed = carrier->isKnown = true;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (groups->ofBody[i] == group) {
            tpCarried* body = &carriers->bodies.data[i];
            body->carrier = found;
            body->touching = isFlying ? body->touching : found;
        }
    }
    return carrier;
}

// Snapshots ---------------------------------------------------------------------------------------

typedef struct SavedCarrier {
    bool isFresh, hasState;
    int method;
    uint64_t members;
    tpPace pace;
    double typical, spent, compared, expected;
    size_t stateSize;
} SavedCarrier;

static size_t stateSize(const tpCarrier* carrier) {
    const tpStepper* stepper = tpMethod_Stepper(carrier->method);
    return carrier->state != NULL && stepper->savedSize != NULL ? stepper->savedSize(carrier->state)
                                                                : 0;
}

// Field by field: padding has no value.
static void savePace(tpPace* to, const tpPace* from) {
    to->step = from->step;
    to->ceiling = from->ceiling;
    to->momentGuess = from->momentGuess;
    to->momentBound = from->momentBound;
    to->patience = from->patience;
    to->refusedCount = from->refusedCount;
    to->checkedError = from->checkedError;
    to->trust = from->trust;
    to->uncheckedCount = from->uncheckedCount;
    to->positionRate = from->positionRate;
    to->speedRate = from->speedRate;
    to->awaitsSlip = from->awaitsSlip;
    to->knowsPushing = from->knowsPushing;
    to->pushing = from->pushing;
    to->features = from->features;
    to->givenRate = from->givenRate;
    to->momentError = from->momentError;
    to->momentTrust = from->momentTrust;
    to->momentCount = from->momentCount;
    to->flowCost = from->flowCost;
    to->levelCost = from->levelCost;
    to->levelCount = from->levelCount;
    to->shortCount = from->shortCount;
    to->flowLength = from->flowLength;
    to->flowStep = from->flowStep;
    to->flowError = from->flowError;
    to->flowWait = from->flowWait;
    to->flowFailures = from->flowFailures;
    to->hopelessCount = from->hopelessCount;
    to->hopelessLast = from->hopelessLast;
    to->failedCount = from->failedCount;
    to->badCount = from->badCount;
}

size_t tpCarriers_SavedSize(const tpCarriers* carriers) {
    size_t size = sizeof(int) + sizeof(tpCarried) * (size_t)carriers->bodies.count;
    for (int i = 0; i < carrierCount; ++i) {
        const tpCarrier* carrier = &carriers->list[i];
        size += sizeof(int);
        size += !carrier->isKnown ? 0
                                  : sizeof(SavedCarrier) + stateSize(carrier) +
                                        tpStride_SavedSize(&carrier->stride);
    }
    return size;
}

static unsigned char* put(unsigned char* place, const void* data, size_t size) {
    if (size > 0) {
        memcpy(place, data, size);
    }
    return place + size;
}

static unsigned char* saveCarrier(const tpCarrier* carrier, unsigned char* place) {
    SavedCarrier head;
    memset(&head, 0, sizeof(head));
    head.isFresh = carrier->isFresh;
    head.hasState = carrier->state != NULL;
    head.method = (int)carrier->method;
    head.members = carrier->members;
    savePace(&head.pace, &carrier->pace);
    head.spent = carrier->spent;
    head.compared = carrier->compared;
    head.typical = carrier->typical;
    head.expected = carrier->expected;
    head.stateSize = stateSize(carrier);
    place = put(place, &head, sizeof(head));
    if (head.stateSize > 0) {
        tpMethod_Stepper(carrier->method)->save(carrier->state, place);
        place += head.stateSize;
    }
    return tpStride_Save(&carrier->stride, place);
}

void tpCarriers_Save(const tpCarriers* carriers, void* saved) {
    unsigned char* place = put(saved, &carriers->bodies.count, sizeof(int));
    for (int i = 0; i < carriers->bodies.count; ++i) {
        tpCarried body;
        memset(&body, 0, sizeof(body));
        body.birth = carriers->bodies.data[i].birth;
        body.carrier = carriers->bodies.data[i].carrier;
        body.touching = carriers->bodies.data[i].touching;
        body.positionError = carriers->bodies.data[i].positionError;
        body.speedError = carriers->bodies.data[i].speedError;
        place = put(place, &body, sizeof(body));
    }
    for (int i = 0; i < carrierCount; ++i) {
        int isKnown = carriers->list[i].isKnown ? 1 : 0;
        place = put(place, &isKnown, sizeof(isKnown));
        place = isKnown ? saveCarrier(&carriers->list[i], place) : place;
    }
}

static bool restoreBodies(tpCarriers* carriers, tpSystem* system, tpSavedReader* reader) {
    int count = 0;
    if (!tpSavedReader_Take(reader, &count, sizeof(count)) ||
        !tpSavedReader_Has(reader, count, sizeof(tpCarried)) ||
        !TP_RESERVE(&system->allocator, carriers->bodies, count) ||
        !tpSavedReader_Take(reader, carriers->bodies.data, sizeof(tpCarried) * (size_t)count)) {
        return false;
    }
    carriers->bodies.count = count;
    for (int i = 0; i < count; ++i) {
        const tpCarried* body = &carriers->bodies.data[i];
        reader->failed = reader->failed || body->carrier < -1 || body->carrier >= carrierCount ||
                         body->touching < -1 || body->touching >= carrierCount;
    }
    return !reader->failed;
}

// As one that has carried nothing is; its room stays.
static void forget(tpCarrier* carrier, tpSystem* system) {
    dropState(carrier, system);
    tpStride stride = carrier->stride;
    stride.frameCount = 0;
    *carrier = (tpCarrier){ .stride = stride };
}

static bool restoreCarrier(tpCarrier* carrier, tpSystem* system, tpSavedReader* reader) {
    SavedCarrier head;
    int isKnown = 0;
    if (!tpSavedReader_Take(reader, &isKnown, sizeof(isKnown))) {
        return false;
    }
    if (isKnown == 0) {
        forget(carrier, system);
        return true;
    }
    if (!tpSavedReader_Take(reader, &head, sizeof(head))) {
        return false;
    }
    if (head.method < 0 || head.method >= tp_methodCount || head.stateSize > reader->left) {
        reader->failed = true;
        return false;
    }
    dropState(carrier, system);
    carrier->method = (tpMethod)head.method;
    if (head.hasState && !tpCarrier_Change(carrier, system, carrier->method)) {
        return false;
    }
    carrier->isKnown = true;
    carrier->isFresh = head.isFresh;
    carrier->members = head.members;
    carrier->pace = head.pace;
    carrier->spent = head.spent;
    carrier->compared = head.compared;
    carrier->typical = head.typical;
    carrier->expected = head.expected;
    bool isRestored = head.stateSize == 0 ||
                      (carrier->state != NULL &&
                       tpMethod_Stepper(carrier->method)->restore(system, carrier->state, reader));
    return isRestored && tpStride_Restore(&carrier->stride, system, reader);
}

bool tpCarriers_Restore(tpCarriers* carriers, tpSystem* system, tpSavedReader* reader) {
    if (!restoreBodies(carriers, system, reader)) {
        return false;
    }
    for (int i = 0; i < carrierCount; ++i) {
        if (!restoreCarrier(&carriers->list[i], system, reader)) {
            return false;
        }
    }
    return true;
}
