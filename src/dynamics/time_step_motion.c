// How a step moves bodies: the drift with the velocities it has found, impulses before it.

#include <string.h>

#include "dynamics/motion.h"
#include "dynamics/reduced.h"
#include "dynamics/time_step.h"

void tpTimeStep_FindDrift(const tpTimeStep* step, const tpVelocity* from,
                          tpVelocity* meanVelocities, tpVelocity* atEnd) {
    const tpSystem* system = step->system;
    for (int i = 0; i < step->bodyCount; ++i) {
        meanVelocities[i] = atEnd[i] = from[i];
        if (!tpSystem_IsTumbling(system, i)) {
            continue;
        }
        tpQuat start = step->startPoses[i].rotation;
        tpQuat end = start;
        tpSystem_Rotate(system, i, step->h, &end, &atEnd[i].angular);
        tpVec3 turn = tpQuatLog(tpMulQQ(end, tpConjugate(start)));
        meanVelocities[i].angular = tpScale(1.0 / step->h, turn);
    }
}

void tpTimeStep_Move(const tpTimeStep* step, const tpVelocity* meanVelocities, tpPose* poses) {
    const tpSystem* system = step->system;
    for (int i = 0; i < step->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        tpPose pose = step->startPoses[i];
        if (body->inverseMass > 0.0 || body->kind == tp_kinematicBody) {
            pose.position = tpMulAdd(pose.position, step->h, meanVelocities[i].linear);
            tpQuat turn = tpQuatExp(tpScale(step->h, meanVelocities[i].angular));
            pose.rotation = tpNormalizeQuat(tpMulQQ(turn, pose.rotation));
        }
        poses[i] = pose;
    }
}

void tpTimeStep_FollowPushed(tpTimeStep* step) {
    tpTimeStep_FindDrift(step, step->pushed, step->meanVelocities, step->velocities);
}

// A body falls as in two half kicks if it goes by the mean of its velocities before and after the
// kick.
static void flyFreely(tpTimeStep* step, int body) {
    tpVec3 sum = tpAdd(step->startVelocities[body].linear, step->kicked[body].linear);
    step->meanVelocities[body].linear = tpScale(0.5, sum);
}

void tpTimeStep_FlyUntouched(tpTimeStep* step) {
    for (int i = 0; i < step->bodyCount; ++i) {
        const tpVelocity *kicked = &step->kicked[i], *pushed = &step->pushed[i];
        bool isTouched = tpLengthSquared(tpSub(pushed->linear, kicked->linear)) > 0.0 ||
                         tpLengthSquared(tpSub(pushed->angular, kicked->angular)) > 0.0;
        if (!isTouched && tpSystem_IsDynamic(step->system, i)) {
            flyFreely(step, i);
        }
    }
}

// Bodies that meet nothing and have no joint.
static void flyExactly(tpTimeStep* step) {
    memset(step->hasRow, 0, sizeof(bool) * (size_t)step->bodyCount);
    for (int b = 0; b < step->rows.blockCount; ++b) {
        int body;
        for (int k = 0; tpRows_BodyAt(&step->rows, b, k, &body); ++k) {
            if (body >= 0) {
                step->hasRow[body] = true;
            }
        }
    }
    for (int i = 0; step->reduced != NULL && i < step->reduced->linkCount; ++i) {
        step->hasRow[step->reduced->links[i].body] = true;
    }
    for (int i = 0; i < step->bodyCount; ++i) {
        if (!step->hasRow[i] && tpSystem_IsDynamic(step->system, i)) {
            flyFreely(step, i);
        }
    }
}

static void applyImpulses(tpTimeStep* step, bool isSolved) {
    if (step->bodyCount > 0) {
        memcpy(step->pushed, step->kicked, sizeof(tpVelocity) * (size_t)step->bodyCount);
    }
    if (isSolved) {
        tpRows_ApplySolved(&step->rows, step->pushed);
    } else {
        tpRows_ApplyImpulses(&step->rows, step->pushed);
    }
    tpTimeStep_FollowPushed(step);
    if (step->isFlightExact && step->bodyCount > 0) {
        flyExactly(step);
    }
}

void tpTimeStep_ApplyImpulses(tpTimeStep* step) {
    applyImpulses(step, false);
}

void tpTimeStep_ApplySolved(tpTimeStep* step) {
    applyImpulses(step, true);
}

void tpTimeStep_LineariseAtStart(tpTimeStep* step) {
    if (step->bodyCount == 0) {
        return;
    }
    tpTimeStep_FindDrift(step, step->startVelocities, step->meanVelocities, step->velocities);
    for (int i = 0; i < step->bodyCount; ++i) {
        tpVec3 start = step->startVelocities[i].angular;
        tpVec3 kick = tpSub(step->kicked[i].angular, start);
        if (tpLengthSquared(kick) > 0.0 && tpSystem_IsTumbling(step->system, i)) {
            step->freeMeanVelocities[i].angular = tpAdd(step->meanVelocities[i].angular, kick);
        }
    }
}

void tpTimeStep_LinearMeanVelocities(const tpTimeStep* step, tpVelocity* meanVelocities) {
    for (int i = 0; i < step->bodyCount; ++i) {
        tpVec3 linear = tpSub(step->pushed[i].linear, step->kicked[i].linear);
        tpVec3 angular = tpSub(step->pushed[i].angular, step->kicked[i].angular);
        meanVelocities[i] = step->freeMeanVelocities[i];
        meanVelocities[i].linear = tpAdd(meanVelocities[i].linear, linear);
        meanVelocities[i].angular = tpAdd(meanVelocities[i].angular, angular);
    }
}

void tpTimeStep_Drift(tpTimeStep* step) {
    tpSystem* system = step->system;
    if (step->bodyCount > 0) {
        memcpy(system->velocities.data, step->velocities,
               sizeof(tpVelocity) * (size_t)step->bodyCount);
    }
    tpTimeStep_Move(step, step->meanVelocities, system->poses.data);
    // Kinematic bodies go from where they were to exactly where they have to be.
    for (int i = 0; i < step->bodyCount; ++i) {
        if (system->bodies.data[i].kind == tp_kinematicBody) {
            system->poses.data[i] = step->startPoses[i];
        }
    }
    tpSystem_MoveKinematic(system, system->time, step->h);
}

static tpVec3 halfWay(tpVec3 a, tpVec3 b) {
    return tpScale(0.5, tpAdd(a, b));
}

// Velocity of a body's surface at a contact half way through the drift; `start` and `end` are the
// contact's points on it.
static tpVec3 surfaceVelocity(const tpTimeStep* step, int body, tpVec3 start, tpVec3 end) {
    const tpPose* poses = step->system->poses.data;
    const tpVelocity *first = &step->pushed[body], *last = &step->system->velocities.data[body];
    tpVec3 arm =
        halfWay(tpSub(start, step->startPoses[body].position), tpSub(end, poses[body].position));
    return tpAdd(halfWay(first->linear, last->linear),
                 tpCross(halfWay(first->angular, last->angular), arm));
}

tpVec3 tpTimeStep_SlipHalfWay(const tpTimeStep* step, const tpContact* start,
                              const tpContact* end) {
    return tpSub(surfaceVelocity(step, start->bodyA, start->pointA, end->pointA),
                 surfaceVelocity(step, start->bodyB, start->pointB, end->pointB));
}

double tpTimeStep_LargestChange(const tpTimeStep* step, const tpVelocity* a, const tpVelocity* b) {
    double change = 0.0;
    for (int i = 0; i < step->bodyCount; ++i) {
        double size = 1.0 + tpLength(b[i].linear) + tpLength(b[i].angular);
        double difference = tpDistanceBetween(a[i].linear, b[i].linear) +
                            tpDistanceBetween(a[i].angular, b[i].angular);
        change = fmax(change, difference / size);
    }
    return change;
}
