// Joints: from world coordinates at creation to frames in both bodies.

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "dynamics/collider_shapes.h"
#include "dynamics/joint_types.h"
#include "world/require.h"

static const char* const typeNames[tp_jointTypeCount] = {
    [tp_ballJoint] = "ball",           [tp_revoluteJoint] = "revolute",
    [tp_prismaticJoint] = "prismatic", [tp_cylindricalJoint] = "cylindrical",
    [tp_universalJoint] = "universal", [tp_fixedJoint] = "fixed",
    [tp_distanceJoint] = "distance",   [tp_planarJoint] = "planar",
    [tp_gearJoint] = "gear",           [tp_screwJoint] = "screw",
    [tp_springJoint] = "spring",       [tp_compoundJoint] = "compound",
};

const char* tpJointTypeName(tpJointType type) {
    return (unsigned)type < (unsigned)tp_jointTypeCount ? typeNames[type] : "";
}

tpJointDef tpDefaultJointDef(void) {
    tpJointDef def;
    memset(&def, 0, sizeof(def));
    def.axis = tpMakeVec3(0.0, 0.0, 1.0);
    def.ratio = 1.0;
    def.coordinate = tpDefaultCoordinateDef();
    return def;
}

tpCoordinateDef tpDefaultCoordinateDef(void) {
    tpCoordinateDef def;
    memset(&def, 0, sizeof(def));
    def.servo.effort = INFINITY;
    return def;
}

tpJointId tpWorld_JointId(const tpWorld* world, int index) {
    tpJointId id = { 0, 0 };
    if (tpIdPool_IsLive(&world->jointIds, index)) {
        id.slot = (uint32_t)index + 1;
        id.generation = world->jointIds.generations.data[index];
    }
    return id;
}

static bool isNull(tpBodyId id) {
    return id.slot == 0 && id.generation == 0;
}

// Numbers that must be zero or positive.
static tpResult checkSizes(const double* numbers, const char* const* names, int count,
                           tpError* error) {
    for (int i = 0; i < count; ++i) {
        if (!(numbers[i] >= 0.0) || !isfinite(numbers[i])) {
            return tpError_Set(error, tp_badInput, "%s must be zero or positive, not %.9g",
                               names[i], numbers[i]);
        }
    }
    return tp_success;
}

tpResult tpCheckCoordinateDef(const tpCoordinateDef* def, bool isChain, tpError* error) {
    static const char* const names[] = { "stiffness of the spring",
                                         "damping of the spring",
                                         "stiffness of the servo",
                                         "damping of the servo",
                                         "armature",
                                         "damping",
                                         "friction" };
    const double sizes[] = { def->hasSpring ? def->spring.stiffness : 0.0,
                             def->hasSpring ? def->spring.damping : 0.0,
                             def->hasServo ? def->servo.stiffness : 0.0,
                             def->hasServo ? def->servo.damping : 0.0,
                             def->armature,
                             def->damping,
                             def->friction };
    if (checkSizes(sizes, names, 7, error) != tp_success) {
        return tp_badInput;
    }
    const char* wrong = !isfinite(def->zero)                            ? "zero"
                        : def->hasSpring && !isfinite(def->spring.rest) ? "rest"
                        : def->hasMotor && !isfinite(def->motor.speed)  ? "speed of the motor"
                        : def->hasServo && !isfinite(def->servo.target) ? "target"
                        : def->hasServo && !isfinite(def->servo.speed)  ? "speed of the servo"
                                                                        : NULL;
    if (wrong != NULL) {
        return tpError_Set(error, tp_badInput, "%s must be finite", wrong);
    }
    if ((def->hasMotor && !(def->motor.effort >= 0.0)) ||
        (def->hasServo && !(def->servo.effort >= 0.0))) {
        return tpError_Set(error, tp_badInput, "effort must be zero or positive");
    }
    if (def->hasLimits && !(def->limits[0] <= def->limits[1])) {
        return tpError_Set(error, tp_badInput, "the lower limit lies above the upper one");
    }
    if (!isChain && def->zero != 0.0) {
        return tpError_Set(error, tp_badInput,
                           "zero is for turns and slides; a distance or a swing is what it is");
    }
    return tp_success;
}

static tpResult checkAxes(const tpJointDef* def, tpError* error) {
    if (def->axisCount < 1 || def->axisCount > tp_maxCoordinates || def->axes == NULL) {
        return tpError_Set(error, tp_badInput, "a compound joint has 1 to 6 axes, not %d",
                           def->axisCount);
    }
    tpVec3 turns[tp_maxCoordinates], slides[tp_maxCoordinates];
    int turnCount = 0, slideCount = 0;
    for (int i = 0; i < def->axisCount; ++i) {
        const tpAxisDef* axis = &def->axes[i];
        bool isTurn = axis->kind == tp_turnAxis;
        if (!isTurn && axis->kind != tp_slideAxis) {
            return tpError_Set(error, tp_badInput, "axis %d is neither a turn nor a slide", i);
        }
        if (!tpIsFiniteVec3(axis->direction) || tpLength(axis->direction) == 0.0) {
            return tpError_Set(error, tp_badInput, "the direction of axis %d must not be zero", i);
        }
        tpVec3* list = isTurn ? turns : slides;
        list[isTurn ? turnCount++ : slideCount++] = tpNormalize(axis->direction);
        if (tpCheckCoordinateDef(&axis->coordinate, true, error) != tp_success) {
            return tp_badInput;
        }
    }
    if (!tpAreIndependent(turns, turnCount) || !tpAreIndependent(slides, slideCount)) {
        return tpError_Set(error, tp_badInput,
                           "a compound joint has at most three turns and three slides, and none of "
                           "the turns (or slides) lies in the plane or line of the others");
    }
    return tp_success;
}

static tpResult checkJointDef(const tpJointDef* def, int bodyA, int bodyB, tpError* error) {
    bool isMissing = (bodyA < 0 && !isNull(def->bodyA)) || (bodyB < 0 && !isNull(def->bodyB));
    if (isMissing) {
        return tpError_Set(error, tp_badInput, "a body of the joint does not exist");
    }
    if (bodyA == bodyB) {
        return tpError_Set(error, tp_badInput, "a joint is between two different bodies");
    }
    if ((unsigned)def->type >= (unsigned)tp_jointTypeCount) {
        return tpError_Set(error, tp_badInput, "there is no such type of joint");
    }
    if (!isfinite(def->pitch)) {
        return tpError_Set(error, tp_badInput, "pitch must be finite");
    }
    if (!tpIsFiniteVec3(def->anchorA) || !tpIsFiniteVec3(def->anchorB) ||
        !tpIsFiniteVec3(def->axis) || tpLength(def->axis) == 0.0 ||
        !tpIsFiniteVec3(def->secondAxis)) {
        return tpError_Set(error, tp_badInput, "anchor and axis must be finite, the axis not zero");
    }
    if (def->type == tp_gearJoint && (!isfinite(def->ratio) || def->ratio == 0.0)) {
        return tpError_Set(error, tp_badInput, "the ratio of a gear is not zero");
    }
    if (def->type == tp_compoundJoint) {
        return checkAxes(def, error);
    }
    const tpVec3 axes[2] = { tpNormalize(def->axis), tpNormalize(def->secondAxis) };
    if (def->type == tp_universalJoint && !tpAreIndependent(axes, 2)) {
        return tpError_Set(error, tp_badInput, "the two axes of a universal joint are parallel");
    }
    return tpCheckCoordinateDef(&def->coordinate, tpJointType_IsChain(def->type), error);
}

static tpPose poseOf(const tpSystem* system, int body) {
    return body >= 0 ? system->poses.data[body] : tpIdentityPose();
}

// The joint's axes in the axes of a body: the joint's axis first.
static tpMat33 frameInBody(tpPose pose, tpVec3 axis, tpVec3 side) {
    tpVec3 third = tpCross(axis, side);
    return tpMakeMat33(tpUnrotate(pose.rotation, axis), tpUnrotate(pose.rotation, side),
                       tpUnrotate(pose.rotation, third));
}

void tpWorld_DisturbJoint(tpWorld* world, const tpJoint* joint) {
    const int bodies[2] = { joint->bodyA, joint->bodyB };
    for (int side = 0; side < 2; ++side) {
        if (tpSystem_IsDynamic(&world->system, bodies[side])) {
            tpSystem_Disturb(&world->system, bodies[side]);
        }
    }
}

// The coordinates of each type: kind, direction in world axes, and name.
typedef struct Axis {
    tpAxisKind kind;
    tpVec3 direction;
    const char* name;
} Axis;

static int listAxes(const tpJointDef* def, Axis axes[tp_maxCoordinates]) {
    tpVec3 axis = tpNormalize(def->axis), side, third;
    tpVec3 second = tpNormalize(def->secondAxis);
    tpMakeTangents(axis, &side, &third);
    switch (def->type) {
    case tp_compoundJoint:
        for (int i = 0; i < def->axisCount; ++i) {
            axes[i] =
                (Axis){ def->axes[i].kind, tpNormalize(def->axes[i].direction), def->axes[i].name };
        }
        return def->axisCount;
    case tp_cylindricalJoint:
        axes[0] = (Axis){ tp_slideAxis, axis, "" };
        axes[1] = (Axis){ tp_turnAxis, axis, "turn" };
        return 2;
    case tp_universalJoint:
        axes[0] = (Axis){ tp_turnAxis, axis, "" };
        axes[1] = (Axis){ tp_turnAxis, second, "second" };
        return 2;
    case tp_planarJoint:
        axes[0] = (Axis){ tp_slideAxis, side, "" };
        axes[1] = (Axis){ tp_slideAxis, third, "second" };
        axes[2] = (Axis){ tp_turnAxis, axis, "turn" };
        return 3;
    case tp_fixedJoint:
    case tp_gearJoint:
        return 0;
    case tp_ballJoint:
    case tp_revoluteJoint:
    case tp_screwJoint:
        axes[0] = (Axis){ tp_turnAxis, axis, "" };
        return 1;
    default:
        axes[0] = (Axis){ tp_slideAxis, axis, "" };
        return 1;
    }
}

// Coordinates of a new joint. False if memory ran out.
static bool makeCoordinates(const tpSystem* system, tpJoint* joint, const tpJointDef* def,
                            tpPose poseA) {
    Axis axes[tp_maxCoordinates];
    int count = listAxes(def, axes);
    if (count == 0) {
        return true;
    }
    joint->coordinates = tpAllocateZeroed(&system->allocator, sizeof(tpCoordinate) * (size_t)count);
    if (joint->coordinates == NULL) {
        return false;
    }
    joint->coordinateCount = count;
    for (int i = 0; i < count; ++i) {
        tpCoordinate* coordinate = &joint->coordinates[i];
        bool isCompound = def->type == tp_compoundJoint;
        coordinate->kind = axes[i].kind;
        coordinate->axis = tpUnrotate(poseA.rotation, axes[i].direction);
        coordinate->startTurn = tpIdentityQuat();
        coordinate->def = isCompound ? def->axes[i].coordinate
                          : i == 0   ? def->coordinate
                                     : tpDefaultCoordinateDef();
        coordinate->springShare = coordinate->servoShare = coordinate->damperShare = 0.5;
        tpCopyName(coordinate->name, axes[i].name);
        if (isCompound && coordinate->name[0] == '\0') {
            snprintf(coordinate->name, tp_nameCapacity, "%d", i);
        }
    }
    if (def->type == tp_springJoint) {
        joint->coordinates[0].def.hasSpring = true;
    }
    return true;
}

static void placeJoint(const tpSystem* system, tpJoint* joint, const tpJointDef* def) {
    tpPose poseA = poseOf(system, joint->bodyA);
    tpPose poseB = poseOf(system, joint->bodyB);
    joint->anchorA = tpUntransformPoint(poseA, def->anchorA);
    joint->anchorB = tpUntransformPoint(poseB, def->anchorB);
    tpVec3 axis = tpNormalize(def->axis);
    tpVec3 second = tpLength(def->secondAxis) > 0.0 ? tpNormalize(def->secondAxis) : axis;
    tpVec3 side, unused;
    tpMakeTangents(axis, &side, &unused);
    joint->frameA = frameInBody(poseA, axis, side);
    tpMakeTangents(second, &side, &unused);
    joint->frameB = frameInBody(poseB, second, side);
    joint->startLength = tpDistanceBetween(def->anchorA, def->anchorB);
    joint->relativeRotation = tpMulQQ(tpConjugate(poseA.rotation), poseB.rotation);
}

tpJointId tpCreateJoint(tpWorld* world, const tpJointDef* def, tpError* error) {
    TP_NEED(world, (tpJointId){ 0 });
    tpSystem* system = &world->system;
    tpJointId none = { 0, 0 };
    if (!TP_REQUIRE(def != NULL, "def", "is NULL")) {
        return none;
    }
    tpJoint joint = { .isLive = true, .type = def->type, .def = *def };
    joint.bodyA = tpWorld_BodyIndex(world, def->bodyA);
    joint.bodyB = tpWorld_BodyIndex(world, def->bodyB);
    if (checkJointDef(def, joint.bodyA, joint.bodyB, error) != tp_success) {
        return none;
    }
    joint.def.name = NULL;
    joint.def.axes = NULL;
    tpCopyName(joint.name, def->name);
    placeJoint(system, &joint, def);
    if (!makeCoordinates(system, &joint, def, poseOf(system, joint.bodyA))) {
        tpError_OutOfMemory(error);
        return none;
    }
    int index = tpIdPool_Take(&world->jointIds, &system->allocator);
    if (index < 0 || !TP_RESERVE(&system->allocator, system->joints, index + 1)) {
        if (index >= 0) {
            tpIdPool_GiveBack(&world->jointIds, index);
        }
        tpRelease(&system->allocator, joint.coordinates,
                  sizeof(tpCoordinate) * (size_t)joint.coordinateCount);
        tpError_OutOfMemory(error);
        return none;
    }
    if (index >= system->joints.count) {
        system->joints.count = index + 1;
    }
    system->joints.data[index] = joint;
    for (int k = 0; k < joint.coordinateCount; ++k) {
        tpSystem_NoteLaws(system, &joint.coordinates[k].def);
    }
    tpSystem_PutJoint(system, index);
    tpWorld_DisturbJoint(world, &joint);
    tpWorld_ChangeStructure(world);
    return tpWorld_JointId(world, index);
}

void tpWorld_RemoveJoint(tpWorld* world, int index) {
    tpSystem* system = &world->system;
    tpJoint* joint = &system->joints.data[index];
    tpWorld_RemoveCouplings(world, index);
    tpWorld_RemoveSensors(world, -1, -1, index);
    tpSystem_TakeJoint(system, index);
    tpWorld_DisturbJoint(world, joint);
    tpRelease(&system->allocator, joint->coordinates,
              sizeof(tpCoordinate) * (size_t)joint->coordinateCount);
    memset(joint, 0, sizeof(tpJoint));
    tpWorld_ChangeStructure(world);
    tpIdPool_GiveBack(&world->jointIds, index);
}

void tpDestroyJoint(tpWorld* world, tpJointId id) {
    TP_NEED(world, );
    int index = TP_JOINT(world, id);
    if (index >= 0) {
        tpWorld_RemoveJoint(world, index);
    }
}

bool tpJoint_IsValid(const tpWorld* world, tpJointId id) {
    TP_NEED(world, false);
    return tpWorld_JointIndex(world, id) >= 0;
}

int tpWorld_GetJointCount(const tpWorld* world) {
    TP_NEED(world, 0);
    return world->jointIds.liveCount;
}

tpJointId tpWorld_GetJoint(const tpWorld* world, int number) {
    TP_NEED(world, (tpJointId){ 0 });
    bool isThere = TP_INDEX(number, tpWorld_GetJointCount(world));
    for (int i = 0; isThere && i < world->system.joints.count; ++i) {
        if (world->system.joints.data[i].isLive && number-- == 0) {
            return tpWorld_JointId(world, i);
        }
    }
    tpJointId none = { 0, 0 };
    return none;
}

const char* tpJoint_GetName(const tpWorld* world, tpJointId id) {
    TP_NEED(world, NULL);
    int index = TP_JOINT(world, id);
    return index >= 0 ? world->system.joints.data[index].name : "";
}

tpJointId tpWorld_FindJoint(const tpWorld* world, const char* name) {
    TP_NEED(world, (tpJointId){ 0 });
    bool isGiven = TP_REQUIRE(name != NULL, "name", "is NULL");
    for (int i = 0; isGiven && i < world->system.joints.count; ++i) {
        const tpJoint* joint = &world->system.joints.data[i];
        if (joint->isLive && strcmp(joint->name, name) == 0) {
            return tpWorld_JointId(world, i);
        }
    }
    return tpWorld_JointId(world, -1);
}

tpJointDef tpJoint_GetDef(const tpWorld* world, tpJointId id) {
    TP_NEED(world, (tpJointDef){ 0 });
    int index = TP_JOINT(world, id);
    if (index < 0) {
        return tpDefaultJointDef();
    }
    const tpJoint* joint = &world->system.joints.data[index];
    tpJointPlace place = tpJoint_Place(joint, world->system.poses.data);
    tpJointDef def = joint->def;
    def.name = joint->name;
    def.bodyA = tpWorld_BodyId(world, joint->bodyA);
    def.bodyB = tpWorld_BodyId(world, joint->bodyB);
    def.anchorA = place.pointA;
    def.anchorB = place.pointB;
    def.axis = place.axisA;
    def.secondAxis = place.axisB;
    if (joint->coordinateCount > 0) {
        def.coordinate = joint->coordinates[0].def;
    }
    return def;
}

void tpJoint_GetReaction(const tpWorld* world, tpJointId id, tpVec3* force, tpVec3* torque) {
    TP_NEED(world, );
    int index = TP_JOINT(world, id);
    if (force != NULL) {
        *force = index >= 0 ? world->system.joints.data[index].force : tpZeroVec3();
    }
    if (torque != NULL) {
        *torque = index >= 0 ? world->system.joints.data[index].torque : tpZeroVec3();
    }
}
