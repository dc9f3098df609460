// Bodies that a step has left in each other because its work had come to an end.
//
// Drifts end after rounds of solves, each of which sees where the one before has led. A step that
// has to end early has rows that miss true gaps, mostly by a hundredth of a body, while the law of
// contact may be met to the last digit. Moving bodies apart without touching their velocities takes
// a small part of what a round costs. It may not give back more energy than the step has lost.
// Contacts are listed with the gaps that they have then.

#include "steppers/late_overlaps.h"

#include <string.h>

#include "dynamics/body_islands.h"
#include "dynamics/contact_spring.h"
#include "dynamics/contacts.h"
#include "dynamics/forces.h"
#include "dynamics/kept_motion.h"
#include "dynamics/step_budget.h"
#include "dynamics/tally.h"
#include "steppers/push_out.h"

// Rounds of moving and looking again, as long as the step has not cost more than so many budgets.
enum { maxRounds = 8 };
static const double longest = 1.5;

// Of what a certificate allows: what is left.
static const double restPart = 0.9;

// How far from a body contacts are looked for, in its own deepest overlaps: what is squeezed out of
// one has to know its other neighbours. As far around all bodies of a pile as the deepest overlap
// of any asks for, there are many times as many contacts as touch.
static const double reach = 4.0;

// Work of the light sweeps of a round, per contact.
static const double roundWork = 5e3;

static bool find(tpPushOut* push) {
    tpSystem* system = push->system;
    tpContact* contacts;
    tpSystem_ForgetFound(system);
    bool isDone = tpSystem_FindContacts(system, system->poses.data, push->context, &contacts,
                                        &push->foundCount) == tp_success;
    push->found = contacts;
    return isDone;
}

// Margins that go with the overlaps of each body, found with those of the last look.
static void setMargins(const tpPushOut* push) {
    double* margins = push->context;
    memset(margins, 0, sizeof(double) * (size_t)push->system->bodyCount);
    for (int i = 0; i < push->foundCount; ++i) {
        const tpContact* contact = &push->found[i];
        double margin = reach * fmax(-contact->gap - push->rest, 0.0);
        margins[contact->bodyA] = fmax(margins[contact->bodyA], margin);
        margins[contact->bodyB] = fmax(margins[contact->bodyB], margin);
    }
    for (int i = 0; i < push->system->bodyCount; ++i) {
        // What surrounds many bodies is near what they are near.
        margins[i] = tpSystem_IsDynamic(push->system, i) ? margins[i] : 0.0;
    }
}

static bool look(tpPushOut* push) {
    tpSystem* system = push->system;
    setMargins(push);
    bool isDone = find(push);
    tpStepBudget_Spend(system, roundWork * push->foundCount);
    double used = tpStepBudget_Work(system) / tpStepBudget_Whole(system);
    push->rounds = used < longest && !tpSystem_IsStopped(system) ? push->rounds : 0;
    return isDone;
}

// Gaps of what the step has listed, as they are now.
static void renewGaps(const tpPushOut* push, double before) {
    tpSystem* system = push->system;
    double deepest = 0.0;
    int k = 0;
    for (int i = 0; i < push->foundCount; ++i) {
        deepest = fmax(deepest, -push->found[i].gap);
    }
    for (int i = 0; i < system->contacts.count; ++i) {
        tpContactInfo* info = &system->contacts.data[i];
        int order = -1;
        for (; k < push->foundCount && order < 0; k += order < 0) {
            order = tpContactKey_Compare(tpContact_Key(&push->found[k]), tpContactInfo_Key(info));
        }
        info->gap = order == 0 ? push->found[k].gap : fmax(info->gap, -deepest);
    }
    push->report->penetration = fmin(before, deepest);
}

// Whether bodies overlapped before the step by more than it may leave.
static bool wasDeep(tpSystem* system, const tpPose* starts, const double* margins, double limit) {
    tpContact* contacts;
    int count;
    bool isDeep = tpSystem_FindContacts(system, starts, margins, &contacts, &count) != tp_success;
    for (int i = 0; i < count; ++i) {
        isDeep = isDeep || -contacts[i].gap > limit;
    }
    return isDeep;
}

// Bodies on joints: moving them would tear those.
static bool* markJoined(tpSystem* system) {
    bool* isJoined = TP_SCRATCH_ZEROED(&system->arena, bool, system->bodyCount);
    for (int i = 0; isJoined != NULL && i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        const int bodies[2] = { joint->bodyA, joint->bodyB };
        for (int k = 0; joint->isLive && k < 2; ++k) {
            if (tpSystem_IsDynamic(system, bodies[k])) {
                isJoined[bodies[k]] = true;
            }
        }
    }
    return isJoined;
}

// Moves all other bodies, while those on joints stay where they are.
static bool moveOthers(tpPushOut* push, const tpKeptMotion* start) {
    tpSystem* system = push->system;
    bool* isJoined = markJoined(system);
    if (isJoined == NULL) {
        return false;
    }
    tpSystem_TakeOut(system, isJoined);
    bool isDone = find(push) && look(push) && tpPushOut_Settle(push);
    tpSystem_PutIn(system, isJoined);
    for (int i = 0; i < system->bodyCount; ++i) {
        if (isJoined[i]) {
            system->velocities.data[i] = start->velocities[i];
        }
    }
    return isDone;
}

// Finds all contacts that the step has listed: those have opened by no more than bodies have been
// moved.
static bool findAgain(tpPushOut* push, const tpKeptMotion* start) {
    tpSystem* system = push->system;
    double* margins = push->context;
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpPose *from = &start->poses[i], *to = &system->poses.data[i];
        tpQuat turn = tpMulQQ(to->rotation, tpConjugate(from->rotation));
        margins[i] = tpDistanceBetween(to->position, from->position) +
                     system->bodies.data[i].reach * tpLength(tpQuatLog(turn));
    }
    return find(push);
}

bool tpLateOverlaps_Settle(tpSystem* system, const tpPose* starts, tpStepReport* report) {
    double before = report->penetration;
    if (system->gives || !(before > report->limits.penetration)) {
        return true;
    }
    bool isSpent = tpStepBudget_WasSpent(system);
    if (!isSpent && !tpStepBudget_IsHard(system)) {
        return true;
    }
    double* margins = TP_SCRATCH_ZEROED(&system->arena, double, system->bodyCount);
    if (margins != NULL && !isSpent &&
        wasDeep(system, starts, margins, report->limits.penetration)) {
        return true;
    }
    tpPushOut push = { .system = system,
                       .rest = restPart * report->limits.penetration,
                       .rounds = maxRounds,
                       .look = look,
                       .context = margins,
                       .report = report };
    tpKeptMotion start;
    double energy = tpSystem_Energy(system), loss = report->impactLoss;
    if (margins == NULL || !tpKeptMotion_Take(&start, system)) {
        return false;
    }
    bool isDone = system->joints.count > 0 ? moveOthers(&push, &start)
                                           : find(&push) && look(&push) && tpPushOut_Settle(&push);
    if (!isDone) {
        return false;
    }
    // What lifts bodies by more than the step has lost would be a gain, in this step and after it.
    if (tpSystem_Energy(system) - energy > loss + report->frictionLoss) {
        tpKeptMotion_PutBack(&start, system);
        tpSystem_ForgetFound(system);
        report->impactLoss = loss;
        return true;
    }
    if (!findAgain(&push, &start)) {
        return false;
    }
    renewGaps(&push, before);
    return true;
}
