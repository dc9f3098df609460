// Coordinates of joints: read and set, with what drives them.

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "dynamics/joint_types.h"
#include "world/hanging.h"
#include "world/require.h"

// The joint behind an id with this coordinate, or NULL if either does not exist.
static tpJoint* jointWith(const tpWorld* world, tpJointId id, int coordinate,
                          const char* function) {
    int index = tpRequireJoint(world, id, function);
    if (index < 0) {
        return NULL;
    }
    tpJoint* joint = &world->system.joints.data[index];
    if (coordinate < 0 || coordinate >= joint->coordinateCount) {
        tpMisused(function, "coordinate", "is %d, of a joint that has %d", coordinate,
                  joint->coordinateCount);
        return NULL;
    }
    return joint;
}
#define JOINT_WITH(world, id, coordinate) jointWith(world, id, coordinate, __func__)

static tpResult noSuch(tpError* error) {
    return tpError_Set(error, tp_badInput, "there is no such joint, or no such coordinate");
}

// Questions --------------------------------------------------------------------------------------

int tpJoint_GetCoordinateCount(const tpWorld* world, tpJointId id) {
    TP_NEED(world, 0);
    int index = TP_JOINT(world, id);
    return index >= 0 ? world->system.joints.data[index].coordinateCount : 0;
}

tpAxisDef tpJoint_GetAxis(const tpWorld* world, tpJointId id, int coordinate) {
    TP_NEED(world, (tpAxisDef){ 0 });
    tpAxisDef axis = { .name = "", .coordinate = tpDefaultCoordinateDef() };
    const tpJoint* joint = JOINT_WITH(world, id, coordinate);
    if (joint == NULL) {
        return axis;
    }
    const tpCoordinate* own = &joint->coordinates[coordinate];
    tpJointPlace place = tpJoint_Place(joint, world->system.poses.data);
    axis.name = own->name;
    axis.kind = own->kind;
    axis.coordinate = own->def;
    for (int i = 0; i < place.chain.turnCount; ++i) {
        const tpChainAxis* turn = &place.chain.turns[i];
        axis.direction = turn->coordinate == coordinate ? turn->axis : axis.direction;
    }
    for (int j = 0; j < place.chain.slideCount; ++j) {
        const tpChainAxis* slide = &place.chain.slides[j];
        axis.direction = slide->coordinate == coordinate ? slide->axis : axis.direction;
    }
    if (!tpJointType_IsChain(joint->type)) {
        tpJointRow row = tpJoint_CoordinateRow(joint, &place, coordinate);
        axis.direction = joint->type == tp_ballJoint ? row.onB.angular : row.onB.linear;
    }
    return axis;
}

int tpJoint_FindCoordinate(const tpWorld* world, tpJointId id, const char* name) {
    TP_NEED(world, 0);
    int index = TP_JOINT(world, id);
    if (index < 0 || !TP_REQUIRE(name != NULL, "name", "is NULL")) {
        return -1;
    }
    const tpJoint* joint = &world->system.joints.data[index];
    for (int i = 0; i < joint->coordinateCount; ++i) {
        if (strcmp(joint->coordinates[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

tpCoordinateState tpWorld_CoordinateState(const tpWorld* world, const tpJoint* joint,
                                          int coordinate) {
    tpJointPlace place = tpJoint_Place(joint, world->system.poses.data);
    tpJointRow row = tpJoint_CoordinateRow(joint, &place, coordinate);
    const tpCoordinate* own = &joint->coordinates[coordinate];
    tpCoordinateState state = { row.error,
                                tpJointRow_Speed(joint, &row, world->system.velocities.data),
                                own->effort, own->limitEffort };
    return state;
}

tpCoordinateState tpJoint_GetState(const tpWorld* world, tpJointId id, int coordinate) {
    TP_NEED(world, (tpCoordinateState){ 0 });
    const tpJoint* joint = JOINT_WITH(world, id, coordinate);
    tpCoordinateState none = { 0.0, 0.0, 0.0, 0.0 };
    return joint != NULL ? tpWorld_CoordinateState(world, joint, coordinate) : none;
}

double tpJoint_GetValue(const tpWorld* world, tpJointId id, int coordinate) {
    TP_NEED(world, 0.0);
    const tpJoint* joint = JOINT_WITH(world, id, coordinate);
    return joint != NULL ? tpWorld_CoordinateState(world, joint, coordinate).value : 0.0;
}

double tpJoint_GetSpeed(const tpWorld* world, tpJointId id, int coordinate) {
    TP_NEED(world, 0.0);
    const tpJoint* joint = JOINT_WITH(world, id, coordinate);
    return joint != NULL ? tpWorld_CoordinateState(world, joint, coordinate).speed : 0.0;
}

tpCoordinateDef tpJoint_GetCoordinate(const tpWorld* world, tpJointId id, int coordinate) {
    TP_NEED(world, (tpCoordinateDef){ 0 });
    const tpJoint* joint = JOINT_WITH(world, id, coordinate);
    return joint != NULL ? joint->coordinates[coordinate].def : tpDefaultCoordinateDef();
}

// Laws -------------------------------------------------------------------------------------------

tpResult tpJoint_SetCoordinate(tpWorld* world, tpJointId id, int coordinate,
                               const tpCoordinateDef* def, tpError* error) {
    TP_NEED(world, tp_badInput);
    tpJoint* joint = JOINT_WITH(world, id, coordinate);
    if (joint == NULL || !TP_REQUIRE(def != NULL, "def", "is NULL")) {
        return noSuch(error);
    }
    tpResult result = tpCheckCoordinateDef(def, tpJointType_IsChain(joint->type), error);
    if (result == tp_success) {
        joint->coordinates[coordinate].def = *def;
        joint->coordinates[coordinate].def.hasSpring =
            def->hasSpring || joint->type == tp_springJoint;
        tpSystem_NoteLaws(&world->system, &joint->coordinates[coordinate].def);
        if (!def->hasServo) {
            joint->coordinates[coordinate].servoMemory = (tpServoMemory){ 0.0, 0.0 };
        }
        tpWorld_DisturbJoint(world, joint);
    }
    return result;
}

void tpJoint_SetTarget(tpWorld* world, tpJointId id, int coordinate, double target, double speed) {
    TP_NEED(world, );
    tpJoint* joint = JOINT_WITH(world, id, coordinate);
    if (joint == NULL || !TP_FINITE(target) || !TP_FINITE(speed) ||
        !TP_REQUIRE(joint->coordinates[coordinate].def.hasServo, "coordinate", "has no servo")) {
        return;
    }
    tpServo* servo = &joint->coordinates[coordinate].def.servo;
    if (servo->target != target || servo->speed != speed) {
        servo->target = target;
        servo->speed = speed;
        tpWorld_DisturbJoint(world, joint);
    }
}

void tpJoint_SetMotorSpeed(tpWorld* world, tpJointId id, int coordinate, double speed) {
    TP_NEED(world, );
    tpJoint* joint = JOINT_WITH(world, id, coordinate);
    if (joint == NULL || !TP_FINITE(speed) ||
        !TP_REQUIRE(joint->coordinates[coordinate].def.hasMotor, "coordinate", "has no motor")) {
        return;
    }
    if (joint->coordinates[coordinate].def.motor.speed != speed) {
        joint->coordinates[coordinate].def.motor.speed = speed;
        tpWorld_DisturbJoint(world, joint);
    }
}

void tpJoint_ApplyEffort(tpWorld* world, tpJointId id, int coordinate, double effort) {
    TP_NEED(world, );
    tpJoint* joint = JOINT_WITH(world, id, coordinate);
    if (joint != NULL && TP_FINITE(effort)) {
        joint->coordinates[coordinate].applied += effort;
        world->system.hasEfforts = true;
        tpWorld_DisturbJoint(world, joint);
    }
}

// Values and speeds -------------------------------------------------------------------------------

tpResult tpJoint_SetValue(tpWorld* world, tpJointId id, int coordinate, double value,
                          tpError* error) {
    TP_NEED(world, tp_badInput);
    tpJoint* joint = JOINT_WITH(world, id, coordinate);
    if (joint == NULL || !TP_FINITE(value)) {
        return noSuch(error);
    }
    return tpWorld_SetCoordinateValue(world, joint, coordinate, value, error);
}

tpResult tpJoint_SetSpeed(tpWorld* world, tpJointId id, int coordinate, double speed,
                          tpError* error) {
    TP_NEED(world, tp_badInput);
    tpJoint* joint = JOINT_WITH(world, id, coordinate);
    if (joint == NULL || !TP_FINITE(speed)) {
        return noSuch(error);
    }
    return tpWorld_SetCoordinateSpeed(world, joint, coordinate, speed, error);
}
