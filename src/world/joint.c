// Joints: from world coordinates at creation to frames in both bodies.

#include <string.h>

#include "base/error.h"
#include "dynamics/collider_shapes.h"
#include "world/require.h"

static const char* const typeNames[tp_jointTypeCount] = {
    [tp_ballJoint] = "ball",           [tp_revoluteJoint] = "revolute",
    [tp_prismaticJoint] = "prismatic", [tp_cylindricalJoint] = "cylindrical",
    [tp_universalJoint] = "universal", [tp_fixedJoint] = "fixed",
    [tp_distanceJoint] = "distance",   [tp_planarJoint] = "planar",
    [tp_gearJoint] = "gear",           [tp_screwJoint] = "screw",
    [tp_springJoint] = "spring",
};

const char* tpJointTypeName(tpJointType type) {
    return (unsigned)type < (unsigned)tp_jointTypeCount ? typeNames[type] : "";
}

tpJointDef tpDefaultJointDef(void) {
    tpJointDef def;
    memset(&def, 0, sizeof(def));
    def.axis = tpMakeVec3(0.0, 0.0, 1.0);
    def.ratio = 1.0;
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
    const double numbers[9] = { def->limits[0],   def->limits[1], def->motorSpeed,
                                def->motorEffort, def->stiffness, def->damping,
                                def->rest,        def->friction,  def->pitch };
    for (int i = 0; i < 9; ++i) {
        if (isnan(numbers[i])) {
            return tpError_Set(error, tp_badInput, "a number of the joint is not a number");
        }
    }
    if (!tpIsFiniteVec3(def->anchorA) || !tpIsFiniteVec3(def->anchorB) ||
        !tpIsFiniteVec3(def->axis) || tpLength(def->axis) == 0.0) {
        return tpError_Set(error, tp_badInput, "anchor and axis must be finite, the axis not zero");
    }
    if (def->hasLimits && !(def->limits[0] <= def->limits[1])) {
        return tpError_Set(error, tp_badInput, "the lower limit lies above the upper one");
    }
    if (!(def->stiffness >= 0.0) || !(def->damping >= 0.0) || !(def->friction >= 0.0) ||
        !(def->motorEffort >= 0.0)) {
        return tpError_Set(error, tp_badInput,
                           "stiffness, damping, friction and effort must be zero or positive");
    }
    if (def->type == tp_gearJoint && (!isfinite(def->ratio) || def->ratio == 0.0)) {
        return tpError_Set(error, tp_badInput, "the ratio of a gear is not zero");
    }
    return tp_success;
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

// The bodies of a joint that comes or goes wake.
static void disturbBodies(tpSystem* system, const tpJoint* joint) {
    const int bodies[2] = { joint->bodyA, joint->bodyB };
    for (int side = 0; side < 2; ++side) {
        if (tpSystem_IsDynamic(system, bodies[side])) {
            tpSystem_Disturb(system, bodies[side]);
        }
    }
}

tpJointId tpCreateJoint(tpWorld* world, const tpJointDef* def, tpError* error) {
    tpSystem* system = &world->system;
    tpJointId none = { 0, 0 };
    if (!TP_REQUIRE(def != NULL, "def", "is NULL")) {
        return none;
    }
    int bodyA = tpWorld_BodyIndex(world, def->bodyA);
    int bodyB = tpWorld_BodyIndex(world, def->bodyB);
    if (checkJointDef(def, bodyA, bodyB, error) != tp_success) {
        return none;
    }
    int index = tpIdPool_Take(&world->jointIds, &system->allocator);
    if (index < 0 || !TP_RESERVE(&system->allocator, system->joints, index + 1)) {
        if (index >= 0) {
            tpIdPool_GiveBack(&world->jointIds, index);
        }
        tpError_OutOfMemory(error);
        return none;
    }
    if (index >= system->joints.count) {
        system->joints.count = index + 1;
    }
    tpJoint* joint = &system->joints.data[index];
    memset(joint, 0, sizeof(*joint));
    joint->isLive = true;
    joint->type = def->type;
    joint->bodyA = bodyA;
    joint->bodyB = bodyB;
    joint->def = *def;
    joint->def.name = NULL;
    tpCopyName(joint->name, def->name);
    tpPose poseA = poseOf(system, bodyA);
    tpPose poseB = poseOf(system, bodyB);
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
    joint->startCosine = tpDot(axis, second);
    joint->relativeRotation = tpMulQQ(tpConjugate(poseA.rotation), poseB.rotation);
    tpSystem_PutJoint(system, index);
    disturbBodies(system, joint);
    tpWorld_ChangeStructure(world);
    return tpWorld_JointId(world, index);
}

void tpWorld_RemoveJoint(tpWorld* world, int index) {
    tpSystem* system = &world->system;
    tpSystem_TakeJoint(system, index);
    disturbBodies(system, &system->joints.data[index]);
    memset(&system->joints.data[index], 0, sizeof(tpJoint));
    tpWorld_ChangeStructure(world);
    tpIdPool_GiveBack(&world->jointIds, index);
}

void tpDestroyJoint(tpWorld* world, tpJointId id) {
    int index = TP_JOINT(world, id);
    if (index >= 0) {
        tpWorld_RemoveJoint(world, index);
    }
}

bool tpJoint_IsValid(const tpWorld* world, tpJointId id) {
    return tpWorld_JointIndex(world, id) >= 0;
}

int tpWorld_GetJointCount(const tpWorld* world) {
    return world->jointIds.liveCount;
}

tpJointId tpWorld_GetJoint(const tpWorld* world, int number) {
    for (int i = 0; i < world->system.joints.count; ++i) {
        if (world->system.joints.data[i].isLive && number-- == 0) {
            return tpWorld_JointId(world, i);
        }
    }
    tpJointId none = { 0, 0 };
    return none;
}

const char* tpJoint_GetName(const tpWorld* world, tpJointId id) {
    int index = TP_JOINT(world, id);
    return index >= 0 ? world->system.joints.data[index].name : "";
}

void tpJoint_GetReaction(const tpWorld* world, tpJointId id, tpVec3* force, tpVec3* torque) {
    int index = TP_JOINT(world, id);
    *force = index >= 0 ? world->system.joints.data[index].force : tpZeroVec3();
    *torque = index >= 0 ? world->system.joints.data[index].torque : tpZeroVec3();
}
