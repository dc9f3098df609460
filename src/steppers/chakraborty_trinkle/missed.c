#include "steppers/chakraborty_trinkle/missed.h"

#include <string.h>

// Where its points and its normal were at the start of the step, each with its own body.
static void takeBack(const tpImplicitStep* step, tpContact* contact) {
    const tpPose* starts = step->base.startPoses;
    const tpPose* ends = step->geometry.endPoses;
    int a = contact->bodyA, b = contact->bodyB;
    contact->pointA = tpTransformPoint(starts[a], tpUntransformPoint(ends[a], contact->pointA));
    contact->pointB = tpTransformPoint(starts[b], tpUntransformPoint(ends[b], contact->pointB));
    int carrier = tpImplicitContact_IsNormalOnA(step->base.system, contact) ? a : b;
    contact->normal =
        tpRotate(starts[carrier].rotation, tpUnrotate(ends[carrier].rotation, contact->normal));
    contact->gap = tpDot(contact->normal, tpSub(contact->pointA, contact->pointB));
}

// Whether the problem knows of an overlap found where the step ends: one of its contacts with the
// same key, from number `first` on, is as deep there. Features that a contact keeps through the
// step (a point of a rim, crossed edges) may be other ones at its end.
static bool isKnown(const tpImplicitStep* step, const tpContact* contact, int first) {
    const tpTimeStep* base = &step->base;
    for (int i = first; i < base->contactCount; ++i) {
        int order = tpContact_CompareKeys(&base->contacts[i], contact);
        if (order > 0) {
            break;
        }
        if (order == 0 && step->geometry.ends[i].gap <
                              contact->gap + TP_SMALL_OVERLAP * step->base.system->units.length) {
            return true;
        }
    }
    return false;
}

bool tpImplicitStep_FindMissed(tpImplicitStep* step, tpCompletion* out) {
    tpTimeStep* base = &step->base;
    tpArena* arena = &base->system->arena;
    tpContact* found;
    int number;
    if (tpSystem_FindContacts(base->system, step->geometry.endPoses, base->margins, &found,
                              &number) != tp_success) {
        return false;
    }
    int most = base->contactCount + number;
    out->contacts = TP_SCRATCH(arena, tpContact, most);
    out->sources = TP_SCRATCH(arena, int, most);
    out->count = out->missedCount = 0;
    if (arena->failed) {
        return false;
    }
    int old = 0;
    for (int i = 0; i <= number; ++i) {
        while (old < base->contactCount &&
               (i == number || tpContact_CompareKeys(&base->contacts[old], &found[i]) < 0)) {
            out->contacts[out->count] = base->contacts[old];
            out->sources[out->count++] = old++;
        }
        if (i == number || found[i].gap >= -TP_SMALL_OVERLAP * step->base.system->units.length ||
            isKnown(step, &found[i], old)) {
            continue;
        }
        tpContact contact = found[i];
        takeBack(step, &contact);
        out->contacts[out->count] = contact;
        out->sources[out->count++] = -1;
        out->missedCount += 1;
    }
    return true;
}

bool tpImplicitStep_Keep(tpImplicitStep* step, tpFound* out) {
    const tpTimeStep* base = &step->base;
    tpArena* arena = &base->system->arena;
    out->impulses = tpArena_Get(arena, sizeof(*out->impulses) * (size_t)(base->contactCount + 1));
    out->thetas = TP_SCRATCH(arena, double, base->bodyCount);
    if (arena->failed) {
        return false;
    }
    for (int i = 0; i < base->contactCount; ++i) {
        for (int k = 0; k < base->rows.dimensions[i]; ++k) {
            out->impulses[i][k] = base->rows.impulse[base->rows.firstRows[i] + k];
        }
    }
    if (base->bodyCount > 0) {
        memcpy(out->thetas, step->thetaOf, sizeof(double) * (size_t)base->bodyCount);
    }
    return true;
}

void tpImplicitStep_Resume(tpImplicitStep* step, const tpCompletion* completion,
                           const tpFound* found) {
    tpRows* rows = &step->base.rows;
    for (int i = 0; i < completion->count; ++i) {
        int source = completion->sources[i];
        for (int k = 0; k < rows->dimensions[i]; ++k) {
            rows->impulse[rows->firstRows[i] + k] = source >= 0 ? found->impulses[source][k] : 0.0;
        }
    }
    for (int i = 0; i < step->base.bodyCount; ++i) {
        step->thetaOf[i] = found->thetas[i];
    }
}
