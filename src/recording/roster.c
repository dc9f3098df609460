#include "recording/roster.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "tippe/state.h"

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
    roster->coordinates =
        tpAllocateZeroed(allocator, (size_t)roster->coordinateCount * sizeof(tpRosterCoordinate));
    roster->sensors =
        tpAllocateZeroed(allocator, (size_t)roster->sensorCount * sizeof(tpRosterSensor));
    roster->values =
        tpAllocateZeroed(allocator, (size_t)roster->valueCount * sizeof(tpRosterValue));
    roster->bySlot = tpAllocate(allocator, (size_t)roster->slotCount * sizeof(int));
    return (bodies == 0 || (roster->bodies != NULL && roster->moving != NULL)) &&
           (joints == 0 || roster->joints != NULL) &&
           (roster->coordinateCount == 0 || roster->coordinates != NULL) &&
           (roster->sensorCount == 0 || roster->sensors != NULL) &&
           (roster->valueCount == 0 || roster->values != NULL) &&
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

// An axis without a name goes by its number, but for the first of a joint.
static void nameCoordinate(tpRosterCoordinate* coordinate, const char* joint,
                           const tpWorld* world) {
    const char* axis = tpJoint_GetAxis(world, coordinate->joint, coordinate->index).name;
    char number[16];
    if ((axis == NULL || axis[0] == '\0') && coordinate->index > 0) {
        snprintf(number, sizeof(number), "%d", coordinate->index + 1);
        axis = number;
    }
    bool hasAxis = axis != NULL && axis[0] != '\0';
    snprintf(coordinate->name, sizeof(coordinate->name), "%.63s%s%.60s", joint, hasAxis ? "." : "",
             hasAxis ? axis : "");
}

// The joint with this number, and its coordinates from `first` on; where they end.
static int addJoint(tpRoster* roster, const tpWorld* world, int index, int first) {
    tpRosterJoint* joint = &roster->joints[index];
    joint->id = tpWorld_GetJoint(world, index);
    makeName(joint->name, tpJoint_GetName(world, joint->id), "joint", index);
    int count = tpJoint_GetCoordinateCount(world, joint->id);
    for (int k = 0; k < count; ++k) {
        tpRosterCoordinate* coordinate = &roster->coordinates[first + k];
        coordinate->joint = joint->id;
        coordinate->index = k;
        nameCoordinate(coordinate, joint->name, world);
    }
    return first + count;
}

// The same for a sensor and its values.
static int addSensor(tpRoster* roster, const tpWorld* world, int index, int first) {
    tpRosterSensor* sensor = &roster->sensors[index];
    sensor->id = tpWorld_GetSensor(world, index);
    const char *name = tpSensor_GetName(world, sensor->id), *parts[tp_mostSensorValues];
    sensor->firstValue = first;
    sensor->valueCount = tpSensorTypeColumns(tpSensor_GetDef(world, sensor->id).type, parts);
    for (int k = 0; k < sensor->valueCount; ++k) {
        char* column = roster->values[first + k].name;
        if (name[0] != '\0') {
            snprintf(column, tp_sensorColumnCapacity, "%.63s.%s", name, parts[k]);
        } else {
            snprintf(column, tp_sensorColumnCapacity, "sensor%d.%s", index + 1, parts[k]);
        }
    }
    return first + sensor->valueCount;
}

bool tpRoster_Create(tpRoster* roster, const tpWorld* world, const tpAllocator* allocator) {
    memset(roster, 0, sizeof(*roster));
    roster->allocator = *allocator;
    roster->bodyCount = tpWorld_GetBodyCount(world);
    roster->jointCount = tpWorld_GetJointCount(world);
    roster->coordinateCount = tpWorld_GetCoordinateCount(world);
    roster->sensorCount = tpWorld_GetSensorCount(world);
    roster->valueCount = tpWorld_GetSensorValueCount(world);
    roster->hasCarriers = tpStepperHasCarriers(tpWorld_GetStepper(world));
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
    for (int i = 0, first = 0; i < roster->jointCount; ++i) {
        first = addJoint(roster, world, i, first);
    }
    for (int i = 0, first = 0; i < roster->sensorCount; ++i) {
        first = addSensor(roster, world, i, first);
    }
    return true;
}

void tpRoster_Destroy(tpRoster* roster) {
    const tpAllocator* allocator = &roster->allocator;
    size_t bodies = (size_t)roster->bodyCount, joints = (size_t)roster->jointCount;
    tpRelease(allocator, roster->bodies, bodies * sizeof(tpRosterBody));
    tpRelease(allocator, roster->moving, bodies * sizeof(int));
    tpRelease(allocator, roster->joints, joints * sizeof(tpRosterJoint));
    tpRelease(allocator, roster->coordinates,
              (size_t)roster->coordinateCount * sizeof(tpRosterCoordinate));
    tpRelease(allocator, roster->sensors, (size_t)roster->sensorCount * sizeof(tpRosterSensor));
    tpRelease(allocator, roster->values, (size_t)roster->valueCount * sizeof(tpRosterValue));
    tpRelease(allocator, roster->bySlot, (size_t)roster->slotCount * sizeof(int));
    memset(roster, 0, sizeof(*roster));
}

int tpRoster_Find(const tpRoster* roster, tpBodyId body) {
    int index = body.slot < (uint32_t)roster->slotCount ? roster->bySlot[body.slot] : -1;
    return index >= 0 && roster->bodies[index].id.generation == body.generation ? index : -1;
}

tpRecordedContact tpRoster_Contact(const tpRoster* roster, const tpContactInfo* contact) {
    return (tpRecordedContact){ .bodyA = tpRoster_Find(roster, contact->bodyA),
                                .bodyB = tpRoster_Find(roster, contact->bodyB),
                                .feature = contact->feature,
                                .point = contact->point,
                                .normal = contact->normal,
                                .gap = contact->gap,
                                .normalImpulse = contact->normalImpulse,
                                .frictionImpulse = contact->frictionImpulse,
                                .torsionalImpulse = contact->torsionalImpulse,
                                .slidingSpeed = contact->slidingSpeed,
                                .state = contact->state };
}

int tpRoster_CountThings(const tpRoster* roster, int block) {
    switch (block) {
    case tp_statesColumn:
        return roster->movingCount;
    case tp_reactionsColumn:
        return roster->jointCount;
    case tp_coordinatesColumn:
        return roster->coordinateCount;
    case tp_sensorsColumn:
        return roster->valueCount;
    default:
        return roster->hasCarriers ? roster->movingCount : 0;
    }
}
