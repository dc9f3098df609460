// Sensors, without noise; and events: what happened in the last step.

#ifndef TIPPE_SENSORS_H
#define TIPPE_SENSORS_H

#include "tippe/joints.h"

typedef struct tpSensorId {
    uint32_t slot, generation;
} tpSensorId;

typedef enum tpSensorType {
    tp_accelerometer,      // x y z: acceleration of its point minus gravity, mean over the last
                           // step, m/s^2
    tp_gyroscope,          // x y z: angular velocity, rad/s
    tp_forceTorqueSensor,  // fx fy fz tx ty tz: of a joint on body B at its anchor, mean over the
                           // last step, N, N m
    tp_contactForceSensor, // n, fx fy fz: sum of the normal forces on a body or shape, and all
                           // contact forces on it in world
    // axes, means over the last step, N
    tp_jointStateSensor, // q, qd, effort of a joint's coordinate
    tp_overlapSensor,    // on: 1 while its body or shape overlaps another body, else 0
    tp_sensorTypeCount
} tpSensorType;

enum { tp_mostSensorValues = 6 };

// Accelerometer and gyroscope sit at `pose` on their body and measure along its axes; the axes of a
// force-torque sensor are those of `pose.rotation` relative to body B's (the world's if body B is
// the world). Shapes of an overlap sensor touch nothing.
typedef struct tpSensorDef {
    const char* name; // copied; may be NULL
    tpSensorType type;
    tpBodyId body;   // accelerometer, gyroscope; contact force, overlap: all of its shapes
    tpShapeId shape; // contact force, overlap: of this shape alone, in place of `body`
    tpJointId joint; // force-torque, joint state
    int coordinate;  // joint state
    tpPose pose;     // in the body's frame
} tpSensorDef;

typedef enum tpEventKind {
    tp_touchBegan,   // two shapes touch that did not before the step
    tp_touchEnded,   // two shapes do not touch any more
    tp_hit,          // two shapes met faster than the world's hit speed
    tp_overlapBegan, // something entered an overlap sensor
    tp_overlapEnded, // the sensor is empty again
    tp_limitReached, // a coordinate of a joint reached a limit
    tp_limitLeft,
    tp_fellAsleep, // a body
    tp_wokeUp,
    tp_eventKindCount
} tpEventKind;

typedef struct tpEvent {
    tpEventKind kind;
    tpBodyId bodyA, bodyB; // of touches and hits; sleep: bodyA
    tpShapeId shapeA, shapeB;
    tpJointId joint; // of limits
    int coordinate;
    tpSensorId sensor;    // of overlaps
    tpVec3 point, normal; // of touches that began and hits: normal from B to A
    double speed; // hits: of approach at the start of the step, m/s; limits: of the coordinate
    // touches that began and hits: normal impulse in the step, N s; limits: effort, N m or N
    double impulse;
} tpEvent;

TP_BEGIN_DECLS

TP_API tpSensorDef tpDefaultSensorDef(void);
TP_API tpSensorId tpCreateSensor(tpWorld* world, const tpSensorDef* def, tpError* error);
TP_API void tpDestroySensor(tpWorld* world,
                            tpSensorId sensor); // also goes with its body, shape or joint
TP_API bool tpSensor_IsValid(const tpWorld* world, tpSensorId sensor);
TP_API int tpWorld_GetSensorCount(const tpWorld* world);
TP_API tpSensorId tpWorld_GetSensor(const tpWorld* world, int index); // in order of slots
TP_API tpSensorId tpWorld_FindSensor(const tpWorld* world, const char* name);
TP_API const char* tpSensor_GetName(const tpWorld* world, tpSensorId sensor);
TP_API tpSensorDef tpSensor_GetDef(const tpWorld* world, tpSensorId sensor);

// The present values; returns their number. Values measured over a step are zero before the first
// step.
TP_API int tpSensor_GetValues(const tpWorld* world, tpSensorId sensor,
                              double values[tp_mostSensorValues]);

// All sensors' values one after the other, in the order of tpWorld_GetSensor.
TP_API int tpWorld_GetSensorValueCount(const tpWorld* world);
TP_API void tpWorld_ReadSensors(const tpWorld* world, double* values);

TP_API const char* tpSensorTypeName(tpSensorType type); // as scenes spell it
// Names of the values, "x" or "fx" for instance; returns how many.
TP_API int tpSensorTypeColumns(tpSensorType type, const char* names[tp_mostSensorValues]);

// What happened in the last step: touches, hits, overlaps, limits, sleep, each in the order of
// slots. The same on any number of threads. Valid until the next step. The first call starts the
// recording of events, for the steps after it. Snapshots include what is needed for it: steps after
// a restore report the same events as they would have without it.
TP_API const tpEvent* tpWorld_GetEvents(tpWorld* world, int* count);
TP_API const char* tpEventKindName(tpEventKind kind);          // "touch_began"
TP_API void tpWorld_SetHitSpeed(tpWorld* world, double speed); // m/s; 1 at first
TP_API double tpWorld_GetHitSpeed(const tpWorld* world);

TP_END_DECLS

#endif
