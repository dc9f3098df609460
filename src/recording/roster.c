#include "recording/roster.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static void makeName(char* name, const char* given, const char* otherwise, int index) {
    if (given != NULL && given[0] != '\0') {
        snprintf(name, tp_nameCapacity, "%s", given);
    } else {
        snprintf(name, tp_nameCapacity, "%s%d", otherwise, index);
    }
}

static int countSlots(const tpWorld* world, int bodyCount) {
    uint32_t count = 0;
    for (int i = 0; i < bodyCount; ++i) {
        uint32_t slot = tpWorld_GetBody(world, i).slot;
        count = slot >= count ? slot + 1 : count;
    }
    return (int)count;
}

static bool allocateRoster(tpRoster* roster) {
    const tpAllocator* allocator = &roster->allocator;
    size_t bodies = (size_t)roster->bodyCount, joints = (size_t)roster->jointCount;
    roster->bodies = tpAllocateZeroed(allocator, bodies * sizeof(tpRosterBody));
    roster->moving = tpAllocate(allocator, bodies * sizeof(int));
    roster->joints = tpAllocateZeroed(allocator, joints * sizeof(tpRosterJoint));
    roster->bySlot = tpAllocate(allocator, (size_t)roster->slotCount * sizeof(int));
    return (bodies == 0 || (roster->bodies != NULL && roster->moving != NULL)) &&
           (joints == 0 || roster->joints != NULL) &&
           (roster->slotCount == 0 || roster->bySlot != NULL);
}

static void addBody(tpRoster* roster, const tpWorld* world, int index) {
    tpRosterBody* body = &roster->bodies[index];
    body->id = tpWorld_GetBody(world, index);
    makeName(body->name, tpBody_GetName(world, body->id), "body", index);
    body->kind = tpBody_GetKind(world, body->id);
    body->pose = tpBody_GetPose(world, body->id);
    body->mass = tpBody_GetMass(world, body->id);
    body->moving = -1;
    if (body->kind != tp_fixedBody) {
        body->moving = roster->movingCount;
        roster->moving[roster->movingCount++] = index;
    }
    roster->bySlot[body->id.slot] = index;
}

bool tpRoster_Create(tpRoster* roster, const tpWorld* world, const tpAllocator* allocator) {
    memset(roster, 0, sizeof(*roster));
    roster->allocator = *allocator;
    roster->bodyCount = tpWorld_GetBodyCount(world);
    roster->jointCount = tpWorld_GetJointCount(world);
    roster->slotCount = countSlots(world, roster->bodyCount);
    if (!allocateRoster(roster)) {
        tpRoster_Destroy(roster);
        return false;
    }
    for (int i = 0; i < roster->slotCount; ++i) {
        roster->bySlot[i] = -1;
    }
    for (int i = 0; i < roster->bodyCount; ++i) {
        addBody(roster, world, i);
    }
    for (int i = 0; i < roster->jointCount; ++i) {
        tpRosterJoint* joint = &roster->joints[i];
        joint->id = tpWorld_GetJoint(world, i);
        makeName(joint->name, tpJoint_GetName(world, joint->id), "joint", i);
    }
    return true;
}

void tpRoster_Destroy(tpRoster* roster) {
    const tpAllocator* allocator = &roster->allocator;
    size_t bodies = (size_t)roster->bodyCount, joints = (size_t)roster->jointCount;
    tpRelease(allocator, roster->bodies, bodies * sizeof(tpRosterBody));
    tpRelease(allocator, roster->moving, bodies * sizeof(int));
    tpRelease(allocator, roster->joints, joints * sizeof(tpRosterJoint));
    tpRelease(allocator, roster->bySlot, (size_t)roster->slotCount * sizeof(int));
    memset(roster, 0, sizeof(*roster));
}

int tpRoster_Find(const tpRoster* roster, tpBodyId body) {
    int index = body.slot < (uint32_t)roster->slotCount ? roster->bySlot[body.slot] : -1;
    return index >= 0 && roster->bodies[index].id.generation == body.generation ? index : -1;
}

static void writeVec3(double* to, tpVec3 v) {
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

void tpRoster_GetStates(const tpRoster* roster, const tpWorld* world, double* states) {
    for (int i = 0; i < roster->movingCount; ++i, states += tp_stateWidth) {
        tpBodyId body = roster->bodies[roster->moving[i]].id;
        if (!tpBody_IsValid(world, body)) {
            for (int k = 0; k < tp_stateWidth; ++k) {
                states[k] = NAN;
            }
            continue;
        }
        tpQuat q = tpBody_GetRotation(world, body);
        writeVec3(states, tpBody_GetPosition(world, body));
        states[3] = q.w;
        writeVec3(states + 4, tpMakeVec3(q.x, q.y, q.z));
        writeVec3(states + 7, tpBody_GetVelocity(world, body));
        writeVec3(states + 10, tpBody_GetAngularVelocity(world, body));
    }
}

void tpRoster_GetReactions(const tpRoster* roster, const tpWorld* world, double* reactions) {
    for (int i = 0; i < roster->jointCount; ++i, reactions += 6) {
        tpVec3 force = tpMakeVec3(NAN, NAN, NAN), torque = force;
        if (tpJoint_IsValid(world, roster->joints[i].id)) {
            tpJoint_GetReaction(world, roster->joints[i].id, &force, &torque);
        }
        writeVec3(reactions, force);
        writeVec3(reactions + 3, torque);
    }
}
