// Bodies that hang on one side of a joint, and their motion as one.
//
// Without the joint, the side of B reaches a set of bodies through other joints. If that set has
// neither A nor anything that stands by itself (the world, fixed and kinematic bodies), it can be
// moved as a rigid whole without any other joint noticing. Otherwise the side of A is tried.
// Springs and gears hold nothing together here.

#include "world/hanging.h"

#include <string.h>

#include "base/error.h"
#include "dynamics/joint_types.h"

typedef struct Hanging {
    tpWorld* world;
    bool* isIn;    // of each body
    bool hangsOnB; // otherwise the set is on A's side, and moves the other way
    tpArenaMark mark;
} Hanging;

static bool links(const tpJoint* joint) {
    return joint->isLive && joint->type != tp_springJoint && joint->type != tp_gearJoint;
}

// Bodies that `start` reaches without the joint. False if one of them stands by itself, or the
// set comes round to `other`.
static bool reach(const tpSystem* system, const tpJoint* without, int start, int other,
                  bool* isIn) {
    memset(isIn, 0, sizeof(bool) * (size_t)system->bodyCount);
    if (!tpSystem_IsDynamic(system, start)) {
        return false;
    }
    isIn[start] = true;
    bool isGrowing = true;
    // Joints mostly come in the order in which bodies hang on each other: a few rounds find all.
    for (bool isForward = true; isGrowing; isForward = !isForward) {
        isGrowing = false;
        for (int k = 0; k < system->joints.count; ++k) {
            int i = isForward ? k : system->joints.count - 1 - k;
            const tpJoint* joint = &system->joints.data[i];
            if (joint == without || !links(joint)) {
                continue;
            }
            bool hasA = joint->bodyA >= 0 && isIn[joint->bodyA];
            bool hasB = joint->bodyB >= 0 && isIn[joint->bodyB];
            if (hasA == hasB) {
                continue;
            }
            int next = hasA ? joint->bodyB : joint->bodyA;
            if (next == other || !tpSystem_IsDynamic(system, next)) {
                return false;
            }
            isIn[next] = true;
            isGrowing = true;
        }
    }
    return true;
}

static tpResult findHanging(tpWorld* world, const tpJoint* joint, Hanging* hanging,
                            tpError* error) {
    tpSystem* system = &world->system;
    hanging->world = world;
    hanging->mark = tpArena_Mark(&system->arena);
    hanging->isIn = TP_SCRATCH(&system->arena, bool, system->bodyCount);
    if (hanging->isIn == NULL) {
        return tpError_OutOfMemory(error);
    }
    hanging->hangsOnB = reach(system, joint, joint->bodyB, joint->bodyA, hanging->isIn);
    if (!hanging->hangsOnB && !reach(system, joint, joint->bodyA, joint->bodyB, hanging->isIn)) {
        return tpError_Set(error, tp_unsupported,
                           "the coordinate cannot be set alone: neither side of the joint hangs on "
                           "it alone (a closed loop, or nothing that can move)");
    }
    return tp_success;
}

// Velocity that bodies of a rigid whole with these velocities have at a place.
static tpVelocity fieldAt(const tpVelocity* velocity, tpVec3 center, tpVec3 place) {
    tpVelocity field = *velocity;
    field.linear = tpAdd(velocity->linear, tpCross(velocity->angular, tpSub(place, center)));
    return field;
}

static bool isFiniteMotion(const tpPose* pose, const tpVelocity* velocity) {
    const tpQuat q = pose->rotation;
    return tpIsFiniteVec3(pose->position) && isfinite(q.w + q.x + q.y + q.z) &&
           tpIsFiniteVec3(velocity->linear) && tpIsFiniteVec3(velocity->angular);
}

// Moves the set so that `root` comes to the pose and velocity given; what moves relative to the
// root goes on doing so. Nothing has moved if a number were not finite.
static tpResult moveWhole(const Hanging* hanging, int root, tpPose pose, const tpVelocity* velocity,
                          tpError* error) {
    tpSystem* system = &hanging->world->system;
    tpPose* poses = TP_SCRATCH(&system->arena, tpPose, system->bodyCount);
    tpVelocity* velocities = TP_SCRATCH(&system->arena, tpVelocity, system->bodyCount);
    if (poses == NULL || velocities == NULL) {
        return tpError_OutOfMemory(error);
    }
    tpPose oldPose = system->poses.data[root];
    tpVelocity old = system->velocities.data[root];
    tpQuat turn = tpMulQQ(pose.rotation, tpConjugate(oldPose.rotation));
    for (int i = 0; i < system->bodyCount; ++i) {
        if (!hanging->isIn[i]) {
            continue;
        }
        const tpPose* own = &system->poses.data[i];
        const tpVelocity* moves = &system->velocities.data[i];
        tpVelocity before = fieldAt(&old, oldPose.position, own->position);
        tpVec3 linear = tpRotate(turn, tpSub(moves->linear, before.linear));
        tpVec3 angular = tpRotate(turn, tpSub(moves->angular, before.angular));
        tpVec3 arm = tpRotate(turn, tpSub(own->position, oldPose.position));
        poses[i].position = tpAdd(pose.position, arm);
        poses[i].rotation = tpNormalizeQuat(tpMulQQ(turn, own->rotation));
        velocities[i] = fieldAt(velocity, pose.position, poses[i].position);
        velocities[i].linear = tpAdd(velocities[i].linear, linear);
        velocities[i].angular = tpAdd(velocities[i].angular, angular);
        if (!isFiniteMotion(&poses[i], &velocities[i])) {
            return tpError_Set(
                error, tp_badInput,
                "the coordinate cannot be set: a body would move beyond all numbers");
        }
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        if (hanging->isIn[i]) {
            system->poses.data[i] = poses[i];
            tpSystem_SetVelocity(system, i, velocities[i].linear, velocities[i].angular);
            tpSystem_Disturb(system, i);
        }
    }
    system->poses.data[root] = pose; // to the bit
    return tp_success;
}

static tpVelocity velocityOrWorld(const tpSystem* system, int body) {
    tpVelocity none;
    memset(&none, 0, sizeof(none));
    return body >= 0 ? system->velocities.data[body] : none;
}

// Motion of B relative to A by the rates of a chain: angular velocity, and velocity of B's anchor.
static void relativeMotion(const tpJointPlace* place, const double* rates, tpVec3* angular,
                           tpVec3* linear) {
    *angular = *linear = tpZeroVec3();
    for (int i = 0; i < place->chain.turnCount; ++i) {
        const tpChainAxis* turn = &place->chain.turns[i];
        *angular = tpMulAdd(*angular, rates[turn->coordinate], turn->axis);
        *linear = tpMulAdd(*linear, rates[turn->coordinate], turn->lever);
    }
    for (int j = 0; j < place->chain.slideCount; ++j) {
        const tpChainAxis* slide = &place->chain.slides[j];
        *linear = tpMulAdd(*linear, rates[slide->coordinate], slide->axis);
    }
}

// The same for a screw, which slides as it turns.
static void addLead(const tpJoint* joint, const tpJointPlace* place, const double* rates,
                    tpVec3* linear) {
    if (joint->type == tp_screwJoint) {
        double lead = joint->def.pitch / 6.283185307179586477;
        *linear = tpMulAdd(*linear, lead * rates[0], place->axisA);
    }
}

// The pose and velocity of the root of the set, if the chain has these displacements and rates.
static tpResult placeRoot(const Hanging* hanging, const tpJoint* joint, const double* displacements,
                          const double* rates, tpError* error) {
    tpSystem* system = &hanging->world->system;
    int root = hanging->hangsOnB ? joint->bodyB : joint->bodyA;
    tpPose a = tpPoseOrWorld(system->poses.data, joint->bodyA);
    tpPose b = tpPoseOrWorld(system->poses.data, joint->bodyB);
    tpPose pose = tpJoint_PoseOfB(joint, a, displacements);
    if (!hanging->hangsOnB) {
        // B stays: A comes to where B would have its present pose.
        tpPose relative = tpComposePoses(tpInversePose(a), pose);
        pose = tpComposePoses(b, tpInversePose(relative));
        pose.rotation = tpNormalizeQuat(pose.rotation);
    }
    // The chain at its new place, to turn rates into velocities.
    tpPose kept = system->poses.data[root];
    system->poses.data[root] = pose;
    tpJointPlace place = tpJoint_Place(joint, system->poses.data);
    system->poses.data[root] = kept;
    tpVec3 angular, linear;
    relativeMotion(&place, rates, &angular, &linear);
    addLead(joint, &place, rates, &linear);
    tpVelocity velocity;
    if (hanging->hangsOnB) {
        tpVelocity base = velocityOrWorld(system, joint->bodyA);
        velocity = fieldAt(&base, place.centerA, place.pointB);
        velocity.angular = tpAdd(velocity.angular, angular);
        velocity.linear = tpAdd(velocity.linear, linear);
    } else {
        tpVelocity base = velocityOrWorld(system, joint->bodyB);
        velocity = fieldAt(&base, place.centerB, place.pointB);
        velocity.angular = tpSub(velocity.angular, angular);
        velocity.linear = tpSub(velocity.linear, linear);
    }
    velocity = fieldAt(&velocity, place.pointB, pose.position);
    return moveWhole(hanging, root, pose, &velocity, error);
}

// The distance of two points: B moves along it. The swing of a ball joint: B turns about the normal
// of both axes.
static tpResult placeOther(const Hanging* hanging, const tpJoint* joint, double change,
                           tpError* error) {
    tpSystem* system = &hanging->world->system;
    int root = hanging->hangsOnB ? joint->bodyB : joint->bodyA;
    tpJointPlace place = tpJoint_Place(joint, system->poses.data);
    tpJointRow row = tpJoint_CoordinateRow(joint, &place, 0);
    double way = hanging->hangsOnB ? change : -change;
    tpPose pose = system->poses.data[root];
    tpVelocity velocity = system->velocities.data[root];
    if (joint->type == tp_ballJoint) {
        tpQuat turn = tpQuatExp(tpScale(way, row.onB.angular));
        tpVec3 arm = tpRotate(turn, tpSub(pose.position, place.pointA));
        tpVelocity other = velocityOrWorld(system, hanging->hangsOnB ? joint->bodyA : joint->bodyB);
        tpVec3 still =
            fieldAt(&other, hanging->hangsOnB ? place.centerA : place.centerB, place.pointA).linear;
        tpVec3 spin = tpRotate(turn, tpSub(velocity.angular, other.angular));
        pose.rotation = tpNormalizeQuat(tpMulQQ(turn, pose.rotation));
        pose.position = tpAdd(place.pointA, arm);
        velocity.angular = tpAdd(other.angular, spin);
        velocity.linear = tpAdd(still, tpCross(velocity.angular, arm));
    } else {
        pose.position = tpMulAdd(pose.position, way, row.onB.linear);
    }
    return moveWhole(hanging, root, pose, &velocity, error);
}

static tpResult checkValue(const tpJoint* joint, double value, tpError* error) {
    bool isSwing = joint->type == tp_ballJoint;
    if ((isSwing && !(value >= 0.0 && value <= 3.14159265358979323846)) ||
        (!isSwing && !tpJointType_IsChain(joint->type) && !(value >= 0.0))) {
        return tpError_Set(error, tp_badInput, "value %.9g is no %s", value,
                           isSwing ? "angle between two axes" : "distance");
    }
    return tp_success;
}

tpResult tpWorld_CheckCoordinateSpeed(tpWorld* world, const tpJoint* joint, tpError* error) {
    Hanging hanging;
    tpResult result = findHanging(world, joint, &hanging, error);
    tpArena_Release(&world->system.arena, hanging.mark);
    return result;
}

tpResult tpWorld_CheckCoordinateValue(tpWorld* world, const tpJoint* joint, double value,
                                      tpError* error) {
    tpResult result = checkValue(joint, value, error);
    return result == tp_success ? tpWorld_CheckCoordinateSpeed(world, joint, error) : result;
}

tpResult tpWorld_SetCoordinateValue(tpWorld* world, tpJoint* joint, int coordinate, double value,
                                    tpError* error) {
    tpSystem* system = &world->system;
    tpCoordinate* own = &joint->coordinates[coordinate];
    tpJointPlace place = tpJoint_Place(joint, system->poses.data);
    double now = tpJoint_CoordinateRow(joint, &place, coordinate).error;
    if (value == now) {
        return tp_success;
    }
    if (checkValue(joint, value, error) != tp_success) {
        return tp_badInput;
    }
    Hanging hanging;
    tpResult result = findHanging(world, joint, &hanging, error);
    if (result == tp_success && tpJointType_IsChain(joint->type)) {
        double displacements[tp_maxCoordinates], rates[tp_maxCoordinates];
        tpJoint_Displacements(joint, &place, displacements);
        for (int k = 0; k < joint->coordinateCount; ++k) {
            tpJointRow row = tpJoint_CoordinateRow(joint, &place, k);
            rates[k] = tpJointRow_Speed(joint, &row, system->velocities.data);
        }
        displacements[coordinate] = value - own->def.zero;
        result = placeRoot(&hanging, joint, displacements, rates, error);
        own->displacement = result == tp_success ? value - own->def.zero : own->displacement;
    } else if (result == tp_success) {
        result = placeOther(&hanging, joint, value - now, error);
        bool isLength = result == tp_success && joint->type == tp_distanceJoint;
        joint->startLength = isLength ? value : joint->startLength;
    }
    tpArena_Release(&system->arena, hanging.mark);
    return result;
}

tpResult tpWorld_SetCoordinateSpeed(tpWorld* world, tpJoint* joint, int coordinate, double speed,
                                    tpError* error) {
    tpSystem* system = &world->system;
    tpJointPlace place = tpJoint_Place(joint, system->poses.data);
    tpJointRow row = tpJoint_CoordinateRow(joint, &place, coordinate);
    double change = speed - tpJointRow_Speed(joint, &row, system->velocities.data);
    if (change == 0.0) {
        return tp_success;
    }
    Hanging hanging;
    tpResult result = findHanging(world, joint, &hanging, error);
    if (result == tp_success) {
        tpVec3 angular = tpZeroVec3(), linear = tpZeroVec3();
        if (tpJointType_IsChain(joint->type)) {
            double rates[tp_maxCoordinates] = { 0.0 };
            rates[coordinate] = change;
            relativeMotion(&place, rates, &angular, &linear);
            addLead(joint, &place, rates, &linear);
        } else if (joint->type == tp_ballJoint) {
            angular = tpScale(change, row.onB.angular);
        } else {
            linear = tpScale(change, row.onB.linear);
        }
        int root = hanging.hangsOnB ? joint->bodyB : joint->bodyA;
        double sign = hanging.hangsOnB ? 1.0 : -1.0;
        tpPose pose = system->poses.data[root];
        tpVelocity velocity = system->velocities.data[root];
        velocity.angular = tpMulAdd(velocity.angular, sign, angular);
        tpVec3 atCenter = tpAdd(linear, tpCross(angular, tpSub(pose.position, place.pointB)));
        velocity.linear = tpMulAdd(velocity.linear, sign, atCenter);
        result = moveWhole(&hanging, root, pose, &velocity, error);
    }
    tpArena_Release(&system->arena, hanging.mark);
    return result;
}
