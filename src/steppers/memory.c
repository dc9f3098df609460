#include "steppers/memory.h"

#include <string.h>

#include "dynamics/collider_shapes.h"
#include "steppers/saved_arrays.h"

bool tpStepperMemory_Create(tpSystem* system, void** state) {
    tpStepperMemory* memory = tpAllocateZeroed(&system->allocator, sizeof(tpStepperMemory));
    if (memory == NULL) {
        return false;
    }
    memory->allocator = system->allocator;
    memory->system = system;
    memory->solver = tpCreateSolverMemory(&system->allocator);
    if (memory->solver == NULL) {
        tpRelease(&system->allocator, memory, sizeof(tpStepperMemory));
        return false;
    }
    *state = memory;
    return true;
}

void tpStepperMemory_Destroy(tpSystem* system, void* state) {
    tpStepperMemory* memory = state;
    if (memory == NULL) {
        return;
    }
    tpDestroySolverMemory(memory->solver);
    TP_FREE_ARRAY(&system->allocator, memory->history.list);
    tpRowHistory_Destroy(&memory->driftRows, &system->allocator);
    tpRowHistory_Destroy(&memory->endRows, &system->allocator);
    TP_FREE_ARRAY(&system->allocator, memory->bends);
    TP_FREE_ARRAY(&system->allocator, memory->before);
    tpRelease(&system->allocator, memory, sizeof(tpStepperMemory));
}

// A snapshot: counts, history, velocities, turns of joints, what the collider has learned.
typedef struct tpSavedHead {
    bool isFound; // the last answer to the question for contacts holds
    int historyCount, beforeCount;
    double historyStep, lastLoss;
    tpEnergyBook book;
    bool hasStepped;  // with these bodies and joints
    bool hasCollider; // contacts have been asked for
    size_t colliderSize;
} tpSavedHead;

// The last answer to the question for contacts and the impulses of joints, as arrays of a snapshot.
enum { savedArrayCount = 8 };
static void listArrays(const tpStepperMemory* constant, tpSavedArray arrays[savedArrayCount]) {
    tpStepperMemory* memory = (tpStepperMemory*)constant; // saving only reads
    tpSystem* system = (tpSystem*)memory->system;
    const tpSavedArray list[savedArrayCount] = {
        TP_SAVED_ARRAY(system->found.poses),       TP_SAVED_ARRAY(system->found.margins),
        TP_SAVED_ARRAY(system->found.contacts),    TP_SAVED_ARRAY(memory->driftRows.list),
        TP_SAVED_ARRAY(memory->driftRows.numbers), TP_SAVED_ARRAY(memory->endRows.list),
        TP_SAVED_ARRAY(memory->endRows.numbers),   TP_SAVED_ARRAY(memory->bends)
    };
    memcpy(arrays, list, sizeof(list));
}

static size_t colliderSize(const tpSystem* system) {
    return system->collider != NULL ? tpCollider_StateSize(system->collider) : 0;
}

size_t tpStepperMemory_SavedSize(const void* state) {
    const tpStepperMemory* memory = state;
    tpSavedArray arrays[savedArrayCount];
    listArrays(memory, arrays);
    return sizeof(tpSavedHead) + tpSavedArrays_Size(arrays, savedArrayCount) +
           sizeof(tpContactMemory) * (size_t)memory->history.list.count +
           sizeof(tpVelocity) * (size_t)memory->before.count + colliderSize(memory->system);
}

static unsigned char* put(unsigned char* place, const void* data, size_t size) {
    if (size == 0) {
        return place; // which may be NULL
    }
    memcpy(place, data, size);
    return place + size;
}

void tpStepperMemory_Save(const void* state, void* saved) {
    const tpStepperMemory* memory = state;
    const tpSystem* system = memory->system;
    tpSavedHead head;
    memset(&head, 0, sizeof(head));
    head.isFound = system->found.isValid;
    head.historyCount = memory->history.list.count;
    head.beforeCount = memory->before.count;
    head.historyStep = memory->history.h;
    head.lastLoss = memory->lastLoss;
    head.book = memory->book;
    head.hasStepped = memory->structure == system->structure;
    head.hasCollider = system->collider != NULL;
    head.colliderSize = colliderSize(system);
    unsigned char* place = put(saved, &head, sizeof(head));
    place =
        put(place, memory->history.list.data, sizeof(tpContactMemory) * (size_t)head.historyCount);
    place = put(place, memory->before.data, sizeof(tpVelocity) * (size_t)head.beforeCount);
    tpSavedArray arrays[savedArrayCount];
    listArrays(memory, arrays);
    place = tpSavedArrays_Save(arrays, savedArrayCount, place);
    if (head.colliderSize > 0) {
        tpCollider_SaveState(system->collider, place);
    }
}

bool tpStepperMemory_Restore(tpSystem* system, void* state, tpSavedReader* reader) {
    tpStepperMemory* memory = state;
    tpSavedHead head;
    if (!tpSavedReader_Take(reader, &head, sizeof(head)) ||
        !tpSavedReader_Has(reader, head.historyCount, sizeof(tpContactMemory)) ||
        !tpSavedReader_Has(reader, head.beforeCount, sizeof(tpVelocity)) ||
        !TP_RESERVE(&memory->allocator, memory->history.list, head.historyCount) ||
        !TP_RESERVE(&memory->allocator, memory->before, head.beforeCount) ||
        !tpSavedReader_Take(reader, memory->history.list.data,
                            sizeof(tpContactMemory) * (size_t)head.historyCount) ||
        !tpSavedReader_Take(reader, memory->before.data,
                            sizeof(tpVelocity) * (size_t)head.beforeCount)) {
        return false;
    }
    memory->history.list.count = head.historyCount;
    memory->history.h = head.historyStep;
    memory->before.count = head.beforeCount;
    memory->lastLoss = head.lastLoss;
    memory->book = head.book;
    memory->structure = head.hasStepped ? system->structure : 0;
    tpSavedArray arrays[savedArrayCount];
    listArrays(memory, arrays);
    tpSystem_ForgetFound(system);
    if (!tpSavedArrays_Restore(arrays, savedArrayCount, &system->allocator, reader)) {
        return false;
    }
    const tpContact* contacts = system->found.contacts.data;
    reader->failed = reader->failed ||
                     !tpContacts_AreIn(system, contacts, system->found.contacts.count) ||
                     !tpRowHistory_CheckRead(&memory->driftRows) ||
                     !tpRowHistory_CheckRead(&memory->endRows) || head.colliderSize > reader->left;
    if (reader->failed) {
        return false;
    }
    if (!head.hasCollider) {
        tpSystem_DropCollider(system);
        return true;
    }
    if (tpSystem_NeedCollider(system) != tp_success) {
        return false;
    }
    system->found.isValid = head.isFound;
    tpResult result = tpCollider_LoadState(system->collider, reader->place, head.colliderSize);
    reader->failed = result == tp_badInput;
    reader->place += head.colliderSize;
    reader->left -= head.colliderSize;
    return result == tp_success;
}

tpEnergyBook* tpStepperMemory_BookOf(void* state) {
    return &((tpStepperMemory*)state)->book;
}

tpSolveSettings tpSolveSettings_FromOptions(const tpOptions* options) {
    tpSolveSettings settings = { 0 };
    settings.cone = (tpConeChoice)options->values[tp_coneOption];
    settings.directionCount = (int)options->values[tp_directionsOption];
    settings.tolerance = options->values[tp_toleranceOption];
    settings.share = 0.0;
    return settings;
}
