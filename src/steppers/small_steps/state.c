#include "steppers/small_steps/state.h"

#include <string.h>

#include "steppers/saved_arrays.h"

bool tpSmallSteps_Create(tpSystem* system, void** state) {
    tpSmallSteps* made = tpAllocateZeroed(&system->allocator, sizeof(tpSmallSteps));
    if (made == NULL) {
        return false;
    }
    void* memory;
    if (!tpStepperMemory_Create(system, &memory)) {
        tpRelease(&system->allocator, made, sizeof(tpSmallSteps));
        return false;
    }
    made->memory = memory;
    *state = made;
    return true;
}

void tpSmallSteps_Destroy(tpSystem* system, void* state) {
    tpSmallSteps* made = state;
    if (made == NULL) {
        return;
    }
    const tpAllocator* allocator = &system->allocator;
    tpStepperMemory_Destroy(system, made->memory);
    TP_FREE_ARRAY(allocator, made->contacts);
    TP_FREE_ARRAY(allocator, made->poses);
    TP_FREE_ARRAY(allocator, made->margins);
    TP_FREE_ARRAY(allocator, made->starts);
    TP_FREE_ARRAY(allocator, made->past);
    tpSleep_Destroy(&made->sleep, system);
    tpRelease(allocator, made, sizeof(tpSmallSteps));
}

// A snapshot: the structure, the arrays, who sleeps, then what all steppers keep.
enum { arrayCount = 4 };

static void listArrays(tpSmallSteps* state, tpSavedArray arrays[arrayCount]) {
    const tpSavedArray list[arrayCount] = {
        TP_SAVED_ARRAY(state->contacts),
        TP_SAVED_ARRAY(state->poses),
        TP_SAVED_ARRAY(state->margins),
        TP_SAVED_ARRAY(state->starts),
    };
    memcpy(arrays, list, sizeof(list));
}

size_t tpSmallSteps_SavedSize(const void* state) {
    tpSmallSteps* made = (tpSmallSteps*)state;
    tpSavedArray arrays[arrayCount];
    listArrays(made, arrays);
    return sizeof(made->structure) + tpSavedArrays_Size(arrays, arrayCount) +
           tpSleep_SavedSize(&made->sleep) + tpStepperMemory_SavedSize(made->memory);
}

void tpSmallSteps_Save(const void* state, void* saved) {
    tpSmallSteps* made = (tpSmallSteps*)state;
    tpSavedArray arrays[arrayCount];
    listArrays(made, arrays);
    unsigned char* place = saved;
    memcpy(place, &made->structure, sizeof(made->structure));
    place = tpSavedArrays_Save(arrays, arrayCount, place + sizeof(made->structure));
    tpSleep_Save(&made->sleep, place);
    tpStepperMemory_Save(made->memory, place + tpSleep_SavedSize(&made->sleep));
}

bool tpSmallSteps_Restore(tpSystem* system, void* state, const void* saved) {
    tpSmallSteps* made = state;
    tpSavedArray arrays[arrayCount];
    listArrays(made, arrays);
    const unsigned char* place = saved;
    memcpy(&made->structure, place, sizeof(made->structure));
    place = tpSavedArrays_Restore(arrays, arrayCount, &system->allocator,
                                  place + sizeof(made->structure));
    return place != NULL && tpSleep_Restore(&made->sleep, system, place) &&
           tpStepperMemory_Restore(system, made->memory, place + tpSleep_SavedSize(&made->sleep));
}
