// Contacts that were none at the start of the step.
//
// A pair that is apart has few contacts: of a box that falls almost flat only the nearest corner.
// When that has been stopped the box turns, and another corner is through before the step is over.
// What overlaps at the end of the drift and was no row of it becomes one, carried back to the start
// with the gap that the linear row needs to know about it, and the drift is solved again.

#include "steppers/bender_schmitt/missed.h"

#include <string.h>

#include "dynamics/matching.h"
#include "steppers/rim_points.h"

// Overlaps of missed contacts that matter: units of length for few contacts, part of the bodies'
// size for many.
static const double fineOverlap = 1e-7;
static const double hastyPart = 2e-3;

bool tpMissed_Look(tpBenderStep* step) {
    tpSystem* system = step->system;
    // The next part is no longer than this: what is farther away only costs time.
    double next = fmin(step->duration, fmax(fabs(step->time.h), step->longest));
    double* margins =
        tpSystem_Margins(system, system->velocities.data, step->time.startVelocities, next);
    if (margins == NULL) {
        return false;
    }
    // Falling, a body is faster in the next part.
    double fall = next * next * tpLength(system->gravity);
    for (int i = 0; i < system->bodyCount; ++i) {
        margins[i] += tpSystem_IsDynamic(system, i) ? fall : 0.0;
    }
    step->foundMargins = margins;
    if (tpSystem_FindContacts(system, system->poses.data, margins, &step->found,
                              &step->foundCount) != tp_success) {
        return false;
    }
    step->foundCount = tpContacts_DropRimPoints(step->found, step->foundCount);
    return true;
}

static double allowedOverlap(const tpBenderStep* step, const tpContact* contact) {
    if (step->start.isSmall) {
        return fineOverlap * step->system->units.length;
    }
    double reach = INFINITY;
    const int bodies[2] = { contact->bodyA, contact->bodyB };
    for (int k = 0; k < 2; ++k) {
        if (tpSystem_IsDynamic(step->system, bodies[k])) {
            reach = fmin(reach, step->system->bodies.data[bodies[k]].reach);
        }
    }
    return hastyPart * reach;
}

static tpVec3 carryBack(const tpPose* end, const tpPose* start, tpVec3 point) {
    return tpTransformPoint(*start, tpUntransformPoint(*end, point));
}

// The contact as it is at the start: the gap is the one from which its row leads to that at the
// end.
static tpContact atStart(const tpBenderStep* step, const tpContact* contact) {
    const tpPose* ends = step->system->poses.data;
    const tpPose* starts = step->time.startPoses;
    const tpVelocity* meanVelocities = step->time.meanVelocities;
    tpContact early = *contact;
    int a = contact->bodyA, b = contact->bodyB;
    early.pointA = carryBack(&ends[a], &starts[a], contact->pointA);
    early.pointB = carryBack(&ends[b], &starts[b], contact->pointB);
    tpVec3 u = tpSub(tpTimeStep_PointVelocity(&step->time, a, early.pointA, meanVelocities),
                     tpTimeStep_PointVelocity(&step->time, b, early.pointB, meanVelocities));
    early.gap = contact->gap - step->time.h * tpDot(u, contact->normal);
    return early;
}

static int compare(const tpContact* a, const tpContact* b) {
    if (a->shapeA != b->shapeA) {
        return a->shapeA < b->shapeA ? -1 : 1;
    }
    if (a->shapeB != b->shapeB) {
        return a->shapeB < b->shapeB ? -1 : 1;
    }
    return a->feature < b->feature ? -1 : a->feature > b->feature ? 1 : 0;
}

bool tpMissed_Add(tpBenderStep* step, tpContact** contacts, int* count) {
    tpArena* arena = &step->system->arena;
    const tpTouch* touch = &step->start;
    int* match =
        tpMatchContacts(touch->contacts, touch->contactCount, step->found, step->foundCount, arena);
    tpContact* missed = TP_SCRATCH(arena, tpContact, step->foundCount);
    if (match == NULL || missed == NULL) {
        return false;
    }
    int missedCount = 0;
    for (int i = 0; i < step->foundCount; ++i) {
        const tpContact* contact = &step->found[i];
        if (match[i] < 0 && contact->gap < -allowedOverlap(step, contact)) {
            missed[missedCount++] = atStart(step, contact);
        }
    }
    *count = touch->contactCount + missedCount;
    *contacts = touch->contacts;
    if (missedCount == 0) {
        return true;
    }
    *contacts = TP_SCRATCH(arena, tpContact, *count);
    if (*contacts == NULL) {
        return false;
    }
    int old = 0, new = 0;
    for (int i = 0; i < *count; ++i) {
        bool takesOld = new == missedCount || (old < touch->contactCount &&
                                               compare(&touch->contacts[old], &missed[new]) <= 0);
        (*contacts)[i] = takesOld ? touch->contacts[old++] : missed[new ++];
    }
    return true;
}
