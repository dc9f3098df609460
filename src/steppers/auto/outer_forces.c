#include "steppers/auto/outer_forces.h"

#include "dynamics/forces.h"
#include "dynamics/motion.h"

static bool actsAt(const tpForce* force, double time) {
    return force->isLive && force->def.from <= time && time < force->def.to;
}

static bool isDamped(const tpBody* body) {
    return body->linearDamping > 0.0 || body->angularDamping > 0.0;
}

static bool concerns(const tpForce* force, const tpGroups* groups, int group) {
    return force->isLive && groups->ofBody[force->body] == group;
}

tpVec3 tpOuterForce_AngularMomentum(const tpSystem* system, int body) {
    tpVec3 angular = system->velocities.data[body].angular;
    if (system->isPlanar) {
        double inverse = tpSystem_InverseInertia(system, body).cz.z;
        return tpMakeVec3(0.0, 0.0, inverse > 0.0 ? angular.z / inverse : 0.0);
    }
    return tpInertia_Momentum(&system->bodies.data[body].form->inertia,
                              system->poses.data[body].rotation, angular);
}

tpWrench tpOuterForce_On(const tpSystem* system, int body, double time, double* power) {
    const tpBody* own = &system->bodies.data[body];
    const tpVelocity* velocity = &system->velocities.data[body];
    tpWrench sum = { tpZeroVec3(), tpZeroVec3() };
    for (int i = 0; i < system->forces.count; ++i) {
        const tpForce* force = &system->forces.data[i];
        if (force->body == body && actsAt(force, time)) {
            tpWrench wrench = tpForce_Wrench(system, force);
            tpWrench_Add(&sum, 1.0, &wrench);
        }
    }
    if (isDamped(own)) {
        sum.linear = tpMulAdd(sum.linear, -own->linearDamping * own->mass, velocity->linear);
        sum.angular =
            tpMulAdd(sum.angular, -own->angularDamping, tpOuterForce_AngularMomentum(system, body));
    }
    if (system->isPlanar) {
        sum.linear.z = sum.angular.x = sum.angular.y = 0.0;
    }
    *power = tpWrench_Power(&sum, velocity);
    sum.linear = tpMulAdd(sum.linear, own->mass, tpSystem_Gravity(system, body));
    return sum;
}

// Whether the group touches the body or hangs on it.
static bool isBeside(const tpSystem* system, const tpGroups* groups, int group, int body) {
    for (int i = 0; i < groups->contactCount; ++i) {
        int a = groups->contacts[i].bodyA, b = groups->contacts[i].bodyB;
        if ((a == body && groups->ofBody[b] == group) ||
            (b == body && groups->ofBody[a] == group)) {
            return true;
        }
    }
    for (int i = 0; i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        int a = joint->bodyA, b = joint->bodyB;
        if (joint->isLive && ((a == body && b >= 0 && groups->ofBody[b] == group) ||
                              (b == body && a >= 0 && groups->ofBody[a] == group))) {
            return true;
        }
    }
    return false;
}

// When a body beside the group next comes to a keyframe, where its velocity jumps.
static double nextKeyframe(const tpSystem* system, const tpGroups* groups, int group, double time) {
    double until = INFINITY;
    for (int i = 0; system->mayMoveAsTold && i < system->bodyCount; ++i) {
        const tpBody* body = &system->bodies.data[i];
        if (body->isLive && body->keyframes != NULL && !body->hasTarget) {
            double next = tpKeyframes_NextTime(body->keyframes, body->keyframeCount, time);
            until = next < until && isBeside(system, groups, group, i) ? next : until;
        }
    }
    return until;
}

double tpOuterForce_Until(const tpSystem* system, const tpGroups* groups, int group, double time) {
    double until = nextKeyframe(system, groups, group, time);
    for (int i = 0; groups->areForced[group] && i < system->forces.count; ++i) {
        const tpForce* force = &system->forces.data[i];
        if (concerns(force, groups, group)) {
            until = force->def.from > time ? fmin(until, force->def.from) : until;
            until = force->def.to > time ? fmin(until, force->def.to) : until;
        }
    }
    return until;
}

static bool hasMedium(const tpSystem* system, const tpGroups* groups, int group) {
    for (int i = 0; system->mayDamp && i < system->bodyCount; ++i) {
        if (groups->ofBody[i] == group && isDamped(&system->bodies.data[i])) {
            return true;
        }
    }
    return false;
}

bool tpOuterForce_IsThere(const tpSystem* system, const tpGroups* groups, int group) {
    return groups->areForced[group] || hasMedium(system, groups, group);
}

bool tpOuterForce_Impulse(const tpSystem* system, int body, double time, double h,
                          tpVec3* impulse) {
    bool isEven = !isDamped(&system->bodies.data[body]);
    *impulse = tpZeroVec3();
    for (int i = 0; i < system->forces.count; ++i) {
        const tpForce* force = &system->forces.data[i];
        if (force->body == body && actsAt(force, time + 0.5 * h)) {
            isEven = isEven && force->def.frame == tp_worldFrame;
            *impulse = tpMulAdd(*impulse, h, force->def.force);
        }
    }
    return isEven;
}
