#include "steppers/chakraborty_trinkle/missed.h"

// Where its points and its normal were at the start of the step, each with its own body; the normal with
// that of B.
static void takeBack(const tpImplicitStep* step, tpContact* contact) {
    const tpPose* starts = step->base.startPoses;
    const tpPose* ends = step->geometry.endPoses;
    int a = contact->bodyA, b = contact->bodyB;
    contact->pointA = tpTransformPoint(starts[a], tpUntransformPoint(ends[a], contact->pointA));
    contact->pointB = tpTransformPoint(starts[b], tpUntransformPoint(ends[b], contact->pointB));
    contact->normal = tpRotate(starts[b].rotation, tpUnrotate(ends[b].rotation, contact->normal));
    contact->gap = tpDot(contact->normal, tpSub(contact->pointA, contact->pointB));
}

// Whether the problem knows of an overlap found where the step ends: one of its contacts with the same key,
// from number `first` on, is as deep there. Features that a contact keeps through the step (a point of a
// rim, crossed edges) may be other ones at its end.
static bool isKnown(const tpImplicitStep* step, const tpContact* contact, int first) {
    const tpTimeStep* base = &step->base;
    for (int i = first; i < base->contactCount; ++i) {
        int order = tpContact_CompareKeys(&base->contacts[i], contact);
        if (order > 0) {
            break;
        }
        if (order == 0 && step->geometry.ends[i].gap < contact->gap + TP_SMALL_OVERLAP) {
            return true;
        }
    }
    return false;
}

bool tpImplicitStep_FindMissed(tpImplicitStep* step, tpContact** contacts, int* count,
                               int* missedCount) {
    tpTimeStep* base = &step->base;
    tpContact* found;
    int number;
    *missedCount = 0;
    if (tpSystem_FindContacts(base->system, step->geometry.endPoses, base->margins, &found,
                              &number) != tp_success) {
        return false;
    }
    tpContact* merged = TP_SCRATCH(&base->system->arena, tpContact, base->contactCount + number);
    if (merged == NULL) {
        return false;
    }
    int used = 0, old = 0;
    for (int i = 0; i < number; ++i) {
        tpContact contact = found[i];
        while (old < base->contactCount &&
               tpContact_CompareKeys(&base->contacts[old], &contact) < 0) {
            merged[used++] = base->contacts[old++];
        }
        if (contact.gap >= -TP_SMALL_OVERLAP || isKnown(step, &contact, old)) {
            continue;
        }
        takeBack(step, &contact);
        merged[used++] = contact;
        *missedCount += 1;
    }
    while (old < base->contactCount) {
        merged[used++] = base->contacts[old++];
    }
    *contacts = merged;
    *count = used;
    return true;
}
