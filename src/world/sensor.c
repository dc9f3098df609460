// Sensors: made, removed, read.

#include "world/sensor.h"
#include "base/assert.h"

#include <string.h>

#include "base/error.h"
#include "dynamics/collider_shapes.h"
#include "tippe/queries.h"
#include "world/require.h"

typedef struct Type {
    const char* name;
    int count;
    const char* columns[tp_mostSensorValues];
} Type;

static const Type types[tp_sensorTypeCount] = {
    [tp_accelerometer] = { "accelerometer", 3, { "x", "y", "z" } },
    [tp_gyroscope] = { "gyroscope", 3, { "x", "y", "z" } },
    [tp_forceTorqueSensor] = { "force_torque", 6, { "fx", "fy", "fz", "tx", "ty", "tz" } },
    [tp_contactForceSensor] = { "contact_force", 4, { "n", "fx", "fy", "fz" } },
    [tp_jointStateSensor] = { "joint_state", 3, { "q", "qd", "effort" } },
    [tp_overlapSensor] = { "overlap", 1, { "on" } },
};

const char* tpSensorTypeName(tpSensorType type) {
    return (unsigned)type < tp_sensorTypeCount ? types[type].name : "";
}

int tpSensorTypeColumns(tpSensorType type, const char* names[tp_mostSensorValues]) {
    TP_NEED(names, 0);
    int count = (unsigned)type < tp_sensorTypeCount ? types[type].count : 0;
    for (int i = 0; i < count; ++i) {
        names[i] = types[type].columns[i];
    }
    return count;
}

tpSensorDef tpDefaultSensorDef(void) {
    tpSensorDef def;
    memset(&def, 0, sizeof(def));
    def.pose = tpIdentityPose();
    return def;
}

static tpSensorId idOf(const tpWorld* world, int index) {
    tpSensorId id = { 0, 0 };
    if (tpIdPool_IsLive(&world->sensorIds, index)) {
        id.slot = (uint32_t)index + 1;
        id.generation = world->sensorIds.generations.data[index];
    }
    return id;
}

// Come and go -------------------------------------------------------------------------------------

static tpResult checkDef(const tpWorld* world, const tpSensorDef* def, const tpSensor* sensor,
                         tpError* error) {
    if ((unsigned)def->type >= tp_sensorTypeCount) {
        return tpError_Set(error, tp_badInput, "there is no such type of sensor");
    }
    const char* name = types[def->type].name;
    bool isOfJoint = def->type == tp_forceTorqueSensor || def->type == tp_jointStateSensor;
    bool isOfShape = def->type == tp_contactForceSensor || def->type == tp_overlapSensor;
    if (isOfJoint && sensor->joint < 0) {
        return tpError_Set(error, tp_badInput, "a sensor of type %s needs a joint", name);
    }
    if (!isOfJoint && sensor->body < 0 && !(isOfShape && sensor->shape >= 0)) {
        return tpError_Set(error, tp_badInput, "a sensor of type %s needs a body", name);
    }
    if (!tpIsFiniteVec3(def->pose.position) || !tpIsUnitQuat(def->pose.rotation)) {
        return tpError_Set(error, tp_badInput,
                           "the pose of a sensor needs a finite position and a unit quaternion");
    }
    if (def->type == tp_jointStateSensor) {
        int count = world->system.joints.data[sensor->joint].coordinateCount;
        if (def->coordinate < 0 || def->coordinate >= count) {
            return tpError_Set(error, tp_badInput, "coordinate is %d, of a joint that has %d",
                               def->coordinate, count);
        }
    }
    return tp_success;
}

// Shapes that a sensor watches, one after the other; -1 after the last.
static int nextShape(const tpWorld* world, const tpSensor* sensor, int last) {
    if (sensor->shape >= 0) {
        return last < 0 ? sensor->shape : -1;
    }
    return last < 0 ? world->system.bodies.data[sensor->body].firstShape
                    : world->system.shapes.data[last].next;
}

// Shapes of overlap sensors touch nothing.
static void setTouching(tpWorld* world, const tpSensor* sensor, bool touches) {
    if (sensor->type != tp_overlapSensor) {
        return;
    }
    for (int i = nextShape(world, sensor, -1); i >= 0; i = nextShape(world, sensor, i)) {
        world->system.shapes.data[i].isSensor = !touches;
        tpSystem_PutShape(&world->system, i);
        tpSystem_Disturb(&world->system, world->system.shapes.data[i].body);
    }
    tpWorld_ChangeStructure(world);
}

tpSensorId tpCreateSensor(tpWorld* world, const tpSensorDef* def, tpError* error) {
    TP_NEED(world, (tpSensorId){ 0 });
    tpSensorId none = { 0, 0 };
    if (!TP_REQUIRE(def != NULL, "def", "is NULL")) {
        return none;
    }
    tpSensor sensor = { .isLive = true,
                        .type = def->type,
                        .body = tpWorld_BodyIndex(world, def->body),
                        .shape = tpWorld_ShapeIndex(world, def->shape),
                        .joint = tpWorld_JointIndex(world, def->joint),
                        .coordinate = def->coordinate,
                        .pose = def->pose };
    if (checkDef(world, def, &sensor, error) != tp_success) {
        return none;
    }
    tpCopyName(sensor.name, def->name);
    sensor.pose.rotation = tpNormalizeQuat(sensor.pose.rotation);
    const tpAllocator* allocator = &world->system.allocator;
    int index = tpIdPool_Take(&world->sensorIds, allocator);
    if (index < 0 || !TP_RESERVE(allocator, world->sensors, index + 1)) {
        if (index >= 0) {
            tpIdPool_GiveBack(&world->sensorIds, index);
        }
        tpError_OutOfMemory(error);
        return none;
    }
    world->sensors.count = index >= world->sensors.count ? index + 1 : world->sensors.count;
    world->sensors.data[index] = sensor;
    setTouching(world, &sensor, false);
    tpWorld_ChangeStructure(world);
    return idOf(world, index);
}

static void removeSensor(tpWorld* world, int index, bool touches) {
    if (touches) {
        setTouching(world, &world->sensors.data[index], true);
    }
    memset(&world->sensors.data[index], 0, sizeof(tpSensor));
    tpIdPool_GiveBack(&world->sensorIds, index);
    tpWorld_ChangeStructure(world);
}

void tpDestroySensor(tpWorld* world, tpSensorId id) {
    TP_NEED(world, );
    int index = TP_SENSOR(world, id);
    if (index >= 0) {
        removeSensor(world, index, true);
    }
}

void tpWorld_RemoveSensors(tpWorld* world, int body, int shape, int joint) {
    for (int i = 0; i < world->sensors.count; ++i) {
        const tpSensor* sensor = &world->sensors.data[i];
        bool isOf = (body >= 0 && sensor->body == body) || (shape >= 0 && sensor->shape == shape) ||
                    (joint >= 0 && sensor->joint == joint);
        if (sensor->isLive && isOf) {
            removeSensor(world, i, false);
        }
    }
}

// Questions ---------------------------------------------------------------------------------------

bool tpSensor_IsValid(const tpWorld* world, tpSensorId id) {
    TP_NEED(world, false);
    return tpWorld_SensorIndex(world, id) >= 0;
}

int tpWorld_GetSensorCount(const tpWorld* world) {
    TP_NEED(world, 0);
    return world->sensorIds.liveCount;
}

tpSensorId tpWorld_GetSensor(const tpWorld* world, int number) {
    TP_NEED(world, (tpSensorId){ 0 });
    bool isThere = TP_INDEX(number, tpWorld_GetSensorCount(world));
    for (int i = 0; isThere && i < world->sensors.count; ++i) {
        if (world->sensors.data[i].isLive && number-- == 0) {
            return idOf(world, i);
        }
    }
    return idOf(world, -1);
}

tpSensorId tpWorld_FindSensor(const tpWorld* world, const char* name) {
    TP_NEED(world, (tpSensorId){ 0 });
    bool isGiven = TP_REQUIRE(name != NULL, "name", "is NULL");
    for (int i = 0; isGiven && i < world->sensors.count; ++i) {
        const tpSensor* sensor = &world->sensors.data[i];
        if (sensor->isLive && strcmp(sensor->name, name) == 0) {
            return idOf(world, i);
        }
    }
    return idOf(world, -1);
}

const char* tpSensor_GetName(const tpWorld* world, tpSensorId id) {
    TP_NEED(world, NULL);
    int index = TP_SENSOR(world, id);
    return index >= 0 ? world->sensors.data[index].name : "";
}

tpSensorDef tpSensor_GetDef(const tpWorld* world, tpSensorId id) {
    TP_NEED(world, (tpSensorDef){ 0 });
    tpSensorDef def = tpDefaultSensorDef();
    int index = TP_SENSOR(world, id);
    if (index >= 0) {
        const tpSensor* sensor = &world->sensors.data[index];
        def.name = sensor->name;
        def.type = sensor->type;
        def.body = tpWorld_BodyId(world, sensor->body);
        def.shape = tpWorld_ShapeId(world, sensor->shape);
        def.joint = tpWorld_JointId(world, sensor->joint);
        def.coordinate = sensor->coordinate;
        def.pose = sensor->pose;
    }
    return def;
}

// Measuring ---------------------------------------------------------------------------------------

static void put(double* values, tpVec3 v) {
    values[0] = v.x;
    values[1] = v.y;
    values[2] = v.z;
}

// From the centre of mass to the sensor.
static tpVec3 armOf(const tpSystem* system, const tpSensor* sensor, tpQuat rotation) {
    const tpBody* body = &system->bodies.data[sensor->body];
    return tpRotate(rotation, tpSub(sensor->pose.position, body->center));
}

// Acceleration is the change of the place's velocity over the step; its axes are those half way,
// which makes it exact to second order in the step.
static void measureAcceleration(tpSystem* system, tpSensor* sensor, const tpPose* start,
                                const tpVelocity* before, double h) {
    const tpPose* pose = &system->poses.data[sensor->body];
    const tpVelocity* after = &system->velocities.data[sensor->body];
    tpVec3 first =
        tpAdd(before->linear, tpCross(before->angular, armOf(system, sensor, start->rotation)));
    tpVec3 last =
        tpAdd(after->linear, tpCross(after->angular, armOf(system, sensor, pose->rotation)));
    tpVec3 felt = tpSub(tpScale(1.0 / h, tpSub(last, first)), system->gravity);
    tpVec3 turn = tpQuatLog(tpMulQQ(pose->rotation, tpConjugate(start->rotation)));
    tpQuat middle = tpMulQQ(tpQuatExp(tpScale(0.5, turn)), start->rotation);
    put(sensor->measured, tpUnrotate(tpMulQQ(middle, sensor->pose.rotation), felt));
}

void tpWorld_MeasureSensors(tpWorld* world, const tpPose* poses, const tpVelocity* velocities,
                            double h) {
    world->lastStep = h;
    for (int i = 0; i < world->sensors.count; ++i) {
        tpSensor* sensor = &world->sensors.data[i];
        sensor->isRestored = false;
        if (sensor->isLive && sensor->type == tp_accelerometer) {
            measureAcceleration(&world->system, sensor, &poses[sensor->body],
                                &velocities[sensor->body], h);
        }
    }
}

static void readForceTorque(const tpWorld* world, const tpSensor* sensor, double* values) {
    const tpJoint* joint = &world->system.joints.data[sensor->joint];
    tpQuat rotation =
        joint->bodyB >= 0 ? world->system.poses.data[joint->bodyB].rotation : tpIdentityQuat();
    rotation = tpMulQQ(rotation, sensor->pose.rotation);
    put(values, tpUnrotate(rotation, joint->force));
    put(values + 3, tpUnrotate(rotation, joint->torque));
}

static void readContactForce(const tpWorld* world, const tpSensor* sensor, double* values) {
    int count;
    const tpContactInfo* contacts = tpWorld_GetContacts(world, &count);
    double normal = 0.0;
    tpVec3 total = tpZeroVec3();
    for (int i = 0; i < count && world->lastStep > 0.0; ++i) {
        const tpContactInfo* contact = &contacts[i];
        const uint32_t slots[2] = {
            sensor->shape >= 0 ? contact->shapeA.slot : contact->bodyA.slot,
            sensor->shape >= 0 ? contact->shapeB.slot : contact->bodyB.slot,
        };
        uint32_t own = (uint32_t)(sensor->shape >= 0 ? sensor->shape : sensor->body) + 1;
        for (int side = 0; side < 2; ++side) {
            if (slots[side] == own) {
                double sign = side == 0 ? 1.0 / world->lastStep : -1.0 / world->lastStep;
                normal += contact->normalImpulse / world->lastStep;
                total = tpMulAdd(total, sign * contact->normalImpulse, contact->normal);
                total = tpMulAdd(total, sign, contact->frictionImpulse);
            }
        }
    }
    values[0] = normal;
    put(values + 1, total);
}

void tpWorld_KeepContactForces(tpWorld* world) {
    for (int i = 0; i < world->sensors.count; ++i) {
        tpSensor* sensor = &world->sensors.data[i];
        if (sensor->isLive && sensor->type == tp_contactForceSensor && !sensor->isRestored) {
            readContactForce(world, sensor, sensor->measured);
        }
    }
}

bool tpWorld_IsOverlapped(const tpWorld* world, const tpSensor* sensor) {
    const tpSystem* system = &world->system;
    for (int i = nextShape(world, sensor, -1); i >= 0; i = nextShape(world, sensor, i)) {
        const tpShape* shape = &system->shapes.data[i];
        tpPose frame = tpSystem_BodyFrame(system, shape->body);
        for (int k = 0; k < system->shapes.count; ++k) {
            const tpShape* other = &system->shapes.data[k];
            bool isAsked = other->isLive && !other->isSensor && other->body != shape->body &&
                           (other->group & shape->mask) != 0 && (shape->group & other->mask) != 0;
            if (isAsked && tpWorld_ShapesOverlap(world, &shape->form->geometry, frame, k)) {
                return true;
            }
        }
    }
    return false;
}

static int readValues(const tpWorld* world, const tpSensor* sensor, double* values) {
    const tpSystem* system = &world->system;
    switch (sensor->type) {
    case tp_accelerometer:
        memcpy(values, sensor->measured, 3 * sizeof(double));
        break;
    case tp_gyroscope: {
        tpQuat rotation = tpMulQQ(system->poses.data[sensor->body].rotation, sensor->pose.rotation);
        put(values, tpUnrotate(rotation, system->velocities.data[sensor->body].angular));
        break;
    }
    case tp_forceTorqueSensor:
        readForceTorque(world, sensor, values);
        break;
    case tp_contactForceSensor:
        if (sensor->isRestored) {
            memcpy(values, sensor->measured, sizeof(sensor->measured));
        } else {
            readContactForce(world, sensor, values);
        }
        break;
    case tp_jointStateSensor: {
        tpCoordinateState state =
            tpWorld_CoordinateState(world, &system->joints.data[sensor->joint], sensor->coordinate);
        values[0] = state.value;
        values[1] = state.speed;
        values[2] = state.effort;
        break;
    }
    default:
        values[0] = tpWorld_IsOverlapped(world, sensor) ? 1.0 : 0.0;
        break;
    }
    return types[sensor->type].count;
}

int tpSensor_GetValues(const tpWorld* world, tpSensorId id, double values[tp_mostSensorValues]) {
    TP_NEED(world, 0);
    int index = TP_SENSOR(world, id);
    bool isRead = index >= 0 && TP_REQUIRE(values != NULL, "values", "is NULL");
    return isRead ? readValues(world, &world->sensors.data[index], values) : 0;
}

int tpWorld_GetSensorValueCount(const tpWorld* world) {
    TP_NEED(world, 0);
    int count = 0;
    for (int i = 0; i < world->sensors.count; ++i) {
        count += world->sensors.data[i].isLive ? types[world->sensors.data[i].type].count : 0;
    }
    return count;
}

void tpWorld_ReadSensors(const tpWorld* world, double* values) {
    TP_NEED(world, );
    bool isGiven = world->sensors.count == 0 || TP_REQUIRE(values != NULL, "values", "is NULL");
    for (int i = 0; isGiven && i < world->sensors.count; ++i) {
        if (world->sensors.data[i].isLive) {
            values += readValues(world, &world->sensors.data[i], values);
        }
    }
}
