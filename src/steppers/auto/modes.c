#include "steppers/auto/modes.h"

#include "dynamics/contact_info.h"
#include "dynamics/joint_laws.h"
#include "dynamics/joint_types.h"
#include "dynamics/joints.h"

// In units of speed: slower joints and slips are at rest, and motors that lack less have come to
// their speed.
static const double slowestPart = 1e-9, slowestSlip = 1e-6, heldRate = 1e-5;

// Of an effort, and in units of the coordinate: servos that want less more than they can give, and
// joints nearer to a limit, are at the edge.
static const double edge = 1e-9, limitEdge = 1e-7;

// The cosine of the angle by which the direction of a slip may turn in a step.
static const double leastCosine = 0.5;

static bool concerns(const tpGroups* groups, int group, const tpJoint* joint) {
    return joint->isLive && ((joint->bodyA >= 0 && groups->ofBody[joint->bodyA] == group) ||
                             (joint->bodyB >= 0 && groups->ofBody[joint->bodyB] == group));
}

// 1 or 2: the number is above or below the edges -most and most. 0: it is within.
static unsigned sideOf(double number, double most) {
    return number > most ? 1u : number < -most ? 2u : 0u;
}

static uint64_t addMode(uint64_t number, unsigned mode) {
    return number * 3u + mode + 1u;
}

static uint64_t addCoordinate(uint64_t number, const tpSystem* system, const tpJoint* joint,
                              int coordinate) {
    const tpCoordinateDef* def = &joint->coordinates[coordinate].def;
    bool hasServo = def->hasServo && isfinite(def->servo.effort);
    if (!(def->friction > 0.0) && !hasServo && !def->hasMotor && !def->hasLimits) {
        return number;
    }
    tpJointPlace place = tpJoint_Place(joint, system->poses.data);
    tpJointRow row = tpJoint_CoordinateRow(joint, &place, coordinate);
    double rate = tpJointRow_Speed(joint, &row, system->velocities.data);
    bool isSlide = joint->coordinates[coordinate].kind == tp_slideAxis;
    double unit = tpUnits_OfRate(&system->units, isSlide);
    if (def->friction > 0.0) {
        number = addMode(number, sideOf(rate, slowestPart * unit));
    }
    if (hasServo) {
        const tpServo* servo = &def->servo;
        double wanted =
            servo->stiffness * (servo->target - row.error) + servo->damping * (servo->speed - rate);
        number = addMode(number, sideOf(wanted, servo->effort * (1.0 + edge)));
    }
    if (def->hasMotor) {
        double lack = def->motor.speed - rate;
        number = addMode(number, sideOf(lack, heldRate * unit));
    }
    if (def->hasLimits) {
        double near = limitEdge * tpUnits_OfValue(&system->units, isSlide);
        bool isLow = row.error < def->limits[0] + near;
        bool isHigh = row.error > def->limits[1] - near;
        number = addMode(number, isLow ? 2u : isHigh ? 1u : 0u);
    }
    return number;
}

uint64_t tpModes_OfJoints(const tpSystem* system, const tpGroups* groups, int group) {
    uint64_t number = 0;
    for (int i = 0; groups->jointCounts[group] > 0 && i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        for (int k = 0; concerns(groups, group, joint) && k < joint->coordinateCount; ++k) {
            number = addCoordinate(number, system, joint, k);
        }
    }
    return number;
}

bool tpModes_AreAtLimit(const tpSystem* system, const tpGroups* groups, int group) {
    for (int i = 0; groups->jointCounts[group] > 0 && i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        for (int k = 0; concerns(groups, group, joint) && k < joint->coordinateCount; ++k) {
            if (joint->coordinates[k].limitEffort != 0.0) {
                return true;
            }
        }
    }
    return false;
}

// The velocity of the point of a body where it touches.
static tpVec3 velocityAt(const tpSystem* system, int body, const tpVelocity* velocities,
                         tpVec3 point) {
    tpVec3 arm = tpSub(point, system->poses.data[body].position);
    return tpAdd(velocities[body].linear, tpCross(velocities[body].angular, arm));
}

static tpVec3 slipOf(const tpContactInfo* info, const tpSystem* system,
                     const tpVelocity* velocities) {
    tpVec3 a = velocityAt(system, tpContactInfo_BodyA(info), velocities, info->point);
    tpVec3 b = velocityAt(system, tpContactInfo_BodyB(info), velocities, info->point);
    tpVec3 slip = tpSub(a, b);
    return tpMulAdd(slip, -tpDot(slip, info->normal), info->normal);
}

double tpModes_SpeedApart(const tpContactInfo* info, const tpSystem* system) {
    const tpVelocity* velocities = system->velocities.data;
    tpVec3 a = velocityAt(system, tpContactInfo_BodyA(info), velocities, info->point);
    tpVec3 b = velocityAt(system, tpContactInfo_BodyB(info), velocities, info->point);
    return tpDot(tpSub(a, b), info->normal);
}

bool tpModes_HasSlipTurned(const tpTally* tally, const tpSystem* system, const tpVelocity* starts) {
    double least = slowestSlip * system->units.speed;
    for (int i = 0; i < tally->count; ++i) {
        const tpContactInfo* info = &tally->list[i];
        if (info->state != tp_sliding || !(info->normalImpulse > 0.0)) {
            continue;
        }
        tpVec3 first = slipOf(info, system, starts);
        tpVec3 last = slipOf(info, system, system->velocities.data);
        double sizes = tpLength(first) * tpLength(last);
        if (sizes > least * least && tpDot(first, last) < leastCosine * sizes) {
            return true;
        }
    }
    return false;
}
