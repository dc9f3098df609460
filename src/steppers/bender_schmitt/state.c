#include "steppers/bender_schmitt/state.h"

#include <string.h>

#include "steppers/saved_arrays.h"

bool tpBenderSchmitt_Create(tpSystem* system, void** state) {
    tpBenderSchmitt* made = tpAllocateZeroed(&system->allocator, sizeof(tpBenderSchmitt));
    if (made == NULL) {
        return false;
    }
    void* memory;
    if (!tpStepperMemory_Create(system, &memory)) {
        tpRelease(&system->allocator, made, sizeof(tpBenderSchmitt));
        return false;
    }
    made->memory = memory;
    *state = made;
    return true;
}

void tpBenderSchmitt_Destroy(tpSystem* system, void* state) {
    tpBenderSchmitt* made = state;
    if (made == NULL) {
        return;
    }
    const tpAllocator* allocator = &system->allocator;
    tpStepperMemory_Destroy(system, made->memory);
    TP_FREE_ARRAY(allocator, made->rests);
    TP_FREE_ARRAY(allocator, made->driftImpulses);
    TP_FREE_ARRAY(allocator, made->stopImpulses);
    TP_FREE_ARRAY(allocator, made->contacts);
    TP_FREE_ARRAY(allocator, made->poses);
    TP_FREE_ARRAY(allocator, made->margins);
    TP_FREE_ARRAY(allocator, made->tallied);
    tpSleep_Destroy(&made->sleep, system);
    tpRelease(allocator, made, sizeof(tpBenderSchmitt));
}

// A snapshot: numbers, the arrays, who sleeps, then what all steppers keep.
typedef struct tpSavedNumbers {
    int wait, patience;
    int bluntWait, bluntPatience;
    uint64_t structure;
} tpSavedNumbers;

enum { arrayCount = 6 };

static void listArrays(tpBenderSchmitt* state, tpSavedArray arrays[arrayCount]) {
    const tpSavedArray list[arrayCount] = {
        TP_SAVED_ARRAY(state->rests),        TP_SAVED_ARRAY(state->driftImpulses),
        TP_SAVED_ARRAY(state->stopImpulses), TP_SAVED_ARRAY(state->contacts),
        TP_SAVED_ARRAY(state->poses),        TP_SAVED_ARRAY(state->margins),
    };
    memcpy(arrays, list, sizeof(list));
}

size_t tpBenderSchmitt_SavedSize(const void* state) {
    tpBenderSchmitt* made = (tpBenderSchmitt*)state;
    tpSavedArray arrays[arrayCount];
    listArrays(made, arrays);
    return sizeof(tpSavedNumbers) + tpSavedArrays_Size(arrays, arrayCount) +
           tpSleep_SavedSize(&made->sleep) + tpStepperMemory_SavedSize(made->memory);
}

void tpBenderSchmitt_Save(const void* state, void* saved) {
    tpBenderSchmitt* made = (tpBenderSchmitt*)state;
    tpSavedArray arrays[arrayCount];
    listArrays(made, arrays);
    tpSavedNumbers numbers;
    memset(&numbers, 0, sizeof(numbers));
    numbers.wait = made->wait;
    numbers.patience = made->patience;
    numbers.bluntWait = made->bluntWait;
    numbers.bluntPatience = made->bluntPatience;
    numbers.structure = made->structure;
    unsigned char* place = saved;
    memcpy(place, &numbers, sizeof(numbers));
    place = tpSavedArrays_Save(arrays, arrayCount, place + sizeof(numbers));
    tpSleep_Save(&made->sleep, place);
    tpStepperMemory_Save(made->memory, place + tpSleep_SavedSize(&made->sleep));
}

bool tpBenderSchmitt_Restore(tpSystem* system, void* state, tpSavedReader* reader) {
    tpBenderSchmitt* made = state;
    tpSavedArray arrays[arrayCount];
    listArrays(made, arrays);
    tpSavedNumbers numbers;
    if (!tpSavedReader_Take(reader, &numbers, sizeof(numbers)) ||
        !tpSavedArrays_Restore(arrays, arrayCount, &system->allocator, reader)) {
        return false;
    }
    made->wait = numbers.wait;
    made->patience = numbers.patience;
    made->bluntWait = numbers.bluntWait;
    made->bluntPatience = numbers.bluntPatience;
    made->structure = numbers.structure;
    reader->failed = !tpContacts_AreIn(system, made->contacts.data, made->contacts.count);
    return tpSleep_Restore(&made->sleep, system, reader) &&
           tpStepperMemory_Restore(system, made->memory, reader);
}

const tpRestMemory* tpBenderSchmitt_Find(const tpBenderSchmitt* state, const tpContact* contact,
                                         int* cursor) {
    for (; *cursor < state->rests.count; *cursor += 1) {
        const tpRestMemory* rest = &state->rests.data[*cursor];
        if (rest->shapeA < contact->shapeA ||
            (rest->shapeA == contact->shapeA && rest->shapeB < contact->shapeB)) {
            continue;
        }
        bool isPair = rest->shapeA == contact->shapeA && rest->shapeB == contact->shapeB;
        if (isPair && rest->feature < contact->feature) {
            continue;
        }
        return isPair && rest->feature == contact->feature ? rest : NULL;
    }
    return NULL;
}

static int compareRests(const tpRestMemory* a, const tpRestMemory* b) {
    if (a->shapeA != b->shapeA) {
        return a->shapeA < b->shapeA ? -1 : 1;
    }
    if (a->shapeB != b->shapeB) {
        return a->shapeB < b->shapeB ? -1 : 1;
    }
    return a->feature < b->feature ? -1 : a->feature > b->feature ? 1 : 0;
}

bool tpBenderSchmitt_AddWoken(tpBenderSchmitt* state, const tpAllocator* allocator) {
    const tpSleep* sleep = &state->sleep;
    if (!TP_RESERVE(allocator, state->rests, state->rests.count + sleep->woken.count)) {
        return false;
    }
    for (int i = 0; i < sleep->woken.count; ++i) {
        const tpContactInfo* info = &sleep->woken.data[i];
        tpVec3 impulse =
            tpScale(0.5, tpMulAdd(info->frictionImpulse, info->normalImpulse, info->normal));
        tpRestMemory rest;
        memset(&rest, 0, sizeof(rest));
        rest.shapeA = (int32_t)info->shapeA.slot - 1;
        rest.shapeB = (int32_t)info->shapeB.slot - 1;
        rest.feature = info->feature;
        rest.drift = rest.stop = impulse;
        rest.driftTorsion = rest.stopTorsion = 0.5 * info->torsionalImpulse;
        int place = state->rests.count++;
        for (; place > 0 && compareRests(&state->rests.data[place - 1], &rest) > 0; --place) {
            state->rests.data[place] = state->rests.data[place - 1];
        }
        state->rests.data[place] = rest;
    }
    return true;
}
