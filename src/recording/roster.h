// The bodies, joints and sensors that a run starts with, in the order and by the names they are
// recorded.
//
// Those that are created later are not recorded; one that is destroyed has NaN for its numbers.

#ifndef TIPPE_SRC_RECORDING_ROSTER_H
#define TIPPE_SRC_RECORDING_ROSTER_H

#include "recording/columns.h"
#include "tippe/sensors.h"

enum { tp_nameCapacity = 64 }; // with the closing zero

typedef struct tpRosterBody {
    char name[tp_nameCapacity]; // "body7" for a body without one
    tpBodyId id;
    tpBodyKind kind;
    int moving; // place among the states, or -1
    tpPose pose;
    tpMassProperties mass;
} tpRosterBody;

typedef struct tpRosterJoint {
    char name[tp_nameCapacity]; // "joint2" for a joint without one
    tpJointId id;
} tpRosterJoint;

enum {
    tp_coordinateNameCapacity = 2 * tp_nameCapacity,
    tp_sensorColumnCapacity = tp_nameCapacity + 8
};

typedef struct tpRosterCoordinate {
    char name[tp_coordinateNameCapacity]; // "JOINT", or "JOINT.AXIS"
    tpJointId joint;
    int index;
} tpRosterCoordinate;

typedef struct tpRosterSensor {
    tpSensorId id;
    int firstValue, valueCount;
} tpRosterSensor;

// A number of a sensor.
typedef struct tpRosterValue {
    char name[tp_sensorColumnCapacity]; // "SENSOR.x"; "sensor2.x" for a sensor without a name
} tpRosterValue;

typedef struct tpRoster {
    tpAllocator allocator;
    tpRosterBody* bodies;
    int bodyCount;
    int* moving; // places in `bodies`
    int movingCount;
    tpRosterJoint* joints;
    int jointCount;
    tpRosterCoordinate* coordinates; // of all joints, in their order
    int coordinateCount;
    tpRosterSensor* sensors;
    int sensorCount;
    tpRosterValue* values; // of all sensors, in their order
    int valueCount;
    bool hasCarriers; // the stepper may leave bodies to other methods
    int* bySlot;      // place in `bodies` by slot of the id, or -1
    int slotCount;
} tpRoster;

// False if memory ran out; the roster is then empty.
bool tpRoster_Create(tpRoster* roster, const tpWorld* world, const tpAllocator* allocator);
void tpRoster_Destroy(tpRoster* roster);

// The place of a body in the roster, or -1.
int tpRoster_Find(const tpRoster* roster, tpBodyId body);

// A contact of the world as it is recorded.
tpRecordedContact tpRoster_Contact(const tpRoster* roster, const tpContactInfo* contact);

// How many things a block column (columns.h) has side by side.
int tpRoster_CountThings(const tpRoster* roster, int block);

// States of all moving bodies: movingCount x tp_stateWidth.
void tpRoster_GetStates(const tpRoster* roster, const tpWorld* world, double* states);

// Force and torque of all joints: jointCount x 6.
void tpRoster_GetReactions(const tpRoster* roster, const tpWorld* world, double* reactions);

// Coordinates of all joints: coordinateCount x tp_coordinateWidth.
void tpRoster_GetCoordinates(const tpRoster* roster, const tpWorld* world, double* numbers);

// Values of all sensors: valueCount.
void tpRoster_GetSensors(const tpRoster* roster, const tpWorld* world, double* values);

#endif
