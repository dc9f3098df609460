// Bodies that a step has left in each other because its work had come to an end.
//
// Drifts end after rounds of solves, each of which sees where the one before has led. A step that
// has to end early has rows that miss true gaps, mostly by a hundredth of a body, while the law of
// contact may be met to the last digit. Moving bodies apart without touching their velocities takes
// a small part of what a round costs. What is lifted by more than the step has lost pays for it
// with its velocity. Joints are closed again before each look at the overlaps that are left.
// Contacts are listed with the gaps that they have then.

#include "steppers/late_overlaps.h"

#include <string.h>

#include "dynamics/body_islands.h"
#include "dynamics/contact_spring.h"
#include "dynamics/contacts.h"
#include "dynamics/forces.h"
#include "dynamics/island_energy.h"
#include "dynamics/joints.h"
#include "dynamics/kept_motion.h"
#include "dynamics/step_budget.h"
#include "dynamics/tally.h"
#include "steppers/push_out.h"

// Rounds of moving and looking again, as long as the step has not cost more than so many budgets,
// or they themselves this part of one.
enum { maxRounds = 8 };
static const double longest = 1.5, ownPart = 0.1;

// Of what a certificate allows: what is left.
static const double restPart = 0.9;

// How far from a body contacts are looked for, in its own deepest overlaps: what is squeezed out of
// one has to know its other neighbours. As far around all bodies of a pile as the deepest overlap
// of any asks for, there are many times as many contacts as touch.
static const double reach = 4.0;

// Joints are brought back to within this, in units of length or rad.
static const double jointTolerance = 1e-10;

// Of what a certificate allows: overlaps as deep are left alone in steps that have cost more than
// that, for it is not known on which side bodies are to come out.
static const double tooDeep = 100.0;

// Rounding of the energy.
static const double energySlack = 1e-12;

// Work of the light sweeps of a round, per contact.
static const double roundWork = 5e3;

// What rounds look with.
typedef struct tpLook {
    double* margins;
    tpSolverMemory* solver; // NULL if no joints are to be closed
    double apart;           // m: to which they are
    double begun;           // what the step had cost before, in budgets
} tpLook;

static bool find(tpPushOut* push) {
    tpSystem* system = push->system;
    const tpLook* with = push->context;
    tpContact* contacts;
    tpSystem_ForgetFound(system);
    bool isDone = tpSystem_FindContacts(system, system->poses.data, with->margins, &contacts,
                                        &push->foundCount) == tp_success;
    push->found = contacts;
    return isDone;
}

// Margins that go with the overlaps of each body, found with those of the last look.
static void setMargins(const tpPushOut* push) {
    tpSystem* system = push->system;
    double* margins = ((const tpLook*)push->context)->margins;
    memset(margins, 0, sizeof(double) * (size_t)system->bodyCount);
    for (int i = 0; i < push->foundCount; ++i) {
        const tpContact* contact = &push->found[i];
        double margin = reach * fmax(-contact->gap - push->rest, 0.0);
        margins[contact->bodyA] = fmax(margins[contact->bodyA], margin);
        margins[contact->bodyB] = fmax(margins[contact->bodyB], margin);
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        // What surrounds many bodies is near what they are near.
        margins[i] = tpSystem_IsDynamic(system, i) ? margins[i] : 0.0;
    }
}

// Bodies go back to where their joints hold them before their overlaps are found: by turns both
// come to an end.
static bool look(tpPushOut* push) {
    tpSystem* system = push->system;
    const tpLook* with = push->context;
    setMargins(push);
    if (with->solver != NULL) {
        tpJoints_Correct(system, with->solver, with->apart);
    }
    bool isDone = find(push);
    tpStepBudget_Spend(system, roundWork * push->foundCount);
    double used = tpStepBudget_Work(system) / tpStepBudget_Whole(system);
    bool mayGoOn = used < fmax(longest, with->begun + ownPart) && !tpSystem_IsStopped(system);
    push->rounds = mayGoOn ? push->rounds : 0;
    return isDone;
}

// The deepest overlap of the last look.
static double deepestOf(const tpPushOut* push) {
    double deepest = 0.0;
    for (int i = 0; i < push->foundCount; ++i) {
        deepest = fmax(deepest, -push->found[i].gap);
    }
    return deepest;
}

// Gaps of what the step has listed, as they are now.
static void renewGaps(const tpPushOut* push, double before) {
    tpSystem* system = push->system;
    double deepest = deepestOf(push);
    int k = 0;
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

// What lifts bodies by more than the step has lost is taken from the velocities of those that are
// lifted, and of what hangs together with them.
static void takeLifted(const tpPushOut* push, const tpKeptMotion* start, double energy,
                       double lost) {
    double gained = tpSystem_Energy(push->system) - energy - fmax(lost, 0.0);
    if (gained > 0.0) {
        push->report->impactLoss += tpSystem_TakeGains(push->system, start, gained);
    }
}

// Whether the end of all rounds is worse than where they began: bodies were lifted that have not
// enough energy for it, which would be a gain, in this step and after it; or joints find no place.
static bool isWorse(const tpPushOut* push, double energy, double lost, double drift) {
    tpSystem* system = push->system;
    double now = tpJoints_PositionError(system, system->poses.data);
    double slack = energySlack * fabs(energy);
    return tpSystem_Energy(system) - energy > fmax(lost, 0.0) + slack ||
           !(deepestOf(push) < push->report->penetration) ||
           now > fmax(drift, push->report->limits.jointDrift);
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

// Finds all contacts that the step has listed: those have opened by no more than bodies have been
// moved.
static bool findAgain(tpPushOut* push, const tpKeptMotion* start) {
    tpSystem* system = push->system;
    double* margins = ((const tpLook*)push->context)->margins;
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpPose *from = &start->poses[i], *to = &system->poses.data[i];
        tpQuat turn = tpMulQQ(to->rotation, tpConjugate(from->rotation));
        margins[i] = tpDistanceBetween(to->position, from->position) +
                     system->bodies.data[i].reach * tpLength(tpQuatLog(turn));
    }
    return find(push);
}

// Bodies on joints.
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

// Moves all bodies on no joint, while those on joints stay where they are.
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

// Pays for what was lifted. All goes back if the end is worse than `start`. False if memory ran
// out.
static bool moveBodies(tpPushOut* push, const tpKeptMotion* start, bool* isMoved) {
    tpSystem* system = push->system;
    tpStepReport* report = push->report;
    const tpLook* with = push->context;
    double energy = tpSystem_Energy(system), loss = report->impactLoss;
    double drift = tpJoints_PositionError(system, system->poses.data);
    push->rounds = maxRounds;
    memset(with->margins, 0, sizeof(double) * (size_t)system->bodyCount);
    bool movesAll = with->solver != NULL || system->joints.count == 0;
    bool isDone =
        movesAll ? find(push) && look(push) && tpPushOut_Settle(push) : moveOthers(push, start);
    if (!isDone) {
        return false;
    }
    takeLifted(push, start, energy, loss + report->frictionLoss);
    if (isWorse(push, energy, loss + report->frictionLoss, drift)) {
        tpKeptMotion_PutBack(start, system);
        tpSystem_ForgetFound(system);
        report->impactLoss = loss;
        return true;
    }
    *isMoved = true;
    report->penetration = deepestOf(push);
    return true;
}

// Where joints and overlaps come to no end together, as in a net that is taut, bodies that are on
// no joint may.
static bool settle(tpSystem* system, tpLook* with, tpStepReport* report) {
    double before = report->penetration;
    tpPushOut push = { .system = system,
                       .rest = restPart * report->limits.penetration,
                       .look = look,
                       .context = with,
                       .report = report };
    tpKeptMotion start, middle;
    bool isMoved = false;
    bool isDone = tpKeptMotion_Take(&start, system) && moveBodies(&push, &start, &isMoved);
    if (isDone && with->solver != NULL && report->penetration > report->limits.penetration) {
        with->solver = NULL;
        isDone = tpKeptMotion_Take(&middle, system) && moveBodies(&push, &middle, &isMoved);
    }
    if (isDone && isMoved) {
        tpJoints_FollowAngles(system);
        if (!findAgain(&push, &start)) {
            return false;
        }
        renewGaps(&push, before);
    }
    return isDone;
}

bool tpLateOverlaps_Settle(tpSystem* system, const tpPose* starts, tpStepReport* report) {
    double before = report->penetration, limit = report->limits.penetration;
    double used = tpStepBudget_Work(system) / tpStepBudget_Whole(system);
    bool isSpent = tpStepBudget_WasSpent(system), hasJoints = system->joints.count > 0;
    bool isLost = before > tooDeep * limit && used >= longest;
    bool hasFailed = report->failureCount > 0;
    bool mayLeave = !isSpent && !tpStepBudget_WasHard(system) && !hasFailed;
    if (system->gives || !(before > limit) || isLost || mayLeave) {
        return true;
    }
    // Joints that are taut are no closer than the step has left them.
    double left = report->jointDrift <= report->limits.jointDrift ? report->jointDrift : 0.0;
    tpSolverMemory* solver = hasJoints ? tpCreateSolverMemory(&system->allocator) : NULL;
    tpLook with = { .margins = TP_SCRATCH_ZEROED(&system->arena, double, system->bodyCount),
                    .solver = solver,
                    .apart = fmax(jointTolerance * system->units.length, left),
                    .begun = used };
    bool isDone = with.margins != NULL && (!hasJoints || solver != NULL);
    if (isDone && (isSpent || !wasDeep(system, starts, with.margins, limit))) {
        isDone = settle(system, &with, report);
    }
    tpDestroySolverMemory(solver);
    return isDone;
}
