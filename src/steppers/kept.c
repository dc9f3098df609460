#include "steppers/kept.h"

static bool copyStepper(tpKept* kept, tpSystem* system, const tpStepper* stepper,
                        const void* state) {
    kept->saved = NULL;
    kept->savedSize = 0;
    if (stepper == NULL || stepper->savedSize == NULL || state == NULL) {
        return true;
    }
    kept->savedSize = stepper->savedSize(state);
    kept->saved = tpArena_Get(&system->arena, kept->savedSize);
    if (kept->saved == NULL || stepper == NULL) {
        return false;
    }
    stepper->save(state, kept->saved);
    return true;
}

bool tpKept_Take(tpKept* kept, tpSystem* system, const tpStepper* stepper, const void* state) {
    kept->carriers = TP_SCRATCH(&system->arena, const char*, system->bodyCount);
    if (!tpKeptMotion_Take(&kept->motion, system) || system->arena.failed) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        kept->carriers[i] = system->bodies.data[i].carrier;
    }
    return copyStepper(kept, system, stepper, state);
}

bool tpKept_PutBack(const tpKept* kept, tpSystem* system, const tpStepper* stepper, void* state) {
    tpKeptMotion_PutBack(&kept->motion, system);
    for (int i = 0; i < system->bodyCount; ++i) {
        system->bodies.data[i].carrier = kept->carriers[i];
    }
    tpSystem_ForgetContacts(system);
    if (kept->saved == NULL || stepper == NULL) {
        tpSystem_ForgetFound(system);
        return true;
    }
    tpSavedReader reader = { .place = kept->saved, .left = kept->savedSize };
    return stepper->restore(system, state, &reader);
}
