// Sensors of a world, and what they keep from the last step.

#ifndef TIPPE_SRC_WORLD_SENSOR_H
#define TIPPE_SRC_WORLD_SENSOR_H

#include "dynamics/system.h"
#include "tippe/sensors.h"

typedef struct tpSensor {
    bool isLive;
    tpSensorType type;
    int body, shape, joint; // -1: none
    int coordinate;
    tpPose pose;
    // In the last step: of an accelerometer, and of a contact force that came with a snapshot,
    // which has no contacts.
    double measured[4];
    bool isRestored; // the contact force
    bool wasOn;      // of an overlap sensor, when events were last listed
    char name[tp_nameCapacity];
} tpSensor;

// After a step of h seconds from these poses and velocities.
void tpWorld_MeasureSensors(tpWorld* world, const tpPose* poses, const tpVelocity* velocities,
                            double h);

// Before a snapshot: contact forces of the last step into `measured`.
void tpWorld_KeepContactForces(tpWorld* world);

// Whether something is in an overlap sensor.
bool tpWorld_IsOverlapped(const tpWorld* world, const tpSensor* sensor);

// Removes the sensors of a body, shape or joint that goes; -1: none.
void tpWorld_RemoveSensors(tpWorld* world, int body, int shape, int joint);

#endif
