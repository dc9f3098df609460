// What a step reports of its contacts, and what it leaves to the next one.

#include <string.h>

#include "math/elementary.h"
#include "steppers/bender_schmitt/step.h"

static tpContactInfo describe(const tpTouch* touch, int index) {
    const tpContact* contact = &touch->contacts[index];
    tpContactInfo info = tpContactInfo_Make(contact);
    info.normalImpulse = tpTouch_Normal(touch, index);
    info.frictionImpulse = tpTouch_Friction(touch, index);
    info.torsionalImpulse = tpTouch_Torsion(touch, index);
    return info;
}

// What the contacts at the start carried, those apart that are at the end under another name.
static bool tallyStart(tpBenderStep* step, tpTally* tally) {
    tpArena* arena = &step->system->arena;
    int count = step->start.contactCount, number = 0;
    tpContactInfo* infos = TP_SCRATCH(arena, tpContactInfo, count);
    bool* isLater = TP_SCRATCH_ZEROED(arena, bool, count);
    if (infos == NULL || isLater == NULL) {
        return false;
    }
    for (int i = 0; i < step->end.contactCount; ++i) {
        if (step->match[i] >= 0) {
            isLater[step->match[i]] = true;
        }
    }
    for (int i = 0; i < count; ++i) {
        if (!isLater[i]) {
            infos[number++] = describe(&step->start, i);
        }
    }
    return tpTally_Merge(tally, infos, number, arena);
}

static tpContactInfo describeEnd(const tpBenderStep* step, int index) {
    const tpContact* contact = &step->end.contacts[index];
    tpContactInfo info = describe(&step->end, index);
    tpVec3 hit = step->collided[index];
    double normal = tpDot(hit, contact->normal);
    info.normalImpulse += normal;
    info.frictionImpulse = tpAdd(info.frictionImpulse, tpMulAdd(hit, -normal, contact->normal));
    info.torsionalImpulse += step->collidedTorsion[index];
    if (step->match[index] >= 0) {
        tpContactInfo drift = describe(&step->start, step->match[index]);
        tpContactInfo_AddImpulses(&info, &drift);
    }
    double u[4];
    tpSweeper_ContactVelocity(&step->end.sweeper, index, u);
    const tpContactLaw* law = &step->end.laws[index];
    info.slidingSpeed = tpHypot(u[1] / law->ellipse[0], u[2] / law->ellipse[1]);
    return info;
}

bool tpBenderStep_Tally(tpBenderStep* step, tpTally* tally) {
    int count = step->end.contactCount;
    tpContactInfo* infos = TP_SCRATCH(&step->system->arena, tpContactInfo, count);
    if (infos == NULL || !tallyStart(step, tally)) {
        return false;
    }
    step->end.sweeper.velocities = step->system->velocities.data;
    for (int i = 0; i < count; ++i) {
        infos[i] = describeEnd(step, i);
        step->report->penetration = fmax(step->report->penetration, -step->end.contacts[i].gap);
    }
    return tpTally_Merge(tally, infos, count, &step->system->arena);
}

static bool listContacts(tpBenderStep* step, const tpTally* tally) {
    tpSystem* system = step->system;
    system->contacts.count = 0;
    if (!TP_RESERVE(&system->allocator, system->contacts, tally->count)) {
        return false;
    }
    for (int i = 0; i < tally->count; ++i) {
        tpContactInfo info = tally->list[i];
        bool carries = info.normalImpulse > 0.0;
        if (carries || info.gap <= TP_TOUCH_DISTANCE * step->system->units.length) {
            info.state = !carries ? tp_separated
                         : info.slidingSpeed > TP_STICKING_SPEED * step->system->units.speed
                             ? tp_sliding
                             : tp_sticking;
            system->contacts.data[system->contacts.count++] = info;
        }
    }
    step->report->contactCount = system->contacts.count;
    return true;
}

static bool rememberImpulses(tpBenderStep* step) {
    tpBenderSchmitt* state = step->state;
    const tpAllocator* allocator = &step->system->allocator;
    const tpTouch* end = &step->end;
    // The next step is a whole one.
    double share = step->duration / step->drifted;
    state->rests.count = 0;
    if (!TP_RESERVE(allocator, state->rests, end->contactCount)) {
        return false;
    }
    for (int i = 0; i < end->contactCount; ++i) {
        const tpContact* contact = &end->contacts[i];
        tpRestMemory rest;
        memset(&rest, 0, sizeof(rest));
        rest.shapeA = contact->shapeA;
        rest.shapeB = contact->shapeB;
        rest.feature = contact->feature;
        double stop = fmax(0.0, tpTouch_Normal(end, i));
        rest.stop = tpScale(share, tpMulAdd(tpTouch_Friction(end, i), stop, contact->normal));
        rest.stopTorsion = share * tpTouch_Torsion(end, i);
        int same = step->match[i];
        if (same >= 0) {
            tpVec3 drift =
                tpMulAdd(tpTouch_Friction(&step->start, same), tpTouch_Normal(&step->start, same),
                         step->start.contacts[same].normal);
            rest.drift = tpScale(share, drift);
            rest.driftTorsion = share * tpTouch_Torsion(&step->start, same);
        }
        state->rests.data[state->rests.count++] = rest;
    }
    tpTouch_StoreJoints(&step->start);
    tpTouch_StoreJoints(&step->end);
    return tpTouch_KeepJoints(&step->start, allocator, share, &state->driftImpulses.data,
                              &state->driftImpulses.count, &state->driftImpulses.capacity) &&
           tpTouch_KeepJoints(&step->end, allocator, share, &state->stopImpulses.data,
                              &state->stopImpulses.count, &state->stopImpulses.capacity);
}

bool tpBenderStep_Remember(tpBenderStep* step, const tpTally* tally) {
    return listContacts(step, tally) && rememberImpulses(step);
}
