#include "dynamics/joint_laws.h"

#include "dynamics/couplings.h"

// A limit this near counts as reached, in units of length, or rad.
static const double limitReached = 1e-9;

// The row that sets the load of a bounded force has at most this for a velocity, in units of speed.
static const double loadSpeed = 1.0;

// Rows of a coordinate ---------------------------------------------------------------------------

int tpJoint_OwnRows(const tpJoint* joint, const tpJointPlace* place, const tpJointRow* row,
                    tpJointRow list[3]) {
    if (joint->type != tp_ballJoint) {
        list[0] = *row;
        return 1;
    }
    const tpVec3 axes[3] = { place->axisA, place->sideA, place->thirdA };
    for (int k = 0; k < 3; ++k) {
        list[k].onB.linear = tpZeroVec3();
        list[k].onB.angular = axes[k];
        list[k].onA = tpNegativeWrench(list[k].onB);
        list[k].error = 0.0;
    }
    return 3;
}

void tpJoint_CountLaws(const tpJoint* joint, int* blocks, int* rows) {
    int turns = joint->type == tp_ballJoint ? 3 : 1;
    for (int i = 0; i < joint->coordinateCount; ++i) {
        const tpCoordinateDef* def = &joint->coordinates[i].def;
        int limits = def->hasLimits ? 2 : 0, springs = def->hasSpring ? 1 : 0;
        int drives = (def->hasServo ? 1 : 0) + (def->hasMotor ? 1 : 0);
        int frictions = def->friction > 0.0 ? turns : 0;
        int inertias = (def->damping > 0.0 ? turns : 0) + (def->armature > 0.0 ? turns : 0);
        *blocks += limits + springs + drives + frictions + inertias;
        *rows += limits + springs + 2 * drives + 2 * frictions + inertias;
    }
}

static tpLawRow lawRowOf(const tpJoint* joint, const tpJointRow* row) {
    return (tpLawRow){ joint->bodyA, joint->bodyB, *row, 0, NULL, NULL };
}

// Directions of a row.
static void setRow(tpRows* rows, const tpSystem* system, int block, int k, const tpLawRow* row,
                   double sign) {
    bool isPositive = sign > 0.0;
    if (isPositive) {
        tpRows_WriteRow(rows, rows->firstRows[block] + k, &row->row.onA, &row->row.onB);
    } else {
        tpRows_SetRow(rows, block, k, tpNegativeWrench(row->row.onA),
                      tpNegativeWrench(row->row.onB));
    }
    for (int i = 0; i < row->moreCount; ++i) {
        tpRows_AddTerm(rows, system, block, k, row->moreBodies[i],
                       isPositive ? row->more[i] : tpNegativeWrench(row->more[i]));
    }
}

void tpLawRow_Place(tpRows* rows, const tpSystem* system, int block, int k, const tpLawRow* row,
                    double sign, const tpJointTreatment* treatment) {
    setRow(rows, system, block, k, row, sign);
    int index = rows->firstRows[block] + k;
    rows->bias[index] = treatment->gain * sign * row->row.error / treatment->h;
    if (treatment->linearised != NULL) {
        rows->bias[index] -=
            tpRows_RowVelocity(rows, index, treatment->linearised, row->bodyA, row->bodyB);
    }
}

// An impulse of at most `limit` that drives the row's velocity, bias and compliance included, to
// zero. Returns the row.
static int addBounded(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row,
                      double limit) {
    info.source = tp_boundedSource;
    int block = tpRows_AddBlock(rows, system, info, tp_frictionCone, 2, row->bodyA, row->bodyB);
    int first = rows->firstRows[block];
    rows->mu[block] = 1.0;
    setRow(rows, system, block, 1, row, 1.0);
    // The load is the limit; scaled so that strong motors have no large numbers among the
    // velocities, in units of speed and mass.
    double scale = rows->scale[first] = rows->scale[first + 1];
    double mass = scale * scale * system->units.mass;
    double load = scale * limit / (mass * system->units.speed);
    rows->compliance[first] = loadSpeed / (loadSpeed + load) / mass;
    rows->bias[first] = -limit * rows->compliance[first];
    rows->impulse[first] = limit; // solvers start from what is known
    return first + 1;
}

int tpLawRow_AddFree(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row) {
    int block = tpRows_OpenBlock(rows, system, info, tp_frictionFree, 1, row->bodyA, row->bodyB);
    setRow(rows, system, block, 0, row, 1.0);
    return rows->firstRows[block];
}

void tpLawRow_AddHeld(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row,
                      const tpJointTreatment* treatment) {
    int block = tpRows_OpenBlock(rows, system, info, tp_frictionFree, 1, row->bodyA, row->bodyB);
    tpLawRow_Place(rows, system, block, 0, row, 1.0, treatment);
}

void tpLawRow_AddForce(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row,
                       const tpForceLaw* law, const tpJointTreatment* treatment, double part,
                       bool isHalf) {
    double theta = treatment->theta > 0.0 ? treatment->theta : 1.0;
    double duration = part * treatment->h, lag = isHalf ? duration : theta * treatment->h;
    if (!(tpForceLaw_Soften(law, duration, lag, 0.0).stiffness > 0.0)) {
        return;
    }
    bool isBounded = isfinite(law->limit);
    int k = isBounded ? addBounded(rows, system, info, row, duration * law->limit)
                      : tpLawRow_AddFree(rows, system, info, row);
    double stretch = row->row.error - law->rest;
    if (treatment->linearised != NULL) {
        // The value is that at the poses given; the row counts from the start of the step.
        stretch -= treatment->h *
                   tpRows_RowVelocity(rows, k, treatment->linearised, row->bodyA, row->bodyB);
    }
    tpSoftLaw soft = tpForceLaw_Soften(law, duration, lag, stretch);
    rows->compliance[k] = 1.0 / soft.stiffness;
    rows->damping[k] = soft.damping;
    rows->bias[k] = soft.bias;
}

// What errors of a row count in: 1 of turns, the unit of length of ways.
static double errorUnit(const tpSystem* system, const tpLawRow* row) {
    bool isWay =
        tpLengthSquared(row->row.onA.linear) > 0.0 || tpLengthSquared(row->row.onB.linear) > 0.0;
    for (int i = 0; i < row->moreCount; ++i) {
        isWay = isWay || tpLengthSquared(row->more[i].linear) > 0.0;
    }
    return isWay ? system->units.length : 1.0;
}

// The effort of the limits of a coordinate or coupling, positive for the lower one.
static double limitEffort(const tpSystem* system, const tpBlockInfo* info) {
    return info->isCoupling
               ? system->couplings.data[info->index].limitEffort
               : system->joints.data[info->index].coordinates[info->coordinate].limitEffort;
}

// On velocities alone a limit acts if it has been reached. As with contacts, a limit that has
// pushed in the drift is reached: the solve leaves it room of its tolerance. Without its row the
// second half of the step would let go of what rests on it.
static bool isReached(const tpSystem* system, const tpBlockInfo* info, const tpLawRow* row,
                      double room, const tpJointTreatment* treatment) {
    double effort = treatment->isAfterDrift ? limitEffort(system, info) : 0.0;
    bool hasPushed = info->part == 0 ? effort > 0.0 : effort < 0.0;
    return hasPushed || !(room > limitReached * errorUnit(system, row));
}

void tpLawRow_AddLimits(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row,
                        const double limits[2], const tpJointTreatment* treatment) {
    info.role = tp_limitRole;
    for (int side = 0; side < 2; ++side) {
        if (!isfinite(limits[side])) {
            continue;
        }
        tpLawRow limit = *row;
        limit.row.error -= limits[side];
        double room = side == 0 ? limit.row.error : -limit.row.error;
        info.part = side;
        if (treatment->gain == 0.0 && !isReached(system, &info, row, room, treatment)) {
            continue;
        }
        int block =
            tpRows_OpenBlock(rows, system, info, tp_frictionNonnegative, 1, row->bodyA, row->bodyB);
        tpLawRow_Place(rows, system, block, 0, &limit, side == 0 ? 1.0 : -1.0, treatment);
    }
}

static void addServo(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row,
                     const tpCoordinate* coordinate, const tpJointTreatment* treatment,
                     bool isHalf) {
    const tpServo* servo = &coordinate->def.servo;
    info.role = tp_servoRole;
    tpForceLaw law = { servo->stiffness, servo->damping, servo->target, servo->speed,
                       servo->effort };
    tpLawRow_AddForce(rows, system, info, row, &law, treatment,
                      isHalf ? coordinate->servoShare : 1.0, isHalf);
}

// Springs, servo and damping.
static void addForces(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row,
                      const tpLawRow* own, int ownCount, const tpJointTreatment* treatment,
                      tpLawRows laws) {
    const tpCoordinate* coordinate = &system->joints.data[info.index].coordinates[info.coordinate];
    const tpCoordinateDef* def = &coordinate->def;
    bool isHalf = laws == tp_firstHalfLaws;
    if (def->hasSpring) {
        info.role = tp_springRole;
        tpForceLaw law = { def->spring.stiffness, def->spring.damping, def->spring.rest, 0.0,
                           INFINITY };
        tpLawRow_AddForce(rows, system, info, row, &law, treatment,
                          isHalf ? coordinate->springShare : 1.0, isHalf);
    }
    if (def->hasServo) {
        addServo(rows, system, info, row, coordinate, treatment, isHalf);
    }
    if (def->damping > 0.0) {
        info.role = tp_damperRole;
        tpForceLaw law = { 0.0, def->damping, 0.0, 0.0, INFINITY };
        for (int k = 0; k < ownCount; ++k) {
            info.part = k;
            tpLawRow_AddForce(rows, system, info, &own[k], &law, treatment,
                              isHalf ? coordinate->damperShare : 1.0, isHalf);
        }
    }
}

// A rotor of inertia a that moves with the coordinate: its speed s changes by -r / a, and the row
// is the coordinate's rate less that speed. Of a coordinate that is a turn or a slide the position
// is held too.
static void addRotor(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* own,
                     int ownCount, const tpJointTreatment* treatment) {
    const tpJoint* joint = &system->joints.data[info.index];
    const tpCoordinate* coordinate = &joint->coordinates[info.coordinate];
    double theta = treatment->theta > 0.0 ? treatment->theta : 1.0;
    info.role = joint->type == tp_ballJoint ? tp_turnRotorRole : tp_rotorRole;
    for (int k = 0; k < ownCount; ++k) {
        tpLawRow row = own[k];
        row.row.error -= coordinate->startValue;
        info.part = k;
        tpLawRow_AddHeld(rows, system, info, &row, treatment);
        int index = rows->rowCount - 1;
        rows->compliance[index] = theta / coordinate->def.armature;
        rows->rotor[index] = coordinate->rotorSpeed[k];
        rows->bias[index] -= coordinate->rotorSpeed[k];
    }
}

static bool isLawless(const tpCoordinateDef* def) {
    return !def->hasLimits && !def->hasSpring && !def->hasServo && !def->hasMotor &&
           def->damping == 0.0 && def->friction == 0.0 && def->armature == 0.0;
}

static void addLimits(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row,
                      const tpJointTreatment* treatment) {
    const tpJoint* joint = &system->joints.data[info.index];
    const tpCoordinateDef* def = &joint->coordinates[info.coordinate].def;
    if (def->hasLimits) {
        bool meetsLow = tpCoordinate_MeetsLimit(joint, info.coordinate, 0);
        const double limits[2] = { meetsLow ? def->limits[0] : -INFINITY, def->limits[1] };
        tpLawRow_AddLimits(rows, system, info, row, limits, treatment);
    }
}

// Motor and dry friction.
static void addDrives(tpRows* rows, const tpSystem* system, tpBlockInfo info, const tpLawRow* row,
                      const tpLawRow* own, int ownCount, const tpJointTreatment* treatment) {
    const tpCoordinateDef* def = &system->joints.data[info.index].coordinates[info.coordinate].def;
    double motor = def->hasMotor ? treatment->duration * def->motor.effort : 0.0;
    if (motor > 0.0) {
        info.role = tp_motorRole;
        int k = addBounded(rows, system, info, row, motor);
        rows->bias[k] = -def->motor.speed;
    }
    double friction = treatment->duration * def->friction;
    for (int k = 0; friction > 0.0 && k < ownCount; ++k) {
        info.role = tp_frictionRole;
        addBounded(rows, system, info, &own[k], friction);
    }
}

static void addLaws(tpRows* rows, const tpSystem* system, int index, int number,
                    const tpLawRow* row, const tpLawRow* own, int ownCount,
                    const tpJointTreatment* treatment, tpLawRows laws) {
    const tpCoordinateDef* def = &system->joints.data[index].coordinates[number].def;
    tpBlockInfo info = { .source = tp_jointSource, .index = index, .coordinate = number };
    addLimits(rows, system, info, row, treatment);
    if (laws != tp_noLaws) {
        addForces(rows, system, info, row, own, ownCount, treatment, laws);
    }
    addDrives(rows, system, info, row, own, ownCount, treatment);
    if (def->armature > 0.0) {
        addRotor(rows, system, info, own, ownCount, treatment);
    }
}

// How far a ball joint has turned since the start of the step, along the three rows of its rotor.
// The rotor's speeds are counted in the axes of A, which may turn: rows alone, which have the axes
// of one moment, would miss that in first order.
static void measureTurn(const tpCoordinate* coordinate, const tpJointPlace* place,
                        tpJointRow rows[3]) {
    tpQuat now = tpMulQQ(tpConjugate(place->rotationA), place->rotationB);
    tpVec3 turned = tpQuatLog(tpMulQQ(now, tpConjugate(coordinate->startTurn)));
    turned = tpRotate(place->rotationA, turned);
    for (int k = 0; k < 3; ++k) {
        rows[k].error = tpDot(rows[k].onB.angular, turned);
    }
}

void tpJoint_AddLaws(tpRows* rows, const tpSystem* system, int index, int number,
                     const tpJointPlace* place, const tpJointTreatment* treatment, tpLawRows laws) {
    const tpJoint* joint = &system->joints.data[index];
    if (isLawless(&joint->coordinates[number].def)) {
        return;
    }
    tpJointRow list[3], first = tpJoint_CoordinateRow(joint, place, number);
    int ownCount = tpJoint_OwnRows(joint, place, &first, list);
    if (joint->type == tp_ballJoint && joint->coordinates[number].def.armature > 0.0) {
        measureTurn(&joint->coordinates[number], place, list);
    }
    tpLawRow row = lawRowOf(joint, &first), own[3];
    for (int k = 0; k < ownCount; ++k) {
        own[k] = lawRowOf(joint, &list[k]);
    }
    addLaws(rows, system, index, number, &row, own, ownCount, treatment, laws);
}

static tpLawRow hingeRow(const tpJoint* joint, tpVec3 axis, double value) {
    tpLawRow row = { .bodyA = joint->bodyA, .bodyB = joint->bodyB };
    row.row.onA.angular = tpNeg(axis);
    row.row.onB.angular = axis;
    row.row.error = value;
    return row;
}

void tpHinge_AddLaws(tpRows* rows, const tpSystem* system, int index, tpVec3 axis, double value,
                     const tpJointTreatment* treatment, tpLawRows laws) {
    const tpJoint* joint = &system->joints.data[index];
    if (isLawless(&joint->coordinates[0].def)) {
        return;
    }
    tpLawRow row = hingeRow(joint, axis, value);
    addLaws(rows, system, index, 0, &row, &row, 1, treatment, laws);
}

void tpHinge_AddBoundedLaws(tpRows* rows, const tpSystem* system, int index, tpVec3 axis,
                            double value, const tpJointTreatment* treatment, tpLawRows laws) {
    const tpJoint* joint = &system->joints.data[index];
    const tpCoordinate* coordinate = &joint->coordinates[0];
    tpLawRow row = hingeRow(joint, axis, value);
    tpBlockInfo info = { .source = tp_jointSource, .index = index };
    addLimits(rows, system, info, &row, treatment);
    if (laws != tp_noLaws && tpServo_IsBounded(&coordinate->def)) {
        addServo(rows, system, info, &row, coordinate, treatment, laws == tp_firstHalfLaws);
    }
    addDrives(rows, system, info, &row, &row, 1, treatment);
}

double tpPastLimit(const double limits[2], double value) {
    return fmin(value - limits[0], 0.0) + fmax(value - limits[1], 0.0);
}

double tpPassedLimit(const double limits[2], double value, signed char* side) {
    double past = tpPastLimit(limits, value);
    if (side == NULL) {
        return past;
    }
    if (past != 0.0) {
        *side = past > 0.0 ? 1 : -1;
    }
    return *side == 0 ? 0.0 : value - limits[*side > 0 ? 1 : 0];
}

// Energies ---------------------------------------------------------------------------------------

// The rate of a joint that is a single turn: its angle is not needed.
static double hingeSpeed(const tpSystem* system, const tpJoint* joint) {
    const tpVelocity* velocities = system->velocities.data;
    tpVec3 axis = joint->coordinates[0].axis, turn = tpZeroVec3();
    if (joint->bodyA >= 0) {
        axis = tpRotate(system->poses.data[joint->bodyA].rotation, axis);
        turn = tpNeg(velocities[joint->bodyA].angular);
    }
    turn = joint->bodyB >= 0 ? tpAdd(turn, velocities[joint->bodyB].angular) : turn;
    return tpDot(axis, turn);
}

// Of a joint that is no hinge.
static double rotorEnergy(const tpSystem* system, const tpJoint* joint) {
    double energy = 0.0;
    tpJointPlace place;
    bool isPlaced = false;
    for (int k = 0; k < joint->coordinateCount; ++k) {
        double armature = joint->coordinates[k].def.armature;
        if (!(armature > 0.0)) {
            continue;
        }
        place = isPlaced ? place : tpJoint_Place(joint, system->poses.data);
        isPlaced = true;
        tpJointRow row = tpJoint_CoordinateRow(joint, &place, k), own[3];
        int count = tpJoint_OwnRows(joint, &place, &row, own);
        for (int j = 0; j < count; ++j) {
            double speed = tpJointRow_Speed(joint, &own[j], system->velocities.data);
            energy += 0.5 * armature * speed * speed;
        }
    }
    return energy;
}

double tpJoints_KineticEnergy(const tpSystem* system) {
    double energy = 0.0;
    for (int i = 0; !system->lacksRotors && i < system->joints.count; ++i) {
        const tpJoint* joint = &system->joints.data[i];
        if (!joint->isLive) {
            continue;
        }
        bool isHinge = joint->type == tp_revoluteJoint ||
                       (tpJoint_IsHinge(joint) && tpJointType_IsChain(joint->type));
        if (!isHinge || !tpJoint_IsHinge(joint)) {
            energy += rotorEnergy(system, joint);
            continue;
        }
        double armature = joint->coordinates[0].def.armature;
        if (armature > 0.0) {
            double speed = hingeSpeed(system, joint);
            energy += 0.5 * armature * speed * speed;
        }
    }
    return energy;
}

// An energy and that of the springs of a joint.
static double withSprings(const tpJoint* joint, const tpPose* poses, double energy) {
    for (int k = 0; joint->isLive && k < joint->coordinateCount; ++k) {
        const tpCoordinateDef* def = &joint->coordinates[k].def;
        if (def->hasSpring && def->spring.stiffness > 0.0) {
            tpJointPlace place = tpJoint_Place(joint, poses);
            double stretch = tpJoint_CoordinateRow(joint, &place, k).error - def->spring.rest;
            energy += 0.5 * def->spring.stiffness * stretch * stretch;
        }
    }
    return energy;
}

double tpJoint_PotentialEnergy(const tpJoint* joint, const tpPose* poses) {
    return withSprings(joint, poses, 0.0);
}

double tpJoints_PotentialEnergy(const tpSystem* system) {
    double energy = 0.0;
    for (int i = 0; !system->lacksSprings && i < system->joints.count; ++i) {
        energy = withSprings(&system->joints.data[i], system->poses.data, energy);
    }
    return energy + tpCouplings_PotentialEnergy(system);
}
