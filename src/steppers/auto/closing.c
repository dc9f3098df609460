#include "steppers/auto/closing.h"

#include "dynamics/contact_law.h"
#include "dynamics/contacts.h"
#include "dynamics/joints.h"
#include "steppers/auto/body_change.h"
#include "steppers/auto/stride_loads.h"

// Gaps are closed to this part of the length, in so many rounds at most.
static const double closedGap = 1e-10;
enum { roundCount = 32 };

bool tpGroupRun_CloseJointsTo(const tpGroupRun* run, double drift) {
    if (run->groups->jointCounts[run->group] == 0) {
        return false;
    }
    tpJoints_FollowAngles(run->system);
    return tpJoints_Correct(run->system, run->solver, drift) != 0;
}

void tpGroupRun_CloseJoints(const tpGroupRun* run) {
    tpGroupRun_CloseJointsTo(run, 1e-12 * run->lengthScale);
}

// What a unit impulse along the normal makes of the speed there.
static double responseOf(const tpSystem* system, int body, tpVec3 point, tpVec3 normal) {
    if (!tpSystem_IsDynamic(system, body)) {
        return 0.0;
    }
    tpVec3 arm = tpSub(point, system->poses.data[body].position), moment = tpCross(arm, normal);
    return system->bodies.data[body].inverseMass +
           tpDot(moment, tpMulMV(tpSystem_InverseInertia(system, body), moment));
}

static void push(tpSystem* system, int body, tpVec3 point, tpVec3 impulse) {
    if (tpSystem_IsDynamic(system, body)) {
        tpVec3 arm = tpSub(point, system->poses.data[body].position);
        tpSystem_ApplyImpulse(system, body, impulse, tpCross(arm, impulse));
    }
}

// Rigid contacts that have pushed, first in the list; returns how many. A contact that gives is
// pressed in by what pushes.
static int keepPushing(const tpSystem* system, const tpTally* tally, tpContact* contacts,
                       int count) {
    int kept = 0, cursor = 0;
    for (int i = 0; i < tally->count; ++i) {
        tpContactKey key = tpContactInfo_Key(&tally->list[i]);
        const tpContact* same = tpContacts_FindSame(key, contacts, count, &cursor);
        if (same == NULL || !(tally->list[i].normalImpulse > 0.0) ||
            (system->gives && tpMakeContactLaw(system, same).stiffness > 0.0)) {
            continue;
        }
        contacts[kept++] = *same;
    }
    return kept;
}

// Velocities that close the gaps in a second. Returns the largest gap that they leave, m.
static double closeRound(tpSystem* system, const tpContact* contacts, int count) {
    double largest = 0.0;
    for (int i = 0; i < count; ++i) {
        const tpContact* contact = &contacts[i];
        tpVec3 n = contact->normal;
        double speed = -tpContact_Approach(contact, system->poses.data, system->velocities.data);
        double response = responseOf(system, contact->bodyA, contact->pointA, n) +
                          responseOf(system, contact->bodyB, contact->pointB, n);
        double gap = contact->gap + speed;
        largest = fmax(largest, fabs(gap));
        if (response > 0.0) {
            push(system, contact->bodyA, contact->pointA, tpScale(-gap / response, n));
            push(system, contact->bodyB, contact->pointB, tpScale(gap / response, n));
        }
    }
    return largest;
}

static void closeContacts(tpGroupRun* run, const tpTally* tally) {
    tpSystem* system = run->system;
    tpContact* contacts;
    int count;
    tpVelocity* kept = TP_SCRATCH(&system->arena, tpVelocity, system->bodyCount);
    run->hasMemory =
        kept != NULL && tpSystem_FindTouching(system, tally->list, tally->count, &contacts, &count);
    if (!run->hasMemory) {
        return;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        kept[i] = system->velocities.data[i];
        system->velocities.data[i] = (tpVelocity){ 0 };
    }
    count = keepPushing(system, tally, contacts, count);
    double limit = closedGap * system->units.length;
    for (int k = 0; k < roundCount && closeRound(system, contacts, count) > limit; ++k) {
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        tpVelocity way = system->velocities.data[i];
        system->velocities.data[i] = kept[i];
        if (run->groups->ofBody[i] == run->group) {
            tpBodyChange change = { .position = way.linear, .turn = way.angular };
            tpBodyChange_Apply(&system->poses.data[i], &system->velocities.data[i], &change);
        }
    }
}

void tpGroupRun_Close(tpGroupRun* run, const tpTally* tally) {
    if (tally->count > 0) {
        closeContacts(run, tally);
    }
    tpGroupRun_CloseJoints(run);
}
