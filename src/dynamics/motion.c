#include "dynamics/motion.h"

void tpSystem_Drift(tpSystem* system, double h) {
    for (int i = 0; i < system->bodyCount; ++i) {
        if (!tpSystem_IsDynamic(system, i)) {
            continue;
        }
        tpPose* pose = &system->poses.data[i];
        tpVelocity* velocity = &system->velocities.data[i];
        pose->position = tpMulAdd(pose->position, h, velocity->linear);
        tpSystem_Rotate(system, i, h, &pose->rotation, &velocity->angular);
    }
}

// The first keyframe after a time; the count if there is none.
static int nextKeyframe(const tpKeyframe* keyframes, int count, double time) {
    int low = -1, high = count; // keyframes[low].time <= time < keyframes[high].time
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (keyframes[middle].time <= time) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

double tpKeyframes_NextTime(const tpKeyframe* keyframes, int count, double time) {
    int next = nextKeyframe(keyframes, count, time);
    return next < count ? keyframes[next].time : INFINITY;
}

tpPose tpKeyframes_PoseAt(const tpKeyframe* keyframes, int count, double time) {
    if (time <= keyframes[0].time) {
        return keyframes[0].pose;
    }
    if (time >= keyframes[count - 1].time) {
        return keyframes[count - 1].pose;
    }
    const tpKeyframe* b = &keyframes[nextKeyframe(keyframes, count, time)];
    const tpKeyframe* a = b - 1;
    double s = (time - a->time) / (b->time - a->time);
    tpVec3 turn = tpQuatLog(tpMulQQ(b->pose.rotation, tpConjugate(a->pose.rotation)));
    tpVec3 place = tpMulAdd(a->pose.position, s, tpSub(b->pose.position, a->pose.position));
    return tpMakePose(place, tpMulQQ(tpQuatExp(tpScale(s, turn)), a->pose.rotation));
}

// The pose of the centre of mass of a kinematic body at the end of the step.
static tpPose targetPose(const tpSystem* system, int index, double time, double h) {
    const tpBody* body = &system->bodies.data[index];
    tpPose pose = system->poses.data[index];
    if (body->hasTarget) {
        pose = *body->target;
    } else if (body->keyframes != NULL) {
        tpPose frame = tpKeyframes_PoseAt(body->keyframes, body->keyframeCount, time + h);
        pose = tpMakePose(tpTransformPoint(frame, body->center), frame.rotation);
    } else {
        const tpVelocity* velocity = &system->velocities.data[index];
        pose.position = tpMulAdd(pose.position, h, velocity->linear);
        pose.rotation =
            tpNormalizeQuat(tpMulQQ(tpQuatExp(tpScale(h, velocity->angular)), pose.rotation));
    }
    return pose;
}

static bool movesAsTold(const tpSystem* system, int index) {
    const tpBody* body = &system->bodies.data[index];
    return body->isLive && body->kind == tp_kinematicBody;
}

void tpSystem_AimKinematic(tpSystem* system, double time, double h) {
    for (int i = 0; system->mayMoveAsTold && i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        if (!movesAsTold(system, i) || (body->keyframes == NULL && !body->hasTarget)) {
            continue;
        }
        tpPose now = system->poses.data[i];
        tpPose then = targetPose(system, i, time, h);
        tpVelocity* velocity = &system->velocities.data[i];
        velocity->linear = tpScale(1.0 / h, tpSub(then.position, now.position));
        tpVec3 turn = tpQuatLog(tpMulQQ(then.rotation, tpConjugate(now.rotation)));
        velocity->angular = tpScale(1.0 / h, turn);
    }
}

void tpSystem_MoveKinematic(tpSystem* system, double time, double h) {
    for (int i = 0; system->mayMoveAsTold && i < system->bodyCount; ++i) {
        if (movesAsTold(system, i)) {
            system->poses.data[i] = targetPose(system, i, time, h);
        }
    }
}

bool tpSystem_IsReversible(const tpSystem* system) {
    bool hasJoints = false;
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        for (int k = 0; joint->isLive && k < joint->coordinateCount; ++k) {
            const tpCoordinateDef* def = &joint->coordinates[k].def;
            if (def->hasLimits || def->hasMotor || def->hasSpring || def->hasServo ||
                def->damping > 0.0 || def->friction > 0.0 || joint->coordinates[k].applied != 0.0) {
                return false;
            }
        }
        hasJoints = hasJoints || joint->isLive;
    }
    for (int i = 0; i < system->couplings.count; ++i) {
        const tpCouplingDef* def = &system->couplings.data[i].def;
        if (system->couplings.data[i].isLive &&
            (def->hasLimits || def->hasSpring || def->hasServo)) {
            return false;
        }
    }
    if (system->hasLoads) {
        return false;
    }
    for (int i = 0; i < system->forces.count; ++i) {
        if (system->forces.data[i].isLive) {
            return false;
        }
    }
    for (int i = 0; i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        bool isFree = body->kind != tp_kinematicBody && body->linearDamping == 0.0 &&
                      body->angularDamping == 0.0;
        if (body->isLive && !isFree) {
            return false;
        }
    }
    return hasJoints;
}
