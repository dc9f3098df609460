// Contacts at both ends of a step.
//
// Those at the end of one are those at the start of the next: they are looked for once, with
// margins that the next step can use.

#include "steppers/bender_schmitt/step_contacts.h"

#include <string.h>

#include "steppers/bender_schmitt/missed.h"
#include "steppers/rim_points.h"

// Those that the last step found at its end, where they still hold: nothing has been moved since,
// and no body is faster than was looked for. If much touches, a body that has been hit may
// outrun its margin by a part of its size: what it meets is then found at the end of the step.
static bool areKept(const tpBenderStep* step) {
    const tpBenderSchmitt* state = step->state;
    const tpSystem* system = step->system;
    int count = step->time.bodyCount;
    if (state->structure != system->structure || state->poses.count != count ||
        state->margins.count != count) {
        return false;
    }
    if (count > 0 &&
        memcmp(state->poses.data, system->poses.data, sizeof(tpPose) * (size_t)count) != 0) {
        return false;
    }
    double smallCount = step->settings->budget / 1500.0;
    bool isSmall = state->contacts.count <= smallCount;
    for (int i = 0; i < count; ++i) {
        double spare = isSmall ? 0.0 : TP_SPARE_WAY * system->bodies.data[i].reach;
        if (step->time.margins[i] > state->margins.data[i] * (1.0 + 1e-9) + spare) {
            return false;
        }
    }
    return true;
}

// Contacts that impulses move a body of. Of a step that islands take one after the other, those
// that are out at the time have theirs in the list too: each would be told with what it carried
// last.
static int dropUnmoved(const tpSystem* system, tpContact* contacts, int count) {
    int number = 0;
    for (int i = 0; i < count; ++i) {
        if (tpSystem_IsDynamic(system, contacts[i].bodyA) ||
            tpSystem_IsDynamic(system, contacts[i].bodyB)) {
            contacts[number++] = contacts[i];
        }
    }
    return number;
}

bool tpStepContacts_Start(tpBenderStep* step, tpContact** contacts, int* count) {
    tpSystem* system = step->system;
    tpBenderSchmitt* state = step->state;
    if (!areKept(step)) {
        bool isDone = tpSystem_FindContacts(system, system->poses.data, step->time.margins,
                                            contacts, count) == tp_success;
        *count = isDone ? tpContacts_DropRimPoints(*contacts, *count) : 0;
        return isDone;
    }
    // They were looked for at least as far away as these margins say.
    for (int i = 0; i < step->time.bodyCount; ++i) {
        step->time.margins[i] = fmax(step->time.margins[i], state->margins.data[i]);
    }
    *count = state->contacts.count;
    *contacts = TP_SCRATCH(&system->arena, tpContact, *count);
    if (*contacts != NULL && *count > 0) {
        memcpy(*contacts, state->contacts.data, sizeof(tpContact) * (size_t)*count);
        *count = dropUnmoved(system, *contacts, *count);
        *count = tpContacts_DropRimPoints(*contacts, *count);
    }
    return *contacts != NULL;
}

bool tpStepContacts_End(tpBenderStep* step, tpContact** contacts, int* count) {
    tpSystem* system = step->system;
    tpBenderSchmitt* state = step->state;
    const tpAllocator* allocator = &system->allocator;
    // The drift has left its own, unless joints have been brought back since, which moves bodies.
    bool isMoved = system->joints.count > 0;
    if ((step->found == NULL || isMoved) && !tpMissed_Look(step)) {
        return false;
    }
    *contacts = step->found;
    *count = step->foundCount;
    state->structure = 0;
    if (!TP_RESERVE(allocator, state->contacts, *count) ||
        !TP_RESERVE(allocator, state->poses, system->bodyCount) ||
        !TP_RESERVE(allocator, state->margins, system->bodyCount)) {
        return false;
    }
    state->contacts.count = *count;
    state->poses.count = state->margins.count = system->bodyCount;
    if (*count > 0) {
        memcpy(state->contacts.data, *contacts, sizeof(tpContact) * (size_t)*count);
    }
    if (system->bodyCount > 0) {
        size_t bodies = (size_t)system->bodyCount;
        memcpy(state->poses.data, system->poses.data, sizeof(tpPose) * bodies);
        memcpy(state->margins.data, step->foundMargins, sizeof(double) * bodies);
    }
    state->structure = system->structure;
    return true;
}
