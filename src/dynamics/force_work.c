#include "dynamics/force_work.h"

#include "dynamics/forces.h"
#include "dynamics/joint_types.h"
#include "dynamics/loads.h"

// Of a body between the start and the end of what acts on it.
typedef struct tpMotion {
    tpVec3 shift;       // of its centre of mass
    tpVec3 turn;        // rotation vector, world axes
    tpQuat first, last; // orientations
    tpQuat middle;
} tpMotion;

static tpQuat turnedBy(tpVec3 turn, tpQuat rotation) {
    return tpNormalizeQuat(tpMulQQ(tpQuatExp(turn), rotation));
}

static tpMotion motionOf(const tpWays* ways, int body, double h) {
    tpMotion motion;
    motion.shift = tpScale(h, ways->means[body].linear);
    motion.turn = tpScale(h, ways->means[body].angular);
    motion.first = ways->starts[body].rotation;
    motion.middle = turnedBy(tpScale(0.5, motion.turn), motion.first);
    motion.last = turnedBy(motion.turn, motion.first);
    return motion;
}

// The way that counts for a force that acts for `before` seconds of the kick before the way and
// `after` seconds of the one after it, and accelerates the centre of mass by `acceleration`.
static tpMotion motionInPart(const tpSystem* system, const tpWays* ways, int body, double before,
                             double after, tpVec3 acceleration, double h) {
    const tpVelocity *start = &ways->velocities[body], *mean = &ways->means[body];
    tpMotion motion;
    tpVec3 gain = tpScale(h - ways->kick, tpSystem_Gravity(system, body));
    gain = tpMulAdd(gain, after, acceleration);
    tpVec3 end = tpMulAdd(mean->linear, 0.5, gain);
    motion.shift = tpScale(0.5 * before, tpAdd(start->linear, mean->linear));
    motion.shift = tpMulAdd(motion.shift, after, end);
    motion.turn = tpScale(0.5 * before, tpAdd(start->angular, mean->angular));
    motion.turn = tpMulAdd(motion.turn, after, mean->angular);
    motion.first = ways->starts[body].rotation;
    motion.middle = turnedBy(tpScale(0.5, motion.turn), motion.first);
    motion.last = turnedBy(motion.turn, motion.first);
    return motion;
}

static double workOfForce(const tpSystem* system, const tpForce* force, const tpMotion* motion) {
    const tpForceDef* def = &force->def;
    tpVec3 arm = tpZeroVec3();
    if (def->hasPoint) {
        arm = tpSub(def->point, system->bodies.data[force->body].center);
    }
    if (def->frame == tp_bodyFrame) {
        tpVec3 push = tpRotate(motion->middle, def->force);
        tpVec3 twist = tpRotate(motion->middle, tpAdd(def->torque, tpCross(arm, def->force)));
        return tpDot(push, motion->shift) + tpDot(twist, motion->turn);
    }
    tpVec3 swing = tpSub(tpRotate(motion->last, arm), tpRotate(motion->first, arm));
    return tpDot(def->force, tpAdd(motion->shift, swing)) + tpDot(def->torque, motion->turn);
}

static double workOfLoad(const tpLoad* load, const tpMotion* motion) {
    // The sum of F . (R1 - R0) p over all forces, from the sums of p F'.
    const tpVec3 columns[3] = { load->lever.cx, load->lever.cy, load->lever.cz };
    tpVec3 swings[3];
    for (int k = 0; k < 3; ++k) {
        swings[k] = tpSub(tpRotate(motion->last, columns[k]), tpRotate(motion->first, columns[k]));
    }
    tpVec3 push = tpAdd(load->force, tpRotate(motion->middle, load->bodyForce));
    tpVec3 twist = tpAdd(load->torque, tpRotate(motion->middle, load->bodyTorque));
    return tpDot(push, motion->shift) + tpDot(twist, motion->turn) + swings[0].x + swings[1].y +
           swings[2].z;
}

// What one force does on the part of the way on which it acts.
static double forceOnWay(const tpSystem* system, const tpForce* force, const tpWays* ways,
                         double time, double h) {
    double from = fmax(force->def.from - time, 0.0), to = fmin(force->def.to - time, h);
    int body = force->body;
    if (!force->isLive || !tpSystem_IsDynamic(system, body) || !(to > from)) {
        return 0.0;
    }
    tpMotion motion;
    if (from == 0.0 && to == h) {
        motion = motionOf(ways, body, h);
    } else {
        double before = fmax(0.0, fmin(to, ways->kick) - from);
        double after = fmax(0.0, to - fmax(from, ways->kick));
        tpVec3 push = tpForce_Wrench(system, force).linear;
        motion = motionInPart(system, ways, body, before, after,
                              tpScale(system->bodies.data[body].inverseMass, push), h);
    }
    return workOfForce(system, force, &motion);
}

static tpPose poseAfter(const tpWays* ways, int body, double h) {
    if (body < 0) {
        return tpIdentityPose();
    }
    tpMotion motion = motionOf(ways, body, h);
    return tpMakePose(tpAdd(ways->starts[body].position, motion.shift), motion.last);
}

// How far a row's coordinate goes by the motion of bodies that move as they are told.
static double givenWay(const tpSystem* system, const tpWays* ways, const tpJoint* joint,
                       const tpJointRow* row, double h) {
    const int bodies[2] = { joint->bodyA, joint->bodyB };
    const tpWrench* sides[2] = { &row->onA, &row->onB };
    double way = 0.0;
    for (int side = 0; side < 2; ++side) {
        if (bodies[side] >= 0 && !tpSystem_IsDynamic(system, bodies[side])) {
            const tpVelocity* mean = &ways->means[bodies[side]];
            way += h * (tpDot(sides[side]->linear, mean->linear) +
                        tpDot(sides[side]->angular, mean->angular));
        }
    }
    return way;
}

// Effort times the way of the coordinate, as far as dynamic bodies go it. The effort pushes
// kinematic bodies as well, but whoever moves them as they are told bears that.
static double workOfEffort(const tpSystem* system, const tpWays* ways, const tpJoint* joint,
                           int coordinate, double h) {
    tpJointPlace places[2] = { tpJoint_Place(joint, ways->starts),
                               tpJoint_PlaceAt(joint, poseAfter(ways, joint->bodyA, h),
                                               poseAfter(ways, joint->bodyB, h)) };
    tpJointRow first = tpJoint_CoordinateRow(joint, &places[0], coordinate);
    tpJointRow last = tpJoint_CoordinateRow(joint, &places[1], coordinate);
    double given =
        0.5 * (givenWay(system, ways, joint, &first, h) + givenWay(system, ways, joint, &last, h));
    return joint->coordinates[coordinate].applied * (last.error - first.error - given);
}

static double workOfEfforts(const tpSystem* system, const tpWays* ways, double h) {
    double work = 0.0;
    for (int i = 0; system->hasEfforts && i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        for (int k = 0; joint->isLive && k < joint->coordinateCount; ++k) {
            if (joint->coordinates[k].applied != 0.0) {
                work += workOfEffort(system, ways, joint, k, h);
            }
        }
    }
    return work;
}

double tpSystem_ForceWork(const tpSystem* system, const tpWays* ways, double time, double h) {
    double work = workOfEfforts(system, ways, h);
    for (int i = 0; system->hasLoads && i < system->bodyCount; ++i) {
        const tpLoad* load = tpSystem_LoadOf(system, i);
        if (load != NULL && tpSystem_IsDynamic(system, i)) {
            tpMotion motion = motionOf(ways, i, h);
            work += workOfLoad(load, &motion);
        }
    }
    for (int k = 0; k < system->forces.count; ++k) {
        work += forceOnWay(system, &system->forces.data[k], ways, time, h);
    }
    return work;
}
