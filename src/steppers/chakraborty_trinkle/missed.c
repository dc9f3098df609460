#include "steppers/chakraborty_trinkle/missed.h"

// Overlaps that matter, m: far above what solves leave, far below what can be seen.
static const double overlap = 1e-7;

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
    int cursor = 0, used = 0, old = 0;
    for (int i = 0; i < number; ++i) {
        tpContact contact = found[i];
        if (contact.gap >= -overlap || tpContacts_FindSame(tpContact_Key(&contact), base->contacts,
                                                           base->contactCount, &cursor) != NULL) {
            continue;
        }
        while (old < base->contactCount &&
               tpContact_CompareKeys(&base->contacts[old], &contact) < 0) {
            merged[used++] = base->contacts[old++];
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
