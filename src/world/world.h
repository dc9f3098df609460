// The public object: a mechanical system, its ids, and the stepper that moves it.

#ifndef TIPPE_SRC_WORLD_WORLD_H
#define TIPPE_SRC_WORLD_WORLD_H

#include "base/id_pool.h"
#include "dynamics/system.h"
#include "steppers/stepper.h"
#include "tippe/joints.h"
#include "world/appearance.h"
#include "world/event.h"
#include "world/last_energy.h"
#include "world/sensor.h"

typedef struct tpBirth {
    int slot;
    uint64_t number; // the slot may belong to another body now
} tpBirth;

struct tpWorld {
    tpSystem system;
    tpIdPool bodyIds, shapeIds, jointIds, couplingIds, forceIds, sensorIds;
    tpStepperId stepperId;
    const tpStepper* stepper;
    void* stepperState;
    tpOptions options;
    const volatile sig_atomic_t* stop; // of steps; the system knows it while one is taken
    uint64_t structureShift; // from the system's counter of structures to the one that users see

    // Bodies in order of creation. Those that have been destroyed since stay in the list until it
    // is looked at.
    TP_ARRAY(tpBirth) births;
    uint64_t lastBirth;
    TP_ARRAY(int) moving;   // slots of those that can move
    uint64_t listStructure; // for which both lists are right

    TP_ARRAY(tpSensor) sensors;
    tpWatch watch;
    double lastStep; // s, of the last step that was taken; 0: none yet
    tpLastEnergy lastEnergy;

    struct tpBatch* batch; // that the world is in, or NULL

    tpShapeFilter shapeFilter; // or NULL
    void* shapeFilterContext;

    int lastShape; // slot of the shape that was created last

    // The contacts of the last step as users see them, with impulses of least norm.
    TP_ARRAY(tpContactInfo) shown;
    bool areShown; // they are those of the last step

    tpAppearance appearance;
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
static inline int tpWorld_CouplingIndex(const tpWorld* world, tpCouplingId id) {
    return tpIdPool_Find(&world->couplingIds, id.slot, id.generation);
}
static inline int tpWorld_SensorIndex(const tpWorld* world, tpSensorId id) {
    return tpIdPool_Find(&world->sensorIds, id.slot, id.generation);
}
static inline int tpWorld_ForceIndex(const tpWorld* world, tpForceId id) {
    return tpIdPool_Find(&world->forceIds, id.slot, id.generation);
}

// Ids of slots in use.
tpBodyId tpWorld_BodyId(const tpWorld* world, int index);
tpShapeId tpWorld_ShapeId(const tpWorld* world, int index);
tpJointId tpWorld_JointId(const tpWorld* world, int index);

// Brings `births` and `moving` up to date.
void tpWorld_ListBodies(const tpWorld* world);

// Bodies, shapes or joints have come or gone, or a body's kind has changed.
void tpWorld_ChangeStructure(tpWorld* world);

// Steppers ask anew which pairs may touch; to users the structure is the same.
void tpWorld_ChangePairs(tpWorld* world);

// A user has changed something about a body: it wakes.
void tpSystem_Disturb(tpSystem* system, int body);

// The same for all bodies: materials, say.
void tpWorld_DisturbAll(tpWorld* world);

// The bodies of a joint that comes, goes or changes wake.
void tpWorld_DisturbJoint(tpWorld* world, const tpJoint* joint);

// Whether the laws of a coordinate can be; turns and slides have a zero.
tpResult tpCheckCoordinateDef(const tpCoordinateDef* def, bool isChain, tpError* error);

// The same for those of a coupling.
tpResult tpCheckCouplingLaws(const tpCouplingDef* def, tpError* error);

// A coordinate of a joint now.
tpCoordinateState tpWorld_CoordinateState(const tpWorld* world, const tpJoint* joint,
                                          int coordinate);

// Mass of a body from its shapes, unless it was given.
tpResult tpWorld_UpdateMass(tpWorld* world, int body, tpError* error);

// Removes what belongs to a body that goes.
void tpWorld_RemoveShape(tpWorld* world, int shape, bool updateMass);
void tpWorld_RemoveJoint(tpWorld* world, int joint);
void tpWorld_RemoveForce(tpWorld* world, int force);

// Whether a geometry overlaps a shape of the world, exactly.
bool tpWorld_ShapesOverlap(const tpWorld* world, const tpGeometry* geometry, tpPose pose,
                           int shape);

// Removes the couplings of a joint that goes.
void tpWorld_RemoveCouplings(tpWorld* world, int joint);

// Copies at most 63 bytes of a name; NULL counts as "".
void tpCopyName(char destination[tp_nameCapacity], const char* name);

#endif
