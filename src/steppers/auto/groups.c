#include "steppers/auto/groups.h"

#include <string.h>

#include "dynamics/body_islands.h"
#include "dynamics/loads.h"
#include "steppers/auto/apart.h"

static void joinContacts(const tpSystem* system, int* parents, const tpContact* contacts,
                         int count) {
    for (int i = 0; i < count; ++i) {
        tpBodyIslands_Join(parents, system, contacts[i].bodyA, contacts[i].bodyB);
    }
}

// Bodies that something but gravity and contacts concerns.
static void markConcerned(const tpSystem* system, bool* isConcerned) {
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        for (int side = 0; joint->isLive && side < 2; ++side) {
            int body = side == 0 ? joint->bodyA : joint->bodyB;
            if (body >= 0) {
                isConcerned[body] = true;
            }
        }
    }
    for (int i = 0; i < system->forces.count; ++i) {
        if (system->forces.data[i].isLive) {
            isConcerned[system->forces.data[i].body] = true;
        }
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        bool isPulled = tpSystem_LoadOf(system, i) != NULL;
        isConcerned[i] = isConcerned[i] || isPulled || body->linearDamping > 0.0 ||
                         body->angularDamping > 0.0 || body->locked != 0;
    }
}

// Whether where the body is going in the step is known: it is steady, or flies.
static bool isPredictable(const tpSystem* system, double h, const bool* isConcerned, int body) {
    return tpSystem_IsDynamic(system, body)
               ? !isConcerned[body]
               : tpBody_IsSteadyFor(&system->bodies.data[body], system->time, h);
}

// Contacts of bodies that fly, and do not meet in the step, are none. Those of others concern both
// bodies, and so others in turn. The rest goes to the front of the list; returns how many there
// are.
static int dropApart(const tpSystem* system, double h, tpContact* contacts, int count,
                     bool* isConcerned) {
    for (int i = 0; i < count; ++i) {
        if (!(tpContact_TimeApart(system, &contacts[i]) > h)) {
            isConcerned[contacts[i].bodyA] = isConcerned[contacts[i].bodyB] = true;
        }
    }
    for (bool isDone = false; !isDone;) {
        isDone = true;
        for (int i = 0; i < count; ++i) {
            int a = contacts[i].bodyA, b = contacts[i].bodyB;
            bool isFirst = isPredictable(system, h, isConcerned, a);
            if (isFirst != isPredictable(system, h, isConcerned, b)) {
                isConcerned[isFirst ? a : b] = true;
                isDone = isDone && !tpSystem_IsDynamic(system, isFirst ? a : b);
            }
        }
    }
    int left = 0;
    for (int i = 0; i < count; ++i) {
        if (!isPredictable(system, h, isConcerned, contacts[i].bodyA) ||
            !isPredictable(system, h, isConcerned, contacts[i].bodyB)) {
            contacts[left++] = contacts[i];
        }
    }
    return left;
}

static void number(tpGroups* groups, const tpSystem* system, int* parents,
                   const bool* isConcerned) {
    bool hasFlying = false;
    for (int i = 0; i < system->bodyCount; ++i) {
        groups->ofBody[i] = -1;
        if (!tpSystem_IsDynamic(system, i)) {
            continue;
        }
        int root = tpBodyIslands_Root(parents, i);
        if (root == i && !isConcerned[i]) {
            hasFlying = true;
            groups->ofBody[i] = -2;
        } else {
            groups->ofBody[i] = root == i ? groups->count++ : groups->ofBody[root];
        }
    }
    groups->flying = hasFlying ? groups->count++ : -1;
    for (int i = 0; i < system->bodyCount; ++i) {
        groups->ofBody[i] = groups->ofBody[i] == -2 ? groups->flying : groups->ofBody[i];
    }
}

static int groupOfPair(const tpGroups* groups, int a, int b) {
    int group = a >= 0 ? groups->ofBody[a] : -1;
    return group >= 0 || b < 0 ? group : groups->ofBody[b];
}

static bool count(tpGroups* groups, tpSystem* system, const tpContact* contacts, int contactCount) {
    groups->sizes = TP_SCRATCH_ZEROED(&system->arena, int, groups->count);
    groups->pairCounts = TP_SCRATCH_ZEROED(&system->arena, int, groups->count);
    groups->jointCounts = TP_SCRATCH_ZEROED(&system->arena, int, groups->count);
    groups->areForced = TP_SCRATCH_ZEROED(&system->arena, bool, groups->count);
    if (system->arena.failed) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        if (groups->ofBody[i] >= 0) {
            groups->sizes[groups->ofBody[i]] += 1;
        }
    }
    for (int i = 0; i < contactCount; ++i) {
        int group = groupOfPair(groups, contacts[i].bodyA, contacts[i].bodyB);
        if (group >= 0) {
            groups->pairCounts[group] += 1;
        }
    }
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        int group = joint->isLive ? groupOfPair(groups, joint->bodyA, joint->bodyB) : -1;
        if (group >= 0) {
            groups->jointCounts[group] += 1;
        }
    }
    for (int i = 0; i < system->forces.count; ++i) {
        const tpForce* force = &system->forces.data[i];
        int group = force->isLive ? groups->ofBody[force->body] : -1;
        if (group >= 0) {
            groups->areForced[group] = true;
        }
    }
    return true;
}

static void joinConcerned(const tpSystem* system, int* parents, const bool* isConcerned) {
    int first = -1;
    for (int i = 0; i < system->bodyCount; ++i) {
        if (tpSystem_IsDynamic(system, i) && isConcerned[i]) {
            first = first < 0 ? i : first;
            tpBodyIslands_Join(parents, system, first, i);
        }
    }
}

// False if memory ran out.
static bool findTurnSizes(tpGroups* groups, tpSystem* system) {
    groups->turnSizes = TP_SCRATCH(&system->arena, double, system->bodyCount);
    if (groups->turnSizes == NULL) {
        return false;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        groups->turnSizes[i] = tpBody_IsBall(system, body) ? 0.0 : body->size;
    }
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        const int ends[] = { joint->bodyA, joint->bodyB };
        for (int k = 0; joint->isLive && k < 2; ++k) {
            if (ends[k] >= 0) {
                groups->turnSizes[ends[k]] = system->bodies.data[ends[k]].size;
            }
        }
    }
    return true;
}

bool tpGroups_Find(tpGroups* groups, tpSystem* system, double h, bool isOne) {
    memset(groups, 0, sizeof(*groups));
    int bodies = system->bodyCount;
    int* parents = tpBodyIslands_Find(system);
    bool* isConcerned = TP_SCRATCH_ZEROED(&system->arena, bool, bodies);
    groups->ofBody = TP_SCRATCH(&system->arena, int, bodies);
    groups->margins = tpSystem_ReservedMargins(system, h);
    tpContact* contacts;
    int contactCount;
    if (system->arena.failed || groups->margins == NULL || !findTurnSizes(groups, system) ||
        tpSystem_FindContacts(system, system->poses.data, groups->margins, &contacts,
                              &contactCount) != tp_success) {
        return false;
    }
    groups->contacts = TP_SCRATCH(&system->arena, tpContact, contactCount);
    if (groups->contacts == NULL) {
        return false;
    }
    for (int i = 0; i < contactCount; ++i) {
        groups->contacts[i] = contacts[i];
    }
    markConcerned(system, isConcerned);
    groups->contactCount =
        isOne ? contactCount : dropApart(system, h, groups->contacts, contactCount, isConcerned);
    joinContacts(system, parents, groups->contacts, groups->contactCount);
    number(groups, system, parents, isConcerned);
    if (isOne || groups->count > tp_groupLimit) {
        for (int i = 0; isOne && i < bodies; ++i) {
            isConcerned[i] = true; // those that fly may be met
        }
        joinConcerned(system, parents, isConcerned);
        groups->count = 0;
        number(groups, system, parents, isConcerned);
    }
    return count(groups, system, groups->contacts, groups->contactCount);
}

void tpGroups_Isolate(const tpGroups* groups, tpSystem* system, int group) {
    if (groups->count <= 1) {
        return;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        if (groups->ofBody[i] >= 0 && groups->ofBody[i] != group) {
            system->bodies.data[i].inverseMass = 0.0;
            system->velocities.data[i].linear = system->velocities.data[i].angular = tpZeroVec3();
        }
    }
    tpSystem_FollowMasses(system);
}

void tpGroups_Rejoin(const tpGroups* groups, tpSystem* system, int group, const tpPose* poses,
                     const tpVelocity* velocities) {
    if (groups->count <= 1) {
        return;
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        tpBody* body = &system->bodies.data[i];
        if (groups->ofBody[i] >= 0 && groups->ofBody[i] != group) {
            body->inverseMass = 1.0 / body->mass;
            system->poses.data[i] = poses[i];
            system->velocities.data[i] = velocities[i];
        }
    }
    tpSystem_FollowMasses(system);
}

bool tpGroups_HaveMet(const tpGroups* groups, const tpSystem* system, const tpTally* tally) {
    for (int i = 0; i < tally->count; ++i) {
        const tpContactInfo* info = &tally->list[i];
        int a = tpContactInfo_BodyA(info), b = tpContactInfo_BodyB(info);
        bool canBothGive = system->bodies.data[a].kind == tp_dynamicBody &&
                           system->bodies.data[b].kind == tp_dynamicBody;
        if (canBothGive && info->normalImpulse > 0.0 && groups->ofBody[a] != groups->ofBody[b]) {
            return true;
        }
    }
    return false;
}
