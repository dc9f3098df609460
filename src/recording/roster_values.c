// The numbers of a world, in the order of a roster.

#include <math.h>

#include "recording/roster.h"

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

void tpRoster_GetCoordinates(const tpRoster* roster, const tpWorld* world, double* numbers) {
    for (int i = 0; i < roster->coordinateCount; ++i, numbers += tp_coordinateWidth) {
        tpJointId joint = roster->coordinates[i].joint;
        tpCoordinateState state = { NAN, NAN, NAN, NAN };
        numbers[3] = numbers[4] = NAN;
        if (tpJoint_IsValid(world, joint)) {
            tpCoordinateDef def = tpJoint_GetCoordinate(world, joint, roster->coordinates[i].index);
            state = tpJoint_GetState(world, joint, roster->coordinates[i].index);
            if (def.hasServo) {
                numbers[3] = def.servo.target;
                numbers[4] = def.servo.speed;
            }
        }
        numbers[0] = state.value;
        numbers[1] = state.speed;
        numbers[2] = state.effort;
    }
}

void tpRoster_GetSensors(const tpRoster* roster, const tpWorld* world, double* values) {
    for (int i = 0; i < roster->sensorCount; ++i) {
        const tpRosterSensor* sensor = &roster->sensors[i];
        double now[tp_mostSensorValues] = { NAN, NAN, NAN, NAN, NAN, NAN };
        if (tpSensor_IsValid(world, sensor->id)) {
            tpSensor_GetValues(world, sensor->id, now);
        }
        for (int k = 0; k < sensor->valueCount; ++k) {
            values[sensor->firstValue + k] = now[k];
        }
    }
}
