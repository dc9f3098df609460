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
    tpCreateFatPairs(&made->fat, &system->allocator, true);
    // Pairs that are apart cost little, but there are many. With .012 and 2 cubes that fall into a
    // funnel take a tenth more instructions, other crowds up to 2 percent.
    made->fat.sizeMargin = 0.006;
    made->fat.motionMargin = 3.0;
    tpCreatePackStore(&made->store, &system->allocator);
    tpArena_Create(&made->jointRoom, &system->allocator);
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
    TP_FREE_ARRAY(allocator, made->numbers);
    TP_FREE_ARRAY(allocator, made->bodies);
    TP_FREE_ARRAY(allocator, made->blockFirsts);
    TP_FREE_ARRAY(allocator, made->ways);
    TP_FREE_ARRAY(allocator, made->motionMarks);
    tpDestroyFatPairs(&made->fat);
    TP_FREE_ARRAY(allocator, made->pairs);
    TP_FREE_ARRAY(allocator, made->caches);
    TP_FREE_ARRAY(allocator, made->oldCaches);
    tpDestroyPackStore(&made->store);
    TP_FREE_ARRAY(allocator, made->shapes);
    TP_FREE_ARRAY(allocator, made->shapeMarks);
    TP_FREE_ARRAY(allocator, made->departed);
    tpSleep_Destroy(&made->sleep, system);
    tpMechanismMap_Destroy(&made->map, allocator);
    tpArena_Destroy(&made->jointRoom);
    tpRelease(allocator, made, sizeof(tpSmallSteps));
}

// Turning the hash lets high bits of a word reach low bits of the product: two changes of sign do
// not cancel.
static inline uint64_t hashNumbers(uint64_t hash, const double* numbers, int count) {
    for (int k = 0; k < count; ++k) {
        uint64_t word;
        memcpy(&word, &numbers[k], sizeof(word));
        hash ^= word;
        hash = (hash << 31 | hash >> 33) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return hash;
}

_Static_assert(sizeof(tpPose) == 7 * sizeof(double), "a pose is seven numbers");

// Four hashes that do not wait for each other.
uint64_t tpHashMotion(const tpPose* pose, const tpVelocity* velocity) {
    uint64_t start = UINT64_C(0xcbf29ce484222325);
    uint64_t place = hashNumbers(start, &pose->position.x, 3);
    uint64_t turn = hashNumbers(start, &pose->rotation.w, 4);
    uint64_t way = hashNumbers(start, &velocity->linear.x, 3);
    uint64_t spin = hashNumbers(start, &velocity->angular.x, 3);
    return tpHashWord(tpHashWord(place, turn), tpHashWord(way, spin));
}

void tpSmallSteps_Forget(tpSmallSteps* state) {
    state->numbers.count = state->bodies.count = state->blockFirsts.count = 0;
    state->ways.count = state->motionMarks.count = 0;
    tpFatPairs_Clear(&state->fat);
    state->pairs.count = state->caches.count = 0;
    state->shapes.count = state->shapeMarks.count = 0;
    tpPackStore_Clear(&state->store);
    state->departed.count = 0;
    state->remembers = state->hasHeld = state->isCalm = false;
    state->substepTime = state->foreseenTime = 0.0;
    state->substeps = state->waryFor = 0;
    state->unrest = INFINITY;
    state->structure = state->weighedStructure = 0;
    state->joints = NULL;
}

// A snapshot: numbers, arrays, pairs of boxes, the store, who sleeps, then what all steppers keep.
typedef struct SavedNumbers {
    uint64_t structure, exclusions;
    double substepTime, unrest, bordersAtCut;
    int32_t substeps, waryFor, addedBodies, stepsSinceCut, remembers, hasHeld, isCalm;
} SavedNumbers;

enum { arrayCount = 9 };

static void listArrays(tpSmallSteps* state, tpSavedArray arrays[arrayCount]) {
    const tpSavedArray list[arrayCount] = {
        TP_SAVED_ARRAY(state->numbers),     TP_SAVED_ARRAY(state->bodies),
        TP_SAVED_ARRAY(state->blockFirsts), TP_SAVED_ARRAY(state->ways),
        TP_SAVED_ARRAY(state->motionMarks), TP_SAVED_ARRAY(state->pairs),
        TP_SAVED_ARRAY(state->caches),      TP_SAVED_ARRAY(state->shapes),
        TP_SAVED_ARRAY(state->shapeMarks),
    };
    memcpy(arrays, list, sizeof(list));
}

size_t tpSmallSteps_SavedSize(const void* state) {
    tpSmallSteps* made = (tpSmallSteps*)state;
    tpSavedArray arrays[arrayCount];
    listArrays(made, arrays);
    return sizeof(SavedNumbers) + tpSavedArrays_Size(arrays, arrayCount) +
           tpFatPairs_SavedSize(&made->fat) + tpPackStore_SavedSize(&made->store) +
           tpSleep_SavedSize(&made->sleep) + tpStepperMemory_SavedSize(made->memory);
}

void tpSmallSteps_Save(const void* state, void* saved) {
    tpSmallSteps* made = (tpSmallSteps*)state;
    tpSavedArray arrays[arrayCount];
    listArrays(made, arrays);
    SavedNumbers numbers;
    memset(&numbers, 0, sizeof(numbers));
    numbers.structure = made->structure;
    numbers.exclusions = made->exclusions;
    numbers.substepTime = made->substepTime;
    numbers.substeps = made->substeps;
    numbers.waryFor = made->waryFor;
    numbers.unrest = made->unrest;
    numbers.bordersAtCut = made->bordersAtCut;
    numbers.addedBodies = made->addedBodies;
    numbers.stepsSinceCut = made->stepsSinceCut;
    numbers.remembers = made->remembers ? 1 : 0;
    numbers.hasHeld = made->hasHeld ? 1 : 0;
    numbers.isCalm = made->isCalm ? 1 : 0;
    unsigned char* place = saved;
    memcpy(place, &numbers, sizeof(numbers));
    place = tpSavedArrays_Save(arrays, arrayCount, place + sizeof(numbers));
    tpFatPairs_Save(&made->fat, place);
    place += tpFatPairs_SavedSize(&made->fat);
    tpPackStore_Save(&made->store, place);
    place += tpPackStore_SavedSize(&made->store);
    tpSleep_Save(&made->sleep, place);
    tpStepperMemory_Save(made->memory, place + tpSleep_SavedSize(&made->sleep));
}

bool tpSmallSteps_Restore(tpSystem* system, void* state, tpSavedReader* reader) {
    tpSmallSteps* made = state;
    made->map.structure = 0;
    made->joints = NULL;
    made->foreseenTime = 0.0;
    tpSavedArray arrays[arrayCount];
    listArrays(made, arrays);
    SavedNumbers numbers;
    if (!tpSavedReader_Take(reader, &numbers, sizeof(numbers)) ||
        !tpSavedArrays_Restore(arrays, arrayCount, &system->allocator, reader) ||
        !tpFatPairs_Load(&made->fat, reader) || !tpPackStore_Load(&made->store, reader)) {
        tpSmallSteps_Forget(made);
        return false;
    }
    made->structure = numbers.structure;
    made->exclusions = numbers.exclusions;
    made->substepTime = numbers.substepTime;
    made->substeps = numbers.substeps;
    made->waryFor = numbers.waryFor;
    made->unrest = numbers.unrest;
    made->weighedStructure = 0;
    made->bordersAtCut = numbers.bordersAtCut;
    made->addedBodies = numbers.addedBodies;
    made->stepsSinceCut = numbers.stepsSinceCut;
    made->remembers = numbers.remembers != 0;
    made->hasHeld = numbers.hasHeld != 0;
    made->isCalm = numbers.isCalm != 0;
    made->departed.count = 0;
    return tpSleep_Restore(&made->sleep, system, reader) &&
           tpStepperMemory_Restore(system, made->memory, reader);
}
