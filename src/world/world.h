// The public object: a mechanical system, its ids, and the stepper that moves it.

#ifndef TIPPE_SRC_WORLD_WORLD_H
#define TIPPE_SRC_WORLD_WORLD_H

#include "base/id_pool.h"
#include "dynamics/system.h"
#include "steppers/stepper.h"
#include "tippe/world.h"

struct tpWorld {
    tpSystem system;
    tpIdPool bodyIds, shapeIds, jointIds, forceIds;
    tpStepperId stepperId;
    const tpStepper* stepper;
    void* stepperState;
    tpOptions options;
};

// Slots behind ids, or -1.
static inline int tpWorld_BodyIndex(const tpWorld* world, tpBodyId id) {
    return tpIdPool_Find(&world->bodyIds, id.slot, id.generation);
}
static inline int tpWorld_ShapeIndex(const tpWorld* world, tpShapeId id) {
    return tpIdPool_Find(&world->shapeIds, id.slot, id.generation);
}
static inline int tpWorld_JointIndex(const tpWorld* world, tpJointId id) {
    return tpIdPool_Find(&world->jointIds, id.slot, id.generation);
}
static inline int tpWorld_ForceIndex(const tpWorld* world, tpForceId id) {
    return tpIdPool_Find(&world->forceIds, id.slot, id.generation);
}

// Ids of slots in use.
tpBodyId tpWorld_BodyId(const tpWorld* world, int index);
tpShapeId tpWorld_ShapeId(const tpWorld* world, int index);
tpJointId tpWorld_JointId(const tpWorld* world, int index);

// Removes what belongs to a body that goes.
void tpWorld_RemoveShape(tpWorld* world, int shape, bool updateMass);
void tpWorld_RemoveJoint(tpWorld* world, int joint);
void tpWorld_RemoveForce(tpWorld* world, int force);

// Copies at most 63 bytes of a name; NULL counts as "".
void tpCopyName(char destination[tp_nameCapacity], const char* name);

#endif
