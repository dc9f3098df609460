#include "dynamics/followed_contacts.h"

#include <string.h>

#include "dynamics/contacts.h"

static void keepPoses(tpFollowedContacts* followed, const tpSystem* system, const tpPose* poses) {
    if (system->bodyCount > 0) {
        memcpy(followed->poses, poses, sizeof(tpPose) * (size_t)system->bodyCount);
    }
}

bool tpFollowedContacts_Begin(tpFollowedContacts* followed, tpSystem* system,
                              const tpContact* contacts, int count, const tpPose* poses) {
    tpArena* arena = &system->arena;
    followed->names = contacts;
    followed->count = count;
    followed->contacts = TP_SCRATCH(arena, tpContact, count);
    followed->isFound = TP_SCRATCH(arena, bool, count);
    followed->poses = TP_SCRATCH(arena, tpPose, system->bodyCount);
    if (arena->failed) {
        return false;
    }
    for (int i = 0; i < count; ++i) {
        followed->contacts[i] = contacts[i];
        followed->isFound[i] = true;
    }
    keepPoses(followed, system, poses);
    return true;
}

bool tpFollowedContacts_Renew(tpFollowedContacts* followed, tpSystem* system,
                              const double* margins) {
    const tpPose* poses = system->poses.data;
    tpArenaMark mark = tpArena_Mark(&system->arena);
    tpContact* found;
    int count, cursor = 0;
    if (tpSystem_FindContacts(system, poses, margins, &found, &count) != tp_success) {
        return false;
    }
    for (int i = 0; i < followed->count; ++i) {
        const tpContact* same =
            tpContacts_FindSame(tpContact_Key(&followed->names[i]), found, count, &cursor);
        followed->isFound[i] = same != NULL;
        followed->contacts[i] = same != NULL ? *same : followed->contacts[i];
    }
    keepPoses(followed, system, poses);
    tpArena_Release(&system->arena, mark);
    return true;
}

// A point of a body goes no farther than this between two poses, m.
static double wayOf(const tpSystem* system, int body, const tpPose* from) {
    const tpPose* to = &system->poses.data[body];
    tpQuat turn = tpMulQQ(to->rotation, tpConjugate(from->rotation));
    double sine = tpLength(tpMakeVec3(turn.x, turn.y, turn.z)); // of half the angle
    return tpDistanceBetween(to->position, from->position) +
           2.0 * system->bodies.data[body].reach * sine;
}

double tpFollowedContacts_Way(const tpFollowedContacts* followed, const tpSystem* system, int i) {
    const tpContact* contact = &followed->names[i];
    return wayOf(system, contact->bodyA, &followed->poses[contact->bodyA]) +
           wayOf(system, contact->bodyB, &followed->poses[contact->bodyB]);
}

tpContact tpFollowedContacts_Get(const tpFollowedContacts* followed, const tpSystem* system,
                                 int i) {
    tpContact contact = followed->contacts[i];
    const tpPose *from = followed->poses, *to = system->poses.data;
    int a = contact.bodyA, b = contact.bodyB;
    tpVec3 pointA = tpTransformPoint(to[a], tpUntransformPoint(from[a], contact.pointA));
    tpVec3 pointB = tpTransformPoint(to[b], tpUntransformPoint(from[b], contact.pointB));
    tpVec3 way = tpSub(tpSub(pointA, contact.pointA), tpSub(pointB, contact.pointB));
    contact.gap += tpDot(way, contact.normal);
    contact.pointA = pointA;
    contact.pointB = pointB;
    return contact;
}
